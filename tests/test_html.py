"""What values show in a notebook: short, escaped, in the colors of the page."""

from __future__ import annotations

import re
from dataclasses import fields
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from mustlink import Constraints
from mustlink.report import summarize
from mustlink.selection import Choice, Trial
from mustlink.workflow import JobResult

LINKS = Constraints([(i, i + 1) for i in range(20)], [(0, 20), (3, 40)], must_link_weight=0.5)


class Reader(HTMLParser):
    """Reads the text, and checks that tags are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.cells: list[list[str]] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "tr":
            self.cells.append([])
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1].append(data)


def read(value: Any) -> tuple[str, list[list[str]]]:
    reader = Reader()
    reader.feed(value._repr_html_())
    assert reader.open == []
    return " ".join("".join(reader.words).split()), reader.cells


def test_links_show_counts_the_first_links_and_conflicts() -> None:
    text, cells = read(LINKS)
    assert text.startswith("Constraints: 20 must-links and 2 cannot-links between 22 rows.")
    assert cells[0] == ["link", "a", "b", "weight"]
    assert cells[1] == ["must", "0", "1", "0.5"]
    assert cells[-1] == ["cannot", "3", "40", "1"]
    assert len(cells) == 1 + 5 + 2
    assert "and 15 more links" in text
    assert "1 conflict: Rows 0 and 20 have a cannot-link" in text
    assert "between 22 of 50 rows." in read(LINKS.on(50))[0]


def test_plain_links_show_neither_weights_nor_conflicts() -> None:
    text, cells = read(Constraints([(0, 1)]))
    assert text.startswith("Constraints: 1 must-link and 0 cannot-links between 2 rows.")
    assert "conflict" not in text
    assert cells == [["link", "a", "b"], ["must", "0", "1"]]
    assert read(Constraints()) == ("Constraints: no links.", [])


def test_conflicts_and_feasibility() -> None:
    torn = Constraints([(i, i + 1) for i in range(9)], [(0, i) for i in range(2, 9)])
    text, _ = read(torn.conflicts())
    assert text.startswith("7 conflicts: Rows 0 and 2 have a cannot-link")
    assert text.endswith("and 2 more conflicts")
    assert read(Constraints().conflicts())[0] == "No conflicts."
    assert read(torn.conflicts()[0])[0] == f"Conflict: {torn.conflicts()[0]}"
    triangle = Constraints(None, [(0, 1), (1, 2), (0, 2)])
    assert read(triangle.feasible(2, 3))[0].startswith("Not feasible. Two clusters cannot")
    assert read(triangle.feasible(3, 3))[0].startswith("Feasible. ")


def test_a_choice_shows_its_trials() -> None:
    best = Trial("pck", 3, (0.8, 1.0), 0.12)
    failed = Trial("<b>own</b>", None, (), 0.1, failure="No <i>such</i> thing.")
    text, cells = read(Choice(best, None, (best, failed), ("Few links.",)))
    assert text.startswith("Chosen: pck with 3 clusters keeps 90.0% of the held-out links")
    assert cells[1:] == [["*", "pck", "3", "90.0%", "10.0%", "0.1"], ["<b>own</b>", "finds", "failed", "0.1"]]
    assert "<b>own</b> failed: No <i>such</i> thing." in text
    assert text.endswith("Few links.")


@pytest.fixture
def summary() -> Any:
    X, labels = np.array([[0.0], [0.1], [9.0], [9.1]]), [0, 0, 1, 1]
    return summarize(
        X,
        labels,
        Constraints([(0, 2)]),
        features=["<script>alert(1)</script>"],
        row_names=["<b>a", "&amp;", "c", "d"],
        notices=["Odd <i>note</i>."],
    )


def test_a_clustering_is_shown_and_escaped(summary: Any) -> None:
    text, cells = read(summary)
    assert text.startswith("4 rows in 2 clusters. 0 of 1 link kept, 1 broken.")
    assert cells[0] == ["cluster", "rows", "share", "nearest row", "differs from all rows in"]
    assert cells[1][:3] == ["0", "2", "50.0%"]
    assert "<script>alert(1)</script> low" in cells[1][-1]
    assert "Broken links: <b>a and c must be together" in text
    assert text.endswith("Notes: Odd <i>note</i>.")
    assert not re.search("<(script|i)>", summary._repr_html_())


def test_the_result_of_a_job_shows_its_summary(summary: Any) -> None:
    result = JobResult(**{**dict.fromkeys(field.name for field in fields(JobResult)), "summary": summary})
    assert result._repr_html_() == summary._repr_html_()


def test_colors_are_those_of_the_page() -> None:
    """A color of its own would be hard to read on a dark or a light page."""
    shown = LINKS._repr_html_()
    assert set(re.findall(r"(?<![-\w])(?:color|background)[^:;]*: ([^;\"]+)", shown)) == {"transparent"}
    assert "<style" not in shown
