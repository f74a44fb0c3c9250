"""Another split of a table than the known ones: files in, files out."""

from __future__ import annotations

import itertools
import os
import warnings
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from sklearn.base import clone

from mustlink._atomic import StagedFiles
from mustlink._spelling import count
from mustlink._types import Ints
from mustlink.alternative import alternatives
from mustlink.catalogue import find_clusterer
from mustlink.constraints import Constraints
from mustlink.errors import FileFormatError, OptionError
from mustlink.report import AlternativeSummary, make_picture, render_alternatives, summarize_alternative
from mustlink.tables import read_table, require, stage_frame
from mustlink.workflow._given_clusters import (
    KNOWN_CLASSES,
    cells_of_rows,
    find_id_column,
    load_beside_clusters,
    read_clusters,
)
from mustlink.workflow._label_file import LabelFile
from mustlink.workflow._loading import (
    REMEDIES,
    LoadedTable,
    TableOptions,
    check_n_clusters,
    check_seed,
    job_remedies,
    known_labels,
)
from mustlink.workflow._model import Model, stage_model
from mustlink.workflow._outputs import check_output_size, check_outputs, number_without_gaps, stage_labels
from mustlink.workflow._wording import reword_warnings

__all__ = ["AnotherJob", "AnotherResult", "run_another"]

METHODS = ("residual", "condens", "ccib")
# What the classes of a known split are called that its file gives no name.
NO_CLASS = "none"
# From here on, a new split is noted to tell much of a known one.
MUCH_TOLD = 0.2
# Options of a table that clusterers of known splits take no part in.
NOT_USED = ("label_column", "never_together", "always_together")


@dataclass(frozen=True)
class AnotherJob(TableOptions):
    """A table, the splits of its rows that are known, and where the new one goes.

    Takes the parameters of :class:`TableOptions` but for `label_column`, `never_together` and `always_together`, and
    those below.

    Parameters
    ----------
    known : str, path-like or sequence of these, default=()
        The known splits: files with the class of each row, as for :class:`ExplanationJob`, or columns of the table.
        Columns are not used as features.
    n_clusters : int or None, default=None
        The number of clusters of the new split; it must be given.
    method : {"residual", "condens", "ccib"}, default="residual"
        :class:`mustlink.ResidualClustering`, :class:`mustlink.CondEns` or :class:`mustlink.CCIB`.
    n_next : int, default=1
        How many new splits are made at most, one after another, each with those before it known as well. From the
        second on, one that tells no more than those of reference data ends the search, see
        :func:`mustlink.alternative.alternatives`.
    n_init : int or None, default=None
        The number of starts, of which the best is taken; None is the default of the method.
    random_state : int or None, default=0
        The seed. The same seed gives the same clusters.
    output : str, path-like or None, default=None
        Where the clusters are written; None writes none. Several splits are columns of one file.
    keep_columns : bool, default=False
        Whether `output` has all columns of the table, with the cluster as one more; for one new split only.
    report : str, path-like or None, default=None
        Where the HTML report is written; None writes none.
    save_model : str, path-like or None, default=None
        Where the model is written that puts new rows into the clusters of the first new split; None writes none. Needs
        the extra ``model``.

    See Also
    --------
    run_another : Run it.

    Examples
    --------
    >>> from mustlink.workflow import AnotherJob
    >>> AnotherJob("customers.csv", known="region", n_clusters=3).method
    'residual'
    """

    _: KW_ONLY
    known: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = ()
    n_clusters: int | None = None
    method: Literal["residual", "condens", "ccib"] = "residual"
    n_next: int = 1
    n_init: int | None = None
    random_state: int | None = 0
    output: str | os.PathLike[str] | None = None
    keep_columns: bool = False
    report: str | os.PathLike[str] | None = None
    save_model: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.splits:
            raise OptionError("No known split is given", remedy="give_option", needed="known")
        if self.n_clusters is None:
            raise OptionError("The number of clusters is not given", remedy="give_n_clusters")
        check_n_clusters(self.n_clusters)
        check_seed(self.random_state)
        if self.method not in METHODS:
            raise OptionError(f"The method is {self.method!r}; it must be {', '.join(METHODS[:-1])} or {METHODS[-1]}.")
        for name, words in (("n_next", "number of new splits"), ("n_init", "number of starts")):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise OptionError(
                    f"The {words} is {value}, and must be at least 1", remedy="change_option", option=name
                )
        for name in NOT_USED:
            if getattr(self, name):
                raise OptionError(
                    "A known split cannot be combined with labels or links", remedy="drop_option", option=name
                )
        if self.keep_columns and self.n_next > 1:
            raise OptionError(
                "Several new splits are columns of a file of their own, without the columns of the table",
                remedy="drop_option",
                option="keep_columns",
            )

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the files and columns of the known splits, each once."""
        given = [self.known] if isinstance(self.known, str | os.PathLike) else self.known
        return tuple(dict.fromkeys(os.fspath(name) for name in given))


@dataclass(frozen=True)
class AnotherResult:
    """New splits of a table.

    Parameters
    ----------
    job : AnotherJob
        What was done.
    table : LoadedTable
        The table.
    known : dict of str to list of str
        The class of each kept row in each known split, by the name of the split.
    labels : tuple of ndarray of int, shape (n_kept,)
        The cluster of each kept row in each new split; -1 is no cluster.
    estimators : tuple of object
        The fitted clusterers.
    summaries : tuple of AlternativeSummary
        What is shown of each new split.

    Examples
    --------
    See :func:`run_another`.
    """

    job: AnotherJob
    table: LoadedTable
    known: dict[str, list[str]]
    labels: tuple[Ints, ...]
    estimators: tuple[Any, ...]
    summaries: tuple[AlternativeSummary, ...]


@job_remedies()
def run_another(
    job: AnotherJob, *, command: str | None = None, remedies: Mapping[str, str] = REMEDIES
) -> AnotherResult:
    """Find a split of a table that says little of the known ones, and write it and a report.

    Parameters
    ----------
    job : AnotherJob
        What to do.
    command : str or None, default=None
        What the user typed, shown in the report.
    remedies : mapping of str to str, default=the words of a job
        What the notes say to do, for a user interface with its own words.

    Returns
    -------
    AnotherResult
        The new splits. The files are written all or none.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mustlink.workflow import AnotherJob, run_another
    >>> lines = [f"{x},{y},{'left' if x < 5 else 'right'}" for x in (0, 1, 9, 10) for y in (0, 1, 6, 7)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "points.csv")
    ...     _ = path.write_text("\\n".join(["x,y,side", *lines]))
    ...     result = run_another(AnotherJob(path, known="side", n_clusters=2))
    >>> print(result.summaries[0].headline)
    16 rows in 2 new clusters. The new split tells 0% of side, plain k-means 100%.
    """
    if not isinstance(job, AnotherJob):
        raise TypeError(f"run_another takes an AnotherJob, and this is a {type(job).__name__}.")
    files = [name for name in job.splits if Path(name).is_file()]
    outputs = {"clusters": job.output, "report": job.report, "model": job.save_model}
    # Several new splits are written as a table is.
    check_outputs([job.table, *files], outputs, keep_columns=job.keep_columns or job.n_next > 1)
    if job.save_model is not None:
        require("skops", job.save_model, "writing models", "model")
    given = {name: read_clusters(name, job, kind=KNOWN_CLASSES) for name in files}
    job = replace(job, id_column=find_id_column(job, list(given.values())))
    table, known, notices = _load(job, given)
    check_output_size(job.output, table, keep_columns=job.keep_columns)
    assert job.n_clusters is not None
    check_n_clusters(job.n_clusters, table)
    estimators, warned = _find(job, table, pd.DataFrame(known), remedies)
    labels = tuple(number_without_gaps(estimator.labels_) for estimator in estimators)
    notices += [*warned, *_notes_on_model(job, table, estimators)]
    summaries = _summarize(job, table, known, labels, notices)
    result = AnotherResult(job, table, known, labels, estimators, summaries)
    _write(result, command)
    return result


def _load(job: AnotherJob, given: Mapping[str, LabelFile]) -> tuple[LoadedTable, dict[str, list[str]], list[str]]:
    """Return the table, the class of each kept row in each known split, and notes."""
    columns = [name for name in job.splits if name not in given]
    names = read_table(job.table, columns=[], **job.reading).left_out
    for name in columns:
        if name not in names and Path(name).suffix:
            raise FileFormatError(
                f"There is no file {name}, and {job.table} has no column of this name, so the known split cannot be "
                "read."
            )
        if name in (job.id_column, *job.ignore):
            raise OptionError(f"The column {name!r} cannot be a known split and be used otherwise.")
    table, notices = load_beside_clusters(replace(job, ignore=[*job.ignore, *columns]), list(given.values()))
    inside = read_table(job.table, text=columns, columns=columns, **job.reading) if columns else None
    called = _short_names(job.splits, given)
    known = {}
    for name in job.splits:
        if name in given:
            cells, more = cells_of_rows(given[name], job, table, needs_all=True)
            notices += more
        else:
            assert inside is not None
            cells = inside.strings(name)
        split, more = _classes(name, cells, table)
        known[called[name]] = split
        notices += more
    return table, known, [*table.notices, *notices]


def _short_names(splits: Sequence[str], files: Collection[str]) -> dict[str, str]:
    """Return what each known split is called: a file without its folder, if no other split is called so."""
    short = {name: Path(name).name if name in files else name for name in splits}
    n_called = Counter(short.values())
    return {name: name if n_called[short[name]] > 1 else short[name] for name in splits}


def _unused_name(wanted: str, used: Collection[str]) -> str:
    """Return a name that is not in use: the wanted one, or one with a number."""
    numbered = (f"{wanted} ({number})" for number in itertools.count(2))
    return next(name for name in itertools.chain([wanted], numbered) if name not in used)


def _classes(name: str, cells: list[str], table: LoadedTable) -> tuple[list[str], list[str]]:
    """Return the class of each kept row, and a note on those without one; a split that splits nothing is refused."""
    classes = known_labels(cells)
    kept = [classes[row] for row in table.rows.tolist()]
    used = sorted(set(kept) - {""})
    if not used:
        raise FileFormatError(f"The known split {name} has no class for any row of {table.source.source}.")
    notices = []
    n_free = kept.count("")
    if n_free:
        rows = count(n_free, "row is", "rows are")
        notices.append(f"{rows} in no class of {name} (empty or -1), and taken for a class of {_own(n_free)} own.")
        free = _unused_name(NO_CLASS, used)
        kept = [each or free for each in kept]
    n_classes = len(set(kept))
    if n_classes == 1:
        raise FileFormatError(
            f"The known split {name} has one class only, {used[0]!r}, for all {count(len(kept), 'row')}; a split with "
            "two or more classes is needed to find another."
        )
    if n_classes == len(kept):
        raise FileFormatError(
            f"The known split {name} has a class of its own for each of {count(len(kept), 'row')}, so that nothing is "
            "left to split; give a column or a file with fewer classes."
        )
    return kept, notices


def _own(number: int) -> str:
    """Return the pronoun of one or several rows."""
    return "its" if number == 1 else "their"


def _find(
    job: AnotherJob, table: LoadedTable, known: pd.DataFrame, remedies: Mapping[str, str]
) -> tuple[tuple[Any, ...], list[str]]:
    """Fit the method for each new split; also return its warnings as sentences."""
    asked = {} if job.n_init is None else {"n_init": job.n_init}
    clusterer = find_clusterer(job.method).load()
    estimator = clusterer(job.n_clusters, random_state=job.random_state, **asked)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = [clone(estimator).fit(table.X, known=known)]
        is_exhausted = False
        if job.n_next > 1:
            more = alternatives(
                estimator,
                table.X,
                known=pd.concat([known, pd.Series(found[0].labels_.astype(str))], axis=1),
                max_alternatives=job.n_next - 1,
                random_state=job.random_state,
            )
            found += more.estimators
            is_exhausted = more.is_exhausted
    notices = reword_warnings(caught, remedies)
    if is_exhausted:
        notices.append(
            f"{count(len(found), 'new split was', 'new splits were')} found: the next one told no more of the columns "
            "than splits of random tables without further structure."
        )
    return tuple(found), notices


def _notes_on_model(job: AnotherJob, table: LoadedTable, estimators: Sequence[Any]) -> list[str]:
    """Note what the saved model leaves out: further splits, and the known classes of the rows it is given."""
    if job.save_model is None:
        return []
    notes = []
    if len(estimators) > 1:
        notes.append("The model is that of the first new split alone.")
    n_other = int((estimators[0].predict(table.X) != estimators[0].labels_).sum())
    if n_other:
        rows = count(n_other, "row of this table goes", "rows of this table go")
        notes.append(f"The model does not read the known classes of rows: without them, {rows} into another cluster.")
    return notes


def _summarize(
    job: AnotherJob, table: LoadedTable, known: dict[str, list[str]], labels: Sequence[Ints], notices: Sequence[str]
) -> tuple[AlternativeSummary, ...]:
    """Summarize each new split beside the known ones and the new ones before it."""
    assert job.n_clusters is not None
    plain = table.kmeans_labels(job.n_clusters, job.random_state)
    splits = dict(known)
    summaries = []
    for number, found in enumerate(labels, start=1):
        summary = summarize_alternative(
            table.X,
            found,
            list(splits.values()),
            plain,
            known_names=list(splits),
            features=table.features,
            row_names=table.row_names,
        )
        notes = [*(notices if number == 1 else []), *_notes_on_much_told(job, summary)]
        summaries.append(replace(summary, clusters=replace(summary.clusters, notices=tuple(notes))))
        splits[_unused_name(f"alternative {number}", splits)] = [str(label) for label in found.tolist()]
    return tuple(summaries)


def _notes_on_much_told(job: AnotherJob, summary: AlternativeSummary) -> list[str]:
    """Note the known splits of which the new one still tells much."""
    much = [f"{one.nmi:.0%} of {one.name}" for one in summary.known if one.nmi >= MUCH_TOLD]
    if not much:
        return []
    others = " or ".join(name for name in METHODS if name != job.method)
    return [
        f"The new split still tells {' and '.join(much)}. The method {others}, another number of clusters than "
        f"{job.n_clusters}, or fewer columns may tell less."
    ]


def _write(result: AnotherResult, command: str | None) -> None:
    """Write the clusters and the report, all or none."""
    job, table = result.job, result.table
    with StagedFiles() as files:
        if job.output is not None and job.n_next == 1:
            stage_labels(
                files,
                job.output,
                job.table,
                table,
                result.labels[0],
                id_column=job.id_column,
                keep_columns=job.keep_columns,
                header=job.header,
            )
        elif job.output is not None:
            stage_frame(files, job.output, _frame(result), source=job.table, dialect=table.source.dialect)
        if job.report is not None:
            files.stage(job.report, _page(result, command).encode("utf-8"))
        if job.save_model is not None:
            stage_model(files, job.save_model, Model.of_fit(job, table, result.estimators[0]))


def _frame(result: AnotherResult) -> pd.DataFrame:
    """Return several new splits as columns beside the ids."""
    table = result.table
    names = list(range(table.source.n_rows)) if table.ids is None else table.ids
    frame = pd.DataFrame({result.job.id_column or "row": names})
    for number, labels in enumerate(result.labels, start=1):
        every = np.full(table.source.n_rows, -1)
        every[table.rows] = labels
        frame[f"cluster_{number}"] = pd.arrays.IntegerArray(every.astype(np.int64), every < 0)
    return frame


def _page(result: AnotherResult, command: str | None) -> str:
    """Lay out the report."""
    job, table = result.job, result.table
    links, names = Constraints(), table.row_names
    pictures = [make_picture(table.X, labels, links, names) for labels in result.labels]
    before = []
    for split in result.known.values():
        used, codes = np.unique(split, return_inverse=True)
        before.append(make_picture(table.X, codes, links, names, used.tolist()))
    made = {} if command is None else {"Command": command}
    made["Method"] = " ".join(repr(result.estimators[0]).split())
    title = f"Another split of {Path(job.table).name}"
    return render_alternatives(result.summaries, pictures, before, title=title, run=made)
