"""SeededKMeans: centers start at rows whose class is known."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mustlink._types import Indices
from mustlink.base import refuse_many_classes
from mustlink.constraints import Constraints, known_rows
from mustlink.kmeans._base import BaseWeightedKMeans, Problem, ProblemOfStarts
from mustlink.kmeans._rules import LinkRule
from mustlink.kmeans._seeding import Start, add_row_apart, component_seeds, start_at_seeds


class SeededKMeans(BaseWeightedKMeans):
    """k-means whose centers start at the means of seeds (Basu, Banerjee and Mooney 2002).

    Seeds are the rows whose class is known from `y`; or, without `y`, must-link components of two and more rows. Use it
    when some rows of every class are known.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    constrained : bool, default=False
        Whether seeds stay in their clusters, as in the paper's Constrained-KMeans. Otherwise they are used only for the
        start, as in its Seeded-KMeans, and a wrong seed can change its cluster.
    n_init : int or "auto", default="auto"
        The number of runs where seeds leave centers to be drawn, of which the one with the lowest inertia is kept.
        "auto" is one run.
    max_iter : int, default=300
        The maximum number of iterations of a run.
    tol : float, default=1e-4
        A run stops when the squared shift of all centers together is at most this fraction of the mean variance of
        the features.
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
        The weighted sum of squared distances of the rows to the centers of their clusters.
    n_iter_ : int
        The number of iterations of the kept run.
    objective_ : list of float
        The inertia after each assignment of that run; it never rises.
    violations_ : Constraints
        The links, including those that follow from `y`, that the result breaks.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X has any.

    See Also
    --------
    PCKMeans : Links are used after the start as well.
    COPKMeans : Links are never broken.

    Notes
    -----
    The paper has seeds for every cluster. Here, with fewer classes than clusters, the next seed is a row that is
    cannot-linked to all classes, if there is one, and the other centers are drawn by k-means++.

    Links are used only for the start. With `y`, a must-link component with rows of one class is seeded as a whole.
    Without `y`, the seeds are must-link components; if there are more than clusters, those far from each other.
    Contradictions between links are no error. A `y` without any unknown row is ignored, see :meth:`fit`. The numbering
    of the rows matters only for exact ties.

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
    array([1, 1, 1, 0, 0, 0])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: check for name, check in BaseWeightedKMeans._parameter_constraints.items() if name != "init"},
        "constrained": ["boolean"],
    }

    _takes_blocks = True

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

    def _rule_and_start(self, problem: Problem) -> tuple[LinkRule, Start]:
        shown = problem.of_starts
        seeds = self._seeds(shown)
        start = start_at_seeds(shown.rows, shown.weight, seeds, self.n_clusters, problem.rng)
        if not self.constrained:
            return LinkRule(), start
        held = np.flatnonzero(seeds >= 0)
        rows = held if shown.index is None else shown.index[held]
        return LinkRule(rows, seeds[held], fixed=np.arange(seeds.max() + 1)), start

    def _seeds(self, problem: ProblemOfStarts) -> Indices:
        """Return the cluster of every seed, and -1 for every other row."""
        if problem.y is None:
            return component_seeds(problem.rows, problem.weight, problem.linked, self.n_clusters)
        links = problem.linked.given
        seeds = _class_seeds(problem.y, links, problem.rows.n_rows, self.n_clusters)
        return add_row_apart(problem.rows, links, seeds, self.n_clusters)


def _class_seeds(y: ArrayLike, links: Constraints, n_rows: int, n_clusters: int) -> Indices:
    """Number the rows of known class, and those that must-links join to rows of a single class."""
    rows, codes, classes = known_rows(y, missing=-1)
    refuse_many_classes(y, n_clusters)
    component = links.components(n_rows)
    lowest, highest = np.full(n_rows, len(classes)), np.full(n_rows, -1)
    np.minimum.at(lowest, component[rows], codes)
    np.maximum.at(highest, component[rows], codes)
    seeds = np.where(lowest == highest, highest, -1)[component].astype(np.intp)
    seeds[rows] = codes
    return seeds
