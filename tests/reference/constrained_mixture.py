"""Gaussian mixtures with hard links, by enumeration of all labelings: chapter 3 of "Constrained Clustering"."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.special import logsumexp


def components_of(n_rows, must_link):
    """The must-link component of every row."""
    component = list(range(n_rows))
    for a, b in must_link:
        old, new = component[a], component[b]
        component = [new if c == old else c for c in component]
    return component


def legal_labelings(n_rows, n_components, must_link, cannot_link):
    """All labelings that keep every link."""
    return [
        labels
        for labels in itertools.product(range(n_components), repeat=n_rows)
        if all(labels[a] == labels[b] for a, b in must_link) and all(labels[a] != labels[b] for a, b in cannot_link)
    ]


def log_prior(labels, log_weights, component, sampling):
    """The log-probability that these labels are drawn: one draw for every row, or for every must-link component."""
    if sampling == "point":
        return sum(log_weights[label] for label in labels)
    return sum(log_weights[labels[component.index(c)]] for c in set(component))


def expect(log_density, weights, must_link, cannot_link, sampling):
    """Return the posteriors of rows, the log of the sum over legal labelings, and log Z."""
    n_rows, n_components = log_density.shape
    component = components_of(n_rows, must_link)
    legal = legal_labelings(n_rows, n_components, must_link, cannot_link)
    priors = np.array([log_prior(labels, np.log(weights), component, sampling) for labels in legal])
    logs = priors + [sum(log_density[i, label] for i, label in enumerate(labels)) for labels in legal]
    shares = np.exp(logs - logsumexp(logs))
    posteriors = np.zeros(log_density.shape)
    for labels, share in zip(legal, shares, strict=True):
        posteriors[np.arange(n_rows), labels] += share
    return posteriors, logsumexp(logs), logsumexp(priors)


def best_labeling(log_density, weights, must_link, cannot_link, sampling):
    """The legal labeling of highest posterior probability."""
    component = components_of(len(log_density), must_link)
    legal = legal_labelings(*log_density.shape, must_link, cannot_link)
    return max(
        legal,
        key=lambda labels: (
            log_prior(labels, np.log(weights), component, sampling)
            + sum(log_density[i, label] for i, label in enumerate(labels))
        ),
    )


def estimate(X, posteriors, reg_covar):
    """The M-step of means and full covariances."""
    total = posteriors.sum(axis=0)
    means = [posteriors[:, c] @ X / total[c] for c in range(len(total))]
    covariances = [
        sum(p * np.outer(x - mean, x - mean) for p, x in zip(posteriors[:, c], X, strict=True)) / total[c]
        + reg_covar * np.eye(X.shape[1])
        for c, mean in enumerate(means)
    ]
    return means, covariances
