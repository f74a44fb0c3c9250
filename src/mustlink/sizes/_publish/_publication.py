"""A published table, with what it lost and what was checked."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from mustlink._html import HtmlList, HtmlTable, render_html
from mustlink._spelling import count
from mustlink._types import Ints
from mustlink.sizes._verification import NOT_DIFFERENTIAL_PRIVACY, Verification

__all__ = ["ColumnLoss", "Publication"]


@dataclass(frozen=True)
class ColumnLoss:
    """How much information a quasi-identifier lost.

    Parameters
    ----------
    name : str
        The name of the column.
    kind : str
        What it holds: "numbers", "categories" or "ordered categories".
    variance : float
        The part of its variance that is within groups, from 0 (nothing lost) to 1 (everything). For categories it is
        the variance of their 0/1 columns.
    width : float
        Its normalized certainty penalty (NCP): the mean width of the range of a row's group, as a part of the range
        of the column. For categories, the part of all categories that the group holds, 0 if it holds one.

    Examples
    --------
    See :func:`mustlink.publish`.
    """

    name: str
    kind: str
    variance: float
    width: float


@dataclass(frozen=True, repr=False)
class Publication:
    """A published table, with what it lost and what was checked.

    Parameters
    ----------
    frame : pandas.DataFrame
        The published table: the quasi-identifiers, the sensitive column and the columns that are kept, in the order of
        the original, with a new index from 0.
    groups : ndarray of int, shape (n_published,)
        The group of each published row. Rows with equal published quasi-identifiers are one group.
    rows : ndarray of int, shape (n_published,)
        The position of each published row in the original table.
    losses : tuple of ColumnLoss
        The information lost per quasi-identifier.
    variance_lost : float
        The part of the variance of all scaled quasi-identifiers that is within groups (the sum of squared distances to
        the means, divided by that of one group): the mean of the columns that vary.
    width : float
        The mean normalized certainty penalty of all quasi-identifiers.
    verification : Verification
        What the independent checker found in `frame`.
    dropped : tuple of str, default=()
        The columns that are not published.
    n_suppressed : int, default=0
        The number of rows left out because a cell was missing.
    notices : tuple of str, default=()
        What a person should know, as sentences.

    See Also
    --------
    mustlink.publish : Returns one.

    Examples
    --------
    See :func:`mustlink.publish`.
    """

    frame: pd.DataFrame
    groups: Ints
    rows: Ints
    losses: tuple[ColumnLoss, ...]
    variance_lost: float
    width: float
    verification: Verification
    dropped: tuple[str, ...] = ()
    n_suppressed: int = 0
    notices: tuple[str, ...] = field(default=())

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return int(self.groups.max()) + 1

    @property
    def sizes(self) -> Ints:
        """The number of rows of each group."""
        return np.bincount(self.groups)

    @property
    def headline(self) -> str:
        """The result in a sentence or two."""
        least, most = int(self.sizes.min()), int(self.sizes.max())
        sizes = f"{least:,} to {count(most, 'row')}" if least < most else count(least, "row")
        each = " each" if least == most and self.n_groups > 1 else ""
        return (
            f"{count(len(self.frame), 'row')} published in {count(self.n_groups, 'group')} of {sizes}{each}. "
            f"Every group has {self.verification.asked}."
        )

    def __repr__(self) -> str:
        lost = f"variance_lost={self.variance_lost:.3g}, width={self.width:.3g}"
        return f"Publication(n_rows={len(self.frame)}, n_groups={self.n_groups}, {lost})"

    def _repr_html_(self) -> str:
        rows = [[loss.name, loss.kind, f"{loss.variance:.1%}", f"{loss.width:.1%}"] for loss in self.losses]
        names = ["quasi-identifier", "kind", "variance lost", "mean width of a range"]
        notes = [*self.notices, NOT_DIFFERENTIAL_PRIVACY]
        return render_html(
            "Publication",
            self.headline,
            HtmlTable(names, "<<>>", rows, len(rows)),
            HtmlList("Notes:", notes, len(notes)),
        )
