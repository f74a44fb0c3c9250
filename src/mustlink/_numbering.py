"""Numbering of labels."""

from __future__ import annotations

import numpy as np

from mustlink._types import Indices

__all__ = ["number_by_first"]


def number_by_first(label: Indices, n_labels: int) -> tuple[Indices, Indices]:
    """Renumber labels by first appearance; also return the new number of every old label (unused ones last)."""
    first = np.full(n_labels, len(label), dtype=np.intp)
    first[label[::-1]] = np.arange(len(label))[::-1]
    new = np.empty(n_labels, dtype=np.intp)
    new[np.argsort(first, kind="stable")] = np.arange(n_labels)
    return new[label], new
