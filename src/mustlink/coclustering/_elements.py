"""Rows and columns as one list of elements, rows first, and the links between them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mustlink._spelling import count
from mustlink._types import Ints
from mustlink.base import as_constraints
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.errors import ConstraintError, InfeasibleError

__all__ = ["collect_element_links", "mixed_links", "name_element", "refuse_contradictory", "refuse_uncolorable"]

Links = Constraints | AlignedConstraints | None


def mixed_links(n_rows: int, *, must_link: ArrayLike = (), cannot_link: ArrayLike = ()) -> Constraints:
    """Create links between rows and columns of a matrix.

    Parameters
    ----------
    n_rows : int
        The number of rows of the matrix.
    must_link, cannot_link : array-like of shape (n_links, 2), default=()
        Pairs of a row and a column, in this order.

    Returns
    -------
    Constraints
        Over all elements of the matrix, rows first: column j is the element ``n_rows + j``.

    Examples
    --------
    >>> from mustlink.coclustering import mixed_links
    >>> mixed_links(10, cannot_link=[(0, 0), (9, 4)]).cannot_link
    array([[ 0, 10],
           [ 9, 14]])
    """
    shifted = []
    for pairs in (must_link, cannot_link):
        array = np.asarray(pairs, dtype=np.int64).reshape(-1, 2) if np.size(pairs) else np.empty((0, 2), dtype=np.int64)
        if (array < 0).any() or (array[:, 0] >= n_rows).any():
            raise ConstraintError(
                f"A link between a row and a column names a row from 0 to {n_rows - 1} first, then a column from 0 on."
            )
        shifted.append(array + np.array([0, n_rows]))
    return Constraints(must_link=shifted[0], cannot_link=shifted[1])


def name_element(element: int, n_rows: int) -> str:
    """Name a row or a column by its number."""
    return f"row {element}" if element < n_rows else f"column {element - n_rows}"


def collect_element_links(
    row_constraints: Links, column_constraints: Links, mixed_constraints: Links, shape: tuple[int, int]
) -> Constraints:
    """Validate the links of rows, of columns and between them; return all as links between elements."""
    n_rows, n_columns = shape
    of_rows = _check_links(row_constraints, n_rows, "row_constraints", "rows")
    of_columns = _check_links(column_constraints, n_columns, "column_constraints", "columns")
    mixed = _check_links(mixed_constraints, n_rows + n_columns, "mixed_constraints", "rows and columns together")
    shifted = Constraints(must_link=of_columns.must_link + n_rows, cannot_link=of_columns.cannot_link + n_rows)
    listed = Constraints(must_link=of_rows.must_link, cannot_link=of_rows.cannot_link)
    return listed.add(shifted, contradictions="keep").add(mixed, contradictions="keep")


def _check_links(links: Links, size: int, argument: str, what: str) -> Constraints:
    """Validate the links of one argument; those of groups become lists of pairs."""
    if not isinstance(links, Constraints | AlignedConstraints | None):
        raise TypeError(
            f"{argument} must be a mustlink.Constraints, got {type(links).__name__}; create one with "
            "Constraints(must_link=..., cannot_link=...)."
        )
    if isinstance(links, AlignedConstraints) and len(links) != size:
        raise ConstraintError(f"{argument} is aligned with {len(links):,} numbers, and X has {size:,} {what}.")
    largest = links.pairs.max(initial=-1) if isinstance(links, Constraints) else -1
    if largest >= size:
        hint = "; a column is the number of rows plus its own number" if argument == "mixed_constraints" else ""
        raise ConstraintError(
            f"{argument} names number {largest}, and X has {size:,} {what}, numbered from 0 to {size - 1}{hint}."
        )
    return as_constraints(links, size).expand()


def refuse_contradictory(links: Constraints, n_rows: int) -> None:
    """Refuse cannot-links between elements that must-links join."""
    conflicts = links.conflicts()
    if conflicts:
        first = conflicts[0]
        one, other = (name_element(int(end), n_rows) for end in first.cannot_link)
        chain = " - ".join(name_element(int(element), n_rows) for element in first.chain)
        more = f"; so have {count(len(conflicts) - 1, 'other pair')}" if len(conflicts) > 1 else ""
        raise InfeasibleError(
            f"{one.capitalize()} and {other} have a cannot-link, but must-links connect them: {chain}{more}",
            [conflict.cannot_link for conflict in conflicts],
            remedy="drop_link",
            conflicts=conflicts,
        )


def refuse_uncolorable(links: Constraints, n_clusters: int, n_elements: int) -> None:
    """Refuse cannot-links that need more clusters."""
    found = links.feasible(n_clusters, n_elements)
    if found.answer is False and not found.too_many_clusters:
        needed = found.min_clusters
        at_least = "" if needed is None else f", and at least {needed} are needed"
        raise InfeasibleError(
            f"The cannot-links between rows and columns cannot be satisfied with {count(n_clusters, 'co-cluster')}"
            f"{at_least}",
            remedy="more_clusters" if needed is None else "at_least_clusters",
            n_needed=needed,
            feasibility=found,
        )


def split_pairs(pairs: Ints, n_rows: int) -> Any:
    """Return which pairs are of rows, of columns, and mixed, as three masks."""
    in_rows = (pairs < n_rows).sum(axis=1)
    return in_rows == 2, in_rows == 0, in_rows == 1
