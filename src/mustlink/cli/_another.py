"""``mustlink another``: the split of a table that is not known yet."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mustlink.cli import _options as opt
from mustlink.cli._errors import REMEDIES, report_errors

if TYPE_CHECKING:
    from mustlink.report import AlternativeSummary, CrossTable

__all__ = ["another"]


@report_errors
def another(
    context: typer.Context,
    table: opt.TableFile,
    known: Annotated[
        list[str],
        typer.Option(
            "--known",
            metavar="SPLIT",
            help="A split that is known: a file with the class of each row, as mustlink cluster writes it, or a column "
            "of TABLE, which is then no feature. May be repeated.",
        ),
    ],
    n_clusters: opt.Clusters,
    method: Annotated[
        Literal["residual", "condens", "ccib"],
        typer.Option(
            "--method",
            metavar="NAME",
            help="residual clusters what is left when the means of the known classes are subtracted; condens clusters "
            "within the known classes and combines what it finds; ccib maximizes what the clusters tell beyond the "
            "known split, and is slower.",
        ),
    ] = "residual",
    n_next: Annotated[
        int,
        typer.Option(
            "--next",
            metavar="N",
            help="Make up to N new splits, one after another: each differs from those before it, too. The search ends "
            "when the next one tells no more than that of a random table.",
        ),
    ] = 1,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="The column that names the rows, in TABLE and in the files of --known.",
            rich_help_panel="Columns",
            show_default="the first column of the known split that TABLE has too; otherwise rows are matched in order",
        ),
    ] = None,
    ignore: opt.Ignore = None,
    categorical: opt.Categorical = None,
    scale: opt.Scale = True,
    one_hot: opt.OneHot = True,
    missing: opt.Missing = "error",
    header: opt.Header = None,
    encoding: opt.Encoding = None,
    delimiter: opt.Delimiter = None,
    decimal: opt.Decimal = None,
    sheet: opt.Sheet = None,
    output: opt.AnotherOutput = None,
    keep_columns: opt.KeepColumns = False,
    report: opt.Report = None,
    save_model: opt.SaveModel = None,
    random_state: opt.Seed = 0,
    n_init: Annotated[
        int | None,
        typer.Option(
            "--starts",
            metavar="N",
            help="The number of runs from different starts, of which the best is taken.",
            show_default="5",
        ),
    ] = None,
    debug: opt.Debug = False,
) -> None:
    """Find the split of a table that you do not have yet.

    Clusters the rows in a way that says as little as possible of the splits you know (--known), such as the regions or
    the segments of your customers. Prints the new clusters and what sets them apart, how much they tell of each known
    split beside plain k-means, and the known classes in the new clusters. Exit code 0, or 2 when something in the input
    is wrong.
    """
    from mustlink.cli._interrupt import run_interruptibly
    from mustlink.cli._show import print_line, print_written, show_status
    from mustlink.workflow import AnotherJob, run_another

    output = output or opt.output_name(table, keep_columns, "another")
    job = opt.fill(AnotherJob, locals())
    command = shlex.join(["mustlink", *context.meta[opt.TYPED]])
    with show_status(f"Clustering {table.name}"):
        result = run_interruptibly(lambda: run_another(job, command=command, remedies=REMEDIES))
    for number, summary in enumerate(result.summaries, start=1):
        if len(result.summaries) > 1:
            print_line(f"Alternative {number} (column cluster_{number})", "bold")
        show_alternative(summary)
    print_written({"Clusters": output, "Report": report, "Model": save_model})


def show_alternative(found: AlternativeSummary) -> None:
    """Print a new split: its clusters, how much it tells of the known ones, and their classes in its clusters."""
    from mustlink.cli._show import cluster_table, console, make_table, print_line, show_list

    print_line(found.headline, "bold")
    print_line()
    console().print(cluster_table(found.clusters))
    print_line()
    shown = make_table()
    shown.add_column("known split", overflow="fold")
    for name in ("told by the new split", "by k-means", "VI", "VI of k-means"):
        shown.add_column(name, justify="right")
    for one in found.known:
        shown.add_row(one.name, f"{one.nmi:.1%}", f"{one.kmeans_nmi:.1%}", f"{one.vi:.2f}", f"{one.kmeans_vi:.2f}")
    console().print(shown)
    print_line()
    for table in found.tables:
        _show_cross(table)
    print_line(found.fit)
    if found.clusters.notices:
        show_list("Notes", found.clusters.notices, len(found.clusters.notices))
    print_line()


def _show_cross(table: CrossTable) -> None:
    """Print the classes of a known split in the new clusters."""
    from rich.text import Text

    from mustlink.cli._show import console, make_table, print_line

    shown = make_table()
    shown.add_column(Text(f"{table.name} / new cluster"), overflow="fold")
    for name in table.clusters:
        shown.add_column(name, justify="right")
    for name, counts, shares in zip(table.classes, table.counts, table.shares, strict=True):
        cells = [f"{rows:,} ({share:.0%})" for rows, share in zip(counts, shares, strict=True)]
        shown.add_row(Text(name), *cells)
    console().print(shown)
    print_line()
