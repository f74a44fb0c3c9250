"""The distortions of HMRFKMeans (weighted squared distance, cosine, I-divergence) and their geometry.

All work on dense arrays and on CSR matrices in double precision, and none of them makes a sparse matrix dense.
`weights` is one number per column, the diagonal of the metric.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import xlogy

from mustlink._rows import RowBlocks
from mustlink._types import Floats, Ints
from mustlink.kmeans._engine import Geometry, State, Step
from mustlink.kmeans._rules import LinkedRows, SoftLinks

Labels = NDArray[np.int32]

# Minimum entry of a center of the I-divergence, as a fraction of the mean of the column.
MIN_MEAN = 1e-3

# The same as a fraction of the mean of X, for columns that hold only zeros.
MIN_ENTRY = 1e-12

# How often a step that would raise the objective is halved before the weights are left as they are.
MAX_HALVINGS = 12


class Distortion(ABC):
    """How far the rows of X are from centers, and the two rows of each pair from each other."""

    # What each column adds to the distortion between the rows of each pair, where that is a sum over the columns.
    _apart: Any

    def __init__(self, X: Any, pairs: Ints) -> None:
        self.X, self.rows = X, RowBlocks(X)
        self.n_rows, self.n_features = X.shape
        self._first, self._second = X[pairs[:, 0]], X[pairs[:, 1]]

    @staticmethod
    @abstractmethod
    def costs(X: Any, weights: Floats, centers: Floats) -> Floats:
        """Return the distortion of some rows from every center."""

    def lengths(self, weights: Floats) -> Floats:
        """Return the distortion between the two rows of each pair."""
        return np.maximum(np.asarray(self._apart @ weights), 0.0)

    @abstractmethod
    def longest(self, weights: Floats) -> float:
        """Return an upper bound of the distortion between two rows."""

    @abstractmethod
    def gradient(self, labels: Labels, weights: Floats, centers: Floats) -> Floats:
        """Return the derivative, by the weights, of the distortion of all rows from their centers together."""

    def gradient_of_lengths(self, factor: Floats, weights: Floats) -> Floats:
        """Return the derivative, by the weights, of the sum of the lengths of the pairs times their factors."""
        return np.asarray(factor @ self._apart)

    def allowed(self, centers: Floats) -> Floats:
        """Return centers from which no distortion is infinite."""
        return centers

    def centers(self, labels: Labels, weights: Floats, old: Floats) -> Floats:
        """Return the centers of lowest distortion; an empty cluster keeps its own."""
        sums, counts = sums_by_cluster(self.X, labels, len(old))
        return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], old)

    def value(self, labels: Labels, weights: Floats, centers: Floats) -> float:
        """Return the distortion of all rows from their centers together, which is linear in the weights."""
        return float(self.gradient(labels, weights, centers) @ weights)

    def spread(self) -> Floats:
        """Return how much each column adds to the distortion of all rows from one center, if all weights are one."""
        weights, labels = np.ones(self.n_features), np.zeros(self.n_rows, dtype=np.int32)
        return self._by_column(labels, weights, self.centers(labels, weights, self.allowed(weights[None])))

    def _by_column(self, labels: Labels, weights: Floats, centers: Floats) -> Floats:
        """Return how much each column adds to the distortion of all rows from their centers."""
        return weights * self.gradient(labels, weights, centers)


class SquaredEuclidean(Distortion):
    """The sum over the columns of a weight times the squared difference."""

    def __init__(self, X: Any, pairs: Ints) -> None:
        super().__init__(X, pairs)
        self._squares = squared(X)
        self._apart = squared(self._first - self._second)
        self._middle = np.asarray(X.mean(axis=0)).ravel()
        lowest, highest = (dense(X.min(axis=0)).ravel(), dense(X.max(axis=0)).ravel())
        self._box = np.square(highest - lowest)

    @staticmethod
    def costs(X: Any, weights: Floats, centers: Floats) -> Floats:
        out = -2 * np.asarray(X @ (weights * centers).T)
        out += np.asarray(squared(X) @ weights)[:, None] + np.square(centers) @ weights
        return np.maximum(out, 0.0, out=out)

    def longest(self, weights: Floats) -> float:
        # The diagonal of the box around all rows, or the diameter of the ball around their mean if that is smaller.
        radius = (
            self._squares @ weights - 2 * (self.X @ (weights * self._middle)) + np.square(self._middle) @ weights
        ).max()
        return float(min(self._box @ weights, 4 * max(radius, 0.0)))

    def gradient(self, labels: Labels, weights: Floats, centers: Floats) -> Floats:
        sums, counts = sums_by_cluster(self.X, labels, len(centers))
        squares = np.asarray(self._squares.sum(axis=0)).ravel()
        total = squares - 2 * (sums * centers).sum(axis=0) + counts @ np.square(centers)
        return np.maximum(total, 0.0)


class Cosine(Distortion):
    """One minus the cosine of two rows under the weights; a row of zeros has the cosine 0 with all others."""

    def __init__(self, X: Any, pairs: Ints) -> None:
        super().__init__(X, pairs)
        self._squares = squared(X)
        self._product = self._first.multiply(self._second).tocsr() if sparse.issparse(X) else self._first * self._second
        self._first_squares, self._second_squares = squared(self._first), squared(self._second)
        self._longest = 1.0 if X.min() >= 0 else 2.0

    @staticmethod
    def costs(X: Any, weights: Floats, centers: Floats) -> Floats:
        center_norms = row_norms(np.square(centers), weights)
        products = np.asarray(X @ (weights * centers / center_norms[:, None]).T)
        return np.maximum(1 - products / row_norms(squared(X), weights)[:, None], 0.0)

    def lengths(self, weights: Floats) -> Floats:
        return np.maximum(1 - self._cosines(weights), 0.0)

    def longest(self, weights: Floats) -> float:
        return self._longest

    def centers(self, labels: Labels, weights: Floats, old: Floats) -> Floats:
        sums, _ = sums_by_cluster(self._unit_rows(weights), labels, len(old))
        norms = np.sqrt(np.square(sums) @ weights)[:, None]
        return np.where(norms > 1e-12, sums / positive(norms), old)

    def value(self, labels: Labels, weights: Floats, centers: Floats) -> float:
        return float((1 - self._own_cosines(labels, weights, centers)).sum())

    def gradient(self, labels: Labels, weights: Floats, centers: Floats) -> Floats:
        # For one row x and its center m: -(x m / |x||m|) + cos(x, m) (x^2 / 2|x|^2 + m^2 / 2|m|^2).
        cosines = self._own_cosines(labels, weights, centers)
        square_norms = positive(np.asarray(self._squares @ weights))
        center_norms = row_norms(np.square(centers), weights)[:, None]
        sums, _ = sums_by_cluster(self._unit_rows(weights), labels, len(centers))
        of_cluster = np.bincount(labels, cosines, len(centers))
        return np.asarray(
            -(sums * centers / center_norms).sum(axis=0)
            + 0.5 * ((cosines / square_norms) @ self._squares)
            + 0.5 * of_cluster @ np.square(centers / center_norms)
        )

    def gradient_of_lengths(self, factor: Floats, weights: Floats) -> Floats:
        first, second = row_norms(self._first_squares, weights), row_norms(self._second_squares, weights)
        cosines = self._cosines(weights)
        return np.asarray(
            -(factor / (first * second)) @ self._product
            + 0.5 * (factor * cosines / first**2) @ self._first_squares
            + 0.5 * (factor * cosines / second**2) @ self._second_squares
        )

    def _by_column(self, labels: Labels, weights: Floats, centers: Floats) -> Floats:
        # One minus the cosine is half the squared distance of two rows of length one.
        unit = self._unit_rows(weights)
        sums, counts = sums_by_cluster(unit, labels, len(centers))
        middle = centers / row_norms(np.square(centers), weights)[:, None]
        squares = np.asarray(squared(unit).sum(axis=0)).ravel()
        total = squares - 2 * (sums * middle).sum(axis=0) + counts @ np.square(middle)
        return 0.5 * weights * np.maximum(total, 0.0)

    def _unit_rows(self, weights: Floats) -> Any:
        """Return the rows divided by their norms."""
        norms = row_norms(self._squares, weights)
        return sparse.diags_array(1 / norms).tocsr() @ self.X if sparse.issparse(self.X) else self.X / norms[:, None]

    def _own_cosines(self, labels: Labels, weights: Floats, centers: Floats) -> Floats:
        """Return the cosine of each row and its center."""
        weighted = weights * centers / row_norms(np.square(centers), weights)[:, None]

        def own(rows: slice, piece: RowBlocks) -> Floats:
            return np.asarray(piece.X @ weighted.T)[np.arange(piece.n_rows), labels[rows]]

        return np.asarray(np.concatenate(self.rows.map_pieces(own)) / row_norms(self._squares, weights))

    def _cosines(self, weights: Floats) -> Floats:
        """Return the cosine of the two rows of each pair."""
        product = row_norms(self._first_squares, weights) * row_norms(self._second_squares, weights)
        return np.asarray(self._product @ weights) / product


class IDivergence(Distortion):
    """The sum over the columns of a weight times x log(x / m) - x + m.

    Between two rows it is the sum of their divergences from their mean, which is symmetric and finite.
    """

    def __init__(self, X: Any, pairs: Ints) -> None:
        super().__init__(X, pairs)
        self._entropy = self_information(X)
        middle = (self._first + self._second) * 0.5
        self._apart = self_information(self._first) + self_information(self._second) - 2 * self_information(middle)
        means = np.asarray(X.mean(axis=0)).ravel()
        self._floor = np.maximum(MIN_MEAN * means, MIN_ENTRY * max(float(means.mean()), 1e-30))

    @staticmethod
    def costs(X: Any, weights: Floats, centers: Floats) -> Floats:
        out = -np.asarray(X @ (weights * np.log(centers)).T)
        out += np.asarray((self_information(X) - X) @ weights)[:, None] + centers @ weights
        return np.maximum(out, 0.0, out=out)

    def longest(self, weights: Floats) -> float:
        # x log(2 x / (x + y)) + y log(2 y / (x + y)) is at most (x + y) log 2.
        return float(2 * np.log(2) * np.asarray(self.X @ weights).max())

    def allowed(self, centers: Floats) -> Floats:
        return np.maximum(centers, self._floor)

    def centers(self, labels: Labels, weights: Floats, old: Floats) -> Floats:
        # Raising small entries gives the best centers among those with no smaller entry.
        return self.allowed(super().centers(labels, weights, old))

    def gradient(self, labels: Labels, weights: Floats, centers: Floats) -> Floats:
        sums, counts = sums_by_cluster(self.X, labels, len(centers))
        entropy = np.asarray(self._entropy.sum(axis=0)).ravel()
        total = entropy - (sums * np.log(centers)).sum(axis=0) - sums.sum(axis=0) + counts @ centers
        return np.maximum(total, 0.0)


DISTORTIONS: dict[str, type[Distortion]] = {
    "euclidean": SquaredEuclidean,
    "cosine": Cosine,
    "i-divergence": IDivergence,
}


def sums_by_cluster(X: Any, labels: Labels, n_clusters: int) -> tuple[Floats, Floats]:
    """Return the sum of the rows of each cluster, and how many they are."""
    n_rows = X.shape[0]
    member = sparse.csr_array((np.ones(n_rows), (labels, np.arange(n_rows))), shape=(n_clusters, n_rows))
    return dense(member @ X), np.bincount(labels, minlength=n_clusters).astype(np.float64)


def dense(values: Any) -> Floats:
    """Return a dense array."""
    return np.asarray(values.toarray() if sparse.issparse(values) else values)


def squared(X: Any) -> Any:
    """Square every entry."""
    return X.power(2) if sparse.issparse(X) else np.square(X)


def self_information(X: Any) -> Any:
    """Return x log x for every entry, and 0 for 0."""
    if not sparse.issparse(X):
        return xlogy(X, X)
    out = X.copy()
    out.data = xlogy(out.data, out.data)
    return out


def row_norms(squares: Any, weights: Floats) -> Floats:
    """Return the lengths of rows whose entries have these squares, and one for a row of zeros."""
    return positive(np.sqrt(np.asarray(squares @ weights)))


def positive(values: Floats) -> Floats:
    """Replace zeros by one, for quotients whose numerator is then zero as well."""
    return np.where(values > 0, values, 1.0)


class WeightedDistortion(Geometry):
    """A distortion with learned column weights; the penalties of links are distortions as well.

    A broken must-link costs its weight times the distortion between its rows, a broken cannot-link its weight times the
    difference between the largest distortion and its own. The state's metric is the weights of the columns; they are
    not learned if `metric_prior` is 0.
    """

    def __init__(
        self,
        distortion: Distortion,
        linked: LinkedRows,
        penalty: float,
        metric_prior: float,
        round_centers: Callable[[Floats], Floats],
    ) -> None:
        self._soft = SoftLinks(linked)
        super().__init__(distortion.n_rows, self._soft)
        self.distortion, self._round = distortion, round_centers
        self._linked = distortion.X[linked.rows]
        self._weight, self._is_must = penalty * linked.graph.weight, linked.graph.sign > 0
        self.strength = distortion.spread() * metric_prior if metric_prior else np.zeros(distortion.n_features)

    def begin(self, centers: Floats) -> State:
        """Return the state with these centers and all weights one."""
        return State(self._round(self.distortion.allowed(centers)), np.ones(self.distortion.n_features))

    def nearest(self, state: State) -> tuple[Labels, Floats]:
        return self.distortion.rows.cheapest(lambda X: self.distortion.costs(X, state.metric, state.centers))

    def unit_costs(self, state: State) -> Floats:
        return self.distortion.costs(self._linked, state.metric, state.centers)

    def link_penalties(self, state: State) -> Floats:
        length = self.distortion.lengths(state.metric)
        if self._is_must.all():
            return self._weight * length
        # Rounding must not make the cost of a broken link negative.
        short = np.maximum(self.distortion.longest(state.metric) - length, 0.0)
        return self._weight * np.where(self._is_must, length, short)

    def prior(self, state: State) -> float:
        # 0 if all weights are one, and more as any approaches zero.
        return -float(self.strength @ np.log(state.metric))

    def noise(self, state: State) -> float:
        return 1e-12 * self.distortion.longest(state.metric)

    def update(self, step: Step, state: State) -> State:
        centers = self._round(self.distortion.centers(step.labels, state.metric, state.centers))
        return State(centers, self.descend(step, State(centers, state.metric)))

    def descend(self, step: Step, state: State) -> Floats:
        """Return weights with mean one, a step down the gradient, at which the objective is lower.

        Each weight is multiplied by a power of e, in proportion to the gradient per strength: all stay positive, and
        columns of large and of small values change alike. In the mean, columns count by their strength.
        """
        weights, strength = state.metric, self.strength
        counts = strength > 0
        if not counts.any():
            return np.asarray(weights)
        broken = self._soft.broken(step.units)

        def objective(trial: Floats) -> float:
            changed = State(state.centers, trial)
            penalties = self.link_penalties(changed)
            links = penalties[broken & self._is_must].sum() + penalties[broken & ~self._is_must].sum()
            return self.distortion.value(step.labels, trial, state.centers) + float(links) + self.prior(changed)

        slope = np.zeros(len(weights))
        slope[counts] = (weights * self.gradient(step, state))[counts] / strength[counts]
        # Project out the direction that changes the mean weight (fixed at 1).
        slope[counts] -= (strength * weights * slope).sum() / (strength * weights).sum()
        now, size = objective(weights), 1.0 / max(1.0, np.abs(slope).max())
        for _ in range(MAX_HALVINGS):
            trial = weights * np.exp(-size * slope)
            trial[counts] *= strength.sum() / (strength @ trial)
            if objective(trial) < now:
                return np.asarray(trial)
            size *= 0.5
        return np.asarray(weights)

    def gradient(self, step: Step, state: State) -> Floats:
        """Return the derivative of the objective by the weights, with the largest distortion held fixed."""
        total = self.distortion.gradient(step.labels, state.metric, state.centers) - self.strength / state.metric
        if not self.rule.n_units:
            return np.asarray(total)
        sign = np.where(self._is_must, 1.0, -1.0)
        factor = sign * self._weight * self._soft.broken(step.units)
        return np.asarray(total + self.distortion.gradient_of_lengths(factor, state.metric))
