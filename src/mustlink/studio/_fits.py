"""Results of the background, kept in little memory."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from mustlink._numbering import number_by_first
from mustlink._types import Floats, Ints

__all__ = ["PackedFit"]

# Confidences are kept as whole numbers from 0 to this.
STEPS = 255
# Little more memory than with a higher level, and several times faster.
LEVEL = 1


@dataclass(frozen=True)
class PackedFit:
    """The labels and confidences of one fit, compressed: a state of a long history takes little memory.

    Parameters
    ----------
    method : str
        The name of the clusterer.
    n_rows : int
        The number of rows.
    packed_labels : bytes
        The labels as int32, compressed.
    packed_confidence : bytes
        The confidences in steps of 1/255, compressed; empty if the method has none.
    """

    method: str
    n_rows: int
    packed_labels: bytes
    packed_confidence: bytes = b""

    @classmethod
    def pack(cls, method: str, labels: Ints, confidence: Floats | None) -> PackedFit:
        """Keep the result of a fit; labels are numbered by their first rows, -1 is no group."""
        numbered = np.full(len(labels), -1, dtype=np.int32)
        known = labels >= 0
        if known.any():
            _, places = np.unique(labels[known], return_inverse=True)
            numbered[known] = number_by_first(places, int(places.max()) + 1)[0]
        steps = b"" if confidence is None else np.rint(np.clip(confidence, 0, 1) * STEPS).astype(np.uint8).tobytes()
        return cls(method, len(labels), zlib.compress(numbered.tobytes(), LEVEL), steps and zlib.compress(steps, LEVEL))

    def labels(self) -> Ints:
        """Return the labels, numbered by their first rows."""
        return np.frombuffer(zlib.decompress(self.packed_labels), dtype=np.int32).astype(np.int64)

    def confidence(self) -> Floats:
        """Return the confidence of every row, 1 if the method has none."""
        if not self.packed_confidence:
            return np.ones(self.n_rows)
        return np.frombuffer(zlib.decompress(self.packed_confidence), dtype=np.uint8) / STEPS
