"""EM, free energy and pairwise clustering of chapter 5 from its formulas, and the four clouds of its experiments."""

from __future__ import annotations

import itertools

import numpy as np

from reference.gaussians import log_densities
from reference.mean_field import update_row


def weighted_m_step(X, q, row_weight):
    """Means and covariances in which row i counts row_weight[i] times."""
    means, covariances = [], []
    for k in range(q.shape[1]):
        total = sum(row_weight[i] * q[i, k] for i in range(len(X)))
        mean = sum(row_weight[i] * q[i, k] * X[i] for i in range(len(X))) / total
        scatter = sum(row_weight[i] * q[i, k] * np.outer(X[i] - mean, X[i] - mean) for i in range(len(X)))
        means.append(mean)
        covariances.append(scatter / total)
    return np.array(means), np.array(covariances)


def free_energy(q, h, rho, eta, *, entropy_weight=None):
    """F_eta: all terms of linked rows times eta; `entropy_weight` gives their entropy another weight, as printed."""
    linked = np.abs(rho).sum(axis=1) > 0
    weight = np.where(linked, eta, 1.0)
    entropy = weight if entropy_weight is None else np.where(linked, entropy_weight, 1.0)
    rows = sum(entropy[i] * (q[i] * np.log(q[i])).sum() + weight[i] * (q[i] * h[i]).sum() for i in range(len(q)))
    links = sum(rho[i, j] * (q[i] * q[j]).sum() for j in range(len(q)) for i in range(j))
    return rows - eta * links


def em_path(X, q, rho, eta, n_rounds, *, entropy_weight=None):
    """The free energy after every update of a row and every M-step, with uniform weights."""
    q = q.copy()
    row_weight = np.where(np.abs(rho).sum(axis=1) > 0, eta, 1.0)
    path = []
    for _ in range(n_rounds):
        parameters = weighted_m_step(X, q, row_weight)
        h = -log_densities(X, *parameters) + np.log(q.shape[1])
        path.append(free_energy(q, h, rho, eta, entropy_weight=entropy_weight))
        for i in range(len(X)):
            q[i] = update_row(i, q, h, rho)
            path.append(free_energy(q, h, rho, eta, entropy_weight=entropy_weight))
    return np.array(path), parameters


def partition_cost(D, labels):
    """H_pw: over the clusters, the sum of dissimilarities of ordered pairs over twice the size."""
    total = 0.0
    for k in set(labels):
        rows = [i for i, label in enumerate(labels) if label == k]
        total += sum(D[i, j] for i in rows for j in rows) / (2 * len(rows))
    return total


def best_partition(D, n_clusters):
    """The labels of lowest cost, by trying all."""
    return min(itertools.product(range(n_clusters), repeat=len(D)), key=lambda labels: partition_cost(D, labels))


def pairwise_potential(D, q, i, k):
    """What the corrected mean-field equation of section 3.4 has in the exponent for row i and cluster k, over beta."""
    others = [j for j in range(len(D)) if j != i]
    mass = sum(q[j, k] for j in others)
    if mass == 0:
        return 0.0
    to_row = sum(q[j, k] * D[i, j] for j in others)
    among = sum(q[j, k] * q[m, k] * D[j, m] for j in others for m in others)
    return -(to_row - among / (2 * mass)) / (mass + 1)


def icm_sweep(X, means, labels, rho):
    """One sweep of PCK-means: each row in turn to the cluster of the lowest half squared distance plus penalties."""
    labels = list(labels)
    for i in range(len(X)):
        costs = []
        for k in range(len(means)):
            broken = sum(
                abs(rho[i, j]) for j in range(len(X)) if j != i and (labels[j] == k) != (rho[i, j] > 0) and rho[i, j]
            )
            costs.append(0.5 * ((X[i] - means[k]) ** 2).sum() + broken)
        labels[i] = int(np.argmin(costs))
    return labels


def four_clouds(seed, n_samples=200, half_width=1.0, half_height=1.5, scale=0.3):
    """Four round clouds at (+-half_width, +-half_height); the classes are left and right.

    The lower and the upper clouds are farther apart than the left and the right ones, so that two clusters without
    links are upper and lower.
    """
    corners = [(x, y) for x in (-half_width, half_width) for y in (-half_height, half_height)]
    rng = np.random.RandomState(seed)
    X = np.repeat(corners, n_samples // 4, axis=0) + rng.normal(scale=scale, size=(n_samples, 2))
    return X, np.repeat([0, 1], n_samples // 2)
