"""What is printed: the same summary that the report shows, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from mustlink.cli._job import Job, Outcome
    from mustlink.report import ClusterSummary, Summary

__all__ = ["say", "show_list", "show_outcome", "working"]

_MOST_LISTED = 10


def printer() -> Console:
    """Make the console, at the moment of printing, so that it follows a redirected output."""
    return Console(highlight=False)


def say(text: str = "", style: str = "", *, whole: bool = False) -> None:
    """Print a line, broken between words at the width of the terminal, or kept whole for whoever copies it."""
    printer().print(Text(text, style=style), soft_wrap=whole)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show that something is going on, on a terminal only and apart from the output."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield


def show_list(title: str, lines: Sequence[str], total: int) -> None:
    """Print a heading and the first few lines below it, and how many more there are."""
    say(title, "bold")
    shown = lines[:_MOST_LISTED]
    for line in shown:
        printer().print(Padding(Text(line), (0, 0, 0, 2)))
    if total > len(shown):
        say(f"  and {total - len(shown):,} more")


def show_outcome(job: Job, outcome: Outcome) -> None:
    """Print what came of a clustering and where it was written."""
    from mustlink.report import headline

    summary = outcome.summary
    say(headline(summary), "bold")
    say()
    printer().print(_cluster_table(summary))
    say()
    show_links(summary)
    if summary.notices:
        show_list("Notes", summary.notices, len(summary.notices))
    written = "Clusters alone (no ids)" if job.output.suffix == ".npy" else "Clusters"
    say(f"{written} written to {job.output}", whole=True)
    if job.report is not None:
        say(f"Report written to {job.report}", whole=True)


def _cluster_table(summary: Summary) -> Table:
    """Lay out the clusters."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("cluster", justify="right")
    table.add_column("rows", justify="right")
    if not summary.n_known:
        # With known labels there are columns enough for 80 characters.
        table.add_column("share", justify="right")
    table.add_column("nearest row", overflow="fold", max_width=20)
    table.add_column("what sets it apart", overflow="fold")
    if summary.n_known:
        table.add_column("known labels", overflow="fold", max_width=24)
    for cluster in summary.clusters:
        table.add_row(*(Text(cell) for cell in _cells(cluster, with_known=summary.n_known > 0)))
    if summary.n_noise:
        table.add_row("none", f"{summary.n_noise:,}")
    return table


def _cells(cluster: ClusterSummary, *, with_known: bool) -> list[str]:
    """Word one cluster."""
    cells = [
        str(cluster.label),
        f"{cluster.size:,}",
        *([] if with_known else [f"{cluster.share:.1%}"]),
        cluster.nearest_name,
        "\n".join(map(str, cluster.traits)) or "close to the average",
    ]
    if with_known:
        cells.append(", ".join(f"{label} ({count:,})" for label, count in cluster.known[:3]) or "none")
    return cells


def show_links(summary: Summary) -> None:
    """Print how the links fared."""
    from mustlink.report import suspicion

    if not summary.n_links:
        return
    say(
        f"Links kept: {summary.n_must_kept:,} of {summary.n_must:,} must, "
        f"{summary.n_cannot_kept:,} of {summary.n_cannot:,} cannot"
    )
    if summary.n_broken:
        show_list("Broken links", [str(link) for link in summary.broken], summary.n_broken)
    if summary.suspects:
        show_list(suspicion(summary), [str(link) for link in summary.suspects], summary.n_suspects)
    if summary.n_conflicts:
        show_list("Links that contradict each other", summary.conflicts, summary.n_conflicts)
