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


def test_informativeness_is_that_of_python(shop):
    result = shop.run("check", "links.csv", "shop.csv", "-k", 3, "--id", "who", "--ignore", "kind", "--seed", 1)
    table = read_table("shop.csv", text=["who"], ignore=["kind"])
    links = Constraints.read("links.csv", ids=table.row_ids("who"))
    X = encode(table, ignore=["who"]).X
    labels = KMeans(3, n_init=10, random_state=1).fit_predict(X)
    assert (
        f"Informativeness: {links.informativeness(labels):.0%} of the links are broken by plain k-means\n"
        in result.stdout
    )
    # It says the same of right and of half-wrong links.
    assert "Coherence" not in result.stdout


@pytest.mark.parametrize(
    ("links", "words", "code", "line"),
    [
        ("0,1,must\n1,2,must\n0,2,cannot\n", [], 1, "must-links connect them: 0 - 1 - 2"),
        ("0,1,must\n1,2,must\n0,2,cannot\n", ["-k", "5"], 1, "must-links connect them: 0 - 1 - 2"),
        ("0,1,cannot\n1,2,cannot\n0,2,cannot\n", ["-k", "2"], 1, "Can 2 clusters keep all links: no."),
        ("0,1,cannot\n1,2,cannot\n0,2,cannot\n", ["-k", "3"], 0, "Can 3 clusters keep all links: yes."),
        ("0,1,cannot\n", ["-k", "1"], 1, "Can 1 cluster keep all links: no."),
        ("0,1,must\n", ["-k", "50"], 0, "Can 50 clusters keep all links: yes."),
        ("0,1,must\n", [], 0, "Conflicts: none"),
        ("0,1,must\n1,0,cannot\n", ["-k", "2"], 1, "  0 and 1 have a cannot-link, but must-links connect them: 0 - 1."),
        ("0,1,must\n1,0,cannot\n", [], 1, "l.csv, line 2 and line 3: rows 0 and 1 are given both as must-link"),
        ("C1,C2,must\nC2,C3,must\nC1,C3,cannot\n", [], 1, "must-links connect them: C1 - C2 - C3."),
        ("C1,7,cannot\n7,C3,cannot\nC1,C3,cannot\n", ["-k", "2"], 1, "an odd number: C1 - C3 - 7 - C1."),
        (
            "C1,C2,must\n",
            [],
            0,
            "Note: The links name ids. To check that a table has them, give it too: TABLE --id COL",
        ),
        ("0,2000000000,must\n1,2000000000,cannot\n", ["-k", "3"], 0, "Can 3 clusters keep all links: yes."),
        ("0,9000000000000000000,must\n", ["-k", "3"], 0, "go from 0 to 9,000,000,000,000,000,000. If they are ids"),
        ("", ["-k", "2"], 0, "Links: 0 must, 0 cannot"),
    ],
)
def test_links_without_the_table(desk, links, words, code, line):
    desk.write("l.csv", "a,b,link\n" + links)
    result = desk.run("check", "l.csv", *words)
    assert result.exit_code == code, result.output
    assert line in " ".join(result.stdout.split()) or line in result.stdout
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("rows", "are_ids"),
    [
        (range(10_017, 99_999, 2_250), True),
        (range(5_000, 5_040), True),
        (range(40), False),
        (range(900, 940), False),
        (range(30_000, 1_000_000, 30_000), False),
        ([99_999_000, 3], False),
        ([100_000_000, 3], True),
    ],
)
def test_row_numbers_that_look_like_ids(desk, rows, are_ids):
    """Ids begin far from 0, where numbers of rows drawn at random would not."""
    rows = list(rows)
    desk.write("l.csv", "a,b,link\n" + "".join(f"{a},{b},must\n" for a, b in zip(rows[::2], rows[1::2], strict=False)))
    result = desk.run("check", "l.csv")
    assert result.exit_code == 0, result.output
    assert ("give the table that holds them: TABLE --id COLUMN" in " ".join(result.stdout.split())) == are_ids


def test_customer_numbers_are_found_in_the_table(desk):
    desk.write("t.csv", "kunde,x,y\n" + "".join(f"{7_000 + 3 * row},{row % 5},{row % 7}\n" for row in range(30)))
    desk.write("l.csv", "a,b,link\n7003,7009,must\n7012,7087,cannot\n")
    for command in (["check", "l.csv", "t.csv"], ["cluster", "t.csv", "l.csv", "-k", "2"]):
        result = desk.run(*command)
        assert result.exit_code == 2
        said = " ".join(result.stderr.split())
        assert "names the rows 7003 and 7009, but the table has 30 rows, numbered 0 to 29. The column 'kunde'" in said
        assert said.endswith("holds the numbers that the links name; use --id kunde if it names the rows.")
    assert desk.run("check", "l.csv", "t.csv", "--id", "kunde").exit_code == 0
    desk.write("l.csv", "a,b,link\n7003,7009,must\n7012,8000,cannot\n")
    assert "--id" not in desk.run("check", "l.csv", "t.csv").stderr


@pytest.mark.parametrize(("first", "noted"), [(0, False), (1, True)])
def test_ids_that_could_be_row_numbers_are_noted(desk, first, noted):
    desk.write("t.csv", "nr,x,y\n" + "".join(f"{first + row},{row % 5},{row % 7}\n" for row in range(30)))
    desk.write("l.csv", "a,b,link\n3,4,must\n5,29,cannot\n")
    result = desk.run("check", "l.csv", "t.csv")
    assert result.exit_code == 0
    assert ("the column 'nr' holds the same numbers in other rows" in " ".join(result.stdout.split())) == noted


@pytest.mark.parametrize("command", ["check", "cluster"])
def test_links_with_unknown_ids_are_skipped_on_request(shop, command):
    shop.write("more.csv", "a,b,link\nc00,c03,must\nc00,c99,must\nc98,c99,cannot\nc00,c01,cannot\n")
    files = ["more.csv", "shop.csv"] if command == "check" else ["shop.csv", "more.csv"]
    words = [command, *files, "-k", 3, "--id", "who", "--ignore", "kind"]
    refused = shop.run(*words)
    assert refused.exit_code == 2
    told = (
        "more.csv, line 3: there is no row with the id 'c99' in the table, nor with 1 other id of the links: 'c98'; use"
    )
    assert told in " ".join(refused.stderr.split())
    result = shop.run(*words, "--unknown-ids", "skip")
    assert result.exit_code == 0, result.output
    said = "2 of 4 links name ids that are not in the table and were skipped: 'c99' (more.csv, line 3), 'c98'"
    assert said in " ".join(result.stdout.split())
    assert "skip" not in result.stderr


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
