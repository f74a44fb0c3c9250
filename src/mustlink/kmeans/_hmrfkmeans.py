"""HMRFKMeans: k-means by distance, cosine or divergence in which links have a price."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.preprocessing import normalize
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mustlink._progress import round_bar
from mustlink._rows import RowBlocks
from mustlink._sklearn_compat import Interval, StrOptions, fit_context, is_array_like
from mustlink._types import Floats
from mustlink.base import ConstrainedClusterMixin, check_enough_rows
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.kmeans._empty_clusters import warn_of_empty_clusters
from mustlink.kmeans._hmrfkmeans_distortions import DISTORTIONS
from mustlink.kmeans._hmrfkmeans_links import DistortedLinks
from mustlink.kmeans._hmrfkmeans_run import Rules, Run, run
from mustlink.kmeans._seeding import Start, from_seeds, given_centers, neighbourhood_seeds, random_rows


class HMRFKMeans(ConstrainedClusterMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """k-means by distance, cosine or divergence, in which links have a price (Basu, Bilenko and Mooney 2004).

    The labels form a hidden Markov random field: linked rows prefer labels that keep the link. Use it for text and
    counts, with the cosine or the I-divergence; sparse tables stay sparse. A weight of each column is learned with
    the clusters.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    distortion : {"euclidean", "cosine", "i-divergence"}, default="euclidean"
        How rows are compared: by the squared distance; by one less the cosine, as is usual for text; or by the
        I-divergence, for counts and other numbers that are never negative.
    learn_metric : bool, default=True
        Whether to learn a weight for each column.
    penalty : float, default=1.0
        What a link of weight one counts in comparison with a row. With 0 links play no part except in the start.
    metric_prior : float, default=3.0
        How strongly the weights of the columns are held near each other.
    init : {"neighbourhoods", "k-means++", "random"} or array-like of shape (n_clusters, n_features), \
            default="neighbourhoods"
        Where the centres start: the means of must-link components, far from each other, and further rows as by
        "k-means++"; rows drawn far from each other; rows drawn at random; or these centres. For the cosine rows have
        the length one in this.
    n_init : int or "auto", default="auto"
        How many runs to make from different starts, of which the one with the least objective is kept. "auto" is one
        run, ten for ``init="random"``. Where chance plays no part in the start, one run is made.
    max_iter : int, default=100
        The most iterations of a run.
    tol : float, default=1e-5
        A run stops when an iteration lowers the objective by no more than this share.
    verbose : int or bool, default=0
        Whether to show a progress bar.
    random_state : int, RandomState or None, default=None
        Makes a fit repeatable bit for bit.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centre of each cluster.
    feature_weights_ : ndarray of shape (n_features,)
        The weights of the columns; their mean is one, each column counted by how much it spreads.
    n_iter_ : int
        The number of iterations of the run that was kept.
    objective_ : list of float
        The objective after each assignment of that run; it never rises, except after an empty cluster was filled with
        a linked row.
    violations_ : Constraints
        The links that the result breaks.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the table had any.

    See Also
    --------
    MPCKMeans : A metric for each cluster, or one of all directions.
    PCKMeans : Plain distances.

    Notes
    -----
    The objective sums the distortion of the rows from their centres; over broken must-links, the weight times the
    distortion between the two rows; over broken cannot-links, the weight times what that falls short of the
    largest there can be; and a prior of the weights of the columns. Rows without links go to the nearest centre; rows
    with links are visited by iterated conditional modes, the most certain first, then must-link components as wholes.
    Then come the centres (means; for the cosine the sum of the rows divided by their lengths, itself divided by its
    length), then one step down the gradient for the weights.

    What the paper leaves open. Without a bound, weights of zero would be best. Here the distortion of all rows from
    one centre stays what it was with all weights one, and the prior is minus `metric_prior` times the sum, over the
    columns, of what the column adds to that distortion times the logarithm of its weight. So a column is worth more,
    the more of its spread the clusters explain, in whatever units it is. (Weights that follow the variances alone
    spoil text, where the rare words would win.) The step multiplies each weight by a power of e, and is halved until
    the objective falls. The largest distortion is a bound that costs one pass: the diameter of the
    box or of the ball around all rows; 1 for the cosine of numbers that are not negative, and 2 of others; and 2 log 2
    times the largest row sum. The I-divergence between two rows is the sum of their divergences
    from their mean, as in the paper. No entry of a centre is less than a thousandth of the mean of its column, because
    a row with a word that the cluster never had would be infinitely far. A row of zeros has the cosine 0 with all
    others. An empty cluster is restarted at the row farthest from its centre. The table is copied in double precision.

    References
    ----------
    S. Basu, M. Bilenko and R. J. Mooney, "A probabilistic framework for semi-supervised clustering", KDD 2004.

    Examples
    --------
    Counts of four words in six texts, long and short.

    >>> import numpy as np
    >>> from mustlink import Constraints, HMRFKMeans
    >>> X = np.array([[9, 8, 0, 1], [1, 1, 0, 0], [2, 3, 1, 0], [0, 1, 7, 9], [0, 0, 1, 1], [1, 0, 4, 3]])
    >>> links = Constraints(must_link=[(0, 1)], cannot_link=[(1, 4)])
    >>> model = HMRFKMeans(n_clusters=2, distortion="cosine", random_state=0).fit(X, constraints=links)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "distortion": [StrOptions(set(DISTORTIONS))],
        "learn_metric": ["boolean"],
        "penalty": [Interval(Real, 0, None, closed="left")],
        "metric_prior": [Interval(Real, 0, None, closed="neither")],
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
        distortion: str = "euclidean",
        learn_metric: bool = True,
        penalty: float = 1.0,
        metric_prior: float = 3.0,
        init: str | ArrayLike = "neighbourhoods",
        n_init: int | str = "auto",
        max_iter: int = 100,
        tol: float = 1e-5,
        verbose: int | bool = 0,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.distortion = distortion
        self.learn_metric = learn_metric
        self.penalty = penalty
        self.metric_prior = metric_prior
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
        """Find the clusters.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
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
        X = self._check_rows(X, reset=True)
        check_enough_rows(X.shape[0], self.n_clusters)
        links = self._constraints_for(constraints, y, X.shape[0])
        self._origin = self._find_origin(X)
        priced = links if self.penalty else Constraints()
        pairs = np.concatenate([priced.must_link, priced.cannot_link])
        distortion = DISTORTIONS[self.distortion](self._moved(X), pairs)
        bound = DistortedLinks(distortion, priced, float(self.penalty))
        self._keep(self._best_run(bound, links, X.dtype), links, X.dtype)
        return self

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the cluster whose centre is nearest, for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows. Constraints play no part: for a row of the table that they held in a farther cluster, this
            differs from ``labels_``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster numbers.
        """
        check_is_fitted(self)
        rows, centers = self._moved(self._check_rows(X, reset=False)), self._moved(self.cluster_centers_)
        return DISTORTIONS[self.distortion].nearest(rows, self.feature_weights_, centers)[0]

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the distortion of each row from each centre.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Squared distances, one less cosines, or divergences, under the weights of the columns.
        """
        check_is_fitted(self)
        rows, centers = self._moved(self._check_rows(X, reset=False)), self._moved(self.cluster_centers_)
        costs = DISTORTIONS[self.distortion].costs(rows, self.feature_weights_, centers)
        return costs.astype(self.cluster_centers_.dtype)

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        """Check a table, for the I-divergence also that nothing is negative."""
        X = validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], accept_large_sparse=False
        )
        if self.distortion == "i-divergence":
            _check_not_negative(X)
        return X

    def _find_origin(self, X: Any) -> Floats | None:
        """Return the mean of a dense table for squared distances, which lose digits far from zero."""
        if self.distortion != "euclidean" or sparse.issparse(X):
            return None
        return np.asarray(X.mean(axis=0, dtype=np.float64))

    def _moved(self, X: Any) -> Any:
        """Return rows in double precision, relative to the origin."""
        X = X.astype(np.float64)
        if self._origin is None:
            return X
        return (X.toarray() if sparse.issparse(X) else X) - self._origin

    def _in_units(self, centers: Floats, dtype: Any) -> NDArray[Any]:
        """Return centres relative to zero, in the precision of the table."""
        return (centers if self._origin is None else centers + self._origin).astype(dtype)

    def _best_run(self, bound: DistortedLinks, links: Constraints, dtype: Any) -> Run:
        """Run the loop as often as asked and keep the outcome with the least objective."""
        start = self._start(bound.distortion.X, links)
        n_runs = start.n_runs
        if self.n_init != "auto":
            # From the same centres every run comes to the same.
            n_runs = int(self.n_init) if start.is_random else 1

        def rounded(centers: Floats) -> Floats:
            # To the precision of the table, so that `predict` meets the very centres that labelled the rows.
            return np.asarray(self._moved(self._in_units(centers, dtype)))

        rules = Rules(self.max_iter, self.tol, float(self.metric_prior) if self.learn_metric else 0.0, rounded)
        best: Run | None = None
        for number in range(n_runs):
            with round_bar(self.verbose, f"{type(self).__name__}, run {number + 1}", self.max_iter) as report:
                outcome = run(bound, rounded(bound.distortion.allowed(start.centers())), rules, report)
            if best is None or outcome.objective[-1] < best.objective[-1]:
                best = outcome
        assert best is not None
        return best

    def _start(self, X: Any, links: Constraints) -> Start:
        """Return the start that `init` asks for."""
        if is_array_like(self.init):
            return given_centers(self._check_init(X.shape[1]))
        rng = check_random_state(self.random_state)
        table = RowBlocks(normalize(X) if self.distortion == "cosine" else X)
        weight = np.ones(table.n_rows)
        if self.init == "random":
            return random_rows(table, weight, self.n_clusters, rng)
        seeds = np.full(table.n_rows, -1, dtype=np.intp)
        if self.init == "neighbourhoods":
            seeds = neighbourhood_seeds(table, weight, links, self.n_clusters)
        return from_seeds(table, weight, seeds, self.n_clusters, rng)

    def _check_init(self, n_features: int) -> Floats:
        """Check centres given as an array."""
        centers = check_array(self.init, dtype=np.float64, order="C", input_name="init", estimator=self)
        expected = (self.n_clusters, n_features)
        if centers.shape != expected:
            raise ValueError(
                f"init holds centres of shape {centers.shape}, and {self.n_clusters} clusters of rows with "
                f"{n_features} features need the shape {expected}."
            )
        if self.distortion == "i-divergence":
            _check_not_negative(centers, "init")
        return np.asarray(self._moved(centers))

    def _keep(self, best: Run, links: Constraints, dtype: Any) -> None:
        """Store what a run found."""
        warn_of_empty_clusters(len(np.unique(best.labels)), self.n_clusters)
        self.labels_ = best.labels
        self.cluster_centers_ = self._in_units(best.centers, dtype)
        self.feature_weights_ = best.weights
        self.n_iter_ = best.n_iter
        self.objective_ = best.objective
        self.violations_ = links.violations(best.labels)
        self._n_features_out = self.n_clusters

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.distortion == "i-divergence"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _check_not_negative(X: Any, name: str = "the table") -> None:
    """Refuse negative numbers, and say where the first one is."""
    values = X.data if sparse.issparse(X) else X
    if values.size == 0 or values.min() >= 0:
        return
    if sparse.issparse(X):
        place = int(np.flatnonzero(X.data < 0)[0])
        row, column = int(np.searchsorted(X.indptr, place, side="right")) - 1, int(X.indices[place])
    else:
        row, column = (int(index) for index in np.argwhere(X < 0)[0])
    raise ValueError(
        f"Negative values in data passed to HMRFKMeans: row {row}, column {column} of {name} holds {X[row, column]}, "
        'and the I-divergence is for numbers from zero on; pass distortion="euclidean" or "cosine".'
    )
