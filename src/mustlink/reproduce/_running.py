"""Running the cells that have no result yet, on several cores, with a progress bar."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from mustlink.reproduce._cell import Cell
from mustlink.reproduce._protocol import Protocol
from mustlink.reproduce._results import Results
from mustlink.reproduce._store import Record, ResultStore

__all__ = ["kept_results", "run_cells"]


def kept_results(store: ResultStore, cells: Sequence[Cell]) -> Results:
    """Return the results there are for some cells.

    Parameters
    ----------
    store : ResultStore
        The results on disk.
    cells : sequence of Cell
        The cells.

    Returns
    -------
    Results
        In the order of the cells.

    Examples
    --------
    >>> from mustlink.reproduce import Cell, ResultStore, kept_results
    >>> len(kept_results(ResultStore("no-such-file.jsonl"), [Cell("bckm", "iris", "BCKM", 100, trial=0)]))
    0
    """
    records = store.read()
    return Results(records[key] for key in (cell.key() for cell in cells) if key in records)


def run_cells(
    protocol: Protocol,
    cells: Sequence[Cell],
    store: ResultStore,
    *,
    n_jobs: int = 1,
    show: bool = True,
) -> Results:
    """Run the cells that have no result yet, and return the results of all.

    Parameters
    ----------
    protocol : Protocol
        Whose cells they are.
    cells : sequence of Cell
        The cells.
    store : ResultStore
        Where results are looked up, and kept as soon as they are there. A cell that failed is run again.
    n_jobs : int, default=1
        How many cells are run at the same time, -1 for one per core. Cells that are timed always run alone.
    show : bool, default=True
        Whether to show a progress bar on the standard error output, if that is a terminal.

    Returns
    -------
    Results

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mustlink.reproduce import Cell, ResultStore, find_protocol, run_cells
    >>> cells = [Cell("bckm", "iris", "k-means", 0, trial=0)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = ResultStore(Path(folder) / "bckm.jsonl")
    ...     results = run_cells(find_protocol("bckm"), cells, store, show=False)
    >>> round(results.mean("nmi"), 2) > 0.5
    True
    """
    finished = store.read()
    open_cells = [cell for cell in cells if _is_open(finished.get(cell.key()))]
    # In a fixed random order the mean time of the cells so far tells how long the rest will take.
    random.Random(0).shuffle(open_cells)
    protocol.check_data(open_cells)
    together = [cell for cell in open_cells if cell.measure != "seconds"]
    alone = [cell for cell in open_cells if cell.measure == "seconds"]
    with _Progress(protocol.name, len(cells), len(cells) - len(open_cells), show) as advance:
        for batch, jobs in ((together, n_jobs), (alone, 1)):
            for record in _computed(protocol, batch, jobs):
                store.append(record)
                advance()
    return kept_results(store, cells)


def _is_open(record: Record | None) -> bool:
    """Say whether a cell has yet to be run."""
    return record is None or record.error is not None


def _computed(protocol: Protocol, cells: Sequence[Cell], n_jobs: int) -> Iterator[Record]:
    """Give results as they come."""
    if n_jobs == 1 or len(cells) < 2:
        yield from map(protocol.compute, cells)
        return
    from joblib import Parallel, delayed

    yield from Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        delayed(protocol.compute)(cell) for cell in cells
    )


class _Progress:
    """A bar with the time left, on a terminal only; otherwise nothing."""

    def __init__(self, what: str, total: int, done: int, show: bool) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            disable=not (show and console.is_terminal),
            speed_estimate_period=3600,
        )
        self._task = self._bar.add_task(what, total=total, completed=done)

    def __enter__(self) -> Callable[[], None]:
        self._bar.start()
        return lambda: self._bar.advance(self._task)

    def __exit__(self, *raised: object) -> None:
        self._bar.stop()
