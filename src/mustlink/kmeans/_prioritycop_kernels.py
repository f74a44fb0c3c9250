"""Compiled loops of the constrained k-means that places pairs of rows in the order of their priority.

Sums run feature by feature and row by row in the given order, without reassociation: a plain loop in Python gives the
same bits. The whole run is one compiled call, because boosting makes very many short ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit

# Rows handled at a time: this many rows, transposed, and their distances stay in the nearest cache.
TILE = 128

# Lines a power of two apart would all fall on the same few places of the cache; the padding avoids that.
PADDED = TILE + 8

# How many sets of centers are remembered to detect a cycle.
MEMORY = 32


@jit
def tile_distances(X: Any, rows: Any, start: int, size: int, centers: Any, tile: Any, distances: Any) -> None:
    """Write the squared distances of the rows `rows[start:start + size]` to all centers, one line per center.

    The rows lie side by side in `tile`: the innermost loop runs over rows and uses the vector unit whatever the number
    of clusters or features.
    """
    n_clusters, n_features = centers.shape
    for r in range(size):
        row = rows[start + r]
        for f in range(n_features):
            tile[f, r] = X[row, f]
    for c in range(n_clusters):
        line = distances[c]
        for r in range(size):
            line[r] = 0
        for f in range(n_features):
            value = centers[c, f]
            column = tile[f]
            for r in range(size):
                gap = column[r] - value
                line[r] += gap * gap


@jit
def nearest(X: Any, rows: Any, centers: Any, labels: Any) -> None:
    """Label each of `rows` with its nearest center, the first of equally near ones."""
    n_clusters, n_features = centers.shape
    tile = np.empty((n_features, PADDED), X.dtype)
    distances = np.empty((n_clusters, TILE), X.dtype)
    least = np.empty(TILE, X.dtype)
    best = np.empty(TILE, np.int32)
    for start in range(0, len(rows), TILE):
        size = min(TILE, len(rows) - start)
        tile_distances(X, rows, start, size, centers, tile, distances)
        for r in range(size):
            least[r] = distances[0, r]
            best[r] = 0
        for c in range(1, n_clusters):
            line = distances[c]
            # Choices without branches, which the vector unit makes for several rows at once.
            for r in range(size):
                less = line[r] < least[r]
                best[r] = c if less else best[r]
                least[r] = line[r] if less else least[r]
        for r in range(size):
            labels[rows[start + r]] = best[r]


@jit
def nearest_two(X: Any, rows: Any, centers: Any, first: Any, second: Any, distance: Any) -> None:
    """Write the nearest and the second nearest center of each of `rows`, and the squared distance to the nearest.

    With a single center there is no second one, and the first stands for it.
    """
    n_clusters, n_features = centers.shape
    tile = np.empty((n_features, PADDED), X.dtype)
    distances = np.empty((n_clusters, TILE), X.dtype)
    for start in range(0, len(rows), TILE):
        size = min(TILE, len(rows) - start)
        tile_distances(X, rows, start, size, centers, tile, distances)
        for r in range(size):
            best, next_best = 0, 0
            for c in range(1, n_clusters):
                if distances[c, r] < distances[best, r]:
                    next_best = best
                    best = c
                elif next_best == best or distances[c, r] < distances[next_best, r]:
                    next_best = c
            first[start + r] = best
            second[start + r] = next_best
            distance[start + r] = distances[best, r]


@jit
def place_pairs(left: Any, right: Any, is_must: Any, first: Any, second: Any, distance: Any, assigned: Any) -> None:
    """Place the two ends of each pair, in the order given; `assigned` is written, -1 before and no -1 after.

    An end that an earlier pair has placed stays. Of a free pair the end that is closer to its nearest center
    chooses; the right end if both are equally close.
    """
    for b in range(len(assigned)):
        assigned[b] = -1
    for p in range(len(left)):
        i, j = left[p], right[p]
        if assigned[i] >= 0 and assigned[j] >= 0:
            continue
        if assigned[i] < 0 and assigned[j] < 0:
            if distance[i] < distance[j]:
                chooser, follower = i, j
            else:
                chooser, follower = j, i
            assigned[chooser] = first[chooser]
        elif assigned[i] >= 0:
            chooser, follower = i, j
        else:
            chooser, follower = j, i
        if is_must[p]:
            assigned[follower] = assigned[chooser]
        elif first[follower] != assigned[chooser]:
            assigned[follower] = first[follower]
        else:
            assigned[follower] = second[follower]


@jit
def means(X: Any, labels: Any, centers: Any) -> Any:
    """Return the mean of the rows of each cluster; an empty cluster keeps its center."""
    n_clusters, n_features = centers.shape
    sums = np.zeros((n_clusters, n_features), np.float64)
    counts = np.zeros(n_clusters, np.int64)
    for row in range(len(labels)):
        c = labels[row]
        counts[c] += 1
        for f in range(n_features):
            sums[c, f] += X[row, f]
    new_centers = np.empty(centers.shape, centers.dtype)
    for c in range(n_clusters):
        for f in range(n_features):
            new_centers[c, f] = sums[c, f] / counts[c] if counts[c] > 0 else centers[c, f]
    return new_centers


@jit
def sum_rows(X: Any, rows: Any, labels: Any, n_clusters: int) -> Any:
    """Return the sums of the given rows of each cluster, and their numbers."""
    sums = np.zeros((n_clusters, X.shape[1]), np.float64)
    counts = np.zeros(n_clusters, np.int64)
    for row in rows:
        c = labels[row]
        counts[c] += 1
        for f in range(X.shape[1]):
            sums[c, f] += X[row, f]
    return sums, counts


@jit
def seen_before(centers: Any, trail: Any, n_seen: int) -> bool:
    """Return whether exactly these centers are among those remembered."""
    for s in range(min(n_seen, len(trail))):
        place = 0
        while place < centers.size and trail[s].flat[place] == centers.flat[place]:
            place += 1
        if place == centers.size:
            return True
    return False


@jit
def priority_cop(
    X: Any, free: Any, bound: Any, left: Any, right: Any, is_must: Any, centers: Any, max_iter: int
) -> Any:
    """Assign and average in turn; return the labels, the centers that gave them, and the number of assignments.

    `free` holds the rows in no pair, `bound` the rows in some pair; `left` and `right` are positions in `bound`, by
    descending priority. The centers decide all that follows; the run ends at centers met before: a fixed point if
    they are the latest ones, a cycle otherwise.
    """
    labels = np.empty(len(X), np.int32)
    first = np.empty(len(bound), np.int32)
    second = np.empty(len(bound), np.int32)
    assigned = np.empty(len(bound), np.int32)
    distance = np.empty(len(bound), X.dtype)
    trail = np.empty((min(max_iter, MEMORY), *centers.shape), centers.dtype)
    n_iter = 0
    while True:
        trail[n_iter % len(trail)] = centers
        n_iter += 1
        nearest(X, free, centers, labels)
        nearest_two(X, bound, centers, first, second, distance)
        place_pairs(left, right, is_must, first, second, distance, assigned)
        for b in range(len(bound)):
            labels[bound[b]] = assigned[b]
        if n_iter == max_iter:
            return labels, centers, n_iter
        new_centers = means(X, labels, centers)
        if seen_before(new_centers, trail, n_iter):
            return labels, centers, n_iter
        centers = new_centers


@jit
def inertia_of(X: Any, labels: Any, centers: Any) -> float:
    """Return the sum of squared distances of the rows to the centers of their clusters."""
    total = 0.0
    for row in range(len(labels)):
        c = labels[row]
        for f in range(X.shape[1]):
            gap = np.float64(X[row, f]) - np.float64(centers[c, f])
            total += gap * gap
    return total
