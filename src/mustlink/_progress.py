"""The progress bar of all long computations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

__all__ = ["Advance", "progress"]

# For the estimate of the time left, over how many seconds the speed is averaged.
SPEED_PERIOD = 3600


class Advance(Protocol):
    """Moves the bar to `n_done` steps, or one step on if it is None; a note or the loss follows the description."""

    def __call__(self, n_done: int | None = None, note: str | float = "", *, total: int | None = None) -> None: ...


@contextmanager
def progress(
    total: int | None,
    description: str,
    *,
    shown: int | bool = True,
    n_done: int = 0,
    stderr: bool = False,
    timed: bool = False,
) -> Iterator[Advance]:
    """Show a progress bar, if `shown`, and yield the function that moves it.

    The bar is printed to standard output, or with `stderr` to standard error, where it vanishes when done. `timed` adds
    the time passed and the time left.
    """
    if not shown:
        yield _do_nothing
        return
    from rich import progress as rich_progress
    from rich.console import Console

    columns = [rich_progress.TextColumn("{task.description}"), rich_progress.BarColumn()]
    columns.append(rich_progress.MofNCompleteColumn())
    if timed:
        columns += [rich_progress.TimeElapsedColumn(), rich_progress.TextColumn("left")]
        columns.append(rich_progress.TimeRemainingColumn())
    bar = rich_progress.Progress(
        *columns, console=Console(stderr=stderr), transient=stderr, speed_estimate_period=SPEED_PERIOD
    )
    task = bar.add_task(description, total=total, completed=n_done)

    def advance(n_done: int | None = None, note: str | float = "", *, total: int | None = None) -> None:
        words = note if isinstance(note, str) else f"loss {note:.4g}"
        text = f"{description}, {words}" if words else description
        if n_done is None:
            bar.advance(task)
        bar.update(task, completed=n_done, total=total, description=text)

    with bar:
        yield advance


def _do_nothing(n_done: int | None = None, note: str | float = "", *, total: int | None = None) -> None:
    """Take the place of the function that moves the bar, where none is shown."""
