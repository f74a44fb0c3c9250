"""HDBSCAN with links."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.cluster import HDBSCAN
from sklearn.neighbors import BallTree, KDTree
from sklearn.utils.validation import validate_data

from mustlink._sklearn_compat import Interval, StrOptions, fit_context, single_linkage_tree
from mustlink._warnings import warn_caller
from mustlink.base import ConstrainedClusterMixin
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.density._condensed_tree import CondensedTree, Nodes
from mustlink.density._joining import join_must_linked
from mustlink.density._selection import Rules, choose_by_stability, choose_softly, choose_untorn
from mustlink.density._torn import Apart
from mustlink.errors import InfeasibleError, InfeasibleWarning

CONFLICTS_NAMED = 3
TREE_METRICS = sorted({*KDTree.valid_metrics, *BallTree.valid_metrics})


class ConstrainedHDBSCAN(ConstrainedClusterMixin, BaseEstimator):
    """HDBSCAN that heeds links: clusters of any shape, noise, and no number of clusters to give.

    HDBSCAN makes a tree of ever denser parts of the table and chooses the parts that last longest. Here links have a
    say in which are chosen. They either hold, or are weighed against how long the parts last.

    Parameters
    ----------
    min_cluster_size : int, default=5
        The fewest rows that make a cluster.
    min_samples : int, default=None
        How many rows, itself included, a row needs nearby to be in a dense part; None is `min_cluster_size`.
    links : {"hard", "soft"}, default="hard"
        Whether every link is kept, or as many as the densities allow. See the notes.
    penalty : float, default=1.0
        What all links broken together would cost with ``links="soft"``, in units of the stability that HDBSCAN
        reaches without links. At 0 links do not count; at a large number they come first, and stability decides among
        choices that break equally few.
    on_infeasible : {"raise", "relax"}, default="raise"
        What to do with ``links="hard"`` if cannot-links stand between rows that must-links join: raise
        :class:`~mustlink.errors.InfeasibleError`, or break those and issue an
        :class:`~mustlink.errors.InfeasibleWarning`.
    cluster_selection_method : {"eom", "leaf"}, default="eom"
        Whether the most stable parts are chosen (excess of mass), or the smallest, the leaves of the tree.
    allow_single_cluster : bool, default=False
        Whether the whole table may be one cluster. Must-links can join all rows in one whatever this says.
    max_cluster_size : int, default=None
        The most rows of a part that may be chosen by excess of mass. Clusters that must-links join may be larger.
    metric : str, default="euclidean"
        A metric of :class:`~sklearn.neighbors.KDTree` or :class:`~sklearn.neighbors.BallTree`. Others would need all
        distances at once, which are not kept here.
    metric_params : dict, default=None
        Parameters of the metric.
    alpha : float, default=1.0
        By which distances are divided before they are compared with those to the nearest rows.
    algorithm : {"auto", "kd_tree", "ball_tree"}, default="auto"
        How the nearest rows are found.
    leaf_size : int, default=40
        Below how many rows the search for the nearest is by trying all.
    n_jobs : int, default=None
        How many processors look for the nearest rows.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row, or -1 for noise. Noise is apart from everything, other noise too.
    probabilities_ : ndarray of shape (n_samples,)
        How firmly each row belongs to its cluster, 0 for noise and for rows that only a must-link brought there.
    n_clusters_ : int
        The number of clusters.
    condensed_tree_ : structured array
        One entry for each row and each part of the tree but the whole: `parent`, `child`, `value` (the inverse
        distance at which the child leaves its parent) and `cluster_size`. Parts are numbered from `n_samples` on.
    violations_ : Constraints
        The links that the labels break. Empty with ``links="hard"``, unless told to relax.
    n_features_in_ : int
        The number of columns.

    Raises
    ------
    InfeasibleError
        With ``links="hard"`` and ``on_infeasible="raise"``, if the links contradict each other.

    See Also
    --------
    sklearn.cluster.HDBSCAN : The same without links, label for label.
    COPKMeans : Keeps every link too, in a given number of round clusters.

    Notes
    -----
    *Soft.* Of all choices of parts, none inside another, the one with the largest stability less the penalties is
    found exactly, in one pass over the tree [2]_. A must-link is broken unless both rows are in one cluster, so that
    noise breaks it; a cannot-link only if both are. Equal rows lie at distance 0 and make a part infinitely stable; for
    the weighing they count as close as the closest that are not equal.

    *Hard.* Links are taken with all that follows from them.

    1. The most stable parts are chosen among those without a cannot-linked pair. A leaf of the tree with such a pair
       has nothing smaller inside. It gives up the rows that leave it sooner, as noise, and is dropped if fewer than
       `min_cluster_size` are left.
    2. Clusters with rows of one must-link component are joined, unless cannot-linked rows would come together; then
       only the rows of the component move, to the cluster with most of them. Rows of noise follow their component. A
       component all of noise is a cluster of its own, however small.

    So every link is kept, if they do not contradict each other: the number of clusters is free. Weights of links play
    no part here. Without links both forms are scikit-learn's HDBSCAN.

    The hierarchy is made by scikit-learn, which needs memory in proportion to the rows and time up to the square of
    their number. What links add is small beside it.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "min_cluster_size": [Interval(Integral, 2, None, closed="left")],
        "min_samples": [Interval(Integral, 1, None, closed="left"), None],
        "links": [StrOptions({"hard", "soft"})],
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

    probabilities_: NDArray[np.float64]
    n_clusters_: int
    condensed_tree_: NDArray[Any]
    violations_: Constraints

    def __init__(
        self,
        min_cluster_size: int = 5,
        min_samples: int | None = None,
        *,
        links: Literal["hard", "soft"] = "hard",
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
        self.links = links
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

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        constraints: Constraints | AlignedConstraints | None = None,
    ) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The table.
        y : array-like of shape (n_samples,), default=None
            Partial labels, -1 for unknown, as one more source of constraints. Labels for every row are taken for the
            truth to score against, and ignored.
        constraints : Constraints or AlignedConstraints, default=None
            What is known of pairs of rows.

        Returns
        -------
        self : object
            The fitted clusterer.
        """
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        links = self._constraints_for(constraints, y, X.shape[0])
        if self.links == "hard":
            self._look_for_conflicts(links)
        tree = CondensedTree.from_single_linkage(self._hierarchy(X), int(self.min_cluster_size))
        self.condensed_tree_ = tree.edges
        rules = Rules(
            self.cluster_selection_method, self.allow_single_cluster, self.min_cluster_size, self.max_cluster_size
        )
        if links.is_empty or (self.links == "soft" and self.penalty == 0):
            self._keep(tree, choose_by_stability(tree, rules), None)
        elif self.links == "soft":
            self._keep(tree, choose_softly(tree, rules, links, float(self.penalty)), None)
        else:
            apart = Apart(links, X.shape[0])
            self._keep(tree, choose_untorn(tree, rules, apart), apart)
        self.violations_ = links.violations(self.labels_)
        return self

    def _hierarchy(self, X: NDArray[np.float64]) -> NDArray[Any]:
        """Have scikit-learn make the single-linkage tree."""
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
        tree: NDArray[Any] = single_linkage_tree(model.fit(X))
        return tree

    def _keep(self, tree: CondensedTree, node_of_row: Nodes, apart: Apart | None) -> None:
        """Number the clusters, after must-links have joined them if they are to hold."""
        strength = tree.strength(node_of_row)
        groups = node_of_row
        if apart is not None:
            groups, by_link = join_must_linked(node_of_row, apart)
            strength[by_link] = 0.0
        found, place = np.unique(groups, return_inverse=True)
        n_noise = int(found[0] == -1)
        self.labels_ = (place - n_noise).astype(np.intp)
        self.n_clusters_ = len(found) - n_noise
        self.probabilities_ = strength

    def _look_for_conflicts(self, links: Constraints) -> None:
        """Raise or warn if the links contradict each other."""
        conflicts = links.conflicts()
        if not conflicts:
            return
        if self.on_infeasible == "relax":
            warn_caller(
                f"Not all links can be kept: {len(conflicts)} of {len(links.cannot_link)} cannot-links are between "
                "rows that must-links join, and are broken; violations_ lists them.",
                InfeasibleWarning,
            )
            return
        named = " ".join(str(conflict) for conflict in conflicts[:CONFLICTS_NAMED])
        rest = len(conflicts) - CONFLICTS_NAMED
        raise InfeasibleError(
            f"{named}{f' So do {rest} more pairs.' if rest > 0 else ''} Drop a link of each chain, or pass "
            'on_infeasible="relax".',
            [conflict.cannot_link for conflict in conflicts],
        )
