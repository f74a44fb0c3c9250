"""What an assignment must satisfy: bounds of sizes, weights of rows, pivots, groups that are to be apart."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mustlink._types import Array, Floats, Indices, Ints, Mask

__all__ = ["Terms"]

# Sums of weights are compared up to rounding, relative to the total.
ROUNDING = 1e-9
# Weights that are not whole are rounded to units, so that the total has about this many.
MAX_UNITS = 2.0**51
# The largest power of two that is a number.
MAX_EXPONENT = 1_023


@dataclass(frozen=True)
class Terms:
    """The conditions of an assignment.

    `lowest` and `highest` bound the sizes, which are sums of `weight` where it is given. Every cluster needs
    `pivot_min` of the rows in `pivots`. At most `apart_max` rows with the same number in `apart` are in a cluster; -1
    is none.
    """

    lowest: Array
    highest: Array
    weight: Floats | None = None
    pivots: Mask | None = None
    pivot_min: Ints | None = None
    apart: Indices | None = None
    apart_max: int = 1

    def tightened(self) -> Terms:
        """Return the bounds that whole weights can meet: whole ones, unless there are none between those given."""
        if self.weight is None or (self.weight != np.floor(self.weight)).any():
            return self
        lowest = np.ceil(self.lowest - ROUNDING * self.weight.sum())
        highest = np.floor(self.highest + ROUNDING * self.weight.sum())
        total = self.weight.sum()
        can_be_met = (lowest <= highest).all() and lowest.sum() <= total <= highest.sum()
        return replace(self, lowest=lowest, highest=highest) if can_be_met else self

    def sizes(self, labels: Ints) -> Array:
        """Return the size of every cluster."""
        return np.bincount(labels, self.weight, len(self.lowest))

    def excess(self, labels: Ints) -> Floats:
        """Return by how much every cluster is above its maximum, or as a negative number below its minimum."""
        sizes = self.sizes(labels)
        beyond = np.maximum(sizes - self.highest, 0.0) - np.maximum(self.lowest - sizes, 0.0)
        rounding = 0.0 if self.weight is None else ROUNDING * float(self.weight.sum())
        return np.where(np.abs(beyond) <= rounding, 0.0, beyond)

    def take(self, rows: Indices, lowest: Array, highest: Array) -> Terms:
        """Return the conditions of some rows with other bounds."""
        weight = None if self.weight is None else self.weight[rows]
        return Terms(lowest, highest, weight, None if self.pivots is None else self.pivots[rows], self.pivot_min)

    def sample(self, rows: Indices, n_rows: int) -> Terms:
        """Return similar conditions of some of the rows, from which prices to start with are found."""
        if self.weight is not None:
            share = self.weight[rows].sum() / self.weight.sum()
            return self.take(rows, self.lowest * share, self.highest * share)
        share = len(rows) / n_rows
        lowest, highest = np.floor(self.lowest * share), np.ceil(self.highest * share)
        sampled = self.take(rows, lowest.astype(np.int64), highest.astype(np.int64))
        if self.pivots is None or self.pivot_min is None:
            return sampled
        share = self.pivots[rows].sum() / max(1, self.pivots.sum())
        pivot_min = np.floor(self.pivot_min * share).astype(np.int64)
        return Terms(sampled.lowest, sampled.highest, None, sampled.pivots, pivot_min)

    def in_units(self) -> tuple[Ints, Ints, Ints]:
        """Return the weights of the rows (none if all count one) and the bounds as whole numbers of units."""
        if self.weight is None:
            return np.empty(0, dtype=np.int64), self.lowest, self.highest
        total = float(self.weight.sum())
        numbers = np.concatenate([self.weight, self.lowest, self.highest])
        is_whole = total < MAX_UNITS and bool((numbers == np.floor(numbers)).all())
        scale = 1.0 if is_whole else 2.0 ** min(np.floor(np.log2(MAX_UNITS) - np.log2(total)), MAX_EXPONENT)
        # So much may the weights of a cluster be off in units.
        rounding = 0 if is_whole else len(self.weight)
        units = np.rint(self.weight * scale).astype(np.int64)
        lowest = np.maximum(np.floor(self.lowest * scale).astype(np.int64) - rounding, 0)
        highest = np.ceil(self.highest * scale).astype(np.int64) + rounding
        n_units = int(units.sum())
        # Bounds that add up to the total, but for rounding.
        while (beyond := int(lowest.sum()) - n_units) > 0:
            lowest[lowest.argmax()] -= beyond
        highest[highest.argmax()] += max(0, n_units - int(highest.sum()))
        return units, lowest, np.maximum(highest, lowest)
