from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from mustlink.reproduce._run_paper import find_protocol
from mustlink.reproduce.engine._page import Page
from mustlink.reproduce.engine._protocol import compute_runs
from mustlink.reproduce.engine._results import Record, Results, ResultStore, Run
from mustlink.reproduce.engine._tables import (
    Table,
    _amount_text,
    escape_rst,
    mean_table,
    number_text,
    to_csv,
    to_markdown,
)

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def page(toy, tmp_path):
    results = compute_runs(toy, toy.runs(toy.quick), ResultStore(tmp_path / "toy.jsonl"), show=False)
    return Page(toy, toy.parts, toy.quick, results, "mustlink reproduce toy --quick")


def test_the_table_has_a_row_for_every_set_and_method(page):
    (table,) = page.tables()
    assert table.header == ("set", "method", "5 links", "20 links")
    assert [row[:2] for row in table.rows] == [
        ("Iris", "truth"),
        ("Iris", "chance"),
        ("Iris", "refusal"),
        ("Wine", "truth"),
        ("Wine", "chance"),
        ("Wine", "refusal"),
    ]
    assert table.rows[0][2:] == ("1.000 (1.000)", "1.000 (1.000)")
    assert table.rows[2][2:] == ("1.000 (1.000)", "failed")


def test_the_page_states_what_failed(page):
    text = " ".join(page._facts())
    assert "Failed: 4 of 24 runs. The first was refusal on iris with 20: RuntimeError: too many links" in text
    assert "mustlink reproduce toy --quick" in text


def test_claims_come_with_a_verdict(page):
    assert page.claims().rows == (("T1", "held", "Truth is better than chance.", "It is."),)


def test_the_terminal_shows_tables_and_claims(page):
    output = io.StringIO()
    page.show(Console(file=output, width=120))
    text = output.getvalue()
    assert "Toy scores" in text
    assert "1.000 (1.000)" in text
    assert "T1     held     Truth is better than chance.  It is." in text


def test_files_are_written_with_their_figures_and_tables(page, tmp_path):
    written = page.write(tmp_path / "out")
    assert [str(path.relative_to(tmp_path / "out")) for path in written] == [
        "toy-figure1.png",
        "tables/toy-claims.csv",
        "tables/toy-scores.csv",
        "toy.md",
        "toy.rst",
    ]
    scores, markdown, rst = (path.read_text() for path in written[2:])
    assert scores.splitlines()[:2] == ["set,method,5 links,20 links", "Iris,truth,1.000 (1.000),1.000 (1.000)"]
    assert "![Figure 1: a toy.](toy-figure1.png)" in markdown
    assert "| Iris | truth | 1.000 (1.000) | 1.000 (1.000) |" in markdown
    assert ".. figure:: toy-figure1.png" in rst
    assert "   :file: tables/toy-scores.csv" in rst
    assert rst.index("toy-claims.csv") < rst.index("toy-figure1.png") < rst.index("toy-scores.csv")
    assert written[0].read_bytes().startswith(b"\x89PNG")


def test_the_same_results_give_the_same_files(page, tmp_path):
    first, second = (page.write(tmp_path / name) for name in ("a", "b"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_the_documentation_gets_one_kind_of_page(page, tmp_path):
    written = page.write(tmp_path / "docs", suffixes=("rst",))
    assert [path.suffix for path in written] == [".png", ".csv", ".csv", ".rst"]


def test_without_matplotlib_the_page_has_no_figures(page, tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    written = page.write(tmp_path / "out")
    assert [path.name for path in written] == ["toy-claims.csv", "toy-scores.csv", "toy.md", "toy.rst"]
    assert "figure1" not in written[2].read_text()


def test_rst_is_valid_and_includes_its_tables(page, tmp_path):
    docutils = pytest.importorskip("docutils.core")
    (path,) = [path for path in page.write(tmp_path / "out") if path.suffix == ".rst"]
    settings = {"halt_level": 2, "report_level": 2, "input_encoding": "utf-8"}
    document = docutils.publish_doctree(path.read_text(), source_path=str(path), settings_overrides=settings)
    cells = [entry.astext() for entry in document.findall() if entry.tagname == "entry"]
    assert "1.000 (1.000)" in cells


@pytest.mark.parametrize("path", sorted((DOCS / "reproduce").glob("*.rst")), ids=lambda path: path.stem)
def test_pages_of_the_documentation_have_the_form_that_the_engine_writes(path):
    """Every table of a page is there, and every table is of a page; the page of a paper has no table of its own."""
    text = path.read_text()
    files = re.findall(r"^   :file: (.*)$", text, flags=re.MULTILINE)
    assert {path.parent / file for file in files} == set((path.parent / "tables").glob(f"{path.stem}-*.csv"))
    for file in files:
        with (path.parent / file).open(newline="") as opened:
            header, *rows = csv.reader(opened)
        assert rows
        assert {len(row) for row in rows} == {len(header)}
    if path.stem == "index":
        return
    assert "list-table" not in text
    protocol = find_protocol(path.stem)
    assert text.splitlines()[0] == protocol.title
    assert escape_rst(protocol.intro) in text
    figures = set(re.findall(r"^.. figure:: (.*)$", text, flags=re.MULTILINE))
    assert figures == {figure.name for figure in path.parent.glob(f"{path.stem}-*.png")}


def test_marks_in_cells_stay_text():
    table = Table("t", "T", ("a", "b"), (("x*y|z", "1"), ("", "p_q, r")))
    assert "x*y\\|z" in to_markdown(table)
    assert to_csv(table) == 'a,b\nx\\*y\\|z,1\n,"p\\_q, r"\n'


def test_only_code_is_markup_in_a_paragraph():
    assert escape_rst("a*b ``c*d`` e_f") == "a\\*b ``c*d`` e\\_f"


@pytest.mark.parametrize(("value", "text"), [(0.12345, "0.123"), (float("nan"), "n/a")])
def test_numbers_have_three_digits_or_are_unknown(value, text):
    assert number_text(value) == text


@pytest.mark.parametrize(
    ("amount", "text"), [(0, "0 links"), (100, "100 links"), (0.03, "3% links"), (0.15, "15% links")]
)
def test_amounts_are_numbers_or_shares(amount, text):
    assert _amount_text(amount, "links") == text


def test_means_over_sets_leave_out_what_is_not_there():
    records = [
        Record(Run("toy", dataset, "truth", amount, trial=0), {"nmi": nmi} | more)
        for dataset, amount, nmi, more in (
            ("iris", 5, 0.4, {"nmi_unconstrained": 0.2}),
            ("wine", 5, 0.6, {}),
            ("iris", 20, 0.8, {}),
            ("wine", 20, 1.0, {}),
        )
    ]
    table = mean_table(Results(records), "means", "Means", "nmi", ["truth", "absent"])
    assert table.header == ("method", "5 links", "20 links")
    assert table.rows == (("truth", "0.500 (0.200)", "0.900 (n/a)"),)
