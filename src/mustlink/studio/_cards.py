"""The rows of a table as a person reads them: cells with the kind of their column, alone or in pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from mustlink.report import RowNames
from mustlink.studio._images import ImageError, ImageFolder, names_image
from mustlink.workflow import RowComparison

__all__ = ["ColumnKind", "RowCards"]

ColumnKind = Literal["number", "category", "text", "image"]

# The kind of a column is decided by so many of its first cells.
N_SAMPLED = 500
# Cells that are longer than this on average are texts to read, not categories.
MIN_TEXT_LENGTH = 30
# Longer cells are cut before they are sent.
MAX_CELL_LENGTH = 20_000


class RowCards:
    """The cells of rows for the page.

    Parameters
    ----------
    rows : RowComparison
        The rows in pairs, with the columns to show.
    folder : Path or None
        The folder in which cells may name images.
    """

    def __init__(self, rows: RowComparison, folder: Path | None) -> None:
        self._rows = rows
        self._images = ImageFolder(folder)
        sample = [rows.cells(row) for row in range(min(len(rows.names), N_SAMPLED))]
        self.kinds: dict[str, ColumnKind] = {
            name: "number" if name in rows.number_columns else _kind_of([cells[name] for cells in sample])
            for name in rows.column_names
        }

    def name(self, row: int) -> str:
        """Return what a row is called, made safe to print."""
        return str(self._rows.names[row])

    def columns(self) -> list[dict[str, str]]:
        """Return the columns with their kinds, as a message has them."""
        return [{"name": name, "kind": kind} for name, kind in self.kinds.items()]

    def row(self, row: int) -> list[dict[str, str]]:
        """Return the cells of a row, as a message has them."""
        cells = self._rows.cells(row)
        return [{"column": name, "text": _cut(cells[name]), "kind": kind} for name, kind in self.kinds.items()]

    def compare(self, a: int, b: int) -> dict[str, Any]:
        """Return two rows side by side, as a message has them; texts and images are always shown, and in full."""
        pairs = self._rows.compare(a, b)
        shown = {pair.name: pair for pair in pairs}
        first, second = self._rows.cells(a), self._rows.cells(b)
        columns = []
        for name, kind in self.kinds.items():
            # A comparison has the names as they are printed.
            pair = shown.get(RowNames([name])[0])
            if kind in ("text", "image"):
                cells = _cut(first[name]), _cut(second[name])
            elif pair is not None:
                cells = pair.first, pair.second
            else:
                continue
            marked = pair is not None and pair.is_marked
            columns.append({"name": name, "first": cells[0], "second": cells[1], "marked": marked, "kind": kind})
        return {
            "a": a,
            "b": b,
            "a_name": self.name(a),
            "b_name": self.name(b),
            "columns": columns,
            "n_more": len(self.kinds) - len(columns),
        }

    def image(self, row: int, column: str) -> str:
        """Return the image that a cell names, as a ``data:`` URL."""
        if self.kinds.get(column) != "image":
            raise ImageError(f"The column {column!r} names no images.")
        return self._images.data_url(self._rows.cells(row)[column].strip())


def _kind_of(cells: list[str]) -> ColumnKind:
    """Tell what a column of texts holds by some of its cells."""
    filled = [cell for cell in cells if cell.strip()]
    if names_image(filled):
        return "image"
    is_long = bool(filled) and sum(map(len, filled)) / len(filled) >= MIN_TEXT_LENGTH
    return "text" if is_long else "category"


def _cut(cell: str) -> str:
    """Cut a very long cell."""
    return cell if len(cell) <= MAX_CELL_LENGTH else cell[:MAX_CELL_LENGTH] + "\N{HORIZONTAL ELLIPSIS}"
