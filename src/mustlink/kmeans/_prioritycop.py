"""PriorityCOPKMeans: constrained k-means that places linked pairs in the order of their priority and never fails."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.cluster import kmeans_plusplus

from mustlink._rows import RowBlocks
from mustlink._sklearn_compat import StrOptions, is_array_like
from mustlink._types import Array, Floats, Indices, Mask
from mustlink.blocks import BlockedRows
from mustlink.constraints import Constraints
from mustlink.kmeans._base import BaseConstrainedKMeans, Problem
from mustlink.kmeans._engine import Run, State
from mustlink.kmeans._prioritycop_blocked import PriorityPasses, PriorityRun
from mustlink.kmeans._prioritycop_kernels import inertia_of, nearest, priority_cop

__all__ = ["PriorityCOPKMeans", "PriorityLinks"]

Labels = NDArray[np.int32]


@dataclass(frozen=True)
class PriorityLinks:
    """Links to be placed in the order of their priority; runs of :class:`PriorityCOPKMeans` without its checks.

    For clusterers that make many runs with the same rows and links.

    Parameters
    ----------
    linked, free : ndarray
        The rows with links, and the rows without.
    left, right : ndarray of shape (n_links,)
        The two ends of each link, as positions in `linked`; must-links first.
    is_must : ndarray of shape (n_links,)
        Whether each is a must-link.
    weight : ndarray of shape (n_links,)
        The weights of the links.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.kmeans import PriorityLinks
    >>> X = np.array([[2.0], [1.0], [10.0]])
    >>> links = PriorityLinks.of(Constraints(must_link=[(1, 2)], cannot_link=[(0, 1)]), 3)
    >>> links.cluster(X, priority=np.array([1.0, 2.0]), centers=X[1:], max_iter=1)[0]
    array([1, 0, 0], dtype=int32)
    """

    linked: Indices
    free: Indices
    left: Indices
    right: Indices
    is_must: Mask
    weight: Floats

    @classmethod
    def of(cls, links: Constraints, n_samples: int) -> Self:
        """Prepare the links.

        Parameters
        ----------
        links : Constraints
            The links.
        n_samples : int
            The number of rows.

        Returns
        -------
        PriorityLinks
            The links with their rows.
        """
        found = cls.of_linked(links)
        is_free = np.ones(n_samples, dtype=bool)
        is_free[found.linked] = False
        return replace(found, free=np.flatnonzero(is_free))

    @classmethod
    def of_linked(cls, links: Constraints) -> Self:
        """Prepare the links of rows in blocks; the rows without links are not listed.

        Parameters
        ----------
        links : Constraints
            The links.

        Returns
        -------
        PriorityLinks
            The links with their rows.
        """
        linked, local = links.compact()
        left, right = np.ascontiguousarray(local.pairs.T, dtype=np.intp)
        return cls(linked, np.empty(0, dtype=np.intp), left, right, local.sign > 0, local.weight)

    def cluster(self, X: Array, priority: Floats, centers: Array, max_iter: int) -> tuple[Labels, Array, int]:
        """Make a run.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            The rows.
        priority : ndarray of shape (n_links,)
            The priorities of the links; links of equal priority keep their order.
        centers : ndarray of shape (n_clusters, n_features)
            The starting centers, in the precision of X.
        max_iter : int
            The maximum number of assignments.

        Returns
        -------
        tuple of ndarray, ndarray and int
            The labels, the centers that gave them, and the number of assignments.
        """
        labels, centers, n_iter = priority_cop(
            X, self.free, self.linked, *self._by_priority(priority), centers, max_iter
        )
        return labels, centers, int(n_iter)

    def cluster_blocks(self, passes: PriorityPasses, priority: Floats, centers: Array, max_iter: int) -> PriorityRun:
        """Make a run on rows in blocks.

        Parameters
        ----------
        passes : PriorityPasses
            The rows, with the linked ones in memory.
        priority : ndarray of shape (n_links,)
            The priorities of the links.
        centers : ndarray of shape (n_clusters, n_features)
            The starting centers, in the precision of the rows.
        max_iter : int
            The maximum number of assignments.

        Returns
        -------
        PriorityRun
            The labels of the linked rows, the centers that gave them, and the number of assignments.
        """
        return passes.cluster(*self._by_priority(priority), centers, max_iter)

    def _by_priority(self, priority: Floats) -> tuple[Indices, Indices, Mask]:
        """Return the two ends of the links and whether they are must-links, by descending priority."""
        order = np.argsort(-priority, kind="stable")
        return self.left[order], self.right[order], self.is_must[order]

    @staticmethod
    def nearest(X: Array, centers: Array) -> Labels:
        """Label each row with its nearest center, with the same rounding as in a run.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            The rows.
        centers : ndarray of shape (n_clusters, n_features)
            The centers.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        labels = np.empty(len(X), dtype=np.int32)
        nearest(X, np.arange(len(X)), centers.astype(X.dtype), labels)
        return labels

    @staticmethod
    def draw_centers(X: Array | BlockedRows, n_clusters: int, rng: np.random.RandomState) -> Array:
        """Draw different rows as starting centers, in time independent of the number of rows.

        Parameters
        ----------
        X : ndarray or BlockedRows of shape (n_samples, n_features)
            The rows.
        n_clusters : int
            How many to draw.
        rng : RandomState
            The source of randomness.

        Returns
        -------
        ndarray of shape (n_clusters, n_features)
            The centers.
        """
        drawn: list[int] = []
        while len(drawn) < n_clusters:
            row = int(rng.randint(len(X)))
            if row not in drawn:
                drawn.append(row)
        return X.gather(np.array(drawn)) if isinstance(X, BlockedRows) else X[drawn]


class PriorityCOPKMeans(BaseConstrainedKMeans):
    """k-means that places linked pairs in the order of their weights and never fails.

    COP-KMeans gives up when a row fits nowhere, and its result depends on the order of the rows. This variant goes
    through the links instead, the heaviest first. Both ends of a link that are not placed yet are placed such that it
    holds; if one end has been placed, the other joins or avoids it; if both have, nothing is done, and the link may be
    broken. The heaviest link always holds (a cannot-link needs two clusters), and lighter ones give way. Rows without
    links go to the nearest center.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    init : {"k-means++", "random"} or array-like of shape (n_clusters, n_features), default="k-means++"
        The starting centers: rows drawn far from each other, rows drawn at random, or these centers.
    max_iter : int, default=30
        The maximum number of assignments.
    random_state : int, RandomState or None, default=None
        Makes a fit repeatable bit for bit.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centers by which the rows were placed.
    inertia_ : float
        The sum of squared distances of the rows to the centers of their clusters.
    n_iter_ : int
        The number of assignments.
    violations_ : Constraints
        The links that the result breaks.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X has any.

    See Also
    --------
    BoostedConstrainedKMeans : Learns the priorities and combines many runs.
    PCKMeans : Links have penalties.

    Notes
    -----
    Links of equal weight are taken in the order of :class:`~mustlink.Constraints`: must-links before cannot-links, each
    kind by its rows. Must-links first keeps more links than an order by rows or a random one.

    Of two free ends, the one that is closer to its nearest center chooses; at equal distances the second. A cluster
    that loses all rows keeps its center, which the source leaves open. There is no objective that falls: the labels
    often cycle. A run ends when its centers are exactly those of one of the 32 latest assignments, which is a fixed
    point or a cycle, or after `max_iter` assignments.

    References
    ----------
    M. Okabe and S. Yamada, "Clustering by learning constraints priorities", ICDM 2012.

    K. Wagstaff, C. Cardie, S. Rogers and S. Schroedl, "Constrained k-means clustering with background knowledge",
    ICML 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.kmeans import PriorityCOPKMeans
    >>> X = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> contradiction = {"must_link": [(0, 1), (1, 2)], "cannot_link": [(0, 2)]}
    >>> links = Constraints(**contradiction, must_link_weight=[1, 3], cannot_link_weight=[2])
    >>> clusterer = PriorityCOPKMeans(n_clusters=2, random_state=0).fit(X, constraints=links)
    >>> clusterer.violations_.must_link
    array([[0, 1]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: BaseConstrainedKMeans._parameter_constraints[name]
            for name in ("n_clusters", "max_iter", "random_state")
        },
        "init": [StrOptions({"k-means++", "random"}), "array-like"],
    }

    _takes_sparse = False
    _takes_blocks = True

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: str | ArrayLike = "k-means++",
        max_iter: int = 30,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.random_state = random_state

    def _nearest(self, rows: RowBlocks) -> Array:
        return PriorityLinks.nearest(rows.X, self.cluster_centers_)

    def _run(self, problem: Problem) -> Run:
        X = problem.X
        if isinstance(X, BlockedRows):
            return self._run_blocks(X, problem)
        links = PriorityLinks.of(problem.linked.given, len(X))
        start = self._starting_centers(X, problem)
        labels, centers, n_iter = links.cluster(X, links.weight, start, self.max_iter)
        return Run(labels, n_iter, [], State(centers), float(inertia_of(X, labels, centers)))

    def _run_blocks(self, rows: BlockedRows, problem: Problem) -> Run:
        """Make a run on rows in blocks."""
        # A row of groups alone is linked here, too.
        links = PriorityLinks.of_linked(problem.linked.given)
        start = self._starting_centers(rows, problem)
        passes = PriorityPasses(rows, links.linked)
        run = links.cluster_blocks(passes, links.weight, start, self.max_iter)
        return Run(passes.label(run), run.n_iter, [], State(run.centers), passes.inertia(run))

    def _starting_centers(self, X: Any, problem: Problem) -> Array:
        """Return the centers of the first assignment, in the precision of X; k-means++ sees a sample of many rows."""
        if is_array_like(self.init):
            return self._check_init(X.shape[1]).astype(X.dtype)
        if self.init == "random":
            return PriorityLinks.draw_centers(X, self.n_clusters, problem.rng)
        # All arguments are validated already.
        with config_context(skip_parameter_validation=True):
            centers, _ = kmeans_plusplus(problem.of_starts.X, self.n_clusters, random_state=problem.rng)
        return np.ascontiguousarray(centers)

    def _keep(self, run: Run, links: Constraints, dtype: Any) -> None:
        super()._keep(run, links, dtype)
        self.inertia_ = run.inertia
