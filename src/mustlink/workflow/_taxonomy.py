"""New categories of texts from given ones: files in, files out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from mustlink._atomic import StagedFiles
from mustlink._spelling import count
from mustlink._types import FilePath, Ints
from mustlink._warnings import warning_topic
from mustlink.errors import OptionError, add_remedies
from mustlink.report import DocumentRanks, TaxonomySummary, rank_documents, render_taxonomy, summarize_taxonomy
from mustlink.tables import UnknownIds, check_options, check_sheet_size, stage_frame
from mustlink.text import TaxonomyClusterer
from mustlink.workflow._categories import load_categorized
from mustlink.workflow._category_frame import frame_categories
from mustlink.workflow._label_file import show_ids
from mustlink.workflow._loading import REMEDIES, job_remedies
from mustlink.workflow._model import current_versions, stage_model
from mustlink.workflow._outputs import check_outputs
from mustlink.workflow._text_model import TextModel
from mustlink.workflow._texts import LoadedTexts, TextOptions
from mustlink.workflow._wording import reword_warnings

__all__ = ["TaxonomyJob", "TaxonomyResult", "run_taxonomy"]

DEFAULTS = TaxonomyClusterer()
# The parameters of the clusterer that are fields of a job, and what they are called in errors.
NUMBERS = {
    "words_init": "number of words of a category after the first pass",
    "words_final": "number of words of a category",
    "theta": "factor of the number of words",
    "merge_threshold": "similarity from which categories are merged",
    "min_cluster_size": "minimum size of a category",
    "outlier_threshold": "similarity below which a text is in no category",
    "gini_drop": "share of words that are dropped",
    "n_candidates": "number of categories that are compared",
    "domination_threshold": "difference of similarities below which categories are compared",
}
N_COLUMNS = 8
# Of the warnings that are noted after the fit instead: categories that were removed indeed, and the number of words.
NOTED_TOPICS = ("small categories", "few terms")


@dataclass(frozen=True)
class TaxonomyJob(TextOptions):
    """Texts, the categories of some of them, and where the new categories go.

    Takes the parameters of :class:`TextOptions` and those below; `texts` and `categories` may be given by position.

    Parameters
    ----------
    categories : str, path-like or None, default=None
        The file with the given categories, in a format that :func:`mustlink.tables.read_table` reads: one row for each
        text, in their order, or some rows with ids, numbers of rows or names of files. None if they are a column of the
        table of the texts.
    category_column : str or None, default=None
        The column of the categories; empty cells and -1 are none. None takes the column "category" of the file or one
        of a similar name, or its only one that the table does not have.
    single : {"error", "drop"}, default="error"
        What to do with given categories of one text: refuse them, or take their texts as not categorized.
    unknown_ids : {"raise", "skip"}, default="raise"
        What to do with ids in the file of the categories that no text has: refuse them, or skip them.
    gini_drop : float, default=0.11
        The share of the words that are left out as they occur in all given categories alike.
    words_init, words_final, theta, merge_threshold, min_cluster_size, outlier_threshold : float
        As for :class:`mustlink.TaxonomyClusterer`.
    n_candidates, domination_threshold : float
        As for :class:`mustlink.TaxonomyClusterer`; they decide the runner-up of a text.
    output : str, path-like or None, default=None
        Where the category of each text is written, with the runner-up; None writes none.
    report : str, path-like or None, default=None
        Where the HTML report is written; None writes none.
    save_model : str, path-like or None, default=None
        Where a :class:`TextModel` is written, which puts new texts into the same categories; None writes none.

    See Also
    --------
    run_taxonomy : Run it.

    Examples
    --------
    >>> from mustlink.workflow import TaxonomyJob
    >>> TaxonomyJob("news.csv", "labels.csv").theta
    0.7
    """

    categories: FilePath | None = None
    _: KW_ONLY
    category_column: str | None = None
    single: Literal["error", "drop"] = "error"
    unknown_ids: UnknownIds = "raise"
    gini_drop: float = DEFAULTS.gini_drop
    words_init: int = DEFAULTS.words_init
    words_final: int = DEFAULTS.words_final
    theta: float = DEFAULTS.theta
    merge_threshold: float = DEFAULTS.merge_threshold
    min_cluster_size: int = DEFAULTS.min_cluster_size
    outlier_threshold: float = DEFAULTS.outlier_threshold
    n_candidates: int = DEFAULTS.n_candidates
    domination_threshold: float = DEFAULTS.domination_threshold
    output: FilePath | None = None
    report: FilePath | None = None
    save_model: FilePath | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_options(unknown_ids=self.unknown_ids, output=self.output, report=self.report, save_model=self.save_model)
        if self.single not in ("error", "drop"):
            raise OptionError(f"Single is {self.single!r}; it must be error or drop.")
        for name, words in NUMBERS.items():
            value = getattr(self, name)
            # Of gini_drop, which may also be a number of words, that of the share.
            interval = TaxonomyClusterer._parameter_constraints[name][-1]
            if value not in interval:
                bounds = f"{'at least' if interval.closed == 'left' else 'more than'} {interval.left:g}"
                bounds += "" if interval.right is None else f" and less than {interval.right:g}"
                raise OptionError(
                    f"The {words} is {value:g}, and must be {bounds}", remedy="change_option", option=name
                )
        if self.words_init < self.words_final:
            raise OptionError(
                f"Categories start with {self.words_init:,} words and end with {self.words_final:,}, and they cannot "
                "gain words",
                remedy="change_option",
                option="words_init" if self.words_init != type(self).words_init else "words_final",
            )

    @property
    def clusterer(self) -> TaxonomyClusterer:
        """The clusterer; words that are too rare are left out before it."""
        return TaxonomyClusterer(min_df=1, **{name: getattr(self, name) for name in NUMBERS})


@dataclass(frozen=True)
class TaxonomyResult:
    """New categories of texts.

    Parameters
    ----------
    job : TaxonomyJob
        What was done.
    texts : LoadedTexts
        The texts.
    given : list of str
        The given category of every text, empty for none.
    labels : ndarray of int, shape (n_texts,)
        The number of the category of every text; -1 for none.
    estimator : TaxonomyClusterer
        The fitted clusterer, whose `categories_` are in the order of the numbers.
    ranks : DocumentRanks
        How sure the categories of the texts with words are.
    summary : TaxonomySummary
        What is shown of the categories.

    Examples
    --------
    See :func:`run_taxonomy`.
    """

    job: TaxonomyJob
    texts: LoadedTexts
    given: list[str]
    labels: Ints
    estimator: TaxonomyClusterer
    ranks: DocumentRanks
    summary: TaxonomySummary

    @property
    def model(self) -> TextModel:
        """What puts new texts into the same categories."""
        return TextModel(
            self.estimator._for_predicting(),
            tuple(one.name for one in self.estimator.categories_),
            tuple(map(str, self.texts.terms)),
            len(self.labels),
            self.job.text_column,
            self.job.id_column,
            current_versions(),
        )

    @property
    def frame(self) -> pd.DataFrame:
        """What is written: the category of every text, the given one, and how sure it is.

        The similarity is the cosine of the text with its category, and the margin that minus the cosine with the
        runner-up. A text is contested if the domination rule ranks the runner-up before its category. A text in no
        category has none of them.
        """
        texts, ranks, found = self.texts, self.ranks, self.estimator.labels_
        names = [one.name for one in self.estimator.categories_]
        sure = frame_categories(names, found, ranks.similarity, ranks.runner_up, ranks.margin)
        sure["contested"] = np.where(ranks.is_contested, "yes", "no")
        sure.loc[found < 0, "contested"] = None
        frame = pd.DataFrame({texts.name_title: texts.names, "given": [name or None for name in self.given]})
        return frame.join(sure.set_index(texts.rows)).assign(title=texts.titles)


@job_remedies()
def run_taxonomy(
    job: TaxonomyJob, *, command: str | None = None, remedies: Mapping[str, str] = REMEDIES
) -> TaxonomyResult:
    """Find new categories of texts around given ones, and write them and the report.

    Parameters
    ----------
    job : TaxonomyJob
        What to do.
    command : str or None, default=None
        The command that was typed, for the report.
    remedies : mapping of str to str
        What to do about warnings of the clusterer, in the words of the caller; those of a job by default.

    Returns
    -------
    TaxonomyResult
        The categories. The files are written all or none.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mustlink.workflow import TaxonomyJob, run_taxonomy
    >>> lines = ["guitar song,music", "song band,music", "goal team,sport", "team ball,sport", "song guitar band,"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "notes.csv")
    ...     _ = path.write_text("\\n".join(["text,topic", *lines]))
    ...     result = run_taxonomy(TaxonomyJob(path, category_column="topic", min_df=1, min_cluster_size=2))
    >>> print(result.summary.headline)
    5 documents in 2 categories.
    >>> result.frame["category"].tolist()
    ['music', 'music', 'sport', 'sport', 'music']
    """
    if not isinstance(job, TaxonomyJob):
        raise TypeError(f"run_taxonomy takes a TaxonomyJob, and this is a {type(job).__name__}.")
    outputs = {"categories": job.output, "report": job.report, "model": job.save_model}
    check_outputs([job.texts, job.categories], outputs, keep_columns=True)
    texts, given, notices = load_categorized(job)
    if job.output is not None:
        check_sheet_size(job.output, len(texts.texts), N_COLUMNS)
    y = np.array([given[row] or None for row in texts.rows.tolist()], dtype=object)
    estimator = job.clusterer
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(texts.counts, y)
    caught = [one for one in caught if warning_topic(one.message) not in NOTED_TOPICS]
    notices = [*texts.notices, *notices, *reword_warnings(caught, remedies), *_notes(estimator, remedies)]
    labels = np.full(len(texts.texts), -1)
    labels[texts.rows] = estimator.labels_
    rows = texts.rows.tolist()
    summary = summarize_taxonomy(
        estimator,
        texts.counts,
        y,
        terms=texts.terms,
        names=[texts.names[row] for row in rows],
        titles=[texts.titles[row] for row in rows],
        texts=[texts.texts[row] for row in rows],
        notices=notices,
    )
    ranks = rank_documents(estimator, texts.counts)
    result = TaxonomyResult(job, texts, given, labels, estimator, ranks, summary)
    _write(result, command)
    return result


def _notes(estimator: TaxonomyClusterer, remedies: Mapping[str, str]) -> list[str]:
    """Name the given categories that were removed, and say if categories keep all words."""
    notes = []
    removed = [str(one.name) for one in estimator.given_ if one.status == "killed"]
    if removed:
        were = count(len(removed), "given category was", "given categories were")
        fewer = f"fewer than {count(estimator.min_cluster_size, 'document')}"
        problem = f"{were} removed, with {fewer}: {show_ids(removed)}"
        notes.append(add_remedies(problem, "lower_min_cluster_size", {}, remedies))
    n_words = int(np.count_nonzero(estimator.feature_mask_))
    if n_words < estimator.words_final:
        used, most = count(n_words, "word is", "words are"), f"{estimator.words_final:,}"
        notes.append(f"Only {used} used, and a category may have {most}, so that none is left out of a category.")
    return notes


def _write(result: TaxonomyResult, command: str | None) -> None:
    """Write the categories and the report, all or none."""
    job = result.job
    with StagedFiles() as files:
        if job.output is not None:
            texts = result.texts
            stage_frame(files, job.output, result.frame, source=texts.source, dialect=texts.dialect)
        if job.save_model is not None:
            stage_model(files, job.save_model, result.model)
        if job.report is not None:
            run = {} if command is None else {"Command": command}
            run["Method"] = " ".join(repr(result.estimator).split())
            title = f"Categories of {Path(job.texts).resolve().name}"
            files.stage(job.report, render_taxonomy(result.summary, title=title, run=run).encode("utf-8"))
