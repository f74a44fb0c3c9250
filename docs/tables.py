"""Write the lists of methods, sources and data files into the pages: ``python docs/tables.py`` (``make tables``).

The stub of the package is written whole. In the other files the lines between ``make tables: begin NAME`` and ``make
tables: end`` are replaced. ``tests/test_tables.py`` fails when a file is not what the catalogue gives.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import mustlink
from mustlink import active
from mustlink.catalogue import CATALOGUE, CLASSIFIERS, FAMILIES, METRIC_LEARNERS, OTHER_INPUTS, Entry
from mustlink.datasets._known_sets import FOLDER_SETS, SKLEARN_SETS, SUBSETS
from mustlink.reproduce._run_paper import find_protocol, paper_names

ROOT = Path(__file__).resolve().parent.parent
BOOK = "Constrained Clustering"  # cited by its chapters
STUB = "src/mustlink/__init__.pyi"


CLUSTERERS = (*CATALOGUE, *OTHER_INPUTS)


def families(classes: Sequence[Entry] = (*CLUSTERERS, *METRIC_LEARNERS, *CLASSIFIERS)) -> Iterator[tuple[str, list[Entry]]]:
    """Yield all families with their classes."""
    for family in FAMILIES:
        if entries := [entry for entry in classes if entry.family == family]:
            yield family, entries


def stub() -> str:
    """The public names for type checkers."""
    homes = {"__version__": "mustlink._version", **mustlink._HOME}
    names = [(home, name) for name, home in homes.items()]
    names += [("mustlink", module) for module in mustlink._SUBMODULES]
    lines = [f"from {home} import {name} as {name}" for home, name in sorted(names)]
    return "\n".join(["# The public names of mustlink. Written by make tables.", *lines]) + "\n"


def readme() -> str:
    """One table for each family, in Markdown."""
    parts = []
    for family, entries in families(CLUSTERERS):
        rows = [
            f"| `{entry.class_name}` | {', '.join(f'`{alias}`' for alias in entry.aliases)} | {entry.kind} "
            f"| {entry.pick_when} |"
            for entry in entries
        ]
        parts.append(
            "\n".join([f"| **{FAMILIES[family]}** | `--method` | links | pick it when |", "|---|---|---|---|", *rows])
        )
    return "\n\n".join(parts) + "\n"


def list_table(widths: str, cells: Iterable[Sequence[str]]) -> str:
    """A table in reStructuredText; the first row is the header."""
    lines = [".. list-table::", f"   :widths: {widths}", "   :header-rows: 1", ""]
    for row in cells:
        lines += [f"   {'* -' if place == 0 else '  -'} {cell}" for place, cell in enumerate(row)]
    return "\n".join(lines)


def choosing() -> str:
    """One table for each family, for the guide."""
    parts = []
    for family, entries in families():
        cells = [("class, and its short names" if entries[0].aliases else "class", "links", "pick it when")]
        for entry in entries:
            aliases = ", ".join(f"``{alias}``" for alias in entry.aliases)
            cells.append((f"{link_to(entry)} {aliases}".rstrip(), entry.kind, entry.pick_when))
        parts.append(f":doc:`{FAMILIES[family]} <{family}>`\n\n{list_table('30 8 62', cells)}")
    return "\n\n".join(parts) + "\n"


def api() -> str:
    """One list for each family, for the reference."""
    parts = []
    for family, entries in families():
        title = FAMILIES[family]
        names = "\n".join(f"   {entry.class_name}" for entry in entries)
        parts.append(f"{title}\n{'~' * len(title)}\n\n.. autosummary::\n   :toctree: generated\n\n{names}")
    return "\n\n".join(parts) + "\n"


def cards() -> str:
    """One card for each family, for the first page: the class to try first, and the others."""
    lines = [".. grid:: 1 1 2 3", "   :gutter: 3", ""]
    for family, entries in families():
        first, *others = entries
        kind = f" ({first.kind})" if first.aliases else ""  # a metric learner does not cluster
        lines += [
            f"   .. grid-item-card:: :doc:`{FAMILIES[family]} <guide/{family}>`",
            "",
            f"      {link_to(first)}{kind}. {first.pick_when}",
            "",
        ]
        if others:
            lines += [f"      Also {', '.join(link_to(entry) for entry in others)}.", ""]
    return "\n".join(lines).rstrip() + "\n"


def link_to(entry: Entry) -> str:
    """A link to the page of a class."""
    return f":class:`~mustlink.{entry.class_name}`"


def sources() -> str:
    """The sources of each class, from its docstring, with their keys in the file of BibTeX entries."""
    cells = [("class", "source", "BibTeX keys")]
    keys = bibtex_keys()
    classes = [(link_to(entry), entry.load()) for _family, entries in families() for entry in entries]
    classes += [(f":class:`~mustlink.active.{name}`", getattr(active, name)) for name in sorted(active.__all__)]
    for link, documented in classes:
        text = references(documented)
        if text:
            found = [keys[plain_title(title)] for title in re.findall(r'"(.+?)",', text) if title != BOOK]
            text = re.sub(r"^([A-Z])\. ", r"\1\\. ", text)  # an initial, not the number of a list item
            cells.append((link, text, ", ".join(f"``{key}``" for key in found)))
    return list_table("20 55 25", cells) + "\n"


def references(documented: Any) -> str:
    """The section of references of a docstring, as one line without numbers of footnotes; empty if there is none."""
    found = re.search(r"References\n-+\n(.*?)\n\n(?=Examples\n)", inspect.getdoc(documented) or "", re.DOTALL)
    return " ".join(re.sub(r"\.\. \[\d+\]", "", found[1]).split()) if found else ""


def bibtex_keys() -> dict[str, str]:
    """The key of each BibTeX entry by its title."""
    text = (ROOT / "docs" / "sources.bib").read_text(encoding="utf-8")
    found = re.findall(r"@\w+\{(\w+),.*?^  title\s+= \{(.*?)\},$", text, re.DOTALL | re.MULTILINE)
    return {plain_title(title): key for key, title in found}


def plain_title(title: str) -> str:
    """A title in small letters, without braces."""
    return re.sub("[{}]", "", title).lower()


def data_files() -> str:
    """The data files that the papers need, for the page of the papers."""
    needed: dict[str, list[str]] = {}
    for paper in paper_names():
        protocol = find_protocol(paper)
        loaded = {data.name for data in protocol.datasets if data.make is None}
        for name in dict.fromkeys(run.dataset for run in protocol.runs(protocol.full) if run.dataset in loaded):
            file = SUBSETS[name].parent if name in SUBSETS else name
            if file not in SKLEARN_SETS:
                needed.setdefault(file, []).append(paper)
    cells = [("file", "contents", "needed by", "on OpenML")]
    for file, papers in sorted(needed.items()):
        known = FOLDER_SETS[file]
        listed = ", ".join(dict.fromkeys(papers))
        cells.append((f"``{file}.csv.gz``", known.description, listed, f"``{known.openml}``" if known.openml else "no"))
    return list_table("22 46 18 14", cells) + "\n"


SECTIONS: dict[str, tuple[str, Callable[[], str]]] = {
    "README.md": ("methods", readme),
    "docs/guide/choosing.rst": ("methods", choosing),
    "docs/api/index.rst": ("clusterers", api),
    "docs/reproduce/index.rst": ("data", data_files),
    "docs/index.rst": ("families", cards),
    "docs/cite.rst": ("sources", sources),
}


def replaced(text: str, name: str, new: str) -> str:
    """Put new lines between the two marks of a section."""
    lines = text.splitlines(keepends=True)
    begin = next(place for place, line in enumerate(lines) if f"make tables: begin {name}" in line)
    end = next(place for place, line in enumerate(lines) if place > begin and "make tables: end" in line)
    return "".join([*lines[: begin + 1], "\n", new, "\n", *lines[end:]])


def written() -> dict[str, str]:
    """The text that each file should have."""
    texts = {STUB: stub()}
    for file, (name, make) in SECTIONS.items():
        texts[file] = replaced((ROOT / file).read_text(encoding="utf-8"), name, make())
    return texts


if __name__ == "__main__":
    assert len({entry.name for entry in CATALOGUE}) == len(CATALOGUE), "two methods have the same name"
    for file, text in written().items():
        (ROOT / file).write_text(text, encoding="utf-8")
