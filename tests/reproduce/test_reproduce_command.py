from __future__ import annotations

import pytest
import typer
from typer.testing import CliRunner

from mustlink.cli._reproduce import reproduce

app = typer.Typer()
app.command()(reproduce)


@pytest.fixture
def run(toy, monkeypatch, tmp_path):
    monkeypatch.setattr("mustlink.reproduce._run_paper.find_protocol", lambda name: toy)
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, ["toy", "--jobs", "1", *arguments])


def test_a_run_prints_tables_and_claims_and_writes_files(run, tmp_path):
    result = run()
    assert result.exit_code == 1, "some runs of the toy fail"
    assert "Toy scores" in result.output
    assert "T1" in result.output
    written = {path.name for path in (tmp_path / "mustlink-results").iterdir()}
    assert written == {"toy.jsonl", "toy.md", "toy.rst", "toy-figure1.png", "tables"}


def test_one_figure_alone(run, tmp_path):
    result = run("--figure", "2", "--results", "elsewhere")
    assert result.exit_code == 0
    assert (tmp_path / "elsewhere" / "toy.jsonl").read_text().count("\n") == 1


def test_full_has_more_runs_and_keeps_those_of_quick(run, tmp_path):
    lines = []
    for choice in ("--quick", "--full"):
        run(choice)
        lines.append((tmp_path / "mustlink-results" / "toy.jsonl").read_text().splitlines())
    assert lines[1][: len(lines[0])] == lines[0]
    assert len(lines[1]) > len(lines[0])


def test_fresh_deletes_stored_results(run, tmp_path):
    path = tmp_path / "mustlink-results" / "toy.jsonl"
    run("--figure", "2")
    first = path.read_text()
    run("--figure", "2")
    assert path.read_text() == first
    path.write_text(first + first)
    run("--figure", "2", "--fresh")
    assert path.read_text().count("\n") == 1


def test_pages_for_the_documentation(run, tmp_path):
    run("--docs", "docs/reproduce")
    assert {path.name for path in (tmp_path / "docs" / "reproduce").iterdir()} == {
        "toy.rst",
        "toy-figure1.png",
        "tables",
    }


@pytest.mark.parametrize("option", ["--results", "--docs"])
@pytest.mark.parametrize("name", ["taken", "taken/deeper"])
def test_an_output_folder_that_cannot_be_is_refused_before_any_work(run, tmp_path, monkeypatch, option, name):
    def compute(*arguments):
        raise AssertionError("a run was computed")

    monkeypatch.setattr("mustlink.reproduce.engine._protocol._records", compute)
    (tmp_path / "taken").write_text("a file")
    result = run(option, name)
    assert result.exit_code == 2, result.output
    assert result.output == "Error: This is a file, and a folder is expected: taken.\n"


def test_an_interruption_names_the_file_of_results(run, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("mustlink.reproduce._run_paper.compute_runs", interrupted)
    result = run()
    assert result.exit_code == 130
    assert "the same command continues from there" in result.output


def test_unknown_figure_is_a_sentence(run):
    result = run("--figure", "9")
    assert result.exit_code == 2
    assert "Error: toy has no figure '9'; it has 1, 2." in result.output


def test_unknown_paper_is_a_sentence():
    result = CliRunner().invoke(app, ["kdd"])
    assert result.exit_code == 2
    assert "There is no paper 'kdd' to reproduce; there are boostcluster, bbc, bckm" in result.output


@pytest.mark.parametrize(
    ("paper", "files", "calls"),
    [
        (
            "boostcluster",
            "balance.csv.gz, pendigits.csv.gz, segment.csv.gz, usps.csv.gz, vowel.csv.gz",
            ["fetch('balance-scale', save_as='balance')", "fetch('segment', save_as='segment')"],
        ),
        ("bbc", "mnist2000.csv.gz, yaleb32.csv.gz", []),
    ],
)
@pytest.mark.parametrize("is_set", [True, False])
def test_all_missing_data_are_named_before_any_work(monkeypatch, tmp_path, paper, files, calls, is_set):
    monkeypatch.chdir(tmp_path)
    if is_set:
        monkeypatch.setenv("MUSTLINK_DATA", str(tmp_path))
    else:
        monkeypatch.delenv("MUSTLINK_DATA", raising=False)
    result = CliRunner().invoke(app, [paper])
    assert result.exit_code == 2
    found = f"names {tmp_path.resolve()}" if is_set else "is not set"
    assert f"not on this machine: {files} (the variable MUSTLINK_DATA {found})" in result.output
    assert all(call in result.output for call in calls)
    assert ("OpenML" in result.output) == bool(calls)
    assert list(tmp_path.iterdir()) == []
