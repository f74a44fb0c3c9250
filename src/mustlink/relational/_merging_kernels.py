"""Compiled loops of collective relational clustering: candidate pairs, neighborhoods and the queue.

Pairs of clusters, candidates as well as neighbors, are edges of a graph. Edge e has two half-edges, 2 e and 2 e + 1,
each in the linked list of one of its clusters (``head``, ``follow``), and each with the cluster at the other end
(``target``). A merge moves the half-edges of one cluster to the other and removes edges that become equal, so that
no list ever grows beyond the first one. A cluster is named by its smallest row.
"""

from __future__ import annotations

import numpy as np

from mustlink._jit import jit
from mustlink.relational._apart_kernels import is_apart, join_sets

# How the attribute similarity of a merged cluster follows from those of its parts.
AVERAGE, MAX, MIN, REPRESENTATIVE = 0, 1, 2, 3
# How neighborhoods are compared.
JACCARD, COMMON, DEGREE, AMBIGUITY = 0, 1, 2, 3
# Similarities are compared as whole multiples of this, so that rounding errors decide no tie.
STEPS = 2**40


@jit
def remove_dead(cluster, head, follow, alive):  # type: ignore[no-untyped-def]
    """Take the half-edges of removed edges out of the list of a cluster, and return its last half-edge."""
    last, half = -1, head[cluster]
    while half >= 0:
        after = follow[half]
        if alive[half >> 1]:
            last = half
        elif last < 0:
            head[cluster] = after
        else:
            follow[last] = after
        half = after
    return last


@jit
def mark_list(cluster, head, follow, target, alive, mark, value):  # type: ignore[no-untyped-def]
    """Set the mark of every cluster in the list of a cluster."""
    half = head[cluster]
    while half >= 0:
        if alive[half >> 1]:
            mark[target[half]] = value
        half = follow[half]


@jit
def merge_neighbors(one, other, head, follow, target, alive, degree, mark, in_both):  # type: ignore[no-untyped-def]
    """Give a cluster the neighbors of another, and mark those that had both."""
    last = remove_dead(one, head, follow, alive)
    mark_list(one, head, follow, target, alive, mark, 1)
    half = head[other]
    head[other] = -1
    while half >= 0:
        after, neighbor = follow[half], target[half]
        if alive[half >> 1]:
            if neighbor == one:
                alive[half >> 1] = False
                degree[one] -= 1
            elif mark[neighbor]:
                alive[half >> 1] = False
                degree[neighbor] -= 1
                in_both[neighbor] = 1
            else:
                target[half ^ 1] = one
                follow[half] = -1
                if last < 0:
                    head[one] = half
                else:
                    follow[last] = half
                last = half
                degree[one] += 1
        half = after
    mark[other] = 0
    mark_list(one, head, follow, target, alive, mark, 0)


@jit
def merge_candidates(one, other, linkage, kept, head, follow, target, alive, value, place):  # type: ignore[no-untyped-def]
    """Give a cluster the candidates of another; `kept` is the one whose representative stays, `place` all 0."""
    last = remove_dead(one, head, follow, alive)
    half = head[one]
    while half >= 0:
        # The half-edge, with 1 added so that 0 is none; 0 again once the other is seen to have the candidate.
        place[target[half]] = half + 1
        half = follow[half]
    half = head[other]
    head[other] = -1
    while half >= 0:
        after, candidate = follow[half], target[half]
        edge = half >> 1
        if alive[edge]:
            if candidate == one:
                alive[edge] = False
            elif place[candidate]:
                first = (place[candidate] - 1) >> 1
                alive[edge] = False
                if linkage == AVERAGE:
                    value[first] += value[edge]
                elif linkage == MAX:
                    value[first] = max(value[first], value[edge])
                elif linkage == MIN:
                    value[first] = min(value[first], value[edge])
                elif kept == other:
                    value[first] = value[edge]
                place[candidate] = 0
            else:
                if linkage == MIN or (linkage == REPRESENTATIVE and kept == one):
                    value[edge] = 0.0
                target[half ^ 1] = one
                follow[half] = -1
                if last < 0:
                    head[one] = half
                else:
                    follow[last] = half
                last = half
        half = after
    half = head[one]
    while half >= 0:
        if alive[half >> 1] and place[target[half]]:
            place[target[half]] = 0
            # A candidate of one alone.
            if linkage == MIN or (linkage == REPRESENTATIVE and kept == other):
                value[half >> 1] = 0.0
        half = follow[half]
    place[other] = 0


@jit
def uniqueness(cluster, measure, degree, size, ambiguity):  # type: ignore[no-untyped-def]
    """Return how much a common neighbor says: less, the more neighbors it has or the more ambiguous its names are."""
    if measure == DEGREE:
        return 1.0 / np.log(1.0 + max(degree[cluster], 1))
    if measure == AMBIGUITY:
        return 1.0 / (1.0 + ambiguity[cluster] / size[cluster])
    return 1.0


@jit
def compare_marked(one, other, weight_of_one, measure, n_common, near, degree, size, ambiguity, mark):  # type: ignore[no-untyped-def]
    """Compare the neighbors of one cluster, which are marked and have a total weight, with those of another."""
    head, follow, target, alive = near
    shared, weight_of_other, are_neighbors = 0.0, 0.0, False
    half = head[other]
    while half >= 0:
        neighbor = target[half]
        if alive[half >> 1]:
            if neighbor == one:
                are_neighbors = True
            else:
                weight = uniqueness(neighbor, measure, degree, size, ambiguity)
                weight_of_other += weight
                if mark[neighbor]:
                    shared += weight
        half = follow[half]
    if measure == COMMON:
        return min(1.0, shared / n_common)
    if are_neighbors:
        weight_of_one -= uniqueness(other, measure, degree, size, ambiguity)
    union = weight_of_one + weight_of_other - shared
    return shared / union if shared > 0.0 else 0.0


@jit
def mark_second(cluster, without, head, follow, target, alive, mark, stamp):  # type: ignore[no-untyped-def]
    """Stamp the neighbors of the neighbors of a cluster, and return how many; two clusters are left out."""
    n_found = 0
    half = head[cluster]
    while half >= 0:
        middle = target[half]
        if alive[half >> 1] and middle != without:
            second = head[middle]
            while second >= 0:
                far = target[second]
                if alive[second >> 1] and far != cluster and far != without and mark[far] != stamp:
                    mark[far] = stamp
                    n_found += 1
                second = follow[second]
        half = follow[half]
    return n_found


@jit
def compare_second(one, other, near, mark, other_mark, stamp):  # type: ignore[no-untyped-def]
    """Return the Jaccard coefficient of the neighbors of the neighbors of two clusters."""
    head, follow, target, alive = near
    n_one = mark_second(one, other, head, follow, target, alive, mark, stamp)
    n_other = mark_second(other, one, head, follow, target, alive, other_mark, stamp)
    shared = 0
    half = head[one]
    while half >= 0:
        middle = target[half]
        if alive[half >> 1] and middle != other:
            second = head[middle]
            while second >= 0:
                far = target[second]
                if alive[second >> 1] and mark[far] == stamp and other_mark[far] == stamp:
                    # Counted once.
                    mark[far] = 0
                    shared += 1
                second = follow[second]
        half = follow[half]
    return shared / (n_one + n_other - shared) if shared else 0.0


@jit
def comes_first(heap, one, other):  # type: ignore[no-untyped-def]
    """Return whether an entry is before another: more similar, then smaller rows."""
    return heap[one, 0] > heap[other, 0] or (heap[one, 0] == heap[other, 0] and heap[one, 1] < heap[other, 1])


@jit
def swap(heap, one, other):  # type: ignore[no-untyped-def]
    """Exchange two entries of the queue."""
    for column in range(4):
        heap[one, column], heap[other, column] = heap[other, column], heap[one, column]


@jit
def sift_up(heap, place):  # type: ignore[no-untyped-def]
    """Move an entry toward the top of the queue."""
    while place > 0 and comes_first(heap, place, (place - 1) // 2):
        swap(heap, place, (place - 1) // 2)
        place = (place - 1) // 2


@jit
def sift_down(heap, place, n_entries):  # type: ignore[no-untyped-def]
    """Move an entry toward the bottom of the queue."""
    while True:
        child = 2 * place + 1
        if child >= n_entries:
            return
        if child + 1 < n_entries and comes_first(heap, child + 1, child):
            child += 1
        if not comes_first(heap, child, place):
            return
        swap(heap, place, child)
        place = child


@jit
def order_heap(heap, n_entries):  # type: ignore[no-untyped-def]
    """Make a queue of entries in any order."""
    for place in range(n_entries // 2 - 1, -1, -1):
        sift_down(heap, place, n_entries)


@jit
def make_room(heap, counts, version):  # type: ignore[no-untyped-def]
    """Drop outdated entries of a full queue, and double it if few are."""
    n_kept = 0
    for place in range(counts[0]):
        if heap[place, 3] == version[heap[place, 2]]:
            heap[n_kept] = heap[place]
            n_kept += 1
    counts[0] = n_kept
    if 2 * n_kept > len(heap):
        larger = np.empty((2 * len(heap), 4), np.int64)
        larger[:n_kept] = heap[:n_kept]
        heap = larger
    order_heap(heap, n_kept)
    return heap


@jit
def compare_candidates(  # type: ignore[no-untyped-def]
    cluster, chosen, is_all, setting, weights, candidates, neighbors, clusters, marks, edges, heap, counts
):
    """Compute the similarity of a cluster to its candidates, or to those in `chosen`, and queue what has changed."""
    linkage, measure, n_common = setting
    alpha, second_weight = weights
    head, follow, target, alive = candidates
    near_head, near_follow, near_target, near_alive, degree = neighbors
    size, ambiguity = clusters
    mark, stamps, other_stamps, _ = marks
    value, relational, key, ranks, version = edges
    n_rows = len(size)
    remove_dead(cluster, near_head, near_follow, near_alive)
    weight_of_one = 0.0
    half = near_head[cluster]
    while half >= 0:
        mark[near_target[half]] = 1
        weight_of_one += uniqueness(near_target[half], measure, degree, size, ambiguity)
        half = near_follow[half]
    half = head[cluster]
    while half >= 0:
        other, edge = target[half], half >> 1
        half = follow[half]
        if not alive[edge] or not (is_all or chosen[other]):
            continue
        counts[1] += 1
        near = (near_head, near_follow, near_target, near_alive)
        shared = compare_marked(cluster, other, weight_of_one, measure, n_common, near, degree, size, ambiguity, mark)
        if second_weight > 0.0:
            counts[2] += 1
            far = compare_second(cluster, other, near, stamps, other_stamps, counts[2])
            shared = (shared + second_weight * far) / (1.0 + second_weight)
        attribute = value[edge]
        if linkage == AVERAGE:
            attribute /= size[cluster] * size[other]
        relational[edge] = shared
        new_key = int(np.floor(((1.0 - alpha) * attribute + alpha * shared) * STEPS + 0.5))
        rank = min(cluster, other) * n_rows + max(cluster, other)
        # Equal similarities are ordered by the rows of the clusters, which a merge may change too.
        if new_key != key[edge] or rank != ranks[edge]:
            key[edge], ranks[edge] = new_key, rank
            version[edge] += 1
            if counts[0] == len(heap):
                heap = make_room(heap, counts, version)
            place = counts[0]
            heap[place, 0], heap[place, 1], heap[place, 2], heap[place, 3] = new_key, rank, edge, version[edge]
            counts[0] += 1
            sift_up(heap, place)
    half = near_head[cluster]
    while half >= 0:
        mark[near_target[half]] = 0
        half = near_follow[half]
    return heap


@jit
def merge_clusters(one, other, setting, candidates, neighbors, clusters, marks, edges, sets, in_both):  # type: ignore[no-untyped-def]
    """Merge a cluster into another, with its candidates, neighbors and sets."""
    head, follow, target, alive = candidates
    near_head, near_follow, near_target, near_alive, degree = neighbors
    size, ambiguity = clusters
    kept = one if size[one] >= size[other] else other
    merge_candidates(one, other, setting[0], kept, head, follow, target, alive, edges[0], marks[3])
    merge_neighbors(one, other, near_head, near_follow, near_target, near_alive, degree, marks[0], in_both)
    join_sets(one, other, sets)
    size[one] += size[other]
    ambiguity[one] += ambiguity[other]


@jit
def gather_affected(cluster, reach, neighbors, chosen, affected):  # type: ignore[no-untyped-def]
    """List a merged cluster and those near it whose neighborhoods may have changed, and mark these."""
    near_head, near_follow, near_target, near_alive, _ = neighbors
    affected[0], chosen[cluster] = cluster, 1
    n_affected, start = 1, 1
    half = near_head[cluster]
    while half >= 0:
        if near_alive[half >> 1]:
            affected[n_affected] = near_target[half]
            chosen[near_target[half]] = 1
            n_affected += 1
        half = near_follow[half]
    for _ in range(reach - 1):
        end = n_affected
        for place in range(start, end):
            half = near_head[affected[place]]
            while half >= 0:
                if near_alive[half >> 1] and not chosen[near_target[half]]:
                    affected[n_affected] = near_target[half]
                    chosen[near_target[half]] = 1
                    n_affected += 1
                half = near_follow[half]
        start = end
    chosen[cluster] = 0
    return n_affected


@jit
def merge_down(  # type: ignore[no-untyped-def]
    threshold, max_merges, reach, setting, weights, candidates, neighbors, clusters, marks, edges, sets, heap, counts
):
    """Merge the most similar clusters until their similarity is below the threshold, or after so many merges.

    Returns the queue, the merged clusters, and their similarities. The queue is left so that a further call goes on,
    also with a lower threshold. The first call, with ``counts`` all 0, queues every candidate pair.
    """
    value, relational, key, _, version = edges
    size = clusters[0]
    n_rows = len(size)
    merged, parts, n_merges = np.empty((max_merges, 2), np.int64), np.empty((max_merges, 3)), 0
    # The first time every pair is compared once, by its smaller cluster.
    is_first = counts[1] == 0
    chosen, in_both = np.full(n_rows, is_first, np.int8), np.zeros(n_rows, np.int8)
    # With whole numbers of neighbors, a pair whose neighborhoods both lack the merged cluster is as before.
    is_local = reach == 1 and setting[1] in (JACCARD, COMMON)
    affected = np.arange(n_rows)
    n_affected = n_rows if is_first else 0
    one = -1
    while True:
        for place in range(n_affected):
            near = affected[place]
            remove_dead(near, candidates[0], candidates[1], candidates[3])
            if one < 0:
                chosen[near] = 0
            is_all = one >= 0 and (near == one or not is_local or in_both[near] == 1)
            heap = compare_candidates(
                near, chosen, is_all, setting, weights, candidates, neighbors, clusters, marks, edges, heap, counts
            )
        for place in range(n_affected):
            chosen[affected[place]] = 0
            in_both[affected[place]] = 0
        n_affected = 0
        if counts[0] == 0 or n_merges == max_merges:
            break
        edge = heap[0, 2]
        is_current = heap[0, 3] == version[edge] and candidates[3][edge]
        if is_current and heap[0, 0] < threshold:
            break
        counts[0] -= 1
        swap(heap, 0, counts[0])
        sift_down(heap, 0, counts[0])
        if not is_current:
            continue
        one, other = candidates[2][2 * edge + 1], candidates[2][2 * edge]
        if one > other:
            one, other = other, one
        if is_apart(one, other, sets):
            candidates[3][edge] = False
            continue
        attribute = value[edge] / (size[one] * size[other]) if setting[0] == AVERAGE else value[edge]
        merged[n_merges, 0], merged[n_merges, 1] = one, other
        parts[n_merges, 0], parts[n_merges, 1], parts[n_merges, 2] = key[edge] / STEPS, attribute, relational[edge]
        n_merges += 1
        merge_clusters(one, other, setting, candidates, neighbors, clusters, marks, edges, sets, in_both)
        n_affected = gather_affected(one, reach, neighbors, chosen, affected)
    return heap, merged[:n_merges], parts[:n_merges]


@jit
def times_of_joining(left, right, n_rows, pairs):  # type: ignore[no-untyped-def]
    """Return the number of the merge that first has two clusters in one: -1 if they are one, `n_merges` if none has."""
    parent, since = np.arange(n_rows), np.full(n_rows, len(left))
    size = np.ones(n_rows, np.int64)
    for place in range(len(left)):
        one, other = left[place], right[place]
        while parent[one] != one:
            one = parent[one]
        while parent[other] != other:
            other = parent[other]
        # The smaller cluster hangs below the larger one: paths are short, and times grow toward the root.
        if size[one] < size[other]:
            one, other = other, one
        parent[other], since[other] = one, place
        size[one] += size[other]
    joined = np.empty(len(pairs), np.int64)
    for place in range(len(pairs)):
        one, other = pairs[place, 0], pairs[place, 1]
        time = -1
        while one != other:
            if since[one] > since[other]:
                one, other = other, one
            if parent[one] == one:
                time = len(left)
                break
            time = since[one]
            one = parent[one]
        joined[place] = time
    return joined
