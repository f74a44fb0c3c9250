"""``mustlink ask``: questions on the terminal, answers into a file of links."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mustlink.cli._errors import reported
from mustlink.cli._options import (
    Categorical,
    Clusters,
    Contradictions,
    Debug,
    Header,
    IdColumn,
    Ignore,
    LabelColumn,
    Missing,
    MissingCells,
    OneHot,
    Scale,
    Seed,
    TableFile,
    WhenContradictory,
)

if TYPE_CHECKING:
    from mustlink.active import Strategy
    from mustlink.cli._answer_file import AnswerFile
    from mustlink.cli._loading import LoadedTable, TableChoices

__all__ = ["ask"]

WORDS = {
    "y": "yes", "yes": "yes", "n": "no", "no": "no", "s": "skip", "skip": "skip", "u": "undo", "undo": "undo",
    "q": "quit", "quit": "quit",
}  # fmt: skip
PROMPT = "Do they belong together? [b]y[/b]es [b]n[/b]o [b]s[/b]kip [b]u[/b]ndo [b]q[/b]uit: "
CHOICES = "y (yes), n (no), s (skip), u (undo) or q (quit)"


class StrategyName(StrEnum):
    """How questions are chosen."""

    consolidate = "consolidate"
    explore = "explore"
    minmax = "minmax"
    npu = "npu"
    random = "random"


@reported
def ask(
    table: TableFile,
    n_clusters: Clusters,
    strategy: Annotated[
        StrategyName,
        typer.Option(
            "--strategy",
            help="How questions are chosen: find a row of every group (explore), then place random rows (consolidate), "
            "or the rows least like all before (minmax); the least certain row for the questions it takes (npu, slow "
            "on large tables); or pairs at random.",
        ),
    ] = StrategyName.consolidate,
    links: Annotated[
        Path | None,
        typer.Option(
            "--links",
            metavar="FILE",
            help="Where answers are kept, one by one; what it holds already is not asked again.",
            show_default="the table's name with .links.csv, in this folder",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="Stop after so many questions.")
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            metavar="COLUMN",
            help="Show only this column, which may also be one of those to --ignore. May be repeated.",
        ),
    ] = None,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    ignore: Ignore = None,
    categorical: Categorical = None,
    scale: Scale = True,
    one_hot: OneHot = True,
    missing: Missing = MissingCells.error,
    header: Header = None,
    contradictions: Contradictions = WhenContradictory.error,
    seed: Seed = 0,
    debug: Debug = False,
) -> None:
    """Answer questions about pairs of rows, and keep the answers as links.

    Shows two rows side by side and asks whether they belong together: y (yes), n (no), s (skip), u (undo) or q (quit).
    The questions are chosen so that few of them tell much. Every answer is in the file before the next question is
    put, so that nothing is lost by quitting, and the same command goes on later. Answers may also be piped in, one per
    line. Exit code 0, or 2 when something in the input is wrong.
    """
    from mustlink.cli._answer_file import AnswerFile
    from mustlink.cli._ask_show import RowPairs
    from mustlink.cli._job import check_clusters
    from mustlink.cli._loading import TableChoices, load_table

    check_clusters(n_clusters)
    path = links or _default_links(table)
    if path.resolve() == table.resolve():
        raise ValueError(f"{path} is the table and would be overwritten; choose another name for the links.")
    choices = TableChoices(
        table,
        id_column=id_column,
        label_column=label_column,
        ignore=ignore or (),
        categorical=categorical or (),
        scale=scale,
        one_hot=one_hot,
        missing=missing.value,
        header=header,
    )
    loaded = load_table(choices)
    check_clusters(n_clusters, loaded.encoded.X.shape[0], str(table))
    pairs = RowPairs(loaded, _shown_columns(loaded, choices, columns or ()))
    file = AnswerFile(path)
    known = _known(loaded, file, contradictions)
    sitting = Sitting(_make_strategy(strategy, loaded.encoded.X, n_clusters, known, seed), file, loaded, pairs, limit)
    try:
        sitting.run()
    except KeyboardInterrupt:
        typer.echo(f"\n{sitting.saved()} The same command goes on from there.", err=True)
        raise
    sitting.close(_next_command(table, path, n_clusters, id_column))


def _shown_columns(loaded: LoadedTable, choices: TableChoices, names: Sequence[str]) -> list[Any]:
    """Find the columns to show: those named, or all but the ids and the labels."""
    from mustlink.tables import read_table

    if not names:
        hidden = (choices.id_column, choices.label_column)
        return [column for column in loaded.table.columns if column.name not in hidden]
    table = loaded.table
    if any(name in choices.ignore for name in names):
        # What is not to be compared by may still be what a person goes by, such as a text.
        others = [name for name in choices.ignore if name not in names]
        table = read_table(choices.path, ignore=others, header=choices.header)
    return [table.column(name) for name in names]


def _default_links(table: Path) -> Path:
    """Name the file of links after the table, in the current folder."""
    return Path(f"{Path(table.name.removesuffix('.gz')).stem}.links.csv")


def _next_command(table: Path, links: Path, n_clusters: int, id_column: str | None) -> str:
    """Word the command that clusters with the answers."""
    words = ["mustlink", "cluster", str(table), str(links), "-k", str(n_clusters)]
    return shlex.join(words if id_column is None else [*words, "--id", id_column])


def _known(loaded: LoadedTable, file: AnswerFile, contradictions: WhenContradictory) -> Any:
    """Read what is known beforehand, from the file and from labels, and tell what is odd about it."""
    from mustlink.cli._show import say
    from mustlink.constraints import Constraints

    known, notices = Constraints(), list(loaded.notices)
    if file.cut_off:
        notices.append(f"The last line of {file.path} was cut short and has been removed.")
    if file.is_begun:
        known, lost = loaded.read_links(file.path, contradictions.value)
        notices += lost
        conflicts = known.conflicts()
        if len(conflicts):
            notices.append(f"{len(conflicts):,} of the links in {file.path} contradict others and are passed over.")
        if len(known):
            say(f"Going on from {len(known):,} links in {file.path}.", whole=True)
    labels = loaded.partial_labels()
    if labels is not None:
        known = known + Constraints.from_labels(labels)
    for notice in notices:
        say(notice)
    return known


def _make_strategy(name: StrategyName, X: Any, n_clusters: int, known: Any, seed: int) -> Strategy:
    """Make the strategy that was asked for."""
    from mustlink.active import NPU, Consolidate, Explore, MinMax, RandomPairs

    makers: dict[StrategyName, Any] = {
        StrategyName.consolidate: Consolidate,
        StrategyName.explore: Explore,
        StrategyName.minmax: MinMax,
        StrategyName.npu: NPU,
        StrategyName.random: RandomPairs,
    }
    strategy: Strategy = makers[name](X, n_clusters, known=known, random_state=seed)
    return strategy


@dataclass
class Sitting:
    """One run of questions and answers."""

    strategy: Strategy
    file: AnswerFile
    loaded: LoadedTable
    pairs: Any
    limit: int | None
    n_lines: int = 0

    def run(self) -> None:
        """Put questions until there are none, or there is no more answer."""
        from mustlink.cli._show import say, working

        names = self.loaded.row_names
        while self.limit is None or self.strategy.n_asked < self.limit:
            with working("Choosing a question"):
                question = self.strategy.question
            if question is None:
                say("There is nothing left to ask.")
                return
            self.pairs.show(self._heading(), question.a, question.b)
            word = self._answer()
            if word == "quit":
                return
            if word == "undo":
                self._undo()
                continue
            together = {"yes": True, "no": False}.get(word)
            if together is not None:
                self.file.append(names[question.a], names[question.b], together)
            self.strategy.answer(together)

    def saved(self) -> str:
        """Say how much was answered, and where it is."""
        n_must = sum(answer.together is True for answer in self.strategy.answers)
        n_cannot = sum(answer.together is False for answer in self.strategy.answers)
        n_skipped = self.strategy.n_asked - n_must - n_cannot
        skipped = f", {n_skipped:,} skipped" if n_skipped else ""
        if n_must + n_cannot == 0:
            return f"Nothing was answered{skipped}."
        return f"Answers: {n_must:,} together, {n_cannot:,} apart{skipped}, all of them in {self.file.path}."

    def close(self, command: str) -> None:
        """Say what came of it and what to do with it."""
        from mustlink.cli._show import say

        say()
        say(self.saved(), whole=True)
        if self.file.is_begun:
            say("To cluster with the links:", whole=True)
            say(f"  {command}", "bold", whole=True)

    def _heading(self) -> str:
        """Say how far things are."""
        found = getattr(self.strategy, "neighbourhoods", None)
        number = f"Question {self.strategy.n_asked + 1:,}"
        number += "" if self.limit is None else f" of {self.limit:,}"
        return number if found is None else f"{number}; {len(found)} of {self.strategy.n_clusters} groups found"

    def _answer(self) -> str:
        """Read lines until one is an answer; the end of the input quits."""
        from mustlink.cli._show import printer, say

        while True:
            if sys.stdin.isatty():
                try:
                    line = printer().input(PROMPT)
                except EOFError:
                    return "quit"
            else:
                line = sys.stdin.readline()
                self.n_lines += 1
                if not line:
                    return "quit"
            word = line.strip().lower()
            if word in WORDS:
                return WORDS[word]
            if sys.stdin.isatty():
                say(f"Answer {CHOICES}.")
            elif word:
                raise ValueError(f"Line {self.n_lines} of the answers is {line.strip()!r}; an answer is {CHOICES}.")

    def _undo(self) -> None:
        """Take back the last answer of this sitting."""
        from mustlink.cli._show import say

        last = self.strategy.undo()
        if last is None:
            say("There is nothing to take back.")
        elif last.together is not None:
            self.file.take_back()
