"""The greedy merging of clusters by attributes and neighbors, from candidate pairs to the list of merges."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mustlink._progress import progress
from mustlink._types import Array, Floats, Ints
from mustlink.relational import _merging_kernels as kernels
from mustlink.relational._apart import Apart
from mustlink.relational._blocking import refuse_rows
from mustlink.relational._equal_texts import equal_pairs
from mustlink.relational._occurrences import neighbor_pairs
from mustlink.relational._pairs import count_cross, cross, membership
from mustlink.relational._problem import Problem

MERGE = np.dtype(
    [("left", np.int64), ("right", np.int64), ("similarity", float), ("attribute", float), ("relational", float)]
)
LINKAGES = {
    "average": kernels.AVERAGE,
    "max": kernels.MAX,
    "min": kernels.MIN,
    "representative": kernels.REPRESENTATIVE,
}
MEASURES = {
    "jaccard": kernels.JACCARD,
    "common": kernels.COMMON,
    "degree": kernels.DEGREE,
    "ambiguity": kernels.AMBIGUITY,
}
# Merges between two moves of the progress bar.
MERGES_AT_ONCE = 20_000


class Rule(NamedTuple):
    """How clusters are compared."""

    alpha: float
    linkage: str
    measure: str
    n_common: int
    second_weight: float


class Merging:
    """Clusters that are merged step by step, from those that are joined already."""

    def __init__(
        self, problem: Problem, apart: Apart, rule: Rule, max_pairs: int, threshold: float, verbose: int | bool
    ) -> None:
        """Begin with the clusters so far; the first threshold to merge down to is known."""
        self.rule = rule
        self.verbose = verbose
        self.apart = apart
        self.first_merges = _merge_equal(problem, apart, rule, threshold)
        cluster = apart.clusters()
        n_rows = problem.n_rows
        left, right, value = cluster_pairs(problem, cluster, rule.linkage, max_pairs)
        self.candidates = _linked_lists(left, right, n_rows)
        near_left, near_right = neighbor_pairs(problem.groups, cluster)
        degree = np.bincount(np.concatenate([near_left, near_right]), minlength=n_rows)
        self.neighbors = (*_linked_lists(near_left, near_right, n_rows), degree.astype(np.int64))
        size = np.bincount(cluster, minlength=n_rows).astype(np.int64)
        ambiguity = np.bincount(cluster, weights=problem.n_names[problem.code], minlength=n_rows)
        self.clusters = (size, ambiguity)
        self.marks = (np.zeros(n_rows, np.int8), *(np.zeros(n_rows, np.int64) for _ in range(3)))
        n_edges = len(left)
        self.edges = (
            value,
            np.zeros(n_edges),
            np.full(n_edges, -1, np.int64),
            np.full(n_edges, -1, np.int64),
            np.zeros(n_edges, np.int64),
        )
        self.counts = np.zeros(3, np.int64)
        self.heap = np.empty((max(16, n_edges), 4), np.int64)

    @property
    def _settings(self) -> tuple[tuple[int, int, int], tuple[float, float]]:
        rule = self.rule
        return (LINKAGES[rule.linkage], MEASURES[rule.measure], rule.n_common), (
            float(rule.alpha),
            float(rule.second_weight),
        )

    @property
    def n_evaluations(self) -> int:
        """How many similarities of clusters were computed."""
        return int(self.counts[1])

    def merge_down(self, threshold: float) -> Array:
        """Merge the most similar clusters until none is as similar as the threshold, and return the merges."""
        # The uniqueness of a neighbor by its neighbors, and second neighbors, reach one step farther.
        reach = 2 if self.rule.measure == "degree" or self.rule.second_weight else 1
        parts, self.first_merges = [self.first_merges], self.first_merges[:0]
        n_clusters = int(np.count_nonzero(self.clusters[0]))
        with progress(n_clusters, "merging clusters", shown=self.verbose) as advance:
            while True:
                self.heap, merged, values = kernels.merge_down(
                    threshold_key(threshold),
                    MERGES_AT_ONCE,
                    reach,
                    *self._settings,
                    self.candidates,
                    self.neighbors,
                    self.clusters,
                    self.marks,
                    self.edges,
                    self.apart.sets,
                    self.heap,
                    self.counts,
                )
                found = np.empty(len(merged), dtype=MERGE)
                found["left"], found["right"] = merged.T
                found["similarity"], found["attribute"], found["relational"] = values.T
                parts.append(found)
                advance(sum(map(len, parts)))
                if len(merged) < MERGES_AT_ONCE:
                    return np.concatenate(parts)

    def remaining(self) -> Array:
        """Return the candidate pairs of clusters that could still be merged, with their similarities."""
        _, _, target, alive = self.candidates
        edge = np.flatnonzero(alive)
        edge = edge[~self.apart.forbids(target[2 * edge], target[2 * edge + 1])]
        left, right = target[2 * edge], target[2 * edge + 1]
        value, relational, key = (array[edge] for array in self.edges[:3])
        size = self.clusters[0]
        found = np.empty(len(edge), dtype=MERGE)
        found["left"], found["right"] = np.minimum(left, right), np.maximum(left, right)
        found["similarity"] = key / kernels.STEPS
        found["attribute"] = value / (size[left] * size[right]) if self.rule.linkage == "average" else value
        found["relational"] = relational
        return found


def _merge_equal(problem: Problem, apart: Apart, rule: Rule, threshold: float) -> Array:
    """Merge clusters of one text where only texts count, which none can precede, and return the merges.

    By the maximum or a representative, clusters of several texts could be as similar.
    """
    key = threshold_key(1.0 - rule.alpha)
    left = right = np.empty(0, np.int64)
    is_alone = not problem.groups.nnz and not len(apart.set_of) and rule.linkage in ("average", "min")
    if is_alone and key >= threshold_key(threshold):
        left, right = equal_pairs(problem, apart.clusters())
        apart.join(left, right)
    merges = np.empty(len(left), dtype=MERGE)
    merges["left"], merges["right"] = left, right
    merges["similarity"], merges["attribute"], merges["relational"] = key / kernels.STEPS, 1.0, 0.0
    return merges


def threshold_key(threshold: float) -> int:
    """Return a threshold as similarities are compared; one above every similarity if it is infinite."""
    return int(np.floor(min(max(float(threshold), -1.0), 4.0) * kernels.STEPS + 0.5))


def cluster_pairs(problem: Problem, cluster: Ints, linkage: str, max_pairs: int) -> tuple[Ints, Ints, Floats]:
    """Return the pairs of clusters with candidate records, and the sum, the maximum or the minimum of the similarities.

    Rows with one distinct record are fully similar, unless it is empty (`is_same`). Pairs of rows that are no
    candidates count as 0 in the sum and the minimum. With "representative", the similarity of the commonest records.
    """
    code, is_same, value_pairs = problem.code, problem.is_same, problem.value_pairs
    n_rows, n_values = len(code), len(is_same)
    if linkage == "representative":
        code = _representatives(cluster, code)
        rows = np.flatnonzero(code >= 0)
        member, weight, value = rows, np.ones(len(rows)), code[rows]
    else:
        held, n_held = np.unique(cluster * np.int64(n_values) + code, return_counts=True)
        member, value, weight = held // n_values, held % n_values, n_held.astype(float)
    indptr, order = membership(value, n_values)
    same = np.flatnonzero(is_same)
    left, right = np.concatenate([same, value_pairs[0]]), np.concatenate([same, value_pairs[1]])
    score = np.concatenate([np.ones(len(same)), value_pairs[2]])
    n_pairs = count_cross(left, right, indptr)
    if n_pairs > max_pairs:
        sizes = np.diff(indptr)
        refuse_rows(
            f"{n_pairs:,} pairs of clusters are candidates; the commonest record is in {int(sizes.max()):,} of them",
            max_pairs,
        )
    one, other, place = cross(left, right, indptr, order)
    score, n_in = score[place], weight[one] * weight[other]
    one, other = member[one], member[other]
    differ = one != other
    one, other, score, n_in = one[differ], other[differ], score[differ], n_in[differ]
    pair = np.minimum(one, other) * np.int64(n_rows) + np.maximum(one, other)
    order = np.argsort(pair, kind="stable")
    pair, score, n_in = pair[order], score[order], n_in[order]
    starts = np.flatnonzero(np.concatenate([[True], np.diff(pair) != 0])) if len(pair) else np.empty(0, np.int64)
    found = pair[starts]
    left, right = found // n_rows, found % n_rows
    if linkage == "average":
        return left, right, _reduce(np.add, score * n_in, starts)
    if linkage == "min":
        size = np.bincount(cluster, minlength=n_rows)
        is_whole = _reduce(np.add, n_in, starts) == size[left] * size[right]
        return left, right, np.where(is_whole, _reduce(np.minimum, score, starts), 0.0)
    return left, right, _reduce(np.maximum, score, starts)


def _reduce(operation: Any, values: Floats, starts: Ints) -> Floats:
    """Combine the values of each pair."""
    return operation.reduceat(values, starts) if len(starts) else np.empty(0)


def _representatives(cluster: Ints, code: Ints) -> Ints:
    """Return for each cluster the record that most of its rows have, of equally common ones the first; else -1."""
    found, first, n_rows = np.unique(np.column_stack([cluster, code]), axis=0, return_index=True, return_counts=True)
    order = np.lexsort((first, -n_rows, found[:, 0]))
    is_best = np.ones(len(order), dtype=bool)
    is_best[1:] = np.diff(found[order, 0]) != 0
    best = found[order[is_best]]
    representative = np.full(len(code), -1, dtype=np.int64)
    representative[best[:, 0]] = best[:, 1]
    return representative


def _linked_lists(left: Ints, right: Ints, n_rows: int) -> tuple[Ints, Ints, Ints, Any]:
    """Return the half-edges of pairs as linked lists, see the kernels."""
    n_edges = len(left)
    owner, target = np.empty(2 * n_edges, np.int64), np.empty(2 * n_edges, np.int64)
    owner[0::2], owner[1::2] = left, right
    target[0::2], target[1::2] = right, left
    order = np.argsort(owner, kind="stable")
    head, follow = np.full(n_rows, -1, np.int64), np.full(2 * n_edges, -1, np.int64)
    if n_edges:
        is_first = np.concatenate([[True], np.diff(owner[order]) != 0])
        head[owner[order[is_first]]] = order[is_first]
        later = np.flatnonzero(~is_first)
        follow[order[later - 1]] = order[later]
    return head, follow, target, np.ones(n_edges, dtype=bool)
