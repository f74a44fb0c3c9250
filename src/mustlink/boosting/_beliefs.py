"""What the linked rows most likely are: belief propagation over the links, and rows that follow them.

Every linked row has evidence for each cluster, from its distance to the centres; every link is right with some odds.
The rows of a link tell each other what they take themselves for, until nothing changes. On links without circles the
beliefs are exact probabilities; with circles they are a good approximation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mustlink.boosting._beliefs_kernels import gather_beliefs, sweep_messages, sweep_rows, vote_by_nearness
from mustlink.boosting._code_kmeans import CodeCentres
from mustlink.boosting._links import LinkSet

__all__ = ["FEW_WRONG", "Anchors", "Beliefs", "LinkGraph", "Stakes"]

Floats = NDArray[np.float64]
MOST_SWEEPS = 30
# With fewer wrong links than this, whoever gave them expects to see them kept.
FEW_WRONG = 0.05
DAMPING = 0.3
# A message that changes by less is settled.
SETTLED = 1e-4
# exp of more is as good as certain, and can still be reckoned with.
MOST_LOG_ODDS = 30.0
# An anchor votes with the co-association to this power: one that shares 98% of the voters' clusters with a row counts
# half as much as one that shares all.
NEARNESS = 32
# Anchors that share less would count less than a hundredth.
LEAST_SHARED = 0.85
# A little more than nothing, for clusters without a vote.
PRIOR_VOTES = 0.01


@dataclass(frozen=True)
class Stakes:
    """What links count beside distances.

    Attributes
    ----------
    price : float
        The squared distance, between codes of length one, that is worth as much as a unit of log-odds.
    log_odds : float
        Of a link being right, before anything is known of its rows.
    """

    price: float
    log_odds: float

    @property
    def links_seem_right(self) -> bool:
        """Whether hardly a link is likely wrong."""
        return self.log_odds > np.log((1 - FEW_WRONG) / FEW_WRONG)


@dataclass(frozen=True)
class Beliefs:
    """Probabilities of clusters and links.

    Attributes
    ----------
    rows : ndarray of shape (n_linked,)
        The linked rows, ascending.
    of_rows : ndarray of shape (n_linked, n_clusters)
        The probability that each is in each cluster.
    of_links : ndarray of shape (n_links,)
        The probability that each link is right.
    """

    rows: NDArray[np.int64]
    of_rows: Floats
    of_links: Floats


@dataclass(frozen=True)
class Anchors:
    """Linked rows as examples for others: a row is drawn to the cluster of those whose code is nearly its own.

    Attributes
    ----------
    codes : ndarray of shape (n_linked, n_voters)
        Of the linked rows.
    weights : ndarray of shape (n_voters,)
        Of the voters, with sum one.
    beliefs : ndarray of shape (n_linked, n_clusters)
        The probability that each is in each cluster.
    centres : CodeCentres
        Of the clusters.
    """

    codes: NDArray[Any]
    weights: Floats
    beliefs: Floats
    centres: CodeCentres

    def keep_clusters(self, clusters: NDArray[np.int64]) -> Anchors:
        """Drop the clusters that nobody is in."""
        beliefs = np.ascontiguousarray(self.beliefs[:, clusters])
        return replace(self, beliefs=beliefs, centres=self.centres.take(clusters))

    def place(self, codes: NDArray[Any], distance: Floats) -> NDArray[np.int64]:
        """Return the likeliest cluster of rows, given their codes and their squared distances to the centres.

        The distances may lack a constant for every row.
        """
        share = self._votes(codes) + PRIOR_VOTES / distance.shape[1]
        return np.asarray(np.argmax(np.log(share) - distance, axis=1))

    def _votes(self, codes: NDArray[Any]) -> Floats:
        """Add up what the anchors near each row believe of themselves."""
        heaviest_first = np.argsort(-self.weights, kind="stable")
        votes = np.zeros((len(codes), self.beliefs.shape[1]))
        vote_by_nearness(
            np.ascontiguousarray(codes[:, heaviest_first]),
            np.ascontiguousarray(self.codes[:, heaviest_first]),
            self.weights[heaviest_first],
            self.beliefs,
            NEARNESS,
            1 - LEAST_SHARED,
            votes,
        )
        return votes


@dataclass(frozen=True)
class LinkGraph:
    """Links as their rows see them: every link twice, once from either end.

    Attributes
    ----------
    rows : ndarray of shape (n_linked,)
        The linked rows, ascending; below they go by their places in it.
    order : ndarray of shape (n_linked,)
        In which order they speak: that of where they are in space, so that their numbers play no part.
    starts : ndarray of shape (n_linked + 1,)
        Row i sees the links ``starts[i]:starts[i + 1]``.
    neighbour, back : ndarray of shape (2 n_links,)
        The other end of each, and where that one sees the link.
    is_must, log_odds : ndarray of shape (2 n_links,)
        The kind of each, and the log-odds that it is right.
    seen_at : ndarray of shape (2, n_links)
        Where either end sees each link.
    """

    rows: NDArray[np.int64]
    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    neighbour: NDArray[np.int64]
    back: NDArray[np.int64]
    is_must: NDArray[np.bool_]
    log_odds: Floats
    seen_at: NDArray[np.int64]

    @classmethod
    def of(cls, links: LinkSet, log_odds: float) -> LinkGraph:
        """Take all links; their weights multiply the log-odds."""
        rows = np.sort(links.rows)
        place = np.searchsorted(rows, links.pairs)
        near = np.concatenate([place[:, 0], place[:, 1]])
        far = np.concatenate([place[:, 1], place[:, 0]])
        by_row = np.argsort(near, kind="stable")
        seen_at = np.argsort(by_row)
        return cls(
            rows,
            np.searchsorted(rows, links.rows),
            np.concatenate([[0], np.cumsum(np.bincount(near, minlength=len(rows)))]),
            far[by_row],
            seen_at[(by_row + len(links)) % len(by_row)],
            np.tile(links.is_must, 2)[by_row],
            np.tile(np.minimum(log_odds * links.weight, MOST_LOG_ODDS), 2)[by_row],
            seen_at.reshape(2, -1),
        )

    def propagate(self, distance: Floats, price: float) -> Beliefs:
        """Weigh links against squared distances to the centres (n_linked, n_clusters), at a price above zero."""
        evidence = -distance / price
        leaning = np.expm1(np.where(self.is_must, self.log_odds, -self.log_odds))
        messages = np.zeros((len(self.back), evidence.shape[1]))
        cavities = np.empty_like(messages)
        for _ in range(MOST_SWEEPS):
            change = sweep_messages(self.order, evidence, self.starts, self.back, leaning, DAMPING, messages, cavities)
            if change < SETTLED:
                break
        near, far = self.seen_at
        agrees = np.einsum("lc,lc->l", cavities[near], cavities[far])
        agrees = np.where(self.is_must[near], agrees, 1 - agrees)
        odds = np.exp(self.log_odds[near])
        return Beliefs(
            self.rows,
            gather_beliefs(evidence, self.starts, self.back, messages),
            odds * agrees / (odds * agrees + 1 - agrees),
        )

    def mend(self, labels: NDArray[np.int64], distance: Floats, price: float) -> NDArray[np.int64]:
        """Move single rows as long as that costs less, distances and broken links together."""
        mended = labels.copy()
        for _ in range(MOST_SWEEPS):
            if not sweep_rows(
                self.order, distance, self.starts, self.neighbour, price * self.log_odds, self.is_must, mended
            ):
                break
        return mended
