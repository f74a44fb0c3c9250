"""``mustlink ask``: questions on the terminal, answers into a file of links."""

from __future__ import annotations

import itertools
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mustlink._spelling import count
from mustlink.cli import _options as opt
from mustlink.cli._errors import report_errors

if TYPE_CHECKING:
    from mustlink.active import Question
    from mustlink.workflow import RowComparison, Sitting

__all__ = ["ask"]

WORDS = {typed: word for word in ("yes", "no", "skip", "undo", "quit") for typed in (word, word[0])}
PROMPT = "Do they belong together? [b]y[/b]es [b]n[/b]o [b]s[/b]kip [b]u[/b]ndo [b]q[/b]uit: "
CHOICES = "y (yes), n (no), s (skip), u (undo) or q (quit)"
MARK = "*"


@report_errors
def ask(
    table: opt.TableFile,
    n_clusters: Annotated[
        int | None,
        typer.Option(
            "-k",
            "--clusters",
            metavar="K",
            help="The number of clusters. Not needed with --questions.",
            show_default=False,
        ),
    ] = None,
    strategy: Annotated[
        Literal["cobras", "consolidate", "explore", "minmax", "npu", "random"],
        typer.Option(
            "--strategy",
            metavar="NAME",
            help="How questions are chosen: find a row of every group (explore), then assign random rows (consolidate) "
            "or the rows farthest from all before (minmax); the least certain row (npu, slow on large tables); groups "
            "of rows, coarse to fine (cobras); or random pairs (random).",
        ),
    ] = "minmax",
    links: Annotated[
        Path | None,
        typer.Option(
            "--links",
            metavar="FILE",
            help="The file that answers are added to, one by one; the links it has are not asked again.",
            show_default="the table's name with .links.csv, in this folder",
        ),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            "--questions",
            metavar="FILE",
            help="Ask about these pairs of rows, in their order, instead of choosing: a file with the columns a and b, "
            "as [bold]mustlink dedupe[/bold] writes it.",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="Stop after this number of questions.")
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            metavar="COLUMN",
            help="Show only this column; it may be one that is left out with --ignore. May be repeated.",
        ),
    ] = None,
    id_column: opt.LinkIdColumn = None,
    label_column: opt.LabelColumn = None,
    never_together: opt.NeverTogether = None,
    always_together: opt.AlwaysTogether = None,
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
    contradictions: opt.Contradictions = "raise",
    unknown_ids: opt.UnknownIds = "raise",
    random_state: opt.QuestionSeed = 0,
    debug: opt.Debug = False,
) -> None:
    """Answer questions about pairs of rows, and save the answers as links.

    Shows two rows side by side and asks whether they belong together: y (yes), n (no), s (skip), u (undo) or q (quit).
    The questions are chosen so that few are needed; when the answers can be predicted, it says so. With --questions,
    the pairs of a file are asked instead. Every answer is in the file before the next question, so nothing is lost by
    quitting, and the same command continues later. Answers may also be piped in, one per line. Exit code 0, or 2 when
    something in the input is wrong; the answers before it are kept.
    """
    from mustlink.cli._show import print_command, print_line
    from mustlink.tables import read_questions
    from mustlink.workflow import RowComparison, Sitting, TableOptions, load_records, load_table

    if n_clusters is None and questions is None:
        raise ValueError("Give the number of clusters with -k, or the pairs to ask about with --questions.")
    if n_clusters is not None and questions is not None:
        raise ValueError("-k has no effect with --questions, which name the pairs to ask about; leave out one of them.")
    options = opt.fill(TableOptions, locals())
    path = links or Path(f"{opt.stem(table)}.links.csv")
    if questions is None:
        loaded, pairs = load_table(options), None
    else:
        loaded = load_records(options)
        pairs = read_questions(questions, loaded.ids, loaded.source.n_rows)
    rows = RowComparison(options, loaded, columns or ())
    sitting = Sitting(
        loaded,
        path,
        n_clusters=n_clusters,
        strategy=strategy,
        contradictions=contradictions,
        unknown_ids=unknown_ids,
        random_state=random_state,
        pairs=pairs,
    )
    try:
        _ask_all(sitting, rows, n_clusters, limit)
    except KeyboardInterrupt:
        typer.echo(f"\n{_count_answers(sitting)} The same command continues from there.", err=True)
        raise
    print_line()
    print_line(_count_answers(sitting), whole=True)
    if not sitting.has_links or not any(sitting.counts[:2]):
        return
    if pairs is not None:
        print_line(f"To use the answers, run mustlink dedupe again with --links {shlex.quote(str(path))}", whole=True)
    else:
        words = ["mustlink", "cluster", str(table), str(path), "-k", str(n_clusters), *opt.typed_words(options)]
        if contradictions != "raise":
            words += ["--contradictions", contradictions]
        if unknown_ids != "raise":
            words += ["--unknown-ids", unknown_ids]
        print_line("To cluster with the links:", whole=True)
        print_command(words)


def _ask_all(sitting: Sitting, rows: RowComparison, n_clusters: int | None, limit: int | None) -> None:
    """Ask until nothing is left to ask, the limit is reached or the person quits."""
    from mustlink.cli._show import print_line, show_status

    if sitting.n_known_links:
        print_line(f"Continuing from {count(sitting.n_known_links, 'link')} in {sitting.path}.", whole=True)
    for notice in sitting.notices:
        print_line(notice)
    answers = _read_answers()
    while limit is None or sitting.n_asked < limit:
        with show_status("Choosing a question"):
            question = sitting.question
        if question is None:
            print_line(str(sitting.end))
            return
        heading = f"Question {sitting.n_asked + 1:,}" + ("" if limit is None else f" of {limit:,}")
        if sitting.n_groups_found is not None and n_clusters is not None:
            heading += f"; {sitting.n_groups_found:,} of {count(n_clusters, 'group')} found"
        _show_rows(heading, rows, question)
        word = next(answers)
        if word == "quit":
            return
        if word != "undo":
            sitting.answer({"yes": True, "no": False}.get(word))
            advice = sitting.advise()
            if advice is not None and advice.is_settled:
                print_line()
                print_line(str(advice), whole=True)
        elif sitting.undo() is None:
            print_line("There is nothing to undo.")


def _read_answers() -> Iterator[str]:
    """Yield the answers among the lines that the person types or pipes in; the end of the input quits."""
    from mustlink.cli._show import console, print_line

    is_terminal = sys.stdin.isatty()
    for number in itertools.count(1):
        try:
            line = console().input(PROMPT) if is_terminal else input()
        except EOFError:
            yield "quit"
            return
        word = line.strip().lower()
        if word in WORDS:
            yield WORDS[word]
        elif is_terminal:
            print_line(f"Answer {CHOICES}.")
        elif word:
            raise ValueError(f"Line {number} of the answers is {line.strip()!r}; an answer is {CHOICES}.")


def _show_rows(heading: str, rows: RowComparison, question: Question) -> None:
    """Print the two rows of a question side by side."""
    from rich.text import Text

    from mustlink.cli._show import console, make_table, print_line

    table = make_table(header_style="bold")
    for title in ("", "column", rows.names[question.a], rows.names[question.b]):
        table.add_column(Text(title), overflow="fold")
    pairs = rows.compare(question.a, question.b)
    for *cells, is_marked in pairs:
        words = (MARK if is_marked else "", *cells)
        table.add_row(*(Text(str(word)) for word in words), style="bold yellow" if is_marked else "")
    print_line()
    print_line(heading, "dim")
    console().print(table)
    if rows.n_columns > len(pairs):
        print_line(f"  and {count(rows.n_columns - len(pairs), 'more column')} with smaller differences", "dim")


def _count_answers(sitting: Sitting) -> str:
    """Word how many answers there were, and where they are."""
    together, apart, n_skipped = sitting.counts
    skipped = f", {n_skipped:,} skipped" if n_skipped else ""
    if together + apart == 0:
        return f"Nothing was answered{skipped}."
    return f"Answers: {together:,} together, {apart:,} apart{skipped}, all saved in {sitting.path}."
