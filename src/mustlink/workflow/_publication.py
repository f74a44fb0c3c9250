"""A private table of a table, from a file to a file, and the check of a published file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import pandas as pd

from mustlink._atomic import StagedFiles
from mustlink._cells import column_names
from mustlink._spelling import count
from mustlink.errors import ColumnsError, FileFormatError, OptionError
from mustlink.report import render_publication
from mustlink.sizes import Publication, Verification, publish, verify_publication
from mustlink.tables import TIME_UNITS, Table, check_options, check_sheet_size, read_table, stage_frame
from mustlink.workflow._loading import READING_OPTIONS, check_seed, job_remedies
from mustlink.workflow._outputs import check_outputs

__all__ = ["PublicationJob", "PublicationResult", "VerificationJob", "run_publication", "run_verification"]

Path = str | os.PathLike[str]
Diversity = Literal["distinct", "entropy", "recursive"]


@dataclass(frozen=True)
class VerificationJob:
    """A published table in a file, and what each of its groups must have.

    Parameters
    ----------
    table : str or path-like
        The file, in a format that :func:`mustlink.tables.read_table` reads.
    quasi_identifiers : str or sequence of str
        The column or columns by which a person could be found.
    sensitive : str or None, default=None
        The column that must stay private.
    k : int, default=5
        The minimum number of rows of a group.
    l : float or None, default=None
        The minimum diversity of a group; None asks for none.
    diversity : {"distinct", "entropy", "recursive"}, default="distinct"
        The form of diversity, as in :func:`mustlink.publish`.
    m : float, default=1.0
        The factor of the recursive form.
    header : bool or None, default=None
        Whether the first line of a text file names the columns.
    encoding, delimiter, decimal, sheet : str or None, default=None
        How a text file is written, and which sheet of an Excel file is read, as in :func:`mustlink.tables.read_table`.

    See Also
    --------
    run_verification : Run it.

    Examples
    --------
    >>> from mustlink.workflow import VerificationJob
    >>> VerificationJob("people.published.csv", quasi_identifiers=["age", "zip"]).k
    5
    """

    table: Path
    _: KW_ONLY
    quasi_identifiers: str | Sequence[str]
    sensitive: str | None = None
    k: int = 5
    l: float | None = None  # noqa: E741
    diversity: Diversity = "distinct"
    m: float = 1.0
    header: bool | None = None
    encoding: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        check_options(table=self.table, **self.reading)
        self._set_names("quasi_identifiers")
        if not self.quasi_identifiers:
            raise OptionError("No quasi-identifier is named; name the columns by which a person could be found.")

    def _set_names(self, *options: str) -> None:
        """Turn options that name columns, or only one, into lists of names."""
        for option in options:
            object.__setattr__(self, option, column_names(getattr(self, option)))

    @property
    def reading(self) -> dict[str, Any]:
        """The options of :func:`mustlink.tables.read_table` that tell how the file is written."""
        return {name: getattr(self, name) for name in READING_OPTIONS}

    @property
    def asked(self) -> dict[str, Any]:
        """What is asked of every group, for :func:`mustlink.publish` and the checker."""
        names = ("quasi_identifiers", "sensitive", "k", "l", "diversity", "m")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class PublicationJob(VerificationJob):
    """A table to publish, what each of its groups must have, and where the published table goes.

    Takes the parameters of :class:`VerificationJob`, where `table` is the file of the original table, and those below.

    Parameters
    ----------
    values : {"ranges", "centers", "modes"}, default="ranges"
        What is published of a group.
    n_groups : int or None, default=None
        The number of groups; None makes as many as lose the least information.
    keep : str or sequence of str, default=()
        Further columns that are published as they are; all others are dropped.
    ordered : str or sequence of str, default=()
        Quasi-identifiers whose categories are taken in their sorted order.
    categorical : str or sequence of str, default=()
        Quasi-identifiers of numbers that are categories.
    missing : {"error", "drop"}, default="error"
        What to do with rows that have missing cells: refuse them, or leave them out.
    random_state : int, default=0
        The seed.
    output : str, path-like or None, default=None
        Where the published table is written; None writes none.
    report : str, path-like or None, default=None
        Where the HTML report is written; None writes none.

    See Also
    --------
    run_publication : Run it.
    mustlink.publish : The same on a data frame.

    Examples
    --------
    >>> from mustlink.workflow import PublicationJob
    >>> PublicationJob("people.csv", quasi_identifiers=["age", "zip"], sensitive="illness", l=3).values
    'ranges'
    """

    values: Literal["ranges", "centers", "modes"] = "ranges"
    n_groups: int | None = None
    keep: str | Sequence[str] = ()
    ordered: str | Sequence[str] = ()
    categorical: str | Sequence[str] = ()
    missing: Literal["error", "drop"] = "error"
    random_state: int = 0
    output: Path | None = None
    report: Path | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set_names("keep", "ordered", "categorical")
        check_options(output=self.output, report=self.report)
        check_seed(self.random_state)


@dataclass(frozen=True)
class PublicationResult:
    """A published table, and what the reader of its file noted.

    Parameters
    ----------
    publication : Publication
        The published table, the groups and the losses.
    notices : tuple of str
        What a person should know, as sentences.

    Examples
    --------
    See :func:`run_publication`.
    """

    publication: Publication
    notices: tuple[str, ...]


@job_remedies()
def run_publication(job: PublicationJob, *, command: str | None = None) -> PublicationResult:
    """Publish a table, and write it and the report.

    Parameters
    ----------
    job : PublicationJob
        What to do.
    command : str or None, default=None
        The command that was typed, for the report.

    Returns
    -------
    PublicationResult
        The published table. The files are written both or not at all.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mustlink.datasets import sample_paths
    >>> from mustlink.workflow import PublicationJob, VerificationJob, run_publication, run_verification
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "published.csv")
    ...     asked = {"quasi_identifiers": ["basket_eur", "years_customer"], "k": 6}
    ...     result = run_publication(PublicationJob(sample_paths()[0], output=path, **asked))
    ...     run_verification(VerificationJob(path, **asked)).passed
    True
    """
    check_outputs([job.table], {"published table": job.output, "report": job.report})
    table, codes = _read(job)
    try:
        publication = publish(
            _with_dates(table, job.quasi_identifiers),
            **job.asked,
            values=job.values,
            n_groups=job.n_groups,
            keep=job.keep,
            ordered=[*job.ordered, *codes],
            missing=job.missing,
            decimal="," if table.dialect is not None and table.dialect.decimal == "," else ".",
            random_state=job.random_state,
        )
    except OptionError as error:
        raise _located(error, table) from None
    others = table.left_out
    dropped = (
        [f"Not published: the {'column' if len(others) == 1 else 'columns'} {', '.join(others)}."] if others else []
    )
    sorted_codes = [
        f"The column {name} has leading zeros and was taken as codes in their sorted order." for name in codes
    ]
    notices = (*table.notices, *sorted_codes, *dropped, *publication.notices)
    with StagedFiles() as files:
        if job.output is not None:
            check_sheet_size(job.output, len(publication.frame), publication.frame.shape[1])
            stage_frame(files, job.output, publication.frame, source=job.table, dialect=table.dialect)
        if job.report is not None:
            run = {"Table": os.fspath(job.table), **({} if command is None else {"Command": command})}
            page = render_publication(publication, title="Published table", notices=notices, run=run)
            files.stage(job.report, page.encode("utf-8"))
    return PublicationResult(publication, notices)


def _read(job: PublicationJob) -> tuple[Table, list[str]]:
    """Read the columns that are published; also return those that are codes with leading zeros, which stay text."""
    sensitive = [] if job.sensitive is None else [job.sensitive]
    as_text = [*job.categorical, *job.ordered, *sensitive, *job.keep]
    strange = [name for name in job.categorical if name not in job.quasi_identifiers]
    if strange:
        raise OptionError(f"The column {strange[0]!r} is to be categories, but it is not a quasi-identifier.")
    columns = list(dict.fromkeys([*job.quasi_identifiers, *as_text]))
    try:
        written = read_table(job.table, text=columns, columns=columns, **job.reading)
        codes = [name for name in columns if name not in as_text and written.holds_codes(name)]
        table = read_table(job.table, text=list(dict.fromkeys([*as_text, *codes])), columns=columns, **job.reading)
    except FileFormatError as error:
        raise _usable(error) from None
    return table, codes


def _located(error: OptionError, table: Table) -> OptionError:
    """Name the file and the line of the row that an error is about, if it is about one."""
    row = error.fields.get("row")
    if row is None:
        return error
    return error.with_problem(f"{table.source}: {error.problem.removesuffix(f'row {row}')}{table.where(row)}")


def _usable(error: FileFormatError) -> FileFormatError:
    """Leave out the remedy of a column that is ignored: a quasi-identifier is needed."""
    if isinstance(error, ColumnsError):
        return error.with_problems([_usable(problem) for problem in error.problems])
    return error.without_remedies("ignore_column") if error.remedy else error


def _with_dates(table: Table, names: Sequence[str]) -> pd.DataFrame:
    """Return the columns of a table, with dates as dates."""
    dates = {
        name: pd.to_datetime(table.frame[name], unit="D").dt.round("ms")
        for name in names
        if table.units.get(name) in TIME_UNITS and table.units[name] != "hours"
    }
    return table.frame.assign(**dates)


@job_remedies()
def run_verification(job: VerificationJob) -> Verification:
    """Check a published file: its groups are counted on the cells as they are written.

    Parameters
    ----------
    job : VerificationJob
        The file, and what each of its groups must have.

    Returns
    -------
    Verification
        The smallest group, the least diversity, and every group that fails.

    Examples
    --------
    See :func:`run_publication`.
    """
    sensitive = [] if job.sensitive is None else [job.sensitive]
    names = list(dict.fromkeys([*job.quasi_identifiers, *sensitive]))
    table = read_table(job.table, text=names, columns=names, **job.reading)
    cells: Mapping[str, list[str]] = {name: table.strings(name) for name in names}
    if not table.n_rows:
        raise FileFormatError(f"{job.table} has {count(0, 'row')}, so that there is nothing to check.")
    return verify_publication(pd.DataFrame(cells), **job.asked)
