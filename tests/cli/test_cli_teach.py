from __future__ import annotations

import json
import signal

import pandas as pd
import pytest
from typer.testing import CliRunner

from mustlink.cli import app

TOYS = ["ball red ball red", "ball red ball", "ball blue ball blue", "ball blue ball"]
TOYS += [text.replace("ball", "cube") for text in (TOYS[1], TOYS[0], TOYS[3], TOYS[2])]
COLOR = ["different 0 2", "same 0 4", ""]


@pytest.fixture
def toys(desk):
    desk.write("toys.csv", "name,text\n" + "".join(f"toy {row},{text}\n" for row, text in enumerate(TOYS)))
    return desk


def taught(lines, *words, width=80):
    runner = CliRunner(env={"COLUMNS": str(width), "TERM": "dumb"})
    return runner.invoke(app, ["teach", *map(str, words)], input="".join(f"{line}\n" for line in lines))


def clusters(desk, name="toys.clusters.csv"):
    return pd.read_csv(desk.folder / name)["cluster"].tolist()


def test_a_sitting_by_pipe(toys):
    result = taught([*COLOR, "quit"], "toys.csv", "-k", 2, "--title", "name")
    assert result.exit_code == 0, result.output
    assert "A  4 texts  ball" in result.stdout
    assert "2 new answers; Enter clusters again." in result.stdout
    assert "4 texts moved." in result.stdout
    assert "A -> B  0  toy 0" in result.stdout
    assert "Words that count more: blue 1.00->" in result.stdout
    assert "Words that count less: " in result.stdout
    assert "All answers are followed." in result.stdout
    assert "2 answers, all saved in toys.teach.jsonl." in result.stdout
    assert "Clusters written to toys.clusters.csv" in result.stdout
    found = clusters(toys)
    assert found[0] == found[1] == found[4] == found[5]
    assert found[2] == found[3] == found[6] == found[7] != found[0]
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_the_end_of_the_input_clusters_with_the_last_answers(toys):
    result = taught(COLOR[:2], "toys.csv", "-k", 2, "-o", "out.tsv")
    assert result.exit_code == 0, result.output
    moved = result.stdout.index("4 texts moved.")
    assert "A  4 texts  blue" in result.stdout[moved:]
    assert toys.read("out.tsv").startswith("row\tcluster\ttitle\n")


def test_the_same_command_continues(toys):
    first = taught([*COLOR[:1], "good A", ""], "toys.csv", "-k", 2)
    assert first.exit_code == 0, first.output
    again = taught(["quit"], "toys.csv", "-k", 2)
    assert "Continuing from 2 answers in toys.teach.jsonl." in again.stdout
    before = clusters(toys)
    assert taught([], "toys.csv", "-k", 2).exit_code == 0
    assert clusters(toys) == before


@pytest.mark.parametrize("line", ["", "go"])
def test_without_answers_nothing_is_clustered_again(toys, line):
    result = taught([line, "quit"], "toys.csv", "-k", 2)
    assert result.exit_code == 0, result.output
    assert "There is nothing new to cluster by." in result.stdout
    assert "moved" not in result.stdout
    assert not (toys.folder / "toys.teach.jsonl").exists()


def test_undo_says_what_is_taken_back(toys):
    lines = ["terms", *COLOR, "undo", "undo", "undo", "undo", "quit"]
    result = taught(lines, "toys.csv", "-k", 2)
    assert result.exit_code == 0, result.output
    assert "All words count the same so far." in result.stdout
    before, after = result.stdout.split("Taken back: the last go. 2 answers are left.\n2 new answers; Enter")
    # At the beginning, after clustering again, and as it was before.
    assert before.count("A  4 texts") == 3
    assert before.count("A  4 texts  ball") == 2
    assert "Taken back: 0 and 4 should be in one cluster. 1 answer is left." in after
    assert "Taken back: 0 and 2 should be in different clusters. 0 answers are left." in after
    assert "There is nothing to take back." in after
    assert "4 texts" not in after


def test_commas_between_texts_are_ignored(toys):
    result = taught(["same 0, 4", "different 0,2", "merge A , B"], "toys.csv", "-k", 2)
    assert result.exit_code == 0, result.output
    records = [json.loads(line) for line in toys.read("toys.teach.jsonl").splitlines()]
    assert [record["texts"] for record in records[1:3]] == [["0", "4"], ["0", "2"]]
    assert records[3]["clusters"] == ["A", "B"]


def test_every_answer_is_taken(toys):
    lines = ["in 4 A", "not 5 B", "move 6 A", "good A", "bad B", "merge A B", "apart A B", "different", "help", ""]
    result = taught([*lines, "show", "show A b", "read 3", "terms", "undo", "undo", "quit"], "toys.csv", "-k", 2)
    assert result.exit_code == 0, result.output
    kinds = [json.loads(line).get("kind") for line in toys.read("toys.teach.jsonl").splitlines()]
    assert kinds[1:-1] == ["belongs", "not_belongs", "move", "good", "bad", "merge", "apart"]
    assert "ball blue ball\n" in result.stdout
    assert "Most: " in result.stdout
    assert "same 3 17       texts 3 and 17 belong together" in result.stdout
    assert "quit, or q      cluster with new answers, write clusters, stop (or Ctrl-D)\n" in result.stdout
    assert "Ctrl-C stops without writing clusters; the answers are kept.\n" in result.stdout


def test_texts_by_id_and_quoted_names(desk):
    desk.write("t.csv", "who,text\n" + "".join(f"toy {row},{text}\n" for row, text in enumerate(TOYS)))
    result = taught(['same "toy 0" "toy 4"', "quit"], "t.csv", "-k", 2, "--id", "who")
    assert result.exit_code == 0, result.output
    assert json.loads(desk.read("t.teach.jsonl").splitlines()[1])["texts"] == ["toy 0", "toy 4"]
    assert desk.read("t.clusters.csv").startswith("who,cluster,title\ntoy 0,")


def test_a_folder_and_a_file_of_lines(desk):
    (desk.folder / "box").mkdir()
    for row, text in enumerate(TOYS):
        desk.write(f"box/{row}.txt", text)
    desk.write("lines.txt", "\n".join(TOYS))
    assert taught(["same 0.txt 1.txt"], "box", "-k", 2).exit_code == 0
    assert taught(["same 0 1"], "lines.txt", "-k", 2).exit_code == 0
    assert {"box.clusters.csv", "box.teach.jsonl", "lines.clusters.csv", "lines.teach.jsonl"} <= set(desk.names())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("good Z", "Line 2 of the answers, 'good Z': There is no cluster 'Z'; the clusters are A, B."),
        ("same 0 99", "There is no text '99'; the texts are called 0 to 7."),
        ("same 0", "same needs 2 texts, as in same 3 17."),
        ("move 0", "move needs 1 text and 1 cluster, as in move 3 B."),
        ("merge A", "merge needs 2 clusters, as in merge A B."),
        ("read", "read needs 1 text, as in read 3."),
        ("undo 5", "undo needs no more words; got 5."),
        ("go now", "go needs no more words; got now."),
        ("quit A", "quit needs no more words; got A."),
        ("show Q", "There is no cluster 'Q'"),
        ("sam 0 1", "'sam' is no answer; the answers are same, different, in, not, move, good, bad, merge, apart, go"),
        ('same "0 1', "No closing quotation"),
    ],
)
def test_a_line_that_cannot_be_understood_keeps_the_answers_before_it(toys, line, message):
    result = taught(["good A", line, "bad B"], "toys.csv", "-k", 2)
    assert result.exit_code == 2
    assert message in result.stderr
    assert [json.loads(line).get("kind") for line in toys.read("toys.teach.jsonl").splitlines()] == [None, "good"]
    assert not (toys.folder / "toys.clusters.csv").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("none.csv", "-k", 2), "There is no file none.csv."),
        (("toys.csv", "-k", 2, "--text", "body"), "has no column 'body'; its columns are name, text."),
        (("toys.csv", "-k", 9), "9 clusters cannot be made of the 8 texts of toys.csv"),
        (("toys.csv", "-k", 0), "-k must be at least 1."),
        (("toys.csv", "-k", 2, "--min-df", 0), "--min-df must be at least 1."),
        (("toys.csv", "-k", 2, "--min-df", 50), "no word occurs in 50 texts or more; reduce --min-df."),
        (("toys.csv", "-k", 2, "--seed", -1), "--seed must be from 0"),
        (("toys.csv", "-k", 2, "-o", "out.npy"), "out.npy"),
        (("toys.csv", "-k", 2, "-o", "toys.csv"), "toys.csv is an input and would be overwritten"),
        (("toys.csv", "-k", 2, "--answers", "toys.csv"), "toys.csv has the texts and would be overwritten"),
        (("empty.csv", "-k", 2, "--text", "text"), "empty.csv has no texts."),
        (("two.csv", "-k", 2), "two.csv has no column 'text'; its columns are a, b; name the column of the texts with"),
    ],
)
def test_bad_input_is_one_sentence(toys, words, message):
    toys.write("empty.csv", "name,text\na,\nb,\n")
    toys.write("two.csv", "a,b\nx,y\n")
    assert message in toys.fails("teach", *words)


def test_killed_in_the_middle_nothing_is_lost(toys, start_on_terminal):
    screen = start_on_terminal("teach", "toys.csv", "-k", 2, width=80)
    screen.wait_for(b"Type help")
    screen.type("nonsense\n")
    screen.wait_for(b"is no answer")
    screen.type("different 0 2\n")
    screen.wait_for(b"1 new answer")
    screen.type("\n")
    screen.wait_for(b"moved")
    screen.type("same 0 4\n")
    screen.wait_for(b"1 new answer")
    screen.process.send_signal(signal.SIGKILL)
    screen.process.wait()
    kinds = [json.loads(line).get("kind") for line in toys.read("toys.teach.jsonl").splitlines()]
    assert kinds == [None, "cannot_link", None, "must_link"]
    result = taught(["quit"], "toys.csv", "-k", 2)
    assert "Continuing from 2 answers" in result.stdout
    assert "Type help for what to say. 1 new answer; Enter clusters again." in result.stdout


def test_interrupted_the_answers_are_counted(toys, start_on_terminal):
    screen = start_on_terminal("teach", "toys.csv", "-k", 2, width=80)
    screen.wait_for(b"Type help")
    screen.type("good A\n")
    screen.wait_for(b"1 new answer")
    assert screen.interrupt() == 130
    assert b"1 answer, all saved in toys.teach.jsonl." in screen.rest().replace(b"\r\n", b" ")
    assert not (toys.folder / "toys.clusters.csv").exists()
