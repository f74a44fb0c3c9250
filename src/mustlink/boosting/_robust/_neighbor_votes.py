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
from mustlink.boosting._coassociation import NOISE_LABEL
from mustlink.constraints import LinkGraph
from mustlink.inference import LinkModel, propagate_beliefs

__all__ = ["NeighborVotes"]

# The fractions of misplaced rows and of wrong links that the votes count with, before either is known. Chosen
# by experiment on twelve data sets: from 0.5% to 5% misplaced and 15% to 30% wrong, the estimates hardly differ.
MISPLACED, WRONG = 0.05, 0.15
# The log-odds of a link with a large weight are cut off here.
MAX_LOG_ODDS = 30.0


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
        return cls(links, graph, np.minimum(np.log((1 - WRONG) / WRONG) * graph.weight, MAX_LOG_ODDS))

    def vote(self, labels: Array) -> tuple[Floats, int]:
        """Return the vote of a clustering of all rows on each link, and the number of clusters of linked rows."""
        names, own = np.unique(labels[self.links.rows], return_inverse=True)
        is_known = names[own] != NOISE_LABEL
        n_clusters = max(int((names != NOISE_LABEL).sum()), 2)
        # Noise has the lowest number.
        place = own - int(not is_known.all())
        evidence = np.zeros((len(own), n_clusters))
        evidence[is_known] = np.log(MISPLACED / (n_clusters - 1))
        evidence[is_known, place[is_known]] = np.log(1 - MISPLACED)
        marginals = propagate_beliefs(LinkModel(evidence, self.graph, self.penalty)).links
        # The probability that the link is correct, without what the link itself adds to its log-odds.
        satisfied = marginals / (marginals + (1 - marginals) * np.exp(self.penalty))
        return np.where(self.links.is_must, satisfied, 1 - satisfied), n_clusters
