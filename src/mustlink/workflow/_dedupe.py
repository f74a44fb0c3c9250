"""Entities of the records of a table, or of pairs with probabilities: files in, files out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from mustlink._atomic import StagedFiles
from mustlink._cells import column_names
from mustlink._types import FilePath, Ints
from mustlink.errors import FileFormatError, OptionError
from mustlink.metrics import pairwise_f1, pairwise_precision, pairwise_recall
from mustlink.report import EntityScores, EntitySummary, render_entities, summarize_entities
from mustlink.tables import (
    UnknownIds,
    check_options,
    check_questions_suffix,
    check_sheet_size,
    stage_clusters,
    stage_questions,
)
from mustlink.workflow._dedupe_pairs import DEFAULT_THRESHOLD, resolve_pairs
from mustlink.workflow._dedupe_records import resolve_records
from mustlink.workflow._loading import (
    READING_OPTIONS,
    Contradictions,
    LoadedTable,
    TableOptions,
    job_remedies,
)
from mustlink.workflow._outputs import check_outputs, stage_labels
from mustlink.workflow._records import load_records
from mustlink.workflow._resolution import Resolution, known_entities

__all__ = ["DedupeJob", "DedupeResult", "run_dedupe"]

# What the column of the entities is called.
ENTITY = "entity"
# What options are called in messages.
NUMBERS = {
    "threshold": "threshold",
    "alpha": "weight of the groups",
    "unlisted": "probability of pairs that are not listed",
    "at_most": "maximum number of records of a source",
    "n_unsure": "number of decisions to show",
    "max_pairs": "maximum number of pairs",
}
OPTIONS = {
    "by": "A column of texts",
    "group": "A column of groups",
    "group_separator": "A separator of groups",
    "within_groups": "A rule for the records of a group",
    "blocking": "Blocking",
    "missing": "A rule for empty texts",
    "id_column": "A column of ids",
    "truth_column": "A column of known entities",
    "keep_columns": "Keeping the columns",
    "questions": "Questions",
}
# Options that have no effect with pairs, without a table, and without groups.
NOT_OF_PAIRS = ("group", "group_separator", "within_groups", "alpha", "blocking", "max_pairs", "missing")
OF_TABLES = ("by", "id_column", "truth_column", "keep_columns", "questions")
OF_GROUPS = ("group_separator", "within_groups", "alpha")


@dataclass(frozen=True)
class DedupeJob:
    """Records to resolve to entities, what is known of them, and where the results go.

    Parameters
    ----------
    table : str, path-like or None, default=None
        The file of the records; may be left out with `pairs`.
    by : str or sequence of str, default=()
        The columns whose texts are compared, such as the name. With `pairs` they are only shown.
    group : str or sequence of str, default=()
        Columns of groups of records that occur together, such as the paper of an author: records of one group with
        unequal texts are different entities, and shared co-occurring entities count as evidence. Empty cells are no
        group.
    group_separator : str or None, default=None
        The sign between the groups in a cell that names several; None takes a cell as one group.
    within_groups : {"equal", "never", "always"}, default="equal"
        When two records of one group may be one entity: if their texts are equal, never, or always.
    pairs : str, path-like or None, default=None
        A file of pairs with the probability of a match, see :func:`mustlink.tables.read_pair_scores`, from which alone
        entities are made, by correlation clustering.
    links : str, path-like or None, default=None
        The file of links that are kept: must-links join records, cannot-links keep them apart.
    threshold : float, "links" or None, default=None
        The similarity, or with `pairs` the probability, from which records are taken for one entity. None is the
        default of :class:`mustlink.CollectiveRelationalClustering`, 0.5 with `pairs`. "links" takes the one that agrees
        best with the links, which should be of pairs of similar texts drawn at random: the answers to unsure questions
        are all about similarities near the threshold, and say little about others.
    alpha : float or None, default=None
        The weight of the relational part of the similarity, from 0 to 1; None is the default of
        :class:`mustlink.CollectiveRelationalClustering`.
    blocking : {"auto", "names", "key", "qgram", "names+qgram", "sorted", "canopy"}, default="auto"
        Which records are compared at all.
    max_pairs : int or None, default=None
        The most pairs that are compared; None is the default of the clusterer.
    never_together : str or None, default=None
        A column of sources: an entity has at most `at_most` records of one source. Empty cells are no source. With
        `pairs` and no table, the column has the suffixes _l and _r in the file of pairs.
    at_most : int, default=1
        The most records of one source in an entity.
    unlisted : float or None, default=None
        With `pairs`, the probability of a match of two records that are not listed as a pair, below the threshold; None
        takes no notice of such pairs.
    missing : {"error", "single"}, default="error"
        What to do with rows whose cells are empty in all columns of `by`: refuse them, or leave each alone.
    id_column : str or None, default=None
        The column that names the rows. Links and pairs then name ids.
    truth_column : str or None, default=None
        A column with the known entities of some or all rows, to compare with. It is not used otherwise.
    contradictions : {"raise", "majority", "keep"}, default="raise"
        What to do with a pair linked both ways, as in :class:`Job`; "keep" is refused, as links are kept.
    unknown_ids : {"raise", "skip"}, default="raise"
        What to do with links and pairs that name ids which the table does not have: refuse them, or skip them.
    header : bool or None, default=None
        Whether the first line of a text file names the columns.
    encoding, delimiter, decimal, sheet : str or None, default=None
        How the table is written, as in :func:`mustlink.tables.read_table`; without a table, how the pairs are.
    output : str, path-like or None, default=None
        Where the entities are written; None writes none.
    keep_columns : bool, default=False
        Whether `output` has all columns of the table, with the entity as one more.
    report : str, path-like or None, default=None
        Where the HTML report is written; None writes none.
    questions : str, path-like or None, default=None
        Where the decisions that were least sure are written as questions for a :class:`Sitting`; None writes none.
    n_unsure : int, default=20
        How many of these decisions are shown and written.

    See Also
    --------
    run_dedupe : Run it.

    Examples
    --------
    >>> from mustlink.workflow import DedupeJob
    >>> DedupeJob("authors.csv", by="name", group="paper").at_most
    1
    """

    table: FilePath | None = None
    _: KW_ONLY
    by: str | Sequence[str] = ()
    group: str | Sequence[str] = ()
    group_separator: str | None = None
    within_groups: Literal["equal", "never", "always"] = "equal"
    pairs: FilePath | None = None
    links: FilePath | None = None
    threshold: float | Literal["links"] | None = None
    alpha: float | None = None
    blocking: Literal["auto", "names", "key", "qgram", "names+qgram", "sorted", "canopy"] = "auto"
    max_pairs: int | None = None
    never_together: str | None = None
    at_most: int = 1
    unlisted: float | None = None
    missing: Literal["error", "single"] = "error"
    id_column: str | None = None
    truth_column: str | None = None
    contradictions: Contradictions = "raise"
    unknown_ids: UnknownIds = "raise"
    header: bool | None = None
    encoding: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    output: FilePath | None = None
    keep_columns: bool = False
    report: FilePath | None = None
    questions: FilePath | None = None
    n_unsure: int = 20

    def __post_init__(self) -> None:
        if self.table is not None:
            check_options(table=self.table)
        kept = ("links", "output", "report", "keep_columns", "id_column", "contradictions", "unknown_ids")
        check_options(**{name: getattr(self, name) for name in (*kept, *READING_OPTIONS)})
        for name in ("by", "group"):
            object.__setattr__(self, name, column_names(getattr(self, name)))
        self._check_numbers()
        self._check_use()

    def _check_numbers(self) -> None:
        """Refuse numbers out of their range."""
        if self.threshold == "links":
            if self.pairs is not None:
                raise OptionError(
                    "The threshold of pairs with probabilities must be a number, and is not chosen by links",
                    remedy="change_option",
                    option="threshold",
                )
            if self.links is None:
                raise OptionError("There are no links to choose the threshold by", remedy="give_option", needed="links")
        elif isinstance(self.threshold, str):
            raise OptionError(f'The threshold is {self.threshold!r}; it must be a number, or "links".')
        for name in ("threshold", "alpha", "unlisted"):
            value = None if isinstance(getattr(self, name), str) else getattr(self, name)
            # The odds of 0 and 1 are not finite.
            is_open = name == "unlisted" or (name == "threshold" and self.pairs is not None)
            if value is not None and not (0 < value < 1 if is_open else 0 <= value <= 1):
                bounds = "between 0 and 1" if is_open else "from 0 to 1"
                raise OptionError(
                    f"The {NUMBERS[name]} is {value:g}, and must be {bounds}", remedy="change_option", option=name
                )
        if self.alpha == 1 and self.threshold is None:
            problem = "With a weight of the groups of 1 the texts do not count, and there is no default threshold"
            raise OptionError(problem, remedy="give_option", needed="threshold")
        for name, least in (("at_most", 1), ("n_unsure", 0), ("max_pairs", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise OptionError(
                    f"The {NUMBERS[name]} is {value}, and must be at least {least}", remedy="change_option", option=name
                )

    def _check_use(self) -> None:
        """Refuse options that do not go together."""
        if self.table is None and self.pairs is None:
            raise OptionError("There is nothing to resolve: neither a table nor pairs with probabilities are given.")
        if self.pairs is None and not self.by:
            raise OptionError("It is not known by which texts records are compared", remedy="give_by")
        if self.within_groups not in ("equal", "never", "always"):
            raise OptionError(f"Within groups is {self.within_groups!r}; it must be equal, never or always.")
        self._check_needed()
        if self.unlisted is not None and self.unlisted >= float(self.threshold or DEFAULT_THRESHOLD):
            raise OptionError(
                f"The {NUMBERS['unlisted']} is {self.unlisted:g}, and must be below the threshold",
                remedy="change_option",
                option="unlisted",
            )
        if self.contradictions == "keep":
            raise OptionError("Links are kept here, and of two contradicting links only one can be.")

    def _check_needed(self) -> None:
        """Refuse options that would have no effect, as another one is missing or takes their place."""
        given = {
            "by": bool(self.by),
            "group": bool(self.group),
            "group_separator": self.group_separator is not None,
            "within_groups": self.within_groups != "equal",
            "alpha": self.alpha is not None,
            "blocking": self.blocking != "auto",
            "max_pairs": self.max_pairs is not None,
            "missing": self.missing != "error",
            "at_most": self.at_most != 1,
            "unlisted": self.unlisted is not None,
            "id_column": self.id_column is not None,
            "truth_column": self.truth_column is not None,
            "keep_columns": self.keep_columns,
            "questions": self.questions is not None,
        }
        refused: list[tuple[str, Sequence[str], str | None]] = []
        if self.pairs is not None:
            refused.append(("pairs with probabilities are clustered as they are", NOT_OF_PAIRS, None))
        if self.table is None:
            refused.append(("there is no table", OF_TABLES, "table"))
        if not self.group:
            refused.append(("there is no column of groups", OF_GROUPS, "group"))
        if self.never_together is None:
            refused.append(("there is no column of sources", ("at_most",), "never_together"))
        if self.pairs is None:
            refused.append(("there are no pairs with probabilities", ("unlisted",), "pairs"))
        for why, names, needed in refused:
            for name in names:
                if given[name]:
                    problem = f"{OPTIONS.get(name) or f'The {NUMBERS[name]}'} cannot be used, as {why}"
                    if needed is None:
                        raise OptionError(problem, remedy="drop_option", option=name)
                    raise OptionError(problem, remedy=("give_option", "drop_option"), option=name, needed=needed)

    @property
    def reading(self) -> dict[str, Any]:
        """The options of :func:`mustlink.tables.read_table` that tell how the file is written."""
        return {name: getattr(self, name) for name in READING_OPTIONS}

    @property
    def used_columns(self) -> list[str]:
        """The columns of the table that are used, beside the ids."""
        others = [name for name in (self.never_together, self.truth_column) if name is not None]
        return list(dict.fromkeys([*self.by, *self.group, *others]))

    @property
    def table_options(self) -> TableOptions:
        """The table and its ids, as a sitting with a person takes them."""
        assert self.table is not None
        return TableOptions(self.table, id_column=self.id_column, **self.reading)


@dataclass(frozen=True)
class DedupeResult:
    """Entities of records.

    Parameters
    ----------
    job : DedupeJob
        What was done.
    names : list of str
        The ids or the numbers of the records.
    labels : ndarray of int, shape (n_rows,)
        The entity of each record, numbered from 0 in the order of the rows.
    estimator : object
        The fitted clusterer.
    summary : EntitySummary
        What is shown of the entities.

    Examples
    --------
    See :func:`run_dedupe`.
    """

    job: DedupeJob
    names: list[str]
    labels: Ints
    estimator: Any
    summary: EntitySummary


@job_remedies()
def run_dedupe(job: DedupeJob, *, command: str | None = None, ask_command: str = "") -> DedupeResult:
    """Resolve records to entities, and write them, the report and the questions.

    Parameters
    ----------
    job : DedupeJob
        What to do.
    command : str or None, default=None
        The command that was typed, for the report.
    ask_command : str, default=''
        The command that asks the questions, for the report.

    Returns
    -------
    DedupeResult
        The entities. The files are written all or none.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mustlink.workflow import DedupeJob, run_dedupe
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "pairs.csv")
    ...     _ = path.write_text("id1,id2,score\\nann,anne,0.9\\nanne,bob,0.2\\n")
    ...     result = run_dedupe(DedupeJob(pairs=path))
    >>> print(result.summary.headline)
    3 rows are 2 entities: 1 of one row, 1 of several, the largest of 2 rows.
    """
    if not isinstance(job, DedupeJob):
        raise TypeError(f"run_dedupe takes a DedupeJob, and this is a {type(job).__name__}.")
    outputs = {"entities": job.output, "report": job.report, "questions": job.questions}
    check_outputs([job.table, job.pairs, job.links], outputs, keep_columns=job.keep_columns)
    if job.questions is not None:
        check_questions_suffix(job.questions)
    # All columns are shown in the report; otherwise only those are read that are used.
    table = None
    if job.table is not None:
        table = _load(job)
        if not table.source.n_rows:
            raise FileFormatError(f"{job.table} has a header and no rows; at least one row is needed.")
        if job.output is not None:
            check_sheet_size(job.output, table.source.n_rows, len(table.source.names) + len(table.source.left_out) + 1)
    if job.pairs is not None:
        found = resolve_pairs(job, table)
    else:
        assert table is not None
        found = resolve_records(job, table)
    summary = summarize_entities(
        found.labels,
        found.spellings,
        found.decisions,
        threshold=found.threshold,
        threshold_note=found.threshold_note,
        blocking_note=found.blocking_note,
        unit=found.unit,
        scores=_scores(job, found),
        notices=found.notices,
    )
    _write(job, found, summary, command, ask_command)
    return DedupeResult(job, found.names, found.labels, found.estimator, summary)


def _load(job: DedupeJob) -> LoadedTable:
    """Read the table; columns that are not there may be several, named at once."""
    try:
        table = load_records(job.table_options, None if job.report is not None else job.used_columns)
        for name in job.used_columns:
            table.source.column(name)
    except FileFormatError as error:
        for option in ("by", "group"):
            if any("," in name and name in getattr(job, option) for name in error.fields.get("missing", ())):
                raise FileFormatError(error.problem, remedy="repeat_option", option=option) from None
        raise
    return table


def _scores(job: DedupeJob, found: Resolution) -> EntityScores | None:
    """Compare the entities with known ones."""
    if job.truth_column is None or found.table is None:
        return None
    known = known_entities(job, found.table)
    is_known = np.array([label is not None for label in known])
    n_known = int(np.count_nonzero(is_known))
    has_joined = len(np.unique(found.labels[is_known])) < n_known
    has_matches = len(set(known[is_known])) < n_known
    # Of no pairs, no share is known.
    defined = {pairwise_precision: has_joined, pairwise_recall: has_matches, pairwise_f1: has_joined or has_matches}
    scores = [score(known, found.labels) if is_defined else math.nan for score, is_defined in defined.items()]
    return EntityScores(job.truth_column, n_known, *scores)


def _write(job: DedupeJob, found: Resolution, summary: EntitySummary, command: str | None, ask_command: str) -> None:
    """Write the entities, the report and the questions, all or none."""
    with StagedFiles() as files:
        if job.output is not None and found.table is not None:
            assert job.table is not None
            stage_labels(
                files,
                job.output,
                job.table,
                found.table,
                found.labels,
                id_column=job.id_column,
                keep_columns=job.keep_columns,
                header=job.header,
                name=ENTITY,
            )
        elif job.output is not None:
            stage_clusters(files, job.output, found.labels, ids=found.names, id_name=found.id_name, name=ENTITY)
        if job.questions is not None:
            stage_questions(
                files,
                job.questions,
                [(*decision.names, decision.similarity, decision.together) for decision in summary.decisions],
            )
        if job.report is not None:
            source = job.table if job.table is not None else job.pairs
            assert source is not None
            run = {**({} if command is None else {"Command": command}), **found.run}
            page = render_entities(
                summary,
                title=f"Entities of {Path(source).name}",
                run=run,
                questions=ask_command if job.questions is not None else "",
            )
            files.stage(job.report, page.encode("utf-8"))
