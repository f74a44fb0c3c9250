"""The eigenproblem of Wang and Davidson, in coordinates where the Laplacian is diagonal."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh, eigvalsh

from mustlink.constraints import Constraints
from mustlink.spectral._graph import pair_matrix

Floats = NDArray[np.float64]

POSITIVE = 1e-13
"""An eigenvalue below this share of the largest is rounding."""

APART = 1e-6
"""The share of the largest eigenvalue by which a bound keeps away from one without a solution."""

BELOW = 1e-3
"""The share of the largest eigenvalue by which a bound that is not asked for stays below what can be reached."""


def link_matrix(links: Constraints, degree: Floats) -> Any:
    """Return D^-1/2 Q D^-1/2, Q holding the weights of must-links and, negative, those of cannot-links.

    The unit is such that the vector of length 1 that has one sign on each side of a cut, and the roots of the degrees
    as values, has v' Q v = 1 if the cut keeps all links.
    """
    n_rows = len(degree)
    degree = np.where(degree > 0, degree, 1.0)
    matrix = pair_matrix(links.must_link, n_rows, links.must_link_weight)
    matrix = matrix - pair_matrix(links.cannot_link, n_rows, links.cannot_link_weight)
    inverse = sparse.diags_array(1 / np.sqrt(degree))
    unit = 2 * (links.must_link_weight.sum() + links.cannot_link_weight.sum()) / degree.sum()
    return sparse.csr_array(inverse @ matrix @ inverse) / unit


def auto_share(constant: float) -> float:
    """Return how well to keep links if nobody says: half, but not just as well as the constant vector does.

    With a bound that the constant vector just meets, the other vectors lean towards it and cut badly.
    """
    return 0.75 if 0.3 < constant <= 0.55 else 0.5


def find_bound(links: Floats, n_wanted: int, asked: float | None) -> tuple[float, float]:
    """Return a bound, and the limit below which it leaves as many vectors as wanted.

    Parameters
    ----------
    links : ndarray of shape (n, n)
        The matrix Q, in coordinates of which the first is the constant vector, and in units in which an indicator
        that keeps all links has 1.
    n_wanted : int
        The number of vectors.
    asked : float or None
        The bound that is asked for. It is returned even if it lies above the limit. None is :func:`auto_share`, or
        something below the limit.
    """
    n_rows = len(links)
    values = eigvalsh(links, subset_by_index=(max(n_rows - n_wanted - 1, 0), n_rows - 1))[::-1]
    largest, constant = float(np.abs(values).max()), float(links[0, 0])
    bound = auto_share(constant) if asked is None else asked
    limit = float(values[n_wanted - 1])
    # The constant vector, which is no cut, takes one of the places if it keeps the bound.
    if constant >= min(bound, limit):
        limit = float(values[min(n_wanted, n_rows - 1)])
    # What can be reached only up to rounding is taken as out of reach.
    limit -= APART * largest
    if asked is None:
        bound = min(bound, limit - BELOW * largest)
    if abs(bound - constant) <= APART * largest:
        above = constant + 2 * APART * largest
        bound = above if above < limit else constant - 2 * APART * largest
    return bound, limit


def bounded_vectors(cut: Floats, links: Floats, bound: float, n_wanted: int) -> tuple[Floats, Floats, Floats]:
    """Solve L v = l (Q - b I) v, and return the cheapest vectors with l > 0, their costs v'Lv and their v'Qv.

    L is diagonal, with `cut` on it, and only the first entry is 0. A solution with l > 0 is at right angles to
    (Q - b I) times the first axis; so the first coordinate is given by the others and can be left out, after which L is
    positive definite and 1 / l are the eigenvalues of a symmetric matrix.
    """
    matrix = links - bound * np.eye(len(links))
    across = matrix[0, 1:] / matrix[0, 0]
    inner = matrix[1:, 1:] - np.outer(matrix[1:, 0], across)
    root = np.sqrt(np.maximum(cut[1:], np.finfo(float).eps))
    values, vectors = eigh(inner / root[:, None] / root[None, :])
    keep = np.flatnonzero(values > POSITIVE * np.abs(values).max(initial=0.0))
    rest = vectors[:, keep] / root[:, None]
    found = np.vstack([-across @ rest, rest])
    found /= np.linalg.norm(found, axis=0)
    costs = cut @ np.square(found)
    chosen = np.argsort(costs, kind="stable")[:n_wanted]
    found = found[:, chosen]
    return found, costs[chosen], np.einsum("ij,ij->j", found, links @ found)
