"""``mustlink reproduce``: the experiments of a paper, run again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mustlink.cli._errors import reported
from mustlink.cli._options import Debug

if TYPE_CHECKING:
    from mustlink.reproduce import Page

__all__ = ["reproduce"]

SOME_FAILED = 1


@reported
def reproduce(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="boostcluster, bbc, bckm, active or doubt.")],
    quick: Annotated[
        bool,
        typer.Option("--quick/--full", help="A small run of under ten minutes, or the paper's number of repetitions."),
    ] = True,
    figure: Annotated[
        list[str] | None,
        typer.Option("--figure", metavar="N", help="Only this figure, such as 5, or table2 for a table; repeatable."),
    ] = None,
    results: Annotated[
        Path, typer.Option("--results", metavar="FOLDER", help="Where results are kept, and taken up again.")
    ] = Path("mustlink-results"),
    docs: Annotated[
        Path | None,
        typer.Option("--docs", metavar="FOLDER", help="Also write the page and its figures there, for Sphinx."),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Forget the kept results of this paper and begin anew.")
    ] = False,
    jobs: Annotated[
        int, typer.Option("--jobs", metavar="N", min=0, help="Runs at the same time; 0: one per core.")
    ] = 0,
    debug: Debug = False,
) -> None:
    """Run the experiments of a paper again, and say which of its claims held.

    Every finished run is kept in the results folder at once: an interrupted command goes on where it stopped. Prints
    the tables, draws the figures (with matplotlib, from the extra 'plot') and ends with the paper's claims, each held
    or not held with the figures. Exit code 0, or 1 if some runs failed.
    """
    from mustlink.reproduce import Page, ResultStore, find_protocol, run_cells

    protocol = find_protocol(paper)
    parts = protocol.choose(figure or ())
    sizes = protocol.quick if quick else protocol.full
    cells = protocol.cells(sizes, parts)
    store = ResultStore(results / f"{protocol.name}.jsonl")
    if fresh:
        store.clear()
    try:
        found = run_cells(protocol, cells, store, n_jobs=jobs or -1)
    except KeyboardInterrupt:
        typer.echo(f"The finished runs are kept in {store.path}; the same command goes on from there.", err=True)
        raise
    named = "".join(f" --figure {part}" for part in figure or ())
    page = Page(protocol, parts, sizes, found, f"mustlink reproduce {paper} {'--quick' if quick else '--full'}{named}")
    _tell(page, results, docs)
    if found.failures:
        raise typer.Exit(SOME_FAILED)


def _tell(page: Page, results: Path, docs: Path | None) -> None:
    """Print the page and write it."""
    from importlib.util import find_spec

    from mustlink.cli._show import printer, say

    page.show(printer())
    written = page.write(results)
    if docs is not None:
        written += page.write(docs, endings=("rst",))
    say("")
    if find_spec("matplotlib") is None:
        say('The figures are left out, since matplotlib is not installed: pip install "mustlink[plot]"')
    for path in written:
        say(f"Written: {path}")
