"""Agglomerative clustering with must-link and cannot-link constraints."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, cast

import numpy as np
from sklearn.base import BaseEstimator

from mustlink._sklearn_compat import Interval, StrOptions
from mustlink._spelling import count
from mustlink._types import Array
from mustlink._warnings import warn_caller
from mustlink.base import ConstrainedClusterMixin, check_fits, check_table
from mustlink.constraints import Constraints
from mustlink.errors import InfeasibleError, InfeasibleWarning
from mustlink.hierarchy._dendrogram_kernels import as_linkage
from mustlink.hierarchy._distances import condensed_distances
from mustlink.hierarchy._merging import link_rows

# Distances that are stored at most: those of about 31,600 rows, 4 GB.
MAX_DISTANCES = 500_000_000


class ConstrainedLinkage(ConstrainedClusterMixin, BaseEstimator):
    """Agglomerative clustering with must-link and cannot-link constraints.

    Must-linked rows are joined first. Then the two closest clusters without a cannot-link between them are joined
    repeatedly (Davidson and Ravi 2005). The result is a dendrogram in the format of scipy.

    Parameters
    ----------
    n_clusters : int or None, default=2
        The number of clusters; None if `distance_threshold` is given.
    linkage : {"single", "complete", "average", "ward"}, default="average"
        The distance of two clusters: the minimum, maximum or mean of the distances between their rows, or the increase
        of the within-cluster sum of squares.
    distance_threshold : float or None, default=None
        Clusters at this distance or farther apart are not joined; infinity joins all that cannot-links allow. Requires
        ``n_clusters=None``.
    propagation : {"klein"} or None, default=None
        "klein" sets the distance of must-linked rows to zero and replaces all distances by the shortest paths through
        them, which brings the neighbors of must-linked rows closer as well (Klein, Kamvar and Manning 2002).
    size_max : int or None, default=None
        The maximum number of rows of a cluster: two clusters that have more together are not joined. None is no
        maximum.
    metric : str, default="euclidean"
        The name of a metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed" if X is a square matrix of
        distances.
    look_ahead : bool, default=True
        Whether to skip merges after which `n_clusters` clusters cannot be reached. Without it the merging may end with
        more clusters.
    on_infeasible : {"raise", "relax"}, default="raise"
        What to do if not all links can be satisfied, or no way to do so is found: raise :class:`InfeasibleError`, or
        satisfy the must-links, violate few cannot-links, and issue an :class:`InfeasibleWarning`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row; clusters are numbered by their first rows.
    n_clusters_ : int
        The number of clusters found.
    linkage_ : ndarray of shape (n_samples - 1, 4)
        The dendrogram, as of :func:`scipy.cluster.hierarchy.linkage`. See the notes.
    n_forced_ : int
        The number of merges at the end of `linkage_` that violate cannot-links.
    violations_ : Constraints
        The violated links; empty unless ``on_infeasible="relax"``.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        The names of the features, if X has any.

    Raises
    ------
    InfeasibleError
        With ``on_infeasible="raise"``, if links contradict each other, `n_clusters` clusters cannot satisfy them, or
        the merging ends with more clusters.
    TooLargeError
        If the pairwise distances need more than 4 GB.

    See Also
    --------
    SeededSingleLink : Single linkage from seeds, without all pairwise distances.
    PartitionThenLink : Links the parts of a k-means partition, for many rows.

    Notes
    -----
    Merges of must-links have height 0. After them heights never decrease. Merges that violate cannot-links are at the
    end, from twice the last height on, those with the least cannot-link weight between the clusters first: they only
    complete the matrix.

    Without `look_ahead` the greedy rule often ends with more clusters than `n_clusters`, each two of them
    cannot-linked, although fewer are possible. With it, a coloring of the cannot-link graph with `n_clusters` colors
    is maintained, and two clusters are joined only if the coloring can be changed to give them the same color. For two
    clusters no merge is skipped without need. For more the problem is NP-hard; the search has a budget, and a merge
    that exceeds it is skipped.

    With `size_max` (capped linkage, for example chapter 8 of "Constrained Clustering", 2009) the merging may end with
    more clusters than `n_clusters`, as no two of them can be joined. With ``on_infeasible="relax"`` the maximum may be
    exceeded as well.

    Merges that break links or exceed `size_max`, where these lead to `n_clusters`, are those of the least weight of
    cannot-links, and of the nearest clusters among these. Other ties are broken by the order of the rows. A wrong
    must-link distorts many distances with "klein".

    References
    ----------
    I. Davidson and S. S. Ravi, "Agglomerative hierarchical clustering with constraints: theoretical and empirical
    results", PKDD 2005. D. Klein, S. D. Kamvar and C. D. Manning, "From instance-level constraints to space-level
    constraints: making the most of prior knowledge in data clustering", ICML 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import ConstrainedLinkage, Constraints
    >>> X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]])
    >>> links = Constraints(must_link=[(2, 3)], cannot_link=[(1, 2)])
    >>> model = ConstrainedLinkage(n_clusters=2).fit(X, constraints=links)
    >>> model.labels_
    array([0, 0, 1, 1, 1, 1])
    >>> model.linkage_[:, 2]
    array([0. , 1. , 1. , 4.5, 9. ])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "linkage": [StrOptions({"single", "complete", "average", "ward"})],
        "distance_threshold": [Interval(Real, 0, None, closed="both"), None],
        "propagation": [StrOptions({"klein"}), None],
        "size_max": [Interval(Integral, 1, None, closed="left"), None],
        "metric": [str],
        "look_ahead": ["boolean"],
        "on_infeasible": [StrOptions({"raise", "relax"})],
    }

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        linkage: str = "average",
        distance_threshold: float | None = None,
        propagation: str | None = None,
        size_max: int | None = None,
        metric: str = "euclidean",
        look_ahead: bool = True,
        on_infeasible: str = "raise",
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.distance_threshold = distance_threshold
        self.propagation = propagation
        self.size_max = size_max
        self.metric = metric
        self.look_ahead = look_ahead
        self.on_infeasible = on_infeasible

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    def _fit(self, X: Any, links: Constraints, y: Array | None) -> None:
        n_rows = len(X)
        if self.size_max is not None:
            self._check_size_max(links, n_rows, self.size_max)
        merges = link_rows(
            lambda: condensed_distances(X, self.metric),
            links,
            n_rows,
            self.n_clusters,
            linkage=self.linkage,
            propagate=self.propagation == "klein",
            look_ahead=self.look_ahead,
            relax=self.on_infeasible == "relax",
            size_max=np.inf if self.size_max is None else self.size_max,
        )
        if self.n_clusters is not None:
            n_merges = merges.count_down_to(self.n_clusters)
        else:
            near = merges.heights[merges.n_given : merges.n_allowed] < cast(float, self.distance_threshold)
            n_merges = merges.n_given + int(np.count_nonzero(near))
        if n_merges > merges.n_allowed and self.on_infeasible == "raise":
            n_reached = n_rows - merges.n_allowed
            others = ("more_clusters", "relax", "soft_method")
            apart = "cannot-linked"
            if self.size_max is not None:
                apart = f"cannot-linked or larger than size_max={self.size_max} together"
            raise InfeasibleError(
                f"The merging ended with {n_reached:,} clusters, each two of them {apart}, and "
                f"{self.n_clusters} {'was' if self.n_clusters == 1 else 'were'} asked for",
                remedy=others if self.look_ahead else ("look_ahead", *others),
            )
        self.labels_ = merges.labels(n_merges)
        self.n_clusters_ = n_rows - n_merges
        self.linkage_ = as_linkage(merges.pairs, merges.heights, n_rows)
        self.n_forced_ = merges.n_forced
        self.violations_ = links.violations(self.labels_)
        largest = int(np.bincount(self.labels_).max())
        if self.size_max is not None and largest > self.size_max:
            warn_caller(
                f"A cluster has {largest:,} rows, more than size_max={self.size_max}: no {self.n_clusters_} clusters "
                "without it were found.",
                InfeasibleWarning,
            )
        if len(self.violations_) or (self.n_clusters is not None and self.n_clusters_ > self.n_clusters):
            warn_caller(
                f"Not all links can be satisfied: the clustering has {count(self.n_clusters_, 'cluster')} and violates "
                f"{len(self.violations_):,} of {count(len(links), 'link')}",
                InfeasibleWarning,
                remedy="see_violations",
            )

    def _check_size_max(self, links: Constraints, n_rows: int, size_max: int) -> None:
        """Refuse a maximum size that the number of clusters or a must-link component exceeds."""
        if self.on_infeasible == "relax":
            return
        if self.n_clusters is not None and self.n_clusters * size_max < n_rows:
            raise InfeasibleError(
                f"{count(self.n_clusters, 'cluster')} of at most {size_max} rows hold "
                f"{self.n_clusters * size_max:,}, but there are {n_rows:,} rows",
                remedy=("raise_size_max", "more_clusters"),
            )
        component = links.components(n_rows)
        largest = int(np.bincount(component).argmax())
        n_joined = int(np.count_nonzero(component == largest))
        if n_joined > size_max:
            row = int(np.flatnonzero(component == largest)[0])
            raise InfeasibleError(
                f"The must-link component of row {row} has {n_joined} rows, more than size_max={size_max}",
                remedy="raise_size_max",
            )

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        if (self.n_clusters is None) == (self.distance_threshold is None):
            raise ValueError(
                f"Exactly one of n_clusters={self.n_clusters} and distance_threshold={self.distance_threshold} must "
                "be None."
            )
        X = check_table(self, X, reset=reset, ensure_min_samples=2)
        instead = "cluster a sample of the rows, or use PartitionThenLink or SeededSingleLink"
        check_fits("ConstrainedLinkage", (len(X), (len(X) - 1) // 2), MAX_DISTANCES, instead)
        return X
