"""The leading eigenvectors of a normalised graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu

from mustlink._sklearn_compat import one_blas_thread
from mustlink.spectral._graph import Graph, find_pieces

Floats = NDArray[np.float64]

MOST_DIRECT_ROWS = 500
"""Up to here a direct method is quicker than Lanczos."""

MOST_ROWS_OF_AN_ARRAY = 5_000
"""Up to here the direct method stands in where Lanczos does not converge; beyond, factors of the sparse matrix do."""

MOST_RESTARTS = 300
"""Lanczos that needs more has no end in sight."""

BEYOND_ONE = 1 + 1e-6
"""A number just above the largest eigenvalue, 1, so that the matrix to be factored is positive definite."""

TOLERANCE = 1e-9
"""Of the eigenvalues, relative; the clusters that are read from the vectors do not change long before."""


def symmetric_form(graph: Graph) -> tuple[Any, Floats]:
    """Return D^-1/2 A D^-1/2, and the root of the degrees, which it leaves as it is.

    A node without edges gets the diagonal entry 1, as if it had an edge to itself.
    """
    degree = graph.degree
    lonely = degree <= 0
    root = np.sqrt(np.where(lonely, 1.0, degree))
    if sparse.issparse(graph.weights):
        inverse = sparse.diags_array(1 / root)
        return inverse @ graph.weights @ inverse + sparse.diags_array(lonely.astype(float)), root
    matrix = graph.weights / root[:, None]
    matrix /= root[None, :]
    matrix[lonely, lonely] = 1.0
    return matrix, root


def additive_form(graph: Graph) -> tuple[Any, Floats]:
    """Return (A + d_max I - D) / d_max, and ones, which it leaves as they are."""
    degree = graph.degree
    largest = degree.max() or 1.0
    ones = np.ones(graph.n_rows)
    if sparse.issparse(graph.weights):
        return graph.weights / largest + sparse.diags_array(1 - degree / largest), ones
    matrix = graph.weights / largest
    matrix.flat[:: graph.n_rows + 1] += 1 - degree / largest
    return matrix, ones


def piece_vectors(piece: NDArray[np.intp], fixed: Floats, n_most: int) -> Floats:
    """Return the vectors that are `fixed` on one piece and 0 elsewhere, of length 1, for the first pieces."""
    vectors = np.zeros((len(piece), min(n_most, piece.max() + 1)))
    inside = np.flatnonzero(piece < vectors.shape[1])
    vectors[inside, piece[inside]] = fixed[inside]
    return vectors / np.linalg.norm(vectors, axis=0)


def leading_vectors(graph: Graph, form: str, n_vectors: int, rng: np.random.RandomState) -> tuple[Floats, Floats]:
    """Return the eigenvectors of the largest eigenvalues of a normalised graph, largest first, and the eigenvalues.

    The eigenvalue 1 has one vector for each piece of the graph, which need not be searched for. Lanczos, which has
    trouble with equal eigenvalues, is left with those within the pieces.
    """
    start = rng.uniform(0.5, 1, graph.n_rows)
    matrix, fixed = (symmetric_form if form == "symmetric" else additive_form)(graph)
    known = piece_vectors(find_pieces(graph.weights), fixed, n_vectors)
    n_left = n_vectors - known.shape[1]
    if n_left == 0:
        return np.ones(n_vectors), known
    # Where factors stay sparse they are by far the quickest way, and Lanczos alone the slowest: such a graph is long.
    search = _by_factors if graph.is_flat and graph.n_rows > MOST_ROWS_OF_AN_ARRAY else _by_lanczos
    values, vectors = search(matrix, known, n_left, start)
    return np.concatenate([np.ones(known.shape[1]), values]), np.hstack([known, vectors])


def _by_lanczos(matrix: Any, known: Floats, n_vectors: int, start: Floats) -> tuple[Floats, Floats]:
    """Return the leading eigenpairs at right angles to the known vectors of eigenvalue 1."""
    n_rows = len(start)
    if n_rows <= MOST_DIRECT_ROWS or n_vectors >= n_rows // 2:
        return _direct(matrix, known, n_vectors)

    def multiply(vector: Floats) -> Floats:
        vector = vector.ravel()
        # The eigenvalues lie between -1 and 1, so that those of the known vectors become the smallest.
        return matrix @ vector - 2 * (known @ (known.T @ vector))

    # The last of several vectors comes late, and is one that nobody asked for.
    n_asked = min(n_vectors + 8, n_rows // 2)
    operator = LinearOperator((n_rows, n_rows), matvec=multiply, dtype=np.float64)
    n_basis = min(n_rows, max(4 * n_asked, 60))
    try:
        values, vectors = eigsh(
            operator, k=n_asked, which="LA", v0=start, ncv=n_basis, tol=TOLERANCE, maxiter=MOST_RESTARTS
        )
    except ArpackNoConvergence:
        if not sparse.issparse(matrix) or n_rows <= MOST_ROWS_OF_AN_ARRAY:
            return _direct(matrix, known, n_vectors)
        return _by_factors(matrix, known, n_vectors, start)
    order = np.argsort(-values, kind="stable")[:n_vectors]
    return values[order], vectors[:, order]


def _by_factors(matrix: Any, known: Floats, n_vectors: int, start: Floats) -> tuple[Floats, Floats]:
    """Find the same eigenpairs by factors of the sparse matrix, where the eigenvalues are too near for Lanczos."""
    n_rows = len(start)
    shifted = sparse.csc_matrix(sparse.diags_array(np.full(n_rows, BEYOND_ONE)) - matrix)
    # It is symmetric and positive definite: an order for symmetric matrices, and no pivots off the diagonal.
    factors = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    def solve(vector: Floats) -> Floats:
        vector = vector.ravel()
        solved = factors.solve(vector - known @ (known.T @ vector))
        return np.asarray(solved - known @ (known.T @ solved))

    operator = LinearOperator((n_rows, n_rows), matvec=solve, dtype=np.float64)
    values, vectors = eigsh(operator, k=n_vectors, which="LA", v0=start, ncv=max(4 * n_vectors, 60))
    order = np.argsort(-values, kind="stable")
    return BEYOND_ONE - 1 / values[order], vectors[:, order]


def _direct(matrix: Any, known: Floats, n_vectors: int) -> tuple[Floats, Floats]:
    """Find the same eigenpairs by a direct method, on an array."""
    dense = matrix.toarray() if sparse.issparse(matrix) else matrix
    n_rows = len(dense)
    with one_blas_thread():
        # The known eigenvalues become -3, below all others, so that none is mixed with them.
        values, vectors = eigh(dense - 4 * known @ known.T, subset_by_index=(n_rows - n_vectors, n_rows - 1))
    return values[::-1], vectors[:, ::-1]


def to_sphere(vectors: Floats) -> Floats:
    """Bring every row to length 1; a row of zeros stays."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(length > 0, length, 1.0)
