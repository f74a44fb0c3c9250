"""``mustlink check``: its output and its exit codes."""

from __future__ import annotations

import pytest
from sklearn.cluster import KMeans

from mustlink import Constraints
from mustlink.tables import encode, read_table


def test_links_that_hold(shop):
    result = shop.run("check", "links.csv", "shop.csv", "-k", 3, "--id", "who", "--ignore", "kind")
    assert result.exit_code == 0, result.output
    for line in (
        "Links: 2 must, 2 cannot",
        "Rows in links: 5 of 30",
        "Must-link components: 2, the largest of 2 rows",
        "Conflicts: none",
        "Can 3 clusters keep all links: yes.",
    ):
        assert line in result.stdout


def test_informativeness_and_coherence_are_those_of_python(shop):
    result = shop.run("check", "links.csv", "shop.csv", "-k", 3, "--id", "who", "--ignore", "kind", "--seed", 1)
    table = read_table("shop.csv", text=["who"], ignore=["kind"])
    links = Constraints.read("links.csv", ids=table.row_ids("who"))
    X = encode(table, ignore=["who"]).X
    labels = KMeans(3, n_init=10, random_state=1).fit_predict(X)
    assert f"Informativeness: {links.informativeness(labels):.2f}" in result.stdout
    assert f"Coherence: {links.coherence(X):.2f}" in result.stdout


@pytest.mark.parametrize(
    ("links", "words", "code", "line"),
    [
        ("0,1,must\n1,2,must\n0,2,cannot\n", [], 1, "must-links connect them: 0 - 1 - 2"),
        ("0,1,must\n1,2,must\n0,2,cannot\n", ["-k", "5"], 1, "must-links connect them: 0 - 1 - 2"),
        ("0,1,cannot\n1,2,cannot\n0,2,cannot\n", ["-k", "2"], 1, "Can 2 clusters keep all links: no."),
        ("0,1,cannot\n1,2,cannot\n0,2,cannot\n", ["-k", "3"], 0, "Can 3 clusters keep all links: yes."),
        ("0,1,cannot\n", ["-k", "1"], 1, "Can 1 clusters keep all links: no."),
        ("0,1,must\n", ["-k", "50"], 0, "Can 50 clusters keep all links: yes."),
        ("0,1,must\n", [], 0, "Conflicts: none"),
        ("", ["-k", "2"], 0, "Links: 0 must, 0 cannot"),
    ],
)
def test_links_without_the_table(desk, links, words, code, line):
    desk.write("l.csv", "a,b,link\n" + links)
    result = desk.run("check", "l.csv", *words)
    assert result.exit_code == code, result.output
    assert line in result.stdout
    assert result.stderr == ""


def test_conflicts_are_named_by_id(shop):
    shop.write("torn.csv", "a,b,link\nc00,c03,must\nc03,c06,must\nc00,c06,cannot\n")
    result = shop.run("check", "torn.csv", "shop.csv", "--id", "who", "--ignore", "kind")
    assert result.exit_code == 1
    assert "Conflicts: 1" in result.stdout
    assert "c00 and c06 have a cannot-link, but must-links connect them: c00 - c03 - c06." in result.stdout


def test_many_conflicts_are_counted(desk):
    chain = "".join(f"{i},{i + 1},must\n" for i in range(20))
    torn = "".join(f"0,{i},cannot\n" for i in range(2, 20))
    desk.write("l.csv", "a,b,link\n" + chain + torn)
    result = desk.run("check", "l.csv")
    assert result.exit_code == 1
    assert "Conflicts: 18" in result.stdout
    assert "and 8 more" in result.stdout


def test_no_informativeness_without_a_number_of_clusters(shop):
    result = shop.run("check", "rows.csv", "shop.csv", "--ignore", "kind", "--ignore", "who")
    assert result.exit_code == 0, result.output
    assert "Informativeness: not computed" in result.stdout


def test_nothing_is_written(shop):
    before = shop.names()
    shop.run("check", "links.csv", "shop.csv", "-k", 3, "--id", "who", "--ignore", "kind")
    assert shop.names() == before


def test_a_file_without_links_and_pairs_both_ways_are_noted(desk):
    desk.write("none.csv", "a,b,link\n")
    assert "Note: none.csv has no links." in desk.run("check", "none.csv").stdout
    desk.write("ties.csv", "a,b,link\n0,1,must\n1,0,cannot\n2,3,must\n")
    shown = desk.run("check", "ties.csv", "--contradictions", "majority")
    assert "Note: 1 pair is linked both ways with equal weight in ties.csv; neither link is used." in shown.stdout
