"""MPCKMeans: k-means that learns how to measure while links have a price."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mustlink._progress import round_bar
from mustlink._rows import RowBlocks, Standardizer
from mustlink._sklearn_compat import Interval, StrOptions, fit_context, is_array_like
from mustlink._types import Floats
from mustlink.base import ConstrainedClusterMixin, check_enough_rows
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.errors import TooLargeError
from mustlink.kmeans._empty_clusters import warn_of_empty_clusters
from mustlink.kmeans._mpckmeans_links import MeasuredLinks
from mustlink.kmeans._mpckmeans_metrics import DiagonalMetrics, FullMetrics
from mustlink.kmeans._mpckmeans_run import Rules, Run, run
from mustlink.kmeans._seeding import Start, from_seeds, given_centers, neighbourhood_seeds, random_rows

MOST_ENTRIES = 1 << 27
"""How many numbers full metrics may hold together (1 GB)."""


class MPCKMeans(ConstrainedClusterMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """k-means that learns a metric while links have a price (Bilenko, Basu and Mooney 2004).

    Distances are learned together with the clusters: columns, or directions, in which rows of one cluster differ
    little count more, and so do those that make broken links cheaper. A long must-link costs more to break than a
    short one, a short cannot-link more than a long one. Use it when the columns have different units or some of them
    say nothing; :class:`PCKMeans` is for tables whose distances are right as they are.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    metric : {"diagonal", "full"}, default="diagonal"
        Whether to learn a weight for each column, or for all directions. "full" is often better with many links; its
        time grows with the square of the number of columns.
    shared_metric : bool, default=True
        Whether there is one metric for all clusters, or one for each.
    penalty : float, default=1.0
        What a link of weight one counts in comparison with a row. The metric sets the scale, so that results do not
        depend on the units of the table. With 0 links play no part except in the start.
    init_metric : {"auto", "identity", "variance"}, default="auto"
        The metric of the first round: distances as the table has them; columns divided by their standard deviations; or
        runs from both, of which the one with the least objective is kept.
    least_variance : float, default=0.03
        The least variance of a cluster in any direction, as a share of that of all rows; variances below are raised to
        it. It keeps the metric finite.
    init : {"neighbourhoods", "k-means++", "random"} or array-like of shape (n_clusters, n_features), \
            default="neighbourhoods"
        Where the centres start: the means of must-link components, far from each other, and further rows as by
        "k-means++"; rows drawn far from each other; rows drawn at random; or these centres.
    n_init : int or "auto", default="auto"
        How many runs to make from different starts for each first metric. "auto" is one run, ten for
        ``init="random"``. Where chance plays no part in the start, one run is made.
    max_iter : int, default=100
        The most iterations of a run.
    tol : float, default=1e-4
        A run stops when the squared shift of all centres together, in columns divided by their standard deviations,
        falls to this.
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
    metrics_ : ndarray of shape (n_clusters, n_features) or (n_clusters, n_features, n_features)
        The matrix A of each cluster, or its diagonal, in the units of the table: the squared distance of x to the
        centre m is (x - m)' A (x - m). They are all equal if the metric is shared.
    n_iter_ : int
        The number of iterations of the run that was kept.
    objective_ : list of float
        The objective after each assignment of that run.
    violations_ : Constraints
        The links that the result breaks.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the table had any.

    See Also
    --------
    PCKMeans : The same without learning a metric.
    HMRFKMeans : Other distances, such as the cosine.

    Notes
    -----
    The objective sums, over the rows, the squared distance to the centre under the metric of the cluster less the
    logarithm of its determinant; over broken must-links, the weight times the squared length, averaged over the two
    metrics; and over broken cannot-links, the weight times what the squared length falls short of that of the longest
    pair of rows. Rows without links go to the cheapest cluster; rows with links are visited by iterated conditional
    modes, the most certain first, then must-link components as wholes. Then the centres become means and the metrics
    the inverse of the scatter of the cluster and its broken links.

    None of these steps raises the objective as long as the longest pair is the same; the metrics are the best there
    are with no variance below `least_variance`, which also settles singular and indefinite sums. After a new metric
    the longest pair is looked for again, and then the objective may rise. It is looked for among some hundred rows that
    lie outermost, and among the cannot-links themselves, so that none of them can have a negative price.

    What the paper leaves open: it starts from distances as they are. That is bad where one column drowns the others,
    and standardised columns are bad where many say nothing, as in pictures; the least objective of a run from each
    decides mostly well between the two. A single metric is the default because on iris, wine, breast cancer and digits,
    with one link for ten rows, it came nearer to the classes than a metric for each cluster. (On digits
    :class:`PCKMeans` came nearer still: there distances are right as they are.) With one link for
    two rows full metrics were better on all four. An empty cluster is restarted at the row farthest from its centre.
    The table is copied once in double precision.

    References
    ----------
    M. Bilenko, S. Basu and R. J. Mooney, "Integrating constraints and metric learning in semi-supervised clustering",
    ICML 2004.

    Examples
    --------
    The first column says nothing, and is the one with the large numbers.

    >>> import numpy as np
    >>> from mustlink import Constraints, MPCKMeans
    >>> X = np.array([[10.0, 0.0], [50.0, 0.2], [90.0, 0.1], [12.0, 1.0], [48.0, 1.2], [88.0, 1.1]])
    >>> links = Constraints(must_link=[(0, 2)], cannot_link=[(0, 3)])
    >>> model = MPCKMeans(n_clusters=2, random_state=0).fit(X, constraints=links)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    >>> model.predict([[100.0, 0.3], [0.0, 0.8]])
    array([0, 1], dtype=int32)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions({"diagonal", "full"})],
        "shared_metric": ["boolean"],
        "penalty": [Interval(Real, 0, None, closed="left")],
        "init_metric": [StrOptions({"auto", "identity", "variance"})],
        "least_variance": [Interval(Real, 0, 1, closed="neither")],
        "init": [StrOptions({"k-means++", "neighbourhoods", "random"}), "array-like"],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: str = "diagonal",
        shared_metric: bool = True,
        penalty: float = 1.0,
        init_metric: str = "auto",
        least_variance: float = 0.03,
        init: str | ArrayLike = "neighbourhoods",
        n_init: int | str = "auto",
        max_iter: int = 100,
        tol: float = 1e-4,
        verbose: int | bool = 0,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.shared_metric = shared_metric
        self.penalty = penalty
        self.init_metric = init_metric
        self.least_variance = least_variance
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        constraints: Constraints | AlignedConstraints | None = None,
    ) -> Self:
        """Find the clusters and the metrics.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The table.
        y : array-like of shape (n_samples,), default=None
            Partial labels, -1 for unknown, as one more source of constraints. Labels for every row are ignored.
        constraints : Constraints or AlignedConstraints, default=None
            What is known of pairs of rows.

        Returns
        -------
        self : object
            The fitted clusterer.
        """
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C")
        check_enough_rows(len(X), self.n_clusters)
        self._check_size(X.shape[1])
        links = self._constraints_for(constraints, y, len(X))
        frame = Standardizer.of(X)
        table = RowBlocks(frame.transform(X))
        priced = MeasuredLinks(table, links if self.penalty else Constraints(), float(self.penalty), self.n_clusters)
        self._keep(self._best_run(table, priced, links, frame), links, frame)
        return self

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the cluster with the nearest centre under the learned metrics, for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows. Constraints play no part: for a row of the table that they held in a farther cluster, this
            differs from ``labels_``. Where every cluster has a metric of its own, its log-determinant is taken off
            the squared distance, as in the fit.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster numbers.
        """
        table, centers = self._check_new_rows(X)
        return self._metrics.nearest(table, centers)[0]

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the distance of each row to each centre under the metric of its cluster.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Distances.
        """
        table, centers = self._check_new_rows(X)
        squares = np.concatenate(table.map_pieces(lambda _, piece: self._metrics.distances(piece.X, centers)))
        return np.sqrt(squares).astype(self._frame.dtype)

    def _check_size(self, n_features: int) -> None:
        """Refuse full metrics of too many columns."""
        n_entries = (1 if self.shared_metric else self.n_clusters) * n_features**2
        if self.metric == "full" and n_entries > MOST_ENTRIES:
            raise TooLargeError(
                f"Full metrics of {n_features} columns hold {n_entries:,} numbers, and at most {MOST_ENTRIES:,} are "
                'allowed; pass metric="diagonal", or shared_metric=True, or reduce the columns first.'
            )

    def _best_run(self, table: RowBlocks, priced: MeasuredLinks, links: Constraints, frame: Standardizer) -> Run:
        """Run the loop as often as asked and keep the outcome with the least objective."""
        kind = FullMetrics if self.metric == "full" else DiagonalMetrics
        n_metrics = 1 if self.shared_metric else self.n_clusters
        rules = Rules(self.max_iter, self.tol, self.least_variance, lambda means: _rounded(frame, means))
        best: Run | None = None
        for number, (centers, weights) in enumerate(self._starts(table, links, frame), 1):
            metrics = kind.from_weights(np.tile(weights, (n_metrics, 1)))
            with round_bar(self.verbose, f"{type(self).__name__}, run {number}", self.max_iter) as report:
                outcome = run(table, priced, centers, metrics, rules, report)
            if best is None or outcome.objective[-1] < best.objective[-1]:
                best = outcome
        assert best is not None
        return best

    def _starts(self, table: RowBlocks, links: Constraints, frame: Standardizer) -> Iterator[tuple[Floats, Floats]]:
        """Offer the centres and the weights of the columns from which runs begin."""
        rng = check_random_state(self.random_state)
        first = {"identity": frame.original_weights(), "variance": np.ones(table.n_features)}
        for name, weights in first.items():
            if self.init_metric not in ("auto", name):
                continue
            root = np.sqrt(weights)
            start = self._start(RowBlocks(table.X * root), links, rng, frame, root)
            n_runs = start.n_runs
            if self.n_init != "auto":
                # From the same centres every run comes to the same.
                n_runs = int(self.n_init) if start.is_random else 1
            for _ in range(n_runs):
                yield _rounded(frame, start.centers() / root), weights

    def _start(
        self, table: RowBlocks, links: Constraints, rng: np.random.RandomState, frame: Standardizer, root: Floats
    ) -> Start:
        """Return the start that `init` asks for, on columns that are already weighted."""
        if is_array_like(self.init):
            return given_centers(self._check_init(table.n_features, frame) * root)
        weight = np.ones(table.n_rows)
        if self.init == "random":
            return random_rows(table, weight, self.n_clusters, rng)
        seeds = np.full(table.n_rows, -1, dtype=np.intp)
        if self.init == "neighbourhoods":
            seeds = neighbourhood_seeds(table, weight, links, self.n_clusters)
        return from_seeds(table, weight, seeds, self.n_clusters, rng)

    def _check_init(self, n_features: int, frame: Standardizer) -> Floats:
        """Check centres given as an array."""
        centers = check_array(self.init, dtype=np.float64, order="C", input_name="init", estimator=self)
        expected = (self.n_clusters, n_features)
        if centers.shape != expected:
            raise ValueError(
                f"init holds centres of shape {centers.shape}, and {self.n_clusters} clusters of rows with "
                f"{n_features} features need the shape {expected}."
            )
        return frame.transform(centers)

    def _keep(self, best: Run, links: Constraints, frame: Standardizer) -> None:
        """Store what a run found, in the units of the table."""
        warn_of_empty_clusters(len(np.unique(best.labels)), self.n_clusters)
        self.labels_ = best.labels
        self.cluster_centers_ = frame.inverse_transform(best.centers)
        matrices = best.metrics.matrices / frame.scale
        matrices /= frame.scale if matrices.ndim == 2 else frame.scale[:, None]
        self.metrics_ = np.broadcast_to(matrices, (self.n_clusters, *matrices.shape[1:])).copy()
        # Determinants change with the units, and all of them by the same factor.
        units = 2 * len(best.labels) * float(np.log(frame.scale).sum())
        self.objective_ = [value + units for value in best.objective]
        self.n_iter_ = best.n_iter
        self.violations_ = links.violations(best.labels)
        self._frame, self._metrics = frame, best.metrics
        self._n_features_out = self.n_clusters

    def _check_new_rows(self, X: Any) -> tuple[RowBlocks, Floats]:
        """Check rows that come after the fit; return them and the centres in standardised columns."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32], order="C")
        return RowBlocks(self._frame.transform(X)), self._frame.transform(self.cluster_centers_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _rounded(frame: Standardizer, centers: Floats) -> Floats:
    """Round centers to the precision of X: `predict` then uses exactly the centers that labeled the rows."""
    return frame.transform(frame.inverse_transform(centers))
