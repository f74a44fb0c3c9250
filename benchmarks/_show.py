"""Tables in the terminal."""

from __future__ import annotations

from typing import Any


def new_table(title: str, *headings: str, n_names: int = 1) -> Any:
    """Return a table without rows; its first columns hold names, the others numbers."""
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="left" if place < n_names else "right")
    return table


def show(*tables: Any) -> None:
    """Print tables or texts."""
    from rich.console import Console

    console = Console(width=150)
    for table in tables:
        console.print(table)
