"""``mustlink taxonomy``: texts with categories in, better categories out."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mustlink._spelling import count
from mustlink.cli import _options as opt
from mustlink.cli._errors import REMEDIES, report_errors

if TYPE_CHECKING:
    from mustlink.report import TaxonomySummary

__all__ = ["taxonomy"]

# Names that are files and not columns.
FILE_SUFFIXES = (".csv", ".tsv", ".tab", ".txt", ".xlsx", ".xlsm", ".parquet", ".pq", ".npy")
MAX_CATEGORIES = 30
MAX_TERMS = 8
MAX_GIVEN = 30
MAX_TITLE = 60

_WORDS = "Words of categories"


@report_errors
def taxonomy(
    context: typer.Context,
    texts: opt.Texts,
    categories: Annotated[
        str,
        typer.Option(
            "--categories",
            metavar="FILE|COLUMN",
            help="The given categories of some or all texts: a file with a row for each text in their order, or with "
            "ids (.csv, .tsv, .xlsx, .parquet); or a column of the table of the texts. Empty cells and -1 are none.",
        ),
    ],
    category_column: Annotated[
        str | None,
        typer.Option(
            "--category-column",
            metavar="COLUMN",
            help="The column of the categories in the file of --categories.",
            show_default="category, label, ..., or the only one beside the ids",
        ),
    ] = None,
    text_column: opt.TextColumn = None,
    title_column: opt.TitleColumn = None,
    id_column: opt.TextIdColumn = None,
    single: Annotated[
        Literal["error", "drop"],
        typer.Option(
            "--single",
            metavar="HOW",
            help="A given category with one text: refuse it (error), or take the text as not categorized (drop).",
        ),
    ] = "error",
    unknown_ids: Annotated[
        Literal["raise", "skip"],
        typer.Option(
            "--unknown-ids",
            metavar="HOW",
            help="Ids in the file of the categories that no text has: refuse them (raise), or leave them out and say "
            "how many were (skip).",
        ),
    ] = "raise",
    min_cluster_size: Annotated[
        int, typer.Option("--min-size", metavar="N", help="Categories with fewer texts are removed.")
    ] = 8,
    merge_threshold: Annotated[
        float,
        typer.Option(
            "--merge-threshold",
            metavar="C",
            help="Categories with a larger cosine are merged: lower it to merge more, 1 merges none.",
        ),
    ] = 0.95,
    outlier_threshold: Annotated[
        float,
        typer.Option(
            "--outlier-threshold", metavar="C", help="Texts with a smaller cosine to every category are in none."
        ),
    ] = 0.0,
    stop_words: opt.StopWords = "english",
    min_df: opt.MinDf = 2,
    gini_drop: Annotated[
        float,
        typer.Option(
            "--gini-drop",
            metavar="SHARE",
            help="Leave out this share of the words, those that occur in all given categories alike.",
            rich_help_panel=_WORDS,
        ),
    ] = 0.11,
    words_init: Annotated[
        int,
        typer.Option(
            "--words-init",
            metavar="N",
            help="The number of words of a category after the first pass.",
            rich_help_panel=_WORDS,
        ),
    ] = 500,
    words_final: Annotated[
        int,
        typer.Option(
            "--words-final", metavar="N", help="The number of words of a category at the end.", rich_help_panel=_WORDS
        ),
    ] = 200,
    theta: Annotated[
        float,
        typer.Option(
            "--theta",
            metavar="F",
            help="By what factor the number of words falls from pass to pass.",
            rich_help_panel=_WORDS,
        ),
    ] = 0.7,
    n_candidates: Annotated[
        int,
        typer.Option(
            "--candidates",
            metavar="N",
            help="How many of the most similar categories are compared for the runner-up of a text.",
            rich_help_panel=_WORDS,
        ),
    ] = 5,
    domination_threshold: Annotated[
        float,
        typer.Option(
            "--domination-threshold",
            metavar="D",
            help="Categories whose cosines differ by less are compared by the words that the other has not.",
            rich_help_panel=_WORDS,
        ),
    ] = 0.025,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="OUT",
            help="Where the category of every text is written: .csv, .tsv, .xlsx or .parquet.",
            show_default="the name of the texts with .categories.csv, in this folder",
        ),
    ] = None,
    report: opt.Report = None,
    save_model: Annotated[
        Path | None,
        typer.Option(
            "--save-model",
            metavar="FILE",
            help="Save a model that puts new texts into the same categories, see [bold]mustlink predict[/bold].",
        ),
    ] = None,
    header: opt.Header = None,
    encoding: opt.Encoding = None,
    delimiter: opt.Delimiter = None,
    sheet: opt.Sheet = None,
    debug: opt.Debug = False,
) -> None:
    """Find better categories of texts around given ones.

    The given categories choose the words that count and start one category each. Texts, also those without a category,
    move to the category that they are most similar to; categories that become alike are merged, and small ones are
    removed. Writes the category of every text with the runner-up, and prints the categories with their best words, what
    became of the given ones, and texts that moved. Exit code 0, or 2 when something in the input is wrong.
    """
    from mustlink.cli._interrupt import run_interruptibly
    from mustlink.cli._show import print_written, show_list, show_status
    from mustlink.workflow import TaxonomyJob, run_taxonomy

    output = output or Path(f"{opt.text_stem(texts)}.categories.csv")
    job = opt.fill(TaxonomyJob, {**locals(), **_given_categories(categories, category_column)})
    command = shlex.join(["mustlink", *context.meta[opt.TYPED]])
    with show_status(f"Reading {texts.name}"):
        result = run_interruptibly(lambda: run_taxonomy(job, command=command, remedies=REMEDIES))
    show_taxonomy(result.summary)
    if result.summary.notices:
        show_list("Notes", result.summary.notices, len(result.summary.notices))
    print_written({"Categories": output, "Report": report, "Model": save_model})


def _given_categories(typed: str, column: str | None) -> dict[str, Any]:
    """Return where the categories are: a file, or a column of the table of the texts."""
    if typed.lower().removesuffix(".gz").endswith(FILE_SUFFIXES):
        return {"categories": Path(typed), "category_column": column}
    if column is not None:
        raise ValueError(
            f"--categories {typed} is a column, and --category-column {column} names another one; leave one out, or "
            "give a file with --categories."
        )
    return {"categories": None, "category_column": typed}


def show_taxonomy(summary: TaxonomySummary) -> None:
    """Print the categories, what became of the given ones, and texts that moved."""
    from rich.text import Text

    from mustlink.cli._show import console, make_table, print_line, show_list

    print_line(summary.headline, "bold")
    print_line(summary.about_given)
    print_line()
    shown = make_table()
    shown.add_column("category", overflow="fold", max_width=30)
    shown.add_column("documents", justify="right")
    shown.add_column("share", justify="right")
    shown.add_column("best terms", overflow="fold")
    for category in summary.categories[:MAX_CATEGORIES]:
        words = ", ".join(category.terms[:MAX_TERMS])
        shown.add_row(Text(category.name), f"{category.size:,}", f"{category.share:.1%}", Text(words))
    if summary.n_none:
        shown.add_row("none", f"{summary.n_none:,}", f"{summary.n_none / summary.n_documents:.1%}")
    console().print(shown)
    if len(summary.categories) > MAX_CATEGORIES:
        n_more = len(summary.categories) - MAX_CATEGORIES
        print_line(f"and {count(n_more, 'smaller category', 'smaller categories')}")
    print_line()
    _show_given(summary)
    if summary.moved:
        surest = sorted(summary.moved, key=lambda one: -one.margin)
        show_list("Documents that moved, to check", [one.shorten(MAX_TITLE) for one in surest], summary.n_moved)
        print_line()


def _show_given(summary: TaxonomySummary) -> None:
    """Print what became of the given categories: those with changes first."""
    from rich.text import Text

    from mustlink.cli._show import console, make_table, print_line

    shown = make_table()
    shown.add_column("given", overflow="fold", max_width=30)
    for heading in ("documents", "stayed", "moved", "in none"):
        shown.add_column(heading, justify="right")
    shown.add_column("became", overflow="fold")
    changed = sorted(summary.given, key=lambda one: one.status == "kept")
    for one in changed[:MAX_GIVEN]:
        numbers = (f"{number:,}" for number in (one.size, one.n_stayed, one.n_moved, one.n_none))
        shown.add_row(Text(one.name), *numbers, Text(str(one)))
    console().print(shown)
    if len(changed) > MAX_GIVEN:
        print_line(f"and {count(len(changed) - MAX_GIVEN, 'more given category', 'more given categories')}")
    print_line()
