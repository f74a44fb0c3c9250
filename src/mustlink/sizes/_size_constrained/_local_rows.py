"""Rows in blocks under sizes: they must be on this machine, as every assignment is one of all rows together."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from mustlink._types import Array
from mustlink.blocks import BlockedRows, LocalRows

__all__ = ["check_local", "label_rows"]


def check_local(rows: BlockedRows, metric: str) -> None:
    """Refuse rows that are not an array on this machine, and medians of rows in blocks."""
    if not isinstance(rows, LocalRows):
        raise TypeError(
            f"Sizes bound all rows together, so that their costs must be computed on this machine, and X is "
            f"{rows!r}. Write the rows to a file of NumPy and pass mustlink.blocks.open_rows(path); or cluster without "
            "sizes, as PCKMeans does."
        )
    if metric == "manhattan":
        raise ValueError(
            'metric="manhattan" needs all values of a cluster at once for its medians, and X is read in blocks; pass '
            'metric="sqeuclidean", or rows in memory.'
        )


def label_rows(rows: BlockedRows, labels: Array) -> Any:
    """Return labels in the form of the rows: in memory, or written to their file."""
    return rows.label(_as_given, each=[(labels[start:stop],) for start, stop in pairwise(rows.bounds.tolist())])


def _as_given(block: Array, labels: Array) -> Array:
    """Return the labels of a block."""
    return labels
