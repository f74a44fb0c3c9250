"""Shared parts of the spectral clusterers."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from mustlink._sklearn_compat import Interval, StrOptions
from mustlink.constraints import Constraints
from mustlink.spectral._graph import Graph, add_links, find_pieces, join_pieces, make_graph


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

    def _make_graph(self, X: Any, max_pieces: int, links: Constraints | None = None) -> Graph:
        """Build the graph of X, with `links` as edges if given, and join its pieces if they are too many."""
        graph = make_graph(X, self.affinity, self.n_neighbors, self.scale_neighbor, self.max_samples)
        if links is not None:
            graph = add_links(graph, links)
        piece = find_pieces(graph.weights)
        self.n_connected_components_ = int(piece.max()) + 1
        return join_pieces(graph, piece, links) if self.n_connected_components_ > max_pieces else graph

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        """Validate rows, or precomputed affinities."""
        return validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], accept_large_sparse=False
        )

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = tags.input_tags.positive_only = self.affinity == "precomputed"
        return tags
