"""Exhaustive and efficient constraint propagation: links spread over a graph and adjust its weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import solve

from mustlink._types import Floats, Indices
from mustlink.constraints import Constraints
from mustlink.spectral._eigenvectors import symmetric_form
from mustlink.spectral._graph import Graph, with_short_indices

# The maximum number of new edges that a row chooses.
MAX_NEW_EDGES = 50

# The maximum number of products in a block of rows of the propagated links.
MAX_PRODUCTS = 4_000_000

# The minimum scale of the propagated links, as a fraction of the largest one at a link: below are rounding errors.
MIN_SCALE = 1e-6


def spread_links(graph: Graph, links: Constraints, alpha: float, cutoff: float) -> Graph:
    """Adjust the weights of a graph by the propagated links."""
    largest = float(graph.weights.max())
    if largest > 1 + 1e-8:
        raise ValueError(f"A precomputed affinity must be at most 1; it contains {largest:g}. Divide it by that.")
    if links.is_empty:
        return graph
    linked = np.unique(links.pairs)
    signed = links.signed(graph.n_rows)[linked][:, linked]
    matrix, _ = symmetric_form(graph)
    if not sparse.issparse(graph.weights):
        return replace(graph, weights=_adjust_dense(graph.weights, matrix, linked, signed, links, alpha))
    spread = _spread(with_short_indices(sparse.csr_array(matrix)), linked.astype(np.int32), alpha, cutoff)
    return _adjust_sparse(graph, spread, signed, links, cutoff)


def _spread(matrix: Any, linked: Indices, alpha: float, cutoff: float) -> Any:
    """Return the columns of (1 - a) (I - a L)^-1 of the linked rows, a sparse array with one column per linked row.

    They are the sum of (1 - a) a^t L^t. What is below the fraction `cutoff` of the start spreads no further, so that a
    column has entries only near its row, whatever the size of the graph.
    """
    shape = (matrix.shape[0], len(linked))
    step = sparse.csr_array((np.full(len(linked), 1 - alpha), (linked, np.arange(len(linked)))), shape=shape)
    total, matrix = step, alpha * matrix
    while step.nnz:
        step = sparse.csr_array(matrix @ step)
        step.data[step.data < cutoff * (1 - alpha)] = 0.0
        step.eliminate_zeros()
        total = total + step
    return total


def _find_scale(at_links: Floats) -> float:
    """Return what the propagated links are divided by: their median size at the links."""
    size = np.abs(at_links)
    return float(max(np.median(size), MIN_SCALE * size.max(), np.finfo(float).tiny))


def _adjust_dense(
    weights: Floats, matrix: Floats, linked: Indices, signed: Any, links: Constraints, alpha: float
) -> Any:
    """Adjust all weights by the formulas of the paper."""
    system = -alpha * matrix
    system.flat[:: len(system) + 1] += 1.0
    columns = np.zeros((len(system), len(linked)))
    columns[linked, np.arange(len(linked))] = 1 - alpha
    spread = solve(system, columns, assume_a="pos", overwrite_a=True, overwrite_b=True)
    found = spread @ (signed @ spread.T)
    a, b = links.pairs.T
    found = np.clip(found / _find_scale(found[a, b]), -1.0, 1.0)
    adjusted = np.where(found >= 0, 1 - (1 - found) * (1 - weights), (1 + found) * weights)
    np.fill_diagonal(adjusted, 0.0)
    return np.maximum(adjusted, adjusted.T)


def _adjust_sparse(graph: Graph, spread: Any, signed: Any, links: Constraints, min_size: float) -> Graph:
    """Adjust the weights of the edges, and add edges between rows near must-linked ones."""
    across = with_short_indices(sparse.csr_array(signed @ spread.T))
    a, b = links.pairs.T
    across = across / _find_scale(spread[a].multiply(sparse.csr_array(across.T)[b]).sum(axis=1))
    old_blocks, new_blocks = [], []
    for begin, end in _blocks(spread, across):
        found = spread[begin:end] @ across
        found.data[np.abs(found.data) < min_size] = 0.0
        found.eliminate_zeros()
        np.clip(found.data, -1.0, 1.0, out=found.data)
        weights = graph.weights[begin:end]
        on_edges = sparse.csr_array(found.multiply(weights != 0))
        old_blocks.append(weights + on_edges.maximum(0) - weights.multiply(abs(on_edges)))
        new_blocks.append(_heaviest_new(found - on_edges, begin))
    old, new = sparse.csr_array(sparse.vstack(old_blocks)), sparse.csr_array(sparse.vstack(new_blocks))
    # Rounding can differ on the two sides of the diagonal, and an edge may be among the heaviest of one row only.
    new = sparse.csr_array(new.maximum(new.T))
    weights = sparse.csr_array(old.maximum(old.T) + new)
    weights.eliminate_zeros()
    return replace(graph, weights=weights, n_long_edges=new.nnz // 2)


def _blocks(spread: Any, across: Any) -> Iterator[tuple[int, int]]:
    """Divide the rows into blocks whose part of the propagated links is not too large."""
    products = np.zeros(len(spread.indices) + 1)
    np.cumsum(np.diff(across.indptr)[spread.indices], out=products[1:])
    until = products[spread.indptr[1:]]
    begin, n_rows = 0, spread.shape[0]
    while begin < n_rows:
        done = until[begin - 1] if begin else 0.0
        end = max(begin + 1, int(np.searchsorted(until, done + MAX_PRODUCTS, side="right")))
        yield begin, end
        begin = end


def _heaviest_new(found: Any, begin: int) -> Any:
    """Keep the largest positive entries of every row of a block, without the diagonal."""
    found = found.tocoo()
    keep = (found.data > 0) & (found.row + begin != found.col)
    row, column, weight = found.row[keep], found.col[keep], found.data[keep]
    if np.bincount(row).max(initial=0) > MAX_NEW_EDGES:
        order = np.lexsort((column, -weight, row))
        row, column, weight = row[order], column[order], weight[order]
        chosen = np.arange(len(row)) - np.searchsorted(row, row) < MAX_NEW_EDGES
        row, column, weight = row[chosen], column[chosen], weight[chosen]
    return sparse.csr_array((weight, (row, column)), shape=found.shape)
