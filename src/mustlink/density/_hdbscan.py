"""HDBSCAN with must-link and cannot-link constraints."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.cluster import HDBSCAN
from sklearn.neighbors import BallTree, KDTree, NearestNeighbors

from mustlink._sklearn_compat import Interval, StrOptions, single_linkage_tree
from mustlink._spelling import count
from mustlink._types import Array, Floats
from mustlink._warnings import warn_caller
from mustlink.base import ConstrainedClusterMixin, check_table, refuse_contradictions
from mustlink.constraints import Closure, Constraints
from mustlink.density._condensed_tree import CondensedTree
from mustlink.density._joining import join_must_linked
from mustlink.density._reachability import reachability_hierarchy
from mustlink.density._selection import ComponentGraph, SelectionRules, select_with_penalties, select_without_conflicts
from mustlink.errors import InfeasibleWarning, OptionError

TREE_METRICS = sorted({*KDTree.valid_metrics, *BallTree.valid_metrics})


class ConstrainedHDBSCAN(ConstrainedClusterMixin, BaseEstimator):
    """HDBSCAN with must-link and cannot-link constraints.

    HDBSCAN builds a tree of denser and denser parts of the data and selects the most stable parts as clusters. Here the
    links influence the selection: they are either all satisfied, or violations are penalized. The number of clusters
    is determined, and rows in sparse regions are noise.

    Parameters
    ----------
    min_cluster_size : int, default=5
        The minimum number of rows of a cluster.
    min_samples : int, default=None
        The number of rows in a neighborhood, including the row itself, that defines the density at a row; None is
        `min_cluster_size`.
    enforce : {"hard", "soft"}, default="hard"
        Whether all links are satisfied, or violations are penalized. See the notes.
    penalty : float, default=1.0
        The cost of violating all links with ``enforce="soft"``, in units of the total stability that HDBSCAN reaches
        without links. With 0, links are ignored; with a large number, as few as possible are violated, and stability
        breaks ties.
    on_infeasible : {"raise", "relax"}, default="raise"
        What to do with ``enforce="hard"`` if links contradict each other: raise
        :class:`~mustlink.errors.InfeasibleError`, or violate the cannot-links between rows that must-links join and
        issue an :class:`~mustlink.errors.InfeasibleWarning`.
    cluster_selection_method : {"eom", "leaf"}, default="eom"
        Whether the most stable parts are selected (excess of mass), or the leaves of the tree.
    allow_single_cluster : bool, default=False
        Whether the whole data set may be one cluster. Must-links can join all rows regardless.
    max_cluster_size : int, default=None
        The maximum number of rows of a part selected by excess of mass. Must-links can make larger clusters.
    metric : str, default="euclidean"
        A metric of :class:`~sklearn.neighbors.KDTree` or :class:`~sklearn.neighbors.BallTree`.
    metric_params : dict, default=None
        Parameters of the metric.
    alpha : float, default=1.0
        Distances are divided by it before they are compared with core distances.
    algorithm : {"auto", "kd_tree", "ball_tree"}, default="auto"
        How nearest neighbors are found.
    leaf_size : int, default=40
        The leaf size of the tree of nearest neighbors.
    n_jobs : int, default=None
        The number of parallel jobs of the nearest-neighbor search.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row, -1 for noise. Two noise rows count as separate.
    probabilities_ : ndarray of shape (n_samples,)
        The membership strength of each row, 0 for noise and for rows that joined their cluster by a must-link only.
    n_clusters_ : int
        The number of clusters.
    condensed_tree_ : structured array
        One entry for each row and each part of the tree but the root: `parent`, `child`, `value` (the inverse
        distance at which the child leaves its parent) and `cluster_size`. Parts are numbered from `n_samples` on.
    violations_ : Constraints
        The violated links. Empty with ``enforce="hard"``, unless ``on_infeasible="relax"``.
    n_features_in_ : int
        The number of features.

    Raises
    ------
    InfeasibleError
        With ``enforce="hard"`` and ``on_infeasible="raise"``, if links contradict each other.

    See Also
    --------
    sklearn.cluster.HDBSCAN : The same without links, label for label.
    COPKMeans : Hard links with a given number of convex clusters.

    Notes
    -----
    *Soft.* Among all selections of parts, none inside another, the one with the largest stability minus penalties is
    found exactly, in one pass over the tree [2]_. A must-link is violated unless both rows are in one cluster, a
    cannot-link if both are. For stability, the distance of equal rows is replaced by the smallest positive one.

    *Hard.* All links that follow from the given ones are satisfied as well. Weights of links are not used.

    1. The most stable parts are selected among those without a cannot-linked pair. A leaf of the tree with such a pair
       gives up the rows that leave it sooner, as noise, and is dropped if fewer than `min_cluster_size` are left.
    2. Clusters with rows of one must-link component are joined, unless that violates a cannot-link; then only the rows
       of the component move, to the cluster with most of them. Noise rows follow their component. A component of
       noise only becomes a cluster, however small.

    Without links both forms are scikit-learn's HDBSCAN, which builds the hierarchy: its memory is linear and its time
    up to quadratic in the number of rows.

    References
    ----------
    .. [1] R. J. G. B. Campello, D. Moulavi and J. Sander, "Density-based clustering based on hierarchical density
       estimates", PAKDD 2013.
    .. [2] R. J. G. B. Campello, D. Moulavi, A. Zimek and J. Sander, "A framework for semi-supervised and unsupervised
       optimal extraction of clusters from hierarchies", Data Mining and Knowledge Discovery 27, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import ConstrainedHDBSCAN, Constraints
    >>> X = np.array([0, 1, 2, 3, 4.5, 5.5, 6.5, 7.5, 30, 31, 32, 33])[:, None]
    >>> ConstrainedHDBSCAN(min_cluster_size=3, min_samples=2).fit(X).labels_
    array([0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1])
    >>> apart = Constraints(cannot_link=[(0, 7)])
    >>> ConstrainedHDBSCAN(min_cluster_size=3, min_samples=2).fit(X, constraints=apart).labels_
    array([1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0])
    """

    # Up to this many rows the tree is built in one call of scikit-learn, which takes seconds.
    _max_rows_at_once: ClassVar[int] = 10_000

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "min_cluster_size": [Interval(Integral, 2, None, closed="left")],
        "min_samples": [Interval(Integral, 1, None, closed="left"), None],
        "enforce": [StrOptions({"hard", "soft"})],
        "penalty": [Interval(Real, 0, None, closed="left")],
        "on_infeasible": [StrOptions({"raise", "relax"})],
        "cluster_selection_method": [StrOptions({"eom", "leaf"})],
        "allow_single_cluster": ["boolean"],
        "max_cluster_size": [Interval(Integral, 1, None, closed="left"), None],
        "metric": [StrOptions(set(TREE_METRICS))],
        "metric_params": [dict, None],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "algorithm": [StrOptions({"auto", "kd_tree", "ball_tree"})],
        "leaf_size": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        min_cluster_size: int = 5,
        min_samples: int | None = None,
        *,
        enforce: Literal["hard", "soft"] = "hard",
        penalty: float = 1.0,
        on_infeasible: Literal["raise", "relax"] = "raise",
        cluster_selection_method: Literal["eom", "leaf"] = "eom",
        allow_single_cluster: bool = False,
        max_cluster_size: int | None = None,
        metric: str = "euclidean",
        metric_params: dict[str, Any] | None = None,
        alpha: float = 1.0,
        algorithm: Literal["auto", "kd_tree", "ball_tree"] = "auto",
        leaf_size: int = 40,
        n_jobs: int | None = None,
    ) -> None:
        self.min_cluster_size = min_cluster_size
        self.min_samples = min_samples
        self.enforce = enforce
        self.penalty = penalty
        self.on_infeasible = on_infeasible
        self.cluster_selection_method = cluster_selection_method
        self.allow_single_cluster = allow_single_cluster
        self.max_cluster_size = max_cluster_size
        self.metric = metric
        self.metric_params = metric_params
        self.alpha = alpha
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.n_jobs = n_jobs

    def _fit(self, X: Any, links: Constraints, y: Array | None) -> None:
        closure = links.closure(len(X))
        is_hard = self.enforce == "hard" and not links.is_empty
        if is_hard and closure.self_loops.size:
            self._handle_contradictions(links, closure)
        tree = CondensedTree.from_single_linkage(self._hierarchy(X), int(self.min_cluster_size))
        self.condensed_tree_ = tree.edges
        rules = SelectionRules(
            self.cluster_selection_method, self.allow_single_cluster, self.min_cluster_size, self.max_cluster_size
        )
        if is_hard:
            graph = ComponentGraph(closure)
            selected = select_without_conflicts(tree, rules, graph)
            clusters, by_link = join_must_linked(selected, closure, graph)
            self.probabilities_ = np.where(by_link, 0.0, tree.strength(selected))
        else:
            clusters = select_with_penalties(tree, rules, links, float(self.penalty))
            self.probabilities_ = tree.strength(clusters)
        found, place = np.unique(clusters, return_inverse=True)
        n_noise = int(found[0] == -1)
        self.labels_ = (place - n_noise).astype(np.int64)
        self.n_clusters_ = len(found) - n_noise
        self.violations_ = links.violations(self.labels_)

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        X = check_table(self, X, reset=reset, dtype=np.float64, ensure_min_samples=2)
        n_needed = self.min_cluster_size if self.min_samples is None else self.min_samples
        if n_needed > len(X):
            raise OptionError(
                f"{type(self).__name__} computes the density at a row from {count(n_needed, 'row')}, and the table has "
                f"{len(X):,}",
                remedy="fewer_neighbors",
            )
        return X

    def _hierarchy(self, X: Floats) -> Array:
        """Build the single-linkage tree by scikit-learn, or for many rows in blocks."""
        min_samples = self.min_cluster_size if self.min_samples is None else self.min_samples
        if self.metric == "euclidean" and not self.metric_params and len(X) > max(self._max_rows_at_once, min_samples):
            # The tree that scikit-learn takes for Euclidean distances.
            algorithm = "kd_tree" if self.algorithm == "auto" else self.algorithm
            neighbors = NearestNeighbors(algorithm=algorithm, leaf_size=self.leaf_size, p=None, n_jobs=self.n_jobs)
            return reachability_hierarchy(X, neighbors.set_params(metric="euclidean"), min_samples, float(self.alpha))
        model = HDBSCAN(
            min_cluster_size=self.min_cluster_size,
            min_samples=self.min_samples,
            metric=self.metric,
            metric_params=self.metric_params,
            alpha=self.alpha,
            algorithm=self.algorithm,
            leaf_size=self.leaf_size,
            n_jobs=self.n_jobs,
            copy=True,
        )
        tree: Array = single_linkage_tree(model.fit(X))
        return tree

    def _handle_contradictions(self, links: Constraints, closure: Closure) -> None:
        """Raise or warn because links contradict each other."""
        if self.on_infeasible == "raise":
            refuse_contradictions(links)
        one, other = closure.component[links.cannot_link].T
        warn_caller(
            f"Must-links join the rows of {np.count_nonzero(one == other):,} of "
            f"{count(len(links.cannot_link), 'cannot-link')}, which the clustering violates",
            InfeasibleWarning,
            remedy="see_violations",
        )
