"""Clusters of the rows of a table from a file: the table beside them, and the cluster of each of its rows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from mustlink._spelling import count
from mustlink.errors import FileFormatError
from mustlink.tables import read_table
from mustlink.workflow._label_file import (
    ROW_NUMBERS,
    LabelFile,
    LabelKind,
    match_labels,
    read_label_file,
    refuse_other_order,
    show_ids,
)
from mustlink.workflow._loading import LoadedTable, TableOptions, load_table

__all__ = ["KNOWN_CLASSES", "cells_of_rows", "find_id_column", "load_beside_clusters", "read_clusters"]

# The names that a column of clusters usually has, the likeliest first.
CLUSTER_NAMES = ("cluster_found", "cluster", "clusters", "label", "labels", "segment", "group")
CLUSTERS = LabelKind("cluster", CLUSTER_NAMES, "cluster_column")
# Of several files no option can name the columns.
KNOWN_CLASSES = CLUSTERS._replace(remedy="rename_cluster_column")


def read_clusters(
    path: str | os.PathLike[str],
    options: TableOptions,
    cluster_column: str | None = None,
    kind: LabelKind = CLUSTERS,
) -> LabelFile:
    """Read a file of clusters of the rows of a table."""
    return read_label_file(
        path,
        kind,
        column=cluster_column,
        id_column=options.id_column,
        table_columns=lambda: read_table(options.table, columns=[], **options.reading).left_out,
        of_table={"encoding": options.encoding, "delimiter": options.delimiter},
    )


def find_id_column(options: TableOptions, given: Sequence[LabelFile]) -> str | None:
    """Return the column of a table that names its rows: the given one, or the first by which clusters name them."""
    keys = [found.key for found in given if found.key not in (None, ROW_NUMBERS)]
    return options.id_column or next(iter(keys), None)


def load_beside_clusters(options: TableOptions, given: Sequence[LabelFile]) -> tuple[LoadedTable, list[str]]:
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
    found: LabelFile, options: TableOptions, table: LoadedTable, *, needs_all: bool = False
) -> tuple[list[str], list[str]]:
    """Return the cluster of each row of the table as text, and notes on how the two files were matched.

    With `needs_all`, a row of the table that is not in the file of clusters is refused.
    """
    if found.key == ROW_NUMBERS and options.id_column != ROW_NUMBERS:
        return _match(found, [str(row) for row in range(table.source.n_rows)], needs_all)
    if table.ids is not None and found.key is not None:
        return _match(found, table.ids, needs_all)
    cells = found.labels
    if len(cells) != table.source.n_rows:
        raise FileFormatError(
            f"{found.table.source} has {count(len(cells), 'row')} and {options.table} has "
            f"{count(table.source.n_rows, 'row')}",
            remedy="match_by_id",
        )
    if found.unmatched is not None:
        others = read_table(options.table, text=table.source.left_out, columns=table.source.left_out, **options.reading)
        refuse_other_order(found, [table.source, others], options.table)
    return cells, [f"The rows of {found.table.source} are taken to be in the order of {options.table}."]


def _match(found: LabelFile, ids: list[str], needs_all: bool) -> tuple[list[str], list[str]]:
    """Return the cluster of each row of the table by its id, and notes about ids in one of the files only."""
    matched = match_labels(found, ids)
    source, notices = found.table.source, []
    if matched.only_in_file:
        rows = count(len(matched.only_in_file), "row is", "rows are")
        notices.append(f"{rows} in {source} and not in the table: {show_ids(matched.only_in_file)}.")
    if matched.not_in_file:
        rows = count(len(matched.not_in_file), "row is", "rows are")
        shown = show_ids(matched.not_in_file)
        if needs_all:
            raise FileFormatError(f"{rows} in the table and not in {source}: {shown}; add their clusters.")
        notices.append(f"{rows} in the table and not in {source}, and in no cluster: {shown}.")
    return matched.labels, notices
