"""``mustlink dedupe``: which rows of a table are the same person or thing."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mustlink.cli import _options as opt
from mustlink.cli._errors import report_errors

if TYPE_CHECKING:
    from mustlink.report import EntitySummary
    from mustlink.workflow import DedupeJob, DedupeResult

__all__ = ["dedupe"]

MAX_ENTITIES = 10
MAX_SPELLINGS = 4
# Instead of a threshold: the one that agrees best with the links.
BY_LINKS = "links"
# The files of links to which answers can be added.
ADDED_TO = ("", ".csv", ".tsv", ".txt")


@report_errors
def dedupe(
    context: typer.Context,
    table: Annotated[
        Path | None,
        typer.Argument(
            metavar="TABLE",
            help="The table, a row for each record, in the formats of mustlink cluster. May be left out with --pairs.",
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by", metavar="COLUMN", help="A column to compare records by, such as the name. May be repeated."
        ),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(
            "--group",
            metavar="COLUMN",
            help="A column of groups of records that occur together, such as the paper of an author. Records of one "
            "group with unequal texts are different entities; that two records occur with the same others speaks for "
            "one entity. Empty cells are no group. May be repeated.",
        ),
    ] = None,
    group_separator: Annotated[
        str | None,
        typer.Option(
            "--group-separator",
            metavar="SIGN",
            help="What separates the groups in a cell that names several, such as a semicolon.",
            show_default="a cell names one group",
        ),
    ] = None,
    within_groups: Annotated[
        Literal["equal", "never", "always"],
        typer.Option(
            "--within-groups",
            metavar="WHEN",
            help="When two records of one group may be one entity: if their texts are equal (equal), never, or always.",
        ),
    ] = "equal",
    pairs: Annotated[
        Path | None,
        typer.Option(
            "--pairs",
            metavar="FILE",
            help="Make entities from the pair probabilities of another tool alone. Columns: unique_id_l, unique_id_r "
            "and match_probability or match_weight, as splink writes them; id1, id2 and score; or the first three.",
        ),
    ] = None,
    links: Annotated[
        Path | None,
        typer.Option(
            "--links",
            metavar="FILE",
            help="Links to keep, with the columns a, b, link (must or cannot), as [bold]mustlink ask[/bold] writes "
            "them.",
        ),
    ] = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            "--threshold",
            metavar="T",
            help="The similarity, with --pairs the probability, from which records are one entity. The word links "
            "chooses the one that agrees best with the links; use it for links of similar texts drawn at random, not "
            "for answers to --questions.",
            show_default="by alpha; 0.5 with --pairs",
        ),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(
            "--alpha",
            metavar="A",
            help="How much the groups count beside the texts, from 0 to 1.",
            show_default="0.3",
        ),
    ] = None,
    blocking: Annotated[
        Literal["auto", "names", "key", "qgram", "names+qgram", "sorted", "canopy"],
        typer.Option(
            "--blocking",
            metavar="NAME",
            help="Which records are compared: those with the same initial and similar last names (names); with the "
            "same initial and last name (key); with many sequences of letters in common (qgram, canopy); or near each "
            "other in alphabetical order (sorted). With auto, names+qgram for names with initials, and qgram for "
            "other texts.",
        ),
    ] = "auto",
    max_pairs: Annotated[
        int | None,
        typer.Option(
            "--max-pairs", metavar="N", help="The most pairs of records to compare.", show_default="10,000,000"
        ),
    ] = None,
    never_together: Annotated[
        str | None,
        typer.Option(
            "--never-together",
            metavar="COLUMN",
            help="A column of sources: an entity has at most one record of a source. Empty cells are no source. With "
            "--pairs and no TABLE, the pairs have it as COLUMN_l and COLUMN_r.",
            rich_help_panel="Columns",
        ),
    ] = None,
    at_most: Annotated[
        int,
        typer.Option(
            "--at-most",
            metavar="M",
            help="The most records of one source in an entity, for --never-together.",
            rich_help_panel="Columns",
        ),
    ] = 1,
    unlisted: Annotated[
        float | None,
        typer.Option(
            "--unlisted",
            metavar="P",
            help="With --pairs: the probability that two records match that are not listed as a pair, such as 0.1.",
            show_default="no evidence",
        ),
    ] = None,
    id_column: opt.LinkIdColumn = None,
    truth_column: Annotated[
        str | None,
        typer.Option(
            "--truth",
            metavar="COLUMN",
            help="A column with the right entities of some or all rows, to compare with. It is not used otherwise.",
            rich_help_panel="Columns",
        ),
    ] = None,
    missing: Annotated[
        Literal["error", "single"],
        typer.Option(
            "--missing",
            metavar="HOW",
            help="Rows that are empty in all columns of --by: refuse them (error), or leave each alone (single).",
            rich_help_panel="Columns",
        ),
    ] = "error",
    header: opt.Header = None,
    encoding: opt.Encoding = None,
    delimiter: opt.Delimiter = None,
    decimal: opt.Decimal = None,
    sheet: opt.Sheet = None,
    contradictions: Annotated[
        Literal["raise", "majority"],
        typer.Option(
            "--contradictions",
            metavar="HOW",
            help="A pair linked both ways: refuse it (raise), or keep the heavier side (majority).",
        ),
    ] = "raise",
    unknown_ids: opt.UnknownIds = "raise",
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="OUT",
            help="Where the entities are written: .csv, .tsv, .xlsx, .parquet or .npy. Text is written as the table "
            "is.",
            show_default="the table's name with .entities.csv, in this folder",
        ),
    ] = None,
    keep_columns: Annotated[
        bool,
        typer.Option(
            "--keep-columns",
            metavar="",
            help="Write the whole table as it came in, with the entity as one more column.",
        ),
    ] = False,
    report: opt.Report = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            "--questions",
            metavar="FILE",
            help="Write the decisions that were least sure as questions for [bold]mustlink ask[/bold].",
        ),
    ] = None,
    n_unsure: Annotated[
        int, typer.Option("--unsure", metavar="N", help="How many such decisions are reported and asked.")
    ] = 20,
    debug: opt.Debug = False,
) -> None:
    """Find the rows that are the same person or thing.

    Compares records by their texts and by those they occur with (--group), and writes the entity of every row. Prints
    the largest entities and the decisions that were least sure, which mustlink ask puts to you (--questions); with your
    answers (--links) the next run is better. Exit code 0, or 2 when something in the input is wrong.
    """
    from mustlink.cli._interrupt import run_interruptibly
    from mustlink.cli._show import print_written, show_list, show_status
    from mustlink.workflow import DedupeJob, run_dedupe

    if table is None and pairs is None:
        raise ValueError("Give the TABLE of the records, or pairs with probabilities with --pairs FILE.")
    if questions is not None and links is not None and links.suffix.lower() not in ADDED_TO:
        raise ValueError(
            f"{links}: answers to --questions are added to the links, which is possible in .csv, .tsv and .txt files; "
            "save the links as one of these."
        )
    source = table if table is not None else pairs
    assert source is not None
    output = output or opt.output_name(source, keep_columns, "entities")
    given = {**locals(), "threshold": _threshold(threshold)}
    job = opt.fill(DedupeJob, given)
    typed = context.meta[opt.TYPED]
    ask_words = [] if table is None else _ask_words(job)
    with show_status(f"Comparing the records of {source.name}"):
        result = run_interruptibly(
            lambda: run_dedupe(job, command=shlex.join(["mustlink", *typed]), ask_command=shlex.join(ask_words))
        )
    show_entities(result.summary)
    if result.summary.notices:
        show_list("Notes", result.summary.notices, len(result.summary.notices))
    print_written({"Entities": output, "Report": report})
    if questions is not None:
        _show_next(result, ask_words, typed)


def _threshold(typed: str | None) -> float | str | None:
    """Return the threshold that was typed."""
    if typed is None or typed == BY_LINKS:
        return typed
    try:
        return float(typed)
    except ValueError:
        raise ValueError(f"--threshold is {typed!r}; it must be a number, or {BY_LINKS}.") from None


def show_entities(summary: EntitySummary) -> None:
    """Print the number of entities, the largest ones, and the decisions that were least sure."""
    from rich.text import Text

    from mustlink.cli._show import console, make_table, print_line, show_list

    print_line(summary.headline, "bold")
    if summary.blocking_note:
        print_line(summary.blocking_note)
    print_line(summary.threshold_note)
    if summary.scores is not None:
        print_line(str(summary.scores))
    print_line()
    if summary.entities:
        shown = make_table()
        shown.add_column("entity", justify="right")
        shown.add_column("rows", justify="right")
        shown.add_column("spellings", overflow="fold")
        for entity in summary.entities[:MAX_ENTITIES]:
            shown.add_row(str(entity.label), f"{entity.size:,}", Text(entity.spell(MAX_SPELLINGS)))
        console().print(shown)
        print_line()
    if summary.decisions:
        lines = [str(decision) for decision in summary.decisions]
        show_list(f"Least sure of, with the {summary.unit}", lines, len(lines))
        print_line()


def _ask_words(job: DedupeJob) -> list[str]:
    """Return the command that asks the questions, with the file of links that the answers are added to."""
    words = ["mustlink", "ask", str(job.table), "--questions", str(job.questions), "--links", str(_answers(job))]
    words += opt.typed_words(job.table_options)
    return words + (["--ignore", job.truth_column] if job.truth_column is not None else [])


def _answers(job: DedupeJob) -> Path:
    """Return the file of links to which answers are added: the one that was given, if there is one."""
    return Path(job.links) if job.links is not None else Path(f"{opt.stem(Path(str(job.table)))}.links.csv")


def _show_next(result: DedupeResult, ask_words: list[str], typed: list[str]) -> None:
    """Print how the questions are asked, and how their answers are used."""
    from mustlink.cli._show import print_command, print_line

    job = result.job
    if not result.summary.decisions:
        print_line(f"No decision is open, and {job.questions} has no questions", whole=True)
        return
    print_line(f"Questions written to {job.questions}", whole=True)
    print_line("To answer them, and to use the answers:", whole=True)
    print_command(ask_words)
    print_command(["mustlink", *typed, *([] if job.links is not None else ["--links", str(_answers(job))])])
