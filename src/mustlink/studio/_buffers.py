"""Arrays as binary messages: a header of four little-endian uint32 (kind, revision, view, count), then the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._types import Array, Ints

__all__ = [
    "CONFIDENCE",
    "EDGES",
    "LABELS",
    "NO_GROUP",
    "POSITIONS",
    "pack_confidence",
    "pack_edges",
    "pack_labels",
    "pack_positions",
]

POSITIONS, LABELS, CONFIDENCE, EDGES = 1, 2, 3, 4
# The label of a row that is in no group.
NO_GROUP = 65535


def pack_positions(positions: Array, revision: int, view: int) -> bytes:
    """Pack the positions of all rows in a view."""
    return _pack(POSITIONS, revision, view, len(positions), np.asarray(positions, dtype="<f4"))


def pack_labels(labels: Ints, revision: int) -> bytes:
    """Pack the group of every row; what does not fit in 16 bits is shown as no group."""
    has_number = (labels >= 0) & (labels < NO_GROUP)
    return _pack(LABELS, revision, 0, len(labels), np.where(has_number, labels, NO_GROUP).astype("<u2"))


def pack_confidence(confidence: Array, revision: int) -> bytes:
    """Pack the confidence of every row, from 0 to 255."""
    bounded = np.clip(np.nan_to_num(confidence), 0.0, 1.0)
    return _pack(CONFIDENCE, revision, 0, len(confidence), np.rint(255 * bounded).astype("u1"))


def pack_edges(edges: Ints, revision: int) -> bytes:
    """Pack edges, as pairs of rows."""
    return _pack(EDGES, revision, 0, len(edges), np.asarray(edges, dtype="<u4"))


def _pack(kind: int, revision: int, view: int, count: int, payload: Any) -> bytes:
    """Put a header in front of the numbers."""
    return np.array([kind, revision, view, count], dtype="<u4").tobytes() + payload.tobytes()
