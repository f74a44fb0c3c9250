"""``mustlink reproduce``: the experiments of a paper, run again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mustlink.cli._errors import report_errors
from mustlink.cli._options import Debug

if TYPE_CHECKING:
    from mustlink.reproduce import Page

__all__ = ["reproduce"]

SOME_FAILED = 1


@report_errors
def reproduce(
    paper: Annotated[
        str,
        typer.Argument(
            metavar="PAPER",
            help="boostcluster, bbc, bckm, active, robust, linked_sizes, mixture_noise, ch02, ch03, ch04, ch05, ch06, "
            "ch07, ch08, ch09, ch10, ch11, ch12, ch13, ch14, ch15, ch16 or ch17.",
        ),
    ],
    quick: Annotated[
        bool,
        typer.Option("--quick/--full", help="A small run of some minutes, or the paper's number of repetitions."),
    ] = True,
    figure: Annotated[
        list[str] | None,
        typer.Option("--figure", metavar="N", help="Only this figure, such as 5, or table2 for a table; repeatable."),
    ] = None,
    results: Annotated[
        Path, typer.Option("--results", metavar="FOLDER", help="Where results are stored and looked up.")
    ] = Path("mustlink-results"),
    docs: Annotated[
        Path | None,
        typer.Option("--docs", metavar="FOLDER", help="Also write the page there, for Sphinx."),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Delete the stored results of this paper first.")] = False,
    jobs: Annotated[
        int, typer.Option("--jobs", metavar="N", min=0, help="Runs at the same time; 0: one per core.")
    ] = 0,
    debug: Debug = False,
) -> None:
    """Run the experiments of a paper again, and test its claims.

    Every finished run is stored in the results folder at once: an interrupted command continues where it stopped.
    Prints the tables, draws the figures (with matplotlib, from the extra 'plot') and ends with the paper's claims, each
    held or not held with its numbers. Exit code 0, 1 if some runs failed, or 2 when something in the input is wrong.
    """
    from mustlink._atomic import make_folder
    from mustlink.reproduce import run_paper

    if docs is not None:
        make_folder(docs)
    try:
        page = run_paper(paper, full=not quick, figures=figure or (), results=results, fresh=fresh, n_jobs=jobs or -1)
    except KeyboardInterrupt:
        store = results / f"{paper}.jsonl"
        typer.echo(f"The finished runs are stored in {store}; the same command continues from there.", err=True)
        raise
    _show_page(page, results, docs)
    if page.results.failures:
        raise typer.Exit(SOME_FAILED)


def _show_page(page: Page, results: Path, docs: Path | None) -> None:
    """Print the page and write it."""
    from importlib.util import find_spec

    from mustlink.cli._show import console, print_line

    page.show(console())
    written = page.write(results)
    if docs is not None:
        written += page.write(docs, suffixes=("rst",))
    print_line("")
    if find_spec("matplotlib") is None:
        print_line('The figures are left out, since matplotlib is not installed: pip install "mustlink[plot]"')
    for path in written:
        print_line(f"Written: {path}")
