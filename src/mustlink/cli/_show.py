"""Printing for the terminal: the same summary that the report shows."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from mustlink._types import FilePath
    from mustlink.report import ClusterSummary, Summary
    from mustlink.workflow import Job, JobResult

__all__ = [
    "cluster_table",
    "console",
    "make_table",
    "print_command",
    "print_line",
    "show_list",
    "show_result",
    "show_status",
    "show_summary",
]

MAX_LISTED = 10
MIN_WIDTH_WITH_SHARE = 64


def console() -> Console:
    """Make the console at the moment of printing, since the output may have been redirected."""
    return Console(highlight=False)


def print_line(text: str = "", style: str = "", *, whole: bool = False) -> None:
    """Print a line, wrapped between words at the width of the terminal, or whole for copying."""
    console().print(Text(text, style=style), soft_wrap=whole)


def print_command(words: Sequence[str]) -> None:
    """Print a command to copy: whole, or on a narrower terminal in lines that a shell takes as one."""
    text = f"  {shlex.join(words)}"
    terminal = console()
    if terminal.is_terminal and len(text) > terminal.width:
        parts: list[str] = []
        for word in words:
            # An option stays beside its value.
            if parts and parts[-1].startswith("-") and " " not in parts[-1] and not word.startswith("-"):
                parts[-1] += f" {shlex.quote(word)}"
            else:
                parts.append(shlex.quote(word))
        text = f"  {_continued(parts, terminal.width)}"
    print_line(text, "bold", whole=True)


def _continued(parts: Sequence[str], width: int) -> str:
    """Join the parts of a command in lines that end with a backslash."""
    lines = [parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + len(part) + len("   \\") + 2 > width:
            lines.append(f"  {part}")
        else:
            lines[-1] += f" {part}"
    return " \\\n  ".join(lines)


def make_table(*headings: str, header_style: str = "dim") -> Table:
    """Make a table without lines."""
    return Table(*headings, box=None, pad_edge=False, header_style=header_style, padding=(0, 2, 0, 0))


@contextmanager
def show_status(what: str) -> Iterator[None]:
    """Show a status on standard error while something is computed, on a terminal only."""
    errors = Console(stderr=True)
    with errors.status(what) if errors.is_terminal else nullcontext():
        yield


def show_list(title: str, lines: Sequence[str], total: int) -> None:
    """Print a heading, the first few lines, and how many more there are."""
    print_line(title, "bold")
    shown = lines[:MAX_LISTED]
    for line in shown:
        console().print(Padding(Text(line), (0, 0, 0, 2)))
    if total > len(shown):
        print_line(f"  and {total - len(shown):,} more")


def show_summary(summary: Summary) -> None:
    """Print the clusters, the links and the notes."""
    from mustlink.report import headline

    print_line(headline(summary), "bold")
    print_line()
    console().print(cluster_table(summary))
    print_line()
    if summary.columns:
        print_line(str(summary.columns))
    if summary.bounds:
        show_list("Sizes", summary.size_notes, len(summary.size_notes))
    show_links(summary)
    if summary.notices:
        show_list("Notes", summary.notices, len(summary.notices))


def show_result(job: Job, result: JobResult) -> None:
    """Print the result of a job and where it was written."""
    show_summary(result.summary)
    what = "Clusters (without ids)" if str(job.output).endswith(".npy") else "Clusters"
    print_written({what: job.output, "Report": job.report, "Model": job.save_model})


def print_written(files: Mapping[str, FilePath | None]) -> None:
    """Print where each output was written; None was not asked for."""
    for what, path in files.items():
        if path is not None:
            print_line(f"{what} written to {path}", whole=True)


def cluster_table(summary: Summary) -> Table:
    """Lay out the clusters."""
    table = make_table()
    table.add_column("cluster", justify="right")
    table.add_column("rows", justify="right")
    with_share = not summary.n_known and console().width >= MIN_WIDTH_WITH_SHARE
    if with_share:
        # With known labels there is no space for it in 80 characters.
        table.add_column("share", justify="right")
    table.add_column("nearest row", overflow="fold", max_width=20)
    table.add_column("differs from all rows in", overflow="fold")
    if summary.n_known:
        table.add_column("known labels", overflow="fold", max_width=24)
    for cluster in summary.clusters:
        table.add_row(*(Text(cell) for cell in _cells(cluster, with_share=with_share, with_known=summary.n_known > 0)))
    if summary.n_noise:
        table.add_row("none", f"{summary.n_noise:,}")
    return table


def _cells(cluster: ClusterSummary, *, with_share: bool, with_known: bool) -> list[str]:
    """Word one cluster."""
    cells = [
        cluster.name,
        f"{cluster.size:,}",
        *([f"{cluster.share:.1%}"] if with_share else []),
        cluster.nearest_name,
        "\n".join(map(str, cluster.traits)) or "close to the average",
    ]
    if with_known:
        cells.append(", ".join(f"{label} ({count:,})" for label, count in cluster.known[:3]) or "none")
    return cells


def show_links(summary: Summary) -> None:
    """Print which links were kept, broken, possibly wrong or contradictory."""
    from mustlink.report import suspicion

    if not summary.n_links:
        return
    print_line(
        f"Links kept: {summary.n_must_kept:,} of {summary.n_must:,} must, "
        f"{summary.n_cannot_kept:,} of {summary.n_cannot:,} cannot"
    )
    if summary.n_broken:
        show_list("Broken links", [str(link) for link in summary.broken], summary.n_broken)
    if summary.suspects:
        show_list(suspicion(summary), [str(link) for link in summary.suspects], summary.n_suspects)
    if summary.n_conflicts:
        show_list("Links that contradict each other", summary.conflicts, summary.n_conflicts)
