"""``mustlink taxonomy``: categories of texts, what became of the given ones, and texts to check."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

from mustlink import TaxonomyClusterer
from mustlink.cli._taxonomy import taxonomy
from mustlink.workflow._taxonomy import NUMBERS

WORDS = {"music": ["guitar", "song", "band", "drum"], "sport": ["goal", "team", "ball", "match"]}
FEW = ("--min-df", 1, "--min-size", 3, "--words-init", 9, "--words-final", 6)


@pytest.fixture
def notes(desk):
    """Twenty texts of two topics; text 3 is about sport and given as music."""
    rng = np.random.default_rng(0)
    topics = list(WORDS) * 10
    lines, given = [], []
    for row, topic in enumerate(topics):
        said = {3: "music"}.get(row, topic if row % 4 < 2 else "")
        lines.append(f"n{row:02},{' '.join(rng.choice(WORDS[topic], 6))},{said},title {row}")
        given.append(f"n{row:02},{said}")
    desk.write("notes.csv", "\n".join(["nr,text,topic,title", *lines]) + "\n")
    desk.write("labels.csv", "\n".join(["nr,label", *(line for line in given if not line.endswith(","))]) + "\n")
    return desk


def run(desk, *words, **options):
    result = desk.run("taxonomy", *words, *FEW, **options)
    assert result.exit_code == 0, result.output
    return result


def test_a_column_of_the_table(notes):
    result = run(notes, "notes.csv", "--categories", "topic", "--title", "title", "--report", "r.html")
    shown = result.stdout
    assert shown.startswith("20 documents in 2 categories.\n2 given categories: 2 kept. Of the 11 documents")
    assert re.search(r"^music +10 +50\.0%  \w+, \w+", shown, re.MULTILINE)
    assert re.search(r"^music +6 +5 +1 +0  kept", shown, re.MULTILINE)
    assert re.search(r"Documents that moved, to check\n  3, music -> sport: title 3 *\n", shown)
    assert shown.endswith("Categories written to notes.categories.csv\nReport written to r.html\n")
    assert notes.names() == ["labels.csv", "notes.categories.csv", "notes.csv", "r.html"]
    lines = notes.read("notes.categories.csv").splitlines()
    assert lines[0] == "row,given,category,similarity,runner_up,margin,contested,title"
    assert re.fullmatch(r"3,music,sport,0\.\d+,(music)?,0\.\d+,no,title 3", lines[4])
    page = notes.read("r.html")
    assert "mustlink taxonomy notes.csv --categories topic" in " ".join(re.sub("<[^>]*>", "", page).split())


def test_a_file_of_categories(notes):
    shown = run(notes, "notes.csv", "--categories", "labels.csv", "-o", "out.tsv").stdout
    assert "Of the 11 documents with a given category, 1 moved to another one." in shown
    assert notes.read("out.tsv").startswith("nr\tgiven\tcategory\t")
    named = run(notes, "notes.csv", "--categories", "labels.csv", "--category-column", "label", "--id", "nr").stdout
    assert named == shown.replace("out.tsv", "notes.categories.csv")


def test_eighty_columns_are_enough(notes):
    for width in (60, 80):
        shown = run(notes, "notes.csv", "--categories", "topic", "--title", "title", width=width).stdout
        assert max(map(len, shown.splitlines())) <= width


def test_many_categories_are_cut(desk):
    words = ["".join(letters) for letters in zip("abcdefghijklmnopqrst" * 2, "aeiou" * 8, "xyz" * 14, strict=False)]
    lines = [f"{word} {word} it,{word}" for word in words for _ in range(3)]
    desk.write("many.csv", "\n".join(["text,topic", *lines]) + "\n")
    shown = run(desk, "many.csv", "--categories", "topic", "--report", "r.html", "--gini-drop", 0).stdout
    assert "120 documents in 40 categories." in shown
    assert "and 10 smaller categories" in shown
    assert "and 10 more given categories" in shown
    page = " ".join(desk.read("r.html").split())
    assert "<span>others</span>" in page
    assert "The 11 smallest categories are one column, others" in page


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["notes.csv", "--categories", "none.csv"], "There is no file none.csv."),
        (["notes.csv", "--categories", "nr"], "notes.csv: the column 'nr' has another category for every text"),
        (["notes.csv", "--categories", "same"], "notes.csv has no column 'same'"),
        (["notes.csv", "--categories", "topic", "--text", "body"], "notes.csv has no column 'body'"),
        (
            ["notes.csv", "--categories", "topic", "-o", "x.npy"],
            "x.npy: categories are written as .csv, .tsv",
        ),
        (["notes.csv", "--categories", "topic", "-o", "notes.csv"], "is an input and would be overwritten"),
        (["notes.csv", "--categories", "other.csv"], "name a column of ids that both files have with --id."),
        (
            ["notes.csv", "--categories", "more.csv"],
            "among the texts: x9; use --unknown-ids skip to leave out",
        ),
        (["one.csv", "--categories", "topic"], "one.csv: the column 'topic' has one category only, a;"),
        (
            ["single.csv", "--categories", "topic"],
            "the category 'b' has one text, and a category needs several;",
        ),
        (["empty.csv", "--categories", "topic"], "empty.csv has no texts."),
        (["numbers.csv", "--categories", "topic"], "numbers.csv: no text has a word; words have two letters or more."),
        (["lines.txt", "--categories", "topic"], "lines.txt has one text in each line, and has no column 'topic'."),
    ],
)
def test_bad_input(notes, words, sentence):
    notes.write("other.csv", "nr,label\nx1,a\nx2,b\n")
    notes.write("more.csv", notes.read("labels.csv") + "x9,music\n")
    notes.write("one.csv", "text,topic\nred ball,a\nblue cube,a\nred cube,\n")
    notes.write("single.csv", "text,topic\nred ball,a\nblue cube,b\nred cube,a\n")
    notes.write("empty.csv", "text,topic\n,a\n,b\n")
    notes.write("numbers.csv", "text,topic\n1 2,a\n3,b\n4,a\n")
    notes.write("lines.txt", "red ball\nblue cube\n")
    assert sentence in notes.fails("taxonomy", *words, "--report", "r.html")


def test_the_defaults_are_those_of_the_clusterer():
    params = inspect.signature(taxonomy).parameters
    for name in NUMBERS:
        assert params[name].default == TaxonomyClusterer().get_params()[name], name


def test_the_categories_are_asked_for(notes):
    result = notes.run("taxonomy", "notes.csv")
    assert result.exit_code == 2
    assert "Missing option '--categories'" in result.output


def test_a_model_for_new_texts(notes):
    pytest.importorskip("skops")
    shown = run(notes, "notes.csv", "--categories", "topic", "--save-model", "notes.model").stdout
    assert shown.endswith("Model written to notes.model\n")
    notes.write("new.txt", "a song for the band\ngoal and goal\nzebra\n")
    result = notes.run("predict", "notes.model", "new.txt")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("3 texts in the 2 categories of a model of 20 texts.\n\ncategory  texts  share\n")
    assert re.search(r"^music +1 +33\.3%", result.stdout, re.MULTILINE)
    assert re.search(r"^none +1 +33\.3%", result.stdout, re.MULTILINE)
    assert result.stdout.endswith("Categories written to new.categories.csv\n")
    assert [line.split(",")[1] for line in notes.read("new.categories.csv").splitlines()[1:]] == ["music", "sport", ""]
    assert "is a model of texts; leave out --missing." in notes.fails(
        "predict", "notes.model", "new.txt", "--missing", "drop"
    )
