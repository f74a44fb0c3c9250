"""The leading eigenvectors of a normalized graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu

from mustlink._eigen import MAX_DIRECT_ROWS, decompose
from mustlink._sklearn_compat import one_blas_thread
from mustlink._types import Floats, Indices
from mustlink.spectral._graph import Graph, find_pieces

# If Lanczos does not converge: up to this number of rows a dense solver, beyond that a sparse factorization.
MAX_DENSE_ROWS = 5_000

# The maximum number of restarts of Lanczos.
MAX_RESTARTS = 300

# Just above the largest eigenvalue, 1: the shifted matrix is positive definite.
SHIFT = 1 + 1e-6

# The relative tolerance of the eigenvalues.
TOLERANCE = 1e-9


def symmetric_form(graph: Graph) -> tuple[Any, Floats]:
    """Return D^-1/2 A D^-1/2, and its eigenvector of eigenvalue 1, the roots of the degrees.

    A node without edges gets the diagonal entry 1, as if it had an edge to itself.
    """
    degree = graph.degree
    isolated = degree <= 0
    root = np.sqrt(np.where(isolated, 1.0, degree))
    if sparse.issparse(graph.weights):
        inverse = sparse.diags_array(1 / root)
        return inverse @ graph.weights @ inverse + sparse.diags_array(isolated.astype(float)), root
    matrix = graph.weights / root[:, None]
    matrix /= root[None, :]
    matrix[isolated, isolated] = 1.0
    return matrix, root


def additive_form(graph: Graph) -> tuple[Any, Floats]:
    """Return (A + d_max I - D) / d_max, and its eigenvector of eigenvalue 1, the ones."""
    degree = graph.degree
    largest = degree.max() or 1.0
    ones = np.ones(graph.n_rows)
    if sparse.issparse(graph.weights):
        return graph.weights / largest + sparse.diags_array(1 - degree / largest), ones
    matrix = graph.weights / largest
    matrix.flat[:: graph.n_rows + 1] += 1 - degree / largest
    return matrix, ones


def piece_vectors(piece: Indices, fixed: Floats, max_vectors: int) -> Floats:
    """Return the unit vectors that are proportional to `fixed` on one piece and 0 elsewhere, for the first pieces."""
    vectors = np.zeros((len(piece), min(max_vectors, piece.max() + 1)))
    inside = np.flatnonzero(piece < vectors.shape[1])
    vectors[inside, piece[inside]] = fixed[inside]
    return vectors / np.linalg.norm(vectors, axis=0)


def leading_vectors(graph: Graph, form: str, n_vectors: int, rng: np.random.RandomState) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues of a normalized graph, largest first, and their eigenvectors.

    The eigenvalue 1 has one known vector for each piece of the graph. Lanczos, which converges slowly for multiple
    eigenvalues, searches the others only.
    """
    start = rng.uniform(0.5, 1, graph.n_rows)
    matrix, fixed = (symmetric_form if form == "symmetric" else additive_form)(graph)
    known = piece_vectors(find_pieces(graph.weights), fixed, n_vectors)
    n_left = n_vectors - known.shape[1]
    if n_left == 0:
        return np.ones(n_vectors), known
    # If the factors are sparse, factorization is by far the fastest, and Lanczos alone the slowest.
    search = _by_factors if graph.is_flat and graph.n_rows > MAX_DENSE_ROWS else _by_lanczos
    values, vectors = search(matrix, known, n_left, start)
    return np.concatenate([np.ones(known.shape[1]), values]), np.hstack([known, vectors])


def _by_lanczos(matrix: Any, known: Floats, n_vectors: int, start: Floats) -> tuple[Floats, Floats]:
    """Return the leading eigenpairs orthogonal to the known vectors of eigenvalue 1."""
    n_rows = len(start)
    if n_rows <= MAX_DIRECT_ROWS or n_vectors >= n_rows // 2:
        return _direct(matrix, known, n_vectors)

    def multiply(vector: Floats) -> Floats:
        vector = vector.ravel()
        # The eigenvalues are between -1 and 1; those of the known vectors become the smallest.
        return matrix @ vector - 2 * (known @ (known.T @ vector))

    # The last vectors converge late, so more are computed than needed.
    n_asked = min(n_vectors + 8, n_rows // 2)
    operator = LinearOperator((n_rows, n_rows), matvec=multiply, dtype=np.float64)
    n_basis = min(n_rows, max(4 * n_asked, 60))
    try:
        values, vectors = eigsh(
            operator, k=n_asked, which="LA", v0=start, ncv=n_basis, tol=TOLERANCE, maxiter=MAX_RESTARTS
        )
    except ArpackNoConvergence:
        if not sparse.issparse(matrix) or n_rows <= MAX_DENSE_ROWS:
            return _direct(matrix, known, n_vectors)
        return _by_factors(matrix, known, n_vectors, start)
    order = np.argsort(-values, kind="stable")[:n_vectors]
    return values[order], vectors[:, order]


def _by_factors(matrix: Any, known: Floats, n_vectors: int, start: Floats) -> tuple[Floats, Floats]:
    """Find the same eigenpairs by a factorization of the sparse matrix, for eigenvalues too close for Lanczos."""
    n_rows = len(start)
    shifted = sparse.csc_matrix(sparse.diags_array(np.full(n_rows, SHIFT)) - matrix)
    # The matrix is symmetric and positive definite: an order for symmetric matrices, and diagonal pivots.
    factors = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    def solve(vector: Floats) -> Floats:
        vector = vector.ravel()
        solved = factors.solve(vector - known @ (known.T @ vector))
        return np.asarray(solved - known @ (known.T @ solved))

    operator = LinearOperator((n_rows, n_rows), matvec=solve, dtype=np.float64)
    values, vectors = eigsh(operator, k=n_vectors, which="LA", v0=start, ncv=max(4 * n_vectors, 60))
    order = np.argsort(-values, kind="stable")
    return SHIFT - 1 / values[order], vectors[:, order]


def _direct(matrix: Any, known: Floats, n_vectors: int) -> tuple[Floats, Floats]:
    """Find the same eigenpairs by a direct method on a dense array."""
    dense = matrix.toarray() if sparse.issparse(matrix) else matrix
    with one_blas_thread():
        # The known eigenvalues become -3, below all others.
        values, vectors = decompose(dense - 4 * known @ known.T, n_vectors)
    return values[::-1], vectors[:, ::-1]
