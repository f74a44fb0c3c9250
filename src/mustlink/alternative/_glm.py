"""Feature models for any known columns: a generalized linear model of every feature in every cluster.

A cluster has its own intercept and slopes, so that it is K weighted fits per feature. The features of a cluster share
their predictors, and are fitted together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import pinvh
from scipy.special import expit, xlogy

from mustlink._types import Floats
from mustlink.alternative._families import AUTO_LAM

__all__ = ["LINKS", "GlmScores", "LinearModels", "fit_means", "log_likelihood"]

LINKS = ("identity", "log", "logit")
# Newton steps of a fit: it begins at the last fit, and any increase is enough for the objective not to decrease.
MAX_NEWTON = 5
MAX_HALVINGS = 20
MIN_RISE = 1e-10
# Fits one after another, of MAX_NEWTON steps each, where one fit is all.
N_FITS = 5
# The bounds of linear predictors of counts and of probabilities.
MAX_PREDICTOR = 30.0


@dataclass(frozen=True)
class GlmScores:
    """The coefficients of clusters: with the known columns, of shape (K, q, d), and without, of shape (K, d)."""

    coefficients: Floats
    intercepts: Floats


class LinearModels:
    """Rows with predictors, and how the models of clusters are fitted to memberships."""

    def __init__(self, X: Floats, design: Floats, lam: float | None, link: str) -> None:
        self.X, self.design, self.link = X, design, link
        self.n_rows = len(X)
        self.weight = np.full(self.n_rows, 1.0 / self.n_rows)
        self._last: Floats | None = None
        one = self.estimate(np.ones((self.n_rows, 1)))
        self.restart()
        self.lam = AUTO_LAM * self._scale_of_lam(one) if lam is None else lam
        self.baseline = self.score_all(one)[:, 0]

    def _scale_of_lam(self, one: GlmScores) -> float:
        """Return what is left to explain with the known columns, as a share of what is without them."""
        within = log_likelihood(one, self.X, self.design, 0.0, self.link).mean()
        both = log_likelihood(one, self.X, self.design, 1.0, self.link).mean()
        best = self._saturated().mean()
        left, whole = best - within, best - (both - within)
        return float(min(left / whole, 1.0)) if whole > 0 and left > 0 else 1.0

    def restart(self) -> None:
        """Forget the last fit, for another run."""
        self._last = None

    def estimate(self, memberships: Floats) -> GlmScores:
        """Fit the models of largest likelihood, given P(c|x); all but those of the identity begin at the last fit."""
        mass = np.maximum(memberships.sum(axis=0), np.finfo(float).tiny)
        means = (memberships.T @ self.X) / mass[:, None]
        intercepts = _link(means, self.link)
        n_clusters = memberships.shape[1]
        if self.link == "identity":
            found = [self._least_squares(memberships[:, c]) for c in range(n_clusters)]
        else:
            start = self._last
            if start is None or len(start) != n_clusters:
                start = np.zeros((n_clusters, self.design.shape[1], self.X.shape[1]))
                start[:, 0] = intercepts
            found = [self._newton(memberships[:, c], start[c]) for c in range(n_clusters)]
        self._last = np.stack(found)
        return GlmScores(self._last, intercepts)

    def _least_squares(self, weight: Floats) -> Floats:
        """Return the coefficients of all features by weighted least squares with one Gram matrix."""
        weighted = self.design * weight[:, None]
        return np.asarray(pinvh(weighted.T @ self.design) @ (weighted.T @ self.X))

    def _newton(self, weight: Floats, start: Floats) -> Floats:
        """Return coefficients of a larger likelihood for every feature, by Newton steps that are halved if needed."""
        found = start
        value = weight @ _densities(self.X, self.design @ found, self.link)
        for _ in range(MAX_NEWTON):
            mean = _mean(self.design @ found, self.link)
            spread = weight[:, None] * (mean if self.link == "log" else mean * (1.0 - mean))
            gram = np.einsum("iq,is,ir->sqr", self.design, spread, self.design)
            slope = self.design.T @ (weight[:, None] * (self.X - mean))
            step = np.einsum("sqr,rs->qs", np.linalg.pinv(gram, hermitian=True), slope)
            size = np.ones(step.shape[1])
            for _ in range(MAX_HALVINGS):
                new = found + size * step
                gain = weight @ _densities(self.X, self.design @ new, self.link) - value
                if (gain >= 0).all():
                    break
                size = np.where(gain < 0, size / 2, size)
            kept = gain > 0
            found = np.where(kept, new, found)
            value = value + np.where(kept, gain, 0.0)
            if not (gain > MIN_RISE * np.abs(value)).any():
                break
        return found

    def score_all(self, scores: GlmScores) -> Floats:
        """Return the exponent of every row and cluster: with the known columns, plus lam times without."""
        return log_likelihood(scores, self.X, self.design, self.lam, self.link)

    def gains(self, memberships: Floats) -> tuple[float, float]:
        """Return how much better clusters describe the features with the known columns, and without."""
        parts = []
        for given in (memberships, np.ones((self.n_rows, 1))):
            self.restart()
            scores = self.estimate(given)
            both = log_likelihood(scores, self.X, self.design, 1.0, self.link)
            within = log_likelihood(scores, self.X, self.design, 0.0, self.link)
            mass = given * self.weight[:, None]
            parts.append((float((mass * within).sum()), float((mass * (both - within)).sum())))
        self.restart()
        return parts[0][0] - parts[1][0], parts[0][1] - parts[1][1]

    def ceiling(self) -> Floats:
        """Return the score of every row in a model that fits it alone."""
        return (1.0 + self.lam) * self._saturated()

    def _saturated(self) -> Floats:
        """Return the largest log-likelihood of every row."""
        if self.link == "identity":
            return np.zeros(self.n_rows)
        best = xlogy(self.X, self.X)
        best = best - self.X if self.link == "log" else best + xlogy(1.0 - self.X, 1.0 - self.X)
        return np.asarray(best.sum(axis=1))


def fit_means(X: Floats, design: Floats, link: str) -> Floats:
    """Return the means of all entries by one generalized linear model of every feature."""
    model, all_rows = LinearModels(X, design, 0.0, link), np.ones((len(X), 1))
    for _ in range(N_FITS):
        coefficients = model.estimate(all_rows).coefficients[0]
    return _mean(design @ coefficients, link)


def log_likelihood(scores: GlmScores, X: Floats, design: Floats | None, lam: float, link: str) -> Floats:
    """Return the exponents of rows; without predictors, as of new rows, 1 + lam times the score without them."""
    n_clusters = len(scores.intercepts)
    found = np.empty((len(X), n_clusters))
    for c in range(n_clusters):
        overall = _densities(X, scores.intercepts[c], link).sum(axis=1)
        if design is None:
            found[:, c] = (1.0 + lam) * overall
        else:
            found[:, c] = _densities(X, design @ scores.coefficients[c], link).sum(axis=1) + lam * overall
    return found


def _densities(X: Floats, predictor: Floats, link: str) -> Floats:
    """Return the log-likelihood of every entry, up to a term of the entry alone."""
    if link == "identity":
        return -np.square(X - predictor)
    predictor = np.clip(predictor, -MAX_PREDICTOR, MAX_PREDICTOR)
    if link == "log":
        return X * predictor - np.exp(predictor)
    return X * predictor - np.logaddexp(0.0, predictor)


def _mean(predictor: Floats, link: str) -> Floats:
    """Return the mean of every entry, by the inverse of the link."""
    predictor = np.clip(predictor, -MAX_PREDICTOR, MAX_PREDICTOR)
    return np.exp(predictor) if link == "log" else np.asarray(expit(predictor))


def _link(mean: Floats, link: str) -> Floats:
    """Return the linear predictor of a mean."""
    if link == "identity":
        return mean
    least = np.exp(-MAX_PREDICTOR)
    if link == "log":
        return np.log(np.maximum(mean, least))
    mean = np.clip(mean, least, 1.0 - least)
    return np.log(mean) - np.log1p(-mean)
