"""``mustlink teach``: clusters of texts on the terminal, criticized until they are right."""

from __future__ import annotations

import itertools
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mustlink._spelling import count
from mustlink.cli import _options as opt
from mustlink.cli._errors import one_sentence, report_errors

if TYPE_CHECKING:
    from mustlink.workflow import ClusterView, Teaching, TeachingChange, TermChange

__all__ = ["teach"]

PROMPT = "[b]>[/b] "
MAX_MOVES = 10
MAX_TERMS_SHOWN = 20
# Texts shown of every cluster: those that are most certain, and those that are least.
N_TYPICAL = 3
N_DOUBTFUL = 1


@dataclass(frozen=True)
class Verb:
    """What a person can type: how many texts and clusters follow, the kind of the answer, and what it means."""

    usage: str
    meaning: str
    kind: str | None = None
    n_texts: int = 0
    n_clusters: int = 0


ANSWERS = {
    "same": Verb("same 3 17", "texts 3 and 17 belong together", "must_link", 2),
    "different": Verb("different 3 17", "texts 3 and 17 do not belong together", "cannot_link", 2),
    "in": Verb("in 3 B", "text 3 belongs in cluster B", "belongs", 1, 1),
    "not": Verb("not 3 B", "text 3 does not belong in B", "not_belongs", 1, 1),
    "move": Verb("move 3 B", "text 3 belongs in B and not where it is", "move", 1, 1),
    "good": Verb("good A", "keep cluster A", "good", 0, 1),
    "bad": Verb("bad A", "break up cluster A", "bad", 0, 1),
    "merge": Verb("merge A B", "clusters A and B are one", "merge", 0, 2),
    "apart": Verb("apart A B", "clusters A and B are two", "apart", 0, 2),
}
ORDERS = {
    "go": Verb("go, or Enter", "cluster again with the answers"),
    "show": Verb("show, show A", "the clusters, or all texts of A"),
    "read": Verb("read 3", "the whole text 3", None, 1),
    "terms": Verb("terms", "the words that count most and least"),
    "undo": Verb("undo, or u", "take back the last answer, or the last go"),
    "help": Verb("help, or h", "this list"),
    "quit": Verb("quit, or q", "cluster with new answers, write clusters, stop (or Ctrl-D)"),
}
VERBS = {**ANSWERS, **ORDERS}
SHORT = {"h": "help", "q": "quit", "u": "undo"}
# Without texts, an answer of its own.
ALL_DIFFERENT = Verb("different", "all clusters should be very different", "different")


@report_errors
def teach(
    texts: opt.Texts,
    n_clusters: opt.Clusters,
    text_column: opt.TextColumn = None,
    title_column: opt.TitleColumn = None,
    id_column: opt.TextIdColumn = None,
    stop_words: opt.StopWords = "english",
    min_df: opt.MinDf = 2,
    answers: Annotated[
        Path | None,
        typer.Option(
            "--answers",
            metavar="FILE",
            help="The file that answers are added to, one by one, as JSON lines; those it has are repeated.",
            show_default="the name of the texts with .teach.jsonl, in this folder",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="OUT",
            help="Where the clusters are written at the end: .csv, .tsv, .xlsx or .parquet.",
            show_default="the name of the texts with .clusters.csv, in this folder",
        ),
    ] = None,
    header: opt.Header = None,
    encoding: opt.Encoding = None,
    delimiter: opt.Delimiter = None,
    sheet: opt.Sheet = None,
    random_state: opt.Seed = 0,
    debug: opt.Debug = False,
) -> None:
    """Cluster texts, and say what is wrong with the clusters until they are right.

    Shows each cluster by its most telling words and some texts, the last one being the least certain. Answers such as
    "same 3 17", "move 3 B" or "bad A" change which words count; help lists them. Every answer is in the file before
    the next, so nothing is lost by quitting, and the same command continues later. quit and Ctrl-D cluster with the
    answers since the last time, and write the clusters; Ctrl-C stops and writes none. Answers may also be piped in,
    one per line. Exit code 0, or 2 when something in the input is wrong; the answers before it are kept.
    """
    from mustlink.cli._show import print_line, show_status
    from mustlink.workflow import Teaching, TextOptions, load_texts

    options = opt.fill(TextOptions, locals())
    path = answers or Path(f"{opt.text_stem(texts)}.teach.jsonl")
    written = output or Path(f"{opt.text_stem(texts)}.clusters.csv")
    loaded = load_texts(options)
    with show_status("Clustering"):
        teaching = Teaching(loaded, path, n_clusters=n_clusters, random_state=random_state)
    teaching.check_output(written)
    try:
        _talk(teaching)
    except KeyboardInterrupt:
        typer.echo(f"\n{_count_answers(teaching)} The same command continues from there.", err=True)
        raise
    if teaching.n_new:
        _go(teaching)
        _show_clusters(teaching)
    teaching.write(written)
    print_line(_count_answers(teaching), whole=True)
    print_line(f"Clusters written to {written}", whole=True)


def _talk(teaching: Teaching) -> None:
    """Show the clusters, and take answers until the person quits."""
    from mustlink.cli._show import print_line

    if teaching.n_known:
        print_line(f"Continuing from {count(teaching.n_known, 'answer')} in {teaching.path}.", whole=True)
    for notice in teaching.notices:
        print_line(notice)
    _show_clusters(teaching)
    print_line(f"Type help for what to say. {_new_answers(teaching)}".strip(), "dim")
    for number, line in _read_lines():
        try:
            if not _obey(teaching, line):
                return
        except ValueError as error:
            if not sys.stdin.isatty():
                raise ValueError(f"Line {number} of the answers, {line!r}: {one_sentence(error)}") from None
            print_line(one_sentence(error), "yellow")


def _read_lines() -> Iterator[tuple[int, str]]:
    """Yield the lines that the person types or pipes in, with their numbers; the end of the input ends them."""
    from mustlink.cli._show import console

    is_terminal = sys.stdin.isatty()
    for number in itertools.count(1):
        try:
            yield number, (console().input(PROMPT) if is_terminal else input()).strip()
        except EOFError:
            return


def _obey(teaching: Teaching, line: str) -> bool:
    """Do what a line says; return whether to go on."""
    from mustlink.cli._show import print_line

    verb, *words = _split(line) or ["go"]
    verb = SHORT.get(verb.lower(), verb.lower())
    if verb not in VERBS:
        raise ValueError(f"{verb!r} is no answer; the answers are {', '.join(VERBS)}.")
    if verb in ORDERS and verb != "show":
        _check_words(verb, words)
    if verb in ANSWERS:
        _answer(teaching, verb, words)
        print_line(_new_answers(teaching), "dim")
    elif verb == "go":
        if teaching.has_open_answers:
            _go(teaching)
            _show_clusters(teaching)
        else:
            print_line("There is nothing new to cluster by.")
    elif verb == "show":
        _show(teaching, words)
    elif verb == "read":
        print_line(teaching.text_of(words[0]))
    elif verb == "terms":
        _show_terms(teaching)
    elif verb == "undo":
        _undo(teaching)
    elif verb == "help":
        _show_help()
    return verb != "quit"


def _split(line: str) -> list[str]:
    """Return the words of a line, between blanks and commas; quotes hold those of a name."""
    lexer = shlex.shlex(line, posix=True)
    lexer.whitespace += ","
    lexer.whitespace_split = True
    lexer.commenters = ""
    return list(lexer)


def _answer(teaching: Teaching, verb: str, words: list[str]) -> None:
    """Save an answer."""
    if verb == "different" and not words:
        teaching.answer(str(ALL_DIFFERENT.kind))
        return
    _check_words(verb, words)
    meant = ANSWERS[verb]
    teaching.answer(str(meant.kind), words[: meant.n_texts], words[meant.n_texts :])


def _check_words(verb: str, words: list[str]) -> None:
    """Refuse another number of texts and clusters than a verb takes."""
    wanted = VERBS[verb]
    n_wanted = wanted.n_texts + wanted.n_clusters
    if words and not n_wanted:
        raise ValueError(f"{verb} needs no more words; got {' '.join(words)}.")
    if len(words) != n_wanted:
        parts = [count(wanted.n_texts, "text"), count(wanted.n_clusters, "cluster")]
        needed = " and ".join(part for part in parts if not part.startswith("0 "))
        raise ValueError(f"{verb} needs {needed}, as in {wanted.usage}.")


def _go(teaching: Teaching) -> None:
    """Cluster again, and show what changed."""
    from mustlink.cli._show import show_status

    with show_status("Clustering"):
        changed = teaching.refit()
    _show_change(changed, teaching)


def _undo(teaching: Teaching) -> None:
    """Take back the last answer or go, and show the clusters if they are others."""
    from mustlink.cli._show import print_line, show_status

    before = teaching.clusters()
    with show_status("Taking back"):
        taken_back = teaching.undo()
    if taken_back is None:
        print_line("There is nothing to take back.")
        return
    if teaching.clusters() != before:
        _show_clusters(teaching)
    verb = "is" if teaching.n_answers == 1 else "are"
    print_line(f"Taken back: {taken_back}. {count(teaching.n_answers, 'answer')} {verb} left.")
    if teaching.n_new:
        print_line(_new_answers(teaching), "dim")


def _new_answers(teaching: Teaching) -> str:
    """Say how many answers wait for the next clusters."""
    if not teaching.n_new:
        return ""
    return f"{count(teaching.n_new, 'new answer')}; Enter clusters again."


def _count_answers(teaching: Teaching) -> str:
    """Word how many answers there were, and where they are."""
    if not teaching.n_answers:
        return "Nothing was answered."
    return f"{count(teaching.n_answers, 'answer')}, all saved in {teaching.path}."


# ---- the screen ------------------------------------------------------------------------------------------------------


def _show(teaching: Teaching, words: list[str]) -> None:
    """Print all clusters, or one with all its texts."""
    if not words:
        _show_clusters(teaching)
        return
    for letter in words:
        _show_cluster(teaching.cluster(letter), is_whole=True)


def _show_clusters(teaching: Teaching) -> None:
    """Print the clusters."""
    for cluster in teaching.clusters():
        _show_cluster(cluster)


def _show_cluster(cluster: ClusterView, *, is_whole: bool = False) -> None:
    """Print a cluster by its words and texts, each on one line."""
    from rich.text import Text

    from mustlink.cli._show import console

    terminal = console()
    title = Text.assemble((f"{cluster.letter}  ", "bold"), (f"{count(cluster.size, 'text')}  ", "dim"))
    terminal.print(title + Text(" ".join(cluster.terms), "bold cyan"), no_wrap=True, overflow="ellipsis")
    typical, doubtful = cluster.typical[:N_TYPICAL], cluster.typical[max(N_TYPICAL, cluster.size - N_DOUBTFUL) :]
    shown = cluster.typical if is_whole else typical
    width = max((len(text.name) for text in (*shown, *doubtful)), default=0)
    for text in shown:
        terminal.print(Text(f"     {text.name:>{width}}  {text.title}"), no_wrap=True, overflow="ellipsis")
    for text in () if is_whole else doubtful:
        terminal.print(Text(f"   ? {text.name:>{width}}  {text.title}"), no_wrap=True, overflow="ellipsis", style="dim")


def _show_change(changed: TeachingChange, teaching: Teaching) -> None:
    """Print what moved, which words count otherwise, and what is not followed."""
    from rich.text import Text

    from mustlink.cli._show import console, print_line, show_list

    print_line(f"{count(len(changed.moved), 'text')} moved." if changed.moved else "No text moved.", "bold")
    width = max((len(move.text.name) for move in changed.moved[:MAX_MOVES]), default=0)
    for move in changed.moved[:MAX_MOVES]:
        line = f"  {move.before} -> {move.after}  {move.text.name:>{width}}  {move.text.title}"
        console().print(Text(line), no_wrap=True, overflow="ellipsis")
    if len(changed.moved) > MAX_MOVES:
        print_line(f"  and {len(changed.moved) - MAX_MOVES:,} more")
    for title, terms in (("Words that count more", changed.risen), ("Words that count less", changed.fallen)):
        if terms:
            print_line(f"{title}: {', '.join(map(_spell_change, terms))}")
    if changed.unsatisfied:
        show_list("Not followed", changed.unsatisfied, len(changed.unsatisfied))
    elif teaching.n_answers:
        print_line("All answers are followed.")
    print_line()


def _spell_change(term: TermChange) -> str:
    return f"{term.term} {term.before:.2f}->{term.after:.2f}"


def _show_terms(teaching: Teaching) -> None:
    """Print the heaviest and the lightest words."""
    from mustlink.cli._show import print_line

    weights = teaching.term_weights()
    if weights[0][1] == weights[-1][1]:
        print_line("All words count the same so far.")
        return
    for title, chosen in (("Most", weights[:MAX_TERMS_SHOWN]), ("Least", weights[::-1][:MAX_TERMS_SHOWN])):
        print_line(f"{title}: {', '.join(f'{term} {weight:.2f}' for term, weight in chosen)}")


def _show_help() -> None:
    """Print what can be typed."""
    from mustlink.cli._show import print_line

    listed = [*ANSWERS.values(), ALL_DIFFERENT, *ORDERS.values()]
    width = max(len(verb.usage) for verb in listed)
    for verb in listed:
        print_line(f"  {verb.usage:<{width}}  {verb.meaning}")
    print_line("Ctrl-C stops without writing clusters; the answers are kept.", "dim")
