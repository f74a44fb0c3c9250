"""K-means in which clusters that have won many rows are less attractive."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mustlink._magnitude import check_magnitude
from mustlink._rows import RowBlocks, squared_norms
from mustlink._sklearn_compat import Interval, StrOptions, fit_context, is_array_like
from mustlink._types import Array, Floats, Ints, Mask
from mustlink.base import TableClusterMixin, check_table
from mustlink.blocks import blockwise
from mustlink.kmeans.core import (
    Run,
    Start,
    State,
    best_of_runs,
    check_init,
    iterate,
    start_at_random_rows,
    start_at_seeds,
)
from mustlink.sizes._frequency_sensitive._passes import (
    FrequencyGeometry,
    FrequencyRule,
    MeanSizes,
    Presentation,
    present_until_settled,
)
from mustlink.sizes._representatives import as_directions, check_enough_directions, direction_of, nearest_to

__all__ = ["FrequencySensitiveKMeans"]

# The memory of a stream, in rows, if none is given; one of the two lengths in the experiments of the source.
DEFAULT_MEMORY = 1000
# How far the centers of init="mean" are from the mean, relative to its length or to the spread of the rows.
PERTURBATION = 0.1


class FrequencySensitiveKMeans(TableClusterMixin, BaseEstimator):
    """K-means with frequency-sensitive (soft) balance.

    The more rows a cluster has won, the less attractive it is: frequency-sensitive competitive learning for Euclidean
    distances, and the frequency-sensitive versions of spherical k-means for the cosine, on all rows at once, row by
    row, or on a stream.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    metric : {"euclidean", "cosine"}, default="euclidean"
        What is compared: squared Euclidean distances to means, or directions by the cosine, as for texts. For
        "cosine" rows are scaled to unit length, and rows of zeros are in no cluster (-1).
    update : {"none", "batch", "counts", "online", "stream"}, default="online"
        When the counts and the centers change:

        - "none": counts are not used; (spherical) k-means.
        - "batch": both after a pass over all rows (fs-SPKMeans of the source).
        - "counts": the counts after every row, the centers after a pass (pifs-SPKMeans); the most balanced.
        - "online": both after every row (fifs-SPKMeans; FSCL for Euclidean distances).
        - "stream": both after every row, and older rows are forgotten (sfs-SPKMeans). Only this has ``partial_fit``,
          for which the rule must not depend on the number of all rows; it continues from an earlier ``fit`` of a
          stream.
    penalty : {"none", "plus", "likelihood"} or None, default=None
        The term that the logarithm of the count n adds to the cost of a row. For Euclidean distances the cost is n
        times the squared distance, plus nothing ("none", the original rule), plus d log n in d dimensions ("plus", as
        printed in the source), or minus it ("likelihood", what the model gives, which favors large clusters while they
        are small). For the cosine it is minus (1 + cosine) / n, and (log n) / (L d) is added ("plus") or not
        ("none"), with the number of rows or the memory L. None is "none" for Euclidean distances and "plus" for the
        cosine.
    memory : float or None, default=None
        The number of rows that counts remember. None is 1000 for a stream, the number of rows for the cosine, and
        all rows ever seen for Euclidean distances.
    init : {"k-means++", "random", "mean"} or array-like of shape (n_clusters, n_features), default="k-means++"
        Where the centers start. "mean" is the mean of all rows with small random perturbations, as in the source.
    n_init : int, default=1
        The number of runs, of which the one with the least mean distance is kept.
    max_iter : int, default=100
        The maximum number of passes over the rows.
    tol : float, default=1e-4
        When a run ends: relative change of the mean distance, or, for "none" and "batch", squared shift of the
        centers relative to the mean variance of the columns.
    restart_empty : bool, default=True
        For "none" and "batch": whether a cluster without rows restarts at the row that is farthest from its center;
        otherwise it keeps its center.
    verbose : int or bool, default=False
        Whether to show a progress bar.
    random_state : int, RandomState or None, default=None
        Draws the starts and the order of the rows.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centers; unit vectors for the cosine. After ``partial_fit`` of fewer different rows than clusters, those of
        the clusters that have begun.
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row when it was presented for the last time; after ``partial_fit`` that of the last rows.
    sizes_ : ndarray of shape (n_clusters,)
        The number of rows in every cluster.
    counts_ : ndarray of shape (n_clusters,)
        The effective counts at the end.
    objective_ : list of float
        The mean squared distance, or the mean of 1 - cosine, in every pass.
    n_iter_ : int
        The number of passes of the best run.
    n_features_in_ : int
        The number of columns.

    See Also
    --------
    BalancedClustering : A minimum size that is guaranteed.
    SoftBalancedMixture : Equal expected sizes of mixture components.

    Notes
    -----
    For the cosine the rule is (8.10) of the source [1]_, printed for streams; for "batch", "counts" and "online" the
    source gives no formula, and the same rule is used with the number of rows as the memory. They start from a
    converged spherical k-means. Counts start at n / k, and a row changes them to ``(1 - 1/n) counts``, plus one for
    the winner. In a batch they are the mean of the sizes of all passes: with the last sizes, or their mean with the
    counts before, clusters exchange their sizes from pass to pass. For Euclidean distances row by row they start at
    one, from the centers of `init`, and grow.

    A stream starts with the first different rows as centers; counts below one count as one. The source prints the
    increase of the counts without saying that it is the winner's alone.

    The 1 + cosine of the rule is kept as printed, where an expansion of the density gives cosine - 1: only with the
    former the cost grows with the count for every row. ``predict`` does not use the counts: it returns the nearest
    center.

    References
    ----------
    .. [1] A. Banerjee and J. Ghosh, "Clustering with balancing constraints", chapter 8 of "Constrained Clustering",
       2009.
    .. [2] A. Banerjee and J. Ghosh, "Frequency-sensitive competitive learning for scalable balanced clustering on
       high-dimensional hyperspheres", IEEE Transactions on Neural Networks 15, 2004.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from mustlink import FrequencySensitiveKMeans
    >>> X, _ = make_blobs([180, 15, 5], centers=[[0, 0], [4, 0], [0, 4]], cluster_std=0.8, random_state=0)
    >>> FrequencySensitiveKMeans(3, update="none", random_state=0).fit(X).sizes_
    array([ 72,  15, 113])
    >>> FrequencySensitiveKMeans(3, update="counts", random_state=0).fit(X).sizes_
    array([67, 43, 90])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions({"euclidean", "cosine"})],
        "update": [StrOptions({"none", "batch", "counts", "online", "stream"})],
        "penalty": [StrOptions({"none", "plus", "likelihood"}), None],
        "memory": [Interval(Real, 1, None, closed="neither"), None],
        "init": [StrOptions({"k-means++", "random", "mean"}), "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "restart_empty": ["boolean"],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }
    _read_by_predict: ClassVar[tuple[str, ...]] = ("cluster_centers_",)

    cluster_centers_: Array
    sizes_: Ints
    counts_: Floats
    objective_: list[float]
    n_iter_: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: Literal["euclidean", "cosine"] = "euclidean",
        update: Literal["none", "batch", "counts", "online", "stream"] = "online",
        penalty: Literal["none", "plus", "likelihood"] | None = None,
        memory: float | None = None,
        init: str | ArrayLike = "k-means++",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-4,
        restart_empty: bool = True,
        verbose: int | bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.update = update
        self.penalty = penalty
        self.memory = memory
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.restart_empty = restart_empty
        self.verbose = verbose
        self.random_state = random_state

    def _fit(self, X: Any) -> None:
        """Make the runs, and keep the best."""
        rng = check_random_state(self.random_state)
        X, is_used = self._prepare(X)
        check_enough_directions(X.shape[0], len(is_used), self.n_clusters)
        run = best_of_runs(self, partial(self._run, X, rng), self._start(RowBlocks(X), rng))
        labels = np.full(len(is_used), -1)
        labels[is_used] = run.labels
        self._keep(labels, run.state.centers, run.state.metric, X.dtype)
        self.objective_, self.n_iter_ = run.objective, run.n_iter
        self.__dict__.pop("_presentation", None)
        if self.update == "stream":
            self._presentation = Presentation.of(self._rule(X.shape), run.state.centers, run.state.metric)

    def _run(self, X: Any, rng: np.random.RandomState, centers: Floats, report: Any) -> Run:
        """Make one run from given centers."""
        rows, rule = RowBlocks(X), self._rule(X.shape)
        unit = 1.0 if rule.is_cosine else rows.mean_variance(np.ones(rows.n_rows))
        stop: dict[str, Any] = {"max_iter": self.max_iter, "shift": self.tol * unit}
        geometry = FrequencyGeometry(rows, rule, fills_empty_clusters=self.restart_empty)
        share = rows.n_rows / self.n_clusters
        state = State(centers)
        if self.update in ("none", "batch") or (rule.is_cosine and self.update != "stream"):
            plain = iterate(geometry, state, report, **stop)
            state, sizes = plain.state, np.bincount(plain.labels, minlength=self.n_clusters).astype(np.float64)
            if self.update == "none":
                return _with_mean_loss(plain, State(state.centers, sizes))
            if self.update == "batch":
                run = iterate(geometry, State(state.centers, MeanSizes(sizes)), report, **stop)
                return _with_mean_loss(run, State(run.state.centers, run.state.metric.counts))
        first = 0.0 if self.update == "stream" else share if rule.is_cosine else 1.0
        presentation = Presentation.of(rule, state.centers, first, moves_centers=self.update != "counts")
        return present_until_settled(X, presentation, report, rng, max_iter=self.max_iter, tol=self.tol)

    @available_if(lambda self: self.update == "stream" or _refuse_batches(self))
    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: object = None) -> Self:
        """Present more rows of a stream, in their order; centers and counts of an earlier fit are continued.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The next rows, one or more.
        y : object, default=None
            Ignored.

        Returns
        -------
        self : object
            The clusterer; `labels_` has the clusters of these rows.
        """
        is_first = not hasattr(self, "_presentation")
        X, is_used = self._prepare(self._check_rows(X, reset=is_first))
        if is_first:
            centers = np.zeros((self.n_clusters, X.shape[1]))
            rule = self._rule(X.shape)
            self._presentation = Presentation(rule, centers, np.zeros(self.n_clusters), np.zeros(1, dtype=np.intp))
            self.objective_, self.n_iter_ = [], 0
        found, loss = self._presentation.present(X, np.arange(X.shape[0]))
        labels = np.full(len(is_used), -1)
        labels[is_used] = found
        begun = self._presentation.n_seeded[0]
        self._keep(labels, self._presentation.centers[:begun], self._presentation.counts[:begun], X.dtype)
        self.objective_.append(loss / max(1, X.shape[0]))
        self.n_iter_ += 1
        return self

    @blockwise
    def predict(self, X: Any) -> Ints:
        """Return the cluster with the nearest center for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows. The counts are not used.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster numbers; -1 for rows without a direction.
        """
        check_is_fitted(self)
        X, is_used = self._prepare(self._check_rows(X, reset=False))
        if not len(self.cluster_centers_):
            raise ValueError("No cluster has begun: all rows so far were zero in every column; pass more rows first.")
        return nearest_to(self.cluster_centers_, X, is_used)

    def _prepare(self, X: Any) -> tuple[Any, Mask]:
        """Return the rows to cluster, unit vectors for the cosine, and which rows of X they are."""
        if self.metric == "euclidean":
            return X, np.ones(X.shape[0], dtype=bool)
        return as_directions(X)

    def _rule(self, shape: tuple[int, int]) -> FrequencyRule:
        """Return the rule of the parameters for a table of a shape."""
        n_rows, n_features = shape
        is_cosine = self.metric == "cosine"
        penalty = self.penalty or ("plus" if is_cosine else "none")
        if is_cosine and penalty == "likelihood":
            raise ValueError('penalty="likelihood" is for metric="euclidean"; with the cosine use "plus" or "none".')
        memory = self.memory
        if memory is None:
            memory = DEFAULT_MEMORY if self.update == "stream" else n_rows if is_cosine else np.inf
        sign = {"none": 0.0, "plus": 1.0, "likelihood": -1.0}[penalty]
        log_weight = sign / (memory * n_features) if is_cosine else sign * n_features
        return FrequencyRule(is_cosine, log_weight, 1.0 - 1.0 / max(memory, 2.0))

    def _start(self, rows: RowBlocks, rng: np.random.RandomState) -> Start:
        """Return where runs start."""
        weight = np.ones(rows.n_rows)
        if is_array_like(self.init):
            centers = check_init(self, rows.n_features)
            check_magnitude(centers, "init", rows.dtype)
            if self.metric == "cosine":
                centers, has_direction = direction_of(centers)
                if not has_direction.all():
                    raise ValueError(f"Row {int(np.argmin(has_direction))} of init is zero and has no direction.")
            return Start(lambda: centers)
        if self.init == "random":
            return start_at_random_rows(rows, weight, self.n_clusters, rng)
        if self.init == "mean":
            return Start(partial(_perturbed_means, rows, self.n_clusters, self.metric == "cosine", rng), is_random=True)
        return start_at_seeds(rows, weight, np.full(rows.n_rows, -1, dtype=np.intp), self.n_clusters, rng)

    def _keep(self, labels: Ints, centers: Floats, counts: Floats, dtype: Any) -> None:
        """Store what a fit has found."""
        self.labels_ = labels
        self.sizes_ = np.bincount(labels[labels >= 0], minlength=self.n_clusters)
        self.cluster_centers_ = centers.astype(dtype)
        self.counts_ = counts.copy()

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        return check_table(self, X, reset=reset, accept_sparse="csr", order="C", accept_large_sparse=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _refuse_batches(estimator: FrequencySensitiveKMeans) -> bool:
    """Say why there is no ``partial_fit``."""
    raise AttributeError(f'partial_fit needs update="stream", and update is {estimator.update!r}.')


def _with_mean_loss(run: Run, state: State) -> Run:
    """Return a run whose objective is the mean over the rows, with another state."""
    objective = [total / len(run.labels) for total in run.objective]
    return Run(run.labels, run.n_iter, objective, state, run.inertia)


def _perturbed_means(rows: RowBlocks, n_clusters: int, is_cosine: bool, rng: np.random.RandomState) -> Floats:
    """Return copies of the mean of all rows, each moved a little at random."""
    weight = np.ones(rows.n_rows)
    mean = rows.averages(np.zeros(rows.n_rows, dtype=np.intp), 1, weight).rows(slice(None))
    moves, _ = direction_of(rng.standard_normal((n_clusters, rows.n_features)))
    size = np.sqrt(squared_norms(mean))[0] if is_cosine else np.sqrt(rows.n_features * rows.mean_variance(weight))
    centers = mean + PERTURBATION * size * moves
    return direction_of(centers)[0] if is_cosine else centers
