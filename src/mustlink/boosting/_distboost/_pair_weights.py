"""The boosting weights of all pairs of rows."""

from __future__ import annotations

import numpy as np

from mustlink._types import Floats
from mustlink.constraints import Constraints

__all__ = ["PairWeights"]


class PairWeights:
    """The weights of all pairs of rows, of sum one: one number per link, and one for all pairs without a link.

    The latter begin with `unlabeled_fraction` of the weight; None gives every pair the same weight.
    """

    def __init__(self, links: Constraints, n_samples: int, unlabeled_fraction: float | None) -> None:
        self.links = links
        self.n_samples = n_samples
        n_pairs = n_samples * (n_samples - 1) // 2
        # A pair may be linked both ways, by a link and by labels.
        linked = np.unique(links.pairs, axis=0)
        self.n_unlabeled = n_pairs - len(linked)
        if unlabeled_fraction is None:
            unlabeled_fraction = self.n_unlabeled / max(n_pairs, 1)
        if self.n_unlabeled == 0:
            unlabeled_fraction = 0.0
        given = links.weight
        self.of_links = (1 - unlabeled_fraction) * given / given.sum() if given.size else given
        self.of_others = unlabeled_fraction / max(self.n_unlabeled, 1)
        self._n_partners = n_samples - 1 - np.bincount(linked.ravel(), minlength=n_samples)

    @property
    def of_cannot_links(self) -> Floats:
        """The weights of the cannot-links."""
        return self.of_links[len(self.links.must_link) :]

    def of_rows(self) -> Floats:
        """Return the weight of every row, the sum over the pairs it is in."""
        if self.links.is_empty:
            return np.ones(self.n_samples)
        left, right = self.links.pairs.T
        weight = np.bincount(left, self.of_links, self.n_samples)
        weight += np.bincount(right, self.of_links, self.n_samples)
        return weight + self.of_others * self._n_partners

    def agreement(self, hypothesis: Floats) -> float:
        """Return how far a hypothesis about the linked pairs, between -1 and 1, agrees with the links."""
        return float(self.of_links @ (self.links.sign * hypothesis))

    def update(self, alpha: float, hypothesis: Floats) -> float:
        """Lower the weights of pairs the hypothesis is right about, and of pairs without a link; return the loss."""
        self.of_links = self.of_links * np.exp(-alpha * self.links.sign * hypothesis)
        self.of_others *= np.exp(-alpha)
        loss = float(self.of_links.sum() + self.of_others * self.n_unlabeled)
        self.of_links /= loss
        self.of_others /= loss
        return loss
