"""``mustlink cluster --graph``: connected clusters from files, and edges that are wrong."""

from __future__ import annotations

import csv
import gzip
import re

import numpy as np
import pytest

START = ["cluster", "map.csv", "-k", 3, "--id", "place"]


@pytest.fixture
def town(desk):
    """Places on a grid of 4 x 6, each with a price, and the roads between neighbors."""
    price = np.array([[1, 1, 9, 9, 1, 1]] * 4).ravel() + np.arange(24) / 100
    desk.write("map.csv", "place,price\n" + "".join(f"p{row},{value}\n" for row, value in enumerate(price)))
    roads = [(row, row + 1) for row in range(24) if row % 6 < 5] + [(row, row + 6) for row in range(18)]
    desk.write("roads.csv", "from,to\n" + "".join(f"p{a},p{b}\n" for a, b in roads))
    desk.write("numbers.csv", "".join(f"{a};{b}\n" for a, b in roads))
    return desk


def clusters_in(desk, name="map.clusters.csv"):
    with open(desk.folder / name, newline="", encoding="utf-8") as stream:
        return np.array([int(row["cluster"]) for row in csv.DictReader(stream)]).reshape(4, 6)


@pytest.mark.parametrize("method", ["netscan", "connected-kmeans", "connected-center"])
def test_clusters_are_connected_by_the_edges(town, method):
    result = town.run(*START, "--graph", "roads.csv", "--method", method, "--report", "r.html")
    assert result.exit_code == 0, result.output
    found = clusters_in(town)
    assert (found == found[0]).all()
    assert len({*found[0, :2]}) == len({*found[0, 2:4]}) == len({*found[0, 4:]}) == 1
    assert len(np.unique(found)) == 3
    note = "The graph has 38 edges and 1 connected part; every cluster is connected in it."
    assert note in result.stdout
    assert note in town.read("r.html")
    assert "The method is" not in result.stdout


def test_the_radius_is_stated_and_how_good_it_is(town):
    def note(*words):
        result = town.run(*START, "--graph", "roads.csv", *words)
        assert result.exit_code == 0, result.output
        lines = [line for line in " ".join(result.stdout.split()).split(". ") if "center of its cluster" in line]
        return lines[0].partition("center of its cluster is ")[2] if lines else ""

    # The prices of a cluster end in 0.00, 0.01, 0.06, 0.07, 0.12, 0.13, 0.18 and 0.19, and the center is 0.07.
    assert note("--method", "netscan", "--no-scale") == "0.12"
    assert re.fullmatch(r"0\.\d+, in scaled columns", note("--method", "netscan"))
    center = note("--method", "connected-center", "--no-scale")
    assert re.fullmatch(
        r"0\.12; (it is at most \d\.\d\d times the least possible one|no smaller one is possible)", center
    )
    assert note("--method", "connected-kmeans") == ""


def test_a_graph_chooses_the_method_and_says_so(town):
    result = town.run("cluster", "map.csv", "-k", 3, "--ignore", "place", "--graph", "numbers.csv")
    assert result.exit_code == 0, result.output
    assert "The method is connected-kmeans, k-means with connected clusters; boost, the default," in result.stdout
    assert len(np.unique(clusters_in(town))) == 3


def test_a_table_and_its_edges_in_other_formats(town):
    (town.folder / "roads.tsv.gz").write_bytes(gzip.compress(town.read("roads.csv").replace(",", "\t").encode()))
    with_weights = "weight,b,a\n" + "".join(f"2,{line}\n" for line in town.read("roads.csv").splitlines()[1:])
    town.write("weights.csv", with_weights)
    assert town.run(*START, "--graph", "roads.csv").exit_code == 0
    expected = town.read("map.clusters.csv")
    for name in ("roads.tsv.gz", "weights.csv"):
        result = town.run(*START, "--graph", name)
        assert result.exit_code == 0
        assert town.read("map.clusters.csv") == expected
        assert result.stdout.count("The weights of the edges are not used.") == (name == "weights.csv")


def test_edges_of_rows_that_are_left_out(town):
    town.write("map.csv", town.read("map.csv").replace("p23,1.23\n", "p23,\n"))
    result = town.run(*START, "--graph", "roads.csv", "--missing", "drop")
    assert result.exit_code == 0, result.output
    assert "2 edges name rows that were left out; 36 of 38 are used." in result.stdout
    town.write("few.csv", "p0,p1\np22,p23\n")
    message = "1 edge names rows that were left out; 1 of 2 are used. The graph has 22 connected parts"
    assert message in town.fails(*START, "--graph", "few.csv", "--missing", "drop")


def test_edges_of_unknown_ids_can_be_skipped(town):
    town.write("more.csv", town.read("roads.csv") + "p1,q1\nq2,q1\n")
    message = "more.csv, line 40: there is no row with the id 'q1' in the table, nor with 1 other id of the edges: 'q2'"
    assert message in town.fails(*START, "--graph", "more.csv")
    result = town.run(*START, "--graph", "more.csv", "--unknown-ids", "skip")
    assert result.exit_code == 0, result.output
    assert "2 edges name ids not in the table and were skipped." in result.stdout
    # The skipped edges may be why the graph has so many parts.
    town.write("wrong.csv", "p0,p1\np2,P3\n")
    message = "1 edge names an id not in the table and was skipped. The graph has 23 connected parts"
    assert message in town.fails(*START, "--graph", "wrong.csv", "--unknown-ids", "skip")


BAD = {
    "loop.csv": ("p1,p1\n", "loop.csv, line 1: connects p1 with itself; an edge needs two different rows."),
    "empty.csv": ("", "empty.csv is empty; two columns that name the rows of each edge are expected."),
    "header.csv": ("from,to\n", "header.csv has no edges; two columns that name the rows of each edge are expected."),
    "unknown.csv": ("a,b\np1,x\n", "line 2: there is no row with the id 'x' in the table; use --unknown-ids skip"),
    "hole.csv": ("p1,p2\np1,\n", "hole.csv, line 2: a cell is empty; every edge needs two rows."),
    "wide.csv": ("x,y,z\np1,p2,p3\n", "wide.csv, line 1: the header has 3 columns: x, y, z; edges need two that name"),
    "weight.csv": (
        "a,b,weight\np1,p2,1\np2,p3,-1\n",
        "weight.csv, line 3: the weight is -1; a weight must be positive",
    ),
    "parts.csv": ("p1,p2\n", "The graph has 23 connected parts (22 of them are rows without an edge), and every part"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_edges_are_refused_and_nothing_is_written(town, name):
    content, message = BAD[name]
    town.write(name, content)
    assert message in town.fails(*START, "--graph", name, "--method", "netscan")


def test_row_numbers_that_the_table_does_not_have_are_refused(town):
    town.write("far.csv", "0,1\n3,77\n")
    message = "far.csv, line 2: an edge names the rows 3 and 77, but the table has 24 rows, numbered 0 to 23."
    assert message in town.fails("cluster", "map.csv", "-k", 3, "--ignore", "place", "--graph", "far.csv")
    town.write("ids.csv", "a,b\np1,p2\n")
    message = "'p1' is not a row number, and the ids of the rows are not known; give the table with --id COLUMN"
    assert message in town.fails("cluster", "map.csv", "-k", 3, "--ignore", "place", "--graph", "ids.csv")
    numbered = "node,price\n" + "".join(f"{100 + row},{row}\n" for row in range(24))
    town.write("numbered.csv", numbered)
    town.write("edges.csv", "100,101\n101,102\n")
    assert "use --id node if it names the rows" in town.fails(
        "cluster", "numbered.csv", "-k", 3, "--graph", "edges.csv", "--method", "netscan"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--method", "netscan"], "The method netscan makes clusters that are connected in a graph; give a file of"),
        (["--method", "pck", "--graph", "roads.csv"], "The method pck takes no graph, and roads.csv was given; leave"),
        (["--method", "auto", "--graph", "roads.csv"], "The method auto takes no graph, and roads.csv was given"),
        (["--min-size", 3, "--graph", "roads.csv"], "The method sizes takes no graph, and roads.csv was given"),
        (["--graph", "nowhere.csv"], "There is no file nowhere.csv."),
        (["--graph", "roads.csv", "-o", "roads.csv"], "roads.csv is an input and would be overwritten"),
        (["--graph", "roads.csv", "--relax"], "The method connected-kmeans takes no links that it could break"),
    ],
)
def test_options_that_do_not_go_with_a_graph(town, words, message):
    assert message in town.fails(*START, *words)


def test_methods_say_which_need_a_graph(desk):
    listed = desk.run("methods").stdout
    assert listed.count("Needs --graph.") == 3
