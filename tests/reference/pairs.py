"""Scores of a clustering by their definitions: every pair of points is looked at, one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import log


def together(labels: Sequence[object], i: int, j: int) -> bool:
    """Say whether two points share a label; a noise point shares its label with nobody."""
    return labels[i] == labels[j] and labels[i] != -1


def pair_counts(labels_true: Sequence[object], labels_pred: Sequence[object]) -> tuple[int, int, int, int]:
    """Count pairs together in both, in the truth only, in the clustering only, in neither."""
    both = true_only = pred_only = neither = 0
    for i, j in combinations(range(len(labels_true)), 2):
        same_class = labels_true[i] == labels_true[j]
        same_cluster = together(labels_pred, i, j)
        both += same_class and same_cluster
        true_only += same_class and not same_cluster
        pred_only += same_cluster and not same_class
        neither += not same_class and not same_cluster
    return both, true_only, pred_only, neither


def precision_recall_f1(labels_true: Sequence[object], labels_pred: Sequence[object]) -> tuple[float, float, float]:
    """Pairwise precision, recall and their harmonic mean; 0 where a ratio is undefined."""
    both, true_only, pred_only, _ = pair_counts(labels_true, labels_pred)
    precision = both / (both + pred_only) if both + pred_only else 0.0
    recall = both / (both + true_only) if both + true_only else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return precision, recall, f1


def adjusted_rand(labels_true: Sequence[object], labels_pred: Sequence[object]) -> float:
    """Observed agreement above the expected one, over the largest possible above the expected one."""
    both, true_only, pred_only, neither = pair_counts(labels_true, labels_pred)
    if true_only == pred_only == 0:
        return 1.0
    n_pairs = both + true_only + pred_only + neither
    in_truth, in_clusters = both + true_only, both + pred_only
    expected = in_truth * in_clusters / n_pairs
    return (both - expected) / ((in_truth + in_clusters) / 2 - expected)


def normalized_mutual_info(labels_true: Sequence[object], labels_pred: Sequence[object]) -> float:
    """Mutual information over the arithmetic mean of the entropies, from counts in dictionaries."""
    n = len(labels_true)
    clusters = [("noise", i) if label == -1 else label for i, label in enumerate(labels_pred)]
    class_sizes, cluster_sizes = Counter(labels_true), Counter(clusters)
    if len(class_sizes) == len(cluster_sizes) == 1:
        return 1.0
    joint = Counter(zip(labels_true, clusters, strict=True))
    information = sum(
        count / n * log(n * count / (class_sizes[a] * cluster_sizes[b])) for (a, b), count in joint.items()
    )
    entropies = [-sum(size / n * log(size / n) for size in sizes.values()) for sizes in (class_sizes, cluster_sizes)]
    return information / (sum(entropies) / 2)


def f_measure(labels_true: Sequence[object], labels_pred: Sequence[object]) -> float:
    """F1 of each class and each cluster from precision and recall; the mean over the rows of their class's best one."""
    clusters = [("noise", i) if label == -1 else label for i, label in enumerate(labels_pred)]
    total = 0.0
    for a in set(labels_true):
        members = {i for i, label in enumerate(labels_true) if label == a}
        best = 0.0
        for b in set(clusters):
            found = {i for i, label in enumerate(clusters) if label == b}
            precision, recall = len(members & found) / len(found), len(members & found) / len(members)
            if precision + recall:
                best = max(best, 2 * precision * recall / (precision + recall))
        total += len(members) * best
    return total / len(labels_true)
