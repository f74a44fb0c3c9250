"""Kernel k-means on a kernel and links: passes over all rows at once, moves of single rows, and starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from mustlink._types import Floats, Indices, Ints
from mustlink.kmeans._engine import Run
from mustlink.kmeans._kernel_space import FeatureSpace, MatrixSpace
from mustlink.kmeans._kernelkmeans_kernels import move_rows
from mustlink.kmeans._rules import LinkedRows
from mustlink.kmeans._seeding import Start, draw_far_rows, rows_apart, seed_farthest_first

Labels = NDArray[np.int32]

# Up to this many linked rows the eigenvalues of the links are computed all at once.
MAX_DENSE = 400

# How many runs are made by default.
DEFAULT_RUNS = 5

# How often rows move one at a time before all sums are computed again.
MAX_SWEEPS = 50


@dataclass
class Sums:
    """Labels with the sizes of the clusters, the sums of K = S + W over rows and clusters, and the objective."""

    labels: Labels
    counts: Ints
    sums: Floats
    within: Floats
    objective: float


def least_shift(W: sparse.csr_array) -> float:
    """Return what must be added to the diagonal of W to make it positive semidefinite."""
    linked = np.flatnonzero(np.diff(W.indptr))
    if linked.size == 0:
        return 0.0
    W = W[linked][:, linked]
    if len(linked) <= MAX_DENSE:
        return max(0.0, -float(np.linalg.eigvalsh(W.toarray())[0]))
    # No eigenvalue is larger than the largest sum of absolute values in a row.
    bound = float(abs(W).sum(axis=1).max())
    try:
        start = np.random.RandomState(0).standard_normal(len(linked))
        value = eigsh(W / bound, k=1, which="SA", tol=1e-3, v0=start, return_eigenvectors=False)[0]
    except ArpackNoConvergence:
        return bound
    # The value is found from above, and up to its tolerance.
    return min(bound, bound * max(0.0, -float(value)) * 1.002)


class Passes:
    """Kernel k-means on S + W, where S is the kernel and the sparse matrix W holds the links."""

    def __init__(self, space: MatrixSpace, W: sparse.csr_array, n_clusters: int) -> None:
        self.space, self.W, self.n_clusters = space, W, n_clusters
        self.shift = least_shift(W)
        self._links = (W.indptr.astype(np.int64), W.indices.astype(np.int64), W.data)
        self._trace = float(space.squares.sum())
        # The rounding error of a difference of kernel values.
        self._noise = 64 * np.finfo(space.dtype).eps * float(np.abs(space.squares).max(initial=0.0))

    def run(self, labels: Labels, report: Callable[[int, float], None], *, max_iter: int, local_search: bool) -> Run:
        """Make passes while they lower the objective, then single moves, and again, until neither does."""
        state = self._state(labels)
        if (state.counts == 0).any():
            state = self._filled(state)
        objective = [state.objective]
        n_iter = 0
        while n_iter < max_iter:
            n_iter += 1
            nearest = self._nearest(state)
            stays = np.array_equal(nearest, state.labels)
            following = state if stays else self._filled(self._state(nearest))
            # With a kernel that is not positive semidefinite a pass can raise the objective; single moves cannot.
            if following.objective >= state.objective - self._noise:
                if not local_search:
                    break
                following = self._after_moves(state)
                if following is state:
                    break
            state = following
            objective.append(state.objective)
            report(n_iter, state.objective)
        return Run(state.labels, n_iter, objective)

    def _state(self, labels: Labels) -> Sums:
        """Compute all sums for some labels."""
        members = one_hot(labels, self.n_clusters)
        counts = np.bincount(labels, minlength=self.n_clusters)
        sums = self.space.products(members) + (self.W @ members).toarray()
        within = np.bincount(labels, sums[np.arange(len(labels)), labels], self.n_clusters).astype(np.float64)
        return Sums(labels, counts, sums, within, self._objective(within, counts))

    def _objective(self, within: Floats, counts: Ints) -> float:
        """Return the objective; an empty cluster costs the shift, or leaving it empty would seem a gain."""
        filled = counts > 0
        return float(self._trace - (within[filled] / counts[filled]).sum() + self.shift * (~filled).sum())

    def _nearest(self, state: Sums) -> Labels:
        """Return the cluster whose mean is nearest to each row in the space of S + W + shift."""
        size = np.maximum(state.counts, 1)
        distance = (state.within / size + self.shift) / size - 2 * state.sums / size
        rows = np.arange(len(state.labels))
        distance[rows, state.labels] -= 2 * self.shift / size[state.labels]
        distance[:, state.counts == 0] = np.inf
        return distance.argmin(axis=1).astype(np.int32)

    def _filled(self, state: Sums) -> Sums:
        """Move into each empty cluster the row whose leaving lowers the objective most, if any does."""
        while (state.counts == 0).any():
            rows = np.arange(len(state.labels))
            size = state.counts[state.labels]
            within, own = state.within[state.labels], state.sums[rows, state.labels]
            square = self.space.squares
            gain = (within - 2 * own + square) / np.maximum(size - 1, 1) + square - within / size
            gain[size == 1] = -np.inf
            row = int(gain.argmax())
            if not gain[row] > self._noise:
                break
            labels = state.labels.copy()
            labels[row] = int(np.argmin(state.counts))
            state = self._state(labels)
        return state

    def _after_moves(self, state: Sums) -> Sums:
        """Move rows one at a time, those with the largest gain first; return the same state if none moves."""
        moving = Sums(state.labels.copy(), state.counts.copy(), state.sums.copy(), state.within.copy(), 0.0)
        for _ in range(MAX_SWEEPS):
            gain = self._gains(moving)
            movers = np.flatnonzero(gain > self._noise)
            if movers.size == 0:
                break
            order = movers[np.argsort(-gain[movers], kind="stable")]
            sums, feature_sums = moving.sums, np.empty((self.n_clusters, 0))
            if isinstance(self.space, FeatureSpace):
                members = one_hot(moving.labels, self.n_clusters)
                sums, feature_sums = (self.W @ members).toarray(), np.ascontiguousarray(self.space.sums(members).T)
            clusters = (moving.labels, moving.counts, sums, feature_sums, moving.within)
            move_rows(self.space.values, self.space.squares, *self._links, order, self._noise, *clusters)
            if isinstance(self.space, FeatureSpace):
                # The sums of the rows are not kept up to date here, and the gains are unknown after the moves.
                break
        # Computed again: rounding errors do not add up from move to move.
        moved = self._state(moving.labels)
        return moved if moved.objective < state.objective else state

    def _gains(self, state: Sums) -> Floats:
        """Return how far the objective falls if a row alone moves to the best other cluster."""
        rows, square = np.arange(len(state.labels)), self.space.squares
        size = state.counts[state.labels]
        share = state.within / np.maximum(state.counts, 1)
        gain = (state.within + 2 * state.sums + square[:, None]) / (state.counts + 1) - share
        gain[rows, state.labels] = -np.inf
        own = state.within[state.labels] - 2 * state.sums[rows, state.labels] + square
        leaving = own / np.maximum(size - 1, 1) - share[state.labels]
        leaving[size == 1] = -np.inf
        return np.asarray(gain.max(axis=1) + leaving)


def one_hot(labels: NDArray[np.integer], n_clusters: int) -> sparse.csr_array:
    """Return the membership of rows in clusters as a sparse matrix; a label of -1 is in none."""
    is_member = labels >= 0
    indices, indptr = labels[is_member], np.append(0, np.cumsum(is_member))
    return sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=(len(labels), n_clusters))


def start_in_kernel(
    space: MatrixSpace, linked: LinkedRows, n_clusters: int, order: Indices, rng: np.random.RandomState
) -> Start:
    """Start from must-link components far apart, then rows as by k-means++; draws labels.

    `order` lists the rows in an order that does not depend on how they are numbered.
    """
    seeds = _component_seeds(space, linked, n_clusters)
    n_seeded = int(seeds.max()) + 1
    to_seeds = _distances_to_means(space, seeds, n_seeded)

    def distances_to(rows: Indices) -> Floats:
        products = space.columns(rows)
        return np.maximum(space.squares[:, None] - 2 * products + space.squares[rows], 0.0)

    def labels() -> Labels:
        closest = to_seeds.min(axis=1) if n_seeded else None
        n_drawn, weight = n_clusters - n_seeded, np.ones(space.n_rows)
        drawn = draw_far_rows(distances_to, weight, order, closest, n_drawn, n_clusters, rng)
        found = np.column_stack([to_seeds, distances_to(drawn)]).argmin(axis=1)
        return np.where(seeds >= 0, seeds, found).astype(np.int32)

    is_random = n_seeded < n_clusters
    return Start(labels, is_random, DEFAULT_RUNS if is_random else 1)


def _component_seeds(space: MatrixSpace, linked: LinkedRows, n_clusters: int) -> Indices:
    """Number the rows of must-link components that are far apart in the kernel's space; -1 is every other row.

    Components are chosen as in :func:`mustlink.kmeans._seeding.component_seeds`.
    """
    indptr, grouped, _ = linked.groups
    if grouped.size == 0:
        return np.full(space.n_rows, -1, dtype=np.intp)
    member, size = linked.rows[grouped], np.diff(indptr).astype(np.float64)
    groups = np.split(member, indptr[1:-1])
    squares = space.mean_squares(groups)

    def distances_to(rows: Indices) -> Floats:
        """Return the distance of the mean of every component to the mean of some rows."""
        labels = np.full(space.n_rows, -1)
        labels[rows] = 0
        product = space.products(one_hot(labels, 1))[:, 0] / len(rows)
        means = np.add.reduceat(product[member], indptr[:-1]) / size
        return np.sqrt(np.maximum(squares - 2 * means + product[rows].mean(), 0.0))

    seeds = seed_farthest_first(
        linked, lambda group: distances_to(groups[group]), distances_to(np.sort(member)), size, n_clusters
    )
    apart = rows_apart(linked.given, seeds, n_clusters)
    if apart.size:
        n_seeded = int(seeds.max()) + 1
        distance = _distances_to_means(space, seeds, n_seeded)[apart].min(axis=1)
        seeds[apart[np.argmax(distance)]] = n_seeded
    return seeds


def _distances_to_means(space: MatrixSpace, seeds: Indices, n_seeded: int) -> Floats:
    """Return the squared distance of every row to the mean of each seeded cluster."""
    seeded = np.flatnonzero(seeds >= 0)
    size = np.bincount(seeds[seeded], minlength=n_seeded)
    product = space.products(one_hot(seeds, n_seeded)) / size
    square = np.bincount(seeds[seeded], product[seeded, seeds[seeded]], n_seeded) / size
    return np.maximum(space.squares[:, None] - 2 * product + square, 0.0)
