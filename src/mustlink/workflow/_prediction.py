"""New rows into the clusters of a saved model, from files to a file."""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass, fields, replace
from typing import Literal

import numpy as np

from mustlink._atomic import StagedFiles
from mustlink._types import Ints
from mustlink.errors import FileFormatError
from mustlink.tables import Table, check_options
from mustlink.workflow._loading import READING_OPTIONS, LoadedTable, job_remedies
from mustlink.workflow._model import Model, load_model
from mustlink.workflow._outputs import check_output_size, check_outputs, stage_labels
from mustlink.workflow._text_model import TextModel
from mustlink.workflow._text_prediction import TextPredictionResult, predict_texts

__all__ = ["PredictionJob", "PredictionResult", "run_prediction"]

MAX_SHOWN_COLUMNS = 8


@dataclass(frozen=True)
class PredictionJob:
    """A model, a table with new rows, and where their clusters go.

    Parameters
    ----------
    model : str or path-like
        The file of the model, as :func:`save_model` writes it.
    table : str or path-like
        The file of the new rows, in a format that :func:`mustlink.tables.read_table` reads. Columns are found by their
        names.
    id_column : str or None, default=None
        The column that names the rows; None takes that of the model, if the table has it.
    missing : {"error", "drop", "mean"} or None, default=None
        What to do with empty cells, as in :class:`TableOptions`; None does as the model does.
    header : bool or None, default=None
        Whether the first line of a text file names the columns.
    encoding, delimiter, decimal, sheet : str or None, default=None
        How a text file is written, and which sheet of an Excel file is read, as in :func:`mustlink.tables.read_table`.
    output : str, path-like or None, default=None
        Where the clusters are written, as for :class:`Job`; None writes none.
    keep_columns : bool, default=False
        Whether `output` has all columns of the table, with the cluster as one more.

    See Also
    --------
    run_prediction : Run it.

    Examples
    --------
    >>> from mustlink.workflow import PredictionJob
    >>> PredictionJob("customers.model", "new.csv").missing is None
    True
    """

    model: str | os.PathLike[str]
    table: str | os.PathLike[str]
    _: KW_ONLY
    id_column: str | None = None
    missing: Literal["error", "drop", "mean"] | None = None
    header: bool | None = None
    encoding: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    output: str | os.PathLike[str] | None = None
    keep_columns: bool = False

    def __post_init__(self) -> None:
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        check_options(**{name: value for name, value in given.items() if name != "missing" or value is not None})


@dataclass(frozen=True)
class PredictionResult:
    """The clusters of new rows.

    Parameters
    ----------
    model : Model
        The model.
    table : LoadedTable
        The new rows, as the model encodes them.
    labels : ndarray of int, shape (n_rows,)
        The cluster of each row of the table; -1 for none.
    notices : tuple of str
        What a person should know, as sentences.

    Examples
    --------
    See :func:`run_prediction`.
    """

    model: Model
    table: LoadedTable
    labels: Ints
    notices: tuple[str, ...]

    @property
    def sizes(self) -> dict[int, int]:
        """The number of new rows in each cluster that has some; -1 is no cluster."""
        numbers, counts = np.unique(self.labels, return_counts=True)
        return dict(zip(numbers.tolist(), counts.tolist(), strict=True))


@job_remedies()
def run_prediction(job: PredictionJob) -> PredictionResult | TextPredictionResult:
    """Put the rows of a table into the clusters of a saved model, and write the result.

    Parameters
    ----------
    job : PredictionJob
        What to do.

    Returns
    -------
    PredictionResult or TextPredictionResult
        The clusters; the latter if the model is of texts.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mustlink.datasets import sample_paths
    >>> from mustlink.workflow import Job, PredictionJob, run_job, run_prediction
    >>> table, links = sample_paths()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model = pathlib.Path(folder, "customers.model")
    ...     result = run_job(
    ...         Job(table, links, n_clusters=3, id_column="customer", method="mpck", save_model=model)
    ...     )
    ...     again = run_prediction(PredictionJob(model, table))
    >>> float((again.labels == result.labels).mean()) > 0.9
    True
    """
    check_outputs([job.model, job.table], {"clusters": job.output}, keep_columns=job.keep_columns)
    model = load_model(job.model)
    if isinstance(model, TextModel):
        return predict_texts(job, model)
    table, notices = _load(job, model)
    check_output_size(job.output, table, keep_columns=job.keep_columns)
    found = model.predict_encoded(table)
    if job.output is not None:
        with StagedFiles() as files:
            stage_labels(
                files,
                job.output,
                job.table,
                table,
                found,
                id_column=(job.id_column or model.id_column) if table.ids else None,
                keep_columns=job.keep_columns,
                header=job.header,
            )
    labels = np.full(table.source.n_rows, -1)
    labels[table.rows] = found
    return PredictionResult(model, table, labels, (*model.notices, *notices, *table.notices))


def _load(job: PredictionJob, model: Model) -> tuple[LoadedTable, list[str]]:
    """Read and encode the table; also return notes about its columns."""
    id_column = job.id_column or model.id_column
    notices = []
    try:
        source = _read(job, model, id_column)
    except FileFormatError as error:
        # The ids of the model's own table may be left out; other columns may not.
        if job.id_column is not None or model.id_column not in error.fields.get("missing", ()):
            raise
        notices.append(f"The table has no id column {id_column!r}; its rows are numbered from 0.")
        id_column = None
        source = _read(job, model, None)
    known = {*model.other_columns, model.id_column, model.label_column}
    extra = [name for name in source.left_out if name not in known]
    if extra:
        more = f" and {len(extra) - MAX_SHOWN_COLUMNS} more" if len(extra) > MAX_SHOWN_COLUMNS else ""
        shown = ", ".join(map(repr, extra[:MAX_SHOWN_COLUMNS])) + more
        one = len(extra) == 1
        notices.append(
            f"{'Column' if one else 'Columns'} {shown} {'is' if one else 'are'} not in the model and "
            f"{'was' if one else 'were'} not used."
        )
    ids = None if id_column is None else source.row_ids(id_column)
    encoder = model.encoder if job.missing is None else replace(model.encoder, missing=job.missing)
    encoded = encoder.apply(source)
    every = (*source.notices, *encoded.notices)
    return LoadedTable(encoded.X, encoded.rows, encoded.features, every, source, ids, None), notices


def _read(job: PredictionJob, model: Model, id_column: str | None) -> Table:
    """Read the columns that the model needs, and the ids."""
    ids = [] if id_column is None else [id_column]
    options = {name: getattr(job, name) for name in READING_OPTIONS}
    return model.read(job.table, more=ids, **options)
