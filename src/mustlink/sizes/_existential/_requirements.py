"""What every cluster needs: minimum numbers of marked rows, and sums on their side of a bound."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mustlink._spelling import count, spell_number
from mustlink._types import Array, Floats, Indices, Ints, Mask
from mustlink.errors import InfeasibleError
from mustlink.sizes._existential._aggregates import (
    COMPARE,
    COUNT_LIMITS,
    Aggregate,
    PivotKind,
    SummedValue,
    parse_aggregate,
)
from mustlink.sizes._existential._movement import CheckedSums
from mustlink.sizes._existential._movement_kernels import OPERATORS

__all__ = ["Requirements", "parse_aggregates", "read_pivots", "read_requirements"]

# The largest minimum that is taken.
MAX_PIVOTS = 2**31 - 1
# The most columns that a message names.
MAX_NAMED = 20

# How the constraint on marked rows is worded, around the kind of these.
PIVOTS, IN_EVERY_CLUSTER = "pivots", " in every cluster"

# Differences of sums up to this share of the sum of absolute values are taken for rounding.
ROUNDING = 1e-10


@dataclass(frozen=True)
class Requirements:
    """The constraints of a fit.

    Parameters
    ----------
    is_pivot : ndarray of shape (n_rows, n_kinds)
        Which rows count for which kind of pivots.
    minimum : ndarray of shape (n_clusters, n_kinds)
        How many of each kind every cluster needs.
    values : ndarray of shape (n_rows, n_sums)
        What each row adds to the sums that are checked.
    operators : sequence of str
        How each sum is compared with its bound.
    bound : ndarray of shape (n_sums,)
        The bounds.
    wordings : sequence of str
        The constraints in words, kinds before sums.
    """

    is_pivot: Mask
    minimum: Ints
    values: Floats
    operators: Sequence[str]
    bound: Floats
    wordings: Sequence[str]

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return len(self.minimum)

    @property
    def n_kinds(self) -> int:
        """The number of kinds of pivots."""
        return self.minimum.shape[1]

    @property
    def n_sums(self) -> int:
        """The number of sums that are checked."""
        return len(self.bound)

    @cached_property
    def rows(self) -> Indices:
        """The rows that matter to some constraint; all others may go to any cluster."""
        return np.flatnonzero(self.is_pivot.any(axis=1) | (self.values != 0).any(axis=1))

    def take(self, rows: Indices) -> Requirements:
        """Return the constraints on some rows only."""
        return replace(self, is_pivot=self.is_pivot[rows], values=self.values[rows])

    @cached_property
    def groups(self) -> tuple[Mask, Indices]:
        """The combinations of kinds that rows count for, and which of them each row has."""
        member, group = np.unique(self.is_pivot, axis=0, return_inverse=True)
        return member, group.reshape(-1)

    @cached_property
    def slack(self) -> Floats:
        """The differences of sums that are taken for rounding."""
        return ROUNDING * (np.abs(self.values).sum(axis=0) + np.abs(self.bound))

    @cached_property
    def limits(self) -> tuple[Ints, Ints] | None:
        """The least and the largest number of rows of each kind in every cluster, arrays like `minimum`.

        None if a sum is checked that does not count the rows of a kind.
        """
        lowest, highest = self.minimum.copy(), np.full_like(self.minimum, len(self.is_pivot))
        for values, operator, bound in zip(self.values.T, self.operators, self.bound, strict=True):
            if not values.any():
                continue  # zero in any cluster, which was checked before
            same = np.flatnonzero((self.is_pivot == values[:, None]).all(axis=0))
            if operator not in COUNT_LIMITS or same.size == 0:
                return None
            kind = same[0]
            most = math.ceil(bound) - 1 if operator == "<" else math.floor(bound)
            highest[:, kind] = np.minimum(highest[:, kind], most)
            if operator == "=":
                lowest[:, kind] = np.maximum(lowest[:, kind], math.ceil(bound))
        return lowest, highest

    @cached_property
    def networks(self) -> dict[int, int | None] | None:
        """The kinds as flows place them: each by itself, or with one other kind of which all rows are inside it.

        None if kinds share rows in any other way, if the inner of two has a maximum, or if a sum is checked that is no
        number of rows.
        """
        if self.limits is None:
            return None
        has_maximum = np.any(self.limits[1] < len(self.is_pivot), axis=0).tolist()
        found: dict[int, int | None] = {}
        for kind in np.argsort(-self.is_pivot.sum(axis=0), kind="stable").tolist():
            mask = self.is_pivot[:, kind]
            touched = [outer for outer in found if (mask & self.is_pivot[:, outer]).any()]
            if not touched:
                found[kind] = None
                continue
            is_inside = not (mask & ~self.is_pivot[:, touched[0]]).any()
            if len(touched) > 1 or found[touched[0]] is not None or has_maximum[kind] or not is_inside:
                return None
            found[touched[0]] = kind
        return found

    def count(self, labels: Array) -> Ints:
        """Return how many pivots of each kind every cluster has, for labels of all rows."""
        counts = np.empty((self.n_clusters, self.n_kinds), dtype=np.int64)
        for kind, mask in enumerate(self.is_pivot.T):
            counts[:, kind] = np.bincount(labels[mask], minlength=self.n_clusters)
        return counts

    def total(self, labels: Array) -> Floats:
        """Return the checked sums of every cluster, for labels of all rows."""
        totals = np.empty((self.n_clusters, self.n_sums))
        for place, column in enumerate(self.values.T):
            totals[:, place] = np.bincount(labels, column, self.n_clusters)
        return totals

    def checked_sums(self, labels: Array) -> CheckedSums:
        """Return the sums for labels of all rows, with their bounds."""
        codes = np.array([OPERATORS.index(operator) for operator in self.operators], dtype=np.int64)
        return CheckedSums(self.total(labels), codes, self.bound, self.slack)

    def shortfall(self, counts: Ints, totals: Floats, clusters: Any = slice(None)) -> Floats:
        """Return how far counts and sums of clusters are from what they have to be, zero where they hold.

        There is a column per constraint, kinds before sums, and a row for each of the clusters, all by default.
        """
        missing = np.maximum(0, self.minimum[clusters] - counts).astype(np.float64)
        gap = totals - self.bound
        beyond = np.empty_like(gap)
        for j, (operator, slack) in enumerate(zip(self.operators, self.slack, strict=True)):
            toward = {"<": 1.0, "<=": 1.0, ">": -1.0, ">=": -1.0}.get(operator)
            away = np.abs(gap[:, j]) if toward is None else toward * gap[:, j]
            if operator == "!=":
                beyond[:, j] = away <= slack
            elif operator in ("<", ">"):
                beyond[:, j] = np.where(away >= -slack, away + 2 * slack, 0.0)
            else:
                beyond[:, j] = np.where(away <= slack, 0.0, away)
        return np.concatenate([missing, beyond], axis=1)

    def broken(self, labels: Array) -> list[str]:
        """Return the constraints, in words, that labels of all rows do not satisfy."""
        short = self.shortfall(self.count(labels), self.total(labels))
        return [wording for wording, column in zip(self.wordings, short.T, strict=True) if column.any()]

    def check(self, labels: Array) -> None:
        """Refuse labels of all rows that break a constraint, whatever placed them."""
        counts, totals = self.count(labels), self.total(labels)
        short = self.shortfall(counts, totals)
        if short.any():
            constraint, cluster = (int(place) for place in np.argwhere(short.T)[0])
            value = float(np.concatenate([counts, totals], axis=1)[cluster, constraint])
            raise InfeasibleError(
                f"The clusters that were found do not satisfy {self.wordings[constraint]!r}: cluster {cluster} has "
                f"{spell_number(value)}",
                remedy=("lower_pivot_min", "fewer_clusters", "drop_aggregate"),
            )


def read_pivots(pivots: Any, n_rows: int) -> Mask:
    """Check a mask of marked rows, or several as columns, and return an array of shape (n_rows, n_kinds)."""
    try:
        marks = np.asarray(pivots)
    except ValueError:
        raise ValueError("pivots must have the same number of entries for every row, and some have more.") from None
    if marks.ndim not in (1, 2) or marks.shape[0] != n_rows or not marks.size:
        shape = f"{marks.shape[0]:,} entries" if marks.ndim == 1 else f"the shape {marks.shape}"
        raise ValueError(f"pivots must have one entry per row: the table has {count(n_rows, 'row')}, pivots {shape}.")
    if marks.dtype.kind == "O":
        marks = marks.astype(object)
        is_known = np.vectorize(lambda mark: isinstance(mark, (bool, np.bool_)), otypes=[bool])(marks)
    else:
        is_known = np.isin(marks, (0, 1)) if marks.dtype.kind in "biuf" else np.zeros(marks.shape, dtype=bool)
    if not is_known.all():
        row = int(np.argmax(~is_known.reshape(n_rows, -1).all(axis=1)))
        given = np.asarray(marks[row]).tolist()
        raise ValueError(f"pivots must be a mask of True and False, but row {row} has {given!r}.")
    return marks.reshape(n_rows, -1).astype(bool)


def read_requirements(
    pivots: Mask | None,
    pivot_min: Any,
    aggregates: Sequence[Aggregate],
    n_clusters: int,
    n_rows: int,
    get_column: Callable[[str], Floats],
) -> Requirements:
    """Return the constraints that the parameters and the marked rows state, without those that others imply.

    Without pivots and without aggregates every row is a pivot. `get_column` returns the column of a name.

    Raises
    ------
    InfeasibleError
        If no clustering satisfies one of them, with the numbers.
    """
    kinds: list[PivotKind] = []
    sums: list[SummedValue] = []
    if pivots is None and not aggregates:
        pivots = np.ones((n_rows, 1), dtype=bool)
    if pivots is not None:
        minima = _one_minimum_per_kind(pivot_min, pivots.shape[1], n_clusters)
        words = [""] if len(minima) == 1 else [f" of kind {kind}" for kind in range(len(minima))]
        for mask, minimum, word in zip(pivots.T, minima, words, strict=True):
            kinds.append(PivotKind(mask, minimum, f"{PIVOTS}{word}{IN_EVERY_CLUSTER}"))
    for aggregate in aggregates:
        column = None if aggregate.column is None else get_column(aggregate.column)
        if column is not None:
            _check_finite(column, aggregate)
        more_kinds, more_sums = aggregate.reduce(column, n_rows)
        kinds += more_kinds
        sums += more_sums
    return _gather(kinds, sums, n_clusters, n_rows)


def parse_aggregates(aggregates: Any, names: Sequence[str]) -> list[Aggregate]:
    """Read no aggregate, one or several, on columns of these names."""
    texts = [] if aggregates is None else [aggregates] if isinstance(aggregates, str) else list(aggregates)
    found = [parse_aggregate(text) for text in texts]
    for aggregate in found:
        if aggregate.column is not None and aggregate.column not in names:
            shown = ", ".join(names[:MAX_NAMED]) + (", ..." if len(names) > MAX_NAMED else "")
            raise ValueError(
                f"The aggregate {aggregate.text!r} names the column {aggregate.column!r}; the columns are {shown}."
            )
    return found


def _check_finite(column: Floats, aggregate: Aggregate) -> None:
    """Refuse a column with missing or infinite values."""
    wrong = ~np.isfinite(column)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"The aggregate {aggregate.text!r} needs numbers, but row {row} of the column {aggregate.column!r} has "
            f"{column[row]}."
        )


def _one_minimum_per_kind(pivot_min: ArrayLike, n_kinds: int, n_clusters: int) -> list[Ints]:
    """Return the minimum of every cluster for each kind of pivots."""
    try:
        given = np.asarray(pivot_min)
        is_whole = given.dtype.kind in "iuf" and bool((given == np.floor(given)).all())
    except ValueError:
        is_whole = False
    if not is_whole or np.abs(given).max(initial=0) > MAX_PIVOTS:
        raise ValueError(
            f"pivot_min must be whole numbers of pivots, got {reprlib.repr(pivot_min)}; at most {MAX_PIVOTS:,}."
        )
    if (given < 0).any():
        raise ValueError(f"pivot_min must not be negative, got {given.min():g}.")
    shapes: dict[tuple[int, ...], str] = {(): "a number", (n_kinds, n_clusters): "one per kind of pivots and cluster"}
    shapes |= {(n_clusters,): "one per cluster"} if n_kinds == 1 else {(n_kinds,): "one per kind of pivots"}
    if given.shape not in shapes:
        wanted = ", ".join(f"{words} {shape}" if shape else words for shape, words in shapes.items())
        raise ValueError(f"pivot_min has the shape {given.shape}; expected {wanted}.")
    if given.shape == (n_kinds,) and n_kinds > 1:
        given = given[:, None]
    return list(np.broadcast_to(given, (n_kinds, n_clusters)).astype(np.int64))


def _gather(kinds: Sequence[PivotKind], sums: Sequence[SummedValue], n_clusters: int, n_rows: int) -> Requirements:
    """Check each constraint by itself, and keep those that no other implies."""
    minima = [np.broadcast_to(np.asarray(kind.minimum, dtype=np.int64), n_clusters) for kind in kinds]
    for kind, minimum in zip(kinds, minima, strict=True):
        _check_enough(kind, minimum)
    kept = [place for place in range(len(kinds)) if not _is_implied(place, kinds, minima)]
    for value in sums:
        _check_total(value, n_clusters)
    if all(value.is_count_limit for value in sums):
        # A flow has a maximum for rows of a kind: rows of which only that is asked are a kind without a minimum.
        for value in sums:
            if value.values.any() and not any((kinds[k].is_pivot == value.values).all() for k in kept):
                kept.append(len(kinds))
                kinds = [*kinds, PivotKind(value.values > 0, 0, value.wording)]
                minima.append(np.zeros(n_clusters, dtype=np.int64))
    requirements = Requirements(
        np.column_stack([kinds[k].is_pivot for k in kept]) if kept else np.empty((n_rows, 0), dtype=bool),
        np.column_stack([minima[k] for k in kept]) if kept else np.empty((n_clusters, 0), dtype=np.int64),
        np.column_stack([value.values for value in sums]) if sums else np.empty((n_rows, 0)),
        [value.operator for value in sums],
        np.array([value.bound for value in sums], dtype=np.float64),
        [kinds[k].wording for k in kept] + [value.wording for value in sums],
    )
    _check_networks(requirements)
    return requirements


def _check_networks(requirements: Requirements) -> None:
    """Refuse a kind that, with the one inside it, needs more rows than there are, or than its maximum."""
    if requirements.limits is None:
        return
    lowest, highest = requirements.limits
    for outer, inner in (requirements.networks or {}).items():
        kinds = [outer] if inner is None else [outer, inner]
        needed, most = lowest[:, kinds].max(axis=1), highest[:, outer]
        wordings = [requirements.wordings[kind] for kind in kinds if lowest[:, kind].any()]
        _check_enough(PivotKind(requirements.is_pivot[:, outer], needed, ", ".join(wordings)), needed)
        if (needed > most).any():
            cluster = int(np.argmax(needed > most))
            raise InfeasibleError(
                f"Cluster {cluster} needs {count(int(needed[cluster]), 'row')} of a kind and may have at most "
                f"{most[cluster]} ({', '.join(dict.fromkeys(requirements.wordings))})",
                remedy=("lower_pivot_min", "drop_aggregate"),
            )


def _check_enough(kind: PivotKind, minimum: Ints) -> None:
    """Refuse more pivots than there are."""
    n_pivots, needed = int(kind.is_pivot.sum()), int(minimum.sum())
    if needed <= n_pivots:
        return
    each = f"{minimum[0]:,} for each" if (minimum == minimum[0]).all() else "all minima together"
    there = "there is none" if n_pivots == 0 else "there is 1" if n_pivots == 1 else f"there are {n_pivots:,}"
    clusters = count(len(minimum), "cluster")
    of_pivots = [part.startswith(PIVOTS) and part.endswith(IN_EVERY_CLUSTER) for part in kind.wording.split(", ")]
    remedies = ("lower_pivot_min", "fewer_clusters", "mark_more_pivots") if any(of_pivots) else ("fewer_clusters",)
    if of_pivots == [True]:
        pivots = count(needed, "pivot") + kind.wording.removeprefix(PIVOTS).removesuffix(IN_EVERY_CLUSTER)
        problem = f"{clusters} {'needs' if len(minimum) == 1 else 'need'} {pivots}, {each}, but {there}"
    else:
        problem = f"No {clusters} satisfy {kind.wording!r}: they need {count(needed, 'such row')}, {each}, but {there}"
    raise InfeasibleError(problem, remedy=remedies if all(of_pivots) else ("drop_aggregate", *remedies))


def _is_implied(place: int, kinds: Sequence[PivotKind], minima: Sequence[Ints]) -> bool:
    """Return whether a kind needs nothing, or no more than a kind of fewer rows; of equal ones the first is kept."""
    if not minima[place].any():
        return True
    for other in range(len(kinds)):
        if other == place or not minima[other].any() or (minima[other] < minima[place]).any():
            continue
        if not (kinds[other].is_pivot & ~kinds[place].is_pivot).any():
            is_equal = (minima[other] == minima[place]).all() and (kinds[other].is_pivot == kinds[place].is_pivot).all()
            if not is_equal or other < place:
                return True
    return False


def _check_total(value: SummedValue, n_clusters: int) -> None:
    """Refuse a sum that too few rows contribute to, or whose total is on the wrong side of the sum of the bounds."""
    total, needed = float(value.values.sum()), n_clusters * value.bound
    slack = ROUNDING * (float(np.abs(value.values).sum()) + abs(needed))
    if value.operator == "!=":
        n_contributing = int(np.count_nonzero(value.values))
        if value.bound == 0 and n_contributing < n_clusters:
            rows = "no row adds" if n_contributing == 0 else f"only {count(n_contributing, 'row')} of the table add"
            raise InfeasibleError(
                f"No {n_clusters} clusters satisfy {value.wording!r}: every cluster needs a row that adds to it, and "
                f"{rows} anything",
                remedy=("drop_aggregate", "fewer_clusters"),
            )
        return
    possible = COMPARE[value.operator](total, needed) or (value.operator not in "<>" and abs(total - needed) <= slack)
    if not possible:
        bounds = {">": "more than", ">=": "at least", "<": "less than", "<=": "at most", "=": "exactly"}
        overall = value.overall or (
            f"all rows together have {spell_number(total)}, and {n_clusters} clusters together have "
            f"{bounds[value.operator]} {spell_number(needed)}"
        )
        raise InfeasibleError(
            f"No {n_clusters} clusters satisfy {value.wording!r}: {overall}",
            remedy=("drop_aggregate", "fewer_clusters"),
        )
