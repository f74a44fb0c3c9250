"""The distance that BBC learns: one step uphill in the pairs, and back to the matrices that are distances."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import coo_array

from mustlink._sklearn_compat import one_blas_thread
from mustlink.constraints import Constraints
from mustlink.errors import TooLargeError

Floats = NDArray[np.float64]

MOST_FEATURES = 5_000
"""The matrix of the distance has d x d entries, and its eigenvalues are needed at every step."""

SMALL = 400
"""Up to this size several threads wait for each other longer than they work, above all on a busy machine."""


@dataclass(frozen=True)
class SignedPairs:
    """All pairs in one list: must-links first, with the sign +1, then cannot-links, with the sign -1."""

    rows: NDArray[np.int64]
    is_must: NDArray[np.bool_]
    start: Floats

    @classmethod
    def of(cls, links: Constraints) -> Self:
        """List the pairs of the constraints, their weights made to sum to 1."""
        weight = np.concatenate([links.must_link_weight, links.cannot_link_weight])
        return cls(
            rows=np.concatenate([links.must_link, links.cannot_link]),
            is_must=np.repeat([True, False], [len(links.must_link), len(links.cannot_link)]),
            start=weight / weight.sum(),
        )

    @property
    def sign(self) -> Floats:
        """The target of every pair, +1 or -1."""
        return np.where(self.is_must, 1.0, -1.0)

    def __len__(self) -> int:
        return len(self.rows)


class PairScatter:
    """The gradient of F(A) = sum over the pairs of weight * sign * S_ij(A), for any weights.

    With S_ij(A) = -(x_i - x_j)' A (x_i - x_j) it does not depend on A: the scatter of the cannot-linked differences
    less that of the must-linked ones. It is worked out as X' L X, with L the Laplacian of the graph of the pairs on
    the linked rows, so that the differences are never written out.
    """

    def __init__(self, X: NDArray[Any], pairs: SignedPairs) -> None:
        linked, places = np.unique(pairs.rows, return_inverse=True)
        self._i, self._j = places.reshape(-1, 2).T
        points = X[linked].astype(np.float64)
        self._points = points - points.mean(axis=0)
        self._sign = pairs.sign

    def __call__(self, weights: Floats) -> Floats:
        """Return the gradient, a symmetric matrix of shape (d, d)."""
        n_linked = len(self._points)
        pull = -self._sign * weights
        graph = coo_array((pull, (self._i, self._j)), shape=(n_linked, n_linked)).tocsr()
        degree = np.bincount(self._i, pull, n_linked) + np.bincount(self._j, pull, n_linked)
        G = self._points.T @ (degree[:, None] * self._points - graph @ self._points - graph.T @ self._points)
        return (G + G.T) / 2


def check_features_fit(n_features: int) -> None:
    """Refuse tables whose distance matrix would be too large to work with."""
    if n_features > MOST_FEATURES:
        raise TooLargeError(
            f"The table has {n_features:,} features, and the distance that is learned would be a matrix of "
            f"{n_features:,} x {n_features:,} numbers; at most {MOST_FEATURES:,} features are taken. Reduce them "
            "first, for example with sklearn.decomposition.PCA."
        )


def nearest_distance(B: Floats) -> tuple[Floats, Floats]:
    """Return the positive semidefinite matrix nearest to a symmetric one, and its symmetric square root.

    The eigenvectors stay, and negative eigenvalues become 0 (Lemma 1 of the paper).
    """
    with one_blas_thread() if len(B) <= SMALL else nullcontext():
        values, vectors = eigh(B)
    keep = values > 0
    values, vectors = values[keep], vectors[:, keep]
    return (vectors * values) @ vectors.T, (vectors * np.sqrt(values)) @ vectors.T


def take_step(A: Floats, G: Floats, step: float) -> tuple[Floats, Floats]:
    """Go uphill from A by a step that depends on the directions of A and G only; return the new A and its root.

    A gets the Frobenius norm of the identity, so that a base which looks at the scale of the points, such as one with
    a radius, sees the same scale in all rounds.
    """
    slope = np.linalg.norm(G)
    uphill = A / np.linalg.norm(A)
    if slope > 0:
        uphill = uphill + step * G / slope
    nearest, root = nearest_distance(uphill)
    size = np.sqrt(len(A)) / np.linalg.norm(nearest)
    return nearest * size, root * np.sqrt(size)
