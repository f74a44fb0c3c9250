"""The metrics that MPCKMeans learns, one for each cluster or one for all, diagonal or full, and their geometry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mustlink._rows import PIECE_ROWS, RowBlocks
from mustlink._types import Floats, Indices
from mustlink.blocks import BlockedRows
from mustlink.kmeans._engine import Geometry, State, Step
from mustlink.kmeans._mpckmeans_kernels import add_moments, nearest_diagonal
from mustlink.kmeans._rules import LinkedRows, SoftLinks

Labels = NDArray[np.int32]


class DiagonalMetrics:
    """The metric A_c of each cluster c, a weight for each column; `matrices` holds the diagonals.

    The first axis runs over the clusters; with a metric that all of them share, it has length one.
    """

    def __init__(self, matrices: Floats, log_dets: Floats) -> None:
        self.matrices = matrices
        self.log_dets = log_dets
        # The difference of the two rows farthest apart under each metric, where cannot-links need it.
        self.longest = np.zeros((len(matrices), matrices.shape[-1]))

    @classmethod
    def from_weights(cls, weights: Floats) -> Self:
        """Return the metrics with these weights (n_metrics, n_features) of the columns."""
        return cls(weights, np.log(weights).sum(axis=1))

    @classmethod
    def from_scatter(cls, scatter: Floats, mass: Floats, min_variance: float) -> Self:
        """Return mass times the inverse of the scatter, for each metric.

        Where the scatter in a direction is less than `min_variance` times the mass, or negative, it is raised to that.
        Among the metrics with no eigenvalue above 1 / min_variance this one minimizes the objective.
        """
        variance = np.maximum(scatter / mass[:, None], min_variance)
        return cls(1 / variance, -np.log(variance).sum(axis=1))

    @staticmethod
    def moments(table: RowBlocks, labels: Labels, n_clusters: int) -> tuple[Floats, Floats, Floats]:
        """Return the number of rows, the mean and the scatter of each cluster; the mean of none is zero."""

        def of_piece(rows: slice, piece: RowBlocks) -> Floats:
            # The first column counts the rows; then come the sums, then the sums of squares.
            moments = np.zeros((n_clusters, 1 + 2 * table.n_features))
            add_moments(piece.X, labels[rows], moments)
            return moments

        moments = sum(table.map_pieces(of_piece))
        counts, sums, squares = np.split(moments, [1, 1 + table.n_features], axis=1)
        means = sums / np.maximum(counts, 1)
        return counts[:, 0], means, np.maximum(squares - means * sums, 0.0)

    @staticmethod
    def outer_sums(differences: Floats, cluster: Indices, factor: Floats, n_clusters: int) -> Floats:
        """Return, for each cluster, the sum of the outer products of its differences times their factors."""
        member = sparse.csr_array((factor, (cluster, np.arange(len(cluster)))), shape=(n_clusters, len(cluster)))
        return np.asarray(member @ np.square(differences))

    def nearest(self, table: RowBlocks, centers: Floats) -> tuple[Labels, Floats]:
        """Return the cheapest cluster of every row, and its cost: squared distance less log-determinant."""
        labels, own = np.empty(table.n_rows, dtype=np.int32), np.empty(table.n_rows)
        weights = np.broadcast_to(self.matrices, centers.shape)
        factors = np.ascontiguousarray(np.concatenate([-2 * weights * centers, weights], axis=1).T)
        offset = (weights * np.square(centers)).sum(axis=1) - self.log_dets
        table.map_pieces(lambda rows, piece: nearest_diagonal(piece.X, factors, offset, labels[rows], own[rows]))
        return labels, own

    def distances(self, Z: Floats, centers: Floats) -> Floats:
        """Return the squared distance of every row to every center under the metric of that center."""
        weights = np.broadcast_to(self.matrices, centers.shape)
        out = np.square(Z) @ weights.T - 2 * Z @ (weights * centers).T + (weights * np.square(centers)).sum(axis=1)
        return np.maximum(out, 0.0, out=out)

    def lengths(self, differences: Floats) -> Floats:
        """Return the squared length of every difference under every metric, (n_differences, n_metrics)."""
        return np.asarray(np.square(differences) @ self.matrices.T)

    def costs(self, Z: Floats, centers: Floats) -> Floats:
        """Return what every row costs in every cluster: squared distance less log-determinant."""
        return self.distances(Z, centers) - self.log_dets


class FullMetrics(DiagonalMetrics):
    """The same with full matrices, which weigh all directions; `matrices` is (n_metrics, n_features, n_features)."""

    def __init__(self, matrices: Floats, log_dets: Floats, roots: Floats) -> None:
        super().__init__(matrices, log_dets)
        self._roots = roots

    @classmethod
    def from_weights(cls, weights: Floats) -> Self:
        eye = np.eye(weights.shape[1])
        return cls(weights[:, None] * eye, np.log(weights).sum(axis=1), np.sqrt(weights)[:, None] * eye)

    @classmethod
    def from_scatter(cls, scatter: Floats, mass: Floats, min_variance: float) -> Self:
        variance, directions = np.linalg.eigh(scatter / mass[:, None, None])
        variance = np.maximum(variance, min_variance)
        roots = directions / np.sqrt(variance)[:, None]
        return cls(roots @ roots.transpose(0, 2, 1), -np.log(variance).sum(axis=1), roots)

    @staticmethod
    def moments(table: RowBlocks, labels: Labels, n_clusters: int) -> tuple[Floats, Floats, Floats]:
        counts, means = np.zeros(n_clusters), np.zeros((n_clusters, table.n_features))
        scatter = np.zeros((n_clusters, table.n_features, table.n_features))
        sorted_rows = table.X[np.argsort(labels, kind="stable")]
        ends = np.cumsum(np.bincount(labels, minlength=n_clusters))
        for c, rows in enumerate(np.split(sorted_rows, ends[:-1])):
            if len(rows):
                counts[c], means[c] = len(rows), rows.mean(axis=0)
                rows -= means[c]
                scatter[c] = rows.T @ rows
        return counts, means, scatter

    @staticmethod
    def outer_sums(differences: Floats, cluster: Indices, factor: Floats, n_clusters: int) -> Floats:
        n_features = differences.shape[1]
        sums = np.zeros((n_clusters, n_features, n_features))
        for c in np.unique(cluster):
            mine = differences[cluster == c]
            sums[c] = (mine * factor[cluster == c, None]).T @ mine
        return sums

    def nearest(self, table: RowBlocks, centers: Floats) -> tuple[Labels, Floats]:
        if len(self._roots) == 1:
            # Rotated and scaled rows have Euclidean distances.
            plain, root = DiagonalMetrics(np.ones((1, table.n_features)), self.log_dets), self._roots[0]
            pieces = table.map_pieces(lambda _, piece: plain.nearest(RowBlocks(piece.X @ root), centers @ root))
            return np.concatenate([labels for labels, _ in pieces]), np.concatenate([own for _, own in pieces])
        return table.cheapest(lambda Z: self.costs(Z, centers))

    def distances(self, Z: Floats, centers: Floats) -> Floats:
        out = np.empty((len(Z), len(centers)))
        if len(self._roots) == 1:
            rotated, rotated_centers = Z @ self._roots[0], centers @ self._roots[0]
            np.dot(rotated, -2 * rotated_centers.T, out=out)
            out += np.square(rotated).sum(axis=1)[:, None] + np.square(rotated_centers).sum(axis=1)
            return np.maximum(out, 0.0, out=out)
        for c, root in enumerate(self._roots):
            out[:, c] = np.square((Z - centers[c]) @ root).sum(axis=1)
        return out

    def lengths(self, differences: Floats) -> Floats:
        return np.column_stack([np.square(differences @ root).sum(axis=1) for root in self._roots])


class LongestPairs:
    """The two rows farthest apart under a metric, among rows that are outermost in many directions.

    The farthest pair under any metric lies on the convex hull. The candidates are the two outermost rows along each
    column, up to 32 columns of the widest range, and along 32 random directions; all rows if there are at most 128.
    Memory is linear in the rows, and they are passed over only once.
    """

    N_COLUMNS = 32
    N_RANDOM = 32

    def __init__(self, table: RowBlocks | BlockedRows) -> None:
        if table.n_rows <= 2 * (self.N_COLUMNS + self.N_RANDOM):
            self._rows = table.rows(np.arange(table.n_rows))
            return
        columns = np.arange(table.n_features)
        if table.n_features > self.N_COLUMNS:
            columns = np.argsort(-_span(table), kind="stable")[: self.N_COLUMNS]
        # Always the same directions: the result does not depend on the seed of a fit.
        directions = np.random.RandomState(0).standard_normal((table.n_features, self.N_RANDOM))
        if isinstance(table, BlockedRows):
            outermost = table.total(find_outermost, columns, directions)
        else:
            pieces = table.map_pieces(lambda _, piece: find_outermost(piece.X, columns, directions))
            outermost = reduce(OutermostRows.__add__, pieces)
        self._rows = np.unique(outermost.rows, axis=0)

    def under(self, metrics: DiagonalMetrics, others: Floats) -> Floats:
        """Return the difference of the two rows farthest apart under each metric, also among `others`.

        `others` are the differences of the cannot-links: none of them may be longer.
        """
        found = np.empty((len(metrics.matrices), self._rows.shape[1]))
        lengths = metrics.lengths(others)
        for c, matrix in enumerate(metrics.matrices):
            rotated = self._rows * matrix if matrix.ndim == 1 else self._rows @ matrix
            products = rotated @ self._rows.T
            squares = np.diagonal(products)
            apart = squares[:, None] + squares - 2 * products
            a, b = np.unravel_index(np.argmax(apart), apart.shape)
            found[c] = self._rows[a] - self._rows[b]
            if len(others) and lengths[:, c].max() > apart[a, b]:
                found[c] = others[np.argmax(lengths[:, c])]
        return found


@dataclass(frozen=True)
class OutermostRows:
    """The outermost row in each direction, and how far out it is; of equals the first."""

    reach: Floats
    rows: Floats

    def __add__(self, other: OutermostRows) -> OutermostRows:
        is_farther = other.reach > self.reach
        return OutermostRows(
            np.where(is_farther, other.reach, self.reach), np.where(is_farther[:, None], other.rows, self.rows)
        )


def find_outermost(Z: Floats, columns: Indices, directions: Floats) -> OutermostRows:
    """Return the rows outermost along some columns and directions, at both ends."""
    n_ends = 2 * (len(columns) + directions.shape[1])
    found = OutermostRows(np.full(n_ends, -np.inf), np.zeros((n_ends, Z.shape[1])))
    # In pieces: how far out a row is in every direction can take far more memory than the row.
    for start in range(0, len(Z), PIECE_ROWS):
        found += _outermost_of_piece(Z[start : start + PIECE_ROWS], columns, directions)
    return found


def _outermost_of_piece(Z: Floats, columns: Indices, directions: Floats) -> OutermostRows:
    """Return the outermost rows of some that are few enough to hold their distances."""
    reach = np.concatenate([Z[:, columns], Z @ directions], axis=1)
    reach = np.concatenate([reach, -reach], axis=1)
    first = reach.argmax(axis=0)
    return OutermostRows(reach[first, np.arange(len(first))], Z[first])


def _span(table: RowBlocks | BlockedRows) -> Floats:
    """Return the range of every column."""
    if isinstance(table, BlockedRows):
        return table.moments.highest - table.moments.lowest
    return np.asarray(table.X.max(axis=0) - table.X.min(axis=0))


class LearnedMetrics(Geometry):
    """Squared distances under metrics that are learned, minus their log-determinants; links are measured as well.

    A broken must-link costs its weight times its squared length, averaged over the metrics of its two clusters. A
    broken cannot-link costs its weight times the difference between the squared lengths of the longest pair and its
    own. The columns of the rows are standardized.
    """

    def __init__(
        self,
        rows: RowBlocks | BlockedRows,
        linked: LinkedRows,
        penalty: float,
        min_variance: float,
        round_centers: Callable[[Floats], Floats],
    ) -> None:
        self._soft = SoftLinks(linked)
        self._set_rule(rows, self._soft)
        self._rows: Any = rows
        self._min_variance, self._round = min_variance, round_centers
        self._linked = rows.rows(linked.rows)
        self._pairs, self._is_must = linked.graph.pairs, linked.graph.sign > 0
        self._weight = penalty * linked.graph.weight
        self._difference = self._linked[self._pairs[:, 0]] - self._linked[self._pairs[:, 1]]
        self._pairs_far_apart = None if self._is_must.all() else LongestPairs(rows)

    def _set_rule(self, rows: RowBlocks | BlockedRows, rule: SoftLinks) -> None:
        """Store the rule, and what steps need to know of its rows."""
        super().__init__(rows.n_rows, rule)

    def begin(self, centers: Floats, metrics: DiagonalMetrics) -> State:
        """Return the state with these centers and metrics, for which the longest pairs are found."""
        if self._pairs_far_apart is not None:
            metrics.longest = self._pairs_far_apart.under(metrics, self._difference[~self._is_must])
        return State(centers, metrics)

    def nearest(self, state: State) -> tuple[Labels, Any]:
        found: tuple[Labels, Floats] = state.metric.nearest(self._rows, state.centers)
        return found

    def unit_costs(self, state: State) -> Floats:
        return np.asarray(state.metric.costs(self._linked, state.centers))

    def link_penalties(self, state: State) -> Floats:
        lengths = state.metric.lengths(self._difference)
        reach = np.diagonal(state.metric.lengths(state.metric.longest))
        # Rounding must not make the cost of a broken link negative.
        cost = self._weight[:, None] * np.where(self._is_must[:, None], lengths, np.maximum(reach - lengths, 0.0))
        return np.asarray(cost[:, 0] if cost.shape[1] == 1 else cost)

    def update(self, step: Step, state: State) -> State:
        """Return the means of the clusters, and the metrics that fit them and the broken links best.

        An empty cluster has the scatter of a cluster of one row.
        """
        metrics, n_clusters = state.metric, len(state.centers)
        counts, means, scatter = self._moments(step, state)
        mass = np.maximum(counts, 1)
        links = self._scatter_of_links(step.units, metrics, n_clusters) if self.rule.n_units else np.zeros(1)
        if len(metrics.matrices) == 1:
            scatter, mass = scatter.sum(axis=0, keepdims=True), np.array([float(self._rows.n_rows)])
            links = links.sum(axis=0, keepdims=True)
        scatter = scatter + links
        centers = np.where(counts[:, None] > 0, self._round(means), state.centers)
        return self.begin(centers, metrics.from_scatter(scatter, mass, self._min_variance))

    def _moments(self, step: Step, state: State) -> tuple[Floats, Floats, Floats]:
        """Return the number of rows, the mean and the scatter of each cluster; the scatter may be summed already."""
        found: tuple[Floats, Floats, Floats] = state.metric.moments(self._rows, step.labels, len(state.centers))
        return found

    def _scatter_of_links(self, units: Indices, metrics: DiagonalMetrics, n_clusters: int) -> Floats:
        """Return what broken links add to the scatter of each cluster."""
        broken = self._soft.broken(units)
        must, cannot = broken & self._is_must, broken & ~self._is_must
        a, b = units[self._pairs[must]].T
        c = units[self._pairs[cannot, 0]]
        longest = np.broadcast_to(metrics.longest, (n_clusters, self._rows.n_features))[c]
        half, whole = 0.5 * self._weight[must], self._weight[cannot]
        return metrics.outer_sums(
            np.concatenate([self._difference[must], self._difference[must], longest, self._difference[cannot]]),
            np.concatenate([a, b, c, c]),
            np.concatenate([half, half, whole, -whole]),
            n_clusters,
        )

    def distances_to_own(self, step: Step, state: State) -> tuple[Floats, Floats]:
        log_dets = np.broadcast_to(state.metric.log_dets, len(state.centers))
        return step.found + log_dets[step.labels], step.unit_cost + log_dets[step.units]

    def noise(self, state: State) -> float:
        return 1e-9
