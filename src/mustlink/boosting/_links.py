"""The links as boosting sees them: weights that grow on what stays broken, and agreement with a clustering."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mustlink.constraints import Constraints

__all__ = ["LinkSet", "LinkWeights", "Masses"]

Floats = NDArray[np.float64]
# Where the smoothing is switched off, a mass of zero would make the weight of a round infinite.
LEAST_MASS = 1e-10
ROUNDING = 1e-12


@dataclass(frozen=True)
class LinkSet:
    """All links in one array, must-links first.

    Attributes
    ----------
    pairs : ndarray of shape (n_links, 2)
        Rows.
    is_must : ndarray of shape (n_links,)
        The kind of each.
    weight : ndarray of shape (n_links,)
        The user's weights, divided by their mean: only proportions matter.
    place : ndarray of shape (n_links,)
        Where each link stands among the links of the Constraints, must-links first.
    rows : ndarray of shape (n_linked,)
        The linked rows, in the order of their coordinates.
    """

    pairs: NDArray[np.int64]
    is_must: NDArray[np.bool_]
    weight: Floats
    place: NDArray[np.intp]
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, links: Constraints, coordinates: NDArray[Any]) -> LinkSet:
        """Take the links of a Constraints value, ordered by where their rows are in space.

        How the rows are numbered then plays no part in which links are drawn for a mask.
        """
        weight = np.concatenate([links.must_link_weight, links.cannot_link_weight])
        is_must = np.arange(len(links)) < len(links.must_link)
        pairs = np.concatenate([links.must_link, links.cannot_link])
        rows = links.constrained_rows()
        order = np.lexsort(coordinates[rows].T[::-1]) if coordinates.shape[1] else np.arange(len(rows))
        rank = np.argsort(order)[np.searchsorted(rows, pairs)]
        place = np.lexsort((rank.max(axis=1), rank.min(axis=1), ~is_must))
        return cls(pairs[place], is_must[place], (weight / weight.mean())[place], place, rows[order])

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def has_both_kinds(self) -> bool:
        """Whether there are must-links and cannot-links."""
        return bool(self.is_must.any() and not self.is_must.all())

    def among(self, rows: NDArray[Any]) -> LinkSet:
        """Return the same links between some of the rows, which are given in ascending order and hold all linked ones.

        A row goes by its place among them.
        """
        return replace(self, pairs=np.searchsorted(rows, self.pairs), rows=np.searchsorted(rows, self.rows))

    def together(self, labels: NDArray[Any]) -> NDArray[np.bool_]:
        """Say of each link whether a clustering puts its ends together; noise is apart from everything."""
        a, b = labels[self.pairs[:, 0]], labels[self.pairs[:, 1]]
        return (a == b) & (a != -1)

    def balanced_mean(self, of_must: Floats, of_cannot: Floats) -> float:
        """Average a value over must-links and another over cannot-links, the two kinds counting alike."""
        means = [
            float(np.average(value[chosen], weights=self.weight[chosen]))
            for value, chosen in ((of_must, self.is_must), (of_cannot, ~self.is_must))
            if chosen.any()
        ]
        return sum(means) / len(means)

    def broken_weight(self, labels: NDArray[Any]) -> float:
        """Return the summed weight of the links that a clustering breaks."""
        return float(self.weight[self.together(labels) != self.is_must].sum())

    def as_given(self, values: Floats) -> Floats:
        """Bring a value per link into the order of the Constraints."""
        ordered = np.empty_like(values)
        ordered[self.place] = values
        return ordered

    def agreement(self, labels: NDArray[Any]) -> float:
        """Return the balanced accuracy of a clustering on the links."""
        together = self.together(labels).astype(np.float64)
        return self.balanced_mean(together, 1 - together)


@dataclass(frozen=True)
class Masses:
    """The normalised weights of the links that a round keeps and breaks, A to D of the paper."""

    must_apart: float
    must_together: float
    cannot_apart: float
    cannot_together: float

    def step(self, smoothing: float) -> float:
        """Return alpha = 1/2 log((B / A)(C / D)), every mass smoothed."""
        floor = LEAST_MASS if smoothing == 0 else 0.0
        a, b, c, d = (
            max(mass + smoothing, floor)
            for mass in (self.must_apart, self.must_together, self.cannot_apart, self.cannot_together)
        )
        alpha = float(0.5 * (np.log(b) - np.log(a) + np.log(c) - np.log(d)))
        return alpha if abs(alpha) > ROUNDING else 0.0


class LinkWeights:
    """The weights w exp(-K) of must-links and w exp(K) of cannot-links, kept as logarithms.

    Parameters
    ----------
    links : LinkSet
        The links.
    trust : ndarray of shape (n_links,)
        Multiplies the user's weights: how likely each link is right.
    """

    def __init__(self, links: LinkSet, trust: Floats) -> None:
        self._links = links
        self._sign = np.where(links.is_must, -1.0, 1.0)
        self._start = np.log(links.weight * trust)
        self.kernel = np.zeros(len(links))

    def of_kind(self, must: bool) -> Floats:
        """Return the weights of one kind, divided by their sum."""
        log_weight = self._log()[self._links.is_must == must]
        if not log_weight.size:
            return log_weight
        weight = np.exp(log_weight - log_weight.max())
        return np.asarray(weight / weight.sum())

    def growth(self) -> Floats:
        """Return by what factor each link's share of its kind has grown since the start."""
        growth = np.empty(len(self._links))
        for must in (True, False):
            chosen = self._links.is_must == must
            if chosen.any():
                start = np.exp(self._start[chosen] - self._start[chosen].max())
                growth[chosen] = self.of_kind(must) / (start / start.sum())
        return growth

    def log_objective(self) -> float:
        """Return log L, L = (sum of must-link weights)(sum of cannot-link weights); a kind that is absent counts 1."""
        total = 0.0
        for must in (True, False):
            log_weight = self._log()[self._links.is_must == must]
            if log_weight.size:
                total += float(np.logaddexp.reduce(log_weight))
        return total

    def masses(self, together: NDArray[np.bool_]) -> Masses:
        """Split the normalised weights by whether a round puts the ends together."""
        must, cannot = self.of_kind(True), self.of_kind(False)
        is_must = self._links.is_must
        return Masses(
            must_apart=float(must[~together[is_must]].sum()),
            must_together=float(must[together[is_must]].sum()),
            cannot_apart=float(cannot[~together[~is_must]].sum()),
            cannot_together=float(cannot[together[~is_must]].sum()),
        )

    def add(self, alpha: float, together: NDArray[np.bool_]) -> None:
        """Add a round to K at the links."""
        self.kernel = self.kernel + alpha * together

    def _log(self) -> Floats:
        return np.asarray(self._start + self._sign * self.kernel)
