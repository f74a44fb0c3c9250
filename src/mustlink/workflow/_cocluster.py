"""Co-clusters of a 0/1 table: groups of rows with groups of columns, from files to files."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse

from mustlink._atomic import StagedFiles
from mustlink._cells import column_names
from mustlink._spelling import count
from mustlink._types import FilePath, Indices, Ints
from mustlink.coclustering import CDKMeans
from mustlink.errors import ConstraintError, FileFormatError, InfeasibleError, OptionError
from mustlink.metrics import jump_number
from mustlink.report import CoclusterSummary, make_matrix_picture, render_coclusters, summarize_coclusters
from mustlink.tables import (
    BinaryTable,
    UnknownIds,
    check_options,
    check_sheet_size,
    read_binary,
    require,
    stage_clusters,
)
from mustlink.workflow._cocluster_links import MatrixLinks, name_elements, read_matrix_links
from mustlink.workflow._loading import (
    READING_OPTIONS,
    REMEDIES,
    Contradictions,
    check_n_clusters,
    check_seed,
    job_remedies,
)
from mustlink.workflow._outputs import check_outputs
from mustlink.workflow._wording import reword_warnings

__all__ = ["CoclusterJob", "CoclusterResult", "run_cocluster"]

Side = Literal["rows", "columns", "both"]
# What options are called in messages, and their least values.
BOUNDS = {
    "row_max_gap": ("maximum gap of rows", 0),
    "row_min_gap": ("minimum gap of rows", 1),
    "column_max_gap": ("maximum gap of columns", 0),
    "column_min_gap": ("minimum gap of columns", 1),
    "min_rows": ("minimum number of rows of a bi-set", 1),
    "min_columns": ("minimum number of columns of a bi-set", 1),
    "max_bisets": ("maximum number of bi-sets", 1),
    "n_init": ("number of starts", 1),
}
MAX_NAMED = 3
PLOT_SUFFIXES = (".png", ".svg", ".pdf")
PLOT_DPI = 150
SIDES = ("row", "column")


@dataclass(frozen=True)
class CoclusterJob:
    """A 0/1 table to co-cluster, what is known of it, and where the results go.

    Parameters
    ----------
    table : str or path-like
        The file, in a format that :func:`mustlink.tables.read_table` reads. Cells are 0 and 1, true and false, yes and
        no, or x and empty.
    n_clusters : int or None, default=None
        The number of co-clusters; it must be given.
    long : bool, default=False
        Whether the file lists the ones: a row and a column on each line, and optionally 0 or 1 in a third column.
    ones_above : float or None, default=None
        Take numbers for 1 if they are above this percentage of the largest number of their column; None expects 0 and
        1.
    missing : {"error", "zero"}, default="error"
        What to do with empty cells: refuse them, or take them for 0. In a column of x they are 0.
    drop_empty : bool, default=False
        Whether rows and columns without a 1 are left out; otherwise they are refused.
    id_column : str or None, default=None
        The column that names the rows. Links then name ids; without it, they name rows by number from 0.
    ignore : str or sequence of str, default=()
        Columns to leave out.
    row_links, column_links : str, path-like or None, default=None
        Files of links of rows, by number or id, and of columns, by name.
    links_between : str, path-like or None, default=None
        The file of links of a row, in the column a, and a column, in the column b.
    row_max_gap, column_max_gap : int or None, default=None
        How many rows (columns) that are not in a bi-set may be between two consecutive ones that are, in their order;
        None is no bound.
    row_min_gap, column_min_gap : int or None, default=None
        How many must be between; None is no bound.
    row_order : str or None, default=None
        A column of numbers, dates or times that orders the rows; None takes the order of the table.
    circular : {"rows", "columns", "both"} or None, default=None
        On which sides the last is followed by the first, such as hours of a day.
    contiguous : {"rows", "columns", "both"} or None, default=None
        On which sides every co-cluster is made one interval of the order at the end.
    relax : bool, default=False
        Whether links that cannot be kept are broken, with a note; otherwise they are refused.
    min_rows, min_columns : int, default=1
        The fewest rows and columns of a bi-set.
    max_bisets : int or None, default=None
        The most bi-sets; None is the default of :class:`mustlink.CDKMeans`.
    n_init : int or None, default=None
        The number of starts, of which the best is taken; None is 10.
    random_state : int or None, default=0
        The seed. The same seed gives the same co-clusters.
    contradictions : {"raise", "majority", "keep"}, default="raise"
        What to do with a pair linked both ways, as in :class:`Job`; "keep" is refused, as links are kept.
    unknown_ids : {"raise", "skip"}, default="raise"
        What to do with links that name ids or columns which the table does not have: refuse them, or skip them.
    header : bool or None, default=None
        Whether the first line of a text file names the columns.
    encoding, delimiter, decimal, sheet : str or None, default=None
        How the table is written, as in :func:`mustlink.tables.read_table`.
    output, column_output : str, path-like or None, default=None
        Where the co-clusters of the rows and of the columns are written; None writes none.
    plot : str, path-like or None, default=None
        Where the sorted matrix is drawn, as .png, .svg or .pdf (extra ``plot``); None draws none.
    report : str, path-like or None, default=None
        Where the HTML report is written; None writes none.

    See Also
    --------
    run_cocluster : Run it.

    Examples
    --------
    >>> from mustlink.workflow import CoclusterJob
    >>> CoclusterJob("animals.csv", n_clusters=3, id_column="animal").missing
    'error'
    """

    table: FilePath
    _: KW_ONLY
    n_clusters: int | None = None
    long: bool = False
    ones_above: float | None = None
    missing: Literal["error", "zero"] = "error"
    drop_empty: bool = False
    id_column: str | None = None
    ignore: str | Sequence[str] = ()
    row_links: FilePath | None = None
    column_links: FilePath | None = None
    links_between: FilePath | None = None
    row_max_gap: int | None = None
    column_max_gap: int | None = None
    row_min_gap: int | None = None
    column_min_gap: int | None = None
    row_order: str | None = None
    circular: Side | None = None
    contiguous: Side | None = None
    relax: bool = False
    min_rows: int = 1
    min_columns: int = 1
    max_bisets: int | None = None
    n_init: int | None = None
    random_state: int | None = 0
    contradictions: Contradictions = "raise"
    unknown_ids: UnknownIds = "raise"
    header: bool | None = None
    encoding: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    output: FilePath | None = None
    column_output: FilePath | None = None
    plot: FilePath | None = None
    report: FilePath | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "ignore", column_names(self.ignore))
        kept = ("table", "output", "report", "id_column", "ignore", "contradictions", "unknown_ids", "random_state")
        check_options(**{name: getattr(self, name) for name in (*kept, *READING_OPTIONS)})
        if self.missing not in ("error", "zero"):
            raise OptionError(f"Missing is {self.missing!r}; it must be error or zero.")
        for name, (words, least) in BOUNDS.items():
            value = getattr(self, name)
            if value is not None and value < least:
                raise OptionError(
                    f"The {words} is {value}, and must be at least {least}", remedy="change_option", option=name
                )
        for side in ("row", "column"):
            low, high = getattr(self, f"{side}_min_gap"), getattr(self, f"{side}_max_gap")
            if low is not None and high is not None and low > high:
                raise OptionError(f"The minimum gap of {side}s is {low}, and the maximum gap is {high}.")
        self._check_use()

    def _check_use(self) -> None:
        """Refuse options that do not go together."""
        if self.n_clusters is None:
            raise OptionError("The number of co-clusters is not given", remedy="give_n_clusters")
        check_n_clusters(self.n_clusters)
        check_seed(self.random_state)
        if self.contradictions == "keep":
            raise OptionError("Links are kept here, and of two contradicting links only one can be.")
        for name in ("circular", "contiguous"):
            if getattr(self, name) not in (None, "rows", "columns", "both"):
                raise OptionError(f"{name.capitalize()} is {getattr(self, name)!r}; it must be rows, columns or both.")
        self._check_order()

    def _check_order(self) -> None:
        """Refuse an order that nothing uses."""
        is_used = {side: self.uses_order(side) for side in SIDES}
        unused = {
            "row_order": self.row_order is not None and not is_used["row"],
            "circular": self.circular is not None
            and not all(is_used[side] for side in SIDES if self.circular in (f"{side}s", "both")),
        }
        for name, has_no_use in unused.items():
            if has_no_use:
                words = "An order of the rows" if name == "row_order" else f"A circular order of {self.circular}"
                side = "column" if name == "circular" and self.circular == "columns" else "row"
                raise OptionError(
                    f"{words.replace('of both', 'of both sides')} is used by gaps and intervals, and none is asked for",
                    remedy=("give_option", "drop_option"),
                    needed=f"{side}_max_gap",
                    option=name,
                )
        if self.row_order is not None and self.row_order in (self.id_column, *self.ignore):
            raise OptionError(f"The column {self.row_order!r} cannot order the rows and be used otherwise.")

    def uses_order(self, side: str) -> bool:
        """Return whether gaps or intervals of a side are asked for.

        Parameters
        ----------
        side : {"row", "column"}
            The side.

        Returns
        -------
        bool
        """
        gaps = getattr(self, f"{side}_min_gap"), getattr(self, f"{side}_max_gap")
        return gaps != (None, None) or self.contiguous in (f"{side}s", "both")

    @property
    def reading(self) -> dict[str, Any]:
        """The options of :func:`mustlink.tables.read_table` that tell how the file is written."""
        return {name: getattr(self, name) for name in READING_OPTIONS}


@dataclass(frozen=True)
class CoclusterResult:
    """Co-clusters of a 0/1 table.

    Parameters
    ----------
    job : CoclusterJob
        What was done.
    table : BinaryTable
        The table, with all its rows and columns.
    links : MatrixLinks
        The links that were used, by the numbers of the rows and columns that were kept.
    row_labels : ndarray of int, shape (n_rows,)
        The co-cluster of each row of the table; -1 is none.
    column_labels : ndarray of int, shape (n_columns,)
        The co-cluster of each column of the table; -1 is none.
    estimator : CDKMeans
        The fitted clusterer.
    summary : CoclusterSummary
        What is shown of the co-clusters.

    Examples
    --------
    See :func:`run_cocluster`.
    """

    job: CoclusterJob
    table: BinaryTable
    links: MatrixLinks
    row_labels: Ints
    column_labels: Ints
    estimator: CDKMeans
    summary: CoclusterSummary


@job_remedies()
def run_cocluster(
    job: CoclusterJob, *, command: str | None = None, remedies: Mapping[str, str] = REMEDIES
) -> CoclusterResult:
    """Co-cluster a 0/1 table, and write the co-clusters of rows and columns, a plot and a report.

    Parameters
    ----------
    job : CoclusterJob
        What to do.
    command : str or None, default=None
        The command that was typed, for the report.
    remedies : mapping of str to str, default=the words of a job
        What the notes say to do, for a user interface with its own words.

    Returns
    -------
    CoclusterResult
        The co-clusters. The files are written all or none.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mustlink.workflow import CoclusterJob, run_cocluster
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "animals.csv")
    ...     _ = path.write_text("name,hair,milk,eggs,wings\\nbear,1,1,0,0\\ncat,1,1,0,0\\nhen,0,0,1,1\\nowl,0,0,1,1\\n")
    ...     result = run_cocluster(CoclusterJob(path, n_clusters=2, id_column="name"))
    >>> print(result.summary.headline)
    4 rows and 4 columns in 2 co-clusters.
    >>> [part.density for part in result.summary.clusters]
    [1.0, 1.0]
    """
    if not isinstance(job, CoclusterJob):
        raise TypeError(f"run_cocluster takes a CoclusterJob, and this is a {type(job).__name__}.")
    _check_outputs(job)
    table = read_binary(
        job.table,
        id_column=job.id_column,
        order_column=job.row_order,
        ignore=job.ignore,
        is_long=job.long,
        missing=job.missing,
        ones_above=job.ones_above,
        **job.reading,
    )
    for path, size in ((job.output, table.X.shape[0]), (job.column_output, table.X.shape[1])):
        if path is not None:
            check_sheet_size(path, size, 2)
    rows, columns, notices = _kept(job, table)
    links, about_links = read_matrix_links(
        table,
        job.row_links,
        job.column_links,
        job.links_between,
        contradictions=job.contradictions,
        unknown_ids=job.unknown_ids,
    )
    links, lost = _keep_links(links, rows, columns, table.X.shape)
    kept = replace(
        table,
        X=sparse.csr_array(table.X[rows][:, columns]),
        ids=[str(row) for row in rows.tolist()] if table.ids is None else [table.ids[row] for row in rows.tolist()],
        columns=tuple(table.columns[place] for place in columns.tolist()),
        order=None if table.order is None else table.order[rows],
    )
    estimator, warned = _fit(job, kept, links, remedies)
    notices = [*table.notices, *about_links, *notices, *lost, *warned, *_jump_notes(job, kept, estimator)]
    summary = summarize_coclusters(
        kept.X,
        estimator.row_labels_,
        estimator.column_labels_,
        row_names=kept.ids,
        column_names=kept.columns,
        row_constraints=links.rows,
        column_constraints=links.columns,
        mixed_constraints=links.between,
        notices=notices,
    )
    labels = [np.full(size, -1) for size in table.X.shape]
    labels[0][rows], labels[1][columns] = estimator.row_labels_, estimator.column_labels_
    result = CoclusterResult(job, table, links, labels[0], labels[1], estimator, summary)
    _write(result, kept, command)
    return result


def _check_outputs(job: CoclusterJob) -> None:
    """Refuse outputs that cannot be written, before anything is read."""
    outputs = {
        "clusters": job.output,
        "clusters of the columns": job.column_output,
        "plot": job.plot,
        "report": job.report,
    }
    check_outputs([job.table, job.row_links, job.column_links, job.links_between], outputs)
    if job.plot is not None:
        suffix = Path(job.plot).suffix.lower()
        if suffix not in PLOT_SUFFIXES:
            raise OptionError(f"{job.plot}: a plot is drawn as {', '.join(PLOT_SUFFIXES[:-1])} or {PLOT_SUFFIXES[-1]}.")
        require("matplotlib", job.plot, "drawing plots", "plot")


def _kept(job: CoclusterJob, table: BinaryTable) -> tuple[Indices, Indices, list[str]]:
    """Return the rows and columns with a 1, and a note on the others, or refuse those."""
    places = [np.flatnonzero(np.asarray(table.X.sum(axis=axis)).ravel()) for axis in (1, 0)]
    notices = []
    for side, kept, size in zip(SIDES, places, table.X.shape, strict=True):
        empty = np.setdiff1d(np.arange(size), kept)
        if not len(empty):
            continue
        names = [_spell(table, side, place) for place in empty[:MAX_NAMED].tolist()]
        more = f" and {len(empty) - len(names):,} more" if len(empty) > len(names) else ""
        what = f"{count(len(empty), f'{side} has', f'{side}s have')} no 1: {', '.join(names)}{more}"
        if not job.drop_empty:
            raise FileFormatError(f"{table.source}: {what}", remedy="drop_empty", side=f"{side}s")
        notices.append(f"{what}, and {'was' if len(empty) == 1 else 'were'} left out.")
    if not len(places[0]):
        raise FileFormatError(f"{table.source} has no 1.")
    return places[0], places[1], notices


def _spell(table: BinaryTable, side: str, place: int) -> str:
    """Name a row with its position in the file, or a column."""
    if side == "column":
        return repr(table.columns[place])
    return table.where(place) if table.ids is None else f"{table.ids[place]!r} ({table.where(place)})"


def _keep_links(
    links: MatrixLinks, rows: Indices, columns: Indices, shape: tuple[int, int]
) -> tuple[MatrixLinks, list[str]]:
    """Return the links of the rows and columns that were kept, renumbered, and a note on the others."""
    n_rows, n_columns = shape
    of_side = rows, columns, np.concatenate([rows, columns + n_rows])
    sizes = n_rows, n_columns, n_rows + n_columns
    kept = [given.on(size)[elements].constraints for given, elements, size in zip(links, of_side, sizes, strict=True)]
    n_lost = sum(map(len, links)) - sum(map(len, kept))
    names, is_not = (
        ("link names a row or column", "is not") if n_lost == 1 else ("links name rows or columns", "are not")
    )
    notes = [f"{n_lost:,} {names} left out, and {is_not} used."] if n_lost else []
    return MatrixLinks(*kept), notes


def _fit(
    job: CoclusterJob, table: BinaryTable, links: MatrixLinks, remedies: Mapping[str, str]
) -> tuple[CDKMeans, list[str]]:
    """Fit the clusterer, with names in its messages; also return its warnings as sentences."""
    estimator = _build(job, table)
    given = [None if constraints.is_empty else constraints for constraints in links]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            estimator.fit(
                table.X,
                row_constraints=given[0],
                column_constraints=given[1],
                mixed_constraints=given[2],
                row_order=table.order,
            )
        except (ConstraintError, InfeasibleError) as error:
            raise error.with_problem(name_elements(error.problem, table.ids, table.columns)) from None
    return estimator, [name_elements(text, table.ids, table.columns) for text in reword_warnings(caught, remedies)]


def _build(job: CoclusterJob, table: BinaryTable) -> CDKMeans:
    """Make the clusterer with the options of the job."""
    assert job.n_clusters is not None
    asked: dict[str, Any] = {"n_init": 10 if job.n_init is None else job.n_init}
    if job.max_bisets is not None:
        asked["max_bisets"] = job.max_bisets
    return CDKMeans(
        job.n_clusters,
        min_rows=job.min_rows,
        min_columns=job.min_columns,
        row_max_gap=job.row_max_gap,
        row_min_gap=job.row_min_gap,
        column_max_gap=job.column_max_gap,
        column_min_gap=job.column_min_gap,
        circular_rows=job.circular in ("rows", "both"),
        circular_columns=job.circular in ("columns", "both"),
        contiguous=job.contiguous,
        on_infeasible="relax" if job.relax else "raise",
        random_state=job.random_state,
        **asked,
    )


def _jump_notes(job: CoclusterJob, table: BinaryTable, estimator: CDKMeans) -> list[str]:
    """Say how far from intervals the groups of an ordered side are."""
    notes = []
    for side, labels, order in (
        ("row", estimator.row_labels_, table.order),
        ("column", estimator.column_labels_, None),
    ):
        if not job.uses_order(side):
            continue
        n_jumps = jump_number(labels, order=order, circular=job.circular in (f"{side}s", "both"))
        found = "each is one interval" if n_jumps == 0 else f"they have {count(n_jumps, 'jump')}"
        notes.append(f"The groups of {side}s in their order: {found}.")
    return notes


def _write(result: CoclusterResult, kept: BinaryTable, command: str | None) -> None:
    """Write the co-clusters, the plot and the report, all or none."""
    job, table, estimator = result.job, result.table, result.estimator
    with StagedFiles() as files:
        if job.output is not None:
            options: dict[str, Any] = {"ids": table.ids, "id_name": table.id_name, "dialect": table.dialect}
            stage_clusters(files, job.output, result.row_labels, **options)
        if job.column_output is not None:
            options = {"ids": table.columns, "id_name": "column", "dialect": table.dialect}
            stage_clusters(files, job.column_output, result.column_labels, **options)
        if job.plot is not None:
            files.stage(job.plot, _draw(job.plot, kept, estimator))
        if job.report is not None:
            picture = make_matrix_picture(kept.X, estimator.row_labels_, estimator.column_labels_)
            page = render_coclusters(
                result.summary,
                picture,
                title=f"Co-clusters of {Path(job.table).name}",
                run={
                    **({} if command is None else {"Command": command}),
                    "Bi-sets": f"{estimator.bisets_.n_bisets:,}",
                    "Method": " ".join(repr(estimator).split()),
                },
            )
            files.stage(job.report, page.encode("utf-8"))


def _draw(path: FilePath, table: BinaryTable, estimator: CDKMeans) -> bytes:
    """Draw the sorted matrix as the content of a file."""
    from mustlink import plot
    from mustlink._plot_style import pyplot

    ax = plot.sorted_matrix(table.X, estimator.row_labels_, estimator.column_labels_)
    content = io.BytesIO()
    ax.figure.savefig(content, format=Path(path).suffix.lower().lstrip("."), dpi=PLOT_DPI)
    pyplot().close(ax.figure)
    return content.getvalue()
