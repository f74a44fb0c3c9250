"""The Mahalanobis metric of BBC: gradient steps on the weighted pairs, projected to positive semidefinite matrices."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array

from mustlink._eigen import decompose
from mustlink._types import Array, Floats
from mustlink.constraints import Constraints

__all__ = ["PairScatter", "project_to_psd", "take_step"]


class PairScatter:
    """The gradient of F(A) = sum over the pairs of weight * sign * S_ij(A), for any weights.

    With S_ij(A) = -(x_i - x_j)' A (x_i - x_j) it does not depend on A: the scatter of the cannot-linked differences
    minus that of the must-linked ones. It is computed as X' L X, with L the Laplacian of the graph of the pairs, and
    the differences are never stored.
    """

    def __init__(self, X: Array, links: Constraints) -> None:
        rows, compact = links.compact()
        self._i, self._j = compact.pairs.T
        self._sign = compact.sign
        points = X[rows].astype(np.float64)
        self._points = points - points.mean(axis=0)

    def __call__(self, weights: Floats) -> Floats:
        """Return the gradient, a symmetric matrix of shape (d, d)."""
        n_linked = len(self._points)
        pull = -self._sign * weights
        graph = coo_array((pull, (self._i, self._j)), shape=(n_linked, n_linked)).tocsr()
        degree = np.bincount(self._i, pull, n_linked) + np.bincount(self._j, pull, n_linked)
        G = self._points.T @ (degree[:, None] * self._points - graph @ self._points - graph.T @ self._points)
        return (G + G.T) / 2


def project_to_psd(B: Floats) -> tuple[Floats, Floats]:
    """Return the positive semidefinite matrix nearest to a symmetric one, and its symmetric square root.

    The eigenvectors stay, and negative eigenvalues become 0 (Lemma 1 of the paper).
    """
    values, vectors = decompose(B)
    keep = values > 0
    values, vectors = values[keep], vectors[:, keep]
    return (vectors * values) @ vectors.T, (vectors * np.sqrt(values)) @ vectors.T


def take_step(A: Floats, G: Floats, step: float) -> tuple[Floats, Floats]:
    """Take a gradient step that depends on the directions of A and G only; return the new A and its square root.

    A keeps the Frobenius norm of the identity: an estimator that depends on the scale of the points, such as one
    with a radius, sees the same scale in all rounds.
    """
    slope = np.linalg.norm(G)
    uphill = A / np.linalg.norm(A)
    if slope > 0:
        uphill = uphill + step * G / slope
    nearest, root = project_to_psd(uphill)
    size = np.sqrt(len(A)) / np.linalg.norm(nearest)
    return nearest * size, root * np.sqrt(size)
