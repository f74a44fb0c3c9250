"""Deciding whether a column of a text file holds numbers or text, and turning its cells into arrays."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from mustlink.errors import FileFormatError
from mustlink.tables._table import NumericColumn, TextColumn

__all__ = ["ColumnBuilder", "is_missing", "is_number", "text_column"]

_MISSING = frozenset({"", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "?"})


def is_missing(cell: str) -> bool:
    """Tell whether a cell counts as empty."""
    return cell.strip() in _MISSING


def is_number(cell: str) -> bool:
    """Tell whether a cell spells a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return not is_missing(cell)


def text_column(name: str, texts: Sequence[str], places: np.ndarray[Any, Any]) -> TextColumn:
    """Make a text column of the texts at these places (-1: empty), equal texts and empty ones put together."""
    dictionary: dict[str, int] = {}
    codes = [*_coded(texts, dictionary).tolist(), -1]
    return TextColumn(name, np.array(codes, dtype=np.int64)[places], tuple(dictionary))


def _coded(cells: Sequence[str], dictionary: dict[str, int]) -> np.ndarray[Any, Any]:
    """Give each text its number, extending the dictionary by the new ones; empty cells get -1."""
    codes = [-1 if is_missing(cell) else dictionary.setdefault(cell.strip(), len(dictionary)) for cell in cells]
    return np.array(codes, dtype=np.int64)


class ColumnBuilder:
    """Collects the cells of one column, block by block.

    The first block with a filled cell decides: all numbers make a numeric column, anything else a text column,
    and a few texts among mostly numbers are refused, since they are more often slips than categories.

    Parameters
    ----------
    source : str
        The name of the file, for messages.
    name : str
        The column's name.
    as_text : bool
        Whether the cells are text however they look (ids, labels, codes).
    comma_is_decimal : bool
        Whether the file is one in which 3,5 can mean three and a half.
    """

    def __init__(self, source: str, name: str, *, as_text: bool, comma_is_decimal: bool) -> None:
        self.source = source
        self.name = name
        self.notices: list[str] = []
        self._as_text = as_text
        self._numeric = False
        self._comma_is_decimal = comma_is_decimal
        self._uses_decimal_comma = False
        self._dictionary: dict[str, int] = {}
        self._blocks: list[np.ndarray[Any, Any]] = []

    def feed(self, cells: Sequence[str], lines: Sequence[int]) -> None:
        """Take the cells of the next rows, and the lines they stand in."""
        if self._as_text:
            self._blocks.append(_coded(cells, self._dictionary))
            return
        numbers = self._numbers(cells)
        if numbers is None:
            self._refuse_or_turn_to_text(cells, lines)
            self._blocks.append(_coded(cells, self._dictionary))
            return
        self._refuse_infinities(numbers, cells, lines)
        self._numeric = self._numeric or not bool(np.isnan(numbers).all())
        self._blocks.append(numbers)

    def finish(self) -> NumericColumn | TextColumn:
        """Give the column."""
        if self._as_text:
            codes = np.concatenate(self._blocks) if self._blocks else np.empty(0, dtype=np.int64)
            return TextColumn(self.name, codes, tuple(self._dictionary))
        if self._uses_decimal_comma:
            self.notices.append(f"Column {self.name!r} was read with the comma as the decimal sign.")
        values = np.concatenate(self._blocks) if self._blocks else np.empty(0)
        return NumericColumn(self.name, values)

    def _numbers(self, cells: Sequence[str]) -> np.ndarray[Any, Any] | None:
        """Give the cells as numbers, empty ones as NaN; None when one of them is text."""
        try:
            return np.frombuffer(array("d", map(float, cells)), dtype=np.float64)
        except ValueError:
            pass
        filled = [cell for cell in cells if not is_missing(cell)]
        with_comma = self._comma_is_decimal and any("," in cell for cell in filled)
        if with_comma and any("." in cell for cell in filled):
            return None
        try:
            values = [
                float("nan") if is_missing(cell) else float(cell.replace(",", ".") if with_comma else cell)
                for cell in cells
            ]
        except ValueError:
            return None
        self._uses_decimal_comma = self._uses_decimal_comma or with_comma
        return np.array(values)

    def _refuse_or_turn_to_text(self, cells: Sequence[str], lines: Sequence[int]) -> None:
        """Decide for text, unless the column has shown itself to be numbers with a slip in them."""
        if self._mixes_decimal_signs(cells):
            raise FileFormatError(
                f"{self.source}: the column {self.name!r} has numbers with a decimal comma and numbers with a "
                "decimal point; write them in one way."
            )
        texts = [place for place, cell in enumerate(cells) if not (is_missing(cell) or self._is_number(cell))]
        n_numbers = sum(map(self._is_number, cells))
        if self._numeric or n_numbers > len(texts):
            raise FileFormatError(
                f"{self.source}, line {lines[texts[0]]}: the column {self.name!r} holds "
                f"{_shortened(cells[texts[0]])} "
                f"among numbers; mend the cell, or name the column in --categorical or --ignore."
            )
        self._as_text = True
        # All earlier blocks were empty cells, or the column would be numeric by now.
        self._blocks = [np.full(block.size, -1, dtype=np.int64) for block in self._blocks]

    def _mixes_decimal_signs(self, cells: Sequence[str]) -> bool:
        """Tell whether every filled cell is a number, but some with a comma and some with a point."""
        return self._comma_is_decimal and all(is_missing(cell) or self._is_number(cell) for cell in cells)

    def _is_number(self, cell: str) -> bool:
        """Tell whether a cell spells a number in the manner of this file."""
        return is_number(cell) or (self._comma_is_decimal and is_number(cell.replace(",", ".")))

    def _refuse_infinities(self, numbers: np.ndarray[Any, Any], cells: Sequence[str], lines: Sequence[int]) -> None:
        """Refuse numbers that no distance can be computed with."""
        infinite = np.flatnonzero(np.isinf(numbers))
        if infinite.size:
            place = int(infinite[0])
            raise FileFormatError(
                f"{self.source}, line {lines[place]}: the column {self.name!r} holds "
                f"{_shortened(cells[place])}, which is not a finite number."
            )


def _shortened(cell: str) -> str:
    """Quote a cell for a message, cut short when it is long."""
    cell = cell.strip()
    return repr(cell if len(cell) <= 40 else cell[:37] + "...")
