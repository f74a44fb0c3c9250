"""Weights of columns from links: columns that differ less within must-links than within cannot-links count more.

A matrix of products of all columns needs many links. A weight for each column needs only as many as one test, and finds
the few columns that matter among many that do not.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.sparse import issparse
from scipy.special import ndtr

from mustlink._types import Floats

__all__ = ["LINK_WEIGHTINGS", "WEIGHTINGS", "LinkWeighting", "Weighting", "relative_weights", "weigh_columns"]

LinkWeighting = Literal["ratio", "screen"]
# By "clusters", how much of each column the clusters of earlier runs explain; see `_explained.py`.
Weighting = Literal[LinkWeighting, "clusters"]
LINK_WEIGHTINGS: tuple[LinkWeighting, ...] = ("ratio", "screen")
WEIGHTINGS: tuple[Weighting, ...] = (*LINK_WEIGHTINGS, "clusters")
# With "screen": the expected fraction of columns among those that pass that say nothing, and the weight of the others.
FALSE_DISCOVERIES = 0.2
SCREENED_OUT = 0.05


def weigh_columns(weighting: LinkWeighting, squares: Any, n_must: int, weight: Floats, variance: Floats) -> Floats:
    """Return a weight for each column, given the squared differences of linked rows and the variance of the columns.

    The first `n_must` links are must-links. The largest weight is one; if no column says anything, all are one. With
    one kind of link only, links are compared with random pairs of rows, whose mean squared difference is twice the
    variance.
    """
    must, cannot, reference = squares[:n_must], squares[n_must:], 2 * variance
    together = weighted_mean(must, weight[:n_must], reference)
    contrast = weighted_mean(cannot, weight[n_must:], reference) - together
    if weighting == "ratio":
        scale = together + variance
        found = np.sqrt(np.maximum(contrast, 0.0) / np.where(scale > 0, scale, np.inf))
    else:
        error = np.sqrt(squared_error(must, weight[:n_must]) + squared_error(cannot, weight[n_must:]))
        z = contrast / np.where(error > 0, error, np.inf)
        found = screen(z)
    return relative_weights(found)


def relative_weights(found: Floats) -> Floats:
    """Return weights of which the largest is one; all are one if all were zero."""
    largest = found.max(initial=0.0)
    return found / largest if largest > 0 else np.ones_like(found)


def weighted_mean(squares: Any, weight: Floats, reference: Floats) -> Floats:
    """Return the weighted mean of each column; the reference if all weights are zero."""
    total = weight.sum()
    return np.asarray((weight / total) @ squares).ravel() if total > 0 else reference


def squared_error(squares: Any, weight: Floats) -> Floats:
    """Return the squared standard error of the weighted mean of each column; zero if all weights are zero."""
    nothing = np.zeros(squares.shape[1])
    total = weight.sum()
    if total <= 0:
        return nothing
    share = weight / total
    fourth = squares.multiply(squares) if issparse(squares) else squares**2
    mean = weighted_mean(squares, weight, nothing)
    spread = np.maximum(np.asarray(share @ fourth).ravel() - mean**2, 0.0)
    # As many links of equal weight would have the same error.
    n_effective = 1 / float(share @ share)
    return spread / max(n_effective - 1, 1.0)


def screen(z: Floats) -> Floats:
    """Return one for columns that pass a one-sided test by Benjamini and Hochberg's rule, a small weight otherwise."""
    p = ndtr(-z)
    order = np.argsort(p, kind="stable")
    below = np.flatnonzero(p[order] <= FALSE_DISCOVERIES * np.arange(1, len(p) + 1) / len(p))
    found = np.full(len(p), SCREENED_OUT)
    found[order[: below[-1] + 1 if below.size else 0]] = 1.0
    return found
