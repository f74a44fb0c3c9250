"""Records as texts: columns, distinct values, tokens, and the parts of a name."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mustlink._spelling import spell_whole
from mustlink._types import Ints

# What follows a last name without being one.
SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv"})
WORD = re.compile(r"[^\W_]+")
# A last name and two or three initials in one word, as medical journals write names.
JOINED_INITIALS = re.compile(r"([A-Z][\w'-]*[a-z](?: [A-Z][\w'-]*[a-z])*),? ([A-Z]{2,3})")


@dataclass(frozen=True)
class Records:
    """Distinct records, and which of them each row has.

    A record whose texts are all empty is never compared, and each such row is alone.
    """

    columns: tuple[tuple[str, ...], ...]  # the normalized texts of the distinct records, column by column
    originals: tuple[str, ...]  # the first column of the distinct records as it was given at its first row
    code: Ints  # the distinct record of each row
    is_empty: Any  # for each distinct record, whether all its texts are

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.code)

    @property
    def n_values(self) -> int:
        """The number of distinct records."""
        return len(self.originals)


def read_records(X: Any) -> Records:
    """Read names, or a table of texts, as distinct records."""
    table = _as_table(X)
    normal = [tuple(map(normalize, row)) for row in table]
    number: dict[tuple[str, ...], int] = {}
    code = np.array([number.setdefault(row, len(number)) for row in normal], dtype=np.int64)
    first = np.unique(code, return_index=True)[1]
    distinct = list(number)
    columns = tuple(zip(*distinct, strict=True)) if distinct else ()
    is_empty = np.array([not any(row) for row in distinct], dtype=bool)
    return Records(columns, tuple(table[row][0] for row in first), code, is_empty)


def _as_table(X: Any) -> list[tuple[str, ...]]:
    """Return the texts of each row; missing cells are empty."""
    if isinstance(X, str):
        raise TypeError("X is one text; pass a list of names, one per record.")
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    array = X if isinstance(X, np.ndarray) else np.array(list(X), dtype=object)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise ValueError(f"X must be a list of names or a table of texts; got an array of {array.ndim} dimensions.")
    if not array.size:
        raise ValueError(
            f"X has {array.shape[0]:,} rows and {array.shape[1]:,} columns; at least one record is needed."
        )
    return [tuple(map(_text, row)) for row in array.tolist()]


def is_missing(cell: object) -> bool:
    """Return whether a cell is None, NaN, or a missing value of pandas."""
    return cell is None or (pd.api.types.is_scalar(cell) and bool(pd.isna(cell)))


def _text(cell: object) -> str:
    """Write a cell as text, a missing one as nothing."""
    if is_missing(cell):
        return ""
    if isinstance(cell, list | tuple | set | frozenset):
        return " ".join(map(_text, cell))
    return spell_whole(str(cell)) if isinstance(cell, float) else str(cell)


def normalize(text: str) -> str:
    """Return the words of a text in small letters and without accents, of a name the first names first.

    One comma with at most three words before it is taken as that of "Last, First". Initials at the end, as in "Last F.
    M." and "Last FM", are put first too.
    """
    initials = JOINED_INITIALS.fullmatch(text.strip())
    if initials:
        text = f"{initials[1]} {' '.join(initials[2])}"
    plain = unicodedata.normalize("NFKD", text).casefold()
    if not plain.isascii():
        plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    parts = [words for part in plain.split(",") if (words := WORD.findall(part))]
    if len(parts) == 2 and len(parts[0]) <= 3 and parts[1][0] not in SUFFIXES:
        parts.reverse()
    words = [word for part in parts for word in part]
    n_initials = 0
    while n_initials < len(words) - 1 and len(words[-1 - n_initials]) == 1:
        n_initials += 1
    if n_initials and len(words[0]) > 1:
        words = words[-n_initials:] + words[:-n_initials]
    return " ".join(words)


def split_name(name: str) -> tuple[str, str]:
    """Return the last name and the other names of a normalized name."""
    words = name.split()
    while len(words) > 1 and words[-1] in SUFFIXES:
        words.pop()
    return (words[-1], " ".join(words[:-1])) if words else ("", "")
