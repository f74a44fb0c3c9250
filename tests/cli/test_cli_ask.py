from __future__ import annotations

import shlex
import signal
from dataclasses import fields

import numpy as np
import pytest
from typer.testing import CliRunner

from mustlink import Constraints
from mustlink.cli import app
from mustlink.cli._options import typed_words
from mustlink.workflow import TableOptions

STRATEGIES = ["cobras", "consolidate", "explore", "minmax", "npu", "random"]
IDS = [f"c{row:02d}" for row in range(30)]
OWN = ("--id", "who", "--ignore", "kind")
GROUPS = {name: row % 3 for row, name in enumerate(IDS)}


def answered(desk, lines, *words):
    runner = CliRunner(env={"COLUMNS": "200", "TERM": "dumb"})
    return runner.invoke(app, ["ask", *map(str, words)], input="".join(f"{line}\n" for line in lines))


def truthful(desk, limit, *words):
    """Answer by the groups, with one run of the command per question."""
    path = desk.folder / "shop.links.csv"
    for _ in range(limit):
        shown = answered(desk, ["q"], *words)
        assert shown.exit_code == 0, shown.output
        if "No question is left" in shown.stdout:
            return path
        a, b = pair_of(shown.stdout)
        answered(desk, ["y" if GROUPS[a] == GROUPS[b] else "n"], *words)
    return path


def pair_of(shown):
    """The rows of the last question on the screen."""
    return [line.split()[-2:] for line in shown.splitlines() if line.strip().startswith("column")][-1]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_answers_are_links_that_cluster_reads(shop, strategy):
    words = ("shop.csv", "-k", 3, "--id", "who", "--ignore", "kind", "--strategy", strategy, "--limit", 4)
    result = answered(shop, ["y", "n", "n", "n", "n"], *words)
    assert result.exit_code == 0, result.output
    lines = shop.read("shop.links.csv").splitlines()
    assert lines[0] == "a,b,link"
    kinds = [line.split(",")[2] for line in lines[1:]]
    assert kinds[: len(kinds)] == ["must", "cannot", "cannot", "cannot"][: len(kinds)]
    assert len(kinds) >= 3
    links = Constraints.read(shop.folder / "shop.links.csv", ids=IDS)
    assert len(links) == len(kinds)
    assert f"{len(kinds) - 1} apart" in result.stdout
    again = shop.run("cluster", "shop.csv", "shop.links.csv", "-k", 3, "--id", "who", "--ignore", "kind")
    assert again.exit_code == 0, again.output


def test_questions_continue_and_none_is_repeated(shop):
    words = ("shop.csv", "-k", 3, "--id", "who", "--ignore", "kind")
    path = truthful(shop, 60, *words)
    pairs = [frozenset(line.split(",")[:2]) for line in path.read_text().splitlines()[1:]]
    assert len(set(pairs)) == len(pairs) > 27
    links = Constraints.read(path, ids=IDS)
    assert links.violation_rate(np.arange(30) % 3) == 0
    assert "No question is left" in answered(shop, ["q"], *words).stdout


def test_rows_without_ids_are_named_by_number(shop):
    answered(shop, ["n"], "shop.csv", "-k", 3, "--ignore", "who", "--ignore", "kind", "--links", "mine.csv")
    assert len(Constraints.read(shop.folder / "mine.csv").cannot_link) == 1


def test_left_out_rows_do_not_shift_the_numbers(desk):
    desk.write("t.csv", "x,y\n0,0\n,5\n0.1,0\n9,9\n")
    answered(desk, ["n", "n", "n"], "t.csv", "-k", 3, "--missing", "drop")
    assert set(Constraints.read(desk.folder / "t.links.csv").constrained_rows().tolist()) == {0, 2, 3}


def test_undo_takes_the_last_answer_out_of_the_file(shop):
    words = ("shop.csv", "-k", 3, "--id", "who", "--ignore", "kind")
    result = answered(shop, ["y", "n", "u", "y", "s", "u", "u", "u", "u"], *words)
    assert result.exit_code == 0
    assert "There is nothing to undo." in result.stdout
    assert "Nothing was answered." in result.stdout
    assert shop.read("shop.links.csv") == "a,b,link\n"
    assert "Question 1;" in answered(shop, [], *words).stdout


def test_undo_does_not_reach_into_earlier_sittings(shop):
    words = ("shop.csv", "-k", 3, "--id", "who", "--ignore", "kind")
    answered(shop, ["y"], *words)
    before = shop.read("shop.links.csv")
    answered(shop, ["u", "n", "u"], *words)
    assert shop.read("shop.links.csv") == before


def test_a_file_keeps_its_own_form(shop):
    text = "Weight; a;link;b\n2;c00;must;c03\n;c00;cannot;c01"
    shop.write("own.csv", text)
    result = answered(shop, ["n"], "shop.csv", "-k", 3, "--id", "who", "--ignore", "kind", "--links", "own.csv")
    assert result.exit_code == 0, result.output
    assert "Continuing from 2 links" in result.stdout
    assert shop.read("own.csv").startswith(text + "\n;")
    links = Constraints.read(shop.folder / "own.csv", ids=IDS)
    assert len(links) == 3
    assert links.must_link_weight.tolist() == [2.0]


@pytest.mark.parametrize(
    ("encoding", "line_end"), [("utf-8", "\r\n"), ("utf-8-sig", "\r\n"), ("cp1252", "\r\n"), ("cp1252", "\n")]
)
def test_a_file_keeps_its_line_ends_and_its_encoding(desk, encoding, line_end):
    names = ["J\u00f6rg", "Z\u00f6e", "R\u00e9mi", "Ann", "Bob"]
    rows = [f"{name},{place % 2 * 9 + place / 10},{place}" for place, name in enumerate(names)]
    desk.write("t.csv", "\n".join(["who,x,y", *rows]) + "\n")
    before = line_end.join(["a;b;link", "J\u00f6rg;Ann;cannot", ""]).encode(encoding)
    desk.write("own.csv", before)
    result = answered(desk, ["n", "y", "u", "n"], "t.csv", "-k", 3, "--id", "who", "--links", "own.csv", "--limit", 3)
    assert result.exit_code == 0, result.output
    content = (desk.folder / "own.csv").read_bytes()
    assert content.startswith(before)
    assert content.count(b"\r") == (content.count(b"\n") if line_end == "\r\n" else 0)
    lines = content.decode(encoding).split(line_end)
    assert len(lines) > 3
    assert all(line.split(";")[0] in names for line in lines[1:-1])


def test_answers_are_not_added_where_a_name_cannot_be_written(desk):
    desk.write("t.csv", "who,x\nJ\u00f6rg,0\n\u738b,9\n")
    desk.write("own.csv", b"a,b,link,note\n" + "J\u00f6rg,\u738b,cannot,".encode("utf-16"))
    words = ("t.csv", "-k", 2, "--id", "who", "--links", "own.csv")
    desk.write("own.csv", "a,b,link,\u00fc\n".encode("cp1252"))
    result = answered(desk, ["n"], *words)
    assert result.exit_code == 2
    assert (
        "own.csv is written in cp1252, which has no '\u738b'; save the file with the encoding UTF-8." in result.stderr
    )
    assert (desk.folder / "own.csv").read_bytes() == "a,b,link,\u00fc\n".encode("cp1252")
    desk.write("own.csv", "a,b,link\n".encode("utf-16"))
    assert "UTF-16, and answers cannot be added to it; save the file" in desk.fails("ask", *words)


@pytest.mark.parametrize("cut", range(1, 9))
def test_a_half_written_line_is_removed(shop, cut):
    whole = "a,b,link\nc00,c03,must\n"
    shop.write("shop.links.csv", whole + "c01,c00,cannot\n"[: -1 - cut])
    result = answered(shop, [], "shop.csv", "-k", 3, "--id", "who", "--ignore", "kind")
    assert result.exit_code == 0, result.output
    assert "cut short" in result.stdout
    assert shop.read("shop.links.csv") == whole


@pytest.mark.parametrize("beginning", ["", "a", "a,b,lin", "a,b,link"])
def test_a_half_written_header_is_written_again(shop, beginning):
    shop.write("shop.links.csv", beginning)
    result = answered(shop, ["n"], "shop.csv", "-k", 3, "--id", "who", "--ignore", "kind")
    assert result.exit_code == 0, result.output
    assert len(Constraints.read(shop.folder / "shop.links.csv", ids=IDS)) == 1


def test_marked_columns_are_those_that_differ(desk):
    desk.write("t.csv", "who,near,far,name\na,1,0,ann\nb,1.01,9,bob\nc,3,5,cid\n")
    desk.write("l.csv", "a,b,link\na,c,must\n")
    words = ("t.csv", "-k", 2, "--id", "who", "--ignore", "name", "--links", "l.csv")
    shown = answered(desk, ["q"], *words).stdout
    lines = {line.lstrip("* ").split()[0]: line for line in shown.splitlines() if line.strip()}
    assert lines["far"].split() == ["*", "far", "9", "5"]
    assert lines["near"].split() == ["*", "near", "1.01", "3.00"]
    narrow = answered(desk, ["q"], *words, "--columns", "name").stdout
    assert "bob" in narrow
    assert "far" not in narrow


def test_columns_that_hardly_differ_are_not_marked(desk):
    desk.write("t.csv", "near,far\n1,0\n1.01,9\n3,0\n")
    shown = answered(desk, ["q"], "t.csv", "-k", 2, "--strategy", "random", "--seed", 0).stdout
    a, b = map(int, pair_of(shown))
    marked = {line.split()[1] for line in shown.splitlines() if line.startswith("*")}
    assert marked == {frozenset((0, 1)): {"far"}, frozenset((0, 2)): {"near"}}.get(frozenset((a, b)), {"near", "far"})


def test_many_columns_are_cut_to_those_that_differ_most(desk):
    names = [f"x{place}" for place in range(30)]
    rows = [",".join(str(place * row) for place in range(30)) for row in range(4)]
    desk.write("t.csv", ",".join(names) + "\n" + "\n".join(rows) + "\n")
    shown = answered(desk, ["q"], "t.csv", "-k", 2, "--no-scale").stdout
    assert "more columns with smaller differences" in shown
    assert "x29" in shown
    assert "x2 " not in shown


@pytest.mark.parametrize("answer", ["q", "s"])
def test_clustering_is_not_proposed_where_nothing_was_answered(shop, answer):
    shown = answered(shop, [answer], "shop.csv", "-k", 3, *OWN, "--links", "links.csv", "--limit", 1)
    assert shown.exit_code == 0, shown.output
    assert "Nothing was answered" in shown.stdout
    assert "To cluster" not in shown.stdout


def test_numbers_are_shown_with_their_digits(desk):
    desk.write("t.csv", "sales,rate,year\n37512345,0.00125,1987\n31500,0.5,2003\n")
    shown = answered(desk, ["q"], "t.csv", "-k", 2, "--limit", 1).stdout
    for cells in ("37,512,345", "31,500", "0.00125", "0.5", "1987", "2003"):
        assert f" {cells}" in shown


def test_control_characters_of_a_table_do_not_reach_the_terminal(desk):
    desk.write("t.csv", "who,x,note\na,1,\x1b[2Jhello\nb,9,plain\nc,5,plain\n")
    result = answered(desk, ["q"], "t.csv", "-k", 2, "--id", "who", "--categorical", "note")
    assert result.exit_code == 0, result.output
    assert "\x1b[2J" not in result.stdout


def test_labels_are_known_links(shop):
    words = ("shop.csv", "-k", 3, "--id", "who", "--label-column", "kind")
    shown = answered(shop, ["q"], *words).stdout
    assert "3 of 3 groups found" in shown
    assert "home" not in shown


def test_contradictory_links_are_ignored(shop):
    shop.write("odd.csv", "a,b,link\nc00,c03,must\nc03,c06,must\nc00,c06,cannot\n")
    result = answered(shop, ["n"], "shop.csv", "-k", 3, "--id", "who", "--ignore", "kind", "--links", "odd.csv")
    assert result.exit_code == 0, result.output
    assert "1 of the links in odd.csv contradict others" in result.stdout
    assert len(Constraints.read(shop.folder / "odd.csv", ids=IDS)) == 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("none.csv", "-k", 3), "There is no file none.csv."),
        (("shop.csv", "-k", 0, *OWN), "-k must be at least 1"),
        (("shop.csv", "-k", 31, *OWN), "31 clusters cannot be made of the 30 rows"),
        (("shop.csv", "-k", 3, *OWN, "--links", "shop.csv"), "is the table and would be overwritten"),
        (("shop.csv", "-k", 3, *OWN, "--links", "no/such.csv"), "The folder to write into does not"),
        (("shop.csv", "-k", 3, *OWN, "--links", "l.csv.gz"), "decompress it first"),
        (("shop.csv", "-k", 3, *OWN, "--links", "l.xlsx"), ".csv, .tsv or .txt file, and .xlsx is none of them"),
        (("shop.csv", "-k", 3, *OWN, "--links", "/dev/null"), "not a file that answers can be kept in"),
        (("shop.csv", "-k", 3, *OWN, "--columns", "height"), "has no column 'height'"),
        (("shop.csv", "-k", 3, "--ignore", "who", "--ignore", "kind", "--links", "links.csv"), "is not a row number"),
    ],
)
def test_bad_input_is_a_sentence(shop, words, message):
    assert message in shop.fails("ask", *words)


def test_an_invalid_answer_is_an_error_and_keeps_the_others(shop):
    result = answered(shop, ["n", "", "perhaps", "n"], "shop.csv", "-k", 3, "--id", "who", "--ignore", "kind")
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: Line 3 of the answers is 'perhaps'; an answer is y (yes), n (no)")
    assert shop.read("shop.links.csv").count("\n") == 2


@pytest.mark.parametrize("ending", ["interrupt", "kill", "end"])
def test_on_a_terminal_nothing_answered_is_lost(shop, start_on_terminal, ending):
    screen = start_on_terminal("ask", "shop.csv", "-k", 3, *OWN, width=80)
    process = screen.process
    for typed in ("n\n", "what\n", "y\n"):
        screen.wait_for(b"uit: ")
        screen.type(typed)
    shown = screen.wait_for(b"uit: ")
    assert b"Question 3" in shown
    if ending == "interrupt":
        assert screen.interrupt() == 130
    elif ending == "kill":
        process.kill()
        assert process.wait(timeout=60) == -signal.SIGKILL
    else:
        screen.type("\x04")
        assert process.wait(timeout=60) == 0
    assert [line.split(",")[2] for line in shop.read("shop.links.csv").splitlines()] == ["link", "cannot", "must"]


@pytest.mark.parametrize(
    "options",
    [
        ("--id", "who", "--ignore", "kind"),
        ("--id", "who", "--label-column", "kind"),
        ("--ignore", "who", "--ignore", "kind", "--missing", "mean", "--no-scale", "--no-one-hot"),
        ("--categorical", "who", "--missing", "drop", "--header", "--contradictions", "majority"),
    ],
)
def test_the_suggested_command_repeats_the_options_and_runs(shop, options):
    shown = answered(shop, ["n"], "shop.csv", "-k", 3, "--limit", 1, *options)
    assert shown.exit_code == 0, shown.output
    words = shlex.split(shown.stdout.strip().splitlines()[-1])
    assert words == ["mustlink", "cluster", "shop.csv", "shop.links.csv", "-k", "3", *words[6:]]
    assert sorted(words[6:]) == sorted(options)
    again = shop.run(*words[1:], "--method", "pck")
    assert again.exit_code == 0, again.output


def test_every_option_of_a_table_is_repeated(desk):
    shown = desk.run("ask", "--help").stdout
    others = {"missing": "drop", "ignore": ["x", "y z"], "categorical": ["x"], "header": True, "decimal": ","}
    others |= {"never_together": ["x"], "always_together": ["x"]}
    for field in fields(TableOptions):
        if field.name == "table":
            continue
        value = others.get(field.name, False if field.default is True else "utf-8" if field.name == "encoding" else ";")
        words = typed_words(TableOptions("t.csv", **{field.name: value}))
        assert words, field.name
        assert words[0] in shown, field.name


def test_the_suggested_command_repeats_how_the_file_is_written(desk):
    desk.write("t.csv", "w\u00f6#n\n1.250#2\n2.500#1\n8.250#9\n9.750#8\n".encode("cp437"))
    options = ["--encoding", "cp437", "--delimiter", "#", "--decimal", ","]
    shown = answered(desk, ["n"], "t.csv", "-k", 2, "--limit", 1, *options)
    assert shown.exit_code == 0, shown.output
    assert "w\u00f6" in shown.stdout
    words = shlex.split(shown.stdout.strip().splitlines()[-1])
    assert words[6:] == options
    assert desk.run(*words[1:], "--method", "pck").exit_code == 0


def test_dates_are_shown_as_dates(desk):
    desk.write("t.csv", "since;n;at\n01.03.2024;2;14:30\n02.03.2024;1;8:15\n01.03.2010;9;9:00\n02.03.2010;8;9:30\n")
    shown = answered(desk, ["n"], "t.csv", "-k", 2, "--limit", 1).stdout
    assert shown.count("-03-0") == 2
    assert "14:30" in shown or "8:15" in shown or "9:00" in shown


def test_the_suggested_command_repeats_that_there_is_no_header(desk):
    desk.write("plain.csv", "1,2\n2,1\n8,9\n9,8\n")
    shown = answered(desk, ["n"], "plain.csv", "-k", 2, "--limit", 1, "--no-header")
    words = shlex.split(shown.stdout.strip().splitlines()[-1])
    assert words[-1] == "--no-header"
    assert desk.run(*words[1:], "--method", "pck").exit_code == 0


def test_it_says_when_answers_are_predicted_and_goes_on(shop):
    from mustlink.workflow import Sitting, load_table

    rows = "".join(f"{row},{row % 2 * 50 + row % 7}\n" for row in range(70))
    (shop.folder / "far.csv").write_text(f"who,size\n{rows}")
    table = load_table(TableOptions(shop.folder / "far.csv", id_column="who"))
    sitting, lines = Sitting(table, shop.folder / "new.csv", n_clusters=2), []
    while len(lines) < 65:
        a, b = sitting.question
        sitting.answer(a % 2 == b % 2)
        lines.append("y" if a % 2 == b % 2 else "n")
    result = answered(shop, lines, shop.folder / "far.csv", "-k", 2, "--id", "who", "--limit", 65)
    assert result.exit_code == 0, result.output
    said = [
        line for line in result.stdout.splitlines() if "were as predicted; more questions will change little." in line
    ]
    assert said
    assert said[0].startswith("The last ")
    assert "Question 65 of 65" in result.stdout
