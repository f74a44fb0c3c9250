"""The edges between rows that `fit` takes as `graph`: validation, neighbors and connected parts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from mustlink._spelling import count
from mustlink._types import Indices, Ints
from mustlink.errors import InfeasibleError

__all__ = ["Adjacency", "check_graph", "check_parts"]


@dataclass(frozen=True)
class Adjacency:
    """The neighbors of every row, and the connected part that each row is in.

    Row i has the neighbors ``indices[indptr[i]:indptr[i + 1]]``, in rising order, each once and without i itself.
    """

    indptr: Ints
    indices: Ints

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.indptr) - 1

    @cached_property
    def degree(self) -> Ints:
        """The number of neighbors of every row."""
        return np.diff(self.indptr)

    @cached_property
    def part(self) -> Indices:
        """The number of the connected part of every row, from 0."""
        ones = np.ones(len(self.indices), dtype=np.int8)
        matrix = sparse.csr_array((ones, self.indices, self.indptr), shape=(self.n_rows, self.n_rows))
        return np.asarray(connected_components(matrix, directed=False)[1], dtype=np.intp)

    @property
    def n_parts(self) -> int:
        """The number of connected parts."""
        return int(self.part.max()) + 1


def check_graph(graph: Any, n_rows: int) -> Adjacency | None:
    """Validate a graph between rows.

    Parameters
    ----------
    graph : sparse or dense array of shape (n_rows, n_rows), or None
        Entries other than zero are edges; their size is not used, and neither is the diagonal. None is no restriction.
    n_rows : int
        The number of rows of X.

    Returns
    -------
    Adjacency or None
        The neighbors; None if every row is adjacent to every other.

    Raises
    ------
    ValueError
        If it is not square, has another number of rows than X, or has an entry that is negative, missing or infinite,
        or an edge in one direction only; with the rows in the message.
    """
    if graph is None:
        return None
    matrix = _as_sparse(graph)
    if matrix.shape != (n_rows, n_rows):
        raise ValueError(_describe_shape(matrix.shape, n_rows))
    matrix.sum_duplicates()
    ends = np.repeat(np.arange(n_rows), np.diff(matrix.indptr))
    is_edge = (matrix.data != 0) & (ends != matrix.indices)
    ends, others = ends[is_edge], matrix.indices[is_edge].astype(np.int64)
    _refuse_bad_weights(ends, others, matrix.data[is_edge])
    _refuse_one_way(ends, others, n_rows)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=n_rows))])
    return Adjacency(indptr.astype(np.int64), others)


def check_parts(graph: Adjacency | None, n_clusters: int) -> None:
    """Refuse fewer clusters than connected parts: every part needs one of its own.

    Parameters
    ----------
    graph : Adjacency or None
        The edges.
    n_clusters : int
        The number of clusters.

    Raises
    ------
    InfeasibleError
        With both numbers, and how many parts are single rows.
    """
    if graph is None or graph.n_parts <= n_clusters:
        return
    n_single = int(np.count_nonzero(np.bincount(graph.part) == 1))
    single = f" ({count(n_single, 'of them is a row', 'of them are rows')} without an edge)" if n_single else ""
    raise InfeasibleError(
        f"The graph has {graph.n_parts:,} connected parts{single}, and every part needs a cluster of its own, but "
        f"{count(n_clusters, 'cluster was', 'clusters were')} asked for",
        remedy=("at_least_clusters", "connected_part"),
        n_needed=graph.n_parts,
    )


def _as_sparse(graph: Any) -> Any:
    """Return a graph as a sparse array in rows, whose entries may be of any type of numbers."""
    if hasattr(graph, "adj") and hasattr(graph, "nodes"):
        raise TypeError(
            f"graph must be a sparse or dense array of n x n, got a {type(graph).__name__} of networkx; pass "
            "networkx.to_scipy_sparse_array(graph, nodelist=...), with the nodes in the order of the rows of X."
        )
    array = graph if sparse.issparse(graph) else np.asarray(graph)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise TypeError(
            "graph must be a sparse or dense array of n x n numbers that are not zero where two rows are adjacent, got "
            f"{_spell_array(array)}."
        )
    return sparse.csr_array(array, copy=True)


def _spell_array(array: Any) -> str:
    """Name an array that is no table of numbers."""
    if array.ndim != 2:
        return f"an array of {count(array.ndim, 'dimension')}"
    return f"entries of the type {array.dtype}"


def _describe_shape(shape: tuple[int, int], n_rows: int) -> str:
    """Say what is wrong with the shape of a graph."""
    needed = f"graph must have a row and a column for each of the {count(n_rows, 'row')} of X"
    if shape[1] == 2:
        return (
            f"{needed}, and its shape is {shape}. If these are edges, pass half + half.T with "
            f"half = scipy.sparse.coo_array((np.ones(len(edges)), np.transpose(edges)), shape=({n_rows}, {n_rows}))."
        )
    if shape[0] == n_rows:
        return (
            f"{needed}, and its shape is {shape}. Cross-validation selects rows of a graph and not its columns; "
            "fit on the rows of each fold with graph[fold][:, fold]."
        )
    return f"{needed}, and its shape is {shape}."


def _refuse_bad_weights(ends: Indices, others: Indices, weights: Any) -> None:
    """Refuse weights of edges that are negative, missing or infinite."""
    is_bad = ~np.isfinite(weights) | (weights < 0)
    if is_bad.any():
        place = int(np.argmax(is_bad))
        raise ValueError(
            f"graph has the entry {weights[place]:g} between the rows {ends[place]} and {others[place]}; entries must "
            "be finite and not negative, zero for rows that are not adjacent."
        )


def _refuse_one_way(ends: Indices, others: Indices, n_rows: int) -> None:
    """Refuse an edge from a row to another without one back."""
    there = ends.astype(np.int64) * n_rows + others
    back = others.astype(np.int64) * n_rows + ends
    back.sort()
    there_sorted = np.sort(there)
    if np.array_equal(there_sorted, back):
        return
    row, other = divmod(int(np.setdiff1d(there_sorted, back)[0]), n_rows)
    raise ValueError(
        f"graph is not symmetric: it has an edge from row {row} to row {other}, and none back; "
        "pass graph + graph.T if edges have no direction."
    )
