"""What is clustered: distinct records with candidate pairs and similarities, groups, and how ambiguous names are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from mustlink._types import Floats, Ints, Mask
from mustlink.relational._blocking import block, choose_blocking
from mustlink.relational._occurrences import count_first_names, has_first_name
from mustlink.relational._records import Records, read_records
from mustlink.relational._similarity import compare_records


@dataclass(frozen=True)
class Problem:
    """Distinct records, which of them each row has, and the pairs that are compared."""

    code: Ints  # the distinct record of each row
    is_same: Mask  # whether rows of a distinct record are fully similar, which rows without a text are not
    value_pairs: tuple[Ints, Ints, Floats]  # pairs of distinct records, smaller number first, and their similarities
    n_names: Floats  # for each distinct record, how many first names its last name occurs with
    has_first_name: Mask  # for each distinct record, whether it has more than initials that nothing explains
    groups: csr_array  # which row occurs in which group
    records: Records | None = None  # the texts, unless similarities were precomputed
    blocking: Any = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.code)

    def take(self, rows: Ints) -> Problem:
        """Return the problem of some rows; groups are those among them."""
        chosen = np.zeros(len(self.is_same), dtype=bool)
        chosen[self.code[rows]] = True
        number = np.cumsum(chosen) - 1
        left, right, score = self.value_pairs
        inside = chosen[left] & chosen[right]
        records = self.records
        if records is not None:
            kept = np.flatnonzero(chosen)
            records = Records(
                tuple(tuple(column[value] for value in kept) for column in records.columns),
                tuple(records.originals[value] for value in kept),
                number[self.code[rows]],
                records.is_empty[kept],
            )
        return replace(
            self,
            code=number[self.code[rows]],
            is_same=self.is_same[chosen],
            value_pairs=(number[left[inside]], number[right[inside]], score[inside]),
            n_names=self.n_names[chosen],
            has_first_name=self.has_first_name[chosen],
            groups=self.groups[rows],
            records=records,
        )


def count_rows(X: Any) -> int:
    """Return the number of records."""
    if isinstance(X, str):
        raise TypeError("X is one text; pass a list of names, one per record.")
    if not (X.shape if hasattr(X, "shape") else hasattr(X, "__len__")):
        raise TypeError(f"X must be a list of names or a table of texts, one row per record; got {X!r}.")
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def count_columns(X: Any) -> int:
    """Return the number of columns: 1 for a list of names."""
    shape = X.shape if hasattr(X, "shape") else np.shape(np.array(list(X), dtype=object))
    return int(shape[1]) if len(shape) > 1 else 1


def read_problem(
    X: Any, groups: csr_array, blocking: Any, blocking_options: dict[str, Any], similarity_options: dict[str, Any]
) -> Problem:
    """Read texts, block them and compare the pairs in one block."""
    records = read_records(X)
    if records.is_empty.all():
        raise ValueError(f"All {records.n_rows:,} records of X are empty; names or other texts are needed.")
    chosen = choose_blocking(records) if isinstance(blocking, str) and blocking == "auto" else blocking
    left, right = block(records, chosen, **blocking_options)
    score = compare_records(records, left, right, **similarity_options)
    return Problem(
        records.code,
        ~records.is_empty,
        (left, right, score),
        count_first_names(records),
        has_first_name(records),
        groups,
        records,
        chosen,
    )


def read_precomputed(X: Any, groups: csr_array) -> Problem:
    """Read a symmetric matrix of similarities; its pairs that are not 0 are candidates."""
    try:
        table = X if issparse(X) else np.asarray(X, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(
            'With similarity="precomputed" X must hold similarities, numbers from 0 to 1; got texts. For names leave '
            "similarity at its default."
        ) from None
    n_rows = table.shape[0]
    if table.ndim != 2 or table.shape[1] != n_rows:
        raise ValueError(f"A precomputed X must be square, one row and one column per record; got {table.shape}.")
    matrix = csr_array(table)
    values = matrix.data
    if not np.isfinite(values).all() or (values < 0).any() or (values > 1).any():
        raise ValueError("Precomputed similarities must be numbers from 0 to 1, and pairs without one not stored.")
    if abs(matrix - matrix.T).max() > 1e-9:
        raise ValueError("A precomputed X must be symmetric; pass the mean of X and X.T, for example.")
    pairs = matrix.tocoo()
    is_once = (pairs.row < pairs.col) & (pairs.data != 0)
    left, right = pairs.row[is_once].astype(np.int64), pairs.col[is_once].astype(np.int64)
    order = np.lexsort((right, left))
    pair = left[order], right[order], pairs.data[is_once][order].astype(float)
    everywhere = np.ones(n_rows, dtype=bool)
    return Problem(np.arange(n_rows), everywhere, pair, np.ones(n_rows), everywhere, groups)
