"""Gaussian densities, from scipy."""

from __future__ import annotations

import numpy as np
from scipy.stats import multivariate_normal


def log_densities(X, means, covariances):
    """The log-density of every mixture component at every row."""
    return np.column_stack(
        [multivariate_normal(mean, cov).logpdf(X) for mean, cov in zip(means, covariances, strict=True)]
    ).reshape(len(X), -1)
