"""Agreement and disagreement of a clustering with signed weights."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from mustlink._types import Floats, Ints


def disagreement(X: csr_array, labels: Ints, penalty: float) -> float:
    """Return the weight of negative pairs inside clusters and of positive pairs between them.

    A pair without an entry is negative with the weight `penalty`.
    """
    row = np.repeat(labels, np.diff(X.indptr))
    together = row == labels[X.indices]
    wrong = float(np.abs(X.data[together != (X.data > 0)]).sum()) / 2
    if penalty:
        sizes = np.bincount(labels)
        n_inside = int((sizes * (sizes - 1) // 2).sum())
        wrong += penalty * (n_inside - int(together.sum()) // 2)
    return wrong


def total_weight(X: csr_array, penalty: float) -> float:
    """Return the weight of all pairs."""
    n_samples = X.shape[0]
    n_missing = n_samples * (n_samples - 1) // 2 - X.nnz // 2
    return float(np.abs(X.data).sum()) / 2 + penalty * n_missing


def cluster_deltas(X: csr_array, labels: Ints, penalty: float) -> Floats:
    """Return for every cluster the least delta for which it is delta-clean.

    Every member has at most delta times the size of the cluster negative pairs inside and positive pairs outside it.
    """
    n_samples, sizes = len(labels), np.bincount(labels)
    row = np.repeat(np.arange(n_samples), np.diff(X.indptr))
    together = labels[row] == labels[X.indices]
    n_negative = np.bincount(row[together & (X.data < 0)], minlength=n_samples)
    if penalty:
        n_negative += sizes[labels] - 1 - np.bincount(row[together], minlength=n_samples)
    n_positive = np.bincount(row[~together & (X.data > 0)], minlength=n_samples)
    deltas = np.zeros(len(sizes))
    np.maximum.at(deltas, labels, np.maximum(n_negative, n_positive) / sizes[labels])
    return deltas


def cost_ratio(cost: float, bound: float) -> float:
    """Return a cost divided by its lower bound: 1 if both are 0, infinite if only the bound is."""
    if bound > 0:
        return cost / bound
    return 1.0 if cost == 0 else float("inf")
