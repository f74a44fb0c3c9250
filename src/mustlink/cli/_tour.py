"""``mustlink demo --tour``: five screens, each with what it shows, the command to type, and what the command prints."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import typer

from mustlink.cli._errors import CONFLICT

__all__ = ["tour"]

# Two right links of the sample, made wrong for the screen on links to check.
RIGHT_TO_WRONG = {"C182,C115,must": "C182,C115,cannot", "C175,C222,must": "C175,C222,cannot"}
N_QUESTIONS = 3
OWN_TABLE = (
    ("cluster a table", "mustlink cluster table.csv -k 3"),
    ("answer questions about it", "mustlink ask table.csv -k 3"),
    ("cluster with the answers", "mustlink cluster table.csv table.links.csv -k 3 --report report.html"),
    ("see what else there is", "mustlink --help"),
)


@dataclass(frozen=True)
class Screen:
    """One screen of the tour: its title, two or three sentences, and the words after ``mustlink``."""

    title: str
    text: str
    words: tuple[str, ...]


def tour(table: Path, links: Path) -> None:
    """Walk through the commands on the sample; the commands are those that a person would type."""
    from mustlink.cli._show import print_line

    screens = _screens(table, links)
    for number, screen in enumerate(screens, start=1):
        code = _show(screen, f"{number} of {len(screens)}")
        if code not in (0, CONFLICT):
            raise typer.Exit(code)
        if not _wait(f"{number} of {len(screens)}, {screen.title.lower()}", is_last=number == len(screens)):
            break
    print_line()
    print_line("On a table of your own", "bold")
    for what, command in OWN_TABLE:
        print_line(f"  {what}:")
        print_line(f"    {command}", "bold", whole=True)


def _screens(table: Path, links: Path) -> list[Screen]:
    """Write the screens for the sample."""
    folder = table.parent
    on_sample = ("-k", "3", "--id", "customer")
    clusters, report = str(folder / "clusters.csv"), str(folder / "report.html")
    doubtful = _write_wrong_links(links)
    return [
        Screen(
            "Check the links",
            f"{table.name} has 240 customers of a shop. {links.name} has what a person knows of some of them: pairs "
            "that belong together (must) and pairs that do not (cannot). Do these links contradict each other, and can "
            "3 clusters keep them all?",
            ("check", str(links), str(table), *on_sample),
        ),
        Screen(
            "Cluster with the links",
            "The clusters follow both the table and the links. For each cluster you see its size, its most typical "
            "customer, and the columns in which it differs from all rows.",
            ("cluster", str(table), str(links), *on_sample, "-o", clusters),
        ),
        Screen(
            "Look at a report",
            f"The same again, with --report: one HTML file with a picture of all rows and links. Open {report} in a "
            "browser; it works in light and dark, on paper and on a phone.",
            ("cluster", str(table), str(links), *on_sample, "-o", clusters, "--report", report),
        ),
        Screen(
            "Find links that may be wrong",
            f"In {doubtful.name} two of the 40 links are wrong. The clusters do not follow them, and the links to "
            "check are named, with the probability that each is right.",
            ("cluster", str(table), str(doubtful), *on_sample, "-o", clusters),
        ),
        Screen(
            "Answer questions",
            "No links yet? You are asked about pairs that tell most; y is yes, n is no. Every answer is saved at once "
            "as a link, and the same command continues another time.",
            ("ask", str(table), *on_sample, "--links", str(folder / "answers.csv"), "--limit", str(N_QUESTIONS)),
        ),
    ]


def _write_wrong_links(links: Path) -> Path:
    """Write the links of the sample with two mistakes beside them."""
    from mustlink._atomic import StagedFiles
    from mustlink.datasets import sample_paths

    path = links.with_name("mistakes.csv")
    text = sample_paths()[1].read_text(encoding="utf-8")
    for right, wrong in RIGHT_TO_WRONG.items():
        text = text.replace(right, wrong)
    with StagedFiles() as files:
        files.stage(path, text.encode("utf-8"))
    return path


def _show(screen: Screen, place: str) -> int:
    """Print a screen and run its command; return the exit code of the command."""
    from mustlink.cli import app
    from mustlink.cli._show import console, print_command, print_line

    terminal = console()
    if terminal.is_terminal and sys.stdin.isatty():
        terminal.clear()
    print_line(f"{place}: {screen.title}", "bold underline")
    print_line(screen.text)
    print_line()
    print_command(["mustlink", *screen.words])
    print_line()
    sys.stdout.flush()
    return app(list(screen.words), prog_name="mustlink", standalone_mode=False) or 0


def _wait(place: str, *, is_last: bool) -> bool:
    """Wait for Enter where a person sits at a terminal; return False if they quit."""
    from mustlink.cli._show import console, print_line

    print_line()
    if not sys.stdin.isatty():
        return True
    then = "end" if is_last else "go on"
    try:
        typed = console().input(f"[dim]{place}:[/dim] [b]Enter[/b] to {then}, [b]q[/b] to quit ")
    except EOFError:
        return False
    return not typed.strip().lower().startswith("q")
