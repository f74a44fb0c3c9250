"""PCKMeans: k-means in which broken links have a penalty."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from mustlink._sklearn_compat import Interval, StrOptions
from mustlink._types import Floats
from mustlink.constraints import Constraints
from mustlink.kmeans._base import BaseWeightedKMeans, Problem
from mustlink.kmeans._rules import LinkedRows
from mustlink.kmeans._soft_groups import SoftGroups


class PCKMeans(BaseWeightedKMeans):
    """k-means with soft must-link and cannot-link constraints (Basu, Banerjee and Mooney 2004).

    A link is broken where the distances that this saves outweigh its penalty. Use it when links may be wrong or
    contradict each other; :class:`COPKMeans` is for links that must hold.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    penalty : float or "auto", default="auto"
        The penalty of a broken link of weight one, on the scale of half a squared distance. "auto" is the mean of half
        the squared distance of a row to the mean of all rows, which makes results independent of the unit of X. With
        0 links are used only for the start.
    init : {"components", "k-means++", "random"} or array-like of shape (n_clusters, n_features), default="components"
        The starting centers:

        - "components": means of must-link components far from each other, then rows as by "k-means++";
        - "k-means++": rows drawn far from each other;
        - "random": rows drawn at random;
        - an array: these centers.

    n_init : int or "auto", default="auto"
        The number of runs from different starts, of which the one with the lowest objective is kept. "auto" is one
        run, ten for ``init="random"``. From a start without randomness one run is made.
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
        The cluster of every row.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The mean of each cluster.
    inertia_ : float
        The weighted sum of squared distances of the rows to the centers of their clusters.
    n_iter_ : int
        The number of iterations of the kept run.
    objective_ : list of float
        Half the inertia plus the penalties of all broken links, after each assignment of that run; it never rises.
    violations_ : Constraints
        The links that the result breaks.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X has any.

    See Also
    --------
    COPKMeans : Links are never broken.
    SeededKMeans : For a class known for some rows.

    Notes
    -----
    The objective is the sum of half the squared distances of the rows to their centers, and of `penalty` times the
    weight of each broken link. Each iteration lowers it: rows without links go to the nearest center; rows with links
    are visited by iterated conditional modes until none moves; then the centers become means.

    Other than in the paper, the most certain rows are visited first, must-link components may then move as a whole
    (row by row, one with heavy links can never leave a cluster), and missing centers are drawn by k-means++. With a
    high penalty no link is broken in the end, if there are more clusters than any component has cannot-linked
    neighbors. An empty cluster is restarted at the row or component whose leaving lowers the objective most.

    In groups of :meth:`Constraints.from_groups` whose rows are in no other link, the links are counted and not listed;
    the result is the same.

    With many correct links a penalty above "auto" is often better, with wrong links a lower one. The numbering of the
    rows matters only for exact ties.

    References
    ----------
    S. Basu, A. Banerjee and R. J. Mooney, "Active semi-supervision for pairwise constrained clustering", SDM 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints, PCKMeans
    >>> X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]])
    >>> links = Constraints(must_link=[(2, 3)], cannot_link=[(1, 2)])
    >>> PCKMeans(n_clusters=2, random_state=0).fit(X, constraints=links).labels_
    array([1, 1, 0, 0, 0, 0])
    >>> PCKMeans(n_clusters=2, penalty=0.1, random_state=0).fit(X, constraints=links).violations_
    Constraints(1 must-link, 1 cannot-link)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseWeightedKMeans._parameter_constraints,
        "penalty": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        penalty: float | str = "auto",
        init: str | ArrayLike = "components",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int | bool = 0,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.penalty = penalty
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    _takes_groups = True
    _takes_blocks = True

    def _rule(self, problem: Problem) -> SoftGroups:
        linked = problem.linked
        penalty = 0.0 if linked.given.is_empty else self._penalty_of_weight_one(problem)
        if not penalty:
            linked = LinkedRows(Constraints(), problem.rows.n_rows)
        return SoftGroups(
            linked,
            self.n_clusters,
            penalty,
            data_factor=0.5,
            group_scatter=lambda: _group_scatter(problem, linked),
        )

    def _penalty_of_weight_one(self, problem: Problem) -> float:
        """Return the penalty of a broken link of weight one."""
        if isinstance(self.penalty, str):
            return 0.5 * problem.rows.n_features * problem.mean_variance
        return float(self.penalty)


def _group_scatter(problem: Problem, linked: LinkedRows) -> Floats:
    """Return the squared distances of the rows of each component of several rows to their mean."""
    indptr, grouped, number = linked.groups
    rows, group = linked.rows[grouped], number[grouped]
    members, weight = problem.rows.take(rows), problem.weight[rows]
    return members.scatter(group, members.averages(group, len(indptr) - 1, weight), weight)
