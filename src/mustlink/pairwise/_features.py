"""Features of rows whose inner products are those of a kernel: the columns themselves, or by landmark rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._kernel import Kernel, pieces, spanned_basis
from mustlink._row_order import rank_rows
from mustlink._types import Array, Floats, Indices, Mask
from mustlink.base import check_fits

# With more distinct rows with labels or links than this, approximation="auto" takes some of them as landmarks.
MAX_EXACT_AUTO = 2_000
# The most distinct rows of an exact kernel matrix (800 MB, and some minutes for its eigenvectors).
MAX_EXACT = 10_000
DEFAULT_COMPONENTS = 1_000


def distinct_rows(X: Any, rows: Indices) -> Indices:
    """Return one of every set of equal rows, in the order of their content."""
    return rows[np.unique(rank_rows(X, rows), return_index=True)[1]]


def choose_landmarks(
    rows: Indices, is_labeled: Mask, approximation: str, n_components: int | None, rng: Any, name: str
) -> Indices:
    """Return the rows that a solution is a combination of: all, or a random sample with half of it labeled rows."""
    is_exact = approximation == "exact"
    if approximation == "auto":
        is_exact = n_components is None and len(rows) <= MAX_EXACT_AUTO
    if is_exact:
        instead = 'set approximation="nystroem", or use kernel="linear"'
        check_fits(f'approximation="exact" of {name}', (len(rows), len(rows)), MAX_EXACT**2, instead)
        return rows
    n_landmarks = min(n_components or DEFAULT_COMPONENTS, len(rows))
    order = rng.permutation(len(rows))
    labeled = order[is_labeled[order]][: (n_landmarks + 1) // 2]
    others = order[~np.isin(order, labeled)][: n_landmarks - len(labeled)]
    return rows[np.sort(np.concatenate([labeled, others]))]


def landmark_features(kernel: Kernel, X: Any, rows: Indices, landmarks: Any, inner: Array) -> tuple[Floats, Floats]:
    """Return the features of some rows, and the basis that maps the kernel with the landmarks to them."""
    basis = spanned_basis(inner)
    features = np.empty((len(rows), basis.shape[1]))
    for piece in pieces(len(rows), len(basis)):
        features[piece] = kernel(X[rows[piece]], landmarks) @ basis
    return features, basis


def kernel_scores(kernel: Kernel, X: Any, landmarks: Any, dual: Floats, intercept: Array) -> Floats:
    """Return the scores of rows, one column for each row of `dual`, the coefficients of the landmarks."""
    out = np.empty((X.shape[0], len(dual)))
    for piece in pieces(X.shape[0], dual.shape[1]):
        out[piece] = kernel(X[piece], landmarks) @ dual.T
    return np.asarray(out + intercept)
