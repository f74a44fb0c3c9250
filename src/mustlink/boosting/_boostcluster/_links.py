"""The links as boosting sees them: their rows in space, and weights that grow on what stays broken."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse

from mustlink._types import Array, Floats, Indices, Ints, Mask
from mustlink.constraints import Constraints, LinkGraph

__all__ = ["LinkSet", "LinkWeights", "optimal_step"]

# Where smoothing is switched off, a mass of zero would make the weight of a round infinite.
MIN_MASS = 1e-10
ROUNDING = 1e-12


@dataclass(frozen=True)
class LinkSet:
    """All links, must-links first, in an order that does not depend on how rows are numbered."""

    pairs: Ints
    is_must: Mask  # must-links come first
    weight: Floats  # as given, divided by their mean: only proportions matter
    place: Indices  # the number of each link in Constraints.pairs
    rows: Ints  # the linked rows, in the order of their coordinates
    ends: Floats  # (2, n_links, n_dims): the coordinates of the two rows of each link
    spread: float = 1.0  # the variance per dimension, trace(cov X) / dim
    covariance: Floats | None = None  # of all rows, where the representation needs it
    column_variance: Floats = field(default_factory=lambda: np.ones(1))  # of every feature
    explained: Floats | None = None  # how much of every feature the clusters of earlier runs explain, if there are any
    differences: Any = None  # (n_links, n_features), of the features, where `ends` are other coordinates
    origin: LinkSet | None = None  # the same links before their rows got other numbers

    @classmethod
    def of(
        cls, links: Constraints, coordinates: Array, spread: float = 1.0, covariance: Floats | None = None
    ) -> LinkSet:
        """Order links by the coordinates of their rows, given the coordinates of all rows."""
        is_must = links.sign > 0
        rows = links.constrained_rows()
        order = order_by_columns(coordinates[rows])
        rank = places_among(rows[order], links.pairs)
        place = np.lexsort((rank.max(axis=1), rank.min(axis=1), ~is_must))
        # Where weights are very unequal, a share would round to zero, which is no weight.
        share = np.maximum(links.weight / links.weight.mean(), np.finfo(np.float64).tiny)
        pairs, weight = links.pairs[place], share[place]
        ends = coordinates[pairs.T].astype(np.float64)
        return cls(pairs, is_must[place], weight, place, rows[order], ends, spread, covariance)

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def has_both_kinds(self) -> bool:
        """Whether there are must-links and cannot-links."""
        return 0 < self.n_must < len(self)

    @cached_property
    def n_must(self) -> int:
        """The number of must-links, which come before the cannot-links."""
        return int(self.is_must.sum())

    @property
    def kinds(self) -> tuple[slice, slice]:
        """The places of the must-links, and those of the cannot-links."""
        return slice(0, self.n_must), slice(self.n_must, len(self))

    def among(self, rows: Ints) -> LinkSet:
        """Return the links with rows numbered by their places in an ascending array that has all linked rows."""
        pairs, linked = places_among(rows, self.pairs), places_among(rows, self.rows)
        return replace(self, pairs=pairs, rows=linked, origin=self.origin or self)

    def places_in(self, other: LinkSet) -> Ints:
        """Return the place of each link among other links of the same rows, and -1 if it is none of them."""
        n_rows = 1 + max(int(self.pairs.max(initial=0)), int(other.pairs.max(initial=0)))
        keys, others = ((links.pairs @ [n_rows, 1]) * 2 + links.is_must for links in (self, other))
        order = np.argsort(others)
        place = order[np.minimum(np.searchsorted(others, keys, sorter=order), len(order) - 1)]
        return np.where(others[place] == keys, place, -1)

    def constraints(self) -> Constraints:
        """Return the links as a value."""
        sign = np.where(self.is_must, 1, -1)
        return Constraints.from_pairs(self.pairs, sign, self.weight, contradictions="keep")

    def among_linked(self) -> Constraints:
        """Return the links as a value, with rows numbered by their places in `rows`; the links keep their order."""
        return self._numbered[0]

    def places(self) -> Ints:
        """Return the pairs as places in `rows`."""
        return places_among(self.rows, self.pairs)

    def graph(self) -> LinkGraph:
        """Return the graph of :meth:`among_linked`."""
        return self._numbered[1]

    @cached_property
    def _numbered(self) -> tuple[Constraints, LinkGraph]:
        """The links and the graph of rows numbered by their places, whatever their numbers are."""
        if self.origin is not None:
            return self.origin._numbered
        links = replace(self, pairs=self.places()).constraints()
        return links, links.adjacency(len(self.rows))

    @cached_property
    def end_differences(self) -> Floats:
        """The differences of the coordinates of linked rows."""
        return np.asarray(self.ends[0] - self.ends[1])

    @cached_property
    def squared_differences(self) -> Any:
        """The squares of the differences of the features of linked rows; sparse if the table is."""
        differences = self.column_differences()
        return differences.multiply(differences) if issparse(differences) else differences**2

    def column_differences(self) -> Any:
        """Return the differences of the features of linked rows; sparse if the table is."""
        return self.end_differences if self.differences is None else self.differences

    def together(self, labels: Array) -> Mask:
        """Return for each link whether a clustering puts its rows together; noise is apart from everything."""
        a, b = labels[self.pairs[:, 0]], labels[self.pairs[:, 1]]
        return np.asarray((a == b) & (a != -1))

    def split(self, weight: Floats, together: Mask) -> dict[str, float]:
        """Return the weights of the links that a clustering satisfies and breaks, A to D of the paper."""
        return {
            f"{kind}_{name}": float(weight[of_kind][is_so[of_kind]].sum())
            for kind, of_kind in zip(("must", "cannot"), self.kinds, strict=True)
            for name, is_so in (("apart", ~together), ("together", together))
        }

    def balanced_mean(self, of_must: Floats, of_cannot: Floats) -> float:
        """Average one value over must-links and another over cannot-links, both kinds with equal weight."""
        means = [
            float(np.average(value[of_kind], weights=self.weight[of_kind]))
            for value, of_kind in zip((of_must, of_cannot), self.kinds, strict=True)
            if len(value[of_kind])
        ]
        return sum(means) / len(means)

    def agreement(self, labels: Array) -> float:
        """Return the balanced accuracy of a clustering on the links."""
        together = self.together(labels).astype(np.float64)
        return self.balanced_mean(together, 1 - together)

    def broken_weight(self, labels: Array) -> float:
        """Return the summed weight of the links that a clustering breaks."""
        return float(self.weight[self.together(labels) != self.is_must].sum())

    def as_given(self, values: Floats) -> Floats:
        """Return a value per link in the order of ``Constraints.pairs``."""
        ordered = np.empty_like(values)
        ordered[self.place] = values
        return ordered


def optimal_step(masses: dict[str, float], smoothing: float) -> float:
    """Return alpha = 1/2 log((B / A)(C / D)) of the masses of :meth:`LinkSet.split`, each of them smoothed."""
    floor = MIN_MASS if smoothing == 0 else 0.0
    a, b, c, d = (np.log(max(mass + smoothing, floor)) for mass in masses.values())
    alpha = float(0.5 * (b - a + c - d))
    return alpha if abs(alpha) > ROUNDING else 0.0


def order_by_columns(table: Array) -> Indices:
    """Return the order of rows by the first column, those that are equal there by the second, and so on."""
    if not table.shape[1]:
        return np.arange(len(table))
    # In most tables few numbers are equal, and one column decides.
    order = np.argsort(table[:, 0], kind="stable")
    equal = np.diff(table[order, 0]) == 0
    tied = np.flatnonzero(np.append(equal, False) | np.append(False, equal))
    order[tied] = order[tied][np.lexsort(table[order[tied]].T[::-1])]
    return order


def places_among(rows: Ints, wanted: Ints) -> Ints:
    """Return the places of row numbers in an array of distinct ones; of a number that is not there, any place."""
    place = np.zeros(1 + max(int(rows.max(initial=0)), int(wanted.max(initial=0))), dtype=np.int64)
    place[rows] = np.arange(len(rows))
    return np.asarray(place[wanted])


class LinkWeights:
    """The weights w exp(-K) of must-links and w exp(K) of cannot-links, kept as logarithms.

    The user's weights w are multiplied by `trust`, the probability that each link is correct.
    """

    def __init__(self, links: LinkSet, trust: Floats) -> None:
        self._links = links
        self._sign = np.where(links.is_must, -1.0, 1.0)
        self._start = np.log(links.weight * trust)
        self.kernel = np.zeros(len(links))

    def normalized(self) -> Floats:
        """Return the weights; those of each kind sum to one."""
        return self._normalize(self._log())

    def growth(self) -> Floats:
        """Return the factor by which each link's share of its kind has grown since the start."""
        return np.asarray(self.normalized() / self._normalize(self._start))

    def log_objective(self) -> float:
        """Return log L, L = (sum of must-link weights)(sum of cannot-link weights); a kind that is absent counts 1."""
        log_weight, total = self._log(), 0.0
        for of_kind in self._links.kinds:
            if log_weight[of_kind].size:
                # Much faster than np.logaddexp.reduce.
                largest = log_weight[of_kind].max()
                total += float(largest + np.log(np.exp(log_weight[of_kind] - largest).sum()))
        return total

    def add(self, alpha: float, together: Mask) -> None:
        """Add a round to K at the links."""
        self.kernel = self.kernel + alpha * together

    def _log(self) -> Floats:
        return np.asarray(self._start + self._sign * self.kernel)

    def _normalize(self, log_weight: Floats) -> Floats:
        weight = np.empty(len(log_weight))
        for of_kind in self._links.kinds:
            if log_weight[of_kind].size:
                weight[of_kind] = np.exp(log_weight[of_kind] - log_weight[of_kind].max())
                weight[of_kind] /= weight[of_kind].sum()
        return weight
