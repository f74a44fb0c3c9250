"""What sets clusters apart, for clusters that come from a file: of mustlink or of another tool."""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mustlink._spelling import count, spell_whole
from mustlink._types import Ints
from mustlink.constraints import Constraints
from mustlink.errors import FileFormatError, OptionError
from mustlink.report import RowNames, Summary, summarize, write_report
from mustlink.tables import Table, UnknownIds, read_table
from mustlink.workflow._loading import (
    Contradictions,
    LoadedTable,
    TableOptions,
    job_remedies,
    known_labels,
    load_table,
)
from mustlink.workflow._outputs import check_outputs

__all__ = ["ExplanationJob", "ExplanationResult", "run_explanation"]

# The names that a column of clusters usually has, the likeliest first.
CLUSTER_NAMES = ("cluster_found", "cluster", "clusters", "label", "labels", "segment", "group")
ROW_NUMBERS = "row"
MAX_SHOWN_IDS = 3


@dataclass(frozen=True)
class ExplanationJob(TableOptions):
    """A table, the clusters of its rows, and what to show of them.

    Takes the parameters of :class:`TableOptions` and those below; `table` and `clusters` may be given by position.

    Parameters
    ----------
    clusters : str, path-like or None, default=None
        The file with the clusters, in a format that :func:`mustlink.tables.read_table` reads, or a list of numbers as
        .npy. None if they are a column of the table.
    cluster_column : str or None, default=None
        The column of the clusters, numbers or names; empty cells and -1 are no cluster. None takes the column "cluster"
        or one of a similar name, or the only one that the table does not have.
    links : str, path-like or None, default=None
        A file of links, to be shown as kept and broken.
    contradictions : {"raise", "majority"}, default="raise"
        What to do with a pair linked both ways: refuse it, or keep the heavier side.
    unknown_ids : {"raise", "skip"}, default="raise"
        What to do with a link that names an id which the table does not have: refuse it, or skip it.
    report : str, path-like or None, default=None
        Where the HTML report is written; None writes none.

    See Also
    --------
    run_explanation : Run it.

    Examples
    --------
    >>> from mustlink.workflow import ExplanationJob
    >>> ExplanationJob("customers.csv", "clusters.csv", id_column="customer").cluster_column is None
    True
    """

    clusters: str | os.PathLike[str] | None = None
    _: KW_ONLY
    cluster_column: str | None = None
    links: str | os.PathLike[str] | None = None
    contradictions: Contradictions = "raise"
    unknown_ids: UnknownIds = "raise"
    report: str | os.PathLike[str] | None = None


@dataclass(frozen=True)
class ExplanationResult:
    """Clusters from a file, and what sets them apart.

    Parameters
    ----------
    table : LoadedTable
        The table.
    links : Constraints
        The links between its kept rows.
    labels : ndarray of int, shape (n_kept,)
        The cluster of each kept row; -1 is no cluster.
    names : tuple of str or None
        The names of the clusters 0, 1, ..., if they are not numbers.
    summary : Summary
        What is shown.

    Examples
    --------
    See :func:`run_explanation`.
    """

    table: LoadedTable
    links: Constraints
    labels: Ints
    names: tuple[str, ...] | None
    summary: Summary

    def _repr_html_(self) -> str:
        return self.summary._repr_html_()


@job_remedies()
def run_explanation(job: ExplanationJob, *, command: str | None = None) -> ExplanationResult:
    """Show in which columns clusters differ, whichever tool found them.

    Parameters
    ----------
    job : ExplanationJob
        The files.
    command : str or None, default=None
        What the user typed, shown in the report.

    Returns
    -------
    ExplanationResult
        The clusters and a summary.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mustlink.workflow import ExplanationJob, run_explanation
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "people.csv")
    ...     _ = path.write_text("who,age,segment\\nann,20,young\\nbob,64,old\\ncid,21,young\\ndee,66,old\\n")
    ...     result = run_explanation(ExplanationJob(path, cluster_column="segment", id_column="who"))
    >>> for cluster in result.summary.clusters:
    ...     print(cluster.name, cluster.size, *cluster.traits)
    old 2 age high (+1.0 sd)
    young 2 age low (-1.0 sd)
    """
    check_outputs([job.table, job.clusters, job.links], {"report": job.report})
    table, cells, notices = _load(job)
    labels, names = _number(cells, table)
    links = table.rules
    if job.links is not None:
        given, more = table.read_links(job.links, job.contradictions, job.unknown_ids)
        links = table.add_rules(given, job.contradictions)
        notices += more
    shown: dict[str, Any] = {
        "features": table.features,
        "row_names": table.row_names,
        "known_labels": table.kept_labels,
        "notices": [*table.notices, *notices, *table.describe_broken_rules(labels)],
        "cluster_names": names,
    }
    if job.report is None:
        summary = summarize(table.X, labels, links, **shown)
    else:
        n_clusters = len(np.unique(labels[labels >= 0]))
        made = {} if command is None else {"Command": command}
        title = f"{Path(job.table).name} in {count(n_clusters, 'cluster')}"
        if job.clusters is not None:
            made["Clusters of"] = Path(job.clusters).name
        summary = write_report(job.report, table.X, labels, links, **shown, title=title, run=made)
    return ExplanationResult(table, links, labels, names, summary)


def _load(job: ExplanationJob) -> tuple[LoadedTable, list[str], list[str]]:
    """Return the table, the cluster of each of its rows as text, and notes."""
    if job.clusters is None:
        if job.cluster_column is None:
            raise OptionError(f"Which column of {job.table} holds the clusters is not known", remedy="cluster_column")
        if job.cluster_column in (job.id_column, job.label_column, *job.ignore):
            raise OptionError(f"The column {job.cluster_column!r} cannot hold the clusters and be used otherwise.")
        only = [job.cluster_column]
        inside = read_table(job.table, text=only, columns=only, **job.reading)
        return load_table(replace(job, ignore=[*job.ignore, *only])), inside.strings(job.cluster_column), []
    found = _read_clusters(job)
    by_id = job.id_column or (found.key if found.key != ROW_NUMBERS else None)
    table = load_table(replace(job, id_column=by_id))
    notices = []
    if any(feature.column == found.column for feature in table.features):
        # A copy of the clusters, as --keep-columns writes it, would explain itself.
        notices.append(f"Column {found.column!r} of {job.table} was left out: it is called like that of the clusters.")
        table = load_table(replace(job, id_column=by_id, ignore=[*job.ignore, found.column]))
    cells, more = _cells(job, table, found)
    return table, cells, [*notices, *more]


def _cells(job: ExplanationJob, table: LoadedTable, found: _Clusters) -> tuple[list[str], list[str]]:
    """Return the cluster of each row of the table as text, and notes on how the two files were matched."""
    if found.key == ROW_NUMBERS and job.id_column != ROW_NUMBERS:
        return _match(found, [str(row) for row in range(table.source.n_rows)])
    if table.ids is not None and found.key is not None:
        return _match(found, table.ids)
    cells = found.table.strings(found.column)
    if len(cells) != table.source.n_rows:
        raise FileFormatError(
            f"{job.clusters} has {count(len(cells), 'row')} and {job.table} has {count(table.source.n_rows, 'row')}",
            remedy="match_by_id",
        )
    _refuse_ids_of_another_name(job, table, found)
    return cells, [f"The rows of {job.clusters} are taken to be in the order of {job.table}."]


def _refuse_ids_of_another_name(job: ExplanationJob, table: LoadedTable, found: _Clusters) -> None:
    """Refuse to match rows by their order if a column of the clusters has the values of one of the table in another."""
    if found.unmatched is None:
        return
    values = [spell_whole(cell) for cell in found.table.strings(found.unmatched)]
    if values in ([str(row + first) for row in range(len(values))] for first in (0, 1)):
        return
    others = read_table(job.table, text=table.source.left_out, columns=table.source.left_out, **job.reading)
    for source in (table.source, others):
        for name in source.names:
            cells = [spell_whole(cell) for cell in source.strings(name)]
            if cells != values and sorted(cells) == sorted(values):
                raise FileFormatError(
                    f"{found.table.source}: the column {found.unmatched!r} holds the values of the column {name!r} of "
                    f"{job.table} in another order, so the rows cannot be matched by their order",
                    remedy="mark_id",
                    column=name,
                )


@dataclass(frozen=True)
class _Clusters:
    """A file of clusters: its table, its column of clusters, and the column that names the rows, if there is one.

    `unmatched` is a column of different values that the table does not have by this name.
    """

    table: Table
    column: str
    key: str | None
    unmatched: str | None = None


def _read_clusters(job: ExplanationJob) -> _Clusters:
    """Read the file of clusters."""
    assert job.clusters is not None
    path = Path(job.clusters)
    if path.suffix.lower() == ".npy":
        return _Clusters(_read_array(path), "cluster", None)
    names, reading = _read_names(path, {"encoding": job.encoding, "delimiter": job.delimiter})
    shared = _shared_columns(job, names)
    column = _cluster_column(job, names, shared)
    others = [name for name in names if name != column]
    first = [name for name in others if name in (ROW_NUMBERS, *shared)] or others
    key = job.id_column if job.id_column in others else (first[0] if first else None)
    wanted = [column] if key is None else [column, key]
    table = read_table(path, text=wanted, columns=wanted, **reading)
    if job.id_column is None and key is not None and key != ROW_NUMBERS:
        # Ids that nobody named: a column with repetitions holds none.
        key = key if len(set(table.strings(key)) - {""}) == table.n_rows else None
        if key not in shared:
            return _Clusters(table, column, None, key)
    return _Clusters(table, column, key)


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


def _shared_columns(job: ExplanationJob, names: tuple[str, ...]) -> list[str]:
    """Return the columns of the clusters that the table has too, unless the columns to use are known already."""
    if len(names) == 1 or None not in (job.id_column, job.cluster_column):
        return []
    known = set(read_table(job.table, columns=[], **job.reading).left_out)
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


def _cluster_column(job: ExplanationJob, names: tuple[str, ...], shared: list[str]) -> str:
    """Return the column of the clusters: the given one, one of a usual name, or the only one without ids."""
    if job.cluster_column is not None:
        return job.cluster_column
    others = [name for name in names if name not in (job.id_column, ROW_NUMBERS)]
    usual = [name for usual in CLUSTER_NAMES for name in others if name.lower() == usual]
    own = [name for name in others if name not in shared] if len(others) > 1 else others
    if usual or len(own) == 1:
        return usual[0] if usual else own[0]
    raise OptionError(
        f"{job.clusters} has {count(len(names), 'column')} and none called cluster", remedy="cluster_column"
    )


def _match(found: _Clusters, ids: list[str]) -> tuple[list[str], list[str]]:
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
        notices.append(f"{rows} in the table and not in {source}, and in no cluster: {_shown(lost)}.")
    return [cell or "" for cell in cells], notices


def _shown(ids: list[str]) -> str:
    """List the first of some ids."""
    names = RowNames(ids)
    more = " and more" if len(ids) > MAX_SHOWN_IDS else ""
    return ", ".join(names[place] for place in range(min(len(ids), MAX_SHOWN_IDS))) + more


def _number(cells: list[str], table: LoadedTable) -> tuple[Ints, tuple[str, ...] | None]:
    """Return the clusters of the kept rows as numbers, and their names if they are not numbers already."""
    # Tools with missing values write the clusters 0 and -1 as 0.0 and -1.0.
    clusters = known_labels(cells)
    kept = [clusters[row] for row in table.rows.tolist()]
    used = sorted(set(kept) - {""})
    if not used:
        raise FileFormatError(f"No row of {table.source.source} is in a cluster.")
    if all(cell.isdecimal() and cell.isascii() and len(cell) < 10 for cell in used):
        return np.array([int(cell or -1) for cell in kept]), None
    number = {cell: place for place, cell in enumerate(used)}
    return np.array([number.get(cell, -1) for cell in kept]), tuple(used)
