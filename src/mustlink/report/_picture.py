"""Which points and links are drawn, and where: the principal components of the rows, or a view that was learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from mustlink._drawn import choose_links, choose_rows, learned_view, links_to_draw
from mustlink._types import Array
from mustlink.constraints import Constraints
from mustlink.report._summary import RowNames, mean_and_spread

__all__ = ["Picture", "has_several_rounds", "make_picture"]


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
        The fraction of the variance along each axis; one number for a table of one column, none for a learned view in
        which the rows do not differ.
    n_rows, n_links : int
        The number of rows and links, drawn or not.
    cluster_names : sequence of str or None, default=None
        What the clusters 0, 1, ... are called, if not by their numbers.
    view : {'principal', 'learned'}, default='principal'
        Whether the plane is that of the first two principal components of the table, or the view that a boosted
        clusterer has learned.

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
    view: Literal["principal", "learned"] = "principal"

    @property
    def plane(self) -> str:
        """What the plane is, in words."""
        return "the first two principal components" if self.view == "principal" else "the view that was learned"

    @property
    def caption(self) -> str:
        """What the axes are and what was left out."""
        return self._axes + self._left_out

    @property
    def _axes(self) -> str:
        """Word the axes."""
        if self.view == "learned":
            shares = " and ".join(f"{share:.0%}" for share in self.explained)
            which = "directions in" if len(self.explained) > 1 else "direction in"
            return (
                f"Close are rows that the rounds put together: the {which} which the rounds differ most ({shares} of "
                "the variance). Rows at about the same place are spread a little."
            )
        caption = f"Horizontal axis: the first principal component ({self.explained[0]:.0%} of the variance). "
        if len(self.explained) == 1:
            caption += "The height has no meaning: the rows differ in one direction only."
        else:
            caption += f"Vertical axis: the second ({self.explained[1]:.0%})."
        return caption

    @property
    def _left_out(self) -> str:
        """Word what is not drawn."""
        caption = ""
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
    model: Any = None,
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
    model : object, default=None
        A fitted boosted clusterer, to draw the view that it has learned: the principal components of its
        ``coassociation_``. None draws those of `X`.

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
    n_links, constraints = len(constraints), links_to_draw(constraints, labels)
    pairs = constraints.pairs
    kept = constraints.satisfied(labels)
    # A fixed seed: the same clustering always gives the same picture.
    rng = np.random.default_rng(0)
    chosen = choose_links(kept, rng)
    rows = choose_rows(labels, np.unique(pairs[chosen]), rng)
    points, explained = _principal_components(X, rows) if model is None else learned_view(model, rows)
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
        view="principal" if model is None else "learned",
    )


def has_several_rounds(model: Any, n_rows: int) -> bool:
    """Return whether a clusterer has several rounds on these rows, from which there may be a learned view."""
    kernel = getattr(model, "coassociation_", None)
    if kernel is None or kernel.n_samples != n_rows or getattr(model, "is_plain_", False):
        return False
    return bool(kernel.n_rounds > 1)


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
