"""DistBoost: a distance learned from links by boosting constrained Gaussian mixtures."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import linkage
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.validation import check_is_fitted

from mustlink._eigen import decompose
from mustlink._estimators import without_rows
from mustlink._progress import progress
from mustlink._sklearn_compat import Interval, StrOptions, one_blas_thread
from mustlink._types import Array, Floats, Ints
from mustlink.base import ConstrainedClusterMixin, check_fits, check_table
from mustlink.blocks import blockwise
from mustlink.boosting._distboost._distance import Directions, Ensemble, embed
from mustlink.boosting._distboost._pair_weights import PairWeights
from mustlink.boosting._distboost._weak_mixture import MixtureLearner, WeakMixture
from mustlink.constraints import Constraints

__all__ = ["DistBoost"]

# Average linkage needs the distances of all pairs: 0.4 GB for this number of rows.
MAX_LINKED_ROWS = 10_000
# The maximum number of distances returned at once.
MAX_DISTANCES = 100_000_000
# Rows whose features are computed at a time.
BATCH_ROWS = 4_096
# k-means runs in at most this number of leading directions of the features.
MAX_FINAL_DIRECTIONS = 64
# An agreement of one would give a round an infinite weight.
MAX_AGREEMENT = 1 - 1e-12


class DistBoost(ConstrainedClusterMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """DistBoost: clustering by a distance that boosted Gaussian mixtures learn from links.

    Every round fits a Gaussian mixture in which must-linked rows share a mixture component and cannot-linked rows do
    not; rows whose links are hard to satisfy have more weight. The mixture predicts for any two rows whether they
    belong together. The rounds, weighted by their agreement with the links, add up to a distance between any two rows,
    also new ones.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    n_rounds : int, default=100
        The number of rounds.
    n_components : int, default=None
        The number of components of each mixture; `n_clusters` if None.
    hypothesis : {"map", "posterior"}, default="map"
        The prediction of a mixture for two rows: plus or minus the product of their largest memberships, depending on
        whether their most probable components are the same, as in the paper; or twice the probability that they share
        a component, minus one.
    cannot_links : {"forest", "ignore"}, default="forest"
        How the mixtures use cannot-links: exactly, for the heaviest ones that close no cycle; or not at all, which
        leaves them to the boosting.
    unlabeled_fraction : float, default=0.5
        The initial fraction of the weight of the pairs without a link; None gives every pair of rows the same weight,
        as in the paper.
    n_directions : int, default=64
        The maximum number of principal directions that the mixtures use.
    max_iter : int, default=20
        The maximum number of EM steps of a mixture.
    consensus : {"kmeans", "average"}, default="kmeans"
        How the distance is clustered: k-means on the features of :meth:`transform`, for any number of rows; or
        average linkage, as in the paper, for at most 10,000 rows.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable.
    verbose : int, default=0
        Whether to show a progress bar.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    alphas_ : ndarray of shape (n_accepted,)
        The weights of the rounds that were accepted.
    objective_ : list of float
        The exponential loss of all pairs after every round, which does not rise.
    history_ : list of dict
        For every round: its number, "agreement" (r), "alpha" (zero if the round was not accepted), "objective" and
        "labeled" (the share of the weight that the links have after it).
    n_iter_ : int
        The number of rounds made.
    violations_ : Constraints
        The links that the labels break.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if all of them are strings.

    See Also
    --------
    BoostedConstrainedKMeans : Boosts a constrained k-means in much the same way.

    Notes
    -----
    Let h_t be the hypothesis of round t, y = 1 for must-links and -1 for cannot-links, and W weights of all pairs, of
    sum one. Then r is the sum over the links of W y h_t. The round is accepted if r > 0, with the weight
    alpha_t = ln((1 + r) / (1 - r)) / 2. After it, W becomes W exp(-alpha_t y h_t) for links and W exp(-alpha_t) for the
    other pairs, which are never listed, as they all have the same weight. The distance is sum_t alpha_t (1 - h_t) / 2.

    Choices where the paper leaves it open or fails:

    - No covariance is singular. The data are first reduced to their principal directions; every covariance is shrunk
      towards the pooled one, which has a minimum variance.
    - Must-linked rows share a mixture component strictly. The mixtures ignore a cannot-link inside a must-link
      component.
    - With equal weights for all pairs the links of a large table have next to no weight, and learning takes too long.
      Links therefore begin with half of the weight, divided in proportion to the weights they were given.
    - The features of :meth:`transform` have squared distances of twice the learned distance for rows with memberships
      of 0 and 1. k-means runs in their 64 leading directions.
    - If no round agrees with the links, the one with the largest r is kept. Without links there is one round.

    The labels depend on the features alone: with k-means, ``predict`` returns ``labels_`` for the same rows.

    References
    ----------
    T. Hertz, A. Bar-Hillel and D. Weinshall, "Boosting margin based distance functions for clustering", ICML 2004.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mustlink import Constraints
    >>> from mustlink.boosting import DistBoost
    >>> from mustlink.metrics import normalized_mutual_info
    >>> X, y = load_iris(return_X_y=True)
    >>> links = Constraints.sample(y, n_pairs=200, random_state=0)
    >>> clusterer = DistBoost(n_clusters=3, n_rounds=10, random_state=0).fit(X, constraints=links)
    >>> normalized_mutual_info(y, clusterer.labels_) > 0.8
    True
    >>> distance = clusterer.distances(X[[0, 60]], X[[1, 61]])
    >>> bool(distance[0, 0] < distance[0, 1])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
        "hypothesis": [StrOptions({"map", "posterior"})],
        "cannot_links": [StrOptions({"forest", "ignore"})],
        "unlabeled_fraction": [None, Interval(Real, 0, 1, closed="left")],
        "n_directions": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "consensus": [StrOptions({"kmeans", "average"})],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }
    _read_by_predict = ("_centers", "_ensemble", "_feature_axes")

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_rounds: int = 100,
        n_components: int | None = None,
        hypothesis: str = "map",
        cannot_links: str = "forest",
        unlabeled_fraction: float | None = 0.5,
        n_directions: int = 64,
        max_iter: int = 20,
        consensus: str = "kmeans",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_rounds = n_rounds
        self.n_components = n_components
        self.hypothesis = hypothesis
        self.cannot_links = cannot_links
        self.unlabeled_fraction = unlabeled_fraction
        self.n_directions = n_directions
        self.max_iter = max_iter
        self.consensus = consensus
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, X: Any, links: Constraints, y: Array | None) -> None:
        if self.n_components is not None and len(X) < self.n_components:
            raise ValueError(f"n_samples={len(X)} should be >= n_components={self.n_components}.")
        if self.consensus == "average":
            # The distances of all pairs, each once.
            shape, instead = (len(X), len(X)), 'use consensus="kmeans"'
            check_fits("Average linkage", shape, MAX_LINKED_ROWS**2, instead, itemsize=4)
        rng = check_random_state(self.random_state)
        # The matrices are small: several threads would cost more than they save.
        with one_blas_thread():
            self._boost(X, links, rng)
            self.labels_ = self._cluster_features(X, rng) if self.consensus == "kmeans" else self._link_rows(X)
        self.violations_ = links.violations(self.labels_)
        self._n_features_out = self._ensemble.n_features

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        return check_table(self, X, reset=reset, order="C")

    def _boost(self, X: Array, links: Constraints, rng: np.random.RandomState) -> None:
        """Fit mixtures in turn and weight them by their agreement with the links."""
        directions = Directions.of(X, self.n_directions, rng)
        points = directions.project(X)
        weights = PairWeights(links, len(X), self.unlabeled_fraction)
        linked, compact = links.compact()
        linked_points = points[linked]
        n_components = self.n_clusters if self.n_components is None else self.n_components
        use_cannot_links = self.cannot_links == "forest"
        learner = MixtureLearner(links, len(X), n_components, max_iter=self.max_iter, use_cannot_links=use_cannot_links)
        mixtures: list[WeakMixture] = []
        self.history_: list[dict[str, float]] = []
        objective = 1.0
        with progress(self.n_rounds, type(self).__name__, shown=self.verbose) as advance:
            for number in range(1, self.n_rounds + 1 if len(links) else 2):
                mixture = learner.fit(points, weights.of_rows(), weights.of_cannot_links, rng)
                hypothesis = self._hypothesis_about(mixture, linked_points, compact)
                r = min(weights.agreement(hypothesis), MAX_AGREEMENT)
                alpha = float(np.arctanh(r)) if r > 0 else 0.0  # ln((1 + r) / (1 - r)) / 2
                if alpha > 0:
                    objective *= weights.update(alpha, hypothesis)
                mixtures.append(mixture)
                labeled = float(weights.of_links.sum())
                self.history_.append(
                    {"round": number, "agreement": r, "alpha": alpha, "objective": objective, "labeled": labeled}
                )
                advance(number, objective)
        agreements, alphas, self.objective_ = (
            [entry[name] for entry in self.history_] for name in ("agreement", "alpha", "objective")
        )
        kept = np.flatnonzero(alphas)
        self.alphas_ = np.array(alphas)[kept]
        if not kept.size:
            kept, self.alphas_ = np.array([np.argmax(agreements)]), np.ones(1)
        self.n_iter_ = len(self.history_)
        self._ensemble = Ensemble(directions, [mixtures[t] for t in kept], self.alphas_, self.hypothesis == "posterior")

    def _hypothesis_about(self, mixture: WeakMixture, points: Floats, links: Constraints) -> Floats:
        """Return the hypothesis of a mixture about linked pairs of points."""
        if links.is_empty:
            return np.empty(0)
        vectors, totals = embed(mixture, points, self.hypothesis == "posterior")
        left, right = links.pairs.T
        return np.asarray(2 * np.einsum("pc,pc->p", vectors[left], vectors[right]) - totals[left] * totals[right])

    def _cluster_features(self, X: Array, rng: np.random.RandomState) -> Ints:
        """Run k-means in the leading directions of the features, which are computed batch by batch."""
        batches = list(gen_batches(len(X), BATCH_ROWS))
        n_features = self._ensemble.n_features
        total, products = np.zeros(n_features), np.zeros((n_features, n_features))
        for rows in batches:
            vectors, _ = self._ensemble.features(X[rows])
            total += vectors.sum(axis=0)
            products += vectors.T @ vectors
        mean = total / len(X)
        _, self._feature_axes = decompose(products / len(X) - np.outer(mean, mean), MAX_FINAL_DIRECTIONS)
        reduced = np.concatenate([self._reduce(X[rows]) for rows in batches])
        self._centers = KMeans(self.n_clusters, n_init=10, random_state=rng).fit(reduced)
        return np.asarray(self._centers.labels_, dtype=np.int64)

    def _reduce(self, X: Array) -> Floats:
        """Return the features of rows in their leading directions."""
        return np.asarray(self._ensemble.features(X)[0] @ self._feature_axes)

    def _link_rows(self, X: Array) -> Ints:
        """Cluster by average linkage, and keep the mean features of the clusters for new rows."""
        n = len(X)
        vectors, totals = self._ensemble.features(X)
        condensed = np.empty(n * (n - 1) // 2)
        end = 0
        for row in range(n - 1):
            one = vectors[row : row + 1], totals[row : row + 1]
            begin, end = end, end + n - 1 - row
            condensed[begin:end] = self._ensemble.distances(one, (vectors[row + 1 :], totals[row + 1 :]))[0]
        labels = cut(linkage(condensed, "average"), n, self.n_clusters) if n > 1 else np.zeros(1, dtype=np.int64)
        member = sparse.csr_array((1 / np.bincount(labels)[labels], (labels, np.arange(n))))
        self._centers = member @ vectors, member @ totals
        return labels

    def _for_predicting(self) -> Self:
        predictor = super()._for_predicting()
        predictor._centers = without_rows(self._centers)
        return predictor

    @blockwise
    def predict(self, X: Any) -> Ints:
        """Return the cluster of new rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The cluster with the nearest center; with average linkage, the one with the smallest mean distance.
        """
        rows = self._check_new_rows(X)
        labels = np.empty(len(rows), dtype=np.int64)
        for batch in gen_batches(len(rows), BATCH_ROWS):
            if isinstance(self._centers, KMeans):
                labels[batch] = self._centers.predict(self._reduce(rows[batch]))
            else:
                distance = self._ensemble.distances(self._ensemble.features(rows[batch]), self._centers)
                labels[batch] = np.argmin(distance, axis=1)
        return labels

    def transform(self, X: Any) -> Array:
        """Return the features behind the distance: the memberships in every mixture, weighted by its round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples, n_accepted * n_components)
            One block of columns per accepted round.
        """
        rows = self._check_new_rows(X)
        return self._ensemble.features(rows)[0].astype(rows.dtype)

    def distances(self, X: Any, Y: Any = None) -> Floats:
        """Return the learned distance of all rows of X to all rows of Y.

        Parameters
        ----------
        X : array-like of shape (n_samples_X, n_features)
            Rows.
        Y : array-like of shape (n_samples_Y, n_features), default=None
            Other rows; those of `X` if None.

        Returns
        -------
        ndarray of shape (n_samples_X, n_samples_Y)
            Distances, from zero to the sum of ``alphas_``. A row is at distance zero from itself only if all its
            memberships are 0 or 1.

        Raises
        ------
        TooLargeError
            If there are more than 100,000,000 of them.
        """
        ours = self._check_new_rows(X)
        theirs = ours if Y is None else self._check_new_rows(Y)
        check_fits("The result", (len(ours), len(theirs)), MAX_DISTANCES, "use transform, or fewer rows")
        return self._ensemble.distances(self._ensemble.features(ours), self._ensemble.features(theirs))

    def _check_new_rows(self, X: Any) -> Array:
        """Validate rows that were not part of the fit."""
        check_is_fitted(self)
        return np.asarray(self._check_rows(X, reset=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def cut(merges: Floats, n_rows: int, n_clusters: int) -> Ints:
    """Return the clusters that are left when all merges are made but the last `n_clusters` - 1.

    Unlike SciPy's ``fcluster``, this gives the wanted number also if merges have equal heights.
    """
    n_merges = n_rows - n_clusters
    made = merges[:n_merges, :2].astype(np.intp)
    new = np.repeat(n_rows + np.arange(n_merges), 2)
    n_nodes = n_rows + n_merges
    graph = sparse.csr_array((np.ones(len(new)), (made.ravel(), new)), shape=(n_nodes, n_nodes))
    return np.asarray(connected_components(graph, directed=False)[1][:n_rows], dtype=np.int64)
