"""Votes on links by the two rows together with the rows that all other links tie to them.

A single row may be hard to place. The rows that links tie to it, taken together, are much less likely to be misplaced.
But with wrong links a must-link component is a mixture of classes, and most of its rows may be of another class than
the row. Belief propagation weighs both: every clustering may misplace a row, and every link may be wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from mustlink._types import Array, Floats
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._coassociation import NOISE_LABEL, label_names, renumber
from mustlink.boosting._robust._link_odds import link_log_odds
from mustlink.constraints import LinkGraph
from mustlink.inference import LinkModel, propagate_beliefs

__all__ = ["NeighborVotes"]

# A priori fractions of misplaced rows and of wrong links. Chosen by experiment on twelve data sets: from 0.5% to 5%
# misplaced and 15% to 30% wrong, the estimates hardly differ.
MISPLACED, WRONG = 0.05, 0.15
# Messages that change less are settled. With 1e-4, votes on 100,000 links took half as long again, and were the same
# within 0.002.
TOLERANCE = 0.01


@dataclass(frozen=True)
class NeighborVotes:
    """How clusterings vote on each link: the probability that its rows are together, given all but that link.

    The rows and the links around them are evidence: the label of a clustering is the cluster of the row unless it is
    misplaced, and each of the other links is correct unless it is wrong. Noise is no evidence.
    """

    links: LinkSet
    graph: LinkGraph
    penalty: Floats

    @classmethod
    def of(cls, links: LinkSet) -> Self:
        """Prepare votes on links."""
        graph = links.graph()
        return cls(links, graph, link_log_odds(graph, float(np.log((1 - WRONG) / WRONG))))

    def vote(self, labels: Array) -> tuple[Floats, int]:
        """Return the vote of a clustering of all rows on each link, and the number of clusters of linked rows."""
        own = labels[self.links.rows]
        names = label_names(own)
        place = renumber(own, names)
        n_clusters = max(len(names), 2)
        evidence = np.full((len(own), n_clusters), np.log(MISPLACED / (n_clusters - 1)))
        evidence[np.arange(len(own)), place] = np.log(1 - MISPLACED)
        evidence[place == NOISE_LABEL] = 0.0
        marginals = propagate_beliefs(LinkModel(evidence, self.graph, self.penalty), tol=TOLERANCE).links
        # The probability that the link is correct, without what the link itself adds to its log-odds.
        satisfied = marginals / (marginals + (1 - marginals) * np.exp(self.penalty))
        return np.where(self.links.is_must, satisfied, 1 - satisfied), n_clusters
