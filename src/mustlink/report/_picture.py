"""Which points and links are drawn, and where: the first two principal components of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mustlink._types import Array
from mustlink.constraints import Constraints
from mustlink.report._summary import RowNames, mean_and_spread

__all__ = ["Picture", "make_picture"]

MAX_POINTS = 5_000
MAX_LINKS = 1_500


@dataclass(frozen=True)
class Picture:
    """Points and links in the plane.

    Parameters
    ----------
    points : ndarray of shape (n_drawn, 2)
        Where the drawn rows are.
    labels : ndarray of int, shape (n_drawn,)
        Their clusters.
    names : list of str
        Their names.
    links : ndarray of int, shape (n_links_drawn, 2)
        Pairs of drawn rows, by their position among them.
    is_must, is_kept : ndarray of bool, shape (n_links_drawn,)
        The kind of each link and whether it is kept.
    explained : tuple of float
        The fraction of the variance along each axis; one number for a table of one column.
    n_rows, n_links : int
        The number of rows and links, drawn or not.
    cluster_names : sequence of str or None, default=None
        What the clusters 0, 1, ... are called, if not by their numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.report import make_picture
    >>> make_picture(np.array([[0.0], [1.0], [9.0]]), np.array([0, 0, 1]), Constraints()).caption
    'Horizontal axis: the first principal component (100% of the variance). The height has no meaning: ...'
    """

    points: Array
    labels: Array
    names: list[str]
    links: Array
    is_must: Array
    is_kept: Array
    explained: tuple[float, ...]
    n_rows: int
    n_links: int
    cluster_names: Sequence[str] | None = None

    @property
    def caption(self) -> str:
        """What the axes are and what was left out."""
        caption = f"Horizontal axis: the first principal component ({self.explained[0]:.0%} of the variance). "
        if len(self.explained) == 1:
            caption += "The height has no meaning: the rows differ in one direction only."
        else:
            caption += f"Vertical axis: the second ({self.explained[1]:.0%})."
        if len(self.points) < self.n_rows:
            caption += f" {len(self.points):,} of {self.n_rows:,} rows are drawn, those of the drawn links among them."
        if len(self.links) < self.n_links:
            caption += f" {len(self.links):,} of {self.n_links:,} links are drawn, the broken ones first."
        return caption


def make_picture(
    X: Any,
    labels: Array,
    constraints: Constraints,
    row_names: Sequence[str] | None = None,
    cluster_names: Sequence[str] | None = None,
) -> Picture:
    """Choose what is drawn of a clustering, and project it.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        The rows as they were clustered.
    labels : ndarray of int, shape (n_rows,)
        The cluster of each row; -1 is no cluster.
    constraints : Constraints
        The links that were given.
    row_names : sequence of str, default=None
        The names of the rows; their numbers by default.
    cluster_names : sequence of str, default=None
        What the clusters 0, 1, ... are called; their numbers by default.

    Returns
    -------
    Picture
        At most 1,500 links, the broken ones first, and 5,000 rows, those of the links among them. The same
        clustering gives the same picture.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.report import make_picture
    >>> X = np.random.default_rng(0).normal(size=(20_000, 3))
    >>> picture = make_picture(X, np.zeros(20_000, dtype=int), Constraints(must_link=[(7, 19_999)]))
    >>> picture.points.shape, picture.names[picture.links[0, 1]]
    ((5000, 2), '19999')
    """
    n_links, constraints = len(constraints), constraints.excerpt()
    pairs = constraints.pairs
    kept = constraints.satisfied(labels)
    # A fixed seed: the same clustering always gives the same picture.
    rng = np.random.default_rng(0)
    chosen = _choose_links(kept, rng)
    rows = _choose_rows(labels, np.unique(pairs[chosen]), rng)
    points, explained = _principal_components(X, rows)
    names = RowNames(row_names)
    return Picture(
        points=points,
        labels=labels[rows],
        names=[names[row] for row in rows.tolist()],
        links=np.searchsorted(rows, pairs[chosen]).reshape(-1, 2),
        is_must=constraints.sign[chosen] > 0,
        is_kept=kept[chosen],
        explained=explained,
        n_rows=labels.size,
        n_links=n_links,
        cluster_names=cluster_names,
    )


def _choose_links(kept: Array, rng: np.random.Generator) -> Array:
    """Choose the broken links first, and random ones of either kind if there are too many."""
    order = np.concatenate([rng.permutation(np.flatnonzero(~kept)), rng.permutation(np.flatnonzero(kept))])
    return np.sort(order[:MAX_LINKS])


def _choose_rows(labels: Array, linked: Array, rng: np.random.Generator) -> Array:
    """Choose the rows of the drawn links and then random ones, with a few of every cluster."""
    if labels.size <= MAX_POINTS:
        return np.arange(labels.size)
    shuffled = rng.permutation(labels.size)
    # The position of each row within its cluster, in the shuffled order: the first few of all clusters come first.
    by_cluster = np.argsort(labels[shuffled], kind="stable")
    _, start, counts = np.unique(labels[shuffled][by_cluster], return_index=True, return_counts=True)
    place = np.empty(labels.size, dtype=np.int64)
    place[by_cluster] = np.arange(labels.size) - np.repeat(start, counts)
    a_few = max(1, MAX_POINTS // (4 * start.size))
    preferred = np.concatenate([shuffled[place < a_few], shuffled[place >= a_few]])
    others = preferred[~np.isin(preferred, linked)]
    return np.sort(np.concatenate([linked, others[: max(0, MAX_POINTS - linked.size)]]))


def _principal_components(X: Any, rows: Array) -> tuple[Array, tuple[float, ...]]:
    """Project the chosen rows on the first two principal components of all rows."""
    from sklearn.decomposition import PCA

    if sparse.issparse(X) and min(X.shape) <= 3:
        X = X.toarray()
    mean, spread = mean_and_spread(X)
    # Equal rows of a sparse table may differ by rounding errors.
    differs = (spread**2).sum() > 1e-14 * (mean**2).sum()
    n_components = min(2, *X.shape)
    points = np.zeros((rows.size, 1))
    explained: tuple[float, ...] = (1.0,)
    if differs:
        solver = "arpack" if sparse.issparse(X) else "auto"
        pca = PCA(n_components, svd_solver=solver, random_state=0).fit(X)
        points = pca.transform(X[rows])
        explained = tuple(float(share) for share in pca.explained_variance_ratio_)
    if len(explained) == 2 and explained[1] > 1e-9:
        return points, explained
    # Golden-ratio steps spread points that have no second coordinate evenly over the height.
    height = (np.arange(rows.size) * 0.6180339887498949) % 1.0
    return np.column_stack([points[:, 0], height]), explained[:1]
