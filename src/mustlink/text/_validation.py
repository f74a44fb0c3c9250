"""The given categories of documents, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from mustlink._spelling import count
from mustlink._types import Array, Indices, Ints
from mustlink._warnings import warn_caller
from mustlink.constraints import known_rows
from mustlink.errors import ConstraintError, OptionError

__all__ = ["quote_names", "read_given", "refuse_texts", "warn_of_empty", "warn_of_small"]

MAX_SHOWN_NAMES = 5


def refuse_texts(X: Any, name: str) -> None:
    """Refuse texts in the place of counts."""
    is_flat = isinstance(X, list | tuple) or getattr(X, "ndim", None) == 1
    if is_flat and isinstance(next(iter(X), None), str):
        raise ValueError(
            f"{name} takes counts of terms, and X has texts; count their words first, with "
            "sklearn.feature_extraction.text.CountVectorizer."
        )


def read_given(y: Any, n_samples: int, name: str) -> tuple[Indices, Array]:
    """Return the number of the category of every document, -1 for none, and the categories."""
    if y is None:
        raise ValueError(
            f"{name} requires y to be passed, but the target y is None: the category of every document, -1 for unknown."
        )
    labels = y if isinstance(y, list | tuple) and np.ndim(y) == 1 else column_or_1d(y, warn=True)
    if len(labels) != n_samples:
        raise ValueError(
            f"y must hold one category per document: X has {count(n_samples, 'row')}, and y has "
            f"{count(len(labels), 'category', 'categories')}."
        )
    try:
        rows, code, given = known_rows(labels)
    except ConstraintError:
        raise ValueError("The categories in y mix text and numbers; use one kind for all of them.") from None
    _refuse_useless(code, given, n_samples)
    number = np.full(n_samples, -1, dtype=np.intp)
    number[rows] = code
    return number, given


def _refuse_useless(code: Indices, given: Array, n_samples: int) -> None:
    """Refuse no category, one category, and categories that name every document."""
    if len(given) == 0:
        raise OptionError(f"None of the {count(n_samples, 'document')} has a category", remedy="give_categories")
    if len(given) == 1:
        raise OptionError(
            f"All documents with a category have the same, {quote_names(given)}", remedy="give_categories"
        )
    if len(given) == len(code):
        raise OptionError(
            f"The {count(len(code), 'document')} with a category have one each, such as {quote_names(given[:1])}",
            remedy="give_categories",
        )


def quote_names(names: Sequence[Any] | Array) -> str:
    """List some names, and say how many there are more."""
    shown = ", ".join(repr(str(name)) for name in names[:MAX_SHOWN_NAMES])
    n_more = len(names) - MAX_SHOWN_NAMES
    return f"{shown} and {n_more} more" if n_more > 0 else shown


def warn_of_small(n_documents: Ints, given: Array, min_cluster_size: int) -> None:
    """Warn of categories that are likely to be removed."""
    small = given[n_documents < min_cluster_size]
    if len(small):
        verb = "has" if len(small) == 1 else "have"
        warn_caller(
            f"{count(len(small), 'category', 'categories')} {verb} fewer than {min_cluster_size} documents and may be "
            f"removed: {quote_names(small)}",
            UserWarning,
            remedy=("lower_min_cluster_size", "join_categories"),
            topic="small categories",
        )


def warn_of_empty(n_terms: Ints, given: Array) -> None:
    """Warn of categories whose documents have none of the chosen terms."""
    empty = given[n_terms == 0]
    if len(empty):
        verb = "has" if len(empty) == 1 else "have"
        warn_caller(
            f"{count(len(empty), 'category', 'categories')} {verb} no term that is used, and no seed: "
            f"{quote_names(empty)}",
            UserWarning,
            remedy="keep_more_terms",
        )
