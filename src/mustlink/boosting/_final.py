"""The final step: one clustering from the codes, and the links once more, at a price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from mustlink.boosting._bases import BaseClusterer, BaseRun
from mustlink.boosting._beliefs import Anchors, Beliefs, LinkGraph, Stakes
from mustlink.boosting._coassociation import NOISE_LABEL, CoAssociation, label_names, renumber
from mustlink.boosting._coassociation_kernels import nearest_two, sum_table_rows
from mustlink.boosting._code_kmeans import (
    CodeCentres,
    CodeTable,
    assign,
    best_of_starts,
    centres_of,
    continue_from,
    start_labels,
)
from mustlink.boosting._links import LinkSet
from mustlink.boosting._rounds import Voter, count_clusters, kernel_of

__all__ = ["FinalModel", "FinalStep", "cluster_codes", "settle_links", "typical_count", "with_spaced_rows"]

Labels = NDArray[np.int64]
Floats = NDArray[np.float64]
N_STARTS = 10
# So many rows tell good starts from poor ones, and so many at a first glance.
ROWS_TO_COMPARE = 2_000
ROWS_TO_GLANCE_AT = 1_000
# A row that is nearer to one centre than to all others by more than this, in squared distance, has made up its mind.
# On twelve data sets a sixth of the rows had not, and asking all of them gave the same results.
SURE = 0.5
# How often centres and beliefs take turns; after that hardly a row moves.
MOST_TURNS = 3


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
    anchors : Anchors or None
        The linked rows that others follow, if links were weighed against distances.
    """

    kernel: CoAssociation
    labels: Labels
    run: BaseRun | None = None
    n_components: int = 0
    scaled: bool = True
    anchors: Anchors | None = None

    @classmethod
    def of_run(cls, run: BaseRun) -> FinalModel:
        """Take the labels of one run of the base as they are."""
        kernel = CoAssociation.from_labels([run.labels], [1.0])
        return cls(kernel, kernel.codes[:, 0].astype(np.int64))

    def compact(self) -> FinalModel:
        """Number the clusters that are in use from 0."""
        names = label_names(self.labels)
        anchors = None if self.anchors is None else self.anchors.keep_clusters(names)
        return replace(self, labels=renumber(self.labels, names).astype(np.int64), anchors=anchors)

    def weigh_links(self, links: LinkSet, stakes: Stakes) -> FinalModel:
        """Weigh links against distances, and let the other rows follow; a result with noise stays as it is."""
        if stakes.price <= 0 or self.labels.max() < 1 or (self.labels < 0).any():
            return self
        rows = CodeTable.of(self.kernel)
        shown = with_spaced_rows(links, self.kernel.n_samples)
        settled, beliefs = settle_links(rows.take(shown), self.labels[shown], links.among(shown), stakes)
        labels = self.labels.copy()
        labels[shown] = settled
        linked = shown[beliefs.rows]
        centres = centres_of(rows, labels, beliefs.of_rows.shape[1])
        anchors = Anchors(self.kernel.codes[linked], self.kernel.weights / rows.length, beliefs.of_rows, centres)
        followed = follow(anchors, rows)
        followed[linked] = labels[linked]
        return replace(self, labels=followed, run=None, anchors=anchors).compact()

    def predict(self, labels_per_voter: NDArray[Any]) -> Labels:
        """Return the cluster of new rows, given their labels by each voter."""
        if self.run is not None:
            return self._predict_embedded(labels_per_voter)
        if not (self.labels >= 0).any():
            return np.full(len(labels_per_voter), NOISE_LABEL, dtype=np.int64)
        rows = CodeTable.of(self.kernel)
        codes = self.kernel.encode(labels_per_voter)
        nothing = np.zeros(len(codes))
        new = CodeTable(codes, rows.offsets, rows.column_weight, nothing, nothing, rows.length)
        if self.anchors is not None:
            return follow(self.anchors, new)
        centres = centres_of(rows, self.labels, int(self.labels.max()) + 1)
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

    def model(self, voters: Sequence[Voter], links: LinkSet | None = None, stakes: Stakes | None = None) -> FinalModel:
        """Cluster the codes of some voters; of several results on codes, links speak for those that keep them."""
        kernel = kernel_of(voters)
        n_clusters = min(self.base.n_clusters or typical_count(voters), kernel.n_samples)
        if self.kind == "codes":
            return FinalModel(kernel, cluster_codes(kernel, n_clusters, links, stakes)).compact()
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


def cluster_codes(
    kernel: CoAssociation, n_clusters: int, links: LinkSet | None = None, stakes: Stakes | None = None
) -> Labels:
    """Run k-means on the codes from the voters' own labels, the most promising ones, and keep the best.

    What is best is told by the distances and, with links, by how many of them are broken. Where there are many rows,
    the best is found on some of them and then continued on all.
    """
    rows = CodeTable.of(kernel)
    if kernel.n_samples <= ROWS_TO_COMPARE:
        cost = None if links is None or stakes is None else partial(cost_of_links, links, stakes)
        return best_of_starts(rows, n_clusters, promising_starts(rows, n_clusters), 300, cost)[0]
    if links is None or stakes is None:
        chosen, cost = spaced_rows(kernel.n_samples, ROWS_TO_COMPARE), None
    else:
        chosen = with_spaced_rows(links, kernel.n_samples)
        # The chosen rows stand for all of them; links speak only for themselves.
        stakes = replace(stakes, price=stakes.price * len(chosen) / kernel.n_samples)
        cost = partial(cost_of_links, links.among(chosen), stakes)
    some = rows.take(chosen)
    labels, _ = best_of_starts(some, n_clusters, promising_starts(some, n_clusters), 300, cost)
    return continue_from(rows, centres_of(some, labels, n_clusters), max_iter=300)


def spaced_rows(n_samples: int, most: int) -> NDArray[np.int64]:
    """Choose rows at even distances, at most so many."""
    return np.linspace(0, n_samples - 1, min(n_samples, most)).astype(np.int64)


def with_spaced_rows(links: LinkSet, n_samples: int) -> NDArray[np.int64]:
    """Choose the linked rows and some others, ascending."""
    return np.union1d(links.rows, spaced_rows(n_samples, ROWS_TO_COMPARE))


def cost_of_links(links: LinkSet, stakes: Stakes, labels: Labels) -> float:
    """Return what the broken links of a clustering cost, on the scale of squared distances."""
    return stakes.price * stakes.log_odds * links.broken_weight(labels)


def promising_starts(rows: CodeTable, n_clusters: int) -> list[NDArray[Any]]:
    """Return the voters' labels whose centres are nearest to the rows."""
    some = rows.take(spaced_rows(len(rows.codes), ROWS_TO_GLANCE_AT))
    promise = [one_step_objective(some, column, n_clusters) for column in some.codes.T]
    return [rows.codes[:, t] for t in np.argsort(promise, kind="stable")[:N_STARTS]]


def one_step_objective(rows: CodeTable, start: NDArray[Any], n_clusters: int) -> float:
    """Return the squared distances to the nearest of a start's centres."""
    labels = start_labels(start, len(rows.codes), n_clusters, rows.row_weight)
    centres = centres_of(rows, labels, n_clusters)
    if not (centres.masses > 0).any():
        return np.inf
    return float(assign(rows, centres, labels)[1].sum())


def settle_links(rows: CodeTable, labels: Labels, links: LinkSet, stakes: Stakes) -> tuple[Labels, Beliefs]:
    """Continue k-means on the codes, but give every linked row the cluster that it most likely is in.

    What is likeliest for each row by itself may break a link that two rows could keep together. Where links seem right,
    such rows are moved.

    Returns
    -------
    labels : ndarray of shape (n_rows,)
        The cluster of every row; those in no link go to the nearest centre.
    beliefs : Beliefs
        How likely linked rows are in each cluster, and links are right.
    """
    n_clusters = int(labels.max()) + 1
    graph = LinkGraph.of(links, stakes.log_odds)
    linked = rows.take(graph.rows)
    for _ in range(MOST_TURNS):
        centres = centres_of(rows, labels, n_clusters)
        distance = code_distances(linked, centres)
        own = labels[graph.rows]
        distance[np.arange(len(own)), own] -= 2 * linked.noise_weight / np.maximum(centres.masses[own], 1)
        beliefs = graph.propagate(distance, stakes.price)
        moved, _ = assign(rows, centres, labels)
        moved[graph.rows] = np.argmax(beliefs.of_rows, axis=1)
        unchanged = np.array_equal(moved, labels)
        labels = moved
        if unchanged:
            break
    if stakes.links_seem_right:
        labels[graph.rows] = graph.mend(labels[graph.rows], distance, stakes.price)
    return labels, beliefs


def follow(anchors: Anchors, rows: CodeTable) -> Labels:
    """Return the clusters of rows in no link: the nearest centre or, if two are about as near, what anchors say."""
    centres = anchors.centres
    found, margin = nearest_two(rows.codes, rows.offsets, centres.table, centres.lengths)
    unsure = np.flatnonzero(margin < SURE)
    asking = rows.take(unsure)
    found[unsure] = anchors.place(asking.codes, code_distances(asking, centres))
    return np.asarray(found)


def code_distances(rows: CodeTable, centres: CodeCentres) -> Floats:
    """Return the squared distances to the centres, less the rows' own squared length."""
    return np.asarray(centres.lengths - 2 * sum_table_rows(rows.codes, rows.offsets, centres.table))
