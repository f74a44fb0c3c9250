"""Seeded k-means: centres start at rows whose class is known."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mustlink._rows import RowBlocks
from mustlink._types import Floats
from mustlink.constraints import Constraints, known_rows
from mustlink.kmeans._base import _ConstrainedKMeans
from mustlink.kmeans._lloyd import BoundRows
from mustlink.kmeans._seeding import Start, from_seeds, neighbourhood_seeds, with_row_apart


class SeededKMeans(_ConstrainedKMeans):
    """k-means whose centres start at the means of seeds (Basu, Banerjee and Mooney 2002).

    Seeds are the rows whose class `y` gives; or, without `y`, must-link components of two rows and more. Use it when
    some rows of every class are known.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    constrained : bool, default=False
        Whether seeds stay in the cluster they were given, as in the paper's Constrained-KMeans. Otherwise they only
        tell where to start, as in its Seeded-KMeans, and a wrong seed can find its way.
    n_init : int or "auto", default="auto"
        How many runs to make where seeds leave centres to be drawn, of which the one with the least inertia is kept.
        "auto" is one run.
    max_iter : int, default=300
        The most iterations of a run.
    tol : float, default=1e-4
        A run stops when the squared shift of all centres together falls to this share of the mean variance of the
        features.
    verbose : int or bool, default=0
        Whether to show a progress bar.
    random_state : int, RandomState or None, default=None
        Makes a fit repeatable bit for bit.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row. With `y`, cluster c started at the c-th of the classes in sorted order.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The mean of each cluster.
    inertia_ : float
        The weighted sum of squared distances of the rows to the centres of their clusters.
    n_iter_ : int
        The number of iterations of the run that was kept.
    objective_ : list of float
        The inertia after each assignment of that run; it never rises.
    violations_ : Constraints
        The links, those that `y` implies among them, that the result breaks.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the table had any.

    See Also
    --------
    PCKMeans : Links keep their say after the start.
    COPKMeans : Links are never broken.

    Notes
    -----
    The paper has seeds for every cluster. Here, with fewer classes than clusters, the next seed is a row that is
    cannot-linked to all classes, if there is one, and the other centres are drawn as by k-means++ from the seeds on.

    Links are used for the start only. With `y`, a must-link component with rows of one class is seeded as a whole.
    Without `y`, the components are the neighbourhoods of :class:`PCKMeans`: if there are more than clusters, those far
    from each other are seeds; cannot-links only tell of a row apart from all. Conflicts among the links are no error.

    A `y` without any unknown row leaves nothing to find and is ignored, see :meth:`fit`. How the rows are numbered
    matters only among exact ties.

    References
    ----------
    S. Basu, A. Banerjee and R. J. Mooney, "Semi-supervised clustering by seeding", ICML 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import SeededKMeans
    >>> X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]])
    >>> y = [1, -1, -1, -1, -1, 0]
    >>> SeededKMeans(n_clusters=2).fit(X, y).labels_
    array([1, 1, 1, 0, 0, 0], dtype=int32)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: check for name, check in _ConstrainedKMeans._parameter_constraints.items() if name != "init"},
        "constrained": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        constrained: bool = False,
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int | bool = 0,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.constrained = constrained
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    def _plan(
        self, table: RowBlocks, weight: Floats, links: Constraints, y: ArrayLike | None, rng: np.random.RandomState
    ) -> tuple[BoundRows, Start]:
        if y is None:
            seeds = neighbourhood_seeds(table, weight, links, self.n_clusters)
        else:
            seeds = with_row_apart(table, links, _class_seeds(y, links, table.n_rows, self.n_clusters), self.n_clusters)
        held = np.flatnonzero(seeds >= 0) if self.constrained else np.empty(0, dtype=np.intp)
        bound = BoundRows(table, weight, held, seeds[held], fixed=np.arange(seeds.max() + 1))
        return bound, from_seeds(table, weight, seeds, self.n_clusters, rng)


def _class_seeds(y: ArrayLike, links: Constraints, n_rows: int, n_clusters: int) -> NDArray[np.intp]:
    """Number the rows of known class, and those that must-links join to rows of one class only."""
    rows, codes, classes = known_rows(y, missing=-1)
    if len(classes) > n_clusters:
        raise ValueError(
            f"y names {len(classes)} classes, more than n_clusters={n_clusters}; ask for at least as many clusters."
        )
    component = links.components(n_rows)
    lowest, highest = np.full(n_rows, len(classes)), np.full(n_rows, -1)
    np.minimum.at(lowest, component[rows], codes)
    np.maximum.at(highest, component[rows], codes)
    seeds = np.where(lowest == highest, highest, -1)[component].astype(np.intp)
    seeds[rows] = codes
    return seeds
