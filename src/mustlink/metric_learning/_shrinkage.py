"""The shrinkage of a scatter matrix, chosen by held-out must-linked rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import gen_batches

from mustlink._types import Floats
from mustlink.metric_learning._scatter import Units, WithinComponents, default_shrinkage

__all__ = ["choose_shrinkage", "held_out_alignment"]

# Multiples of the odds of the default shrinkage. More than the default is not tried: on tables of two classes the
# alignment of few rows often favored it where it was worse.
ODDS_FACTORS = (1e-3, 0.03, 0.1, 0.3)
# A smaller shrinkage must be better by this many standard errors of the paired difference.
MIN_STANDARD_ERRORS = 2.0
# Alignments are about 1 for a clear cluster; a row far from all others must not decide alone.
MAX_ALIGNMENT = 3.0
# Relative to the mean eigenvalue: a direction in which the must-linked rows do not vary.
MIN_EIGENVALUE = 1e-9
# The covariance is summed over blocks of this many rows.
BLOCK_ROWS = 16_384


def choose_shrinkage(X: Any, within: WithinComponents, units: Units) -> float:
    """Return the shrinkage of RCA, up to the default, whose metric aligns held-out rows best with their components.

    The default d / (d + m) stays, unless a smaller one is clearly better, and wherever there are fewer independent
    must-links m than features d.
    """
    n_features = len(units.columns)
    default = default_shrinkage(n_features, within.n_independent)
    if within.n_independent < n_features:
        return default
    odds = n_features / within.n_independent
    smaller = [factor * odds / (1 + factor * odds) for factor in ODDS_FACTORS]
    first, *alignments = held_out_alignment(X, within, units, [default, *smaller])
    best, least = default, 0.0
    for shrinkage, alignment in zip(smaller, alignments, strict=True):
        gain = alignment - first
        error = gain.std() / np.sqrt(within.n_independent)
        if gain.mean() > max(least, MIN_STANDARD_ERRORS * error):
            best, least = shrinkage, gain.mean()
    return best


def held_out_alignment(X: Any, within: WithinComponents, units: Units, shrinkages: list[float]) -> list[Floats]:
    """Return, for each shrinkage, the alignment of every must-linked row with the rest of its component.

    The row x is left out of the scatter S; with s rows in its component and r its difference from their mean, the mean
    c of the others is x - f r, and the scatter without it is S - f r r', with f = s / (s - 1). The alignment is the
    inner product of x and c, both centered, under the metric C that is the inverse of the shrunk scatter, over the
    Frobenius norm of the covariance of all rows in that metric. k-means in a metric finds classes if their inner
    products are a large part of this norm. All is computed in the eigenvectors of S, and the inverse without a row by
    the formula of Sherman and Morrison.
    """
    mean, covariance = _moments(X, units)
    values, vectors = np.linalg.eigh(within.residual.T @ within.residual)
    average = values.sum() / len(values)
    covariance = vectors.T @ covariance @ vectors
    residual = within.residual @ vectors
    rows = (units.rows(X, within.rows) - mean) @ vectors
    size = within.size[within.number]
    factor = size / (size - 1.0)
    found = []
    for shrinkage in shrinkages:
        shrunk = np.maximum((1 - shrinkage) * values + shrinkage * average, MIN_EIGENVALUE * average)
        scale = 1 / np.sqrt(shrunk)
        r, x = residual * scale, rows * scale
        c = x - factor[:, None] * r
        removed = (1 - shrinkage) * factor
        left = np.maximum(1 - removed * (r * r).sum(axis=1), MIN_EIGENVALUE)
        product = (x * c).sum(axis=1) + removed / left * (x * r).sum(axis=1) * (c * r).sum(axis=1)
        norm = np.linalg.norm(covariance * scale * scale[:, None])
        found.append(np.clip(product / norm, -MAX_ALIGNMENT, MAX_ALIGNMENT))
    return found


def _moments(X: Any, units: Units) -> tuple[Floats, Floats]:
    """Return the mean and the covariance of all rows in the given units."""
    n_rows = X.shape[0]
    blocks = [np.arange(n_rows)[part] for part in gen_batches(n_rows, BLOCK_ROWS)]
    mean = np.sum([units.rows(X, block).sum(axis=0) for block in blocks], axis=0) / n_rows
    covariance = np.zeros((len(mean), len(mean)))
    for block in blocks:
        centered = units.rows(X, block) - mean
        covariance += centered.T @ centered / n_rows
    return mean, covariance
