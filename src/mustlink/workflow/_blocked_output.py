"""What a job on a table in blocks writes: clusters, report and model, all or none."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mustlink._atomic import StagedFiles
from mustlink._spelling import count
from mustlink._types import Array
from mustlink.constraints import Constraints
from mustlink.report import Summary, stage_blocked_report, summarize_blocks
from mustlink.tables import stage_stream
from mustlink.workflow._blocked_table import BlockedTable
from mustlink.workflow._model import Model, stage_model

if TYPE_CHECKING:
    from mustlink.workflow._job import Job

__all__ = ["count_moved", "write_blocked"]

REPORT_NOTE = "The picture of the report is made of a sample of the rows, and of all linked ones."


def write_blocked(
    job: Job,
    command: str | None,
    table: BlockedTable,
    links: Constraints,
    labels: Array,
    estimator: Any,
    model: Model | None,
    notices: list[str],
) -> Summary:
    """Write the clusters, the report and the model, and return what is shown."""
    if job.report is not None:
        notices = [*notices, REPORT_NOTE]
    summary = summarize_blocks(
        table.X,
        labels,
        links,
        features=table.features,
        row_names=table.row_names,
        known=table.known,
        notices=notices,
        estimator=estimator,
    )
    with StagedFiles() as files:
        if job.output is not None:
            stage_labels_of_blocks(files, job, table, labels)
        if job.save_model is not None and model is not None:
            stage_model(files, job.save_model, model)
        if job.report is not None:
            stage_blocked_report(
                files,
                job.report,
                summary,
                table.X,
                labels,
                links,
                row_names=table.names_of,
                title=f"{Path(job.table).name} in {count(len(summary.clusters), 'cluster')}",
                run={} if command is None else {"Command": command},
                estimator=estimator,
            )
    return summary


def stage_labels_of_blocks(files: StagedFiles, job: Job, table: BlockedTable, labels: Array) -> None:
    """Stage the clusters of all rows of a table, some rows at a time."""
    assert job.output is not None
    known = table.known

    def known_names(start: int, stop: int) -> list[str]:
        assert known is not None
        return [known.names[code] if code >= 0 else "" for code in table.of_all_rows(known.codes, start, stop).tolist()]

    with table.bar("Writing the clusters of", table.source.n_rows) as watch:
        stage_stream(
            files,
            job.output,
            table.source,
            lambda start, stop: table.of_all_rows(labels, start, stop),
            id_column=job.id_column,
            known=None if known is None else known_names,
            known_name=job.label_column or "label",
            keep_columns=job.keep_columns,
            watch=watch,
        )


def count_moved(table: BlockedTable, model: Model, fitted: Array) -> int:
    """Return how many rows would get another cluster from a model than from the fit."""
    own = [(fitted[start:stop],) for start, stop in pairwise(table.X.bounds.tolist())]
    return int(table.X.total(count_moved_of_block, model.clusterer, each=own))


def count_moved_of_block(block: Array, clusterer: Any, own: Array) -> int:
    """Count the rows of a block that are predicted to be in another cluster than their own."""
    return int(np.count_nonzero(np.asarray(clusterer.predict(block)) != own))
