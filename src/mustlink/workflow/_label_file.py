"""A file with one label per row of another one: which column holds the labels, and which row each belongs to."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mustlink._spelling import count, spell_whole
from mustlink.errors import FileFormatError, OptionError
from mustlink.report import RowNames
from mustlink.tables import Table, read_table

__all__ = [
    "ROW_NUMBERS",
    "LabelFile",
    "LabelKind",
    "MatchedLabels",
    "match_labels",
    "read_label_file",
    "refuse_other_order",
    "show_ids",
]

# The column of row numbers in the files that mustlink writes.
ROW_NUMBERS = "row"
MAX_SHOWN_IDS = 3


class LabelKind(NamedTuple):
    """What the labels are, and the names that their column usually has, the likeliest first.

    `remedy` is that of a file whose column of labels is not known.
    """

    noun: str
    usual: tuple[str, ...]
    remedy: str


@dataclass(frozen=True)
class LabelFile:
    """A file of labels: its table, its column of labels, and the column that names the rows, if there is one.

    `unmatched` is a column of different values that the other file does not have by this name.
    """

    table: Table
    column: str
    key: str | None
    unmatched: str | None = None

    @property
    def labels(self) -> list[str]:
        """The labels as they are written."""
        return self.table.strings(self.column)


class MatchedLabels(NamedTuple):
    """The label of each row by its id, and the ids that only one of the two files has."""

    labels: list[str]
    only_in_file: list[str]
    not_in_file: list[str]


def read_label_file(
    path: str | os.PathLike[str],
    kind: LabelKind,
    *,
    column: str | None,
    id_column: str | None,
    table_columns: Callable[[], Collection[str]],
    of_table: Mapping[str, Any],
) -> LabelFile:
    """Read a file of labels.

    `table_columns` returns the names that the columns of the other file have, and is called only if the columns to use
    are not known; `of_table` has the encoding and the delimiter of the other file, which the labels may have, too.
    """
    path = Path(path)
    if path.suffix.lower() == ".npy":
        return LabelFile(_read_array(path, kind), kind.noun, None)
    names, reading = _read_names(path, dict(of_table))
    shared = _shared_columns(names, column, id_column, table_columns)
    found = column or _label_column(path, kind, names, shared, id_column, reading)
    others = [name for name in names if name != found]
    first = [name for name in others if name in (ROW_NUMBERS, *shared)] or others
    key = id_column if id_column in others else (first[0] if first else None)
    wanted = [found] if key is None else [found, key]
    table = read_table(path, text=wanted, columns=wanted, **reading)
    if id_column is None and key is not None and key != ROW_NUMBERS:
        # Ids that nobody named: a column with repetitions holds none.
        key = key if len(set(table.strings(key)) - {""}) == table.n_rows else None
        if key not in shared:
            return LabelFile(table, found, None, key)
    return LabelFile(table, found, key)


def _read_names(path: Path, of_table: dict[str, Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the columns of the file of labels and the options to read it with: none, or those of the table."""
    try:
        table = read_table(path, columns=[])
    except FileFormatError as error:
        if "no_header" in (error.remedy or ()):
            # A list of numbers alone, as many tools write it.
            return read_table(path, columns=[], header=False).left_out, {"header": False}
        try:
            return read_table(path, columns=[], **of_table).left_out, of_table
        except (FileFormatError, OptionError):
            raise error from None
    # Mustlink writes labels as the table is written; any text that is not Unicode can be read as cp1252.
    names, dialect, reading = table.left_out, table.dialect, {}
    if of_table["encoding"] is not None and dialect is not None and dialect.encoding == "cp1252":
        reading["encoding"] = of_table["encoding"]
    if of_table["delimiter"] is not None and len(names) == 1 and of_table["delimiter"] in names[0]:
        reading["delimiter"] = of_table["delimiter"]
    return (read_table(path, columns=[], **reading).left_out if reading else names), reading


def _shared_columns(
    names: tuple[str, ...], column: str | None, id_column: str | None, table_columns: Callable[[], Collection[str]]
) -> list[str]:
    """Return the columns of the labels that the table has too, unless the columns to use are known already."""
    if len(names) == 1 or None not in (id_column, column):
        return []
    known = set(table_columns())
    return [name for name in names if name in known]


def _read_array(path: Path, kind: LabelKind) -> Table:
    """Read a list of labels as .npy."""
    import pandas as pd

    try:
        values = np.load(path, allow_pickle=False)
    except (ValueError, EOFError):
        raise FileFormatError(f"{path} is not an .npy file of numbers.") from None
    if values.ndim != 1 or values.dtype.kind not in "iuf":
        raise FileFormatError(
            f"{path}: a list of {kind.noun}s is expected, and this array has the shape {values.shape} and the type "
            f"{values.dtype}."
        )
    return Table.from_frame(pd.DataFrame({kind.noun: values}), source=str(path))


def _label_column(
    path: Path,
    kind: LabelKind,
    names: tuple[str, ...],
    shared: list[str],
    id_column: str | None,
    reading: Mapping[str, Any],
) -> str:
    """Return the column of the labels: one of a usual name, the only one without ids, or of two that with repetitions.

    `reading` has the options to read the file with.
    """
    others = [name for name in names if name not in (id_column, ROW_NUMBERS)]
    usual = [name for usual in kind.usual for name in others if name.lower() == usual]
    own = [name for name in others if name not in shared] if len(others) > 1 else others
    if usual or len(own) == 1:
        return usual[0] if usual else own[0]
    if len(others) == 2:
        table = read_table(path, text=others, columns=others, **reading)
        repeated = [name for name in others if len(set(table.strings(name))) < table.n_rows]
        if len(repeated) == 1:
            return repeated[0]
    raise OptionError(f"{path} has {count(len(names), 'column')} and none called {kind.noun}", remedy=kind.remedy)


def match_labels(found: LabelFile, ids: list[str], of: str = "the table") -> MatchedLabels:
    """Return the label of each row of the table by its id, empty if the file has none."""
    assert found.key is not None
    keys = found.table.row_ids(found.key)
    # A whole number may be written as 1 in one file and as 1.0 in the other.
    label = dict(zip(keys, found.labels, strict=True))
    for key in keys:
        label.setdefault(spell_whole(key), label[key])
    known = {*ids, *map(spell_whole, ids)}
    only_in_file = [key for key in keys if key not in known and spell_whole(key) not in known]
    cells = [label.get(key, label.get(spell_whole(key))) for key in ids]
    only_in_table = [key for key, cell in zip(ids, cells, strict=True) if cell is None]
    if len(only_in_file) == len(keys):
        raise FileFormatError(
            f"{found.table.source}: no value of the column {found.key!r} is an id of {of}; the first is "
            f"{RowNames(keys)[0]!r}, and the first of {of} is {RowNames(ids)[0]!r}",
            remedy="match_by_id",
        )
    return MatchedLabels([cell or "" for cell in cells], only_in_file, only_in_table)


def refuse_other_order(found: LabelFile, tables: Sequence[Table], source: str | os.PathLike[str]) -> None:
    """Refuse to match rows by their order if a column of the labels has the values of another one in another order."""
    if found.unmatched is None:
        return
    values = [spell_whole(cell) for cell in found.table.strings(found.unmatched)]
    if values in ([str(row + first) for row in range(len(values))] for first in (0, 1)):
        return
    for table in tables:
        for name in table.names:
            cells = [spell_whole(cell) for cell in table.strings(name)]
            if cells != values and sorted(cells) == sorted(values):
                raise FileFormatError(
                    f"{found.table.source}: the column {found.unmatched!r} holds the values of the column {name!r} of "
                    f"{source} in another order, so the rows cannot be matched by their order",
                    remedy="mark_id",
                    column=name,
                )


def show_ids(ids: list[str]) -> str:
    """List the first of some ids."""
    names = RowNames(ids)
    more = " and more" if len(ids) > MAX_SHOWN_IDS else ""
    return ", ".join(names[place] for place in range(min(len(ids), MAX_SHOWN_IDS))) + more
