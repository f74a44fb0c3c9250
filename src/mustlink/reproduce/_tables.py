"""Tables that are written once and shown three ways: in a terminal, as Markdown, as reStructuredText."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mustlink.reproduce._results import Results, mean_known

if TYPE_CHECKING:
    import rich.table

__all__ = [
    "NOT_HERE",
    "Table",
    "amount_text",
    "figure_text",
    "mean_table",
    "score_table",
    "to_markdown",
    "to_rich",
    "to_rst",
]

NOT_HERE = "not in this version"


@dataclass(frozen=True)
class Table:
    """Text in rows and columns; the first column names the row."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def figure_text(value: float, digits: int = 3) -> str:
    """Write a figure, or a dash where there is none."""
    return "-" if value is None or math.isnan(value) else f"{value:.{digits}f}"


def score_table(
    results: Results,
    title: str,
    score: str,
    *,
    datasets: Mapping[str, str],
    methods: Sequence[str],
    missing: Sequence[str] = (),
    unit: str = "links",
) -> Table:
    """Lay out a score: rows of data sets and methods, a column per amount.

    Each entry is the mean over all points, and in brackets over the points in no link.
    """
    amounts = results.amounts()
    rows: list[tuple[str, ...]] = []
    for dataset, name in datasets.items():
        here = results.select(dataset=dataset)
        shown = [method for method in methods if len(chosen := here.select(method=method)) or chosen.failures]
        for method in shown:
            chosen = here.select(method=method)
            entries = (_entry(chosen.select(amount=amount), score) for amount in amounts)
            rows.append((name if method == shown[0] else "", method, *entries))
    rows += [("all", method, *[NOT_HERE] * min(1, len(amounts)), *[""] * (len(amounts) - 1)) for method in missing]
    return Table(title, ("set", "method", *(amount_text(amount, unit) for amount in amounts)), tuple(rows))


def mean_table(results: Results, title: str, score: str, methods: Sequence[str]) -> Table:
    """Lay out the means over all data sets: a row per method, a column per amount above zero."""
    datasets = results.unique("dataset")
    amounts = [amount for amount in results.amounts() if amount > 0]
    rows = []
    for method in methods:
        chosen = results.select(method=method)
        if not len(chosen):
            continue
        entries = []
        for amount in amounts:
            at = chosen.select(amount=amount)
            both = [
                mean_known(at.mean(name, dataset=dataset) for dataset in datasets)
                for name in (score, f"{score}_unconstrained")
            ]
            entries.append(f"{figure_text(both[0])} ({figure_text(both[1])})")
        rows.append((method, *entries))
    header = ("method", *(amount_text(amount, "links") for amount in amounts))
    return Table(title, header, tuple(rows), "In brackets, over the sets that have enough points in no link.")


def amount_text(amount: float, unit: str) -> str:
    """Write how much is known."""
    return f"{amount:.0%} {unit}" if 0 < amount < 1 else f"{amount:g} {unit}"


def _entry(results: Results, score: str) -> str:
    """Write the mean over all points, and over the points in no link."""
    if not len(results):
        return "failed" if results.failures else ""
    everywhere = figure_text(results.mean(score))
    unlinked = figure_text(results.mean(f"{score}_unconstrained"))
    return f"{everywhere} ({unlinked})"


def to_rich(table: Table) -> rich.table.Table:
    """Make a table for a terminal."""
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0), title=table.title)
    shown.title_justify = "left"
    shown.title_style = "bold"
    for place, heading in enumerate(table.header):
        numeric = bool(table.rows) and all(_is_figure(row[place]) for row in table.rows)
        shown.add_column(heading, justify="right" if numeric else "left", overflow="fold")
    for row in table.rows:
        shown.add_row(*(Text(cell) for cell in row))
    if table.note:
        shown.caption = Text(table.note)
        shown.caption_justify = "left"
    return shown


def _is_figure(cell: str) -> bool:
    """Say whether a cell holds a number, or nothing."""
    return cell in ("", "-", "failed", NOT_HERE) or cell[:1].isdigit()


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


def to_rst(table: Table) -> str:
    """Write a table as reStructuredText."""
    lines = [f".. list-table:: {table.title}", "   :header-rows: 1", "   :stub-columns: 1", "   :widths: auto", ""]
    for row in (table.header, *table.rows):
        for place, cell in enumerate(row):
            lines.append(f"   {'* -' if place == 0 else '  -'} {_escaped(cell)}".rstrip())
    if table.note:
        lines += ["", _escaped(table.note)]
    return "\n".join(lines) + "\n"


def rst_text(text: str) -> str:
    """Write a paragraph of which only what stands between double backticks is markup."""
    plain_and_code = text.split("``")
    return "``".join(part if place % 2 else _escaped(part) for place, part in enumerate(plain_and_code))


def _escaped(text: str) -> str:
    """Keep a star, a bar or an underscore from being read as markup; a lone dash would be a list."""
    for mark in ("\\", "*", "|", "`", "_"):
        text = text.replace(mark, "\\" + mark)
    return "\\-" if text == "-" else text
