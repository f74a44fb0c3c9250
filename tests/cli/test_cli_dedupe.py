"""``mustlink dedupe``: entities beside the rows, the questions it leaves, and the answers to them."""

from __future__ import annotations

import shlex

import pytest
from typer.testing import CliRunner

from mustlink.cli import app

NAMES = ["Ann Smith", "A. Smith", "Smith, Ann", "Bo Li", "Bo Lee", "B. Li", "Jörg Weiß", "J. Weiss"]


@pytest.fixture
def people(desk):
    """Eight records in a file as Excel writes it in Germany."""
    lines = ["nr;name;haus;land;echt"]
    for row, name in enumerate(NAMES):
        lines.append(f"{row:03};{name};h{row % 4};{'DE' if row % 2 else 'AT'};{[1, 1, 1, 2, 3, 2, 4, 4][row]}")
    desk.write("people.csv", ("\r\n".join(lines) + "\r\n").encode("cp1252"))
    return desk


def test_entities_are_written_as_the_table_is(people):
    result = people.run("dedupe", "people.csv", "--by", "name", "--id", "nr")
    assert result.exit_code == 0, result.output
    assert people.names() == ["people.csv", "people.entities.csv"]
    lines = (people.folder / "people.entities.csv").read_bytes().decode("cp1252").split("\r\n")
    assert lines[:2] == ["nr;entity", "000;0"]
    assert "8 rows are " in result.stdout
    assert "Entities written to people.entities.csv" in result.stdout


def test_the_whole_table_is_kept(people):
    result = people.run("dedupe", "people.csv", "--by", "name", "--keep-columns", "-o", "out.csv")
    assert result.exit_code == 0, result.output
    lines = (people.folder / "out.csv").read_bytes().decode("cp1252").split("\r\n")
    assert lines[0] == "nr;name;haus;land;echt;entity"
    assert lines[7].startswith("006;Jörg Weiß;h2;AT;4;")


def test_the_summary_names_threshold_entities_and_truth(people):
    shown = people.run("dedupe", "people.csv", "--by", "name", "--threshold", 0.5, "--truth", "echt").stdout
    assert "Records are one entity from a similarity of 0.5 on (as given)." in shown
    assert "Compared with the column echt (8 rows): precision" in shown
    assert "Least sure of, with the similarity" in shown
    assert "spellings" in shown


def test_the_blocking_and_its_share_of_the_matches_are_shown(desk):
    titles = ["apple ipod nano 8gb black", "ipod nano apple 8gb black", "dell xps laptop 13 inch", "bo li", "b li"]
    kinds = ["1", "1", "2", "1", ""]
    lines = [f"{title},{kind}" for title, kind in zip(titles, kinds, strict=True)]
    desk.write("p.csv", "title,kind\n" + "\n".join(lines) + "\n")
    words = ("dedupe", "p.csv", "--by", "title", "--report", "r.html")
    shown = desk.run(*words, "--truth", "kind").stdout
    # The known matches are the three pairs of kind 1, of which those with bo li share too few letters.
    note = "Blocking (qgram, chosen by the texts): 2 of 10 pairs of rows were compared"
    assert f"{note}, with 33.3% of the matches in the column kind." in shown
    assert note in desk.read("r.html")
    assert f"{note}." in desk.run(*words).stdout
    assert "Blocking (names): " in desk.run(*words, "--blocking", "names").stdout


def test_a_similarity_of_clusters_is_called_so(desk):
    names = ["Ann Smith", "Ann Smith", "Ann B. Smith", "Ann B. Smith", "Ann B. Smith"]
    desk.write("p.csv", "name\n" + "\n".join(names) + "\n")
    shown = desk.run("dedupe", "p.csv", "--by", "name", "--threshold", 1, "--report", "r.html").stdout
    assert " between 2 and 3 records: Ann Smith (0) and Ann B. Smith (2)" in shown
    assert "similarity of the clusters of 2 records and 3 records" in desk.read("r.html")


def commands_of(shown):
    """The commands that are printed to be run next."""
    lines = [line.strip() for line in shown.splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("mustlink ")]


@pytest.mark.parametrize("options", [(), ("--id", "nr"), ("--id", "nr", "--truth", "echt", "--report", "r.html")])
def test_the_printed_commands_ask_and_use_the_answers(people, options):
    words = ("dedupe", "people.csv", "--by", "name", "--questions", "q.csv", "--unsure", 2, *options)
    result = people.run(*words)
    assert result.exit_code == 0, result.output
    ask, again = commands_of(result.stdout)
    questions = [line.split(",")[:2] for line in people.read("q.csv").splitlines()[1:]]
    assert len(questions) == 2
    runner = CliRunner(env={"COLUMNS": "200", "TERM": "dumb"})
    asked = runner.invoke(app, ask, input="n\ny\n")
    assert asked.exit_code == 0, asked.output
    links = [line.split(",") for line in people.read("people.links.csv").splitlines()[1:]]
    assert [link[:2] for link in links] == questions
    assert [link[2] for link in links] == ["cannot", "must"]
    assert "run mustlink dedupe again with --links people.links.csv" in asked.stdout
    if "--truth" in options:
        assert "echt" not in asked.stdout
    final = people.run(*again)
    assert final.exit_code == 0, final.output
    lines = (people.folder / "people.entities.csv").read_bytes().decode("cp1252").split("\r\n")[1:-1]
    entity = dict(line.split(";")[:2] for line in lines)
    assert [entity[a] == entity[b] for a, b in questions] == [False, True]
    # The third round adds to the same file.
    assert commands_of(final.stdout)[1] == again


def test_ask_with_questions_needs_no_features_and_marks_what_differs(people):
    people.write("q.csv", "a,b\n000,001\n")
    runner = CliRunner(env={"COLUMNS": "200", "TERM": "dumb"})
    result = runner.invoke(app, ["ask", "people.csv", "--id", "nr", "--questions", "q.csv"], input="q\n")
    assert result.exit_code == 0, result.output
    marks = {line.split()[1] for line in result.stdout.splitlines() if line.startswith("*")}
    assert marks == {"name", "haus", "land"}


def test_ask_without_a_number_of_clusters_names_both_ways(people):
    sentence = people.fails("ask", "people.csv")
    assert "Give the number of clusters with -k, or the pairs to ask about with --questions." in sentence


def test_pairs_of_another_tool(desk):
    desk.write("pairs.csv", "unique_id_l,unique_id_r,match_probability\na,b,0.9\nb,c,0.8\na,c,0.05\n")
    result = desk.run("dedupe", "--pairs", "pairs.csv", "--report", "r.html")
    assert result.exit_code == 0, result.output
    assert desk.read("pairs.entities.csv") == "unique_id,entity\na,0\nb,0\nc,1\n"
    assert "apart, 0.800: b and c" in result.stdout
    assert "probability" in desk.read("r.html")


def test_groups_with_empty_cells_are_noted(people):
    people.write("p.csv", "name,paper\nAnn Li,1\nBo Wu,1\nAnn Li,\n")
    shown = people.run("dedupe", "p.csv", "--by", "name", "--group", "paper").stdout
    assert "1 row has no entry in the column 'paper'." in shown


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "name the columns with --by"),
        (["--by", "nam"], "has no column 'nam' ('nam' may be 'name')"),
        (["--by", "name", "--group", "house"], "has no column 'house'"),
        (["--by", "name", "--never-together", "lande"], "'lande' may be 'land'"),
        (["--by", "name", "--threshold", "2"], "The threshold is 2, and must be from 0 to 1; change --threshold."),
        (["--by", "name", "--threshold", "high"], "--threshold is 'high'; it must be a number, or links."),
        (["--by", "name", "--threshold", "links"], "give --links."),
        (["--by", "name", "--alpha", "0.3"], "give --group, or leave out --alpha."),
        (["--by", "name", "--group", "haus", "--alpha", "1"], "no default threshold; give --threshold."),
        (["--by", "name", "--group-separator", ";"], "give --group, or leave out --group-separator."),
        (["--by", "name", "--within-groups", "always"], "give --group, or leave out --within-groups."),
        (["--by", "name", "--at-most", "2"], "give --never-together, or leave out --at-most."),
        (["--by", "name", "--unlisted", "0.1"], "give --pairs, or leave out --unlisted."),
        (["--by", "name", "--unsure", "-1"], "must be at least 0; change --unsure."),
        (["--pairs", "people.csv", "--missing", "single"], "leave out --missing."),
        (["--pairs", "people.csv", "--group", "haus"], "leave out --group."),
        (["--by", "name", "--links", "none.csv"], "There is no file none.csv"),
        (["--by", "name", "--report", "r.txt"], "must end in .html"),
        (["--by", "name", "-o", "o.ods"], "o.ods: entities are written as"),
        (
            ["--by", "name", "--blocking", "key", "--max-pairs", "1"],
            "such as --blocking sorted, or increase --max-pairs",
        ),
        (["--by", "name", "--keep-columns", "-o", "o.npy"], "a table with its entities is written as"),
        (["--by", "name,haus"], "has no column 'name,haus'"),
        (["--by", "name,haus"], "; repeat --by for each column."),
        (["--by", "name", "--group", "haus,land"], "; repeat --group for each column."),
        (["--by", "name", "--id", "land"], "an id must belong to one row"),
    ],
)
def test_bad_input_is_a_sentence(people, words, sentence):
    assert sentence in people.fails("dedupe", "people.csv", *words)


def test_bad_rows_and_links_are_sentences(people):
    people.write("e.csv", "name,x\nAnn,1\n,2\n")
    assert (
        "1 row is empty in 'name' (line 3), and cannot be compared; fill the cells, or leave each such row alone"
        in people.fails("dedupe", "e.csv", "--by", "name")
    )
    people.write("l.csv", "a,b,link\n0,1,must\n1,0,cannot\n")
    words = ("dedupe", "people.csv", "--by", "name", "--links", "l.csv")
    assert "use --contradictions majority to keep the heavier one" in people.fails(*words)
    people.write("l.csv", "a,b,link\n000,0x1,must\n")
    assert "use --unknown-ids skip" in people.fails(*words, "--id", "nr")
    assert "Give the TABLE" in people.fails("dedupe")
    people.write("p.csv", "id1,id2,score\n0,1,0.9\n")
    pairs = ("dedupe", "--pairs", "p.csv")
    assert "must be between 0 and 1; change --unlisted." in people.fails(*pairs, "--unlisted", 1.5)
    assert "give TABLE, or leave out --questions." in people.fails(*pairs, "--questions", "q.csv")
    assert "give TABLE, or leave out --truth." in people.fails(*pairs, "--truth", "echt")
    people.write("q.csv", "a,b\n0,1\n")
    assert "-k has no effect with --questions" in people.fails("ask", "people.csv", "-k", 2, "--questions", "q.csv")


def test_a_table_without_rows_is_named(desk):
    desk.write("header.csv", "name\n")
    assert "header.csv has a header and no rows" in desk.fails("dedupe", "header.csv", "--by", "name")


def test_pairs_of_ids_need_the_column_of_ids(people):
    people.write("p.csv", "id1,id2,score\n000,x,0.9\n")
    words = ("dedupe", "people.csv", "--pairs", "p.csv")
    assert "name the column of the ids with --id COLUMN, or use --unknown-ids skip to leave out such pairs." in (
        people.fails(*words)
    )
    sentence = people.fails(*words, "--id", "nr")
    assert "there is no row with the id 'x' in the table; use --unknown-ids skip to leave out such pairs." in sentence


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--group", "haus"), "in one group of the column 'haus'; remove the link, or use --within-groups always."),
        (
            ("--never-together", "land"),
            "of one source in the column 'land', of which an entity has at most 1 record; remove the link, or increase "
            "--at-most.",
        ),
        (
            ("--group", "haus", "--never-together", "land"),
            "in one group or of one source, of which an entity may not have so many; remove the link, or use "
            "--within-groups always or a larger --at-most.",
        ),
    ],
)
def test_a_must_link_against_a_rule_names_the_rule(people, options, sentence):
    people.write("l.csv", "a,b,link\n000,004,must\n")
    found = people.fails("dedupe", "people.csv", "--by", "name", "--id", "nr", "--links", "l.csv", *options)
    assert "Rows 000 and 004 have a must-link" in found
    assert sentence in found


def test_must_links_of_pairs_against_a_source_name_the_option(desk):
    desk.write("p.csv", "a_l,a_r,score,src_l,src_r\n1,2,0.9,s,s\n")
    desk.write("l.csv", "a,b,link\n1,2,must\n")
    sentence = desk.fails("dedupe", "--pairs", "p.csv", "--never-together", "src", "--links", "l.csv")
    assert "Must-links join 2 rows of the source s, and a cluster may hold at most 1; remove the link" in sentence
    assert "or increase --at-most." in sentence


def test_answers_need_links_that_they_can_be_added_to(people):
    words = ("dedupe", "people.csv", "--by", "name", "--links", "l.xlsx", "--questions", "q.csv")
    assert "l.xlsx: answers to --questions are added to the links" in people.fails(*words)


def test_ids_that_repeat_per_source_name_the_columns_for_them(desk):
    text = "unique_id_l,unique_id_r,match_probability,{0}_l,{0}_r\n1,1,0.9,s,w\n1,2,0.8,s,w\n"
    desk.write("p.csv", text.format("source"))
    words = ("dedupe", "--pairs", "p.csv", "--never-together")
    sentence = desk.fails(*words, "source")
    assert "line 2: the id '1' is of the source 'w', and of 's'; if sources number their records alike" in sentence
    assert "call the columns of the sources source_dataset_l and source_dataset_r." in sentence
    desk.write("p.csv", text.format("source_dataset"))
    assert desk.run(*words, "source_dataset").exit_code == 0
    desk.write("p.csv", "id_l,id_r,score,source_l,source_r\n1,2,0.9,s,w\n3,1,0.8,s,w\n")
    assert "line 3: the id '1' is of the source 'w', and in line 2 of 's';" in desk.fails(*words, "source")


def test_nothing_to_ask_or_to_compare_is_said(desk):
    desk.write("t.csv", "name,kind\nAnn Smith,1\nBo Wu,1\n")
    shown = desk.run("dedupe", "t.csv", "--by", "name", "--questions", "q.csv", "--truth", "kind").stdout
    assert "No decision is open, and q.csv has no questions" in shown
    assert "Questions written" not in shown
    assert "precision undefined, recall 0.0%" in shown
