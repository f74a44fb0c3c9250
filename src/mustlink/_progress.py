"""A bar that fills with the rounds of boosting."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["round_bar"]


@contextmanager
def round_bar(shown: int | bool, name: str, n_rounds: int) -> Iterator[Callable[[int, float], None]]:
    """Show a bar if asked to; yield a function that takes the number of rounds made and the loss after them."""
    if not shown:
        yield lambda n_made, loss: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns) as bar:
        task = bar.add_task(name, total=n_rounds)
        yield lambda n_made, loss: bar.update(task, completed=n_made, description=f"{name}, loss {loss:.4g}")
