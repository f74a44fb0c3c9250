"""Starts of the runs: from k-means, from k-means in a metric that the links suggest, and at random."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, islice

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import linear_sum_assignment

from mustlink._types import Array, Floats
from mustlink.mixture._base import start_responsibilities
from mustlink.mixture._mean_field._linked_rows import ClampedRows
from mustlink.mixture._mean_field._steps import MeanFieldSteps

__all__ = ["clamp_start", "start_masses", "stretch_by_links"]

# With "auto". k-means finds what the data suggest, and the links move that little if they disagree; in the metric of
# the links it finds what these suggest; a random start leaves the choice to EM.
ALTERNATING = ("kmeans", "links", "random")
# What differences of unlinked rows count beside those of linked rows, in units of the variance of all rows.
PRIOR_VARIANCE = 0.2


def start_masses(
    X: Array, steps: MeanFieldSteps, n_components: int, init_params: str, n_init: int, rng: np.random.RandomState
) -> Iterator[Array]:
    """Yield the mass of every row in every mixture component that each run begins with."""
    kinds: tuple[str, ...] = ALTERNATING if init_params == "auto" else (init_params,)
    clamped, pairs = steps.linked.clamped, steps.linked.known_pairs()
    if not any(map(len, pairs)) and init_params in ("auto", "links"):
        kinds = ("kmeans",)
    for kind in islice(cycle(kinds), n_init):
        if kind == "links":
            stretched = stretch_by_links(X, *pairs).astype(X.dtype)
            start = start_responsibilities(stretched, n_components, "kmeans", rng)
        else:
            start = start_responsibilities(X, n_components, kind, rng)
        yield steps.masses(start if clamped is None else clamp_start(start, clamped))


def stretch_by_links(X: Array, must_link: Array, cannot_link: Array) -> Floats:
    """Return the rows in a metric in which must-linked rows are near to each other, and cannot-linked rows are not.

    With W and B the scatter of must-linked and of cannot-linked pairs, relative to that of all rows, directions are
    stretched by (W + t)^-1/2 (B + t)^1/2; without links this leaves the rows as they are.
    """
    centered = X - X.mean(axis=0, dtype=np.float64)
    values, vectors = eigh(centered.T @ centered / len(X))
    scales = np.sqrt(np.maximum(values, np.finfo(np.float64).eps * max(values[-1], np.finfo(np.float64).tiny)))
    whitened = centered @ (vectors / scales)
    shrink = _power(_pair_scatter(whitened, must_link), -0.25)
    stretch = _power(_pair_scatter(whitened, cannot_link), 0.5)
    return np.asarray(whitened @ (shrink @ stretch @ shrink) * scales @ vectors.T)


def _pair_scatter(whitened: Floats, pairs: Array) -> Floats:
    """Return half the mean square of differences of pairs, which is the variance of their rows, plus a prior."""
    n_features = whitened.shape[1]
    prior = PRIOR_VARIANCE * np.eye(n_features)
    if not len(pairs):
        return prior
    differences = whitened[pairs[:, 0]] - whitened[pairs[:, 1]]
    return np.asarray(differences.T @ differences / (2 * len(pairs)) + prior)


def _power(scatter: Floats, exponent: float) -> Floats:
    """Return a power of a symmetric positive definite matrix, relative to that of the prior."""
    values, vectors = eigh(scatter)
    return np.asarray((vectors * (values / PRIOR_VARIANCE) ** exponent) @ vectors.T)


def clamp_start(start: Array, clamped: ClampedRows) -> Array:
    """Number the mixture components of a start so that they fit clamped rows best, and clamp these."""
    n_components = start.shape[1]
    fit = np.zeros((n_components, n_components))
    np.add.at(fit, clamped.component, start[clamped.rows])
    start = start[:, linear_sum_assignment(-fit)[1]]
    start[clamped.rows] = np.eye(n_components, dtype=start.dtype)[clamped.component]
    return start
