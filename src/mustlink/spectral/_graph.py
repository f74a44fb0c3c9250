"""Rows of a table as the nodes of a weighted graph, and what spectral clusterers ask of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from sklearn.metrics import euclidean_distances
from sklearn.neighbors import NearestNeighbors

from mustlink.errors import TooLargeError

Floats = NDArray[np.float64]

ROWS_AT_ONCE = 1_024
"""How many rows of a piece are compared with another piece at a time."""


@dataclass(frozen=True)
class Graph:
    """A symmetric matrix of weights, not negative, with an empty diagonal.

    Attributes
    ----------
    weights : csr_array or ndarray of shape (n_rows, n_rows)
        Sparse for neighbours, an array for a full or dense affinity.
    scale : ndarray of shape (n_rows,) or None
        The distance that counts as near at each row; None if every edge weighs the same, or the weights were given.
    X : array or CSR matrix, or None
        The rows, to measure further distances; None if the weights were given.
    n_links : int
        The number of must-links among the edges.
    """

    weights: Any
    scale: Floats | None = None
    X: Any = None
    n_links: int = 0

    @property
    def n_rows(self) -> int:
        """The number of nodes."""
        return int(self.weights.shape[0])

    @property
    def is_flat(self) -> bool:
        """Whether nodes are neighbours in at most three dimensions, but for few links, so that factors stay sparse."""
        few_columns = self.X is not None and self.X.shape[1] <= 3
        return few_columns and sparse.issparse(self.weights) and 20 * self.n_links <= self.n_rows

    @property
    def degree(self) -> Floats:
        """The sum of the weights at every node."""
        return np.asarray(self.weights.sum(axis=1), dtype=np.float64).ravel()


def make_graph(X: Any, affinity: str, n_neighbors: int, scale_neighbor: int | None, max_samples: int) -> Graph:
    """Make the graph that the parameters of a clusterer ask for."""
    if affinity == "precomputed":
        return given_graph(X)
    if affinity == "nearest_neighbors":
        return neighbour_graph(X, n_neighbors, scale_neighbor)
    if scale_neighbor is None:
        raise ValueError('affinity="full" needs a scale for every row; give scale_neighbor, such as 7.')
    check_size(X.shape[0], max_samples, 'affinity="full"', 'affinity="nearest_neighbors"')
    return full_graph(X, scale_neighbor)


def check_size(n_rows: int, most: int, cause: str, instead: str) -> None:
    """Refuse more rows than an n x n array is meant for."""
    if n_rows > most:
        raise TooLargeError(
            f"{cause} holds {n_rows:,} x {n_rows:,} numbers, {8 * n_rows**2 / 1e9:,.1f} GB, and max_samples is "
            f"{most:,}; use {instead}, fewer rows, or a larger max_samples."
        )


def neighbour_graph(X: Any, n_neighbors: int, scale_neighbor: int | None) -> Graph:
    """Join each row with its nearest, if one of the two is among the nearest of the other."""
    n_rows = X.shape[0]
    if n_rows == 1:
        return Graph(sparse.csr_array((1, 1)), None if scale_neighbor is None else np.ones(1), X)
    n_joined = min(n_neighbors, n_rows - 1)
    n_asked = min(max(n_joined, scale_neighbor or 0), n_rows - 1)
    distance, neighbour = NearestNeighbors(n_neighbors=n_asked).fit(X).kneighbors()
    row = np.repeat(np.arange(n_rows), n_joined)
    column = neighbour[:, :n_joined].ravel()
    scale = None if scale_neighbor is None else _positive(distance[:, min(scale_neighbor, n_rows - 1) - 1])
    weight = np.ones(len(row))
    if scale is not None:
        weight = np.exp(-np.square(distance[:, :n_joined].ravel()) / (scale[row] * scale[column]))
    weights = sparse.csr_array((weight, (row, column)), shape=(n_rows, n_rows))
    weights = sparse.csr_array(weights.maximum(weights.T))
    weights.eliminate_zeros()
    return Graph(weights, scale, X)


def full_graph(X: Any, scale_neighbor: int) -> Graph:
    """Join all rows, by exp(-d^2 / (s_i s_j)), s the distance to a near neighbour."""
    squared = euclidean_distances(X, squared=True).astype(np.float64, copy=False)
    neighbour = min(scale_neighbor, len(squared) - 1)
    scale = _positive(np.sqrt(np.partition(squared, neighbour, axis=1)[:, neighbour]))
    squared /= scale[:, None]
    squared /= scale[None, :]
    weights = np.exp(np.negative(squared, out=squared), out=squared)
    np.fill_diagonal(weights, 0.0)
    return Graph(weights, scale, X)


def _positive(scale: Floats) -> Floats:
    """Replace scales of 0."""
    positive = scale[scale > 0]
    # Rows with that many copies have no scale; the smallest one there is keeps them close to their copies only.
    return np.where(scale > 0, scale, positive.min() if len(positive) else 1.0).astype(np.float64)


def given_graph(X: Any) -> Graph:
    """Check an affinity that the user gave, and empty its diagonal."""
    if X.shape[0] != X.shape[1]:
        raise ValueError(f"A precomputed affinity must be square, and this one has the shape {X.shape}.")
    weights: Any = sparse.csr_array(X, dtype=np.float64) if sparse.issparse(X) else np.array(X, dtype=np.float64)
    values = weights.data if sparse.issparse(weights) else weights
    if values.size and values.min() < 0:
        raise ValueError(f"Negative values in data: a precomputed affinity must have none, and holds {values.min():g}.")
    if abs(weights - weights.T).max() > 1e-8 * max(1.0, values.max() if values.size else 0.0):
        raise ValueError("A precomputed affinity must be symmetric; (A + A.T) / 2 is.")
    if sparse.issparse(weights):
        weights = sparse.csr_array(weights - sparse.diags_array(weights.diagonal()))
        weights.eliminate_zeros()
    else:
        np.fill_diagonal(weights, 0.0)
    return Graph(weights)


def with_links(graph: Graph, must_link: NDArray[np.int64], cannot_link: NDArray[np.int64]) -> Graph:
    """Give must-linked pairs the weight 1 and cannot-linked pairs no edge."""
    if not sparse.issparse(graph.weights):
        weights = graph.weights.copy()
        for value, pairs in ((1.0, must_link), (0.0, cannot_link)):
            weights[pairs[:, 0], pairs[:, 1]] = weights[pairs[:, 1], pairs[:, 0]] = value
        return replace(graph, weights=weights)
    must = pair_matrix(must_link, graph.n_rows)
    linked = must + pair_matrix(cannot_link, graph.n_rows)
    weights = sparse.csr_array(graph.weights - graph.weights.multiply(linked) + must)
    weights.eliminate_zeros()
    return replace(graph, weights=weights, n_links=len(must_link))


def pair_matrix(pairs: NDArray[np.int64], n_rows: int, weight: Floats | None = None) -> Any:
    """Return the symmetric sparse matrix that holds a weight, 1 by default, at every pair."""
    weight = np.ones(len(pairs)) if weight is None else weight
    half = sparse.csr_array((weight, (pairs[:, 0], pairs[:, 1])), shape=(n_rows, n_rows))
    return sparse.csr_array(half + half.T)


def find_pieces(weights: Any) -> NDArray[np.intp]:
    """Return the connected component of every node, the largest first and equal ones by their first node."""
    if sparse.issparse(weights):
        _, piece = connected_components(weights, directed=False)
    else:
        piece = _dense_pieces(weights)
    _, first, sizes = np.unique(piece, return_index=True, return_counts=True)
    rank = np.empty(len(sizes), dtype=np.intp)
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return rank[piece]


def _dense_pieces(weights: Floats) -> NDArray[np.intp]:
    """Walk through a dense graph, front by front, without a second n x n array."""
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


def join_pieces(graph: Graph, piece: NDArray[np.intp], cannot_link: NDArray[np.int64]) -> Graph:
    """Join the pieces of a graph by the shortest way between their means, by edges that no cannot-link forbids."""
    edges = _shortest_edges(graph, piece, cannot_link) if graph.X is not None else _star(graph, piece)
    if not edges:
        return graph
    row, column, weight = (np.array(values) for values in zip(*edges, strict=True))
    if not sparse.issparse(graph.weights):
        weights = graph.weights.copy()
        weights[row, column] = weights[column, row] = weight
    else:
        weights = graph.weights + pair_matrix(np.column_stack([row, column]), graph.n_rows, weight)
    return replace(graph, weights=weights)


def _star(graph: Graph, piece: NDArray[np.intp]) -> list[tuple[int, int, float]]:
    """Tie the node of largest degree of every piece to that of the largest piece, by the smallest weight there is.

    With weights given and no coordinates, nothing says which pieces are near each other.
    """
    order = np.lexsort((np.arange(graph.n_rows), -graph.degree, piece))
    centre = order[np.searchsorted(piece[order], np.arange(piece.max() + 1))]
    values = graph.weights.data if sparse.issparse(graph.weights) else graph.weights
    positive = values[values > 0]
    weight = float(positive.min()) if positive.size else 1.0
    return [(int(centre[0]), int(node), weight) for node in centre[1:]]


def _shortest_edges(
    graph: Graph, piece: NDArray[np.intp], cannot_link: NDArray[np.int64]
) -> list[tuple[int, int, float]]:
    """Find the shortest allowed edge for each branch of the spanning tree of the pieces' means."""
    member = sparse.csr_array((np.ones(graph.n_rows), (piece, np.arange(graph.n_rows))))
    means = (member @ graph.X) / np.bincount(piece)[:, None]
    # Means in one place would be no edge at all for the spanning tree.
    between = euclidean_distances(means) + np.finfo(np.float64).tiny
    tree = sparse.coo_array(minimum_spanning_tree(between))
    rows = np.split(np.argsort(piece, kind="stable"), np.cumsum(np.bincount(piece))[:-1])
    forbidden = pair_matrix(cannot_link, graph.n_rows)
    edges = []
    for one, other in zip(tree.row, tree.col, strict=True):
        found = _nearest_pair(graph.X, rows[one], rows[other], forbidden)
        if found is not None:
            a, b, distance = found
            share = 0.0 if graph.scale is None else distance**2 / (graph.scale[a] * graph.scale[b])
            # It falls slowly, so that pieces far apart are still told from pieces farther apart.
            edges.append((a, b, 1 / (1 + share)))
    return edges


def _nearest_pair(
    X: Any, one: NDArray[np.intp], other: NDArray[np.intp], forbidden: Any
) -> tuple[int, int, float] | None:
    """Return the two nearest rows of two pieces that are not forbidden, and their distance."""
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
