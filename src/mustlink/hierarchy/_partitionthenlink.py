"""k-means into many small parts, which are then joined by a constrained linkage."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.validation import check_is_fitted

from mustlink._sklearn_compat import Interval, StrOptions
from mustlink._types import Array, Ints
from mustlink.base import ConstrainedClusterMixin, refuse_contradictions, refuse_infeasible
from mustlink.blocks import blockwise
from mustlink.constraints import Constraints
from mustlink.hierarchy._constrainedlinkage import ConstrainedLinkage


class PartitionThenLink(ConstrainedClusterMixin, BaseEstimator):
    """Constrained linkage of the parts of a k-means partition.

    k-means cuts the rows into many more parts than `n_clusters`, and the centers of the parts are joined by
    :class:`ConstrainedLinkage`. Clusters can have any shape, at about the cost of k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    n_parts : int or "sqrt", default="sqrt"
        The number of parts, at least `n_clusters`; "sqrt" is the square root of the number of rows.
    linkage : {"single", "complete", "average", "ward"}, default="single"
        The distance of two clusters of centers, which have equal weights.
    propagation : {"klein"} or None, default=None
        As of :class:`ConstrainedLinkage`.
    n_init : int, default=1
        The number of runs of k-means; the best is kept.
    on_infeasible : {"raise", "relax"}, default="raise"
        What to do if not all links can be satisfied, or no way to do so is found: raise :class:`InfeasibleError`, or
        satisfy the must-links, violate few cannot-links, and issue an :class:`InfeasibleWarning`.
    random_state : int, RandomState or None, default=None
        Makes a fit repeatable.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    n_clusters_ : int
        The number of clusters found; without links it is fewer than `n_clusters` if there are fewer distinct rows.
    part_labels_ : ndarray of shape (n_samples,)
        The part of every row.
    part_centers_ : ndarray of shape (n_parts, n_features)
        The centers of the parts.
    part_clusters_ : ndarray of shape (n_parts,)
        The cluster of every part.
    linkage_ : ndarray of shape (n_parts - 1, 4)
        The dendrogram of the parts, as of :class:`ConstrainedLinkage`.
    violations_ : Constraints
        The violated links; empty unless ``on_infeasible="relax"``.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        The names of the features, if X has any.

    Raises
    ------
    InfeasibleError
        With ``on_infeasible="raise"``, if links contradict each other or `n_clusters` clusters cannot satisfy them.
    TooLargeError
        If there are more than about 31,600 parts and linked rows.

    See Also
    --------
    ConstrainedLinkage : Joins the rows themselves.

    Notes
    -----
    Every linked row becomes a part of its own, while the center of the part that it leaves does not change. Hence
    links between rows are links between parts, which k-means cannot violate. If must-links or equal rows leave fewer
    groups of parts than clusters, the rows farthest from their centers become parts of their own as well.

    Without links this is our reading of the "partitional single link" that is a base clusterer of Liu, Jin and Jain
    (2007), whose program is not public.

    References
    ----------
    Y. Liu, R. Jin and A. K. Jain, "BoostCluster: boosting clustering by pairwise constraints", KDD 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints, PartitionThenLink
    >>> X = np.arange(30.0)[:, None] + 20 * (np.arange(30) >= 10)[:, None]
    >>> model = PartitionThenLink(n_clusters=2, random_state=0).fit(X, constraints=Constraints([(3, 17)], [(0, 29)]))
    >>> model.n_clusters_, len(model.violations_)
    (2, 0)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_parts": [StrOptions({"sqrt"}), Interval(Integral, 1, None, closed="left")],
        "linkage": [StrOptions({"single", "complete", "average", "ward"})],
        "propagation": [StrOptions({"klein"}), None],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "on_infeasible": [StrOptions({"raise", "relax"})],
        "random_state": ["random_state"],
    }

    _read_by_predict = ("part_centers_", "part_clusters_")

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_parts: int | str = "sqrt",
        linkage: str = "single",
        propagation: str | None = None,
        n_init: int = 1,
        on_infeasible: str = "raise",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_parts = n_parts
        self.linkage = linkage
        self.propagation = propagation
        self.n_init = n_init
        self.on_infeasible = on_infeasible
        self.random_state = random_state

    def _fit(self, X: Any, links: Constraints, y: Array | None) -> None:
        if self.on_infeasible == "raise":
            # Here the message has the numbers of rows, later those of parts.
            refuse_contradictions(links)
            refuse_infeasible(links.feasible(self.n_clusters, len(X)))
        self._partition(X, links)
        n_parts = len(self.part_centers_)
        if n_parts <= self.n_clusters and links.is_empty:
            self.part_clusters_, self.linkage_ = np.arange(n_parts), np.empty((0, 4))
        else:
            model = ConstrainedLinkage(
                min(self.n_clusters, n_parts),
                linkage=self.linkage,
                propagation=self.propagation,
                on_infeasible=self.on_infeasible,
            )
            between_parts = Constraints.from_pairs(
                self.part_labels_[links.pairs], links.sign, links.weight, contradictions="keep"
            )
            model.fit(self.part_centers_, constraints=between_parts)
            self.part_clusters_, self.linkage_ = model.labels_, model.linkage_
        self.labels_ = self.part_clusters_[self.part_labels_]
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.violations_ = links.violations(self.labels_)

    @blockwise
    def predict(self, X: Any) -> Ints:
        """Return for each row the cluster of the part with the nearest center.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster numbers.
        """
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        nearest = pairwise_distances_argmin(X, self.part_centers_.astype(X.dtype))
        return self.part_clusters_[nearest]

    def _partition(self, X: Array, links: Constraints) -> None:
        """Run k-means, and make every linked row a part of its own."""
        n_wanted = round(np.sqrt(len(X))) if self.n_parts == "sqrt" else int(self.n_parts)
        n_parts = min(len(X), max(self.n_clusters, n_wanted))
        with warnings.catch_warnings():
            # Equal rows can make fewer parts and still enough clusters.
            warnings.simplefilter("ignore", ConvergenceWarning)
            cut = KMeans(n_parts, n_init=self.n_init, random_state=self.random_state).fit(X)
        part, centers = cut.labels_.astype(np.int64), cut.cluster_centers_
        rows = links.constrained_rows()
        if len(rows):
            rows = np.concatenate([rows, self._rows_to_split_off(X, part, centers, rows, links)])
        part[rows] = n_parts + np.arange(len(rows))
        centers = np.concatenate([centers, X[rows]])
        # Drop parts without rows: empty ones of k-means, and those whose rows are all linked.
        used, self.part_labels_ = np.unique(part, return_inverse=True)
        self.part_centers_ = centers[used]

    def _rows_to_split_off(self, X: Array, part: Ints, centers: Array, linked: Ints, links: Constraints) -> Ints:
        """Return rows without links that must be parts of their own for `n_clusters` clusters to be possible.

        A cluster is made of parts with rows without links, and of components of linked rows.
        """
        free = np.setdiff1d(np.arange(len(X)), linked)
        n_components = len(np.unique(links.components(len(X))[linked]))
        n_missing = self.n_clusters - n_components - len(np.unique(part[free]))
        if n_missing <= 0:
            return free[:0]
        distance = np.linalg.norm(X[free] - centers[part[free]], axis=1)
        nearest_first = free[np.lexsort((distance, part[free]))]
        # The row nearest to its center stays, so that no part becomes empty.
        is_nearest = np.zeros(len(X), dtype=bool)
        is_nearest[nearest_first[np.unique(part[nearest_first], return_index=True)[1]]] = True
        farthest_first = free[np.argsort(-distance, kind="stable")]
        return farthest_first[~is_nearest[farthest_first]][:n_missing]
