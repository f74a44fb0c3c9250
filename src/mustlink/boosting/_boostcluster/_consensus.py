"""One clustering from many: k-means on the codes of all runs, or the base clusterer on their eigenvectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.neighbors import NearestNeighbors

from mustlink._types import Array, Ints
from mustlink.boosting._bases import BaseClusterer, BaseRun
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._boostcluster._subsample import MAX_ROWS_COMPARED, draw_places, subsample_with_linked
from mustlink.boosting._coassociation import NOISE_LABEL, CoAssociation, label_names, renumber
from mustlink.boosting._code_kmeans import (
    CodeCenters,
    CodeMasses,
    assign,
    best_of_starts,
    compute_centers,
    continue_from,
    start_labels,
    take_rows,
)

if TYPE_CHECKING:
    from mustlink.boosting._blocked._code_passes import CodeBlocks

__all__ = [
    "Consensus",
    "count_clusters",
    "find_consensus",
    "kmeans_on_codes",
    "promising_starts",
    "typical_count",
]

N_STARTS = 10
# So many rows are enough to rank starts roughly; the best of them are then compared on more.
MAX_ROWS_RANKED = 1_000


@dataclass(frozen=True)
class Consensus:
    """The final clusters, and how new rows are assigned to them."""

    kernel: CoAssociation
    labels: Ints  # numbered from 0; -1 is noise
    # If the labels are from the base: its run on eigenvectors of the kernel, their number, and whether they were
    # multiplied by the roots of their eigenvalues.
    run: BaseRun | None = None
    n_components: int = 0
    scaled: bool = True
    # The centers of the clusters, once the rows they were computed from are left out, or if these are not all rows.
    centers: CodeCenters | None = None
    # If the kernel has some rows of a table in blocks only: the masses of the others, and the codes of all rows.
    others: CodeMasses | None = None
    blocks: CodeBlocks | None = None

    @classmethod
    def of_run(cls, run: BaseRun) -> Self:
        """Take the labels of one run of the base as they are."""
        kernel = combine_runs([replace(run, weight=1.0)])
        return cls(kernel, kernel.codes[:, 0].astype(np.int64))

    @property
    def n_clusters(self) -> int:
        """The number of clusters; of rows in blocks, those without a row in the kernel are included."""
        return int(self.labels.max()) + 1 if self.centers is None else len(self.centers.lengths)

    @property
    def n_rows(self) -> int:
        """The number of rows, those in blocks included."""
        return self.kernel.n_samples + (0 if self.others is None else round(self.others.total))

    def compact(self) -> Self:
        """Number the clusters in use from 0."""
        return replace(self, labels=renumber(self.labels, label_names(self.labels)).astype(np.int64))

    def numbered(self, numbers: Ints) -> Self:
        """Give every cluster another of the numbers in use."""
        # Noise is -1, which finds the last entry.
        return replace(self, labels=np.append(numbers, NOISE_LABEL)[self.labels])

    def without_rows(self) -> Self:
        """Return only what is needed to assign new rows; eigenvectors need all rows."""
        if self.run is not None:
            return self.without_blocks()
        # The numbers in use are as good as the labels: which there are, and whether there is noise.
        numbers = np.unique(self.labels)
        centers = self.code_centers() if numbers[-1] >= 0 else None
        bare = self.without_blocks()
        return replace(bare, kernel=self.kernel.without_rows(), labels=numbers, centers=centers)

    def without_blocks(self) -> Self:
        """Return the consensus without the codes of rows in blocks."""
        return self if self.blocks is None else replace(self, others=None, blocks=None)

    def label_blocks(self, blocks: CodeBlocks) -> Any:
        """Return the labels of all rows of a table in blocks, in the form of the rows."""
        return blocks.label(assign_codes, self.without_rows(), labels=self.labels)

    def predict(self, labels_per_run: Array) -> Ints:
        """Return the cluster of new rows, given their labels in each run."""
        if self.run is not None:
            return self._predict_embedded(labels_per_run, self.run)
        return self.assign_codes(self.kernel.with_codes(self.kernel.encode(labels_per_run)))

    def assign_codes(self, new: CoAssociation) -> Ints:
        """Return the cluster of new rows, given their codes."""
        if self.run is not None:
            names = [np.append(names, NOISE_LABEL) for names in new.names]
            labels = [names[t][new.codes[:, t]] for t in range(new.n_rounds)]
            return self._predict_embedded(np.column_stack(labels), self.run)
        if not (self.labels >= 0).any():
            return np.full(new.n_samples, NOISE_LABEL, dtype=np.int64)
        return self._assign(new)

    def _assign(self, new: CoAssociation) -> Ints:
        """Assign the codes of new rows to the nearest center."""
        found, _ = assign(new, self.code_centers(), np.full(new.n_samples, -1, dtype=np.int64))
        if (self.labels < 0).any():
            found[(new.codes < 0).all(axis=1)] = NOISE_LABEL
        return found

    def code_centers(self) -> CodeCenters:
        """Return the centers of the clusters in the space of codes."""
        return self.centers or compute_centers(self.kernel, self.labels, self.n_clusters)

    def _predict_embedded(self, labels_per_run: Array, run: BaseRun) -> Ints:
        """Embed new rows; the base predicts their clusters, or they get that of the nearest row."""
        new = self.kernel.transform(labels_per_run, self.n_components)
        table = self.kernel.embed(self.n_components)
        if not self.scaled:
            length = np.sqrt((table**2).sum(axis=0))
            new, table = new / length, table / length
        found = np.full(len(new), NOISE_LABEL, dtype=np.int64)
        unplaced = np.ones(len(new), dtype=np.bool_)
        if run.model is not None:
            predicted = np.asarray(run.model.predict(new))
            found[:] = renumber(predicted, label_names(run.labels))
            # Of centers at one place the base may predict one without rows.
            unplaced = (found == NOISE_LABEL) & (predicted != NOISE_LABEL)
        if unplaced.any():
            neighbors = NearestNeighbors(n_neighbors=1).fit(table)
            found[unplaced] = self.labels[neighbors.kneighbors(new[unplaced], return_distance=False)[:, 0]]
        return found


def assign_codes(new: CoAssociation, consensus: Consensus) -> Ints:
    """Return the clusters that a consensus gives to the codes of new rows."""
    return consensus.assign_codes(new)


def find_consensus(
    voters: Sequence[BaseRun], base: BaseClusterer, kind: str, n_components: int | None, seed: int
) -> Consensus:
    """Cluster the co-association of some runs.

    "codes" is k-means on the codes; "eigenvectors" the base on eigenvectors times the roots of their eigenvalues;
    "base" the base on the eigenvectors as they are, which is the paper's. With `n_components`, s of the paper, s + 1
    eigenvectors are taken; None takes as many as clusters.
    """
    if kind == "codes":
        return kmeans_on_codes(voters, base)
    kernel = combine_runs(voters)
    count = n_components + 1 if n_components is not None else min(typical_count(voters, base), kernel.n_samples)
    scaled = kind == "eigenvectors"
    table = kernel.embed(count) if scaled else kernel.eigenvectors(count)[1]
    run = base.run(table, seed, "in the final step")
    return Consensus(kernel, run.labels.astype(np.int64), run, count, scaled).compact()


def kmeans_on_codes(
    voters: Sequence[BaseRun],
    base: BaseClusterer,
    links: LinkSet | None = None,
    penalty: float = 0.0,
    n_rows: int | None = None,
) -> Consensus:
    """Run k-means on the codes from the labels of the most promising runs, and keep the best result.

    The best has the lowest sum of squared distances and, with links, of `penalty` for each unit of weight that is
    broken. With many rows the best is found on a subsample and then continued on all. `n_rows` is the number of rows of
    the table, if the runs label only some of them.
    """
    kernel = some = combine_runs(voters)
    n_samples = kernel.n_samples
    n_clusters = min(typical_count(voters, base), n_samples)
    if n_samples > MAX_ROWS_COMPARED:
        chosen = draw_places(n_samples, MAX_ROWS_COMPARED) if links is None else subsample_with_linked(links, n_samples)
        some = take_rows(kernel, chosen)
        links = None if links is None else links.among(chosen)
    if some is not kernel or n_rows is not None:
        # The subsample stands for all rows, but the links of all rows are in it.
        penalty = penalty * some.n_samples / (n_rows or n_samples)

    def cost_of_links(labels: Ints) -> float:
        return 0.0 if links is None else penalty * links.broken_weight(labels)

    labels, _ = best_of_starts(some, n_clusters, promising_starts(some, n_clusters), 300, cost_of_links)
    if some is not kernel:
        labels = continue_from(kernel, compute_centers(some, labels, n_clusters), max_iter=300)
    return Consensus(kernel, labels).compact()


def combine_runs(voters: Sequence[BaseRun]) -> CoAssociation:
    """Return the co-association of some runs; labels that only rows elsewhere have are numbered, too."""
    weights = [run.weight for run in voters]
    n_more = max(run.n_labels for run in voters)
    if not n_more:
        return CoAssociation.from_labels([run.labels for run in voters], weights)
    # For a while there are more rows, which have every label.
    kernel = CoAssociation.from_labels([with_every_label(run, n_more) for run in voters], weights)
    return kernel.with_codes(kernel.codes[:-n_more].copy())


def with_every_label(run: BaseRun, n_more: int) -> Array:
    """Return the labels of a run, and of more rows that have all labels of its model."""
    if not run.n_labels:
        return np.concatenate([run.labels, np.repeat(run.labels[:1], n_more)])
    return np.concatenate([run.labels, np.minimum(np.arange(n_more), run.n_labels - 1)])


def count_clusters(labels: Array) -> int:
    """Return the number of clusters, without noise."""
    return len(label_names(labels))


def typical_count(voters: Sequence[BaseRun], base: BaseClusterer) -> int:
    """Return the base's number of clusters or, if it has none, the weighted median of those of the runs."""
    if base.n_clusters:
        return base.n_clusters
    counts = np.array([count_clusters(run.labels) for run in voters])
    order = np.argsort(counts, kind="stable")
    total = np.cumsum(np.array([run.weight for run in voters])[order])
    return max(1, int(counts[order][np.searchsorted(total, total[-1] / 2)]))


def promising_starts(rows: CoAssociation, n_clusters: int) -> list[Array]:
    """Return the labels of the runs with the lowest sum of squared distances to the nearest of their centers."""
    some = take_rows(rows, draw_places(rows.n_samples, MAX_ROWS_RANKED))
    objective = np.full(rows.n_rounds, np.inf)
    for t in range(rows.n_rounds):
        labels = start_labels(some, some.codes[:, t], n_clusters)
        centers = compute_centers(some, labels, n_clusters)
        if (centers.masses > 0).any():
            objective[t] = assign(some, centers, labels)[1].sum()
    return [rows.codes[:, t] for t in np.argsort(objective, kind="stable")[:N_STARTS]]
