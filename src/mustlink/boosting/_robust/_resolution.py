"""Links against distances: the most probable clusters of linked rows, and rows that follow them.

Every linked row has evidence for each cluster, its distance to the centers; every link has log-odds of being correct.
Belief propagation computes the probability of each cluster and of each link. Below, `log_odds` are those of a link of
weight one before anything is known of its rows, and `penalty` is the squared distance, between codes of length one,
that is worth a unit of log-odds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from mustlink._types import Array, Floats, Ints
from mustlink.boosting._bases import BaseClusterer, BaseRun, labels_of_each
from mustlink.boosting._boostcluster._consensus import Consensus, kmeans_on_codes
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._boostcluster._subsample import subsample_with_linked
from mustlink.boosting._coassociation import CoAssociation, label_names, renumber
from mustlink.boosting._coassociation_kernels import nearest_two, vote_by_similarity
from mustlink.boosting._code_kmeans import (
    CodeCenters,
    CodeMasses,
    assign,
    centers_of,
    code_distances,
    compute_centers,
    sum_codes,
    take_rows,
)
from mustlink.boosting._robust._following import centers_of_linked
from mustlink.boosting._robust._link_odds import link_log_odds, prior_log_odds
from mustlink.boosting._robust._rejoining import rejoin_components
from mustlink.boosting._robust._trust import MIN_TRUST
from mustlink.constraints import LinkGraph
from mustlink.inference import LinkModel, Marginals, iterated_conditional_modes, propagate_beliefs

if TYPE_CHECKING:
    from mustlink.boosting._blocked._code_passes import CodeBlocks

__all__ = ["MAX_ERROR_TRUSTED", "ResolvedConsensus", "doubt_broken_links", "resolve_links", "update_trust"]

# With a smaller fraction of wrong links, users expect the links to be satisfied.
MAX_ERROR_TRUSTED = 0.05
# Margin, in squared distance, above which a row goes to its nearest center without consulting linked rows. On twelve
# data sets a sixth of the rows were below, and consulting for all rows gave the same results.
CLEAR_MARGIN = 0.5
# Messages of belief propagation that change by less than this are settled. With many links, fewer sweeps give scores
# that differ by about a thousandth, in either direction.
MANY_LINKS = 10_000
TOLERANCE, TOLERANCE_OF_MANY = 1e-4, 0.01
# How often centers and marginals are updated in turn; after that hardly a row moves. With many links the trust of the
# rounds is the same after the first turn.
MAX_TURNS, TURNS_OF_MANY = 3, 1
# An example votes with its co-association to this power: one that is in the same cluster in 98% of the runs counts half
# as much as one that always is.
SIMILARITY_POWER = 32
# Examples with a lower co-association would count less than a hundredth.
MIN_SIMILARITY = 0.85
# Pseudo-votes, for clusters without a vote.
PRIOR_VOTES = 0.01


@dataclass(frozen=True)
class ResolvedConsensus(Consensus):
    """A consensus after links were weighed against distances, with the linked rows as examples for similar rows."""

    linked: Ints = field(kw_only=True)
    marginals: Floats = field(kw_only=True)  # (n_linked, n_clusters)
    link_marginals: Floats = field(kw_only=True)  # the probability that each link is correct
    centers: CodeCenters = field(kw_only=True)

    @classmethod
    def of(
        cls,
        kernel: CoAssociation,
        labels: Ints,
        links: LinkSet,
        marginals: Marginals,
        blocks: CodeBlocks | None = None,
        others: CodeMasses | None = None,
        *,
        follows_linked: bool,
    ) -> Self:
        """Assign the rows in no link, given the labels of the linked rows and of some others; -1 is no label.

        They go to the nearest center of the linked rows if `follows_linked`, else to that of all rows. If the kernel
        has some rows of a table in blocks only, `others` are the masses of those of the others that have labels, and
        `blocks` the codes of all. Clusters of `others` beyond those of the marginals have no row in the kernel.
        """
        n_clusters = n_known = marginals.rows.shape[1]
        if others is not None:
            n_clusters = len(others.sizes)
        masses = sum_codes(kernel, labels, n_clusters)
        centers = centers_of(masses if others is None else masses + others, kernel)
        if follows_linked:
            centers = centers_of_linked(kernel, labels, links, centers)
        resolved = cls(
            kernel,
            labels,
            linked=links.rows,
            marginals=np.pad(marginals.rows, ((0, 0), (0, n_clusters - n_known))),
            link_marginals=marginals.links,
            centers=centers,
            blocks=blocks,
        )
        assigned = resolved._assign(kernel)
        assigned[links.rows] = labels[links.rows]
        used = np.union1d(label_names(assigned), np.arange(n_known, n_clusters))
        return replace(resolved, labels=assigned)._take(used)

    def _take(self, clusters: Ints) -> Self:
        """Keep some of the clusters, all those with rows among them, and number them from 0."""
        labels = renumber(self.labels, clusters).astype(np.int64)
        marginals = np.ascontiguousarray(self.marginals[:, clusters])
        return replace(self, labels=labels, marginals=marginals, centers=self.centers.take(clusters))

    def compact(self) -> Self:
        """Number the clusters in use from 0."""
        return self._take(label_names(self.labels))

    def numbered(self, numbers: Ints) -> Self:
        """Give every cluster another of the numbers in use."""
        order = np.argsort(numbers)
        marginals = np.ascontiguousarray(self.marginals[:, order])
        return replace(super().numbered(numbers), marginals=marginals, centers=self.centers.take(order))

    def without_rows(self) -> Self:
        """Return only what is needed to assign new rows: of the rows of the fit, the linked ones."""
        kernel = self.kernel.with_codes(self.kernel.codes[self.linked])
        bare = self.without_blocks()
        return replace(bare, kernel=kernel, linked=np.arange(len(self.linked)), labels=np.unique(self.labels))

    def _assign(self, new: CoAssociation) -> Ints:
        """Assign rows in no link to the nearest center or, below a margin, by the vote of the examples."""
        found = np.full(new.n_samples, -1, dtype=np.int64)
        nothing = np.zeros(new.n_samples)
        centers = self.centers
        _, margin = nearest_two(new.codes, new.offsets, centers.table, centers.lengths, nothing, found)
        unsure = np.flatnonzero(margin < CLEAR_MARGIN)
        few = take_rows(new, unsure)
        share = self.votes(few.codes) + PRIOR_VOTES / self.marginals.shape[1]
        found[unsure] = np.argmax(np.log(share) - code_distances(few, centers), axis=1)
        return found

    def votes(self, codes: Array) -> Floats:
        """Add up the marginals of the examples that are similar to each row."""
        heaviest_first = np.argsort(-self.kernel.weights, kind="stable")
        weights = self.kernel.weights / float(self.kernel.weights.sum())
        votes = np.zeros((len(codes), self.marginals.shape[1]))
        vote_by_similarity(
            np.ascontiguousarray(codes[:, heaviest_first]),
            np.ascontiguousarray(self.kernel.codes[self.linked][:, heaviest_first]),
            weights[heaviest_first],
            self.marginals,
            SIMILARITY_POWER,
            1 - MIN_SIMILARITY,
            votes,
        )
        return votes


def link_model(distance: Floats, graph: LinkGraph, penalty: float, log_odds: float) -> LinkModel:
    """Return the model of linked rows with these squared distances to the centers; the penalty must be positive."""
    return LinkModel(-distance / penalty, graph, link_log_odds(graph, log_odds))


def resolve_links(
    rows: CoAssociation,
    labels: Ints,
    links: LinkSet,
    penalty: float,
    log_odds: float,
    n_clusters: int,
    max_turns: int = MAX_TURNS,
) -> tuple[Ints, Marginals]:
    """Continue k-means on the codes, but give every linked row its most probable cluster.

    The most probable clusters of two rows may break a link that both could satisfy together. If few links seem wrong,
    such rows are moved, and parts of must-link components are rejoined. The marginals, returned as well, are those of
    ``links.rows`` and of the links.
    """
    graph = links.graph()
    linked = take_rows(rows, links.rows)
    tol = TOLERANCE if len(links) <= MANY_LINKS else TOLERANCE_OF_MANY
    start: Marginals | None = None
    for _ in range(max_turns):
        centers = compute_centers(rows, labels, n_clusters)
        distance = code_distances(linked, centers)
        own = labels[links.rows]
        distance[np.arange(len(own)), own] -= 2 * linked.noise_weight / np.maximum(centers.masses[own], 1)
        model = link_model(distance, graph, penalty, log_odds)
        marginals = start = propagate_beliefs(model, tol=tol, start=start)
        moved, _ = assign(rows, centers, labels)
        moved[links.rows] = np.argmax(marginals.rows, axis=1)
        labels, before = moved, labels
        if np.array_equal(labels, before):
            break
    if log_odds > prior_log_odds(MAX_ERROR_TRUSTED):
        in_order = np.arange(len(links.rows))
        own = iterated_conditional_modes(model, labels=labels[links.rows], order=in_order)
        rejoined = rejoin_components(distance, own, links.among_linked(), penalty * log_odds)
        # As examples for other rows, rows that were moved with their part are certain.
        changed = rejoined != own
        certain = np.where(changed[:, None], np.eye(n_clusters)[rejoined], marginals.rows)
        labels[links.rows], marginals = rejoined, replace(marginals, rows=certain)
    return labels, marginals


def doubt_broken_links(trust: Floats, links: LinkSet, vote: Floats, consensus: Consensus, error_rate: float) -> Floats:
    """Return the trust in each link after links were weighed against distances.

    The votes of the trials cannot tell few wrong links from none, and then trust all of them alike. A link that is
    broken by these votes as well as by the result gets the probability that belief propagation gives it, if that is
    lower. With one kind of link the votes say nothing of single links, and the trust does not change.
    """
    if error_rate >= MAX_ERROR_TRUSTED or not links.has_both_kinds or not isinstance(consensus, ResolvedConsensus):
        return trust
    outvoted = np.where(links.is_must, vote < 0.5, vote > 0.5)
    doubted = outvoted & (links.together(consensus.labels) != links.is_must)
    return np.where(doubted, np.clip(consensus.link_marginals, MIN_TRUST, trust), trust)


def update_trust(
    trust: Floats,
    links: LinkSet,
    voters: Sequence[BaseRun],
    base: BaseClusterer,
    penalty: float,
    log_odds: float,
    n_samples: int,
) -> Floats:
    """Return the probability that each link is correct, given a consensus of some runs and all other links.

    The consensus is computed for the linked rows and some others only. Without runs, or with one cluster only, the
    trust does not change.
    """
    if not voters or penalty <= 0:
        return trust
    rows = subsample_with_linked(links, n_samples)
    labels = labels_of_each(voters, rows)
    consensus = kmeans_on_codes([replace(run, labels=own) for run, own in zip(voters, labels, strict=True)], base)
    if consensus.labels.max() < 1:
        return trust
    n_clusters = int(consensus.labels.max()) + 1
    turns = MAX_TURNS if len(links) <= MANY_LINKS else TURNS_OF_MANY
    kernel, among = consensus.kernel, links.among(rows)
    _, marginals = resolve_links(kernel, consensus.labels, among, penalty, log_odds, n_clusters, turns)
    return np.maximum(marginals.links, MIN_TRUST)
