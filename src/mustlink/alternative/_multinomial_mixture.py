"""Mixture of multinomials for counts, by expectation maximization: the base clusterer of texts."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_array, check_random_state

from mustlink._types import Floats, Ints

__all__ = ["MultinomialMixture"]

# What is added to the share of every column, relative to the mean share.
SMOOTHING = 1e-2
# How far the first responsibilities are from equal.
NOISE = 0.1
# The number of tempers from one word to all of them, and of iterations at each.
N_TEMPERS, N_TEMPERED = 15, 3
# The least share of a component.
MIN_SHARE = 1e-12


class MultinomialMixture(ClusterMixin, BaseEstimator):
    """Mixture of multinomials, with the parameters and methods of scikit-learn's mixtures that CondEns calls."""

    def __init__(
        self, n_clusters: int = 8, *, n_init: int = 1, max_iter: int = 200, tol: float = 1e-6, random_state: Any = None
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: object = None) -> Self:
        """Fit the mixture, and keep the run of the largest likelihood."""
        X = check_array(X, accept_sparse="csr", dtype=np.float64)
        rng = check_random_state(self.random_state)
        best = -np.inf
        for _ in range(self.n_init):
            likelihood, log_share, log_probability = self._run(X, rng)
            if likelihood > best:
                best, self.log_share_, self.log_probability_ = likelihood, log_share, log_probability
        self.labels_ = self.predict(X)
        return self

    def _run(self, X: Any, rng: np.random.RandomState) -> tuple[float, Floats, Floats]:
        """Iterate from nearly equal components, first with likelihoods tempered, which avoids poor local maxima."""
        start = 1.0 + NOISE * rng.standard_normal((X.shape[0], self.n_clusters))
        log_share, log_probability = _maximize(X, start / start.sum(axis=1, keepdims=True))
        length = max(float(X.sum()) / X.shape[0], 2.0)
        for temper in np.repeat(np.geomspace(1.0 / length, 1.0, N_TEMPERS), N_TEMPERED):
            joint = _joint(X, log_share, log_probability, temper)
            log_share, log_probability = _maximize(X, np.exp(joint - logsumexp(joint, axis=1, keepdims=True)))
        before = -np.inf
        for _ in range(self.max_iter):
            joint = _joint(X, log_share, log_probability)
            whole = logsumexp(joint, axis=1)
            likelihood = float(whole.mean())
            if likelihood - before <= self.tol * abs(likelihood):
                break
            before = likelihood
            log_share, log_probability = _maximize(X, np.exp(joint - whole[:, None]))
        return likelihood, log_share, log_probability

    def predict_proba(self, X: Any) -> Floats:
        """Return the responsibilities of the components."""
        joint = _joint(X, self.log_share_, self.log_probability_)
        return np.asarray(np.exp(joint - logsumexp(joint, axis=1, keepdims=True)))

    def predict(self, X: Any) -> Ints:
        """Return the most probable component of each row."""
        return np.asarray(self.predict_proba(X).argmax(axis=1), dtype=np.int64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def _maximize(X: Any, responsibilities: Floats) -> tuple[Floats, Floats]:
    """Return the logarithms of the shares of components and of their probabilities of columns."""
    sums = np.asarray((X.T @ responsibilities).T if sparse.issparse(X) else responsibilities.T @ X)
    sums = sums + SMOOTHING * max(float(sums.mean()), MIN_SHARE)
    share = np.maximum(responsibilities.mean(axis=0), MIN_SHARE)
    return np.log(share), np.log(sums / sums.sum(axis=1, keepdims=True))


def _joint(X: Any, log_share: Floats, log_probability: Floats, temper: float = 1.0) -> Floats:
    """Return the logarithm of the joint density of rows and components, up to a term of the row alone."""
    return log_share + temper * np.asarray(X @ log_probability.T)
