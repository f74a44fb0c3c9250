"""Compiled loops of the constrained k-means that places pairs of rows in the order of their priority.

Sums run feature by feature and row by row in the given order, without reassociation, so that a plain loop in Python
gives the same bits.
"""

from __future__ import annotations

import numpy as np

from mustlink._jit import jit

# Rows handled at a time: so many rows, turned on their side, and their distances stay in the nearest cache.
TILE = 128

# Lines a power of two apart would all fall on the same few places of the cache, so that they are set apart by more.
PADDED = TILE + 8

# How many sets of centres are remembered to notice that the run goes round in circles.
MEMORY = 32


@jit
def tile_distances(X, rows, start, size, centers, tile, distances):  # type: ignore[no-untyped-def]
    """Write the squared distances of the rows `rows[start:start + size]` to all centres, one line per centre.

    The rows lie side by side in `tile`, so that the innermost loop runs over rows and uses the vector unit whatever
    the number of clusters or features.
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
def nearest(X, rows, centers, labels):  # type: ignore[no-untyped-def]
    """Label each of `rows` with its nearest centre, the first of equally near ones."""
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
def nearest_two(X, rows, centers, first, second, distance):  # type: ignore[no-untyped-def]
    """Write the nearest and the second nearest centre of each of `rows`, and the squared distance to the nearest.

    With a single centre there is no second one, and the first stands for it.
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
def place_pairs(left, right, is_must, first, second, distance, assigned):  # type: ignore[no-untyped-def]
    """Place the two ends of each pair, in the order given; `assigned` is written, -1 before and no -1 after.

    An end that an earlier pair has placed stays. Of a free pair the end that is closer to its nearest centre has the
    choice, and the right end has it when both are equally close.
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
def means(X, labels, centers):  # type: ignore[no-untyped-def]
    """Return the mean of the rows of each cluster; an empty cluster keeps its centre."""
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
def remember(centers, place):  # type: ignore[no-untyped-def]
    """Write the centres into a place of the trail, one after the other."""
    n_clusters, n_features = centers.shape
    for c in range(n_clusters):
        for f in range(n_features):
            place[c * n_features + f] = centers[c, f]


@jit
def seen_before(centers, trail, n_seen):  # type: ignore[no-untyped-def]
    """Whether the very same centres are among those remembered."""
    n_features = centers.shape[1]
    for s in range(min(n_seen, len(trail))):
        place = 0
        while place < centers.size and trail[s, place] == centers[place // n_features, place % n_features]:
            place += 1
        if place == centers.size:
            return True
    return False


@jit
def priority_cop(X, free, bound, left, right, is_must, centers, max_iter):  # type: ignore[no-untyped-def]
    """Assign and average in turn; return the labels, the centres that gave them, and the number of assignments.

    `free` holds the rows in no pair, `bound` the rows in some pair; `left` and `right` are positions in `bound`, by
    descending priority. The centres decide all that follows, so that centres met before end the run: a fixed point if
    they are the latest ones, a circle otherwise.
    """
    labels = np.empty(len(X), np.int32)
    first = np.empty(len(bound), np.int32)
    second = np.empty(len(bound), np.int32)
    assigned = np.empty(len(bound), np.int32)
    distance = np.empty(len(bound), X.dtype)
    trail = np.empty((min(max_iter, MEMORY), centers.size), centers.dtype)
    n_iter = 0
    while True:
        remember(centers, trail[n_iter % len(trail)])
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
def inertia_of(X, labels, centers):  # type: ignore[no-untyped-def]
    """Return the sum of squared distances of the rows to the centres of their clusters."""
    total = 0.0
    for row in range(len(labels)):
        c = labels[row]
        for f in range(X.shape[1]):
            gap = np.float64(X[row, f]) - np.float64(centers[c, f])
            total += gap * gap
    return total
