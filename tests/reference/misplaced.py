"""Linked rows that are nearer to another cluster, from distances between single rows."""

from __future__ import annotations


def misplaced_fraction(similarity, labels):
    """Compare, for every row, the mean of the other rows of its cluster with the means of the other clusters.

    `similarity` is the inner product of any two linked rows.
    """
    clusters = [[row for row, label in enumerate(labels) if label == name] for name in sorted(set(labels))]
    misplaced = []
    for row, label in enumerate(labels):
        others = [other for other in range(len(labels)) if labels[other] == label and other != row]
        if others:
            own = distance_to_mean(similarity, row, others)
            rest = [distance_to_mean(similarity, row, cluster) for cluster in clusters if row not in cluster]
            misplaced.append(bool(rest) and own > min(rest) + 1e-12)
    if len(clusters) < 2 or not misplaced:
        return 1.0
    return sum(misplaced) / len(misplaced) / (1 - 1 / len(clusters))


def distance_to_mean(similarity, row, cluster):
    """The squared distance of a row to the mean of some rows."""
    to_rows = sum(similarity[row][other] for other in cluster) / len(cluster)
    length = sum(similarity[a][b] for a in cluster for b in cluster) / len(cluster) ** 2
    return similarity[row][row] - 2 * to_rows + length
