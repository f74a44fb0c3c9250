"""Entropies of labelings, in natural units, from the counts of their classes."""

from __future__ import annotations

import numpy as np

from mustlink._types import Array, Indices

__all__ = ["entropy_of_counts", "joint_entropies", "mutual_information", "share_explained", "variation"]


def entropy_of_counts(counts: Array) -> float:
    """Return the entropy of the distribution that counts or masses are proportional to."""
    share = counts[counts > 0] / counts.sum()
    # Adding zero removes the sign of minus zero, of one class.
    return float(-(share * np.log(share)).sum()) + 0.0


def joint_entropies(one: Indices, other: Indices) -> tuple[float, float, float]:
    """Return the entropies of two labelings with numbers from 0, and that of both together."""
    pairs = one.astype(np.int64) * (int(other.max()) + 1) + other
    both = np.unique(pairs, return_counts=True)[1]
    return entropy_of_counts(np.bincount(one)), entropy_of_counts(np.bincount(other)), entropy_of_counts(both)


def mutual_information(one: Indices, other: Indices) -> float:
    """Return I(A;B) = H(A) + H(B) - H(A,B), not below 0."""
    first, second, both = joint_entropies(one, other)
    return max(first + second - both, 0.0)


def variation(one: Indices, other: Indices) -> float:
    """Return the variation of information, H(A|B) + H(B|A)."""
    first, second, both = joint_entropies(one, other)
    return max(2 * both - first - second, 0.0)


def share_explained(classes: Indices, clusters: Indices) -> float:
    """Return I(classes; clusters) / H(classes), at most 1; 0 if there is only one class."""
    whole = entropy_of_counts(np.bincount(classes))
    return min(mutual_information(classes, clusters) / whole, 1.0) if whole > 0 else 0.0
