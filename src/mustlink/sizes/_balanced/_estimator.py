"""Clusters of a minimum size around any clusterer."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from mustlink._estimators import clone_with, draw_seed
from mustlink._progress import Advance, progress
from mustlink._rows import RowBlocks
from mustlink._sklearn_compat import HasMethods, Interval, StrOptions, fit_context
from mustlink._spelling import count
from mustlink._types import Array, Floats, Indices, Ints
from mustlink.base import TableClusterMixin, check_table
from mustlink.blocks import blockwise
from mustlink.kmeans.core import check_weight
from mustlink.sizes._assign._assign import assign
from mustlink.sizes._assign._bounds import check_sizes
from mustlink.sizes._balanced._populate import populate_nearest, populate_stable, release_rows
from mustlink.sizes._balanced._refine import refine_by_moves
from mustlink.sizes._balanced._sample_size import balanced_sample_size
from mustlink.sizes._frequency_sensitive._estimator import FrequencySensitiveKMeans
from mustlink.sizes._representatives import as_directions, check_enough_directions, nearest_to, representatives

__all__ = ["BalancedClustering"]

# The runs of the clusterer of the sample, if none is given.
N_RUNS = 3
# The relative decrease of the cost below which new labels are no improvement but a tie.
MIN_DECREASE = 1e-12


class BalancedClustering(TableClusterMixin, BaseEstimator):
    """Clusters of a minimum size: cluster a sample, populate the clusters, refine them.

    The clusterer of the sample can be any; its cost depends on the sample, whose size does not depend on the number of
    rows. All rows then fill the clusters up to the minimum, and moves that keep it lower the distances.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters (k).
    estimator : clusterer, default=None
        Clusters the sample; its number of clusters and its seeds are set. None is k-means, or spherical k-means for
        the cosine.
    balance : float, default=0.8
        The minimum size as a fraction of the mean size: 1 is clusters of equal size, 0 is no minimum. Not used with
        `size_min`.
    size_min : float or None, default=None
        The minimum size of every cluster: a number of rows, or with `sample_weight` a sum of weights.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Squared Euclidean distances to means, or the cosine to mean directions. With the cosine, rows of zeros are in
        no cluster (-1).
    sampling : {"coupon", "binomial"} or None, default="binomial"
        The size of the sample, see :func:`mustlink.sizes.balanced_sample_size`; None takes all rows. So does a table
        with fewer rows than the sample would have.
    rows_per_cluster : int, default=50
        How many rows of every cluster the sample should have (s).
    n_parts : int or None, default=None
        The smallest cluster is assumed to have at least one of so many equal parts of the rows (l); None is
        `n_clusters`.
    confidence : float or None, default=None
        The probability with which the sample has these rows; None is ``1 - n_clusters ** -4``.
    populate : {"stable", "greedy"}, default="stable"
        Rows outside of the sample fill the clusters up to the minimum by a stable assignment, or simply go to the
        nearest cluster, which guarantees no size.
    refine : {"exact", "moves"} or None, default="exact"
        How labels are improved with the representatives fixed: by the cheapest assignment of all
        (:func:`mustlink.sizes.assign`), by moves of single rows and of one row per cluster around a cycle, or not.
        With `sample_weight`, "exact" is done by moves.
    max_iter : int, default=100
        The maximum number of refinements, with new representatives after each.
    verbose : int or bool, default=False
        Whether to show a progress bar of the refinements.
    random_state : int, RandomState or None, default=None
        Draws the sample and the seed of its clusterer.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The means of the clusters; unit vectors for the cosine.
    sizes_ : ndarray of shape (n_clusters,)
        The number of rows in every cluster, or with `sample_weight` the sum of their weights.
    size_min_ : float
        The minimum size.
    sample_ : ndarray of shape (n_sampled,)
        The rows that were sampled.
    inertia_ : float
        The weighted sum of squared distances of the rows to the centers of their clusters, between unit vectors for
        the cosine.
    n_iter_ : int
        The number of refinements.
    n_features_in_ : int
        The number of columns.

    See Also
    --------
    SizeConstrainedKMeans : K-means with minimum and maximum sizes, without a sample.
    FrequencySensitiveKMeans : Soft balance.

    Notes
    -----
    The four variants compared in the source [1]_ are ``populate="stable", refine="moves"`` (SPKpr), ``"stable"`` and
    None (SPKpnr), ``"greedy"`` and None (SPKgpnr), and ``"greedy"`` and ``"moves"`` (SPKgpr), all with
    ``metric="cosine", sampling="coupon"``. Only the first two guarantee the minimum. ``refine="exact"`` is ours: moves
    end where no cycle is left to improve, which need not be the cheapest assignment.

    Where the sample has so many rows of large clusters that the others do not suffice for all minimum sizes, the
    farthest rows of these clusters are released first; the source does not mention it. Sampled rows may move later.

    With `sample_weight`, weights count in distances and in sizes. Rows are not divided: a cluster whose rows are heavy
    may fall short of the minimum by less than the weight of a row.

    References
    ----------
    .. [1] A. Banerjee and J. Ghosh, "Clustering with balancing constraints", chapter 8 of "Constrained Clustering",
       2009.
    .. [2] A. Banerjee and J. Ghosh, "Scalable clustering algorithms with balancing constraints", Data Mining and
       Knowledge Discovery 13, 2006.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from mustlink import BalancedClustering
    >>> X, _ = make_blobs([900, 60, 40], centers=[[0, 0], [4, 0], [0, 4]], cluster_std=0.8, random_state=0)
    >>> BalancedClustering(3, balance=0.9, random_state=0).fit(X).sizes_.min()
    np.int64(300)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "estimator": [None, HasMethods(["fit_predict", "get_params"])],
        "balance": [Interval(Real, 0, 1, closed="both")],
        "size_min": [Interval(Real, 0, None, closed="left"), None],
        "metric": [StrOptions({"euclidean", "cosine"})],
        "sampling": [StrOptions({"coupon", "binomial"}), None],
        "rows_per_cluster": [Interval(Integral, 1, None, closed="left")],
        "n_parts": [Interval(Integral, 1, None, closed="left"), None],
        "confidence": [Interval(Real, 0, 1, closed="neither"), None],
        "populate": [StrOptions({"stable", "greedy"})],
        "refine": [StrOptions({"exact", "moves"}), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }
    _read_by_predict: ClassVar[tuple[str, ...]] = ("cluster_centers_",)

    cluster_centers_: Array
    sizes_: Array
    size_min_: float
    sample_: Indices
    inertia_: float
    n_iter_: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        estimator: Any = None,
        balance: float = 0.8,
        size_min: float | None = None,
        metric: Literal["euclidean", "cosine"] = "euclidean",
        sampling: Literal["coupon", "binomial"] | None = "binomial",
        rows_per_cluster: int = 50,
        n_parts: int | None = None,
        confidence: float | None = None,
        populate: Literal["stable", "greedy"] = "stable",
        refine: Literal["exact", "moves"] | None = "exact",
        max_iter: int = 100,
        verbose: int | bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.estimator = estimator
        self.balance = balance
        self.size_min = size_min
        self.metric = metric
        self.sampling = sampling
        self.rows_per_cluster = rows_per_cluster
        self.n_parts = n_parts
        self.confidence = confidence
        self.populate = populate
        self.refine = refine
        self.max_iter = max_iter
        self.verbose = verbose
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: object = None, *, sample_weight: ArrayLike | None = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : object, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row, in distances and in sizes; 1 if None.

        Returns
        -------
        self : object
            The fitted clusterer.
        """
        self._fit_and_count(self._check_fit_rows(X, y), sample_weight)
        return self

    def _fit(self, X: Any, sample_weight: ArrayLike | None) -> None:
        rng = check_random_state(self.random_state)
        weight = check_weight(sample_weight, X)
        X, is_used = (X, np.ones(X.shape[0], dtype=bool)) if self.metric == "euclidean" else as_directions(X)
        check_enough_directions(X.shape[0], len(is_used), self.n_clusters)
        rows, weight = RowBlocks(X), weight[is_used]
        lowest = self._lowest(weight, is_weighted=sample_weight is not None)
        sample = self._draw(rows, rng)
        labels, centers = self._cluster_sample(rows, weight, sample, sample_weight is not None, rng)
        squares = rows.squared_distances(centers)
        if self.populate == "stable":
            labels = populate_stable(squares, weight, lowest, release_rows(squares, weight, lowest, labels))
        else:
            labels = populate_nearest(squares, labels)
        with progress(self.max_iter, "BalancedClustering", shown=self.verbose) as report:
            labels, centers = self._refine(rows, weight, lowest, labels, centers, sample_weight is not None, report)
        self.labels_ = np.full(len(is_used), -1)
        self.labels_[is_used] = labels
        self.cluster_centers_ = centers.astype(X.dtype)
        self.sizes_ = np.bincount(labels, None if sample_weight is None else weight, self.n_clusters)
        self.size_min_ = lowest[0].item()
        self.sample_ = np.flatnonzero(is_used)[sample]
        self.inertia_ = float(weight @ rows.distances_to_own(centers, labels))

    def _lowest(self, weight: Floats, *, is_weighted: bool) -> Floats:
        """Return the minimum size of every cluster."""
        size_min = self.size_min
        if size_min is None:
            size_min = self.balance * weight.sum() / self.n_clusters
            # As a number of rows; products such as 0.29 * 100 may fall short of a whole number by rounding.
            size_min = size_min if is_weighted else np.floor(size_min + 1e-9)
        total = float(weight.sum()) if is_weighted else None
        return check_sizes(size_min, None, len(weight), self.n_clusters, total=total)[0].astype(np.float64)

    def _draw(self, rows: RowBlocks, rng: np.random.RandomState) -> Indices:
        """Draw the rows of the sample, the same ones however rows are numbered."""
        size = rows.n_rows
        if self.sampling is not None:
            size = balanced_sample_size(
                self.n_clusters, self.rows_per_cluster, self.n_parts, self.confidence, sampling=self.sampling
            )
        if size >= rows.n_rows:
            return np.arange(rows.n_rows)
        return np.sort(rows.order_by_content()[rng.choice(rows.n_rows, size, replace=False)])

    def _cluster_sample(
        self, rows: RowBlocks, weight: Floats, sample: Indices, is_weighted: bool, rng: np.random.RandomState
    ) -> tuple[Ints, Floats]:
        """Cluster the sample; return the label of every sampled row, -1 for all others, and the representatives."""
        estimator = self.estimator
        if estimator is None:
            spherical = FrequencySensitiveKMeans(metric="cosine", update="none", n_init=N_RUNS)
            estimator = KMeans(n_init=N_RUNS) if self.metric == "euclidean" else spherical
        model = clone_with(estimator, self.n_clusters, draw_seed(rng))
        weights = {"sample_weight": weight[sample]} if is_weighted and has_fit_parameter(model, "sample_weight") else {}
        found = np.asarray(model.fit_predict(rows.X[sample], **weights)).astype(np.int64)
        names, numbers = np.unique(found, return_inverse=True)
        clusters = names[names >= 0]
        if len(clusters) > self.n_clusters:
            raise ValueError(
                f"{type(model).__name__} found {count(len(clusters), 'cluster')} in the sample of {len(sample):,} "
                f"rows, more than n_clusters={self.n_clusters}; use a clusterer that takes the number of clusters."
            )
        labels = np.full(rows.n_rows, -1)
        labels[sample] = numbers - np.count_nonzero(names < 0)
        labels[sample[found < 0]] = -1
        is_labeled = labels[sample] >= 0
        return labels, self._first_centers(rows.take(sample), labels[sample], weight[sample], is_labeled)

    def _first_centers(self, sample: RowBlocks, labels: Ints, weight: Floats, is_labeled: Array) -> Floats:
        """Return the representatives of the sample; clusters that it has no rows of begin at the farthest rows."""
        centers = np.zeros((self.n_clusters, sample.n_features))
        if is_labeled.any():
            inside = sample.take(np.flatnonzero(is_labeled))
            is_cosine = self.metric == "cosine"
            centers = representatives(inside, labels[is_labeled], weight[is_labeled], centers, is_cosine=is_cosine)
        n_found = int(labels.max()) + 1
        for cluster in range(n_found, self.n_clusters):
            far = sample.nearest_distances(centers[:cluster]).argmax() if cluster else 0
            centers[cluster] = sample.rows(np.array([far]))[0]
        return centers

    def _refine(
        self,
        rows: RowBlocks,
        weight: Floats,
        lowest: Floats,
        labels: Ints,
        centers: Floats,
        is_weighted: bool,
        report: Advance,
    ) -> tuple[Ints, Floats]:
        """Improve the labels and the representatives in turn until the labels stay; return both."""
        is_cosine, prices = self.metric == "cosine", None
        self.n_iter_ = 0
        while self.refine is not None and self.n_iter_ < self.max_iter:
            self.n_iter_ += 1
            report(self.n_iter_)
            squares = rows.squared_distances(centers)
            before = labels
            if self.refine == "moves" or is_weighted:
                labels = refine_by_moves(squares, weight, lowest, labels)
            else:
                labels, prices = assign(squares, size_min=lowest.astype(np.int64), start=prices)
                labels = labels.astype(np.int64)
            is_kept = np.bincount(before, weight, len(lowest)).min() >= lowest[0]
            if np.array_equal(labels, before) or (is_kept and _is_no_better(squares, weight, labels, before)):
                labels = before
                # The first representatives are those of the sample, and not yet of all rows.
                if self.n_iter_ > 1:
                    break
            centers = representatives(rows, labels, weight, centers, is_cosine=is_cosine)
        return labels, representatives(rows, labels, weight, centers, is_cosine=is_cosine)

    @blockwise
    def predict(self, X: Any) -> Ints:
        """Return the cluster with the nearest center for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows. Sizes are not used.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster numbers; -1 for rows without a direction.
        """
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        X, is_used = (X, np.ones(X.shape[0], dtype=bool)) if self.metric == "euclidean" else as_directions(X)
        return nearest_to(self.cluster_centers_, X, is_used)

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        return check_table(self, X, reset=reset, accept_sparse="csr", order="C", accept_large_sparse=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _is_no_better(squares: Array, weight: Floats, labels: Ints, before: Ints) -> bool:
    """Return whether new labels cost as much as those before, up to rounding."""
    every = np.arange(len(labels))
    old, new = (float(weight @ squares[every, found]) for found in (before, labels))
    return new >= (1.0 - MIN_DECREASE) * old
