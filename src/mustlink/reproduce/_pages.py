"""The page of a reproduction: text, tables, figures and claims, for a terminal and as files."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mustlink._atomic import write_atomically
from mustlink._version import __version__
from mustlink.reproduce._methods import FEWEST_UNLINKED
from mustlink.reproduce._protocol import Part, Picture, Protocol, Sizes
from mustlink.reproduce._results import Results
from mustlink.reproduce._tables import Table, rst_text, to_markdown, to_rich, to_rst

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Page"]

_DPI = 110


@dataclass(frozen=True)
class Page:
    """All there is to show of a run.

    Parameters
    ----------
    protocol : Protocol
        The paper.
    parts : sequence of Part
        The figures and tables that were run.
    sizes : Sizes
        How much was run.
    results : Results
        The results.
    command : str
        The command that makes the page.

    Examples
    --------
    >>> from mustlink.reproduce import Page, Results, find_protocol
    >>> bckm = find_protocol("bckm")
    >>> page = Page(bckm, bckm.parts, bckm.quick, Results(()), "mustlink reproduce bckm --quick")
    >>> page.claims().header
    ('claim', 'verdict', 'what the paper says', 'what was found')
    """

    protocol: Protocol
    parts: Sequence[Part]
    sizes: Sizes
    results: Results
    command: str

    def facts(self) -> list[str]:
        """Say what was run, a paragraph per entry.

        Returns
        -------
        list of str
        """
        computing = sum(record.scores.get("seconds", 0.0) for record in self.results)
        told = [
            self.protocol.intro,
            self.sizes.note,
            f"Made by ``{self.command}`` with mustlink {__version__}: {len(self.results):,} runs, "
            f"{computing:,.0f} seconds of computing in all. Figures are means over the trials; in brackets, on the "
            f"points that stand in no link, where there are at least {FEWEST_UNLINKED}.",
        ]
        missing = self.protocol.missing_methods()
        if missing:
            told.append(f"Not in this version: {', '.join(missing)}.")
        told += self._failures()
        return [text for text in told if text]

    def _failures(self) -> list[str]:
        """Say how many runs failed, and how the first did."""
        failed = self.results.failures
        if not failed:
            return []
        first = failed[0]
        return [
            f"Failed: {len(failed)} of {len(failed) + len(self.results)} runs. The first was {first.cell.method} on "
            f"{first.cell.dataset} with {first.cell.amount:g}: {first.error}"
        ]

    def tables(self) -> list[Table]:
        """Return the tables of all parts that have something to show, each once.

        Returns
        -------
        list of Table
        """
        found = [table for part in self.parts for table in part.tables(self.results)]
        return list({table.title: table for table in found if table.rows}.values())

    def pictures(self) -> list[Picture]:
        """Return the figures of all parts.

        Returns
        -------
        list of Picture
        """
        return [picture for part in self.parts for picture in part.pictures(self.results)]

    def claims(self) -> Table:
        """Return what the paper claims, and whether it held.

        Returns
        -------
        Table
        """
        rows = []
        for part in self.parts:
            for claim in part.claims:
                verdict = claim.judge(self.results)
                rows.append((claim.name, verdict.word, claim.text, verdict.sentence))
        return Table(
            "The paper's claims",
            ("claim", "verdict", "what the paper says", "what was found"),
            tuple(dict.fromkeys(rows)),
        )

    def show(self, console: Console) -> None:
        """Print the tables and the claims.

        Parameters
        ----------
        console : rich.console.Console
            Where to.
        """
        for text in self.facts():
            console.print(text.replace("``", ""), markup=False)
        for table in (*self.tables(), self.claims()):
            console.print()
            console.print(to_rich(table))

    def write(self, folder: Path, *, endings: Sequence[str] = ("md", "rst")) -> list[Path]:
        """Write the page as Markdown and reStructuredText, and its figures beside them.

        Parameters
        ----------
        folder : Path
            Where to; it is made if it is not there.
        endings : sequence of {'md', 'rst'}
            Which kinds of page to write.

        Returns
        -------
        list of Path
            What was written.
        """
        folder.mkdir(parents=True, exist_ok=True)
        pictures = self.pictures() if importlib.util.find_spec("matplotlib") else []
        written = [self._draw(picture, folder) for picture in pictures]
        for ending in endings:
            text = self._markdown(pictures) if ending == "md" else self._rst(pictures)
            path = folder / f"{self.protocol.name}.{ending}"
            write_atomically(path, text.encode())
            written.append(path)
        return written

    def _draw(self, picture: Picture, folder: Path) -> Path:
        """Draw one figure into a file."""
        from mustlink.plot._style import pyplot

        figure = picture.draw()
        path = folder / f"{self.protocol.name}-{picture.name}.png"
        # Without the name and version of the drawing library, the same figure is the same file.
        figure.savefig(path, dpi=_DPI, metadata={"Software": None})
        pyplot().close(figure)
        return path

    def _markdown(self, pictures: Sequence[Picture]) -> str:
        """Write the page as Markdown."""
        lines = [f"# {self.protocol.title}", "", self.protocol.source, ""]
        for text in self.facts():
            lines += [text.replace("``", "`"), ""]
        lines += [to_markdown(self.claims())]
        for picture in pictures:
            lines += [f"![{picture.caption}]({self.protocol.name}-{picture.name}.png)", "", picture.caption, ""]
        lines += [to_markdown(table) for table in self.tables()]
        return "\n".join(lines)

    def _rst(self, pictures: Sequence[Picture]) -> str:
        """Write the page as reStructuredText."""
        title = self.protocol.title
        # A line that begins with an initial and a full stop would be taken for an item of a list.
        source = self.protocol.source.replace(".", "\\.", 1)
        lines = [title, "=" * len(title), "", source, ""]
        for text in self.facts():
            lines += [rst_text(text), ""]
        lines += ["Claims", "------", "", to_rst(self.claims())]
        if pictures:
            lines += ["Figures", "-------", ""]
        for picture in pictures:
            lines += [f".. figure:: {self.protocol.name}-{picture.name}.png", "   :width: 100%", ""]
            lines += [f"   {picture.caption}", ""]
        lines += ["Tables", "------", "", *(to_rst(table) for table in self.tables())]
        return "\n".join(lines)
