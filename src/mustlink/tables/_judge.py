"""What columns of text hold: numbers, dates or categories, decided for all columns of a table together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from mustlink._types import Array
from mustlink.errors import FileFormatError
from mustlink.tables._dates import HOURS, DateReading, read_dates
from mustlink.tables._numbers import NumberSpelling, number_spellings

__all__ = ["Judgement", "column_problem", "judge_columns", "listed", "shorten"]

MAX_SHOWN_CHARACTERS = 40
MAX_SHOWN_COLUMNS = 8
# The decimal sign that goes with a separator; other separators go with both.
HINTS = {";": ",", ",": "."}

DECIMAL_SIGNS = (".", ",")
HAS_DIGIT = re.compile("[0-9]")

Where = Callable[[int], str]


@dataclass
class Judgement:
    """The columns of a table, and what is to be said about them.

    Parameters
    ----------
    columns : dict of str to ndarray or pandas.Categorical
        Numbers, or categories. A column with a problem is left as it was.
    units : dict of str to str
        What numbers stand for: a date, hours, a currency or a percentage.
    words : dict of str to str
        How columns were read, for a notice; columns about which there is nothing to say are not in it.
    problems : list of FileFormatError
        What is wrong with columns, each with the fields ``column`` and ``n_cells``.
    decimals : set of str
        The decimal signs that were found.
    left_out : tuple of str
        The names of columns that were not read.
    """

    columns: dict[str, Any] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    problems: list[FileFormatError] = field(default_factory=list)
    decimals: set[str] = field(default_factory=set)
    left_out: tuple[str, ...] = ()

    def note_spelling(self, name: str, spelling: NumberSpelling) -> None:
        """Note how the numbers of a column are written."""
        if any(spelling.units):
            self.units[name] = min(spelling.units)
        if spelling.words:
            self.words[name] = spelling.words
        if spelling.shows_decimal:
            self.decimals.add(spelling.decimal)

    def notices(self, order: Sequence[str]) -> list[str]:
        """Return one sentence for each way in which columns were read."""
        names: dict[str, list[str]] = {}
        for name in sorted(self.words, key=order.index):
            names.setdefault(self.words[name], []).append(name)
        return [
            f"{'Column' if len(found) == 1 else 'Columns'} {listed(found)} {'was' if len(found) == 1 else 'were'} "
            f"read {words}."
            for words, found in names.items()
        ]


def judge_columns(
    source: str,
    columns: Mapping[str, pd.Categorical],
    where: Where,
    *,
    decimal: str | None = None,
    separator: str | None = None,
    evidence: Iterable[str] = (),
) -> Judgement:
    """Decide which columns of text hold numbers or dates, and read them.

    A few texts among mostly numbers are a problem, since they are more often errors than categories.

    Parameters
    ----------
    source : str
        The name of the file, for messages.
    columns : mapping of str to pandas.Categorical
        The columns of text.
    where : callable
        Returns the position of a row in words.
    decimal : {".", ","} or None, default=None
        The decimal sign, if the user gave it.
    separator : str or None, default=None
        The separator of the file; a semicolon suggests decimal commas.
    evidence : iterable of str, default=()
        The decimal signs of columns that are numbers already.
    """
    spelled = {name: number_spellings(list(column.categories)) for name, column in columns.items()}
    found = {sign for spellings in spelled.values() for sign in _only_sign(spellings)}
    judged = Judgement(decimals=found | set(evidence))
    signs = {decimal} if decimal else judged.decimals
    for name, column in columns.items():
        problem = column_problem(source, name, column, where)
        texts = list(column.categories)
        judged.columns[name] = column
        if not texts:
            judged.columns[name] = np.full(len(column), np.nan)
        elif spelled[name]:
            judged.problems += _take_numbers(
                judged, name, texts, spelled[name], signs, HINTS.get(separator or ""), problem
            )
        elif reading := read_dates(texts, np.bincount(column.codes[column.codes >= 0])):
            judged.problems += _take_dates(judged, name, reading, problem)
        else:
            judged.problems += _odd_cells(column, texts, decimal, problem)
    return judged


def column_problem(source: str, name: str, column: Any, where: Where) -> Callable[..., FileFormatError]:
    """Return a function that makes the error for a column, or for the first of some of its rows."""

    def problem(words: str, rows: Array | None = None, **options: Any) -> FileFormatError:
        place, n_cells = source, len(column)
        if rows is not None:
            place, n_cells = f"{source}, {where(int(np.argmax(rows)))}", int(np.count_nonzero(rows))
        text = f"{place}: the column {name!r} {words}"
        text = text if options.get("remedy") else f"{text}."
        return FileFormatError(text, column=name, n_cells=n_cells, **options)

    return problem


def listed(names: Sequence[str]) -> str:
    """List the names of columns, at most a few of them."""
    shown = [repr(name) for name in names[:MAX_SHOWN_COLUMNS]]
    if len(names) > MAX_SHOWN_COLUMNS:
        shown.append(f"{len(names) - MAX_SHOWN_COLUMNS} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def shorten(cell: str) -> str:
    """Quote a cell for a message, shortened if it is long."""
    cell = cell.strip()
    return repr(cell if len(cell) <= MAX_SHOWN_CHARACTERS else cell[: MAX_SHOWN_CHARACTERS - 3] + "...")


def _only_sign(spellings: Mapping[str, NumberSpelling]) -> list[str]:
    """Return the decimal sign that a column must have, if it shows one."""
    return [sign for sign in spellings if len(spellings) == 1 and spellings[sign].shows_decimal]


def _take_numbers(
    judged: Judgement,
    name: str,
    texts: list[str],
    spellings: Mapping[str, NumberSpelling],
    signs: set[str],
    hint: str | None,
    problem: Callable[..., FileFormatError],
) -> list[FileFormatError]:
    """Read a column of numbers in the spelling that the table suggests; return its problems."""
    sign = next(iter(spellings)) if len(spellings) == 1 else _choose_sign(texts, signs, hint)
    if sign is None:
        shown = shorten(next(text for text in texts if "." in text or "," in text))
        words = f"holds numbers such as {shown}, and nothing shows whether the sign in them is a decimal sign"
        return [problem(words, remedy=("choose_decimal", "ignore_column"))]
    spelling = spellings[sign]
    if _only_sign(spellings) and len(signs) == 1 and sign not in signs:
        shown, other = shorten(next(text for text in texts if "." in text or "," in text)), min(signs)
        words = f"holds {shown}, which is no number with {other!r} as the decimal sign"
        return [problem(words, remedy=("choose_decimal", "mark_categorical", "ignore_column"))]
    units = sorted(spelling.units)
    if len(units) > 1:
        with_unit = " and ".join(filter(None, units))
        words = f"holds numbers in {with_unit} and numbers without unit" if "" in units else f"mixes {with_unit}"
        return [problem(words, remedy=("fix_cell", "ignore_column"))]
    values = np.array([*spelling.numbers(texts), np.nan])
    judged.columns[name] = values[judged.columns[name].codes]
    judged.note_spelling(name, spelling)
    return []


def _choose_sign(texts: list[str], signs: set[str], hint: str | None) -> str | None:
    """Choose the decimal sign of a column that fits both; None if nothing shows which.

    Without any sign of the contrary, a point is a decimal point; a comma needs a hint.
    """
    if signs:
        return min(signs) if len(signs) == 1 else None
    has_points, has_commas = (any(sign in text for text in texts) for sign in DECIMAL_SIGNS)
    if has_commas:
        return None if has_points else hint
    return None if hint == "," else "."


def _take_dates(
    judged: Judgement, name: str, reading: DateReading, problem: Callable[..., FileFormatError]
) -> list[FileFormatError]:
    """Read a column of dates or hours; return its problems."""
    if reading.problem:
        return [problem(reading.problem, remedy=("iso_dates", "ignore_column"))]
    column = judged.columns[name]
    values = np.array([*reading.values, np.nan])[column.codes]
    odd = (column.codes >= 0) & np.isnan(values)
    if odd.any():
        shown = shorten(column.categories[column.codes[np.argmax(odd)]])
        words = f"holds {shown} among {'times' if reading.unit == HOURS else 'dates'}"
        return [problem(words, odd, remedy=("fix_cell", "mark_categorical", "ignore_column"))]
    judged.columns[name], judged.units[name], judged.words[name] = values, reading.unit, reading.words
    return []


def _odd_cells(
    column: pd.Categorical, texts: list[str], decimal: str | None, problem: Callable[..., FileFormatError]
) -> list[FileFormatError]:
    """Return the problem of a column in which most cells are numbers, and some are not."""
    fitting = [set(number_spellings([text])) if HAS_DIGIT.search(text) else set() for text in texts]
    if decimal is None and all(fitting):
        words = "has numbers with a decimal comma and numbers with a decimal point; write them in one way"
        return [problem(words)]
    signs = DECIMAL_SIGNS if decimal is None else decimal
    odd_by_sign = []
    for sign in signs:
        # Numbers without any sign are found under the decimal point.
        fits = np.array(
            [sign in found or (bool(found) and text.isdigit()) for text, found in zip(texts, fitting, strict=True)]
        )
        odd_by_sign.append((column.codes >= 0) & ~np.append(fits, True)[column.codes])
    odd = min(odd_by_sign, key=np.count_nonzero)
    if 2 * np.count_nonzero(odd) >= np.count_nonzero(column.codes >= 0):
        return []
    words = f"holds {shorten(texts[column.codes[np.argmax(odd)]])} among numbers"
    return [problem(words, odd, remedy=("fix_cell", "mark_categorical", "ignore_column"))]
