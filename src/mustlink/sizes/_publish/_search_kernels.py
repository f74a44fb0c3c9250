"""Moves and swaps of rows, and dissolutions of groups, that lower the sum of squares; both ends are checked."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mustlink._jit import jit
from mustlink.sizes._publish._models import DISTINCT, ENTROPY, NO_DIVERSITY

# Rounding must not let a group pass whose entropy is just below the bound.
ENTROPY_MARGIN = 1e-9
# Typed, since numba compiles a function again for every plain constant that it is called with.
NO_ROW = np.int64(-1)


class Groups(NamedTuple):
    """Rows in groups, each a doubly linked list.

    `first` has one row of each group, `following` and `previous` lead on to the others, and -1 ends the list. `sizes`
    and `sums` are the number and the sum of the rows of each group; a group of size 0 is free. `counts` has a zero for
    each sensitive value, to count with.
    """

    X: Any
    codes: Any
    labels: Any
    sizes: Any
    sums: Any
    first: Any
    following: Any
    previous: Any
    counts: Any


class Rule(NamedTuple):
    """What every group must have: a minimum size and a form of diversity; a step must gain more than `min_gain`."""

    min_size: int
    form: int
    min_diversity: float
    m: float
    min_gain: float


@jit
def link_rows(groups: Groups) -> None:
    """Make the lists of all groups."""
    groups.first[:] = NO_ROW
    for row in range(groups.labels.size):
        _push(row, groups.labels[row], groups)


@jit
def _push(row: int, group: int, groups: Groups) -> None:
    """Add a row to the front of the list of a group."""
    head = groups.first[group]
    groups.following[row] = head
    groups.previous[row] = NO_ROW
    if head >= 0:
        groups.previous[head] = row
    groups.first[group] = row


@jit
def _transfer(row: int, target: int, groups: Groups) -> None:
    """Move a row to another group."""
    source = groups.labels[row]
    before, after = groups.previous[row], groups.following[row]
    if before >= 0:
        groups.following[before] = after
    else:
        groups.first[source] = after
    if after >= 0:
        groups.previous[after] = before
    _push(row, target, groups)
    groups.labels[row] = target
    groups.sizes[source] -= 1
    groups.sizes[target] += 1
    for place in range(groups.X.shape[1]):
        groups.sums[source, place] -= groups.X[row, place]
        groups.sums[target, place] += groups.X[row, place]


@jit
def _rows_of(group: int, groups: Groups) -> Any:
    """Return the rows of a group."""
    rows = np.empty(groups.sizes[group], dtype=np.int64)
    row = groups.first[group]
    for place in range(rows.size):
        rows[place] = row
        row = groups.following[row]
    return rows


@jit
def _distance_to_mean(row: int, group: int, groups: Groups) -> float:
    """Return the squared distance of a row to the mean of a group."""
    total = 0.0
    inverse = 1.0 / groups.sizes[group]
    for place in range(groups.X.shape[1]):
        difference = groups.X[row, place] - groups.sums[group, place] * inverse
        total += difference * difference
    return total


@jit
def _distance(one: int, other: int, groups: Groups) -> float:
    """Return the squared distance of two rows."""
    total = 0.0
    for place in range(groups.X.shape[1]):
        difference = groups.X[one, place] - groups.X[other, place]
        total += difference * difference
    return total


@jit
def _stays_diverse(group: int, removed: int, added: int, groups: Groups, rule: Rule) -> bool:
    """Return whether a group is diverse without one row and with another; -1 stands for no row."""
    if rule.form == NO_DIVERSITY:
        return True
    codes, counts = groups.codes, groups.counts
    n_rows = 0
    row = groups.first[group]
    while row >= 0:
        if row != removed:
            counts[codes[row]] += 1
            n_rows += 1
        row = groups.following[row]
    if added >= 0:
        counts[codes[added]] += 1
        n_rows += 1
    # Collect the counts, and leave zeros behind for the next group.
    found = np.empty(n_rows, dtype=np.int64)
    n_values = 0
    row = groups.first[group]
    while row >= 0 or added >= 0:
        code = codes[row] if row >= 0 else codes[added]
        if counts[code] > 0:
            found[n_values] = counts[code]
            counts[code] = 0
            n_values += 1
        if row < 0:
            break
        row = groups.following[row]
    return _is_diverse(found[:n_values], n_rows, rule)


@jit
def _is_diverse(counts: Any, n_rows: int, rule: Rule) -> bool:
    """Return whether positive counts of sensitive values are diverse enough; the counts are used up.

    Never true where ``PrivacyModel.is_diverse`` is false.
    """
    if rule.form == DISTINCT:
        return counts.size >= rule.min_diversity
    if rule.form == ENTROPY:
        # The entropy of equal counts is known exactly, and is on the bound most often.
        if counts.min() == counts.max():
            return counts.size >= rule.min_diversity
        entropy = 0.0
        for count in counts:
            share = count / n_rows
            entropy -= share * np.log(share)
        return entropy >= np.log(rule.min_diversity) + ENTROPY_MARGIN
    # Take away the most frequent values one by one; the first of them is compared with what remains.
    rest, most = n_rows, 0
    for number in range(int(rule.min_diversity) - 1):
        place = np.argmax(counts)
        if number == 0:
            most = counts[place]
        rest -= counts[place]
        counts[place] = 0
    return rest > 0 and max(most, counts.max()) / rest < rule.m


@jit
def improve_groups(groups: Groups, near: Any, rule: Rule) -> None:
    """Go once through the rows, and make the best move or swap of each with a group near its own."""
    for row in range(groups.labels.size):
        own = groups.labels[row]
        own_distance = _distance_to_mean(row, own, groups)
        if own_distance <= rule.min_gain:
            continue
        best, target, partner = rule.min_gain, NO_ROW, NO_ROW
        size = groups.sizes[own]
        for group in near[own]:
            distance = _distance_to_mean(row, group, groups)
            other_size = groups.sizes[group]
            if size > rule.min_size:
                gain = own_distance * size / (size - 1.0) - distance * other_size / (other_size + 1.0)
                if (
                    gain > best
                    and _stays_diverse(own, row, NO_ROW, groups, rule)
                    and _stays_diverse(group, NO_ROW, row, groups, rule)
                ):
                    best, target, partner = gain, group, NO_ROW
            # A row that gains by a swap is nearly always nearer to the other mean.
            if distance < own_distance:
                best, target, partner = _best_swap(
                    row, group, own_distance - distance, best, target, partner, groups, rule
                )
        if target >= 0:
            _transfer(row, target, groups)
            if partner >= 0:
                _transfer(partner, own, groups)


@jit
def _best_swap(
    row: int, group: int, nearer: float, best: float, target: int, partner: int, groups: Groups, rule: Rule
) -> tuple[float, int, int]:
    """Return the best of the steps so far and of the swaps of a row with those of a group."""
    own = groups.labels[row]
    inverse = 1.0 / groups.sizes[own] + 1.0 / groups.sizes[group]
    other = groups.first[group]
    while other >= 0:
        gain = (
            nearer
            + _distance_to_mean(other, group, groups)
            - _distance_to_mean(other, own, groups)
            + inverse * _distance(row, other, groups)
        )
        if gain > best and (
            groups.codes[row] == groups.codes[other]
            or (_stays_diverse(own, row, other, groups, rule) and _stays_diverse(group, other, row, groups, rule))
        ):
            best, target, partner = gain, group, other
        other = groups.following[other]
    return best, target, partner


@jit
def dissolve_groups(groups: Groups, near: Any, rule: Rule) -> None:
    """Dissolve each group whose rows fit so well into the groups near it that the sum becomes lower."""
    for group in range(near.shape[0]):
        rows = _rows_of(group, groups)
        inside = 0.0
        for row in rows:
            inside += _distance_to_mean(row, group, groups)
        added, n_moved = 0.0, 0
        for row in rows:
            best, target = np.inf, NO_ROW
            for other in near[group]:
                size = groups.sizes[other]
                if size == 0:
                    continue
                cost = _distance_to_mean(row, other, groups) * size / (size + 1.0)
                if cost < best and _stays_diverse(other, NO_ROW, row, groups, rule):
                    best, target = cost, other
            added += best
            if added > inside - rule.min_gain:
                break
            _transfer(row, target, groups)
            n_moved += 1
        if n_moved < rows.size:
            for row in rows[:n_moved]:
                _transfer(row, group, groups)
