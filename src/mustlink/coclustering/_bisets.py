"""Bi-sets: a set of rows with a set of columns each, kept as two sparse matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from mustlink._spelling import count
from mustlink._types import Indices, Mask
from mustlink.errors import OptionError

__all__ = ["Bisets", "check_bisets", "sum_by_line"]


class Bisets(NamedTuple):
    """Sets of rows with sets of columns, such as the formal concepts of a matrix.

    Parameters
    ----------
    rows : sparse array of shape (n_bisets, n_rows)
        A 1 for every row of each bi-set.
    columns : sparse array of shape (n_bisets, n_columns)
        A 1 for every column of each bi-set.

    Examples
    --------
    >>> from mustlink.coclustering import formal_concepts
    >>> bisets = formal_concepts([[1, 1, 0], [1, 1, 1]])
    >>> bisets.rows.toarray(), bisets.columns.toarray()
    (array([[1, 1],
           [0, 1]], dtype=uint8), array([[1, 1, 0],
           [1, 1, 1]], dtype=uint8))
    >>> bisets.n_bisets
    2
    """

    rows: sparse.csr_array
    columns: sparse.csr_array

    @property
    def n_bisets(self) -> int:
        """The number of bi-sets; the length is that of a pair."""
        return int(self.rows.shape[0])

    def take(self, chosen: Indices | Mask) -> Bisets:
        """Return some of the bi-sets.

        Parameters
        ----------
        chosen : ndarray
            Their numbers, or a mask.

        Returns
        -------
        Bisets
        """
        return Bisets(self.rows[chosen], self.columns[chosen])

    def covered(self) -> tuple[Mask, Mask]:
        """Return which rows and which columns are in at least one bi-set.

        Returns
        -------
        tuple of (ndarray of shape (n_rows,), ndarray of shape (n_columns,))
        """
        found = []
        for side in self:
            mask = np.zeros(side.shape[1], dtype=np.bool_)
            mask[side.indices] = True
            found.append(mask)
        return found[0], found[1]

    def distinct(self) -> Indices:
        """Return the numbers of bi-sets of which no two are equal, the first of each kind.

        Returns
        -------
        ndarray
        """
        both = np.column_stack([sum_by_line(self.rows, 0), sum_by_line(self.columns, 1)])
        return np.sort(np.unique(both, axis=0, return_index=True)[1])


def sum_by_line(ones: sparse.csr_array, seed: int) -> Any:
    """Return a number of 64 bits for every line of a 0/1 matrix, equal for equal lines.

    It is the sum of random numbers of the columns. Of a million different lines, two have the same number with a
    probability of 3e-8.
    """
    limit = np.iinfo(np.uint64).max
    weights = np.random.RandomState(seed).randint(0, limit, size=ones.shape[1], dtype=np.uint64)
    total = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(weights[ones.indices], dtype=np.uint64)])
    return total[ones.indptr[1:]] - total[ones.indptr[:-1]]


def check_bisets(bisets: Any, n_rows: int, n_columns: int) -> Bisets:
    """Validate bi-sets of a user: two 0/1 matrices, one line per bi-set, with the rows and the columns of X."""
    if isinstance(bisets, str) or not hasattr(bisets, "__len__") or len(bisets) != 2:
        raise OptionError(
            "bisets must be a pair of 0/1 matrices, the rows and the columns of each bi-set, such as the result of "
            "formal_concepts."
        )
    sides = [_check_side(side, name) for side, name in zip(bisets, ("rows", "columns"), strict=True)]
    for side, name, size in zip(sides, ("rows", "columns"), (n_rows, n_columns), strict=True):
        if side.shape[1] != size:
            raise OptionError(
                f"The {name} of bisets are a matrix of {count(side.shape[1], 'column')}, and X has {size:,} {name}; "
                "each bi-set needs one cell for each."
            )
    if sides[0].shape[0] != sides[1].shape[0]:
        raise OptionError(
            f"bisets has the rows of {count(sides[0].shape[0], 'bi-set')} and the columns of {sides[1].shape[0]:,}; "
            "both need one line per bi-set."
        )
    return Bisets(*sides)


def _check_side(side: Any, name: str) -> sparse.csr_array:
    """Return one of the two matrices of bi-sets as sparse matrix of ones."""
    given = side if sparse.issparse(side) else np.asarray(side)
    if given.ndim != 2 or given.dtype.kind not in "biuf":
        raise OptionError(f"The {name} of bisets must be a 0/1 matrix with one line per bi-set.")
    found = sparse.csr_array(given, copy=True)
    found.sum_duplicates()
    found.eliminate_zeros()
    if (found.data != 1).any():
        raise OptionError(f"The {name} of bisets must be zeros and ones.")
    found.sort_indices()
    return sparse.csr_array((np.ones(found.nnz, dtype=np.uint8), found.indices, found.indptr), shape=found.shape)
