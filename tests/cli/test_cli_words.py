"""The command speaks of its options, never of arguments of Python, and its exit codes are those of the help."""

from __future__ import annotations

import re

import numpy as np
import pytest
import typer

from mustlink.cli import app

TABLE = "x,y,kind\n0,0,u\n1,0,v\n9,9,w\n8,9,\n"
LINKS = {
    "ring.csv": "a,b,link\n0,1,cannot\n1,2,cannot\n0,2,cannot\n",
    "chain.csv": "a,b,link\n0,1,must\n1,2,must\n0,2,cannot\n",
    "both.csv": "a,b,link\n0,1,must\n1,0,cannot\n",
    "one.csv": "a,b,link\n0,1,must\n",
    "apart.csv": "a,b,link\n0,1,cannot\n",
    "all.csv": "a,b,link\n" + "".join(f"{a},{b},cannot\n" for a in range(4) for b in range(a)),
    "none.csv": "a,b,link\n",
    "far.csv": "a,b,link\n0,77,must\n",
}
# Arguments, attributes and classes of Python, which a person at the terminal has never seen.
PYTHON_WORDS = re.compile(
    r"n_clusters|random_state|on_infeasible|look_ahead|n_init|min_samples|max_samples|n_samples|n_neighbors|n_splits"
    r"|id_column|label_column|contradictions=|header=|missing=|ignore=|categorical=|allow_pickle|parameter of"
    r"|\by (?:has|names)\b|\bpass \w+=|violations_|history_|Traceback|numpy\.random"
)


@pytest.fixture
def room(desk):
    desk.write("t.csv", TABLE)
    for name, content in LINKS.items():
        desk.write(name, content)
    desk.write("same.csv", "x,y\n" + "0,0\n" * 5 + "1,1\n" * 5)
    desk.write("word.csv", "x,y\n0,1\n2,3\nmany,5\n6,7\n")
    desk.write("large.csv", "x,y\n0,1\n1e300,1\n")
    desk.write("split.csv", "x,kind\n0,u\n1,u\n5,u\n8,v\n9,v\n")
    desk.write("ones.csv", "x,y\n0,1\n1,0\n")
    desk.write("words.txt", "red ball\nred ball\nblue cube\nblue cube\n")
    desk.write("toys.csv", "text,kind\nred ball,a\nred ball,a\nblue cube,b\nblue cube,b\n")
    desk.write("gaps.csv", "x,y\n0,\n1,1\n")
    desk.write("text.npy", b"not numpy")
    desk.write("short.npy", b"\x93NUMPY\x01\x00short")
    np.save(desk.folder / "objects.npy", np.array([{}, 1], dtype=object), allow_pickle=True)
    return desk


def options_of(command):
    """Return the options that a command has."""
    parameters = typer.main.get_command(app).commands[command].params
    return {name for parameter in parameters for name in (*parameter.opts, *parameter.secondary_opts)}


def assert_options_exist(command, text):
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)) <= options_of(command), text


PLAIN = ["--ignore", "kind"]
# The command, and what its one sentence says.
BAD = {
    "ring_cop": ("cluster t.csv ring.csv -k 2 --method cop", r"; use -k 3 or more, use --relax, or use a method"),
    "ring_linkage": ("cluster t.csv ring.csv -k 2 --method linkage", r"; use -k 3 or more, use --relax, or use a"),
    "ring_parts": ("cluster t.csv ring.csv -k 2 --method parts", r"; use -k 3 or more, use --relax, or use a method"),
    "clique": ("cluster t.csv all.csv -k 3 --method cop", r"; use -k 4 or more"),
    "one_cluster": ("cluster t.csv apart.csv -k 1 --method cop", r"; use -k 2 or more"),
    "chain": ("cluster t.csv chain.csv -k 2 --method cop", r"remove a link of the chain, use --relax, or use a method"),
    "both_ways": ("cluster t.csv both.csv -k 2", r"remove one of the two, or use --contradictions majority"),
    "classes": ("cluster t.csv -k 2 --method seeded --label-column kind", r"name 3 classes, .* use -k 3 or more\."),
    "few_rows": ("cluster t.csv -k 2 --method hdbscan", r"from 5 rows, and the table has 4; use another method"),
    "few_rows_base": ("cluster t.csv one.csv -k 2 --base hdbscan", r"HDBSCAN failed .* use another .*\(--base\)\.$"),
    "few_rows_bbc": ("cluster t.csv one.csv -k 2 --method bbc --base kmeans", r"KMeans failed .* \(--base\)\.$"),
    "seed": ("cluster t.csv -k 2 --seed -1", r"The seed is -1; --seed must be from 0 to 4294967295"),
    "seed_of_check": ("check one.csv t.csv -k 2 --seed -1", r"The seed is -1; --seed must be"),
    "seed_of_ask": ("ask t.csv -k 2 --seed 99999999999", r"The seed is 99999999999; --seed must be"),
    "counts": (
        "cluster t.csv -k 2 --method feedback --ignore kind",
        r"which takes counts: row \d, column \d is -\S+; use --no-scale if the columns hold counts, or another method",
    ),
    "clusters": ("cluster t.csv -k 0", r"-k must be at least 1"),
    "clusters_of_check": ("check one.csv -k 0", r"-k must be at least 1"),
    "clusters_of_ask": ("ask t.csv -k 9", r"9 clusters cannot be made of the 4 rows of t.csv; reduce .* \(-k\)"),
    "no_clusters": ("cluster t.csv", r"needs the number of clusters; give it with -k, or .* --method auto"),
    "auto": ("cluster t.csv --method auto", r"give LINKS, or a column of labels with --label-column"),
    "auto_empty": ("cluster t.csv none.csv --method auto", r"give LINKS"),
    "auto_one_kind": ("cluster t.csv apart.csv --method auto", r"The only link is a cannot-link, .* give it with -k"),
    "auto_one_group": ("cluster t.csv one.csv -k 2 --method auto", r"The only link forms one group"),
    "relax": ("cluster t.csv one.csv -k 2 --method pck --relax", r"pck is soft and may .* any case; leave out --relax"),
    "starts": ("cluster t.csv -k 2 --method linkage --starts 10", r"linkage has no starts .*; leave out --starts"),
    "base": ("cluster t.csv -k 2 --base nothing", r"There is no clusterer 'nothing' to boost"),
    "text_npy": ("cluster text.npy -k 2", r"text.npy is not an .npy file of numbers"),
    "short_npy": ("cluster short.npy -k 2", r"short.npy is not an .npy file of numbers, or not a whole one"),
    "predict_word": ("predict t.model word.csv", r"word.csv, line 4: .* 'many' among numbers; correct the cell\.$"),
    "predict_large": ("predict t.model large.csv", r"large.csv, line 3: .* 1e\+300; .* too large .*; clear the cell"),
    "predict_empty": ("predict t.model gaps.csv", r"line 2: .* 'y' is empty; fill it, or use --missing drop or"),
    "predict_ids": ("predict t.model word.csv --id who", r"word.csv has no column 'who'; its columns are x, y"),
    "explain_ids": ("explain t.csv --cluster-column kind --id x --links far.csv", r"; use --unknown-ids skip to leave"),
    "explain_column": ("explain t.csv", r"name the column of the clusters with --cluster-column"),
    "explain_both": ("explain t.csv --cluster-column y --links both.csv", r"or use --contradictions majority"),
    "another_known": ("another t.csv --known kid -k 2", r"t.csv has no column 'kid' \('kid' may be 'kind'\)"),
    "another_k": ("another split.csv --known kind -k 9", r"9 clusters cannot be made of the 5 rows .* clusters \(-k\)"),
    "another_next": ("another t.csv --known kind -k 2 --next 0", r"new splits is 0, .*; change --next"),
    "cocluster_cell": ("cocluster t.csv -k 2 --ignore kind", r"line 4: the column 'x' holds '9', .* --ones-above PERC"),
    "cocluster_text": ("cocluster t.csv -k 2", r"'kind' holds 'u', .*; leave it out with --ignore kind|'x' holds '9'"),
    "cocluster_empty": ("cocluster gaps.csv -k 2", r"line 2: the column 'y' is empty; .* --missing zero"),
    "cocluster_links": (
        "cocluster ones.csv -k 2 --column-links one.csv",
        r"there is no column '0' in the table.*; use --unknown-ids skip",
    ),
    "publish_k": (
        "publish t.csv --quasi x -k 9",
        r"k is 9, but the table has only 4 complete rows; use a k of at most 4",
    ),
    "publish_empty": (
        "publish t.csv --quasi kind -k 2",
        r"cell in the column 'kind', in line 5; .*these rows with --missing drop",
    ),
    "publish_sensitive": (
        "publish t.csv --quasi x -l 2 -k 2",
        r"no sensitive column is named; name it with --sensitive",
    ),
    "publish_groups": (
        "publish t.csv --quasi x -k 2 --groups 3",
        r"3 groups are asked for, but the 4 rows can be in at",
    ),
    "publish_word": (
        "publish word.csv --quasi x -k 2",
        r"'many' among numbers; .* use it as categories with --categorical",
    ),
    "publish_nothing": ("publish --quasi x", r"Give either the TABLE to publish, or .* with --verify FILE"),
    "publish_quasi": ("publish t.csv", r"Name the columns by which a person could be found: --quasi"),
    "publish_verify": (
        "publish --verify t.csv --quasi x -o y.csv",
        r"--verify writes nothing; leave out -o and --report",
    ),
    "taxonomy_small": (
        "taxonomy toys.csv --categories kind",
        r"All categories were removed in pass 1, .* 8 documents; reduce --min-size\.$",
    ),
    "taxonomy_column": ("taxonomy toys.csv --categories type", r"toys.csv has no column 'type'; its columns are"),
    "taxonomy_words_rare": (
        "taxonomy toys.csv --categories kind --min-df 3",
        r"no word occurs in 3 texts or more; reduce --min-df",
    ),
    "taxonomy_theta": ("taxonomy toys.csv --categories kind --theta 1", r"and less than 1; change --theta\.$"),
    "taxonomy_size": ("taxonomy toys.csv --categories kind --min-size 0", r"at least 1; change --min-size\.$"),
    "taxonomy_words": ("taxonomy toys.csv --categories kind --words-init 9", r"end with 200, .* change --words-init"),
    "taxonomy_both": (
        "taxonomy toys.csv --categories kind --category-column text",
        r"--categories kind is a column, and --category-column text names another one; leave one out",
    ),
    "objects_npy": ("cluster objects.npy -k 2", r"objects.npy is not an .npy file of numbers"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_worded_with_options(room, case):
    command, sentence = BAD[case]
    words = command.split()
    if words[0] == "predict":
        pytest.importorskip("skops")
        made = room.run("cluster", "t.csv", "-k", 2, "--method", "pck", *PLAIN, "--save-model", "t.model")
        assert made.exit_code == 0, made.output
    elif words[0] != "publish" and "t.csv" in words and "--label-column" not in words and "kind" not in words:
        words += PLAIN
    message = room.fails(*words)
    assert re.search(sentence, message.strip()), message
    assert_options_exist(words[0], message)
    assert not PYTHON_WORDS.search(message), message


def test_a_table_too_large_for_a_method_names_others(room, monkeypatch):
    monkeypatch.setattr("mustlink.hierarchy._constrainedlinkage.MAX_DISTANCES", 3)
    message = room.fails("cluster", "t.csv", "-k", 2, "--method", "linkage", *PLAIN)
    assert message.endswith(
        "; cluster a sample of the rows, or use a method for large tables (see mustlink methods).\n"
    )
    assert "PartitionThenLink" not in message


NOTED = {
    "ring": (
        "cluster t.csv ring.csv -k 2 --method seeded-link",
        "The cannot-links need more than 2 clusters. The clustering violates 1 of 3 links.",
    ),
    "relaxed": ("cluster t.csv ring.csv -k 2 --method cop --relax", "2 of 3 links kept, 1 broken."),
    "bbc": ("cluster t.csv chain.csv -k 2 --method bbc", "The result breaks 1 of 3 links. Of 20 rounds"),
    "auto": ("cluster t.csv all.csv -k 2 --method auto", "All 6 links are cannot-links, and methods are compared"),
    "distboost": ("cluster same.csv -k 3 --method distboost", "3 clusters were asked for, and 2 were found"),
    "boost": ("cluster same.csv -k 3", "3 clusters were asked for, and 2 were found"),
    "parts": ("cluster same.csv -k 3 --method parts", "3 clusters were asked for, and 2 were found"),
    "number": ("cluster same.csv -k 2 --method hdbscan", "finds the number of clusters itself; the given number, 2,"),
    "one": ("cluster same.csv one.csv -k 2 --method seeded-link", "2 clusters were asked for, and 1 was found"),
}


@pytest.mark.parametrize("case", NOTED)
def test_notes_are_worded_without_python(room, case):
    command, note = NOTED[case]
    words = [*command.split(), *(PLAIN if " t.csv" in command else []), "--report", "r.html"]
    result = room.run(*words)
    assert result.exit_code == 0, result.output
    assert note in result.stdout
    assert_options_exist(words[0], result.stdout)
    assert not PYTHON_WORDS.search(result.output), result.output
    page = room.read("r.html").split("<h2>How it was made</h2>")[0]
    assert not PYTHON_WORDS.search(page)


# Every command with the exit codes that its help names, and one way to get each.
EXITS = {
    "cluster": {0: "cluster t.csv one.csv -k 2 --method pck --ignore kind", 2: "cluster nothing.csv -k 2"},
    "check": {0: "check one.csv -k 2", 1: "check ring.csv -k 2", 2: "check nothing.csv"},
    "ask": {0: "ask t.csv -k 2 --ignore kind", 2: "ask nothing.csv -k 2"},
    "teach": {0: "teach words.txt -k 2", 2: "teach nothing.csv -k 2"},
    "taxonomy": {
        0: "taxonomy toys.csv --categories kind --min-size 1",
        2: "taxonomy toys.csv --categories kind",
    },
    "predict": {2: "predict nothing.model t.csv"},
    "explain": {2: "explain nothing.csv t.csv"},
    "another": {0: "another split.csv --known kind -k 2", 2: "another nothing.csv --known kind -k 2"},
    "cocluster": {0: "cocluster ones.csv -k 2", 2: "cocluster t.csv -k 2"},
    "publish": {
        0: "publish t.csv --quasi x -k 2",
        1: "publish --verify t.csv --quasi x",
        2: "publish nothing.csv --quasi x",
    },
    "demo": {0: "demo", 2: "demo --dance"},
    "methods": {0: "methods", 2: "methods all"},
    "reproduce": {2: "reproduce nothing"},
    "warmup": {2: "warmup now"},
}


@pytest.mark.parametrize(("command", "code"), [(name, code) for name, codes in EXITS.items() for code in codes])
def test_exit_codes_are_those_of_the_help(room, command, code):
    assert room.run(*EXITS[command][code].split()).exit_code == code


def test_commands_are_listed_in_the_order_of_use(desk):
    shown = desk.run("--help").stdout
    assert "mustlink demo --tour" in shown
    listed = re.findall(r"^\W*([a-z]+) +[A-Z]", shown.partition("Commands")[2], re.MULTILINE)
    order = [
        "cluster",
        "check",
        "ask",
        "studio",
        "teach",
        "taxonomy",
        "predict",
        "explain",
        "another",
        "cocluster",
        "dedupe",
        "publish",
        "demo",
        "methods",
        "reproduce",
        "warmup",
    ]
    assert listed == order


def test_switches_have_no_type_in_the_help(desk):
    for words in (["--help"], ["cluster", "--help"], ["ask", "--help"]):
        assert "<bool>" not in desk.run(*words).stdout


@pytest.mark.parametrize("command", ["chain.csv", "ring.csv -k 2", "all.csv -k 3"])
def test_check_ends_with_1_when_links_cannot_be_kept(room, command):
    assert room.run("check", *command.split()).exit_code == 1


@pytest.mark.parametrize("command", EXITS)
def test_the_help_names_the_exit_codes(desk, command):
    text = " ".join(desk.run(command, "--help", width=300).stdout.split())
    sentence = text.partition("Exit code")[2].partition("\u256d")[0]
    named = {int(code) for code in re.findall(r"\b([012])\b(?= when| if|,|\.)", sentence)}
    assert named >= {0, 2}
    assert named == EXITS[command].keys() | ({0, 1, 2} if command == "reproduce" else {0, 2})


@pytest.mark.parametrize(
    ("words", "value"), [(["-k", "1.5"], "'1.5'"), (["--clusters=many"], "'many'"), (["-kx"], "'x'")]
)
def test_a_number_that_is_none_is_named(desk, words, value):
    result = desk.run("cluster", "t.csv", *words)
    assert result.exit_code == 2
    assert f"'-k' / '--clusters': {value} is not a whole number." in result.stderr
