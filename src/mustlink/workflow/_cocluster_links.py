"""Links of the rows, of the columns, and between rows and columns of a 0/1 table, from files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mustlink._spelling import count
from mustlink._types import FilePath
from mustlink.constraints import Constraints
from mustlink.errors import ConstraintError
from mustlink.tables import BinaryTable, UnknownIds, read_links, read_links_between
from mustlink.workflow._loading import Contradictions, links_of_file, read_link_file

__all__ = ["MatrixLinks", "name_elements", "read_matrix_links"]

# Where a message gives a row or a column by its number.
NUMBERED = re.compile(r"\b(row|column) (\d+)", re.IGNORECASE)


class MatrixLinks(NamedTuple):
    """The links of a 0/1 table.

    Parameters
    ----------
    rows, columns : Constraints
        The links of rows, and those of columns.
    between : Constraints
        The links of rows with columns, which are counted after all rows.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> from mustlink.workflow import MatrixLinks
    >>> MatrixLinks(Constraints(must_link=[(0, 1)]), Constraints(), Constraints()).rows
    Constraints(1 must-link, 0 cannot-links)
    """

    rows: Constraints
    columns: Constraints
    between: Constraints


def read_matrix_links(
    table: BinaryTable,
    row_links: FilePath | None,
    column_links: FilePath | None,
    links_between: FilePath | None,
    *,
    contradictions: Contradictions,
    unknown_ids: UnknownIds,
) -> tuple[MatrixLinks, list[str]]:
    """Read the links of a 0/1 table, and note what a person should know of the files."""
    n_rows = table.X.shape[0]
    found = [Constraints()] * 3
    notices: list[str] = []
    if row_links is not None:
        found[0], more = read_link_file(
            row_links, contradictions, ids=table.ids, n_rows=n_rows, unknown_ids=unknown_ids
        )
        notices += more
    if column_links is not None:
        links = read_links(column_links, table.columns, unknown_ids=unknown_ids, noun="column")
        found[1], more = links_of_file(column_links, links, contradictions, table.columns)
        notices += more
    if links_between is not None:
        links = read_links_between(links_between, table.ids, table.columns, n_rows=n_rows, unknown_ids=unknown_ids)
        for link in links:
            if link.a >= n_rows:
                raise ConstraintError(
                    f"{link.place}: a link names the row {link.a}, but the table has {count(n_rows, 'row')}, numbered "
                    f"0 to {n_rows - 1}."
                )
        rows = [f"row {row}" for row in range(n_rows)] if table.ids is None else table.ids
        found[2], more = links_of_file(links_between, links, contradictions, [*rows, *table.columns])
        notices += more
    return MatrixLinks(*found), notices


def name_elements(text: str, rows: Sequence[str] | None, columns: Sequence[str]) -> str:
    """Put names in place of the numbers of rows and columns in a message."""

    def name(given: re.Match[str]) -> str:
        noun, number = given[1], int(given[2])
        names = rows if noun.lower() == "row" else columns
        return f"{noun} {names[number]!r}" if names is not None and number < len(names) else given[0]

    return NUMBERED.sub(name, text)
