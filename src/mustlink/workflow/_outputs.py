"""The files that a job writes: checked before the work begins, and written all or none."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mustlink._atomic import StagedFiles, check_writable
from mustlink._types import Ints
from mustlink.errors import OptionError
from mustlink.tables import check_output_suffix, check_sheet_size, stage_clusters, stage_table
from mustlink.workflow._blocked_table import BlockedTable
from mustlink.workflow._loading import LoadedTable

__all__ = ["check_model_suffix", "check_output_size", "check_outputs", "number_without_gaps", "stage_labels"]

Path = str | os.PathLike[str]

REPORT_SUFFIXES = (".html", ".htm")
# Outputs of several columns, for messages.
TABLES = {"categories": "categories are", "published table": "a published table is"}
# A model called like these would be opened with the wrong program.
NOT_OF_MODELS = (".csv", ".tsv", ".txt", ".xlsx", ".xlsm", ".xls", ".parquet", ".pq", ".npy", ".html", ".htm", ".pdf")


def check_outputs(inputs: Sequence[Path | None], outputs: Mapping[str, Any], *, keep_columns: bool = False) -> None:
    """Refuse outputs that cannot be written, would overwrite an input, or are one file.

    The outputs are named by what they hold; "clusters", "entities", "categories" and a "published table" have a format
    by their suffix, a "report" is HTML, and a "model" is neither a table nor a page.
    """
    read = {os.path.realpath(path) for path in inputs if path is not None}
    written: dict[str, str] = {}
    for what, path in outputs.items():
        if path is None:
            continue
        check_writable(path)
        target = os.path.realpath(path)
        if target in read:
            raise OptionError(f"{path} is an input and would be overwritten; choose another name for the output.")
        if what in ("clusters", "clusters of the columns", "entities"):
            check_output_suffix(path, keep_columns=keep_columns, what=_written(what, keep_columns))
        if what in TABLES:
            check_output_suffix(path, keep_columns=True, what=TABLES[what])
        if target in written:
            raise OptionError(f"The {written[target]} and the {what} cannot both be written to {path}.")
        # A device or a pipe has no suffix.
        is_file = os.path.isfile(path) or not os.path.exists(path)
        if what == "report" and is_file and not os.fspath(path).lower().endswith(REPORT_SUFFIXES):
            raise OptionError(f"{path}: the report is HTML, and its name must end in .html or .htm.")
        if what == "model":
            check_model_suffix(path)
        written[target] = what


def _written(what: str, keep_columns: bool) -> str:
    """Word what is written, for a message."""
    return f"a table with its {what} is" if keep_columns else f"{what} are"


def check_model_suffix(path: Path) -> None:
    """Refuse the name of a table or a page for a model."""
    if os.path.splitext(path)[1].lower() in NOT_OF_MODELS:
        raise OptionError(f"{path}: a model is neither a table nor a page; use another suffix, such as .model.")


def check_output_size(output: Path | None, table: LoadedTable | BlockedTable, *, keep_columns: bool) -> None:
    """Refuse a table that the format of its output cannot hold, before it is clustered."""
    if output is not None:
        n_columns = len(table.source.names) + len(table.source.left_out) if keep_columns else 2
        check_sheet_size(output, table.source.n_rows, n_columns + 1)


def number_without_gaps(labels: Ints) -> Ints:
    """Number the clusters that have rows from 0 on, in the same order; -1 stays."""
    used = np.unique(labels[labels >= 0])
    return np.where(labels >= 0, np.searchsorted(used, labels), -1)


def stage_labels(
    files: StagedFiles,
    output: Path,
    source: Path,
    table: LoadedTable,
    labels: Ints,
    *,
    id_column: str | None,
    label_column: str | None = None,
    keep_columns: bool = False,
    header: bool | None = None,
    name: str = "cluster",
) -> None:
    """Stage the clusters of the kept rows of a table: with all its columns, or with ids and known labels only."""
    every = np.full(table.source.n_rows, -1)
    every[table.rows] = labels
    if keep_columns:
        stage_table(files, output, every, source=source, table=table.source, header=header, name=name)
        return
    stage_clusters(
        files,
        output,
        every,
        ids=table.ids,
        id_name=id_column or "row",
        known=table.labels,
        known_name=label_column or "label",
        dialect=table.source.dialect,
        name=name,
    )
