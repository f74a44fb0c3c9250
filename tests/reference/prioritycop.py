"""Constrained k-means by priorities, and its boosting, as plain loops that read like the paper."""

from __future__ import annotations

import math

import numpy as np


def squared_distance(x, center, kind):
    """Add up feature by feature, in the precision of the table."""
    total = kind(0)
    for value, target in zip(x, center, strict=True):
        gap = kind(value) - kind(target)
        total = kind(total + gap * gap)
    return total


def centers_by_distance(x, centers, kind):
    """Return the centers from near to far, the earlier first of equally near ones, and the least distance."""
    distances = [squared_distance(x, center, kind) for center in centers]
    return sorted(range(len(centers)), key=lambda c: distances[c]), min(distances)


def assign(X, pairs, is_must, centers):
    """Place the pairs in the order given, then all other rows."""
    kind = X.dtype.type
    near = [centers_by_distance(x, centers, kind) for x in X]
    label = {}

    def nearest_but(row, avoided):
        others = [c for c in near[row][0] if c != avoided]
        return others[0] if others else avoided

    for (i, j), must in zip(pairs, is_must, strict=True):
        if i not in label and j not in label:
            closer, other = (i, j) if near[i][1] < near[j][1] else (j, i)
            label[closer] = near[closer][0][0]
            label[other] = label[closer] if must else nearest_but(other, label[closer])
        elif i in label and j not in label:
            label[j] = label[i] if must else nearest_but(j, label[i])
        elif j in label and i not in label:
            label[i] = label[j] if must else nearest_but(i, label[j])
    return [label.get(row, near[row][0][0]) for row in range(len(X))]


def means(X, labels, centers):
    """Average the rows of each cluster; an empty one keeps its center."""
    new = []
    for c in range(len(centers)):
        rows = [row for row in range(len(X)) if labels[row] == c]
        if not rows:
            new.append([float(value) for value in centers[c]])
            continue
        sums = [0.0] * X.shape[1]
        for row in rows:
            for f in range(X.shape[1]):
                sums[f] += float(X[row, f])
        new.append([value / len(rows) for value in sums])
    return np.array(new).astype(X.dtype)


def priority_cop(X, pairs, is_must, priority, centers, max_iter, memory=32):
    """Assign and average until centers come back that one of the latest assignments had."""
    order = sorted(range(len(pairs)), key=lambda p: -priority[p])
    pairs, is_must = [tuple(pairs[p]) for p in order], [is_must[p] for p in order]
    seen = []
    for n_iter in range(1, max_iter + 1):
        seen = [*seen, centers.tobytes()][-memory:]
        labels = assign(X, pairs, is_must, centers)
        new = means(X, labels, centers)
        if new.tobytes() in seen:
            break
        if n_iter < max_iter:
            centers = new
    return np.array(labels), centers, n_iter


def boost(X, pairs, is_must, starts, rho, max_iter):
    """Run one round per starting centers; return the labels, alphas and errors of the rounds."""
    weights = [1 / len(pairs)] * len(pairs)
    rounds, alphas, errors = [], [], []
    for start in starts:
        labels, _, _ = priority_cop(X, pairs, is_must, weights, start, max_iter)
        right = [(labels[i] == labels[j]) == must for (i, j), must in zip(pairs, is_must, strict=True)]
        error = sum(w for w, good in zip(weights, right, strict=True) if not good) / sum(weights)
        rounds.append(labels)
        if all(right):
            errors.append(0.0)
            alphas.append(1 + sum(alphas))
            break
        error = max(error, 1e-12)
        errors.append(error)
        alphas.append(max(0.0, math.log((1 - error) / error)) if error < 1 else 0.0)
        weights = [
            w * math.exp(-alphas[-1] * (1 if good else -1) / rho) for w, good in zip(weights, right, strict=True)
        ]
        weights = [w / sum(weights) for w in weights]
    return rounds, alphas, errors


def kernel_kmeans(kernel, labels, n_clusters, max_iter=300):
    """Run kernel k-means on a whole matrix; return the labels and the summed squared distances."""
    labels = np.asarray(labels)
    for _ in range(max_iter):
        distance = np.full((len(kernel), n_clusters), np.inf)
        for c in range(n_clusters):
            rows = np.flatnonzero(labels == c)
            if rows.size:
                inner = kernel[np.ix_(rows, rows)].mean()
                distance[:, c] = np.diag(kernel) - 2 * kernel[:, rows].mean(axis=1) + inner
        moved = distance.argmin(axis=1)
        if np.array_equal(moved, labels):
            break
        labels = moved
    return labels, float(distance[np.arange(len(kernel)), labels].sum())
