"""``mustlink cocluster`` as a person uses it."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

ANIMALS = """animal,hair,milk,tail,eggs,feathers,flies
bear,1,1,0,0,0,0
cat,1,1,1,0,0,0
dog,1,1,1,0,0,0
duck,0,0,1,1,1,1
hawk,0,0,1,1,1,1
hen,0,0,0,1,1,0
bat,1,1,0,0,0,1
"""


@pytest.fixture
def farm(desk):
    desk.write("animals.csv", ANIMALS)
    return desk


def cocluster(desk, *words, matrix="animals.csv", k=2):
    result = desk.run("cocluster", matrix, "-k", k, *words)
    assert result.exit_code == 0, result.output
    return result.stdout


def labels_of(desk, name):
    frame = pd.read_csv(desk.folder / name)
    return dict(zip(frame.iloc[:, 0], frame["cluster"], strict=True))


def test_rows_and_columns_are_written_and_shown(farm):
    shown = cocluster(farm, "--id", "animal", "--report", "r.html", "--plot", "m.png")
    assert farm.names() == ["animals.columns.csv", "animals.csv", "animals.rows.csv", "m.png", "r.html"]
    rows, columns = labels_of(farm, "animals.rows.csv"), labels_of(farm, "animals.columns.csv")
    assert rows["cat"] == rows["dog"] == columns["milk"] == columns["hair"]
    assert rows["hawk"] == rows["duck"] == columns["eggs"] == columns["feathers"] != rows["cat"]
    assert shown.startswith("7 rows and 6 columns in 2 co-clusters.\n")
    assert "milk 100% (57%)" in shown
    assert "Goodman and Kruskal's tau is 0." in shown
    assert (farm.folder / "m.png").read_bytes().startswith(b"\x89PNG")
    page = farm.read("r.html")
    assert "data:image/png;base64," in page
    assert re.search(r"cat <span>\([23] of its [23] columns, [01] others?\)", page)
    assert "mustlink cocluster animals.csv" in page


def test_the_same_seed_gives_the_same_files(farm):
    cocluster(farm, "--id", "animal")
    first = farm.read("animals.rows.csv"), farm.read("animals.columns.csv")
    cocluster(farm, "--id", "animal", "--seed", 0)
    assert (farm.read("animals.rows.csv"), farm.read("animals.columns.csv")) == first


def test_the_columns_are_written_beside_the_rows(farm):
    cocluster(farm, "--id", "animal", "-o", "groups.tsv")
    assert farm.read("groups.tsv").startswith("animal\tcluster\nbear\t")
    assert farm.read("groups.columns.tsv").startswith("column\tcluster\nhair\t")
    cocluster(farm, "--ignore", "animal", "-o", "r.npy", "--column-output", "c.csv")
    assert np.load(farm.folder / "r.npy").shape == (7,)
    assert farm.read("c.csv").startswith("column,cluster\n")


def test_links_of_all_kinds_are_kept(farm):
    farm.write("rows.csv", "a,b,link\nbat,hawk,cannot\ncat,dog,must\n")
    farm.write("columns.csv", "a,b,link\nhair,milk,must\nhair,eggs,cannot\n")
    farm.write("between.csv", "a,b,link\nbat,milk,must\nhen,hair,cannot\n")
    links = ["--row-links", "rows.csv", "--column-links", "columns.csv", "--links-between", "between.csv"]
    shown = cocluster(farm, "--id", "animal", *links)
    rows, columns = labels_of(farm, "animals.rows.csv"), labels_of(farm, "animals.columns.csv")
    assert rows["bat"] != rows["hawk"]
    assert rows["cat"] == rows["dog"]
    assert columns["hair"] == columns["milk"] == rows["bat"] != columns["eggs"]
    assert "All 6 links hold." in shown
    assert "Links that hold: rows: 1 of 1 must, 1 of 1 cannot; columns: 1 of 1 must, 1 of 1 cannot; rows with" in shown


def test_links_name_rows_by_number_without_ids(farm):
    farm.write("rows.csv", "a,b,link\n0,3,cannot\n1,2,must\n")
    farm.write("between.csv", "a,b,link\n6,milk,must\n")
    shown = cocluster(farm, "--ignore", "animal", "--row-links", "rows.csv", "--links-between", "between.csv")
    assert "All 3 links hold." in shown
    assert farm.read("animals.rows.csv").startswith("row,cluster\n0,")


def test_rows_in_no_bi_set_have_an_empty_cell(farm):
    farm.write("m.csv", "a,b,c,d\n1,1,0,0\n1,1,0,0\n0,0,1,1\n0,0,1,1\n0,1,0,0\n")
    shown = cocluster(farm, "--min-columns", 2, matrix="m.csv")
    assert "1 row is in no co-cluster" in shown
    assert farm.read("m.rows.csv").splitlines()[-1] == "4,"


def test_numbers_become_ones_above_a_part_of_the_maximum(desk):
    desk.write("genes.csv", "g1,g2,g3,g4\n9,8,1,0\n8,9,0,1\n1,0,7,9\n0,1,8,7\n")
    assert "--ones-above PERCENT" in desk.fails("cocluster", "genes.csv", "-k", 2)
    cocluster(desk, "--ones-above", 25, matrix="genes.csv")
    rows = labels_of(desk, "genes.rows.csv")
    assert rows[0] == rows[1] != rows[2] == rows[3]


def test_a_list_of_ones_is_read(desk):
    lines = [(who, what) for who, goods in (("ann", "ab"), ("bob", "ab"), ("cid", "cd")) for what in goods]
    desk.write("bought.csv", "who,what\n" + "".join(f"{who},{what}\n" for who, what in lines))
    cocluster(desk, "--long", matrix="bought.csv")
    rows = labels_of(desk, "bought.rows.csv")
    assert rows["ann"] == rows["bob"] != rows["cid"]
    assert list(labels_of(desk, "bought.columns.csv")) == ["a", "b", "c", "d"]


def test_an_order_of_rows_gives_intervals(desk):
    # In the order of the times, the rows are two intervals.
    times = [5, 1, 6, 2, 4, 3]
    ones = {time: "1,1,0,0" if time <= 3 else "0,0,1,1" for time in times}
    desk.write("m.csv", "time,a,b,c,d\n" + "".join(f"{time},{ones[time]}\n" for time in times))
    shown = cocluster(desk, "--row-order", "time", "--row-max-gap", 0, matrix="m.csv")
    assert "The groups of rows in their order: each is one interval." in shown
    shown = cocluster(desk, "--row-order", "time", "--contiguous", "rows", "--circular", "rows", matrix="m.csv")
    assert "each is one interval" in shown


def test_empty_rows_and_columns_are_named_or_left_out(desk):
    desk.write("m.csv", "id,a,b,c\nu,1,1,0\nv,0,0,0\nw,1,0,0\nx,0,1,0\n")
    assert "m.csv: 1 row has no 1: 'v' (line 3); leave out such rows with --drop-empty." in desk.fails(
        "cocluster", "m.csv", "-k", 2, "--id", "id"
    )
    desk.write("links.csv", "a,b,link\nu,v,must\n")
    shown = cocluster(desk, "--id", "id", "--drop-empty", "--row-links", "links.csv", matrix="m.csv", k=1)
    assert "1 row has no 1: 'v' (line 3), and was left out." in shown
    assert "1 column has no 1: 'c', and was left out." in shown
    assert "1 link names a row or column left out, and is not used." in shown
    assert desk.read("m.rows.csv") == "id,cluster\nu,0\nv,\nw,0\nx,0\n"
    assert desk.read("m.columns.csv") == "column,cluster\na,0\nb,0\nc,\n"


def test_files_are_written_as_the_table_is(desk):
    desk.write("m.csv", "größe;a;b\r\nklein;1;0\r\ngroß;0;1\r\n".encode("cp1252"))
    cocluster(desk, "--id", "größe", matrix="m.csv")
    assert (desk.folder / "m.rows.csv").read_bytes().decode("cp1252").startswith("größe;cluster\r\nklein;")


BAD = {
    "id": (
        [],
        "animals.csv",
        "2",
        "line 2: the column 'animal' holds 'bear', and a cell is 0 or 1, .* use --id animal",
    ),
    "no_file": ([], "nothing.csv", "2", "There is no file nothing.csv"),
    "k": (["--id", "animal"], "animals.csv", "0", "The number of clusters is 0; -k must be at least 1"),
    "many": (["--id", "animal"], "animals.csv", "60", r"co-clusters|bi-sets"),
    "gap": (["--id", "animal", "--row-max-gap", "-1"], "animals.csv", "2", "gap of rows is -1, .* --row-max-gap"),
    "gaps": (["--row-max-gap", "1", "--row-min-gap", "2"], "animals.csv", "2", "minimum gap of rows is 2, and the max"),
    "order": (["--row-order", "tail"], "animals.csv", "2", "; give --row-max-gap, or leave out --row-order"),
    "circular": (["--circular", "columns"], "animals.csv", "2", "; give --column-max-gap, or leave out --circular"),
    "starts": (["--starts", "0"], "animals.csv", "2", "The number of starts is 0, .* change --starts"),
    "min": (["--min-rows", "0"], "animals.csv", "2", "rows of a bi-set is 0, .* change --min-rows"),
    "percent": (["--ones-above", "120"], "animals.csv", "2", "maximum is 120, .* change --ones-above"),
    "budget": (
        ["--id", "animal", "--max-bisets", "2"],
        "animals.csv",
        "2",
        "has more than 2 formal concepts .*; increase --min-rows or --min-columns, .* or --max-bisets",
    ),
    "plot": (["--plot", "m.gif"], "animals.csv", "2", "m.gif: a plot is drawn as .png, .svg or .pdf"),
    "report": (["--report", "r.txt"], "animals.csv", "2", "must end in .html"),
    "same": (["-o", "x.csv", "--column-output", "x.csv"], "animals.csv", "2", "cannot both be written to x.csv"),
    "input": (["-o", "animals.csv"], "animals.csv", "2", "is an input and would be overwritten"),
    "suffix": (["--column-output", "c.ods"], "animals.csv", "2", "c.ods: clusters"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_and_writes_nothing(farm, case):
    words, matrix, k, sentence = BAD[case]
    message = farm.fails("cocluster", matrix, "-k", k, *words)
    assert re.search(sentence, message), message


LINKS = {
    "unknown_row": ("--row-links", "lion,cat,must", "there is no row with the id 'lion'; use --unknown-ids skip"),
    "unknown_column": ("--column-links", "horns,hair,must", "there is no column 'horns' in the table"),
    "unknown_between": ("--links-between", "cat,horns,must", "there is no column 'horns' in the table"),
    "swapped": ("--links-between", "hair,cat,must", "'hair' is a column and 'cat' is a row"),
    "itself": ("--column-links", "hair,hair,must", "links hair with itself; a link needs two different columns"),
    "both_ways": (
        "--column-links",
        "hair,milk,must\nmilk,hair,cannot",
        "hair and milk are given both as must-link and",
    ),
    "chain": (
        "--row-links",
        "cat,dog,must\ndog,bat,must\ncat,bat,cannot",
        "Row 'cat' and row 'bat' have a cannot-link, but must-links connect them: row 'cat' - row 'dog' - row 'bat'",
    ),
    "colors": ("--row-links", "cat,dog,cannot\ndog,bat,cannot\ncat,bat,cannot", "use -k 3 or more"),
}


@pytest.mark.parametrize("case", LINKS)
def test_bad_links_are_named(farm, case):
    option, lines, sentence = LINKS[case]
    farm.write("links.csv", f"a,b,link\n{lines}\n")
    message = farm.fails("cocluster", "animals.csv", "-k", 2, "--id", "animal", option, "links.csv")
    assert sentence.split(";")[0] in message, message
    assert sentence.rpartition("; ")[2] in message, message


def test_links_that_cannot_be_kept_are_broken_on_request(farm):
    farm.write("links.csv", "a,b,link\ncat,dog,must\ndog,bat,must\ncat,bat,cannot\n")
    shown = cocluster(farm, "--id", "animal", "--row-links", "links.csv", "--relax", "--report", "r.html")
    assert re.search(r"[012] of 3 links holds?, [123] do(es)? not", shown)
    assert re.search(r"row (cat|dog) and row (dog|bat) (must|cannot) be together, and are (both )?in", shown)
    assert "Links that do not hold" in farm.read("r.html")


def test_unknown_names_are_skipped_on_request(farm):
    farm.write("links.csv", "a,b,link\nhorns,hair,must\nhair,milk,must\n")
    shown = cocluster(farm, "--id", "animal", "--column-links", "links.csv", "--unknown-ids", "skip")
    assert "1 of 2 links names an id that is not in the table and was skipped: 'horns'" in shown
    assert "The link holds." in shown
