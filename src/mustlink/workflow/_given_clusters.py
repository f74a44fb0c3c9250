"""Clusters of the rows of a table from a file: its columns, and how its rows are matched with those of the table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mustlink._spelling import count, spell_whole
from mustlink.errors import FileFormatError, OptionError
from mustlink.report import RowNames
from mustlink.tables import Table, read_table
from mustlink.workflow._loading import LoadedTable, TableOptions, load_table

__all__ = ["GivenClusters", "cells_of_rows", "find_id_column", "load_beside_clusters", "read_clusters"]

# The names that a column of clusters usually has, the likeliest first.
CLUSTER_NAMES = ("cluster_found", "cluster", "clusters", "label", "labels", "segment", "group")
ROW_NUMBERS = "row"
MAX_SHOWN_IDS = 3


@dataclass(frozen=True)
class GivenClusters:
    """A file of clusters: its table, its column of clusters, and the column that names the rows, if there is one.

    `unmatched` is a column of different values that the table does not have by this name.
    """

    table: Table
    column: str
    key: str | None
    unmatched: str | None = None


def read_clusters(
    path: str | os.PathLike[str], options: TableOptions, cluster_column: str | None = None
) -> GivenClusters:
    """Read a file of clusters of the rows of a table."""
    path = Path(path)
    if path.suffix.lower() == ".npy":
        return GivenClusters(_read_array(path), "cluster", None)
    names, reading = _read_names(path, {"encoding": options.encoding, "delimiter": options.delimiter})
    shared = _shared_columns(options, cluster_column, names)
    column = _cluster_column(path, options, cluster_column, names, shared)
    others = [name for name in names if name != column]
    first = [name for name in others if name in (ROW_NUMBERS, *shared)] or others
    key = options.id_column if options.id_column in others else (first[0] if first else None)
    wanted = [column] if key is None else [column, key]
    table = read_table(path, text=wanted, columns=wanted, **reading)
    if options.id_column is None and key is not None and key != ROW_NUMBERS:
        # Ids that nobody named: a column with repetitions holds none.
        key = key if len(set(table.strings(key)) - {""}) == table.n_rows else None
        if key not in shared:
            return GivenClusters(table, column, None, key)
    return GivenClusters(table, column, key)


def _read_names(path: Path, of_table: dict[str, Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the columns of the file of clusters and the options to read it with: none, or those of the table."""
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
    # Mustlink writes clusters as the table is written; any text that is not Unicode can be read as cp1252.
    names, dialect, reading = table.left_out, table.dialect, {}
    if of_table["encoding"] is not None and dialect is not None and dialect.encoding == "cp1252":
        reading["encoding"] = of_table["encoding"]
    if of_table["delimiter"] is not None and len(names) == 1 and of_table["delimiter"] in names[0]:
        reading["delimiter"] = of_table["delimiter"]
    return (read_table(path, columns=[], **reading).left_out if reading else names), reading


def _shared_columns(options: TableOptions, cluster_column: str | None, names: tuple[str, ...]) -> list[str]:
    """Return the columns of the clusters that the table has too, unless the columns to use are known already."""
    if len(names) == 1 or None not in (options.id_column, cluster_column):
        return []
    known = set(read_table(options.table, columns=[], **options.reading).left_out)
    return [name for name in names if name in known]


def _read_array(path: Path) -> Table:
    """Read a list of clusters as .npy."""
    import pandas as pd

    try:
        values = np.load(path, allow_pickle=False)
    except (ValueError, EOFError):
        raise FileFormatError(f"{path} is not an .npy file of numbers.") from None
    if values.ndim != 1 or values.dtype.kind not in "iuf":
        raise FileFormatError(
            f"{path}: a list of clusters is expected, and this array has the shape {values.shape} and the type "
            f"{values.dtype}."
        )
    return Table.from_frame(pd.DataFrame({"cluster": values}), source=str(path))


def _cluster_column(
    path: Path, options: TableOptions, cluster_column: str | None, names: tuple[str, ...], shared: list[str]
) -> str:
    """Return the column of the clusters: the given one, one of a usual name, or the only one without ids."""
    if cluster_column is not None:
        return cluster_column
    others = [name for name in names if name not in (options.id_column, ROW_NUMBERS)]
    usual = [name for usual in CLUSTER_NAMES for name in others if name.lower() == usual]
    own = [name for name in others if name not in shared] if len(others) > 1 else others
    if usual or len(own) == 1:
        return usual[0] if usual else own[0]
    raise OptionError(f"{path} has {count(len(names), 'column')} and none called cluster", remedy="cluster_column")


def find_id_column(options: TableOptions, given: Sequence[GivenClusters]) -> str | None:
    """Return the column of a table that names its rows: the given one, or the first by which clusters name them."""
    keys = [found.key for found in given if found.key not in (None, ROW_NUMBERS)]
    return options.id_column or next(iter(keys), None)


def load_beside_clusters(options: TableOptions, given: Sequence[GivenClusters]) -> tuple[LoadedTable, list[str]]:
    """Load a table with the ids by which clusters name its rows, without copies of their columns; also return notes."""
    options = replace(options, id_column=find_id_column(options, given))
    table = load_table(options)
    features = {feature.column for feature in table.features}
    copies = list(dict.fromkeys(found.column for found in given if found.column in features))
    if not copies:
        return table, []
    # A copy of the clusters, as --keep-columns writes it, would explain itself.
    notices = [
        f"Column {name!r} of {options.table} was left out: it is called like that of the clusters." for name in copies
    ]
    return load_table(replace(options, ignore=[*options.ignore, *copies])), notices


def cells_of_rows(
    found: GivenClusters, options: TableOptions, table: LoadedTable, *, needs_all: bool = False
) -> tuple[list[str], list[str]]:
    """Return the cluster of each row of the table as text, and notes on how the two files were matched.

    With `needs_all`, a row of the table that is not in the file of clusters is refused.
    """
    if found.key == ROW_NUMBERS and options.id_column != ROW_NUMBERS:
        return _match(found, [str(row) for row in range(table.source.n_rows)], needs_all)
    if table.ids is not None and found.key is not None:
        return _match(found, table.ids, needs_all)
    cells = found.table.strings(found.column)
    if len(cells) != table.source.n_rows:
        raise FileFormatError(
            f"{found.table.source} has {count(len(cells), 'row')} and {options.table} has "
            f"{count(table.source.n_rows, 'row')}",
            remedy="match_by_id",
        )
    _refuse_ids_of_another_name(found, options, table)
    return cells, [f"The rows of {found.table.source} are taken to be in the order of {options.table}."]


def _refuse_ids_of_another_name(found: GivenClusters, options: TableOptions, table: LoadedTable) -> None:
    """Refuse to match rows by their order if a column of the clusters has the values of one of the table in another."""
    if found.unmatched is None:
        return
    values = [spell_whole(cell) for cell in found.table.strings(found.unmatched)]
    if values in ([str(row + first) for row in range(len(values))] for first in (0, 1)):
        return
    others = read_table(options.table, text=table.source.left_out, columns=table.source.left_out, **options.reading)
    for source in (table.source, others):
        for name in source.names:
            cells = [spell_whole(cell) for cell in source.strings(name)]
            if cells != values and sorted(cells) == sorted(values):
                raise FileFormatError(
                    f"{found.table.source}: the column {found.unmatched!r} holds the values of the column {name!r} of "
                    f"{options.table} in another order, so the rows cannot be matched by their order",
                    remedy="mark_id",
                    column=name,
                )


def _match(found: GivenClusters, ids: list[str], needs_all: bool) -> tuple[list[str], list[str]]:
    """Return the cluster of each row of the table by its id, and notes about ids in one of the files only."""
    assert found.key is not None
    keys = found.table.row_ids(found.key)
    # A whole number may be written as 1 in one file and as 1.0 in the other.
    cluster = dict(zip(keys, found.table.strings(found.column), strict=True))
    for key in keys:
        cluster.setdefault(spell_whole(key), cluster[key])
    known = {*ids, *map(spell_whole, ids)}
    strangers = [key for key in keys if key not in known and spell_whole(key) not in known]
    cells = [cluster.get(key, cluster.get(spell_whole(key))) for key in ids]
    lost = [key for key, cell in zip(ids, cells, strict=True) if cell is None]
    source = found.table.source
    if len(strangers) == len(keys):
        raise FileFormatError(
            f"{source}: no value of the column {found.key!r} is an id of the table; the first is "
            f"{RowNames(keys)[0]!r}, and the first of the table is {RowNames(ids)[0]!r}",
            remedy="match_by_id",
        )
    notices = []
    if strangers:
        rows = count(len(strangers), "row is", "rows are")
        notices.append(f"{rows} in {source} and not in the table: {_shown(strangers)}.")
    if lost:
        rows = count(len(lost), "row is", "rows are")
        if needs_all:
            raise FileFormatError(f"{rows} in the table and not in {source}: {_shown(lost)}; add their clusters.")
        notices.append(f"{rows} in the table and not in {source}, and in no cluster: {_shown(lost)}.")
    return [cell or "" for cell in cells], notices


def _shown(ids: list[str]) -> str:
    """List the first of some ids."""
    names = RowNames(ids)
    more = " and more" if len(ids) > MAX_SHOWN_IDS else ""
    return ", ".join(names[place] for place in range(min(len(ids), MAX_SHOWN_IDS))) + more
