"""Warping of the term weights along gradients of divergences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mustlink._types import Floats
from mustlink.mixture._feedback._divergence import Gradients

__all__ = ["Update", "WarpOptions", "rescale", "warp"]

Update = Literal["additive", "multiplicative"]

N_BISECTIONS = 100


@dataclass(frozen=True)
class WarpOptions:
    """How far the weights go; the parameters of the same names of :class:`~mustlink.mixture.FeedbackMixture`."""

    update: Update = "additive"
    step: float = 0.1
    n_steps: int = 10
    ridge: float = 0.0
    clip: Sequence[float] = (1e-3, 1e3)


def warp(term_weights: Floats, gradients: Gradients, factor: Floats, options: WarpOptions) -> Floats:
    """Move the term weights along the mean of gradients.

    Every gradient is divided by its largest entry, so that each criticism has the same say but for its factor.

    Parameters
    ----------
    term_weights : ndarray of shape (n_terms,)
        The present weights, with mean 1.
    gradients : Gradients
        One gradient for each criticism.
    factor : ndarray of shape (n_criticisms,)
        Positive where a divergence is to grow and negative where it is to shrink; the size is the importance.
    options : WarpOptions
        The size and number of steps, and the bounds.

    Returns
    -------
    ndarray of shape (n_terms,)
        The new weights, with mean 1.
    """
    # The gradients do not depend on the weights, nor do the steps that add.
    change = options.step * _mean_direction(gradients, factor, np.ones_like(term_weights))
    for _ in range(options.n_steps):
        if options.update == "additive":
            # A weight that falls is divided, which agrees to first order for a weight of 1 and never reaches zero.
            moved = np.where(change > 0, term_weights + change, term_weights / (1.0 + np.abs(change)))
        else:
            change = options.step * _mean_direction(gradients, factor, term_weights)
            moved = term_weights * np.exp(change * term_weights)
        term_weights = rescale(moved ** (1.0 - options.ridge), options.clip)
    return term_weights


def _mean_direction(gradients: Gradients, factor: Floats, term_weights: Floats) -> Floats:
    """Return the mean of the gradients, each with a largest entry of 1 where it is multiplied with the weights."""
    largest = gradients.largest(term_weights)
    share = factor / np.abs(factor).sum()
    return gradients.combine(np.divide(share, largest, out=np.zeros(len(share)), where=largest > 0))


def rescale(term_weights: Floats, clip: Sequence[float]) -> Floats:
    """Multiply weights by a constant such that, clipped to bounds on both sides of 1, their mean is 1."""
    low, high = clip
    scaled = term_weights / term_weights.mean()
    if low <= scaled.min() and scaled.max() <= high:
        return np.asarray(scaled)
    # The mean of the clipped weights grows with the constant.
    below, above = np.log(low / scaled.max()), np.log(high / scaled.min())
    for _ in range(N_BISECTIONS):
        middle = 0.5 * (below + above)
        if np.clip(np.exp(middle) * scaled, low, high).mean() < 1.0:
            below = middle
        else:
            above = middle
    return np.asarray(np.clip(np.exp(above) * scaled, low, high))
