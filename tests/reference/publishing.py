"""Publishing tiny tables by trying every partition, and privacy models written from their definitions."""

from __future__ import annotations

from collections.abc import Iterator
from math import log

import numpy as np


def partitions(n_rows: int, min_size: int) -> Iterator[list[list[int]]]:
    """Every partition of 0, ..., n_rows - 1 into groups of a minimum size."""

    def extend(row: int, groups: list[list[int]]) -> Iterator[list[list[int]]]:
        if row == n_rows:
            if all(len(group) >= min_size for group in groups):
                yield [list(group) for group in groups]
            return
        for group in groups:
            group.append(row)
            yield from extend(row + 1, groups)
            group.pop()
        groups.append([row])
        yield from extend(row + 1, groups)
        groups.pop()

    yield from extend(0, [])


def is_valid(values: list[object], k: int, needed: float | None, diversity: str, m: float) -> bool:
    """Whether a group with these sensitive values satisfies a model, by its definition."""
    if len(values) < k:
        return False
    if needed is None:
        return True
    counts = sorted((values.count(value) for value in set(values)), reverse=True)
    if diversity == "distinct":
        return len(counts) >= needed
    if diversity == "entropy":
        shares = [count / len(values) for count in counts]
        return -sum(share * log(share) for share in shares) >= log(needed) - 1e-9
    return counts[0] < m * sum(counts[int(needed) - 1 :])


def dispersion(X: np.ndarray, groups: list[list[int]]) -> float:
    """The sum of squared distances to the means."""
    return sum(float(((X[group] - X[group].mean(axis=0)) ** 2).sum()) for group in groups)


def valid_partitions(
    values: list[object], k: int, needed: float | None, diversity: str, m: float
) -> list[list[list[int]]]:
    """Every partition whose groups all satisfy a model."""
    return [
        groups
        for groups in partitions(len(values), k)
        if all(is_valid([values[row] for row in group], k, needed, diversity, m) for group in groups)
    ]
