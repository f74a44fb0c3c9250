"""From distances and links to the merges of a dendrogram."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from mustlink._types import Floats, Ints
from mustlink.base import refuse_contradictions, refuse_infeasible
from mustlink.constraints import Closure, Constraints
from mustlink.hierarchy._coloring_kernels import least_violated_coloring
from mustlink.hierarchy._dendrogram_kernels import cut
from mustlink.hierarchy._linkage_kernels import (
    AVERAGE,
    COMPLETE,
    SINGLE,
    SUM,
    WARD,
    agglomerate,
    forbid_pairs,
    join_components,
    mean_distances,
    shorten_paths,
)

__all__ = ["Merges", "link_rows"]

CODES = {"single": SINGLE, "complete": COMPLETE, "average": AVERAGE, "ward": WARD}

NO_INTS = np.empty(0, dtype=np.int64)

# How much the order of the distances counts beside weights of cannot-links: enough to decide between equal weights.
TIE_BREAK = 1e-9


@dataclass(frozen=True)
class Merges:
    """All merges of a dendrogram in order, each a pair of rows of the two clusters.

    The first `n_given` are those of must-links, at height 0, and the last `n_forced` violate cannot-links.
    """

    pairs: Ints
    heights: Floats
    n_given: int
    n_forced: int

    @property
    def n_allowed(self) -> int:
        """The number of merges that violate no cannot-link."""
        return len(self.pairs) - self.n_forced

    def count_down_to(self, n_clusters: int) -> int:
        """Return the number of merges that lead to so many clusters; must-links are always merged."""
        return max(len(self.pairs) + 1 - n_clusters, self.n_given)

    def labels(self, n_merges: int) -> Ints:
        """Return the clusters after the first merges, numbered by their first rows."""
        labels: Ints = cut(self.pairs[:n_merges], len(self.pairs) + 1)
        return labels


def link_rows(
    distances: Callable[[], Floats],
    links: Constraints,
    n_rows: int,
    n_clusters: int | None,
    *,
    linkage: str,
    propagate: bool = False,
    look_ahead: bool = True,
    relax: bool = False,
    size_max: float = np.inf,
) -> Merges:
    """Build the whole dendrogram.

    The `distances`, as of ``scipy.spatial.distance.pdist``, are computed after the links are known to be feasible, and
    overwritten; they are computed again if merges that are not allowed lead to `n_clusters`. With `look_ahead`, merges
    are skipped after which `n_clusters` clusters, if given, cannot be reached. With `relax`, cannot-links are dropped
    if not all links can be satisfied, instead of raising InfeasibleError. No merge
    makes a cluster of more than `size_max` rows.
    """
    closure = links.closure(n_rows)
    if closure.self_loops.size and not relax:
        refuse_contradictions(links)
    if n_clusters is not None and n_clusters > closure.n_components:
        if not relax:
            refuse_infeasible(links.feasible(n_clusters, n_rows))
        n_clusters = closure.n_components
    n_colors, colors = 0, NO_INTS
    if n_clusters is not None and look_ahead and len(closure.cannot_link):
        closure, colors = _find_coloring(links, closure, n_clusters, relax)
        n_colors = n_clusters
    allowed = _merge_allowed(distances(), closure, linkage, propagate, n_colors, colors, size_max)
    labels = cut(allowed.pairs, n_rows)
    is_reached = n_clusters is None or labels.max() < n_clusters
    forced = _forced_merges(labels, closure, None if is_reached else distances())
    # The first forced merge is at twice the last height, and each further one a tenth of it higher.
    top = allowed.heights.max(initial=0.0) or 1.0
    above = top * (2.0 + 0.1 * np.arange(len(forced)))
    heights = np.concatenate([allowed.heights, above])
    return Merges(np.concatenate([allowed.pairs, forced]), heights, allowed.n_given, len(forced))


def _find_coloring(links: Constraints, closure: Closure, n_clusters: int, relax: bool) -> tuple[Closure, Ints]:
    """Color the components that have a cannot-link; if that is infeasible, drop cannot-links of little weight."""
    one, other = closure.component[links.pairs].T
    answer = links.take((one != other) | (links.sign > 0)).feasible(n_clusters, len(closure.component))
    components, graph = _cannot_link_graph(closure)
    if answer.colors is not None:
        return closure, answer.colors[components].astype(np.int64)
    if not relax:
        refuse_infeasible(answer)
    colors: Ints = least_violated_coloring(
        n_clusters, graph.data, graph.indptr.astype(np.int64), graph.indices.astype(np.int64)
    )
    color_of = np.zeros(closure.n_components, dtype=np.int64)
    color_of[components] = colors
    a, b = color_of[closure.cannot_link].T
    kept = replace(
        closure,
        cannot_link=closure.cannot_link[a != b],
        weight=closure.weight[a != b],
        count=closure.count[a != b],
    )
    return kept, color_of[np.unique(kept.cannot_link)]


def _cannot_link_graph(closure: Closure) -> tuple[Ints, csr_array]:
    """Return the components that have a cannot-link, and the graph between them in their order."""
    components = np.unique(closure.cannot_link)
    return components, closure.graph()[components][:, components]


def _merge_allowed(
    distances: Floats,
    closure: Closure,
    linkage: str,
    propagate: bool,
    n_colors: int,
    colors: Ints,
    size_max: float,
) -> Merges:
    """Join the components, then the closest clusters as long as allowed.

    With `n_colors` > 0, `colors` is a coloring of the components with a cannot-link, and merges are skipped after
    which no such coloring is found.
    """
    n_rows, code = len(closure.component), CODES[linkage]
    size, slots = np.ones(n_rows), np.arange(n_rows)
    if linkage == "ward" and not propagate:
        np.square(distances, out=distances)
    given = join_components(distances, size, slots, closure.component.astype(np.int64), SINGLE if propagate else code)
    n_slots = n_rows - len(given)
    size, slots = size[:n_slots].copy(), slots[:n_slots]
    if propagate:
        shorten_paths(distances, n_slots, np.flatnonzero(size > 1))
        if linkage == "ward":
            np.square(distances, out=distances)
    slot_of = np.empty(n_slots, dtype=np.int64)
    slot_of[closure.component[slots]] = np.arange(n_slots)
    forbid_pairs(distances, n_slots, slot_of[closure.cannot_link])
    components, graph = _cannot_link_graph(closure)
    ring_of = np.full(n_slots, -1)
    ring_of[slot_of[components]] = np.arange(len(components))
    joined, heights = agglomerate(
        distances,
        size,
        code,
        float(size_max),
        n_colors,
        ring_of,
        colors.copy(),
        np.arange(len(components)),
        graph.indptr.astype(np.int64),
        graph.indices.astype(np.int64),
    )
    if linkage == "ward":
        heights = np.sqrt(heights)
    pairs = np.concatenate([given, slots[joined].reshape(-1, 2)])
    return Merges(pairs, np.concatenate([np.zeros(len(given)), heights]), len(given), 0)


def _forced_merges(labels: Ints, closure: Closure, distances: Floats | None) -> Ints:
    """Return merges, as pairs of rows, that join all clusters, those of the least cannot-link weight first.

    Of equal weights the nearest come first, if there are distances, else those of the first rows.
    """
    n_clusters = int(labels.max()) + 1
    if n_clusters == 1:
        return np.empty((0, 2), dtype=np.int64)
    label_of = np.empty(closure.n_components, dtype=np.int64)
    label_of[closure.component] = labels
    violated = np.zeros((n_clusters, n_clusters))
    a, b = label_of[closure.cannot_link].T
    np.add.at(violated, (np.minimum(a, b), np.maximum(a, b)), closure.weight)
    costs = violated[np.triu_indices(n_clusters, 1)]
    if distances is not None:
        # Ranks, since precomputed distances may be infinite.
        rank = np.unique(mean_distances(distances, labels, n_clusters), return_inverse=True)[1]
        costs += TIE_BREAK * (closure.weight.min() if len(closure.weight) else 1.0) * rank / len(rank)
    no_graph = np.full(n_clusters, -1), NO_INTS, NO_INTS, np.zeros(1, dtype=np.int64), NO_INTS
    joined, _ = agglomerate(costs, np.ones(n_clusters), SUM, np.inf, 0, *no_graph)
    _, first_row = np.unique(labels, return_index=True)
    return np.asarray(first_row[joined], dtype=np.int64).reshape(-1, 2)
