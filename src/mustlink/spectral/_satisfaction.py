"""The eigenproblem of Wang and Davidson, in coordinates in which the Laplacian is diagonal."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh, eigvalsh

from mustlink._types import Floats
from mustlink.constraints import Constraints

# Eigenvalues below this fraction of the largest one are rounding errors.
RANK_TOLERANCE = 1e-13

# The minimum distance of a bound from one without a solution, as a fraction of the largest eigenvalue.
MARGIN = 1e-6

# The minimum distance of an automatic bound from the limit, as a fraction of the largest eigenvalue.
AUTO_MARGIN = 1e-3


def normalized_links(links: Constraints, degree: Floats) -> Any:
    """Return D^-1/2 Q D^-1/2, where Q is the signed matrix of the links' weights.

    It is scaled such that v' Q v = 1 for the indicator of a cut that satisfies all links: the unit vector of the roots
    of the degrees, with different signs on the two sides.
    """
    degree = np.where(degree > 0, degree, 1.0)
    inverse = sparse.diags_array(1 / np.sqrt(degree))
    unit = 2 * links.weight.sum() / degree.sum()
    return sparse.csr_array(inverse @ links.signed(len(degree)) @ inverse) / unit


def find_bound(links: Floats, n_wanted: int, given: float | None) -> tuple[float, float]:
    """Return a bound, and the limit below which bounds leave `n_wanted` vectors.

    `links` is the matrix of :func:`normalized_links` in coordinates of which the first is the constant vector. A given
    bound is returned even if it is above the limit; None is 0.5 or 0.75, or less if that is not below the limit.
    """
    n_rows = len(links)
    values = eigvalsh(links, subset_by_index=(max(n_rows - n_wanted - 1, 0), n_rows - 1))[::-1]
    largest, constant = float(np.abs(values).max()), float(links[0, 0])
    # With a bound that the constant vector just meets, the other vectors are close to it and cut badly.
    bound = (0.75 if 0.3 < constant <= 0.55 else 0.5) if given is None else given
    limit = float(values[n_wanted - 1])
    # The constant vector, which is no cut, is one of the vectors if it meets the bound.
    if constant >= min(bound, limit):
        limit = float(values[min(n_wanted, n_rows - 1)])
    # A safety margin for rounding.
    limit -= MARGIN * largest
    if given is None:
        bound = min(bound, limit - AUTO_MARGIN * largest)
    if abs(bound - constant) <= MARGIN * largest:
        above = constant + 2 * MARGIN * largest
        bound = above if above < limit else constant - 2 * MARGIN * largest
    return bound, limit


def bounded_vectors(cut: Floats, links: Floats, bound: float, n_wanted: int) -> tuple[Floats, Floats, Floats]:
    """Solve L v = l (Q - b I) v; return the vectors with l > 0 of minimum cost v'Lv, their costs and their v'Qv.

    L is diagonal, with the entries `cut`, of which only the first is 0. A solution with l > 0 is orthogonal to
    (Q - b I) times the first axis; hence the first coordinate follows from the others. Without it, L is positive
    definite and 1 / l are the eigenvalues of a symmetric matrix.
    """
    matrix = links - bound * np.eye(len(links))
    across = matrix[0, 1:] / matrix[0, 0]
    inner = matrix[1:, 1:] - np.outer(matrix[1:, 0], across)
    root = np.sqrt(np.maximum(cut[1:], np.finfo(float).eps))
    values, vectors = eigh(inner / root[:, None] / root[None, :])
    keep = np.flatnonzero(values > RANK_TOLERANCE * np.abs(values).max(initial=0.0))
    rest = vectors[:, keep] / root[:, None]
    found = np.vstack([-across @ rest, rest])
    found /= np.linalg.norm(found, axis=0)
    costs = cut @ np.square(found)
    chosen = np.argsort(costs, kind="stable")[:n_wanted]
    found = found[:, chosen]
    return found, costs[chosen], np.einsum("ij,ij->j", found, links @ found)
