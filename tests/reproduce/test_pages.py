from __future__ import annotations

import io

import pytest
from rich.console import Console

from mustlink.reproduce import Cell, Page, Record, Results, ResultStore, run_cells
from mustlink.reproduce._tables import Table, amount_text, figure_text, mean_table, rst_text, to_markdown, to_rst


@pytest.fixture
def page(toy, tmp_path):
    results = run_cells(toy, toy.cells(toy.quick), ResultStore(tmp_path / "toy.jsonl"), show=False)
    return Page(toy, toy.parts, toy.quick, results, "mustlink reproduce toy --quick")


def test_the_table_has_a_row_for_every_set_and_method(page):
    (table,) = page.tables()
    assert table.header == ("set", "method", "5 links", "20 links")
    assert [row[:2] for row in table.rows] == [
        ("Iris", "truth"),
        ("", "chance"),
        ("", "refusal"),
        ("Wine", "truth"),
        ("", "chance"),
        ("", "refusal"),
        ("all", "future"),
    ]
    assert table.rows[0][2:] == ("1.000 (1.000)", "1.000 (1.000)")
    assert table.rows[2][2:] == ("1.000 (1.000)", "failed")
    assert table.rows[-1][2:] == ("not in this version", "")


def test_the_page_says_what_is_missing_and_what_failed(page):
    told = " ".join(page.facts())
    assert "Not in this version: future." in told
    assert "Failed: 4 of 24 runs. The first was refusal on iris with 20: RuntimeError: too many links" in told
    assert "mustlink reproduce toy --quick" in told


def test_claims_come_with_a_verdict(page):
    assert page.claims().rows == (("T1", "held", "Truth is better than chance.", "It is."),)


def test_the_terminal_shows_tables_and_claims(page):
    output = io.StringIO()
    page.show(Console(file=output, width=120))
    text = output.getvalue()
    assert "Toy scores" in text
    assert "1.000 (1.000)" in text
    assert "T1     held     Truth is better than chance.  It is." in text


def test_files_are_written_with_their_figures(page, tmp_path):
    written = page.write(tmp_path / "out")
    assert [path.name for path in written] == ["toy-figure1.png", "toy.md", "toy.rst"]
    markdown, rst = (path.read_text() for path in written[1:])
    assert "![Figure 1: a toy.](toy-figure1.png)" in markdown
    assert "| Iris | truth | 1.000 (1.000) | 1.000 (1.000) |" in markdown
    assert ".. figure:: toy-figure1.png" in rst
    assert written[0].read_bytes().startswith(b"\x89PNG")


def test_the_same_results_give_the_same_files(page, tmp_path):
    first, second = (page.write(tmp_path / name) for name in ("a", "b"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_the_documentation_gets_one_kind_of_page(page, tmp_path):
    written = page.write(tmp_path / "docs", endings=("rst",))
    assert [path.suffix for path in written] == [".png", ".rst"]


def test_without_matplotlib_the_page_has_no_figures(page, tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    written = page.write(tmp_path / "out")
    assert [path.name for path in written] == ["toy.md", "toy.rst"]
    assert "figure1" not in written[1].read_text()


def test_rst_is_valid(page, tmp_path):
    docutils = pytest.importorskip("docutils.core")
    (path,) = [path for path in page.write(tmp_path / "out") if path.suffix == ".rst"]
    settings = {"halt_level": 2, "report_level": 2, "input_encoding": "utf-8"}
    document = docutils.publish_doctree(path.read_text(), settings_overrides=settings)
    cells = [entry.astext() for entry in document.findall() if entry.tagname == "entry"]
    assert "1.000 (1.000)" in cells


def test_marks_in_cells_stay_text():
    table = Table("T", ("a", "b"), (("x*y|z", "-"), ("", "p_q")))
    assert "x*y\\|z" in to_markdown(table)
    rst = to_rst(table)
    assert "x\\*y\\|z" in rst
    assert "     - \\-" in rst


def test_only_code_is_markup_in_a_paragraph():
    assert rst_text("a*b ``c*d`` e_f") == "a\\*b ``c*d`` e\\_f"


@pytest.mark.parametrize(("value", "text"), [(0.12345, "0.123"), (float("nan"), "-"), (None, "-")])
def test_figures_have_three_digits_or_are_a_dash(value, text):
    assert figure_text(value) == text


@pytest.mark.parametrize(
    ("amount", "text"), [(0, "0 links"), (100, "100 links"), (0.03, "3% links"), (0.15, "15% links")]
)
def test_amounts_are_numbers_or_shares(amount, text):
    assert amount_text(amount, "links") == text


def test_means_over_sets_leave_out_what_is_not_there():
    records = [
        Record(Cell("toy", dataset, "truth", amount, trial=0), {"nmi": nmi} | more)
        for dataset, amount, nmi, more in (
            ("iris", 5, 0.4, {"nmi_unconstrained": 0.2}),
            ("wine", 5, 0.6, {}),
            ("iris", 20, 0.8, {}),
            ("wine", 20, 1.0, {}),
        )
    ]
    table = mean_table(Results(records), "Means", "nmi", ["truth", "absent"])
    assert table.header == ("method", "5 links", "20 links")
    assert table.rows == (("truth", "0.500 (0.200)", "0.900 (-)"),)
