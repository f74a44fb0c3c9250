"""How to cite mustlink: CITATION.cff, the README and the page say the same, and the version is that of the package."""

from __future__ import annotations

import datetime
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml  # comes with pre-commit

from mustlink import __version__

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def citation() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_the_version_is_that_of_the_package(citation: dict[str, Any]) -> None:
    assert citation["version"] == __version__
    assert isinstance(citation["date-released"], datetime.date)


def test_everything_that_a_reference_manager_reads_is_there(citation: dict[str, Any]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert citation["license"] == project["license"]
    assert citation["repository-code"] == project["urls"]["Homepage"]
    assert citation["url"] == project["urls"]["Documentation"]
    assert [author["name"] for author in citation["authors"]] == [author["name"] for author in project["authors"]]
    assert len(citation["abstract"]) > 100
    assert {"constrained clustering", "must-link", "cannot-link"} <= set(citation["keywords"])
    for work in citation["references"]:
        assert {"type", "title", "authors", "year"} <= set(work)


@pytest.mark.parametrize("file", ["README.md", "docs/cite.rst"])
def test_bibtex_says_the_same(citation: dict[str, Any], file: str) -> None:
    entry = re.search(r"@software\{mustlink,.*?\n\s*\}\n", (ROOT / file).read_text(encoding="utf-8"), re.DOTALL)
    assert entry is not None
    fields = dict(re.findall(r"(\w+)\s*= \{+(.*?)\}+,?\n", entry[0]))
    assert fields["title"] == citation["title"]
    assert fields["author"] == citation["authors"][0]["name"]
    assert fields["url"] == citation["repository-code"]
    assert fields["year"] == str(citation["date-released"].year)


@pytest.mark.parametrize(
    ("name", "key"),
    [("COBRAS", "vancraenendonck2018cobras"), ("MinMax", "mallapragada2008active"), ("NPU", "xiong2014active")],
)
def test_strategies_of_questions_are_cited(name: str, key: str) -> None:
    row = (ROOT / "docs" / "cite.rst").read_text(encoding="utf-8").split(f"~mustlink.active.{name}`", 1)[1]
    assert f"``{key}``" in row.split("* - ", 1)[0]


def test_works_that_the_software_builds_on_have_a_bibtex_entry(citation: dict[str, Any]) -> None:
    entries = re.sub("[{}]", "", (ROOT / "docs" / "sources.bib").read_text(encoding="utf-8"))
    for work in citation["references"]:
        assert f"= {work['title']}," in entries
