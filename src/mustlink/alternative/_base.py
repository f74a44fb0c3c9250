"""What the clusterers that avoid a known split share: `fit` with `known`, and the mutual information with it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from mustlink._rows import RowBlocks
from mustlink._sklearn_compat import fit_context
from mustlink._types import Floats, Indices, Ints
from mustlink.alternative._known import KnownColumn, KnownNumbers, KnownSplit, TakesNumbers, check_known
from mustlink.base import TableClusterMixin, check_table

__all__ = ["BaseAlternative", "is_counts", "order_rows", "take_known"]


class BaseAlternative(TableClusterMixin, BaseEstimator):
    """Base of the clusterers that avoid what is known; a subclass implements ``_fit(X, columns)``."""

    __metadata_request__fit = {"known": True}  # noqa: RUF012  (scikit-learn reads a plain class attribute)

    n_clusters: int
    nmi_known_: Floats
    vi_known_: Floats

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: object = None, *, known: Any = None) -> Self:
        """Find a clustering that differs from what is known.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : object, default=None
            Ignored, also if it is classes: what is known is given as `known`.
        known : array-like of shape (n_samples,) or (n_samples, n_splits), or list of such labels, default=None
            The class of every row in a split that is known, or one column per known split: numbers or texts; -1 is a
            class like any other. Where it is supported, columns of floats with fractions are numbers. None is nothing:
            the result is a plain clustering.

        Returns
        -------
        self : object
            The fitted clusterer.
        """
        rows = self._check_fit_rows(X, y)
        columns = check_known(known, rows.shape[0], takes_numbers=self._takes_numbers())
        self._fit_and_count(rows, columns)
        is_used = self.labels_ >= 0
        measures = [column.describes(self.labels_[is_used]) for column in take_known(columns, np.flatnonzero(is_used))]
        self.nmi_known_, self.vi_known_ = np.array(measures).reshape(-1, 2).T.copy()
        return self

    def _takes_numbers(self) -> TakesNumbers:
        """Return which known columns of floats are numbers, as `check_known` takes it."""
        return False

    def _takes_sparse(self) -> bool:
        """Return whether X may be sparse."""
        return True

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        accepted = "csr" if self._takes_sparse() else False
        return check_table(self, X, reset=reset, accept_sparse=accepted, order="C", accept_large_sparse=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse()
        return tags


def take_known(columns: list[KnownColumn], rows: Indices) -> list[KnownColumn]:
    """Return the known columns of some rows."""
    return [
        KnownNumbers(column.values[rows])
        if isinstance(column, KnownNumbers)
        else KnownSplit(column.codes[rows], column.classes)
        for column in columns
    ]


def order_rows(X: Any, cell: Ints) -> Indices:
    """Return the rows sorted by cell, and within a cell in an order that is the same however rows are numbered."""
    place = np.empty(X.shape[0], dtype=np.intp)
    place[RowBlocks(X).order_by_content()] = np.arange(X.shape[0])
    return np.lexsort((place, cell))


def is_counts(X: Any) -> bool:
    """Return whether a table looks like counts or weights of words: not negative, and half of it zeros."""
    values = X.data if hasattr(X, "indptr") else X
    if not values.size or values.min() < 0:
        return False
    return bool(2 * np.count_nonzero(values) <= X.shape[0] * X.shape[1])
