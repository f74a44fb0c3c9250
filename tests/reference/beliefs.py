"""Beliefs of linked rows and links by going through all assignments: slow and obvious."""

from __future__ import annotations

from itertools import product

import numpy as np


def exact_beliefs(
    evidence: np.ndarray, pairs: np.ndarray, is_must: np.ndarray, log_odds: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The weight of an assignment is exp(its evidence) times the odds of every link that it keeps.

    Returns the probability of each row being in each cluster, and of each link being kept.
    """
    n_rows, n_clusters = evidence.shape
    labels = np.array(list(product(range(n_clusters), repeat=n_rows)))
    kept = (labels[:, pairs[:, 0]] == labels[:, pairs[:, 1]]) == is_must
    log_weight = evidence[np.arange(n_rows), labels].sum(axis=1) + kept @ log_odds
    # Divided by the largest, or all weights could be too small for a float.
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    of_rows = np.array(
        [[weight[labels[:, row] == cluster].sum() for cluster in range(n_clusters)] for row in range(n_rows)]
    )
    return of_rows, weight @ kept


def slow_votes(codes: np.ndarray, anchors: np.ndarray, weights: np.ndarray, beliefs: np.ndarray) -> np.ndarray:
    """Every anchor that shares at least 85% of a row's clusters votes with that share to the power of 32."""
    votes = np.zeros((len(codes), beliefs.shape[1]))
    for i, code in enumerate(codes):
        for anchor, belief in zip(anchors, beliefs, strict=True):
            shared = weights[(code == anchor) & (code >= 0)].sum()
            if shared >= 0.85:
                votes[i] += shared**32 * belief
    return votes
