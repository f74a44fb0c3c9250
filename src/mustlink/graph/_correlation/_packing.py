"""A lower bound on the disagreement from inconsistent triangles that share no weight."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from mustlink._types import Array, Floats
from mustlink.graph._correlation._packing_kernels import pack_around_nodes, pack_stored
from mustlink.graph._correlation._signed_graph import SignedGraph, index_arrays

# How many pairs without success are looked at for a positive pair, at least and at most, and in all.
TRIED = (16, 1_000)
MAX_TRIED_IN_ALL = 50_000_000


def pack_triangles(graph: SignedGraph) -> Floats:
    """Return the weight of packed triangles of every part: a bound on the disagreement inside it.

    Two positive pairs and a negative one make a triangle with which every clustering disagrees. Triangles are packed
    greedily; their weights on one pair sum up to no more than the weight of that pair.
    """
    n_parts, part = graph.parts
    net, indptr, indices = _net_entries(graph)
    left = np.abs(net)
    place = csr_array((np.arange(len(net)), indices, indptr), shape=graph.weights.shape)
    # The entries of a symmetric matrix column by column are those of the other ends.
    mate = place.tocsc().data
    packed = np.zeros(n_parts)
    pack_stored(indptr, indices, net, mate, left, part, packed)
    max_tried = int(np.clip(MAX_TRIED_IN_ALL // max(len(net), 1), *TRIED))
    pack_around_nodes(indptr, indices, net, mate, graph.size, graph.penalty, max_tried, left, part, packed)
    return packed


def _net_entries(graph: SignedGraph) -> tuple[Floats, Array, Array]:
    """Return the net weights and their places; pairs that a rule keeps apart are negative without limit."""
    if not graph.rules.apart.nnz:
        return graph.net, *index_arrays(graph.weights)
    net = csr_array((graph.net, graph.weights.indices, graph.weights.indptr), shape=graph.weights.shape)
    apart = graph.rules.apart.copy()
    apart.data[:] = -np.inf
    both = csr_array(net + apart)
    both.sort_indices()
    return both.data, *index_arrays(both)
