"""Which constraints hold in the result."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from mustlink._positions import count_runs
from mustlink._types import Ints
from mustlink.coclustering._elements import split_pairs
from mustlink.coclustering._gaps import NO_BOUND, Gaps
from mustlink.constraints import Constraints

__all__ = ["ConstraintCheck", "check_links", "check_order"]

SIDES: tuple[Literal["rows", "columns", "mixed"], ...] = ("rows", "columns", "mixed")


class ConstraintCheck(NamedTuple):
    """Whether one kind of constraint holds in a co-clustering.

    Parameters
    ----------
    kind : {"must_link", "cannot_link", "interval", "non_interval"}
        The kind of constraint.
    side : {"rows", "columns", "mixed"}
        What it is about; "mixed" is a row and a column.
    n_given : int
        The number of links, or of clusters with at least one member (with two, for "non_interval").
    n_broken : int
        How many of them break it.

    Examples
    --------
    >>> from mustlink import CDKMeans, Constraints
    >>> X = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 1, 1, 1]]
    >>> model = CDKMeans(2, random_state=0).fit(X, row_constraints=Constraints(must_link=[(0, 1)]))
    >>> model.constraint_report_
    [ConstraintCheck(kind='must_link', side='rows', n_given=1, n_broken=0)]
    >>> model.constraint_report_[0].holds
    True
    """

    kind: Literal["must_link", "cannot_link", "interval", "non_interval"]
    side: Literal["rows", "columns", "mixed"]
    n_given: int
    n_broken: int

    @property
    def holds(self) -> bool:
        """Whether no link or cluster breaks the constraint."""
        return self.n_broken == 0


def check_links(
    links: Constraints, row_labels: Ints, column_labels: Ints
) -> tuple[list[ConstraintCheck], list[Constraints]]:
    """Return the checks of the links of each side, and the broken ones: of rows, of columns, and of elements."""
    n_rows = len(row_labels)
    labels = np.concatenate([row_labels, column_labels])
    broken = links.violations(labels)
    checks: list[ConstraintCheck] = []
    parts = []
    for place, side in enumerate(SIDES):
        shift = n_rows if side == "columns" else 0
        pairs = []
        for kind in ("must_link", "cannot_link"):
            given, wrong = getattr(links, kind), getattr(broken, kind)
            chosen = wrong[split_pairs(wrong, n_rows)[place]]
            n_given = int(split_pairs(given, n_rows)[place].sum())
            pairs.append(chosen - shift)
            if n_given:
                checks.append(ConstraintCheck(kind, side, n_given, len(chosen)))
        parts.append(Constraints(must_link=pairs[0], cannot_link=pairs[1]))
    return checks, parts


def check_order(
    labels: Ints, gaps: Gaps, side: Literal["rows", "columns"], n_clusters: int, *, contiguous: bool
) -> list[ConstraintCheck]:
    """Return the checks of the orders that gaps or contiguous labels ask for."""
    checks = []
    runs, sizes = count_runs(labels, gaps.position, n_clusters, circular=gaps.circular)
    if contiguous or gaps.max_gap < NO_BOUND:
        checks.append(ConstraintCheck("interval", side, int((sizes > 0).sum()), int((runs > 1).sum())))
    if gaps.min_gap > 0:
        several = sizes > 1
        checks.append(ConstraintCheck("non_interval", side, int(several.sum()), int((several & (runs == 1)).sum())))
    return checks
