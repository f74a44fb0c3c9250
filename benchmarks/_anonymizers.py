"""Mondrian and MDAV, the two anonymizers that most people know, as rivals of ``mustlink.publish``.

Mondrian (LeFevre, DeWitt and Ramakrishnan 2006) cuts the rows at the median of the column with the widest normalized
range, as long as both parts keep k rows. MDAV (Domingo-Ferrer and Torra 2005) takes the row farthest from the mean with
its k - 1 nearest rows, then the row farthest from that one, until fewer than 3 k rows remain. The
reproduction of chapter 16 has a plain MDAV with the same groups where no distances are equal; here its time is
compared, too, and this one is several times as fast.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def mondrian(columns: dict[str, Any], k: int) -> Any:
    """Return a group for each row.

    `columns` holds floats; categories are cut as numbers, in the order of their codes, which is what the strict
    algorithm needs: an order.
    """
    table = np.column_stack([np.asarray(column, dtype=float) for column in columns.values()])
    spread = np.ptp(table, axis=0)
    spread[spread == 0] = 1.0
    labels = np.empty(len(table), dtype=np.int64)
    waiting, n_groups = [np.arange(len(table))], 0
    while waiting:
        rows = waiting.pop()
        parts = _median_cut(table, rows, spread, k)
        if parts is None:
            labels[rows] = n_groups
            n_groups += 1
        else:
            waiting += parts
    return labels


def _median_cut(table: Any, rows: Any, spread: Any, k: int) -> list[Any] | None:
    """Cut at the median of the widest column in which both parts keep k rows; None if there is no such column."""
    if len(rows) < 2 * k:
        return None
    widths = np.ptp(table[rows], axis=0) / spread
    for column in np.argsort(-widths, kind="stable"):
        if widths[column] == 0:
            return None
        values = table[rows, column]
        # Equal values stay together; of the two cuts beside the median the more even one is taken.
        median = np.median(values)
        best = max((values < median, values <= median), key=lambda left: min(left.sum(), (~left).sum()))
        if min(best.sum(), (~best).sum()) >= k:
            return [rows[best], rows[~best]]
    return None


def mdav(X: Any, k: int) -> Any:
    """Return a group for each row of scaled features."""
    labels = np.empty(len(X), dtype=np.int64)
    rows, points, n_groups = np.arange(len(X)), X, 0

    def take(seed: Any, size: int) -> None:
        nonlocal rows, points, n_groups
        nearest = np.argpartition(_squares(points, seed), size - 1)[:size]
        labels[rows[nearest]] = n_groups
        n_groups += 1
        kept = np.ones(len(rows), dtype=bool)
        kept[nearest] = False
        rows, points = rows[kept], points[kept]

    while len(rows) >= 3 * k:
        seed = points[_squares(points, points.mean(axis=0)).argmax()]
        opposite = points[_squares(points, seed).argmax()]
        take(seed, k)
        take(opposite, k)
    if len(rows) >= 2 * k:
        take(points[_squares(points, points.mean(axis=0)).argmax()], k)
    labels[rows] = n_groups
    return labels


def _squares(points: Any, center: Any) -> Any:
    """Return squared distances."""
    offset = points - center
    return np.einsum("ij,ij->i", offset, offset)
