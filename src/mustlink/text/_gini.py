"""Normalized Gini index of terms, and the choice of the vocabulary."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from mustlink._types import Floats, Indices, Mask
from mustlink.text._seeds import DECIMALS, sum_rows

__all__ = ["choose_terms", "normalized_gini"]


def normalized_gini(counts: csr_array, code: Indices, n_categories: int) -> Floats:
    """Return 1 - sqrt(sum of p_i^2) for every term, p_i the share of category i in its rates; NaN without a rate.

    The rate of a term in a category is its number of occurrences divided by that of all terms. Rows of the code -1 have
    no category.
    """
    occurrences = sum_rows(counts.astype(np.float64), code, n_categories)  # f_i, categories x terms
    totals = np.asarray(occurrences.sum(axis=1)).ravel()  # n_i
    rate = occurrences.copy()
    rate.data /= np.repeat(totals, np.diff(rate.indptr))
    total_rate = np.asarray(rate.sum(axis=0)).ravel()
    rate.data /= total_rate[rate.indices]  # p_i
    with np.errstate(invalid="ignore"):
        squares = np.bincount(rate.indices, rate.data**2, minlength=counts.shape[1])
    return np.where(total_rate > 0, 1.0 - np.sqrt(squares), np.nan)


def choose_terms(
    counts: csr_array, gini: Floats, *, min_df: int, gini_drop: Any, gini_max: float | None
) -> tuple[Mask, Mask]:
    """Mark the terms that are frequent enough, and those of them that the index leaves.

    Terms without an index, in no document with a category, are dropped. `gini_drop` is a number of terms or, if it is
    not whole, a share of the frequent ones; those of the largest index are dropped, of equal ones the last.
    """
    document_frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    is_frequent = (document_frequency >= min_df) & ~np.isnan(gini)
    frequent = np.flatnonzero(is_frequent)
    n_dropped = gini_drop if isinstance(gini_drop, Integral) else math.floor(gini_drop * len(frequent))
    order = frequent[np.argsort(np.round(gini[frequent], DECIMALS), kind="stable")]
    is_chosen = np.zeros(len(gini), dtype=bool)
    is_chosen[order[: max(len(order) - int(n_dropped), 0)]] = True
    if gini_max is not None:
        is_chosen &= ~(gini > gini_max)
    return is_frequent, is_chosen
