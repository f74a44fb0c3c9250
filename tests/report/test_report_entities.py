"""The summary and the report of entities."""

from __future__ import annotations

import numpy as np
import pytest

from mustlink.report import Decision, compare_cells, render_entities, summarize_entities


def marked(first, second):
    pair = compare_cells("name", first, second)
    assert "".join(part.text for part in pair.first) == first
    return [[part.text for part in side if part.is_marked] for side in (pair.first, pair.second)]


@pytest.mark.parametrize(
    ("first", "second", "marks"),
    [
        ("A. Smith", "Smith, A.", [[], []]),
        ("A. Smith", "Ann Smith", [["A"], ["Ann"]]),
        ("Ann Ann Smith", "ann smith", [["Ann"], []]),
        ("the art of war", "the end", [["art", "of", "war"], ["end"]]),
        ("the art of war", "the long end", [["art", "of", "war"], ["long", "end"]]),
        ("Oga Keller", "Keeler, Ogla", [["Oga", "Keller"], ["Keeler", "Ogla"]]),
        ("", "Wang", [[], ["Wang"]]),
    ],
)
def test_words_that_the_other_cell_lacks_are_marked(first, second, marks):
    assert marked(first, second) == marks


def test_a_summary_counts_entities_and_spellings():
    labels = np.array([0, 1, 1, 2, 2, 2, 3])
    names = ["x", "A", "A", "B. C", "B. C", "Bo C", "y"]
    found = summarize_entities(labels, names, threshold=0.5)
    assert found.headline == "7 rows are 4 entities: 2 of one row, 2 of several, the largest of 3 rows."
    assert [str(entity) for entity in found.entities] == ["B. C (2), Bo C", "A (2)"]
    assert [(bar.name, bar.n_entities, bar.n_rows) for bar in found.histogram] == [
        ("1", 2, 2),
        ("2", 1, 2),
        ("3", 1, 3),
    ]


def test_sizes_in_ranges_cover_all_rows():
    labels = np.repeat(np.arange(60), np.arange(1, 61) * 30)
    found = summarize_entities(labels, [""] * len(labels), threshold=0.5)
    assert sum(bar.n_rows for bar in found.histogram) == len(labels)
    assert found.histogram[-1].name == "1,000 to 1,800"


def test_nothing_merged_is_said():
    assert summarize_entities(np.arange(3), list("abc"), threshold=0.5).headline == (
        "3 rows are 3 entities; no two rows are taken for one."
    )


@pytest.mark.parametrize(
    ("similarity", "threshold", "shown"),
    [
        (0.4249, 0.425, "0.4249"),
        (0.42496, 0.425, "0.42496"),
        (0.4251, 0.425, "0.425"),
        (0.5, 0.5, "0.500"),
        (0.5 - 1e-12, 0.5, "0.500"),
        (0.7104, None, "0.710"),
        (0.30001, 0.3, "0.300"),
        (0.3004, 0.3003, "0.3004"),
    ],
)
def test_a_similarity_is_shown_on_its_side_of_the_threshold(similarity, threshold, shown):
    decision = Decision((0, 1), ("0", "1"), ("A", "B"), similarity >= 0.4, similarity, threshold=threshold)
    assert decision.figure == shown


def test_the_page_escapes_and_marks():
    decision = Decision(
        rows=(0, 1),
        names=("<0>", "1"),
        spellings=("<i>A</i>", "B"),
        together=False,
        similarity=0.4321,
        attribute=0.9,
        relational=0.1,
        sizes=(3, 1),
        shared=("<u>Li</u>",),
        cells=(compare_cells("na<me", "<b>x y", "x z"),),
    )
    found = summarize_entities(
        np.array([0, 1, 1]), ["<i>A</i>", "B", "B"], [decision], threshold=0.5, notices=["<a note>"]
    )
    page = render_entities(found, title="T & U", run={"Command": "mustlink <x>"}, questions="mustlink ask <q>")
    for raw in ("<i>", "<u>", "<b>x", "<a note>", "<x>", "<q>", "<0>", "na<me"):
        assert raw not in page
    for shown in (
        "<mark>y</mark>",
        "0.432",
        "similarity of the clusters of 3 records and 1 record: texts 0.90",
        "&lt;u&gt;Li",
        "mustlink ask",
    ):
        assert shown in page
    assert "default-src 'none'" in page
