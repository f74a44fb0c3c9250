"""``mustlink cocluster``: groups of rows with groups of columns of a 0/1 table."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mustlink._atomic import is_stream
from mustlink.cli import _options as opt
from mustlink.cli._errors import REMEDIES, report_errors

if TYPE_CHECKING:
    from mustlink.report import CoclusterSummary

__all__ = ["cocluster"]

MAX_COLUMNS = 6
_order_option = partial(typer.Option, rich_help_panel="Order")
_bisets_option = partial(typer.Option, rich_help_panel="Bi-sets")


@report_errors
def cocluster(
    context: typer.Context,
    table: Annotated[
        Path,
        typer.Argument(
            metavar="MATRIX",
            help="A table of 0 and 1 (or true and false, yes and no, x and empty), in the formats of mustlink cluster.",
        ),
    ],
    n_clusters: Annotated[int, typer.Option("-k", "--clusters", metavar="K", help="The number of co-clusters.")],
    row_links: Annotated[
        Path | None,
        typer.Option(
            "--row-links",
            metavar="FILE",
            help="Links of rows: columns a, b, link (must or cannot). Rows are named by number from 0, or by --id.",
        ),
    ] = None,
    column_links: Annotated[
        Path | None,
        typer.Option("--column-links", metavar="FILE", help="Links of columns, by their names, as --row-links."),
    ] = None,
    links_between: Annotated[
        Path | None,
        typer.Option(
            "--links-between", metavar="FILE", help="Links of a row (in the column a) with a column (in the column b)."
        ),
    ] = None,
    contradictions: Annotated[
        Literal["raise", "majority"],
        typer.Option(
            "--contradictions",
            metavar="HOW",
            help="A pair linked both ways: refuse it (raise), or keep the heavier side (majority).",
        ),
    ] = "raise",
    unknown_ids: opt.UnknownIds = "raise",
    relax: Annotated[
        bool, typer.Option("--relax", metavar="", help="If links cannot be kept together, break some of them.")
    ] = False,
    ones_above: Annotated[
        float | None,
        typer.Option(
            "--ones-above",
            metavar="PERCENT",
            help="For a table of numbers: a cell is 1 if it is above this percentage of the largest number of its "
            "column. 0 makes every positive number a 1.",
            rich_help_panel="Columns",
            show_default="only 0 and 1 are taken",
        ),
    ] = None,
    long: Annotated[
        bool,
        typer.Option(
            "--long",
            metavar="",
            help="MATRIX lists the ones: a row and a column on each line, such as customer and product, and "
            "optionally 0 or 1 in a third column.",
            rich_help_panel="Columns",
        ),
    ] = False,
    id_column: opt.IdColumn = None,
    ignore: opt.Ignore = None,
    missing: Annotated[
        Literal["error", "zero"],
        typer.Option(
            "--missing",
            metavar="HOW",
            help="Empty cells: refuse them (error), or take them for 0 (zero). In a column of x they are 0.",
            rich_help_panel="Columns",
        ),
    ] = "error",
    drop_empty: Annotated[
        bool,
        typer.Option(
            "--drop-empty",
            metavar="",
            help="Leave out rows and columns without a 1, which are refused otherwise.",
            rich_help_panel="Columns",
        ),
    ] = False,
    row_max_gap: Annotated[
        int | None,
        _order_option(
            "--row-max-gap",
            metavar="N",
            help="For rows in an order, such as times: groups of rows that are nearly intervals. At most N other rows "
            "are between consecutive rows of a bi-set; 0 takes intervals only.",
            show_default="no bound",
        ),
    ] = None,
    row_min_gap: Annotated[
        int | None,
        _order_option(
            "--row-min-gap", metavar="N", help="The opposite: at least N other rows between.", show_default="no bound"
        ),
    ] = None,
    column_max_gap: Annotated[
        int | None,
        _order_option("--column-max-gap", metavar="N", help="As --row-max-gap.", show_default="no bound"),
    ] = None,
    column_min_gap: Annotated[
        int | None,
        _order_option("--column-min-gap", metavar="N", help="As --row-min-gap.", show_default="no bound"),
    ] = None,
    row_order: Annotated[
        str | None,
        _order_option(
            "--row-order",
            metavar="COLUMN",
            help="A column of numbers, dates or times that orders the rows. It is not part of the matrix.",
            show_default="the order of the table",
        ),
    ] = None,
    circular: Annotated[
        Literal["rows", "columns", "both"] | None,
        _order_option(
            "--circular",
            metavar="SIDE",
            help="Where the last is followed by the first, as hours of a day are: rows, columns or both.",
            show_default="nowhere",
        ),
    ] = None,
    contiguous: Annotated[
        Literal["rows", "columns", "both"] | None,
        _order_option(
            "--contiguous",
            metavar="SIDE",
            help="Make every co-cluster one interval of the rows, columns or both. Links of this side may be broken.",
            show_default="nowhere",
        ),
    ] = None,
    min_rows: Annotated[
        int, _bisets_option("--min-rows", metavar="N", help="Leave out bi-sets of fewer rows: there are fewer then.")
    ] = 1,
    min_columns: Annotated[
        int, _bisets_option("--min-columns", metavar="N", help="Leave out bi-sets of fewer columns.")
    ] = 1,
    max_bisets: Annotated[
        int | None,
        _bisets_option("--max-bisets", metavar="N", help="Refuse a table with more bi-sets.", show_default="1,000,000"),
    ] = None,
    header: opt.Header = None,
    encoding: opt.Encoding = None,
    delimiter: opt.Delimiter = None,
    decimal: opt.Decimal = None,
    sheet: opt.Sheet = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="OUT",
            help="Where the co-clusters of the rows are written: .csv, .tsv, .xlsx, .parquet or .npy.",
            show_default="the name of MATRIX with .rows.csv, in this folder",
        ),
    ] = None,
    column_output: Annotated[
        Path | None,
        typer.Option(
            "--column-output",
            metavar="OUT",
            help="Where the co-clusters of the columns are written.",
            show_default="as those of the rows, with .columns in the name",
        ),
    ] = None,
    report: opt.Report = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="PICTURE", help="Draw the matrix, sorted by co-clusters: .png, .svg or .pdf (extra plot)."
        ),
    ] = None,
    random_state: opt.Seed = 0,
    n_init: Annotated[
        int | None,
        typer.Option(
            "--starts",
            metavar="N",
            help="The number of runs from different starts, of which the best is taken.",
            show_default="10",
        ),
    ] = None,
    debug: opt.Debug = False,
) -> None:
    """Group the rows and the columns of a 0/1 table together.

    Each co-cluster is a group of rows with the group of columns that describes it, such as animals with their traits.
    It is made of bi-sets: rows that all have a 1 in the same columns. Writes the co-cluster of every row and of every
    column, and prints each with its columns, the links that hold, and what is in no co-cluster. Exit code 0, or 2 when
    something in the input is wrong.
    """
    from mustlink.cli._interrupt import run_interruptibly
    from mustlink.cli._show import print_written, show_list, show_status
    from mustlink.workflow import CoclusterJob, run_cocluster

    output = output or Path(f"{opt.stem(table)}.rows.csv")
    column_output = column_output or _beside(output, table)
    job = opt.fill(CoclusterJob, locals())
    command = shlex.join(["mustlink", *context.meta[opt.TYPED]])
    with show_status(f"Co-clustering {table.name}"):
        result = run_interruptibly(lambda: run_cocluster(job, command=command, remedies=REMEDIES))
    show_coclusters(result.summary, result.estimator.bisets_.n_bisets)
    if result.summary.notices:
        show_list("Notes", result.summary.notices, len(result.summary.notices))
    print_written({"Rows": output, "Columns": column_output, "Plot": plot, "Report": report})


def _beside(output: Path, table: Path) -> Path:
    """Return where the columns are written if no file is named."""
    if is_stream(output):
        return Path(f"{opt.stem(table)}.columns.csv")
    return output.with_name(f"{output.stem.removesuffix('.rows')}.columns{output.suffix}")


def show_coclusters(summary: CoclusterSummary, n_bisets: int) -> None:
    """Print the co-clusters with their columns, and what is in none."""
    from rich.text import Text

    from mustlink._spelling import count
    from mustlink.cli._show import console, make_table, print_line, show_list

    print_line(summary.headline, "bold")
    print_line()
    shown = make_table()
    for name in ("co-cluster", "rows", "columns", "ones"):
        shown.add_column(name, justify="right")
    shown.add_column("columns with the share of ones, and that in all rows", overflow="fold")
    for part in summary.clusters:
        listed = ", ".join(
            f"{column.name} {column.inside:.0%} ({column.overall:.0%})" for column in part.columns[:MAX_COLUMNS]
        )
        n_more = part.n_columns - min(len(part.columns), MAX_COLUMNS)
        more = f" and {n_more:,} more" if n_more else ""
        shown.add_row(
            str(part.label), f"{part.n_rows:,}", f"{part.n_columns:,}", part.density_words, Text(f"{listed}{more}")
        )
    console().print(shown)
    print_line()
    print_line(f"Made of {count(n_bisets, 'bi-set')}. {summary.fit}")
    if summary.links:
        print_line(f"Links that hold: {'; '.join(map(str, summary.links))}")
    if summary.broken:
        show_list("Links that do not hold", summary.broken, summary.n_broken)
    for note in summary.uncovered_notes:
        print_line(note)
