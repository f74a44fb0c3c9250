"""The names of rows in messages of clusterers, which know their numbers only."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mustlink.errors import ConstraintError, InfeasibleError
from mustlink.report import RowNames

__all__ = ["name_rows", "with_row_names"]

# Where a message gives rows by number: in a list, as pairs, or along a chain of links.
GIVEN_ROWS = re.compile(
    r"\brows? \d+(?:(?:, | and )\d+)*"
    r"|\bpairs \(\d+, \d+\)(?:(?:, | and )\(\d+, \d+\))*"
    r"|(?:must-links connect them|cannot-links, an odd number): \d+(?: - \d+)+",
    re.IGNORECASE,
)


def with_row_names(error: ConstraintError | InfeasibleError, names: Sequence[str]) -> ConstraintError | InfeasibleError:
    """Name the rows that an error gives by number."""
    for reason in ("feasibility", "conflicts"):
        if reason in error.fields:
            return error.with_problem(error.fields[reason].describe(RowNames(names)))
    return error.with_problem(name_rows(error.problem, names))


def name_rows(text: str, names: Sequence[str]) -> str:
    """Put names in place of the row numbers in a message.

    Parameters
    ----------
    text : str
        A message of a clusterer, which knows rows by their numbers.
    names : sequence of str
        The name of every row.

    Returns
    -------
    str
        The message with names; other numbers stay.

    Examples
    --------
    >>> from mustlink.workflow import name_rows
    >>> name_rows("Rows 0 and 2 need 3 clusters.", ["ann", "bob", "eve"])
    'Rows ann and eve need 3 clusters.'
    """

    def name(number: re.Match[str]) -> str:
        row = int(number[0])
        return names[row] if row < len(names) else number[0]

    return GIVEN_ROWS.sub(lambda given: re.sub(r"\d+", name, given[0]), text)
