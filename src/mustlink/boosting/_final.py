"""The final step: one clustering from the codes, and the links once more, at a price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.neighbors import NearestNeighbors

from mustlink.boosting._bases import BaseClusterer, BaseRun
from mustlink.boosting._coassociation import NOISE_LABEL, CoAssociation, label_names, renumber
from mustlink.boosting._coassociation_kernels import sum_table_rows
from mustlink.boosting._code_kmeans import CodeTable, assign, best_of_starts, centres_of, continue_from, start_labels
from mustlink.boosting._final_kernels import sweep_blocks, sweep_rows
from mustlink.boosting._links import LinkSet
from mustlink.boosting._rounds import Voter, count_clusters, kernel_of

__all__ = ["FinalModel", "FinalStep", "cluster_codes", "penalise", "typical_count"]

Labels = NDArray[np.int64]
Floats = NDArray[np.float64]
N_STARTS = 10
# So many rows tell good starts from poor ones.
ROWS_TO_COMPARE = 2_000
MOST_SWEEPS = 100


@dataclass(frozen=True)
class FinalModel:
    """The result, and how new rows find their cluster in it.

    Attributes
    ----------
    kernel : CoAssociation
        The codes of the voters.
    labels : ndarray of shape (n_samples,)
        The cluster of every row, numbered from 0; -1 is noise.
    run : BaseRun or None
        The run of the base on eigenvectors of the kernel, if that gave the labels.
    n_components : int
        The number of those eigenvectors.
    scaled : bool
        Whether they were multiplied with the roots of their eigenvalues.
    """

    kernel: CoAssociation
    labels: Labels
    run: BaseRun | None = None
    n_components: int = 0
    scaled: bool = True

    @classmethod
    def of_run(cls, run: BaseRun) -> FinalModel:
        """Take the labels of one run of the base as they are."""
        kernel = CoAssociation.from_labels([run.labels], [1.0])
        return cls(kernel, kernel.codes[:, 0].astype(np.int64))

    def compact(self) -> FinalModel:
        """Number the clusters that are in use from 0."""
        return replace(self, labels=renumber(self.labels, label_names(self.labels)).astype(np.int64))

    def priced(self, links: LinkSet, price: float) -> FinalModel:
        """Continue with a price on every broken link; a result with noise stays as it is."""
        if (self.labels < 0).any():
            return self
        return replace(self, labels=penalise(self.kernel, self.labels, links, price), run=None).compact()

    def predict(self, labels_per_voter: NDArray[Any]) -> Labels:
        """Return the cluster of new rows, given their labels by each voter."""
        if self.run is not None:
            return self._predict_embedded(labels_per_voter)
        if not (self.labels >= 0).any():
            return np.full(len(labels_per_voter), NOISE_LABEL, dtype=np.int64)
        rows = CodeTable.of(self.kernel)
        centres = centres_of(rows, self.labels, int(self.labels.max()) + 1)
        codes = self.kernel.encode(labels_per_voter)
        nothing = np.zeros(len(codes))
        new = CodeTable(codes, rows.offsets, rows.column_weight, nothing, nothing, rows.length)
        found, _ = assign(new, centres, np.full(len(codes), -1, dtype=np.int64))
        if (self.labels < 0).any():
            found[(codes < 0).all(axis=1)] = NOISE_LABEL
        return found

    def _predict_embedded(self, labels_per_voter: NDArray[Any]) -> Labels:
        """Embed new rows and ask the base, or take the cluster of the nearest row."""
        assert self.run is not None
        new = self.kernel.transform(labels_per_voter, self.n_components)
        table = self.kernel.embed(self.n_components)
        if not self.scaled:
            length = np.sqrt((table**2).sum(axis=0))
            new, table = new / length, table / length
        if self.run.model is None:
            nearest = NearestNeighbors(n_neighbors=1).fit(table).kneighbors(new, return_distance=False)[:, 0]
            return self.labels[nearest]
        names = label_names(self.run.labels)
        return renumber(np.asarray(self.run.model.predict(new)), names).astype(np.int64)


@dataclass(frozen=True)
class FinalStep:
    """How the codes become one clustering.

    Attributes
    ----------
    kind : str
        "codes": k-means on them; "eigenvectors": the base on eigenvectors times the roots of their eigenvalues;
        "base": the base on the eigenvectors as they are, which is the paper's.
    base : BaseClusterer
        The base.
    n_components : int or None
        s of the paper: s + 1 eigenvectors are taken; as many as clusters if None.
    seed : int
        For the base.
    """

    kind: str
    base: BaseClusterer
    n_components: int | None
    seed: int

    def model(self, voters: Sequence[Voter]) -> FinalModel:
        """Cluster the codes of some voters."""
        kernel = kernel_of(voters)
        n_clusters = min(self.base.n_clusters or typical_count(voters), kernel.n_samples)
        if self.kind == "codes":
            return FinalModel(kernel, cluster_codes(kernel, n_clusters)).compact()
        count = n_clusters if self.n_components is None else self.n_components + 1
        scaled = self.kind == "eigenvectors"
        table = kernel.embed(count) if scaled else kernel.eigenvectors(count)[1]
        run = self.base.run(table, self.seed, "in the final step")
        return FinalModel(kernel, run.labels.astype(np.int64), run, count, scaled).compact()


def typical_count(voters: Sequence[Voter]) -> int:
    """Return the weighted median of the voters' numbers of clusters, at least 1."""
    counts = np.array([count_clusters(voter.run.labels) for voter in voters])
    order = np.argsort(counts, kind="stable")
    share = np.cumsum(np.array([voter.weight for voter in voters])[order])
    return max(1, int(counts[order][np.searchsorted(share, share[-1] / 2)]))


def cluster_codes(kernel: CoAssociation, n_clusters: int) -> Labels:
    """Run k-means on the codes from the voters' own labels, the most promising ones, and keep the best.

    Where there are many rows, the best is found on some of them and then continued on all.
    """
    rows = CodeTable.of(kernel)
    if kernel.n_samples <= ROWS_TO_COMPARE:
        return best_of_starts(rows, n_clusters, promising_starts(rows, n_clusters), max_iter=300)[0]
    some = rows.take(np.linspace(0, kernel.n_samples - 1, ROWS_TO_COMPARE).astype(np.intp))
    labels, _ = best_of_starts(some, n_clusters, promising_starts(some, n_clusters), max_iter=300)
    centres = centres_of(some, labels, n_clusters)
    return continue_from(rows, centres, max_iter=300)


def promising_starts(rows: CodeTable, n_clusters: int) -> list[NDArray[Any]]:
    """Return the voters' labels whose centres are nearest to the rows."""
    promise = [one_step_objective(rows, column, n_clusters) for column in rows.codes.T]
    return [rows.codes[:, t] for t in np.argsort(promise, kind="stable")[:N_STARTS]]


def one_step_objective(rows: CodeTable, start: NDArray[Any], n_clusters: int) -> float:
    """Return the squared distances to the nearest of a start's centres."""
    labels = start_labels(start, len(rows.codes), n_clusters, rows.row_weight)
    centres = centres_of(rows, labels, n_clusters)
    if not (centres.masses > 0).any():
        return np.inf
    return float(assign(rows, centres, labels)[1].sum())


def penalise(kernel: CoAssociation, labels: Labels, links: LinkSet, price: float, max_iter: int = 50) -> Labels:
    """Continue k-means on the codes with a price on every broken link, by iterated conditional modes.

    Linked rows move one by one, and must-link components as a whole, which single rows of them could never do. No step
    raises the objective, so that it comes to an end.
    """
    n_clusters = int(labels.max()) + 1
    if price <= 0 or n_clusters < 2:
        return labels
    rows = CodeTable.of(kernel)
    linked_rows, graph = link_graph(links, price)
    linked = rows.take(linked_rows)
    order = np.searchsorted(linked_rows, links.rows)
    blocks = must_link_blocks(np.searchsorted(linked_rows, links.pairs[links.is_must]), order)
    for _ in range(max_iter):
        centres = centres_of(rows, labels, n_clusters)
        moved, _ = assign(rows, centres, labels)
        own = labels[linked_rows]
        distance = centres.lengths - 2 * sum_table_rows(linked.codes, linked.offsets, centres.table)
        distance[np.arange(len(own)), own] -= 2 * linked.noise_weight / np.maximum(centres.masses[own], 1)
        for _ in range(MOST_SWEEPS):
            n_moves = sweep_rows(order, distance, *graph, own) + sweep_blocks(*blocks, distance, *graph, own)
            if n_moves == 0:
                break
        moved[linked_rows] = own
        if np.array_equal(moved, labels):
            break
        labels = moved
    return labels


def must_link_blocks(pairs: NDArray[Any], order: NDArray[np.intp]) -> tuple[NDArray[np.int64], ...]:
    """Return the must-link components of several rows as (starts, rows, block of each row), in a given order."""
    joined = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(order), len(order)))
    component = connected_components(joined, directed=False)[1]
    in_order = component[order]
    size = np.bincount(component)
    _, first = np.unique(in_order, return_index=True)
    # Components in the order of their first rows; single rows stand in none.
    number = np.full(len(size), -1)
    several = [c for c in in_order[np.sort(first)] if size[c] > 1]
    number[several] = np.arange(len(several))
    block = number[component]
    rows = order[block[order] >= 0]
    rows = rows[np.argsort(block[rows], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(size[several])])
    return starts.astype(np.int64), rows.astype(np.int64), block.astype(np.int64)


def link_graph(links: LinkSet, price: float) -> tuple[NDArray[np.int64], tuple[NDArray[Any], ...]]:
    """Return the linked rows, and the links of each as (indptr, neighbour, price, is_must) by their places there."""
    linked_rows, place = np.unique(links.pairs, return_inverse=True)
    place = place.reshape(links.pairs.shape)
    start = np.concatenate([place[:, 0], place[:, 1]])
    end = np.concatenate([place[:, 1], place[:, 0]])
    order = np.argsort(start, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(start, minlength=len(linked_rows)))])
    cost = np.tile(price * links.weight, 2)[order]
    return linked_rows, (indptr, end[order], cost, np.tile(links.is_must, 2)[order])
