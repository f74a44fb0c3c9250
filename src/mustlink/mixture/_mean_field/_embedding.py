"""Constant-shift embedding: rows whose squared distances are given dissimilarities plus a constant."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from mustlink._types import Array, Floats

__all__ = ["embed_dissimilarities", "squared_form"]


def squared_form(dissimilarities: Array) -> Floats:
    """Return -1/2 J D J, with J the projection that removes the mean: the inner products of centered rows.

    They are those of real rows if the dissimilarities are squared Euclidean distances; otherwise some eigenvalues are
    negative.
    """
    centered = dissimilarities - dissimilarities.mean(axis=0)
    centered -= centered.mean(axis=1)[:, None]
    return np.asarray(-0.5 * centered, dtype=np.float64)


def embed_dissimilarities(dissimilarities: Array, n_coordinates: int) -> tuple[Floats, float]:
    """Return the leading coordinates of a constant-shift embedding, and the constant.

    A constant added to all dissimilarities of different rows adds the same to the cost of every partition into k
    clusters, and one large enough makes them squared Euclidean distances (Roth, Laub, Kawanabe, Buhmann, 2003).
    """
    values, vectors = eigh(squared_form(dissimilarities))
    shift = max(0.0, -float(values[0]))
    # The direction of all ones has the eigenvalue zero and is not one of the coordinates, whatever the shift.
    is_mean = np.zeros(len(values), dtype=bool)
    is_mean[np.argmax(np.abs(vectors.sum(axis=0)))] = True
    leading = np.flatnonzero(~is_mean)[::-1][:n_coordinates]
    coordinates = vectors[:, leading] * np.sqrt(np.maximum(values[leading] + shift, 0.0))
    return np.ascontiguousarray(coordinates), 2 * shift
