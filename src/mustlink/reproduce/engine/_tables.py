"""Tables of texts, shown in a terminal, as Markdown, and as CSV files that a reStructuredText page includes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import pandas as pd

from mustlink.reproduce.engine._results import Results, nan_mean

if TYPE_CHECKING:
    import rich.table

_UNKNOWN = "n/a"


@dataclass(frozen=True)
class Table:
    """Texts in rows and columns; the first column names the row."""

    name: str  # of the file, without its suffix
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def number_text(value: float, digits: int = 3, sign: str = "") -> str:
    """Write a number; with sign="+", also a positive one with its sign."""
    return _UNKNOWN if math.isnan(value) else f"{value:{sign}.{digits}f}"


def pair_text(everywhere: float, unlinked: float) -> str:
    """Write a score on all points, and in brackets on the unlinked points."""
    return f"{number_text(everywhere)} ({number_text(unlinked)})"


def score_table(
    results: Results,
    name: str,
    title: str,
    score: str,
    *,
    datasets: Mapping[str, str],
    methods: Iterable[str],
    unit: str = "links",
) -> Table:
    """Lay out a score: rows of data sets and methods, a column per amount."""
    fields, amounts = ("dataset", "method", "amount"), results.amounts()
    means, unlinked = (results.means(column, *fields) for column in (score, f"{score}_unconstrained"))
    failed = {tuple(getattr(record.run, field) for field in fields) for record in results.failures}
    rows = []
    for dataset, method in product(datasets, methods):
        entries = []
        for key in ((dataset, method, amount) for amount in amounts):
            failure = "failed" if key in failed else ""
            entries.append(pair_text(means[key], unlinked.get(key, math.nan)) if key in means else failure)
        if any(entries):
            rows.append((datasets[dataset], method, *entries))
    return Table(name, title, ("set", "method", *(_amount_text(amount, unit) for amount in amounts)), tuple(rows))


def mean_table(results: Results, name: str, title: str, score: str, methods: Iterable[str]) -> Table:
    """Lay out the means over all data sets: a row per method, a column per amount above zero."""
    datasets, amounts = results.unique("dataset"), [amount for amount in results.amounts() if amount > 0]
    scores = [results.means(column, "dataset", "method", "amount") for column in (score, f"{score}_unconstrained")]
    present, rows = results.unique("method"), []
    for method in (method for method in methods if method in present):
        row = [method]
        for amount in amounts:
            cell = [(dataset, method, amount) for dataset in datasets]
            row.append(pair_text(*(nan_mean(means.get(key, math.nan) for key in cell) for means in scores)))
        rows.append(tuple(row))
    header = ("method", *(_amount_text(amount, "links") for amount in amounts))
    return Table(name, title, header, tuple(rows), "In brackets: over the sets that have enough unlinked points.")


def _amount_text(amount: float, unit: str) -> str:
    """Write how much is known."""
    return f"{amount:.0%} {unit}" if 0 < amount < 1 else f"{amount:g} {unit}"


def to_rich(table: Table) -> rich.table.Table:
    """Make a table for a terminal."""
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable(
        box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", title_style="bold", title_justify="left"
    )
    shown.title, shown.caption = table.title, Text(table.note) if table.note else None
    shown.caption_justify = "left"
    for place, heading in enumerate(table.header):
        cells = [row[place] for row in table.rows]
        numeric = bool(cells) and all(cell in ("", _UNKNOWN, "failed") or cell[:1].isdigit() for cell in cells)
        shown.add_column(heading, justify="right" if numeric else "left", overflow="fold")
    for row in table.rows:
        shown.add_row(*(Text(cell) for cell in row))
    return shown


def to_markdown(table: Table) -> str:
    """Write a table as Markdown."""
    lines = [f"### {table.title}", "", _pipes(table.header), _pipes(["---"] * len(table.header))]
    lines += [_pipes([cell.replace("|", "\\|") for cell in row]) for row in table.rows]
    if table.note:
        lines += ["", table.note]
    return "\n".join(lines) + "\n"


def _pipes(cells: Sequence[str]) -> str:
    """Write one row of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


def to_csv(table: Table) -> str:
    """Write a table as CSV, its cells as reStructuredText."""
    header, *rows = ([escape_rst(cell) for cell in row] for row in (table.header, *table.rows))
    text: str = pd.DataFrame(rows, columns=header).to_csv(index=False, lineterminator="\n")
    return text


def to_rst(table: Table, file: str) -> str:
    """Write the directive that includes the CSV file of a table."""
    options = {"file": file, "header-rows": "1", "stub-columns": "1", "widths": "auto"}
    lines = [f".. csv-table:: {escape_rst(table.title)}", *(f"   :{name}: {value}" for name, value in options.items())]
    if table.note:
        lines += ["", escape_rst(table.note)]
    return "\n".join(lines) + "\n"


def escape_rst(text: str) -> str:
    """Keep stars, bars, underscores from being read as markup, except between double backticks."""
    parts = text.split("``")
    for place in range(0, len(parts), 2):
        for mark in ("\\", "*", "|", "`", "_"):
            parts[place] = parts[place].replace(mark, "\\" + mark)
    return "``".join(parts)
