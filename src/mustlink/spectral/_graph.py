"""Weighted graphs of the rows of X, and the mixin with their parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from sklearn.metrics import euclidean_distances
from sklearn.utils import Tags

from mustlink._neighbors import nearest_neighbors
from mustlink._sklearn_compat import Interval, StrOptions
from mustlink._types import Floats, Indices
from mustlink.base import check_fits, check_table
from mustlink.constraints import Constraints

# The number of rows of a piece that are compared with another piece at a time.
ROWS_AT_ONCE = 1_024


@dataclass(frozen=True)
class Graph:
    """A symmetric matrix of nonnegative weights, sparse or dense, with a diagonal of zeros.

    `scale`, the local scale of each row, is None if all edges have the same weight, `X` if weights are precomputed;
    `n_long_edges` is the number of edges that do not join near rows: must-links, or edges that links added.
    """

    weights: Any
    scale: Floats | None = None
    X: Any = None
    n_long_edges: int = 0

    @property
    def n_rows(self) -> int:
        """The number of nodes."""
        return int(self.weights.shape[0])

    @property
    def is_flat(self) -> bool:
        """Whether factors are sparse: edges join neighbors in at most three dimensions, but for a few long ones."""
        few_columns = self.X is not None and self.X.shape[1] <= 3
        return few_columns and sparse.issparse(self.weights) and 20 * self.n_long_edges <= self.n_rows

    @property
    def degree(self) -> Floats:
        """The sum of the weights of the edges of every node."""
        return np.asarray(self.weights.sum(axis=1), dtype=np.float64).ravel()


def make_graph(X: Any, affinity: str, n_neighbors: int, scale_neighbor: int | None, max_samples: int) -> Graph:
    """Build the graph for the parameters of a clusterer."""
    if affinity == "precomputed":
        return precomputed_graph(X)
    if affinity == "nearest_neighbors":
        return neighbor_graph(X, n_neighbors, scale_neighbor)
    if scale_neighbor is None:
        raise ValueError('affinity="full" needs local scales; give scale_neighbor, for example 7.')
    check_array_fits('affinity="full"', X.shape[0], max_samples, 'affinity="nearest_neighbors"')
    return full_graph(X, scale_neighbor)


def check_array_fits(what: str, n_rows: int, max_samples: int, instead: str) -> None:
    """Refuse an n x n array of more than max_samples rows."""
    check_fits(what, (n_rows, n_rows), max_samples**2, f"use {instead}, fewer rows, or a larger max_samples")


def neighbor_graph(X: Any, n_neighbors: int, scale_neighbor: int | None) -> Graph:
    """Connect each two rows of which one is among the nearest neighbors of the other."""
    n_rows = X.shape[0]
    if n_rows == 1:
        return Graph(sparse.csr_array((1, 1)), None if scale_neighbor is None else np.ones(1), X)
    n_edges = min(n_neighbors, n_rows - 1)
    n_found = min(max(n_edges, scale_neighbor or 0), n_rows - 1)
    distance, neighbor = nearest_neighbors(X, n_found)
    row = np.repeat(np.arange(n_rows), n_edges)
    column = neighbor[:, :n_edges].ravel()
    scale = None if scale_neighbor is None else _positive(distance[:, min(scale_neighbor, n_rows - 1) - 1])
    weight = np.ones(len(row))
    if scale is not None:
        weight = np.exp(-np.square(distance[:, :n_edges].ravel()) / (scale[row] * scale[column]))
    weights = sparse.csr_array((weight, (row, column)), shape=(n_rows, n_rows))
    weights = sparse.csr_array(weights.maximum(weights.T))
    weights.eliminate_zeros()
    return Graph(weights, scale, X)


def full_graph(X: Any, scale_neighbor: int) -> Graph:
    """Connect all rows, with the weights exp(-d^2 / (s_i s_j)), where s is the distance to a near neighbor."""
    squared = euclidean_distances(X, squared=True).astype(np.float64, copy=False)
    neighbor = min(scale_neighbor, len(squared) - 1)
    scale = _positive(np.sqrt(np.partition(squared, neighbor, axis=1)[:, neighbor]))
    squared /= scale[:, None]
    squared /= scale[None, :]
    weights = np.exp(np.negative(squared, out=squared), out=squared)
    np.fill_diagonal(weights, 0.0)
    return Graph(weights, scale, X)


def _positive(scale: Floats) -> Floats:
    """Replace scales of 0, which rows with many duplicates have, by the smallest positive scale."""
    positive = scale[scale > 0]
    return np.where(scale > 0, scale, positive.min() if len(positive) else 1.0).astype(np.float64)


def precomputed_graph(X: Any) -> Graph:
    """Check a precomputed affinity, and set its diagonal to zero."""
    if X.shape[0] != X.shape[1]:
        raise ValueError(f"A precomputed affinity must be square; its shape is {X.shape}.")
    weights: Any = sparse.csr_array(X, dtype=np.float64) if sparse.issparse(X) else np.array(X, dtype=np.float64)
    values = weights.data if sparse.issparse(weights) else weights
    if values.size and values.min() < 0:
        raise ValueError(f"Negative values in data: a precomputed affinity contains {values.min():g}.")
    if abs(weights - weights.T).max() > 1e-8 * max(1.0, values.max() if values.size else 0.0):
        raise ValueError("A precomputed affinity must be symmetric; use (A + A.T) / 2.")
    if sparse.issparse(weights):
        weights = sparse.csr_array(weights - sparse.diags_array(weights.diagonal()))
        weights.eliminate_zeros()
    else:
        np.fill_diagonal(weights, 0.0)
    return Graph(weights)


def with_short_indices(weights: Any) -> Any:
    """Return a sparse array with 32-bit indices, which scikit-learn requires, or a dense one as it is."""
    if not sparse.issparse(weights) or weights.nnz > np.iinfo(np.int32).max:
        return weights
    indices = weights.indices.astype(np.int32, copy=False), weights.indptr.astype(np.int32, copy=False)
    return sparse.csr_array((weights.data, *indices), shape=weights.shape)


def add_links(graph: Graph, links: Constraints) -> Graph:
    """Set the weights of must-linked pairs to 1 and those of cannot-linked pairs to 0."""
    if not sparse.issparse(graph.weights):
        weights = graph.weights.copy()
        a, b = links.pairs.T
        weights[a, b] = weights[b, a] = links.sign > 0
        return replace(graph, weights=weights)
    signed = links.signed(graph.n_rows)
    must, linked = (signed > 0).astype(np.float64), (signed != 0).astype(np.float64)
    weights = sparse.csr_array(graph.weights - graph.weights.multiply(linked) + must)
    weights.eliminate_zeros()
    return replace(graph, weights=weights, n_long_edges=len(links.must_link))


def find_pieces(weights: Any) -> Indices:
    """Return the connected component of every node, numbered by decreasing size, then by first node."""
    if sparse.issparse(weights):
        _, piece = connected_components(weights, directed=False)
    else:
        piece = _dense_pieces(weights)
    _, first, sizes = np.unique(piece, return_index=True, return_counts=True)
    rank = np.empty(len(sizes), dtype=np.intp)
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return rank[piece]


def _dense_pieces(weights: Floats) -> Indices:
    """Search a dense graph breadth-first, without another n x n array."""
    piece = np.full(len(weights), -1, dtype=np.intp)
    for start in range(len(weights)):
        if piece[start] >= 0:
            continue
        number, front = piece.max() + 1, np.array([start])
        while len(front):
            piece[front] = number
            reached = np.zeros(len(weights), dtype=bool)
            for row in front:
                np.logical_or(reached, weights[row] > 0, out=reached)
            front = np.flatnonzero(reached & (piece < 0))
    return piece


def join_pieces(graph: Graph, piece: Indices, links: Constraints | None = None) -> Graph:
    """Connect the pieces of a graph along the spanning tree of their means, by edges that are not cannot-links."""
    edges = _shortest_edges(graph, piece, links or Constraints()) if graph.X is not None else _star(graph, piece)
    if not edges:
        return graph
    row, column, weight = (np.array(values) for values in zip(*edges, strict=True))
    if not sparse.issparse(graph.weights):
        weights = graph.weights.copy()
        weights[row, column] = weights[column, row] = weight
    else:
        half = sparse.csr_array((weight, (row, column)), shape=graph.weights.shape)
        weights = graph.weights + half + half.T
    return replace(graph, weights=weights)


def _star(graph: Graph, piece: Indices) -> list[tuple[int, int, float]]:
    """Return edges from the node of largest degree of every piece to that of the largest piece.

    They have the smallest positive weight. Without coordinates it is unknown which pieces are close to each other.
    """
    order = np.lexsort((np.arange(graph.n_rows), -graph.degree, piece))
    center = order[np.searchsorted(piece[order], np.arange(piece.max() + 1))]
    values = graph.weights.data if sparse.issparse(graph.weights) else graph.weights
    positive = values[values > 0]
    weight = float(positive.min()) if positive.size else 1.0
    return [(int(center[0]), int(node), weight) for node in center[1:]]


def _shortest_edges(graph: Graph, piece: Indices, links: Constraints) -> list[tuple[int, int, float]]:
    """Return the shortest allowed edge for each edge of the spanning tree of the pieces' means."""
    member = sparse.csr_array((np.ones(graph.n_rows), (piece, np.arange(graph.n_rows))))
    means = (member @ graph.X) / np.bincount(piece)[:, None]
    # A distance of 0 between means would be no edge for the spanning tree.
    between = euclidean_distances(means) + np.finfo(np.float64).tiny
    tree = sparse.coo_array(minimum_spanning_tree(between))
    rows = np.split(np.argsort(piece, kind="stable"), np.cumsum(np.bincount(piece))[:-1])
    forbidden = links.signed(graph.n_rows) < 0
    edges = []
    for one, other in zip(tree.row, tree.col, strict=True):
        found = _nearest_pair(graph.X, rows[one], rows[other], forbidden)
        if found is not None:
            a, b, distance = found
            share = 0.0 if graph.scale is None else distance**2 / (graph.scale[a] * graph.scale[b])
            # It decreases slowly, to distinguish pieces far apart from pieces even farther apart.
            edges.append((a, b, 1 / (1 + share)))
    return edges


def _nearest_pair(X: Any, one: Indices, other: Indices, forbidden: Any) -> tuple[int, int, float] | None:
    """Return the nearest pair of rows of two pieces that is not forbidden, and its distance."""
    best: tuple[int, int, float] | None = None
    for start in range(0, len(one), ROWS_AT_ONCE):
        some = one[start : start + ROWS_AT_ONCE]
        distance = euclidean_distances(X[some], X[other])
        not_allowed = forbidden[some][:, other].tocoo()
        distance[not_allowed.row, not_allowed.col] = np.inf
        a, b = np.unravel_index(distance.argmin(), distance.shape)
        if np.isfinite(distance[a, b]) and (best is None or distance[a, b] < best[2]):
            best = int(some[a]), int(other[b]), float(distance[a, b])
    return best


# How links change a graph.
LinkEffect = Callable[[Graph, Constraints], Graph]


class SpectralMixin:
    """The parameters of the graph, and the graph itself."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "affinity": [StrOptions({"nearest_neighbors", "full", "precomputed"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "scale_neighbor": [Interval(Integral, 1, None, closed="left"), None],
        "max_samples": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    n_clusters: int
    affinity: str
    n_neighbors: int
    scale_neighbor: int | None
    max_samples: int

    def _make_graph(
        self, X: Any, max_pieces: int, links: Constraints | None = None, use_links: LinkEffect = add_links
    ) -> Graph:
        """Build the graph of X, with the effect of `links` if given, and join its pieces if they are too many."""
        graph = make_graph(X, self.affinity, self.n_neighbors, self.scale_neighbor, self.max_samples)
        if links is not None:
            graph = use_links(graph, links)
        piece = find_pieces(graph.weights)
        self.n_connected_components_ = int(piece.max()) + 1
        return join_pieces(graph, piece, links) if self.n_connected_components_ > max_pieces else graph

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        """Validate rows, or precomputed affinities."""
        return check_table(self, X, reset=reset, accept_sparse="csr", accept_large_sparse=False)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = tags.input_tags.positive_only = self.affinity == "precomputed"
        return tags
