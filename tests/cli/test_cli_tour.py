"""The tour: five screens on the sample, with commands that are really run."""

from __future__ import annotations

import os
import re
import shlex

import pytest

SCREENS = [
    "Check the links",
    "Cluster with the links",
    "Look at a report",
    "Find links that may be wrong",
    "Answer questions",
]


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The whole tour without a terminal, which waits for nothing, and its folder."""
    from typer.testing import CliRunner

    from mustlink.cli import app

    folder = tmp_path_factory.mktemp("tour")
    before = os.getcwd()
    os.chdir(folder)
    try:
        runner = CliRunner(env={"COLUMNS": "200", "TERM": "dumb"})
        result = runner.invoke(app, ["demo", "--tour"], input="n\ny\nn\n")
    finally:
        os.chdir(before)
    assert result.exit_code == 0, result.output
    return result.stdout, folder / "mustlink-demo"


def test_five_screens_say_where_they_are(shown):
    text, _ = shown
    assert re.findall(r"^(\d of 5: .*)$", text, re.MULTILINE) == [
        f"{number} of 5: {title}" for number, title in enumerate(SCREENS, start=1)
    ]
    assert "Enter" not in text


def test_every_screen_prints_its_command_and_what_it_prints(shown):
    text, folder = shown
    screens = re.split(r"^\d of 5: ", text, flags=re.MULTILINE)[1:]
    results = ["Conflicts: none", "All 40 links kept.", "Report written to", "These 2 links may be wrong", "3 apart"]
    commands = ["check", "cluster", "cluster", "cluster", "ask"]
    for screen, result, command in zip(screens, results, commands, strict=True):
        lines = screen.splitlines()
        typed = next(line for line in lines if line.startswith("  mustlink "))
        assert shlex.split(typed)[1] == command
        # What the screen is about comes before the command, what the command prints after it.
        assert 2 <= len(re.findall(r"[.?](?= |$)", " ".join(lines[1 : lines.index(typed)]))) <= 4
        if command != "ask":
            assert result in "\n".join(lines[lines.index(typed) :])
    made = {path.name for path in folder.iterdir()}
    assert made == {"answers.csv", "clusters.csv", "customers.csv", "links.csv", "mistakes.csv", "report.html"}
    assert len((folder / "answers.csv").read_text().splitlines()) == 4


def test_the_suspects_are_the_links_that_were_made_wrong(shown):
    text, folder = shown
    named = text.partition("These 2 links may be wrong")[2].splitlines()[1:3]
    right = (folder / "links.csv").read_text().splitlines()
    wrong = [line for line in (folder / "mistakes.csv").read_text().splitlines() if line not in right]
    pairs = {frozenset(line.split(",")[:2]) for line in wrong}
    assert {frozenset(re.findall(r"C\d+", line)) for line in named} == pairs


def test_it_ends_with_commands_for_a_table_of_ones_own(shown):
    text, _ = shown
    assert "On a table of your own" in text
    assert "    mustlink cluster table.csv -k 3\n" in text


@pytest.mark.parametrize(("typed", "code"), [("q\n", 0), (None, 130)])
def test_at_a_terminal_it_waits_and_can_be_left(start_on_terminal, typed, code):
    screen = start_on_terminal("demo", "--tour", width=50)
    first = screen.wait_for(b"to quit")
    assert b"1 of 5" in first
    # On a narrow terminal the command is continued as a shell takes it.
    assert b"customers.csv -k 3 \\" in first
    if typed is None:
        assert screen.interrupt() == code
    else:
        screen.type(typed)
        assert screen.process.wait(timeout=60) == code
    rest = screen.rest()
    assert b"2 of 5" not in rest
    assert b"Traceback" not in rest
    assert (b"Stopped." in rest) == (typed is None)
