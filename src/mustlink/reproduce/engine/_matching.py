"""Clusters matched to classes one to one, such that most rows are in the class of their cluster."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from mustlink._types import Array, Ints

__all__ = ["match_clusters", "matched_accuracy"]


def match_clusters(classes: Array, labels: Array) -> Ints:
    """Return the class of the cluster of every row; -1 for clusters that are left over."""
    known, cluster = np.unique(labels, return_inverse=True)
    class_, matched = linear_sum_assignment(contingency_matrix(classes, labels), maximize=True)
    class_of = np.full(len(known), -1, dtype=np.int64)
    class_of[matched] = np.unique(classes)[class_]
    return class_of[cluster]


def matched_accuracy(classes: Array, labels: Array) -> float:
    """Return the fraction of rows in the class of their cluster, with each cluster matched to one class."""
    return float(np.mean(match_clusters(classes, labels) == classes))
