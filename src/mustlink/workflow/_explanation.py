"""What sets clusters apart, for clusters that come from a file: of mustlink or of another tool."""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mustlink._spelling import count
from mustlink._types import Ints
from mustlink.constraints import Constraints
from mustlink.errors import FileFormatError, OptionError
from mustlink.report import Summary, summarize, write_report
from mustlink.tables import UnknownIds, read_table
from mustlink.workflow._given_clusters import cells_of_rows, load_beside_clusters, read_clusters
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
    found = read_clusters(job.clusters, job, job.cluster_column)
    table, notices = load_beside_clusters(job, [found])
    cells, more = cells_of_rows(found, job, table)
    return table, cells, [*notices, *more]


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
