"""The penalized Gaussian mixture of chapter 4 by enumeration of all labelings.

The weights of the chapter count every link twice, as (i, j) and as (j, i): a link between i and j with the weight w
multiplies the prior by exp(2 w) if the labels are equal. Here ``beta = 2 w``, one number for each link, positive for
must-links; plus and minus infinity are hard links, of which the divergent factor is left out.
"""

from __future__ import annotations

import itertools

import numpy as np

from reference.link_models import labelings, satisfied_links, sum_over_labelings


def log_preferences(labels, pairs, beta):
    """The logarithm of g(Z), (4.4), for each labeling, divided by its maximum if all links were kept."""
    return -np.where(satisfied_links(labels, pairs, beta > 0), 0, np.abs(beta)).sum(axis=1)


def posterior(log_potentials, pairs, beta):
    """The marginals of all rows and the logarithm of the sum over all labelings."""
    rows, _, log_sum = sum_over_labelings(log_potentials, pairs, beta > 0, np.abs(beta))
    return rows, log_sum


def log_omega(weights, n_rows, pairs, beta):
    """The logarithm of Omega(pi), (4.5), and the expected number of rows of every component under the prior."""
    rows, log_sum = posterior(np.tile(np.log(weights), (n_rows, 1)), pairs, beta)
    return log_sum, rows.sum(axis=0)


def log_likelihood(log_density, weights, pairs, beta):
    """The logarithm of the likelihood of the rows under the links."""
    _, log_sum = posterior(log_density + np.log(weights), pairs, beta)
    return log_sum - log_omega(weights, len(log_density), pairs, beta)[0]


def best_weights_on_grid(counts, n_rows, pairs, beta, resolution):
    """The node of a grid over the simplex with the largest sum_k c_k log pi_k - log Omega(pi), (4.8)."""
    n_components, steps = len(counts), round(1 / resolution)
    best, best_value = None, -np.inf
    for parts in itertools.product(range(1, steps), repeat=n_components - 1):
        if sum(parts) < steps:
            weights = np.array([*parts, steps - sum(parts)]) / steps
            value = counts @ np.log(weights) - log_omega(weights, n_rows, pairs, beta)[0]
            if value > best_value:
                best, best_value = weights, value
    return best


def assignment_cost(X, means, labels, pairs, cost, is_must):
    """The cost of a labeling in soft constrained k-means, (4.21)."""
    distances = sum(0.5 * np.square(X[i] - means[k]).sum() for i, k in enumerate(labels))
    broken = sum(c for (a, b), c, must in zip(pairs, cost, is_must, strict=True) if (labels[a] == labels[b]) != must)
    return distances + broken


def cheapest_labeling(X, means, pairs, cost, is_must):
    """The labeling of the lowest cost, by trying all."""
    tried = labelings(len(X), len(means))
    return min(tried, key=lambda labels: assignment_cost(X, means, labels, pairs, cost, is_must))
