"""``mustlink publish``: a table whose rows cannot be told apart, and the check of such a table."""

from __future__ import annotations

import csv
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mustlink.cli import _options as opt
from mustlink.cli._errors import CONFLICT, report_errors

if TYPE_CHECKING:
    from mustlink.sizes import Publication
    from mustlink.workflow import VerificationJob

__all__ = ["publish"]


@report_errors
def publish(
    context: typer.Context,
    table: Annotated[
        Path | None,
        typer.Argument(metavar="TABLE", help="The table, a row for each person, in the formats of mustlink cluster."),
    ] = None,
    quasi: Annotated[
        list[str] | None,
        typer.Option(
            "--quasi",
            metavar="COLUMNS",
            help="The columns by which a person could be found, separated by commas. May be repeated.",
        ),
    ] = None,
    sensitive: Annotated[
        str | None,
        typer.Option("--sensitive", metavar="COLUMN", help="The column that must stay private. Published as it is."),
    ] = None,
    k: Annotated[int, typer.Option("-k", metavar="K", help="The minimum number of rows of a group.")] = 5,
    l: Annotated[  # noqa: E741
        float | None,
        typer.Option("-l", metavar="L", help="The minimum diversity of the sensitive values of a group."),
    ] = None,
    diversity: Annotated[
        Literal["distinct", "entropy", "recursive"],
        typer.Option(
            "--diversity",
            metavar="FORM",
            help="distinct: L different values; entropy: an entropy of at least log L; recursive: the most frequent "
            "value in fewer than M times as many rows as the L-th most frequent one and all after it.",
        ),
    ] = "distinct",
    m: Annotated[float, typer.Option("-m", metavar="M", help="The factor of recursive diversity.")] = 1.0,
    values: Annotated[
        Literal["ranges", "centers", "modes"],
        typer.Option(
            "--values",
            metavar="WHAT",
            help="What is published of a group: ranges; rounded means and most frequent categories (centers); or the "
            "most frequent values (modes).",
        ),
    ] = "ranges",
    n_groups: Annotated[
        int | None,
        typer.Option(
            "--groups", metavar="N", help="The number of groups.", show_default="as many as lose the least information"
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="COLUMNS",
            help="Further columns that are published as they are. All columns that are not named are dropped.",
        ),
    ] = None,
    verify: Annotated[
        Path | None,
        typer.Option("--verify", metavar="FILE", help="Check a published table instead: each group of the file alone."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="OUT",
            help="Where the published table is written: .csv, .tsv, .xlsx or .parquet. Text is written as the table "
            "is.",
            show_default="the table's name with .published.csv, in this folder",
        ),
    ] = None,
    report: opt.Report = None,
    random_state: Annotated[int, typer.Option("--seed", metavar="N", help="The same seed gives the same groups.")] = 0,
    categorical: opt.Categorical = None,
    ordered: Annotated[
        list[str] | None,
        typer.Option(
            "--ordered",
            metavar="COLUMNS",
            help="Quasi-identifiers whose categories are taken in their sorted order, such as zip codes.",
            rich_help_panel="Columns",
        ),
    ] = None,
    missing: Annotated[
        Literal["error", "drop"],
        typer.Option(
            "--missing",
            metavar="HOW",
            help="Rows with empty cells: refuse them (error), or leave them out (drop).",
            rich_help_panel="Columns",
        ),
    ] = "error",
    header: opt.Header = None,
    encoding: opt.Encoding = None,
    delimiter: opt.Delimiter = None,
    decimal: opt.Decimal = None,
    sheet: opt.Sheet = None,
    debug: opt.Debug = False,
) -> None:
    """Publish a table with k-anonymity and l-diversity, or check one.

    Puts similar rows into groups of at least K, with diverse sensitive values, and publishes one value of each
    quasi-identifier per group. Prints the information lost. k-anonymity and l-diversity are not differential privacy.
    Exit code 0, 1 when a table that is checked lacks a property, or 2 when something in the input is wrong.
    """
    from mustlink.workflow import PublicationJob, VerificationJob

    if (table is None) == (verify is None):
        raise ValueError("Give either the TABLE to publish, or the published table to check with --verify FILE.")
    if not quasi:
        raise ValueError("Name the columns by which a person could be found: --quasi COLUMN,COLUMN,...")
    given = {
        **locals(),
        "quasi_identifiers": _split(quasi),
        "keep": _split(keep or []),
        "ordered": _split(ordered or []),
        "categorical": _split(categorical or []),
    }
    if verify is not None:
        if output is not None or report is not None:
            raise ValueError("--verify writes nothing; leave out -o and --report.")
        _verify(opt.fill(VerificationJob, {**given, "table": verify}))
        return
    assert table is not None
    given["output"] = output or opt.output_name(table, True, "published")
    command = shlex.join(["mustlink", *context.meta[opt.TYPED]])
    _publish(opt.fill(PublicationJob, given), command)


def _split(words: Sequence[str]) -> list[str]:
    """Return the names of columns in words separated by commas; a name that has commas stands in quotation marks."""
    return [name.strip() for cells in csv.reader(words, skipinitialspace=True) for name in cells if name.strip()]


def _publish(job: object, command: str) -> None:
    """Publish the table, and print what was lost."""
    from mustlink.cli._interrupt import run_interruptibly
    from mustlink.cli._show import print_line, show_list, show_status
    from mustlink.sizes import NOT_DIFFERENTIAL_PRIVACY
    from mustlink.workflow import PublicationJob, run_publication

    assert isinstance(job, PublicationJob)
    with show_status(f"Publishing {Path(job.table).name}"):
        result = run_interruptibly(lambda: run_publication(job, command=command))
    print_line(result.publication.headline, "bold")
    print_line()
    _show_losses(result.publication)
    show_list("Notes", [*result.notices, NOT_DIFFERENTIAL_PRIVACY], len(result.notices) + 1)
    print_line(f"Published table written to {job.output}", whole=True)
    if job.report is not None:
        print_line(f"Report written to {job.report}", whole=True)


def _show_losses(publication: Publication) -> None:
    """Print the information lost per quasi-identifier."""
    from rich.text import Text

    from mustlink.cli._show import console, make_table, print_line

    shown = make_table()
    shown.add_column("information lost in", overflow="fold")
    shown.add_column("variance", justify="right")
    shown.add_column("width", justify="right")
    for loss in publication.losses:
        shown.add_row(Text(loss.name), f"{loss.variance:.1%}", f"{loss.width:.1%}")
    shown.add_row("all", f"{publication.variance_lost:.1%}", f"{publication.width:.1%}")
    console().print(shown)
    print_line()


def _verify(job: VerificationJob) -> None:
    """Check a published table, and end with exit code 1 if a group lacks a property."""
    from mustlink.cli._show import print_line, show_list, show_status
    from mustlink.sizes import NOT_DIFFERENTIAL_PRIVACY
    from mustlink.workflow import run_verification

    with show_status(f"Checking {Path(job.table).name}"):
        found = run_verification(job)
    print_line(str(found), "bold")
    if found.diversity_words:
        print_line(found.diversity_words)
    if found.failures:
        show_list("Groups that fail", [str(failure) for failure in found.failures], len(found.failures))
    print_line(NOT_DIFFERENTIAL_PRIVACY)
    if not found.passed:
        raise typer.Exit(CONFLICT)
