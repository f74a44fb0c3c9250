"""A distance learned from links: boosted Gaussian mixtures that say whether two rows belong together."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.cluster.hierarchy import linkage
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from mustlink._progress import round_bar
from mustlink._sklearn_compat import Interval, StrOptions, fit_context, one_blas_thread
from mustlink.base import ConstrainedClusterMixin, check_enough_rows
from mustlink.boosting._distboost_mixture import Chunklets, Directions, Mixture
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.errors import TooLargeError

__all__ = ["DistBoost"]

Floats = NDArray[np.float64]

# Average linkage needs the distances of all pairs: 0.4 GB for so many rows.
MOST_LINKED_ROWS = 10_000
# Distances are written out for at most so many pairs at once.
MOST_DISTANCES = 100_000_000
# Rows whose features are written out at a time.
PIECE = 4_096
# k-means runs in at most so many leading directions of the features.
FINAL_DIRECTIONS = 64
# An agreement of one would give a round an infinite weight.
MOST_AGREEMENT = 1 - 1e-12


class PairWeights:
    """The weights of all pairs of rows, of sum one: one number per link, and one for all pairs without a link.

    Parameters
    ----------
    links : Constraints
        The links.
    n_samples : int
        The number of rows.
    unlabeled_fraction : float or None
        The share of the pairs without a link at the start; None gives every pair the same weight.
    """

    def __init__(self, links: Constraints, n_samples: int, unlabeled_fraction: float | None) -> None:
        self.left, self.right = np.concatenate([links.must_link, links.cannot_link]).T
        self.n_must = len(links.must_link)
        self.side = np.repeat([1.0, -1.0], [self.n_must, len(links.cannot_link)])
        given = np.concatenate([links.must_link_weight, links.cannot_link_weight])
        n_pairs = n_samples * (n_samples - 1) // 2
        self.n_unlabelled = n_pairs - len(links)
        if unlabeled_fraction is None:
            unlabeled_fraction = self.n_unlabelled / max(n_pairs, 1)
        if self.n_unlabelled == 0:
            unlabeled_fraction = 0.0
        self.of_links = (1 - unlabeled_fraction) * given / given.sum() if given.size else given
        self.of_others = unlabeled_fraction / max(self.n_unlabelled, 1)
        self.n_samples = n_samples
        self._n_partners = (
            n_samples - 1 - np.bincount(np.concatenate([self.left, self.right]).astype(np.intp), minlength=n_samples)
        )

    def of_rows(self) -> Floats:
        """Return the weight of every row, the sum over the pairs it is in."""
        if not len(self.side):
            return np.ones(self.n_samples)
        weight = np.bincount(self.left, self.of_links, self.n_samples)
        weight += np.bincount(self.right, self.of_links, self.n_samples)
        return weight + self.of_others * self._n_partners

    def agreement(self, hypothesis: Floats) -> float:
        """Return how far a hypothesis about the linked pairs, between -1 and 1, agrees with the links."""
        return float(self.of_links @ (self.side * hypothesis))

    def update(self, alpha: float, hypothesis: Floats) -> float:
        """Lower the weights of pairs the hypothesis is right about, and of pairs without a link; return the loss."""
        self.of_links = self.of_links * np.exp(-alpha * self.side * hypothesis)
        self.of_others *= np.exp(-alpha)
        loss = float(self.of_links.sum() + self.of_others * self.n_unlabelled)
        self.of_links /= loss
        self.of_others /= loss
        return loss


@dataclass(frozen=True)
class Ensemble:
    """Mixtures with their weights: together a distance, in an explicit form.

    A mixture sees a row as a vector z of memberships, and as the total s of it; its hypothesis about two rows is
    2 z.z' - s s', between -1 and 1.

    Attributes
    ----------
    directions : Directions
        Where the mixtures live.
    mixtures : list of Mixture
        The mixtures.
    alphas : ndarray of shape (n_mixtures,)
        Their weights.
    soft : bool
        Whether z holds all memberships, or only the largest.
    """

    directions: Directions
    mixtures: list[Mixture]
    alphas: Floats
    soft: bool

    def features(self, X: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return z of all mixtures side by side, and s, both times the roots of the weights."""
        points = self.directions.project(X)
        views = [view(mixture, points, self.soft) for mixture in self.mixtures]
        root = np.sqrt(self.alphas)
        vectors = np.concatenate([r * z for r, (z, _) in zip(root, views, strict=True)], axis=1)
        return vectors, np.column_stack([r * s for r, (_, s) in zip(root, views, strict=True)])

    def distances(self, one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> Floats:
        """Return sum_t alpha_t (1 - h_t) / 2 for all rows of the one and of the other, given their features."""
        likeness = 2 * one[0] @ other[0].T - one[1] @ other[1].T
        return np.maximum(0.5 * (self.alphas.sum() - likeness), 0.0)


def view(mixture: Mixture, points: Floats, soft: bool) -> tuple[Floats, Floats]:
    """Return how a mixture sees points: the vectors z, and their totals s."""
    chance = mixture.memberships(points)
    if soft:
        return chance, np.ones(len(points))
    likeliest = np.argmax(chance, axis=1)[:, None]
    confidence = np.take_along_axis(chance, likeliest, axis=1)
    vectors = np.zeros_like(chance)
    np.put_along_axis(vectors, likeliest, confidence, axis=1)
    return vectors, confidence[:, 0]


class DistBoost(ConstrainedClusterMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Clusters by a distance that boosted Gaussian mixtures learn from links.

    Every round fits a Gaussian mixture to the rows, weighted by how hard their links are, in which must-linked rows
    share a component and cannot-linked rows do not. The mixture then says of any two rows whether they belong
    together, the louder the surer it is. The rounds, weighted by how far they agree with the links, add up to
    a distance for all pairs of rows, old and new.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    n_rounds : int, default=100
        The number of rounds.
    n_components : int, default=None
        The number of components of each mixture; `n_clusters` if None.
    hypothesis : {"map", "posterior"}, default="map"
        What a mixture says of two rows: plus or minus the product of their largest memberships, as their likeliest
        components are the same or not, as in the paper; or twice the chance that they share a component, less one.
    cannot_links : {"forest", "ignore"}, default="forest"
        How the mixtures heed cannot-links: exactly, on the heaviest ones that close no ring; or not at all, which
        leaves them to the boosting.
    unlabeled_fraction : float, default=0.5
        The share of the weight that pairs without a link have at the start; None gives every pair of rows the same
        weight, as in the paper.
    n_directions : int, default=64
        The mixtures live in at most so many leading principal directions of the table.
    max_iter : int, default=20
        The most steps in the fit of a mixture.
    finish : {"kmeans", "average"}, default="kmeans"
        How the distance is clustered: k-means on the features of :meth:`transform`, for any number of rows; or
        average linkage, as in the paper, for at most 10,000 rows.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable.
    verbose : int, default=0
        Show a progress bar.

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
        "labelled" (the share of the weight that the links have after it).
    n_iter_ : int
        The number of rounds made.
    violations_ : Constraints
        The links that the labels break.
    n_features_in_ : int
        The number of columns of the table.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if all of them are texts.

    See Also
    --------
    BoostedConstrainedKMeans : Boosts a constrained k-means in much the same way.

    Notes
    -----
    Let h_t be the hypothesis of round t, y = 1 for must-links and -1 for cannot-links, and W weights of all pairs, of
    sum one. Then r is the sum over the links of W y h_t. The round is accepted if r > 0, and weighs
    alpha_t = ln((1 + r) / (1 - r)) / 2. After it, W becomes W exp(-alpha_t y h_t) for links and W exp(-alpha_t) for the
    other pairs, which are never listed, as they all have the same weight. The distance is sum_t alpha_t (1 - h_t) / 2.

    What was chosen where the paper leaves it open, or fails:

    - No covariance is singular. The table is first reduced to its principal directions; every covariance is drawn
      towards the pooled one, which counts like as many rows as there are directions, and that one has a floor.
    - Must-linked rows share a component strictly; chunklets draw one component each. Of the cannot-links, each round
      takes those with the largest weights that close no ring. The mixtures do not heed one within a chunklet.
    - Equal weights for all pairs leave the links next to no weight in large tables, so that nothing is learned in
      time. Therefore links begin with half of the weight, divided by the weights they were given.
    - The features of :meth:`transform` have squared distances of twice the learned distance for rows that the mixtures
      are sure about. With ``hypothesis="posterior"``, the learned distance is the sum of ``alphas_`` less their inner
      product. k-means runs in the 64 leading directions of the features, found without writing all of them out.
    - If no round agrees with the links, the one that comes closest is kept. Without links there is one round.

    The labels follow from the features alone, so that with k-means ``predict`` gives ``labels_`` again.

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
        "finish": [StrOptions({"kmeans", "average"})],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

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
        finish: str = "kmeans",
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
        self.finish = finish
        self.random_state = random_state
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        constraints: Constraints | AlignedConstraints | None = None,
    ) -> Self:
        """Learn the distance and find the clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The table.
        y : array-like of shape (n_samples,), default=None
            Partial labels, -1 for unknown, as one more source of constraints.
        constraints : Constraints or AlignedConstraints, default=None
            What is known of pairs of rows.

        Returns
        -------
        self : object
            The fitted clusterer.

        Raises
        ------
        TooLargeError
            If ``finish="average"`` and there are more than 10,000 rows.
        """
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C")
        self._check_sizes(len(X))
        links = self._constraints_for(constraints, y, len(X))
        rng = check_random_state(self.random_state)
        # The matrices are small, and threads that wait for each other would cost more than they do.
        with one_blas_thread():
            self._boost(X, links, rng)
            self.labels_ = self._cluster_features(X, rng) if self.finish == "kmeans" else self._link_rows(X)
        self.violations_ = links.violations(self.labels_)
        self._n_features_out = sum(len(mixture.means) for mixture in self._ensemble.mixtures)
        return self

    def _check_sizes(self, n_samples: int) -> None:
        """Refuse at once what cannot be done with so many rows."""
        check_enough_rows(n_samples, self.n_clusters)
        if self.n_components is not None and n_samples < self.n_components:
            raise ValueError(f"n_samples={n_samples} should be >= n_components={self.n_components}.")
        if self.finish == "average" and n_samples > MOST_LINKED_ROWS:
            raise TooLargeError(
                f"Average linkage of {n_samples:,} rows needs the distances of all pairs, "
                f"{n_samples * (n_samples - 1) * 4 / 1e9:,.1f} GB, and is offered for at most {MOST_LINKED_ROWS:,} "
                'rows; use finish="kmeans".'
            )

    def _boost(self, X: NDArray[Any], links: Constraints, rng: np.random.RandomState) -> None:
        """Fit mixtures in turn and weigh them by how far they agree with the links."""
        directions = Directions.of(X, self.n_directions, rng)
        points = directions.project(X)
        weights = PairWeights(links, len(X), self.unlabeled_fraction)
        chunklets = Chunklets(links, len(X), self.cannot_links == "forest")
        n_components = self.n_clusters if self.n_components is None else self.n_components
        accepted: list[tuple[Mixture, float]] = []
        closest: tuple[float, Mixture] | None = None
        self.history_: list[dict[str, float]] = []
        objective = 1.0
        with round_bar(self.verbose, type(self).__name__, self.n_rounds) as report:
            for number in range(1, self.n_rounds + 1 if len(links) else 2):
                chunklets.choose_forest(weights.of_links[weights.n_must :])
                mixture = Mixture.fit(points, weights.of_rows(), chunklets, n_components, self.max_iter, rng)
                said = self._said_of_links(mixture, points, weights)
                r = min(weights.agreement(said), MOST_AGREEMENT)
                alpha = float(np.arctanh(r)) if r > 0 else 0.0  # ln((1 + r) / (1 - r)) / 2
                if alpha > 0:
                    objective *= weights.update(alpha, said)
                    accepted.append((mixture, alpha))
                if closest is None or r > closest[0]:
                    closest = r, mixture
                self._note(number, r, alpha, objective, weights)
                report(number, objective)
        assert closest is not None
        mixtures, alphas = zip(*(accepted or [(closest[1], 1.0)]), strict=True)
        self.alphas_ = np.array(alphas)
        self.n_iter_ = len(self.history_)
        self.objective_ = [entry["objective"] for entry in self.history_]
        self._ensemble = Ensemble(directions, list(mixtures), self.alphas_, self.hypothesis == "posterior")

    def _said_of_links(self, mixture: Mixture, points: Floats, weights: PairWeights) -> Floats:
        """Return the hypothesis of a mixture about the linked pairs."""
        rows, place = np.unique(np.concatenate([weights.left, weights.right]), return_inverse=True)
        if not rows.size:
            return np.empty(0)
        vectors, totals = view(mixture, points[rows], self.hypothesis == "posterior")
        left, right = place[: len(weights.left)], place[len(weights.left) :]
        said: Floats = 2 * np.einsum("pc,pc->p", vectors[left], vectors[right]) - totals[left] * totals[right]
        return said

    def _note(self, number: int, r: float, alpha: float, objective: float, weights: PairWeights) -> None:
        """Write down how a round went."""
        labelled = float(weights.of_links.sum())
        self.history_.append(
            {"round": number, "agreement": r, "alpha": alpha, "objective": objective, "labelled": labelled}
        )

    def _cluster_features(self, X: NDArray[Any], rng: np.random.RandomState) -> NDArray[np.intp]:
        """Run k-means in the leading directions of the features, which are written out piece by piece."""
        batches = list(gen_batches(len(X), PIECE))
        n_features = sum(len(mixture.means) for mixture in self._ensemble.mixtures)
        total, products = np.zeros(n_features), np.zeros((n_features, n_features))
        for rows in batches:
            vectors, _ = self._ensemble.features(X[rows])
            total += vectors.sum(axis=0)
            products += vectors.T @ vectors
        mean = total / len(X)
        covariance = products / len(X) - np.outer(mean, mean)
        least = max(0, n_features - FINAL_DIRECTIONS)
        _, self._feature_axes = eigh(covariance, subset_by_index=(least, n_features - 1))
        reduced = np.concatenate([self._reduce(X[rows]) for rows in batches])
        self._finish = KMeans(self.n_clusters, n_init=10, random_state=rng).fit(reduced)
        labels: NDArray[np.intp] = self._finish.labels_.astype(np.intp)
        return labels

    def _reduce(self, X: NDArray[Any]) -> Floats:
        """Return the features of rows in their leading directions."""
        reduced: Floats = self._ensemble.features(X)[0] @ self._feature_axes
        return reduced

    def _link_rows(self, X: NDArray[Any]) -> NDArray[np.intp]:
        """Cluster by average linkage, and keep the mean features of the clusters for new rows."""
        n = len(X)
        vectors, totals = self._ensemble.features(X)
        condensed = np.empty(n * (n - 1) // 2)
        end = 0
        for row in range(n - 1):
            one = vectors[row : row + 1], totals[row : row + 1]
            begin, end = end, end + n - 1 - row
            condensed[begin:end] = self._ensemble.distances(one, (vectors[row + 1 :], totals[row + 1 :]))[0]
        labels = cut(linkage(condensed, "average"), n, self.n_clusters) if n > 1 else np.zeros(1, dtype=np.intp)
        member = sparse.csr_array((1 / np.bincount(labels)[labels], (labels, np.arange(n))))
        self._finish = member @ vectors, member @ totals
        return labels

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the cluster of new rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The cluster with the nearest centre; with average linkage, the one whose rows are nearest in the mean.
        """
        rows = self._check_new_rows(X)
        labels = np.empty(len(rows), dtype=np.intp)
        for piece in gen_batches(len(rows), PIECE):
            if isinstance(self._finish, KMeans):
                labels[piece] = self._finish.predict(self._reduce(rows[piece]))
            else:
                distance = self._ensemble.distances(self._ensemble.features(rows[piece]), self._finish)
                labels[piece] = np.argmin(distance, axis=1)
        return labels

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the features behind the distance: the memberships of every mixture, weighted by its round.

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
        """Return the learned distance of all rows of one table to all rows of another.

        Parameters
        ----------
        X : array-like of shape (n_samples_X, n_features)
            Rows.
        Y : array-like of shape (n_samples_Y, n_features), default=None
            Rows of the other table; those of `X` if None.

        Returns
        -------
        ndarray of shape (n_samples_X, n_samples_Y)
            Distances, from zero to the sum of ``alphas_``. A row is at distance zero from itself only if every mixture
            is sure about it.

        Raises
        ------
        TooLargeError
            If there are more than 100,000,000 of them.
        """
        ours = self._check_new_rows(X)
        theirs = ours if Y is None else self._check_new_rows(Y)
        if len(ours) * len(theirs) > MOST_DISTANCES:
            raise TooLargeError(
                f"{len(ours):,} times {len(theirs):,} distances would take "
                f"{len(ours) * len(theirs) * 8 / 1e9:,.1f} GB; at most {MOST_DISTANCES:,} are written out at once. Use "
                "transform, or fewer rows."
            )
        return self._ensemble.distances(self._ensemble.features(ours), self._ensemble.features(theirs))

    def _check_new_rows(self, X: Any) -> NDArray[Any]:
        """Check rows that come after the fit."""
        check_is_fitted(self)
        rows: NDArray[Any] = validate_data(self, X, reset=False, dtype=[np.float64, np.float32], order="C")
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def cut(merges: Floats, n_rows: int, n_clusters: int) -> NDArray[np.intp]:
    """Return the clusters that are left when all merges are made but the last `n_clusters` - 1."""
    n_merges = n_rows - n_clusters
    made = merges[:n_merges, :2].astype(np.intp)
    new = np.repeat(n_rows + np.arange(n_merges), 2)
    n_nodes = n_rows + n_merges
    graph = sparse.csr_array((np.ones(len(new)), (made.ravel(), new)), shape=(n_nodes, n_nodes))
    labels: NDArray[np.intp] = connected_components(graph, directed=False)[1][:n_rows].astype(np.intp)
    return labels
