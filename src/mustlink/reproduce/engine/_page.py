"""The page of a reproduction: text, claims, figures and tables, for a terminal and as files."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mustlink._atomic import write_atomically
from mustlink._version import __version__
from mustlink.reproduce.engine._figures import Figure
from mustlink.reproduce.engine._methods import MIN_UNLINKED
from mustlink.reproduce.engine._protocol import Part, Protocol, RunPlan
from mustlink.reproduce.engine._results import Results
from mustlink.reproduce.engine._tables import Table, escape_rst, to_csv, to_markdown, to_rich, to_rst

if TYPE_CHECKING:
    from rich.console import Console

_DPI = 110


@dataclass(frozen=True)
class Page:
    """The claims, figures and tables of a paper, made of results.

    Parameters
    ----------
    protocol : Protocol
        The experiments of the paper.
    parts : sequence of Part
        The figures and tables that were computed.
    plan : RunPlan
        How much was computed.
    results : Results
        The results; ``results.frame`` is a data frame with a row per run.
    command : str
        The command that makes the page.

    Examples
    --------
    >>> from mustlink.reproduce import run_paper
    >>> page = run_paper("active", figures=["pckmeans"], n_jobs=-1)  # doctest: +SKIP
    >>> page.claims().rows[0][:2]  # doctest: +SKIP
    ('Q1', 'held')
    """

    protocol: Protocol
    parts: Sequence[Part]
    plan: RunPlan
    results: Results
    command: str

    def _facts(self) -> list[str]:
        """Return what was computed, a paragraph per entry."""
        seconds = sum(record.scores.get("seconds", 0.0) for record in self.results)
        texts = [
            self.protocol.intro,
            self.plan.note,
            f"Made by ``{self.command}`` with mustlink {__version__}: {len(self.results):,} runs, "
            f"{seconds:,.0f} seconds of computing in all. Scores are means over the trials; in brackets, on the "
            f"unlinked points, which are in no link, where there are at least {MIN_UNLINKED}.",
        ]
        failed = self.results.failures
        if failed:
            run = failed[0].run
            texts.append(
                f"Failed: {len(failed)} of {len(failed) + len(self.results)} runs. The first was {run.method} on "
                f"{run.dataset} with {run.amount:g}: {failed[0].error}"
            )
        return [text for text in texts if text]

    def tables(self) -> list[Table]:
        """Return the tables of all parts that are not empty, each once.

        Returns
        -------
        list of Table
        """
        found = [table for part in self.parts for table in part.tables(self.results)]
        return list({table.name: table for table in found if table.rows}.values())

    def claims(self) -> Table:
        """Return the claims of the paper, and whether each held.

        Returns
        -------
        Table
        """
        rows = []
        for claim in (claim for part in self.parts for claim in part.claims):
            verdict = claim.judge(self.results)
            rows.append((claim.name, verdict.word, claim.text, verdict.sentence))
        header = ("claim", "verdict", "what the paper says", "what was found")
        return Table("claims", "The paper's claims", header, tuple(dict.fromkeys(rows)))

    def show(self, console: Console) -> None:
        """Print the tables and the claims.

        Parameters
        ----------
        console : rich.console.Console
            Where to print.
        """
        for text in self._facts():
            console.print(text.replace("``", ""), markup=False)
        for table in (*self.tables(), self.claims()):
            console.print()
            console.print(to_rich(table))

    def write(self, folder: Path, *, suffixes: Sequence[str] = ("md", "rst")) -> list[Path]:
        """Write the page, its figures, and its tables as CSV files in the folder ``tables``.

        Parameters
        ----------
        folder : Path
            Where to write; it is made if it does not exist.
        suffixes : sequence of {'md', 'rst'}
            Which kinds of page to write: Markdown, reStructuredText.

        Returns
        -------
        list of Path
            The files that were written.
        """
        (folder / "tables").mkdir(parents=True, exist_ok=True)
        parts = self.parts if importlib.util.find_spec("matplotlib") else ()
        figures = [figure for part in parts for figure in part.figures(self.results)]
        written = [self._draw(figure, folder) for figure in figures]
        tables = [self.claims(), *self.tables()]
        texts = {self._file(table): to_csv(table) for table in tables}
        for suffix in suffixes:
            page = self._markdown(figures, tables) if suffix == "md" else self._rst(figures, tables)
            texts[f"{self.protocol.name}.{suffix}"] = page
        for name, text in texts.items():
            write_atomically(folder / name, text.encode())
            written.append(folder / name)
        return written

    def _file(self, table: Table) -> str:
        """Return the path of the CSV file of a table, relative to the page."""
        return f"tables/{self.protocol.name}-{table.name}.csv"

    def _draw(self, figure: Figure, folder: Path) -> Path:
        """Draw one figure into a file."""
        from mustlink._plot_style import pyplot

        drawn = figure.draw()
        path = folder / f"{self.protocol.name}-{figure.name}.png"
        # Without the name and version of the drawing library, the same figure is the same file.
        drawn.savefig(path, dpi=_DPI, metadata={"Software": None})
        pyplot().close(drawn)
        return path

    def _markdown(self, figures: Sequence[Figure], tables: Sequence[Table]) -> str:
        """Write the page as Markdown: claims, figures, tables."""
        lines = [f"# {self.protocol.title}", "", self.protocol.source, ""]
        for text in self._facts():
            lines += [text.replace("``", "`"), ""]
        lines.append(to_markdown(tables[0]))
        for figure in figures:
            lines += [f"![{figure.caption}]({self.protocol.name}-{figure.name}.png)", "", figure.caption, ""]
        return "\n".join([*lines, *map(to_markdown, tables[1:])])

    def _rst(self, figures: Sequence[Figure], tables: Sequence[Table]) -> str:
        """Write the page as reStructuredText: claims, figures, tables."""
        title = self.protocol.title
        # A line that begins with an initial and a full stop would be an item of a list.
        lines = [title, "=" * len(title), "", self.protocol.source.replace(".", "\\.", 1), ""]
        for text in self._facts():
            lines += [escape_rst(text), ""]
        directives = [to_rst(table, self._file(table)) for table in tables]
        lines += ["Claims", "------", "", directives[0]]
        if figures:
            lines += ["Figures", "-------", ""]
        for figure in figures:
            lines += [f".. figure:: {self.protocol.name}-{figure.name}.png", "   :width: 100%", ""]
            lines += [f"   {figure.caption}", ""]
        if directives[1:]:
            lines += ["Tables", "------", "", *directives[1:]]
        return "\n".join(lines)
