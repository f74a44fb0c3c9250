"""Kernel k-means on a kernel and links: passes over all rows at once, moves of single rows, and where it starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from mustlink._types import Floats
from mustlink.constraints import Constraints
from mustlink.kmeans._kernel_space import FeatureSpace, MatrixSpace, Rows, Space
from mustlink.kmeans._kernelkmeans_kernels import move_in_features, move_in_matrix
from mustlink.kmeans._seeding import _draw, _rows_apart_from_all

Labels = NDArray[np.int32]

MOST_DENSE = 400
"""Up to so many linked rows the eigenvalues of the links are reckoned all at once."""


MOST_SWEEPS = 50
"""How often rows move one at a time before all sums are reckoned anew."""


@dataclass
class State:
    """Labels with the sizes of the clusters, the sums of K = S + W over rows and clusters, and the objective."""

    labels: Labels
    counts: NDArray[np.int64]
    sums: Floats
    within: Floats
    objective: float


@dataclass
class KernelRun:
    """What a run found."""

    labels: Labels
    n_iter: int
    objective: list[float] = field(default_factory=list)


def link_matrix(links: Constraints, price: float, n_rows: int) -> sparse.csr_array:
    """Return W: plus the price at must-links and minus the price at cannot-links, times their weights."""
    a, b = np.concatenate([links.must_link, links.cannot_link]).T
    value = price * np.concatenate([links.must_link_weight, -links.cannot_link_weight])
    ends = (np.concatenate([a, b]), np.concatenate([b, a]))
    return sparse.csr_array((np.concatenate([value, value]), ends), shape=(n_rows, n_rows))


def least_shift(W: sparse.csr_array) -> float:
    """Return how much must be added to the diagonal of W so that it has no negative eigenvalue."""
    linked = np.flatnonzero(np.diff(W.indptr))
    if linked.size == 0:
        return 0.0
    W = W[linked][:, linked]
    if len(linked) <= MOST_DENSE:
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
    """Kernel k-means on S + W.

    Parameters
    ----------
    space : MatrixSpace or FeatureSpace
        The kernel S.
    W : csr_array of shape (n_rows, n_rows)
        The links.
    n_clusters : int
        The number of clusters.
    """

    def __init__(self, space: MatrixSpace | FeatureSpace, W: sparse.csr_array, n_clusters: int) -> None:
        self.space, self.W, self.n_clusters = space, W, n_clusters
        self.shift = least_shift(W)
        self._links = (W.indptr.astype(np.int64), W.indices.astype(np.int64), W.data)
        self._trace = float(space.squares.sum())
        # What rounding can do to a difference of kernel values.
        self._noise = 64 * np.finfo(space.dtype).eps * float(np.abs(space.squares).max(initial=0.0))

    def run(
        self, labels: Labels, *, max_iter: int, local_search: bool, report: Callable[[int, float], None]
    ) -> KernelRun:
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
            # A kernel that is not positive semidefinite can make a pass go wrong; single moves cannot.
            if following.objective >= state.objective - self._noise:
                if not local_search:
                    break
                following = self._after_moves(state)
                if following is state:
                    break
            state = following
            objective.append(state.objective)
            report(n_iter, state.objective)
        return KernelRun(state.labels, n_iter, objective)

    def _state(self, labels: Labels) -> State:
        """Reckon all sums for some labels."""
        members = one_hot(labels, self.n_clusters)
        counts = np.bincount(labels, minlength=self.n_clusters)
        sums = self.space.products(members) + (self.W @ members).toarray()
        within = np.bincount(labels, sums[np.arange(len(labels)), labels], self.n_clusters).astype(np.float64)
        return State(labels, counts, sums, within, self._objective(within, counts))

    def _objective(self, within: Floats, counts: NDArray[np.int64]) -> float:
        """Return the objective; an empty cluster counts the shift, or leaving it empty would seem a gain."""
        filled = counts > 0
        return float(self._trace - (within[filled] / counts[filled]).sum() + self.shift * (~filled).sum())

    def _nearest(self, state: State) -> Labels:
        """Return the cluster whose mean is nearest to each row in the space of S + W + shift."""
        size = np.maximum(state.counts, 1)
        distance = (state.within / size + self.shift) / size - 2 * state.sums / size
        rows = np.arange(len(state.labels))
        distance[rows, state.labels] -= 2 * self.shift / size[state.labels]
        distance[:, state.counts == 0] = np.inf
        return distance.argmin(axis=1).astype(np.int32)

    def _filled(self, state: State) -> State:
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

    def _after_moves(self, state: State) -> State:
        """Let rows move one at a time, those that gain most first; return the same state if none does."""
        moving = State(state.labels.copy(), state.counts.copy(), state.sums.copy(), state.within.copy(), 0.0)
        for _ in range(MOST_SWEEPS):
            gain = self._gains(moving)
            movers = np.flatnonzero(gain > self._noise)
            if movers.size == 0:
                break
            order = movers[np.argsort(-gain[movers], kind="stable")]
            shared = (self.space.squares, *self._links, order, self._noise, moving.labels, moving.counts)
            if isinstance(self.space, MatrixSpace):
                move_in_matrix(self.space.matrix, *shared, moving.sums, moving.within)
                continue
            members = one_hot(moving.labels, self.n_clusters)
            cluster_sums = np.ascontiguousarray(self.space.sums(members).T)
            link_sums = (self.W @ members).toarray()
            move_in_features(self.space.features, *shared, cluster_sums, link_sums, moving.within)
            # Here the sums of the rows are not kept up to date, so that who gains is not known any more.
            break
        # Reckoned anew, so that rounding does not add up from move to move.
        moved = self._state(moving.labels)
        return moved if moved.objective < state.objective else state

    def _gains(self, state: State) -> Floats:
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
    """Return the membership of rows in clusters as a sparse table; a label of -1 is in none."""
    rows = np.flatnonzero(labels >= 0)
    return sparse.csr_array((np.ones(len(rows)), (rows, labels[rows])), shape=(len(labels), n_clusters))


class KernelStart:
    """Labels to start from: means of must-link neighbourhoods far apart, then further rows as by k-means++.

    Parameters
    ----------
    space : Space
        The kernel.
    links : Constraints
        The links whose neighbourhoods are used; none for k-means++ alone.
    n_clusters : int
        The number of clusters.
    order : ndarray of shape (n_rows,)
        The rows in an order that does not depend on how they are numbered.
    rng : RandomState
        Where chance comes from.
    """

    def __init__(
        self, space: Space, links: Constraints, n_clusters: int, order: Rows, rng: np.random.RandomState
    ) -> None:
        self._space, self._n_clusters, self._order, self._rng = space, n_clusters, order, rng
        self.seeds = self._neighbourhoods(links)
        n_seeded = int(self.seeds.max()) + 1
        self._distances = self._from_means(self.seeds, n_seeded)
        self.is_random = n_seeded < n_clusters

    def labels(self) -> Labels:
        """Return the labels of rows that go to the nearest of the starting centres."""
        distances = self._distances
        n_trials = 2 + int(np.log(self._n_clusters))
        while distances.shape[1] < self._n_clusters:
            if distances.shape[1] == 0:
                drawn = _draw(np.ones(self._space.n_rows), self._order, 1, self._rng)
                distances = self._from_rows(drawn)
                continue
            closest = distances.min(axis=1)
            candidates = self._from_rows(_draw(closest, self._order, n_trials, self._rng))
            best = np.minimum(closest[:, None], candidates).sum(axis=0).argmin()
            distances = np.column_stack([distances, candidates[:, best]])
        labels = distances.argmin(axis=1).astype(np.int32)
        labels[self.seeds >= 0] = self.seeds[self.seeds >= 0]
        return labels

    def _neighbourhoods(self, links: Constraints) -> Rows:
        """Number the rows of must-link components that are far apart, and -1 for every other row.

        The traversal begins with the largest component and goes on with the one for which the size times the distance
        to those taken is largest. Where all are taken and a cluster is left, a row cannot-linked to each of them is
        added, if there is one.
        """
        seeds = np.full(self._space.n_rows, -1, dtype=np.intp)
        component = links.components(self._space.n_rows)
        size = np.bincount(component)
        numbers = np.flatnonzero(size > 1)
        if numbers.size == 0:
            return seeds
        by_component = np.argsort(component, kind="stable")
        groups = [by_component[start:stop] for start, stop in _ranges(size)[numbers]]
        for place, chosen in enumerate(self._farthest_first(groups, size[numbers].astype(np.float64))):
            seeds[groups[chosen]] = place
        n_groups = int(seeds.max()) + 1
        if n_groups < self._n_clusters:
            apart = _rows_apart_from_all(links, seeds, n_groups)
            if apart.size:
                distance = self._from_means(seeds, n_groups)[apart].min(axis=1)
                seeds[apart[np.argmax(distance)]] = n_groups
        return seeds

    def _farthest_first(self, groups: list[Rows], mass: Floats) -> list[int]:
        """Choose groups of rows by a farthest-first traversal of their means."""
        squares = self._space.mean_squares(groups)
        member = np.concatenate(groups)
        ends = np.cumsum([len(rows) for rows in groups])[:-1]
        begin = np.concatenate([[0], ends])

        def distance_to(rows: Rows) -> Floats:
            """Return the distance of every group's mean to the mean of some rows."""
            labels = np.full(self._space.n_rows, -1)
            labels[rows] = 0
            product = self._space.products(one_hot(labels, 1))[:, 0] / len(rows)
            square = product[rows].mean()
            means = np.add.reduceat(product[member], begin) / mass
            return np.sqrt(np.maximum(squares - 2 * means + square, 0.0))

        outlying = distance_to(np.sort(member))
        chosen = [int(np.lexsort((outlying, mass))[-1])]
        nearest = np.full(len(groups), np.inf)
        while len(chosen) < min(self._n_clusters, len(groups)):
            np.minimum(nearest, distance_to(groups[chosen[-1]]), out=nearest)
            reach = mass * nearest
            reach[chosen] = -1.0
            chosen.append(int(np.argmax(reach)))
        return chosen

    def _from_means(self, seeds: Rows, n_groups: int) -> Floats:
        """Return the squared distance of every row to the mean of each seeded group."""
        if n_groups == 0:
            return np.empty((self._space.n_rows, 0))
        seeded = np.flatnonzero(seeds >= 0)
        size = np.bincount(seeds[seeded], minlength=n_groups)
        product = self._space.products(one_hot(seeds, n_groups)) / size
        square = np.bincount(seeds[seeded], product[seeded, seeds[seeded]], n_groups) / size
        return np.maximum(self._space.squares[:, None] - 2 * product + square, 0.0)

    def _from_rows(self, rows: Rows) -> Floats:
        """Return the squared distance of every row to each of some rows, which may repeat."""
        product = self._space.columns(rows)
        return np.maximum(self._space.squares[:, None] - 2 * product + self._space.squares[rows], 0.0)


def _ranges(size: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return where each of several consecutive stretches begins and ends."""
    ends = np.cumsum(size)
    return np.column_stack([ends - size, ends])
