"""``mustlink publish``: tables in, published tables and reports out, and the check of published files."""

from __future__ import annotations

import numpy as np
import pytest

QUASI = ("--quasi", "age,city", "--quasi", "income")
ASKED = (*QUASI, "--sensitive", "illness", "-k", 4, "-l", 2)


@pytest.fixture
def clinic(desk):
    """Forty people, in a file as Excel writes it in Germany."""
    rng = np.random.default_rng(0)
    lines = ["id;age;income;city;illness;born"]
    for row in range(40):
        income = f"{rng.integers(1000, 9999)},{rng.integers(10, 99)}"
        city = ["Köln", "Jena", "Linz"][row % 3]
        illness = ["flu", "cold", "gout"][int(rng.integers(3))]
        lines.append(f"p{row:02};{rng.integers(20, 70)};{income};{city};{illness};{row % 28 + 1:02}.03.{1960 + row}")
    desk.write("people.csv", ("\r\n".join(lines) + "\r\n").encode("cp1252"))
    return desk


def test_the_published_table_is_written_as_the_table_is(clinic):
    result = clinic.run("publish", "people.csv", *ASKED)
    assert result.exit_code == 0, result.output
    written = (clinic.folder / "people.published.csv").read_bytes().decode("cp1252")
    lines = written.split("\r\n")
    assert lines[0] == "age;income;city;illness"
    assert len(lines) == 42
    assert " to " in lines[1]
    assert "," in lines[1].split(";")[1]
    assert clinic.names() == ["people.csv", "people.published.csv"]


def test_the_terminal_shows_losses_and_the_caveat(clinic):
    shown = clinic.run("publish", "people.csv", *ASKED).stdout
    assert shown.startswith("40 rows published in ")
    assert "Every group has at least 4 rows and 2 distinct sensitive values." in shown
    for name in ("age", "income", "city", "all"):
        assert name in shown
    assert "not differential privacy" in shown
    assert "Not published: the columns id, born." in shown
    assert "Published table written to people.published.csv" in shown


def test_the_report_is_written_with_the_table(clinic):
    result = clinic.run("publish", "people.csv", *ASKED, "-o", "out.tsv", "--report", "r.html", "--seed", 3)
    assert result.exit_code == 0, result.output
    page = clinic.read("r.html")
    for text in ("Information lost", "not differential privacy", "Köln", "What was checked", "--sensitive"):
        assert text in page
    assert clinic.names() == ["out.tsv", "people.csv", "r.html"]
    assert (clinic.folder / "out.tsv").read_bytes().startswith(b"age\tincome\tcity\tillness\r\n")


@pytest.mark.parametrize("values", ["ranges", "centers", "modes"])
def test_a_published_file_passes_the_check(clinic, values):
    assert clinic.run("publish", "people.csv", *ASKED, "--values", values).exit_code == 0
    result = clinic.run("publish", "--verify", "people.published.csv", *ASKED)
    assert result.exit_code == 0, result.output
    assert "Every group has at least 4 rows and 2 distinct sensitive values." in result.stdout
    assert "The least number of distinct sensitive values of a group is" in result.stdout
    assert "not differential privacy" in result.stdout


@pytest.mark.parametrize(
    ("form", "words"),
    [
        (["-l", 2, "--diversity", "entropy"], "The least entropy of the sensitive values of a group is log "),
        (["-l", 2, "--diversity", "recursive", "-m", 2], "The largest ratio r_1 / (r_l + ... + r_v) of a group is "),
    ],
)
def test_other_forms_of_diversity(clinic, form, words):
    asked = (*QUASI, "--sensitive", "illness", "-k", 4, *form)
    assert clinic.run("publish", "people.csv", *asked).exit_code == 0
    result = clinic.run("publish", "--verify", "people.published.csv", *asked)
    assert result.exit_code == 0, result.output
    assert words in result.stdout


def test_a_file_that_lacks_the_property_ends_with_1_and_names_the_groups(clinic):
    assert clinic.run("publish", "people.csv", *QUASI, "--sensitive", "illness", "-k", 4).exit_code == 0
    before = clinic.names()
    result = clinic.run("publish", "--verify", "people.published.csv", *QUASI, "-k", 12, "--sensitive", "illness")
    assert result.exit_code == 1
    assert "groups fail: each needs at least 12 rows." in result.stdout
    assert "rows, fewer than 12" in result.stdout
    changed = (clinic.folder / "people.published.csv").read_bytes().replace(b" to ", b" bis ", 1)
    clinic.write("people.published.csv", changed)
    result = clinic.run("publish", "--verify", "people.published.csv", *QUASI, "-k", 4)
    assert result.exit_code == 1
    assert "1 row, fewer than 4" in result.stdout
    assert clinic.names() == before


def test_dates_kept_columns_and_orders(clinic):
    words = ("--quasi", "born,city", "--ordered", "city", "--keep", "id,age", "-k", 5)
    result = clinic.run("publish", "people.csv", *words, "-o", "out.csv")
    assert result.exit_code == 0, result.output
    assert "The column id has another value in every row and may identify people" in result.stdout
    assert "not protected: age" in result.stdout
    line = (clinic.folder / "out.csv").read_bytes().decode("cp1252").splitlines()[1].split(";")
    assert line[:2][0] == "p00"
    assert any(cell.startswith("19") and " to 19" in cell for cell in line)


def test_a_name_with_a_comma(desk):
    desk.write("t.csv", '"age, years",x\n' + "".join(f"{row},{row}\n" for row in range(6)))
    result = desk.run("publish", "t.csv", "--quasi", '"age, years",x', "-k", 2)
    assert result.exit_code == 0, result.output
    assert desk.read("t.published.csv").startswith('"age, years",x\n')


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--quasi", "age,zip"], "people.csv has no column 'zip'; its columns are id, age, income"),
        (["--quasi", "age", "--sensitive", "age"], "The sensitive column 'age' is also a quasi-identifier"),
        (["--quasi", "age", "-o", "people.csv"], "people.csv is an input and would be overwritten"),
        (["--quasi", "age", "-o", "out.npy"], "a published table is written as .csv, .tsv, .xlsx or .parquet"),
        (["--quasi", "age", "--report", "out.csv"], "the report is HTML"),
        (["--quasi", "age", "-o", "no/out.csv"], "The folder to write into does not exist: no."),
        (["--quasi", "age", "--sensitive", "illness", "-l", 4], "l is 4, but the sensitive column has only 3 distinct"),
        (["--quasi", "age", "--sensitive", "illness", "-l", 3, "--diversity", "entropy"], "only log 2."),
        (["--quasi", "age", "-k", 41], "k is 41, but the table has only 40 complete rows"),
        (["--quasi", "age", "--keep", "age"], "'age' is published anyway"),
        (["--quasi", "age", "--categorical", "income"], "'income' is to be categories, but it is not a quasi"),
        (["--quasi", "age", "--seed", -1], "The seed is -1; --seed must be"),
        (["--quasi", "age", "-m", 0], "m must be a number above 0"),
    ],
)
def test_bad_input_writes_nothing(clinic, words, sentence):
    assert sentence in clinic.fails("publish", "people.csv", *words)


def test_tables_that_cannot_be_published(desk):
    desk.write("none.csv", "age,city\n")
    assert "no rows" in desk.fails("publish", "none.csv", "--quasi", "age")
    assert "nothing to check" in desk.fails("publish", "--verify", "none.csv", "--quasi", "age")
    desk.write("one.csv", "age,city\n31,Bern\n")
    assert "has only 1 complete row" in desk.fails("publish", "one.csv", "--quasi", "age")
    assert desk.run("publish", "one.csv", "--quasi", "age", "-k", 1).exit_code == 0
    assert desk.read("one.published.csv") == "age\n31\n"
