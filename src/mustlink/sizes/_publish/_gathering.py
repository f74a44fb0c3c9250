"""The first groups: rows are cut into blocks, and in each block groups are gathered around remote rows.

The groups of a block are gathered as by MDAV (maximum distance to the average vector), with two differences: a group
takes the nearest rows that make it diverse enough, and what remains must still allow the groups that are to come. So
every group is valid as it is made, and the rows that are left at the end are a valid group themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mustlink._types import Floats, Indices, Ints
from mustlink.sizes._publish._models import DISTINCT, NO_DIVERSITY, PrivacyModel

__all__ = ["gather_groups"]

# Gathering takes time in proportion to the square of this.
MAX_BLOCK_ROWS = 8192


def gather_groups(X: Floats, codes: Ints, n_groups: int, model: PrivacyModel) -> Ints:
    """Return a valid group for each row, numbered from 0; `n_groups` of them if the model allows and they are found.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        The scaled quasi-identifiers.
    codes : ndarray of int64, shape (n_rows,)
        The sensitive value of each row, from 0; all 0 if there is none.
    n_groups : int
        The number of groups, which ``model.allows``.
    model : PrivacyModel
        What every group must have.
    """
    labels = np.empty(len(X), dtype=np.int64)
    number = 0
    for block, n_wanted in _blocks(X, codes, np.arange(len(X)), n_groups, model):
        for group in _gather(X, codes, block, n_wanted, model):
            labels[group] = number
            number += 1
    return labels


def _blocks(X: Floats, codes: Ints, rows: Indices, n_groups: int, model: PrivacyModel) -> Iterator[tuple[Indices, int]]:
    """Cut rows at the median of their first principal component, and yield small blocks with their shares of groups."""
    if len(rows) <= MAX_BLOCK_ROWS or n_groups < 2:
        yield rows, n_groups
        return
    n_left = n_groups // 2
    order = rows[np.argsort(X[rows] @ _principal_axis(X[rows]), kind="stable")]
    # Both sides keep at least the mean size of a group for each of their groups.
    cut = len(rows) * n_left // n_groups
    sides = (order[:cut], n_left), (order[cut:], n_groups - n_left)
    if all(model.allows(np.bincount(codes[side]), n_wanted) for side, n_wanted in sides):
        for side, n_wanted in sides:
            yield from _blocks(X, codes, side, n_wanted, model)
    else:
        yield rows, n_groups


def _principal_axis(X: Floats) -> Floats:
    """Return the direction of the largest variance."""
    centered = X - X.mean(axis=0)
    axis: Floats = np.linalg.eigh(centered.T @ centered)[1][:, -1]
    return axis


def _gather(X: Floats, codes: Ints, rows: Indices, n_groups: int, model: PrivacyModel) -> Iterator[Indices]:
    """Yield groups of rows: around the row farthest from the mean, then around the row farthest from that one."""
    pool, points = rows, X[rows]
    remote = None
    while n_groups > 1:
        center = points.mean(axis=0) if remote is None else remote
        seed = points[_distances(points, center).argmax()]
        order = np.argsort(_distances(points, seed), kind="stable")
        group = _choose(codes[pool[order]], n_groups, model)
        if group is None:
            break
        yield pool[order[group]]
        kept = np.ones(len(pool), dtype=bool)
        kept[order[group]] = False
        pool, points = pool[kept], points[kept]
        remote = seed if remote is None else None
        n_groups -= 1
    yield pool


def _distances(points: Floats, center: Floats) -> Floats:
    """Return squared distances."""
    offset = points - center
    distances: Floats = np.einsum("ij,ij->i", offset, offset)
    return distances


def _choose(codes: Ints, n_groups: int, model: PrivacyModel) -> Indices | None:
    """Choose the positions of a group among rows in the order of their distance; None if none leaves a valid rest."""
    size = len(codes) // n_groups
    if model.form == NO_DIVERSITY:
        return np.arange(size)
    counts = np.bincount(codes)
    for group in _candidates(codes, counts, size, model):
        inside = np.bincount(codes[group], minlength=len(counts))
        if model.is_valid(inside) and model.allows(counts - inside, n_groups - 1):
            return group
    return None


def _candidates(codes: Ints, counts: Ints, size: int, model: PrivacyModel) -> Iterator[Indices]:
    """Yield groups of the nearest rows: diverse ones first, then those that spare the rare values."""
    if model.form == DISTINCT:
        n_values = int(model.min_diversity or 0)
        first = np.sort(np.unique(codes, return_index=True)[1])[:n_values]
        others = np.setdiff1d(np.arange(min(len(codes), 2 * size)), first)
        yield np.sort(np.concatenate([first, others[: size - len(first)]]))
        yield _within(codes, _from_the_largest(counts, n_values, size))
        return
    rank = _ranks(codes)
    yield np.flatnonzero(rank < model.max_count(size))[:size]
    # Groups of the same composition as the rest; the larger they are, the closer they come to it.
    while size < len(codes):
        yield _within(codes, _proportional(counts, size), rank)
        size *= 2


def _within(codes: Ints, quota: Ints, rank: Ints | None = None) -> Indices:
    """Return the nearest rows with so many of each value."""
    rank = _ranks(codes) if rank is None else rank
    return np.flatnonzero(rank < quota[codes])


def _ranks(codes: Ints) -> Ints:
    """Return the place of each row among the rows of its value."""
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes)
    ranks = np.empty(len(codes), dtype=np.int64)
    ranks[order] = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    return ranks


def _from_the_largest(counts: Ints, n_values: int, size: int) -> Ints:
    """Return how many rows of each value to take: one of the most frequent ones, then always of the most frequent.

    If `counts` allow c groups of `size` rows, what remains allows c - 1.
    """
    quota = np.zeros_like(counts)
    quota[np.argsort(-counts, kind="stable")[:n_values]] = 1
    for _ in range(size - n_values):
        quota[np.argmax(counts - quota)] += 1
    return quota


def _proportional(counts: Ints, size: int) -> Ints:
    """Return how many rows of each value make a group of this size with the shares of all, by largest remainders."""
    exact = counts * size / counts.sum()
    quota = np.floor(exact).astype(np.int64)
    quota[np.argsort(quota - exact, kind="stable")[: size - quota.sum()]] += 1
    return quota
