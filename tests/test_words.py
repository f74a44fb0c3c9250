"""The package, the guide and the README keep to plain words, US spelling and ``MAX_``/``MIN_`` for bounds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OLD_WORDS = (
    r"reckon\w*|heeds?|heeded|heeding|foretell\w*|foretold|forese\w+|foresaw|foresight|anew|dearer|mend(?:s|ed|ing)?"
    r"|for want of|of no account|to and fro|chunklets?"
)
UK_SPELLING = (
    r"centres?|centred|neighbour\w*|(?:normal|standard|summar|recogn|optim|minim|maxim|initial)is(?:e|es|ed|ing|ation)"
    r"|colour\w*|(?:un)?labell\w+|behaviour\w*|licence|favourite\w*"
)
WORDS = re.compile(rf"\b(?:{OLD_WORDS}|{UK_SPELLING})\b", re.IGNORECASE)
BOUNDS = re.compile(r"\b(?:MOST|LEAST|FEW)_[A-Z_]+\b")
# Once, so that readers of the papers find it.
ALLOWED = "Also called a chunklet"

FOLDERS = sorted({path.parent for path in (ROOT / "src").rglob("*.py")})


def unwanted_in(path: Path) -> list[str]:
    """List the unwanted words of a file with their lines."""
    return [
        f"{path.relative_to(ROOT).as_posix()}:{number}: {found.group()}"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        for pattern in (WORDS, BOUNDS)
        for found in pattern.finditer(line.replace(ALLOWED, ""))
    ]


@pytest.mark.parametrize(
    "folder",
    FOLDERS,
    ids=lambda folder: folder.relative_to(ROOT / "src").as_posix(),
)
def test_plain_words_in_the_package(folder: Path) -> None:
    assert [found for path in sorted(folder.glob("*.py")) for found in unwanted_in(path)] == []


def test_plain_words_in_the_pages() -> None:
    # The changelog names what was renamed.
    pages = [path for path in ROOT.glob("*.md") if path.name != "CHANGELOG.md"]
    pages += [path for folder in (".", "guide", "examples") for path in (ROOT / "docs" / folder).glob("*.[pr]*")]
    assert [found for path in sorted(pages) for found in unwanted_in(path)] == []


@pytest.mark.parametrize("line", ["We reckon so.", "the nearest centres", "MOST_ROWS = 3", "heeding links"])
def test_unwanted_words_are_found(line: str) -> None:
    assert WORDS.search(line) or BOUNDS.search(line)
