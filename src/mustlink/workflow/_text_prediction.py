"""New texts into the categories of a saved model, from files to a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from mustlink._atomic import StagedFiles
from mustlink._spelling import count
from mustlink._types import Ints
from mustlink.errors import OptionError
from mustlink.tables import check_output_suffix, check_sheet_size, stage_frame
from mustlink.text import Ranking
from mustlink.workflow._category_frame import frame_categories
from mustlink.workflow._text_model import TextModel
from mustlink.workflow._texts import TextOptions, read_texts, text_columns

if TYPE_CHECKING:
    from mustlink.workflow._prediction import PredictionJob

__all__ = ["TextPredictionResult", "predict_texts"]

N_COLUMNS = 6


@dataclass(frozen=True)
class TextPredictionResult:
    """The categories of new texts.

    Parameters
    ----------
    model : TextModel
        The model.
    labels : ndarray of int, shape (n_texts,)
        The number of the category of each text; -1 for none.
    frame : pandas.DataFrame
        What is written: the category of every text, its cosine, the runner-up and by how much that is less similar;
        all are empty for a text in no category.
    notices : tuple of str
        What a person should know, as sentences.

    Examples
    --------
    See :class:`TextModel`.
    """

    model: TextModel
    labels: Ints
    frame: pd.DataFrame
    notices: tuple[str, ...]

    @property
    def sizes(self) -> dict[int, int]:
        """The number of new texts in each category that has some; -1 is no category."""
        numbers, counts = np.unique(self.labels, return_counts=True)
        return dict(zip(numbers.tolist(), counts.tolist(), strict=True))


def predict_texts(job: PredictionJob, model: TextModel) -> TextPredictionResult:
    """Put the texts of a file or folder into the categories of a model, and write the result."""
    for name, is_given in (("missing", job.missing), ("keep_columns", job.keep_columns), ("decimal", job.decimal)):
        if is_given:
            raise OptionError(f"{job.model} is a model of texts", remedy="drop_option", option=name)
    if job.output is not None:
        check_output_suffix(job.output, keep_columns=True, what="categories are")
    options, notices = _options(job, model)
    read = read_texts(options)
    labels, ranking = model.rank(read.texts)
    if job.output is not None:
        check_sheet_size(job.output, len(labels), N_COLUMNS)
    notices += _note_outliers(labels, ranking, model)
    runner_up, next_best = np.full(len(labels), -1), np.zeros(len(labels))
    if ranking.categories.shape[1] > 1:
        runner_up, next_best = ranking.categories[:, 1], ranking.similarity[:, 1]
    similarity = ranking.similarity[:, 0]
    frame = frame_categories(model.categories, labels, similarity, runner_up, similarity - next_best)
    frame.insert(0, read.name_title, read.names)
    frame["title"] = read.titles
    if job.output is not None:
        with StagedFiles() as files:
            stage_frame(files, job.output, frame, source=job.table, dialect=read.dialect)
    return TextPredictionResult(model, labels, frame, (*model.notices, *notices, *read.notices))


def _note_outliers(labels: Ints, ranking: Ranking, model: TextModel) -> list[str]:
    """Say how many texts are in no category, and why."""
    has_word = ranking.similarity[:, 0] > 0
    n_wordless, n_below = (int(np.count_nonzero(labels[of] < 0)) for of in (~has_word, has_word))
    notes = []
    if n_wordless:
        notes.append(f"{count(n_wordless, 'text has', 'texts have')} no word of any category, and no category.")
    if n_below:
        notes.append(
            f"{count(n_below, 'text has', 'texts have')} no category, with a cosine to each that is below the outlier "
            f"threshold of the model, {model.clusterer.outlier_threshold:g}."
        )
    return notes


def _options(job: PredictionJob, model: TextModel) -> tuple[TextOptions, list[str]]:
    """Return how the new texts are read: from the columns of the model, if their file has any."""
    reading = {name: getattr(job, name) for name in ("header", "encoding", "delimiter", "sheet")}
    options = TextOptions(job.table, id_column=job.id_column, **reading)
    columns = text_columns(options)
    if not columns:
        return options, []
    id_column = job.id_column or (model.id_column if model.id_column in columns else None)
    notices = []
    if model.id_column is not None and id_column is None:
        notices.append(f"{Path(job.table).name} has no id column {model.id_column!r}; its texts are numbered from 0.")
    return TextOptions(job.table, text_column=model.text_column, id_column=id_column, **reading), notices
