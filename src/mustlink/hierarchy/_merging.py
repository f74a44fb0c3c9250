"""From distances and links to a list of merges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mustlink.constraints import Closure, Constraints
from mustlink.hierarchy._dendrogram_kernels import cut
from mustlink.hierarchy._linkage_kernels import (
    AVERAGE,
    COMPLETE,
    SINGLE,
    SUM,
    WARD,
    agglomerate,
    join_components,
    keep_apart,
    shorten_paths,
)
from mustlink.hierarchy._witness_kernels import least_conflict

__all__ = ["Apart", "Merges", "as_graph", "merge_all", "quiet_colours"]

CODES = {"single": SINGLE, "complete": COMPLETE, "average": AVERAGE, "ward": WARD}

Pairs = NDArray[np.int64]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Apart:
    """The cannot-link graph between must-link components.

    `member` lists the components that have a cannot-link; the other arrays number them by their places in it. `edges`
    are those between components, `weight` what they weigh, and `(indptr, indices)` the neighbours, with `rows_weight`
    the weight of each.
    """

    member: Ints
    edges: Pairs
    weight: Floats
    indptr: Ints
    indices: Ints
    rows_weight: Floats

    def without(self, dropped: NDArray[np.bool_]) -> Apart:
        """Return the graph without some of its edges."""
        return _graph_of(self.member[self.edges[~dropped]], self.weight[~dropped])


@dataclass(frozen=True)
class Merges:
    """All merges of a dendrogram, each a pair of rows, in order.

    The first `n_given` are those of must-links, at height 0, and the last `n_forced` join what may not be joined.
    """

    pairs: Pairs
    heights: Floats
    n_given: int
    n_forced: int


def as_graph(links: Constraints, closure: Closure) -> Apart:
    """Bring the cannot-links down to a weighted graph between components, without loops."""
    edges = np.sort(closure.component[links.cannot_link].reshape(-1, 2), axis=1).astype(np.int64)
    between = edges[:, 0] != edges[:, 1]
    return _graph_of(edges[between], links.cannot_link_weight[between])


def _graph_of(edges: Pairs, weight: Floats) -> Apart:
    """Number the components that have an edge, and list the neighbours of each."""
    edges, same = np.unique(edges.reshape(-1, 2), axis=0, return_inverse=True)
    weight = np.bincount(same.ravel(), weight, len(edges)).astype(np.float64)
    member, places = np.unique(edges, return_inverse=True)
    edges = places.reshape(-1, 2).astype(np.int64)
    both = np.concatenate([edges, edges[:, ::-1]])
    order = np.lexsort((both[:, 1], both[:, 0]))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(both[:, 0], minlength=len(member)))]).astype(np.int64)
    return Apart(member, edges, weight, indptr, both[order, 1].copy(), np.concatenate([weight, weight])[order])


def quiet_colours(apart: Apart, n_colours: int) -> Ints:
    """Colour the graph such that edges between equal colours weigh little."""
    colours: Ints = least_conflict(n_colours, apart.rows_weight, apart.indptr, apart.indices)
    return colours


def merge_all(
    distances: Floats,
    closure: Closure,
    apart: Apart,
    *,
    linkage: str,
    through_links: bool,
    n_clusters: int,
    colours: Ints,
) -> Merges:
    """Build the whole dendrogram; the condensed distances are used up.

    Parameters
    ----------
    distances : ndarray of shape (n_rows * (n_rows - 1) / 2,)
        As of ``scipy.spatial.distance.pdist``.
    closure : Closure
        Its components are joined first.
    apart : Apart
        Which components may not be joined.
    linkage : {"single", "complete", "average", "ward"}
        The distance of two clusters.
    through_links : bool
        Whether the distances are first replaced by the shortest paths through must-links.
    n_clusters : int
        Merges that would put this number out of reach are passed over; 0 for no such care.
    colours : ndarray of shape (len(apart.member),)
        Shows that `n_clusters` can be reached; not read without such care.
    """
    n_rows, code = len(closure.component), CODES[linkage]
    size, slots = np.ones(n_rows), np.arange(n_rows)
    if linkage == "ward" and not through_links:
        np.square(distances, out=distances)
    given = join_components(
        distances, size, slots, closure.component.astype(np.int64), SINGLE if through_links else code
    )
    n_slots = n_rows - len(given)
    size, slots = size[:n_slots].copy(), slots[:n_slots]
    if through_links:
        shorten_paths(distances, n_slots, np.flatnonzero(size > 1))
        if linkage == "ward":
            np.square(distances, out=distances)
    slot_of = np.empty(n_slots, dtype=np.int64)
    slot_of[closure.component[slots]] = np.arange(n_slots)
    keep_apart(distances, n_slots, slot_of[apart.member[apart.edges]])
    ring_of = np.full(n_slots, -1)
    ring_of[slot_of[apart.member]] = np.arange(len(apart.member))
    ring = np.arange(len(apart.member))
    joined, heights = agglomerate(
        distances, size, code, n_clusters, ring_of, colours.copy(), ring, apart.indptr, apart.indices
    )
    if linkage == "ward":
        heights = np.sqrt(heights)
    pairs = np.concatenate([given, slots[joined].reshape(-1, 2)])
    return _finished(pairs, np.concatenate([np.zeros(len(given)), heights]), len(given), closure, apart)


def _finished(pairs: Pairs, heights: Floats, n_given: int, closure: Closure, apart: Apart) -> Merges:
    """Join what may not be joined, the least weight of links first, far above the rest.

    The first such merge stands at twice the last height, and the others rise from there by a tenth of it.
    """
    labels = cut(pairs, len(closure.component))
    rows = np.full(closure.n_components, -1)
    rows[closure.component[::-1]] = np.arange(len(labels))[::-1]
    forced = _unwanted_merges(labels, rows[apart.member[apart.edges]], apart.weight)
    top = heights.max(initial=0.0) or 1.0
    above = top * (2.0 + 0.1 * np.arange(len(forced)))
    return Merges(np.concatenate([pairs, forced]), np.concatenate([heights, above]), n_given, len(forced))


def _unwanted_merges(labels: Ints, cannot_link: Pairs, weight: Floats) -> Pairs:
    """Return merges, as pairs of rows, that join all clusters, always those with the least weight of links between."""
    n_clusters = int(labels.max()) + 1
    if n_clusters == 1:
        return np.empty((0, 2), dtype=np.int64)
    broken = np.zeros((n_clusters, n_clusters))
    a, b = labels[cannot_link].reshape(-1, 2).T
    np.add.at(broken, (np.minimum(a, b), np.maximum(a, b)), weight)
    free, none, no_rows = np.full(n_clusters, -1), np.empty(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    condensed = broken[np.triu_indices(n_clusters, 1)]
    joined, _ = agglomerate(condensed, np.ones(n_clusters), SUM, 0, free, none, none, no_rows, none)
    _, first_row = np.unique(labels, return_index=True)
    return np.asarray(first_row[joined], dtype=np.int64).reshape(-1, 2)
