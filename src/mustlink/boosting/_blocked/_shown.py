"""The rows of a table in blocks that a fit holds in memory: the linked ones, and a sample of the others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
from sklearn.utils.random import sample_without_replacement

from mustlink._types import Array, Floats, Indices
from mustlink.base import check_fits
from mustlink.blocks import BlockedRows
from mustlink.boosting._boostcluster._coordinates import MAX_UNSPLIT, Coordinates, Scaling
from mustlink.constraints import Constraints
from mustlink.errors import TooLargeError

__all__ = ["MAX_ROWS_HELD", "ShownRows", "check_shown", "gather_all", "labels_in_form_of", "spaced_sample"]

# Tables of at most so many rows are fitted in memory; of larger ones a sample of so many rows is, and all linked rows.
MAX_ROWS_HELD = 50_000
# The most numbers of linked rows: 268 MB in double precision, and a fit holds a few copies.
MAX_NUMBERS_HELD = 1 << 25


def gather_all(rows: BlockedRows) -> Array:
    """Return all rows as an array."""
    return np.ascontiguousarray(rows.gather(np.arange(rows.n_rows)))


def labels_in_form_of(rows: BlockedRows, labels: Array) -> Any:
    """Return labels of all rows in the form that the labels of these rows have."""
    return rows.label(return_given, each=[(labels[start:stop],) for start, stop in pairwise(rows.bounds)])


def return_given(block: Array, labels: Array) -> Array:
    """Return the labels that are given for a block."""
    return labels


def check_shown(rows: BlockedRows, n_linked: int, who: str) -> None:
    """Refuse more linked rows than are held in memory."""
    check_fits(
        f"{who} of rows in blocks holds all {n_linked:,} linked rows in memory and",
        (n_linked, rows.n_features),
        MAX_NUMBERS_HELD,
        "give links between fewer rows",
        itemsize=rows.dtype.itemsize,
    )


def spaced_sample(n_rows: int, with_rows: Indices) -> Indices:
    """Choose some rows and at most `MAX_ROWS_HELD` evenly spaced others, ascending."""
    spaced = np.linspace(0, n_rows - 1, min(n_rows, MAX_ROWS_HELD)).astype(np.intp)
    return np.union1d(with_rows, spaced).astype(np.intp)


@dataclass(frozen=True, eq=False)
class ShownRows:
    """The linked rows and a sample, in memory, of a table in blocks."""

    rows: BlockedRows
    index: Indices  # the numbers of the shown rows in the table, ascending

    @classmethod
    def draw(cls, rows: BlockedRows, links: Constraints, rng: np.random.RandomState, who: str) -> Self:
        """Draw the sample; a table with too many linked rows or columns is refused."""
        if rows.n_features > MAX_UNSPLIT:
            raise TooLargeError(
                f"{who} takes rows in blocks with at most {MAX_UNSPLIT} columns, and X has {rows.n_features:,}",
                remedy="too_large",
                instead="reduce the columns first, such as with sklearn.decomposition.IncrementalPCA, or fit a sample "
                "of the rows in memory and predict the others",
            )
        linked = links.constrained_rows()
        check_shown(rows, len(linked), who)
        sample = sample_without_replacement(rows.n_rows, min(MAX_ROWS_HELD, rows.n_rows), random_state=rng)
        return cls(rows, np.union1d(linked, sample).astype(np.intp))

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns of the whole table."""
        return self.rows.shape

    @cached_property
    def table(self) -> Array:
        """The shown rows."""
        return np.ascontiguousarray(self.rows.gather(self.index))

    @cached_property
    def held(self) -> list[tuple[Array, ...]]:
        """The places of the shown rows in each block."""
        return self.rows.split(self.index)

    def among(self, links: Constraints) -> Constraints:
        """Return links with rows numbered by their places among the shown ones, in the same order."""
        pairs = np.searchsorted(self.index, links.pairs)
        return Constraints.from_pairs(pairs, links.sign, links.weight, contradictions="keep")

    def coordinates(self, standardize: bool, n_components: int | None) -> Coordinates:
        """Return the coordinates of the shown rows; scaling and spread are those of all rows."""
        scaling, variance = self._scaling(standardize), self.column_variance(standardize)
        scaled, _ = scaling.apply(self.table)
        trace = float(variance.sum())
        n_rows, n_columns = self.shape
        spread = trace / max(1, min(n_columns, n_rows - 1)) if trace > 0 else 1.0
        return Coordinates(scaling, scaled, None, scaled, spread, n_components=n_components)

    def column_variance(self, standardize: bool) -> Floats:
        """Return the variance of every column of the scaled table."""
        return np.where(self._is_constant, 0.0, 1.0) if standardize else self.rows.moments.variance

    def _scaling(self, standardize: bool) -> Scaling:
        """Return the standardization by the moments of all rows; a constant column is only shifted."""
        if not standardize:
            return Scaling()
        moments, constant = self.rows.moments, self._is_constant
        shift = np.where(constant, moments.lowest, moments.mean)
        return Scaling(shift, np.where(constant, 1.0, np.sqrt(moments.variance)), int((~constant).sum()))

    @cached_property
    def _is_constant(self) -> Array:
        moments = self.rows.moments
        # The deviation of a constant column comes from rounding of its mean.
        rounding = 10 * np.finfo(self.rows.dtype).eps * np.abs(moments.mean)
        return np.asarray((moments.lowest == moments.highest) | (np.sqrt(moments.variance) <= rounding))
