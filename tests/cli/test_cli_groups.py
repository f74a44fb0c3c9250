"""``mustlink cluster`` and ``mustlink check`` with rules by a column."""

from __future__ import annotations

import csv

import numpy as np
import pandas as pd
import pytest

from mustlink import Constraints, COPKMeans
from mustlink.tables import encode, read_table
from mustlink.workflow import Job, TableOptions, load_table, run_job

N = 40
RULES = ["--id", "who", "--never-together", "film", "--always-together", "house"]
FILM = ["--id", "who", "--never-together", "film", "--ignore", "house"]
PLAIN = ["--id", "who", "--ignore", "house", "--ignore", "film"]


@pytest.fixture
def cast(desk):
    """Four rows of every film but the last, which has none, and some rows of houses; one cell of x is empty."""
    rng = np.random.RandomState(0)
    table = pd.DataFrame(rng.normal(size=(N, 2)).round(3), columns=["x", "y"])
    table.insert(0, "who", [f"c{row}" for row in range(N)])
    table["film"] = [f"f{row // 4}" if row < 32 else ["", "-1"][row % 2] for row in range(N)]
    table["house"] = [1 if row in (0, 5, 10) else 2 if row in (7, 39) else None for row in range(N)]
    table.to_csv(desk.folder / "cast.csv", index=False)
    (desk.folder / "links.csv").write_text("a,b,link\nc0,c33,must\n")
    return desk


def clusters_of(cast):
    with open(cast.folder / "cast.clusters.csv", newline="", encoding="utf-8") as stream:
        return np.array([int(row["cluster"]) for row in csv.DictReader(stream)])


def test_rules_are_kept_without_links(cast):
    result = cast.run("cluster", "cast.csv", "-k", 4, *RULES)
    assert result.exit_code == 0, result.output
    found = clusters_of(cast)
    assert (np.sort(found[:32].reshape(-1, 4), axis=1) == np.arange(4)).all()
    assert found[0] == found[5] == found[10]
    assert found[7] == found[39]
    assert "3 of 3 must, 48 of 48 cannot" in result.output
    assert "The method is cop" in " ".join(result.output.split())


def test_the_same_as_in_python(cast):
    result = cast.run("cluster", "cast.csv", "links.csv", "-k", 4, *RULES, "--starts", 2)
    assert result.exit_code == 0, result.output
    table = read_table("cast.csv", text=["who", "film", "house"])
    links = (
        Constraints(must_link=[(0, 33)])
        + Constraints.from_groups(table.strings("film"))
        + Constraints.from_groups(table.strings("house"), "must")
    )
    X = encode(table, ignore=["who", "film", "house"]).X
    assert X.shape == (N, 2)
    model = COPKMeans(4, n_init=2, random_state=0).fit(X, constraints=links)
    np.testing.assert_array_equal(clusters_of(cast), model.labels_)


def test_the_rule_of_a_column_of_features(cast):
    table = load_table(TableOptions("cast.csv", id_column="who", never_together=["house"], ignore=["film"]))
    assert table.X.shape[1] == 2
    options = TableOptions(
        "cast.csv", id_column="who", never_together=["film"], categorical=["film"], ignore=["house"], missing="drop"
    )
    with_feature = load_table(options)
    assert with_feature.X.shape == (36, 2 + 9)
    assert len(with_feature.rules) == 48


def test_left_out_rows_leave_their_groups(cast):
    text = (cast.folder / "cast.csv").read_text().splitlines()
    cells = text[2].split(",")
    text[2] = ",".join([cells[0], "", *cells[2:]])
    (cast.folder / "cast.csv").write_text("\n".join(text))
    options = {"id_column": "who", "never_together": ["film"], "ignore": ["house"], "missing": "drop"}
    table = load_table(TableOptions("cast.csv", **options))
    assert len(table.rules) == 48 - 3
    assert run_job(Job("cast.csv", n_clusters=4, method="pck", **options)).links == table.rules


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-k", 3, *RULES], "The group film=f0 has 4 rows, no two of which may be in one cluster"),
        (
            ["-k", 3, *RULES, "--links-are", "certain"],
            "The group film=f0 has 4 rows, no two of which may be in one cluster, and there are 3 clusters; use -k 4 "
            "or more, or leave out --links-are certain.",
        ),
        (["-k", 4, *RULES, "--method", "linkage", "--ignore", "film"], "'film' is both used and ignored"),
        (["-k", 4, *RULES, "--never-together", "house"], "The column 'house' of groups has two uses"),
        (["-k", 4, "--id", "who", "--never-together", "who"], "The column 'who' of groups has two uses"),
        (["-k", 4, *RULES, "--never-together", "fim"], "has no column 'fim' ('fim' may be 'film')"),
        (["-k", 4, *RULES, "--method", "balanced"], "leave out --never-together and --always-together"),
    ],
)
def test_bad_input(cast, words, message):
    result = cast.run("cluster", "cast.csv", *words)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_links_against_a_rule(cast):
    (cast.folder / "links.csv").write_text("a,b,link\nc0,c1,must\n")
    result = cast.run("cluster", "cast.csv", "links.csv", "-k", 4, *RULES)
    assert result.exit_code == 2
    words = (
        "The links and the columns of groups together: Rows c0 and c1 are given both as must-link and as cannot-link"
    )
    assert words in result.stderr
    result = cast.run("cluster", "cast.csv", "links.csv", "-k", 4, *RULES, "--contradictions", "majority")
    assert result.exit_code == 0, result.output
    assert "47 of 47 cannot" in result.output


def test_a_rule_without_effect_is_noted(cast):
    result = cast.run("cluster", "cast.csv", "-k", 4, *RULES, "--never-together", "x", "--method", "pck")
    assert result.exit_code == 0, result.output
    assert "No two rows have the same entry in the column 'x'" in " ".join(result.output.split())


def test_rows_in_no_group_are_counted(cast):
    result = cast.run("cluster", "cast.csv", "-k", 4, *RULES)
    notes = " ".join(result.output.partition("Notes")[2].split())
    assert "8 of 40 rows are in no group of the column 'film': empty cells and -1 are none." in notes
    assert "35 of 40 rows are in no group of the column 'house'" in notes


@pytest.mark.parametrize("options", [["--relax"], ["--method", "auto"]])
def test_broken_rules_are_counted(cast, monkeypatch, options):
    monkeypatch.setattr("mustlink.workflow._job.default_methods", lambda: ["pck", "mpck"])
    result = cast.run("cluster", "cast.csv", "-k", 3, *RULES, *options, "--report", "r.html")
    assert result.exit_code == 0, result.output
    found = clusters_of(cast)[:32].reshape(-1, 4)
    n_broken = sum(int((film[:, None] == film).sum()) - 4 for film in found) // 2
    words = f"Never together by 'film': {n_broken} of 48 links broken, in 8 of 8 groups: f0, f1, f2, f3, f4 and 3 more."
    assert words in " ".join(result.output.partition("Notes")[2].split())
    assert "Never together by" in cast.read("r.html")


def test_rules_broken_by_clusters_of_another_tool(cast):
    clusters = "\n".join(["who,cluster", *(f"c{row},{row % 5}" for row in range(N))])
    cast.write("clusters.csv", clusters)
    result = cast.run("explain", "clusters.csv", "cast.csv", *RULES)
    assert result.exit_code == 0, result.output
    notes = " ".join(result.output.partition("Notes")[2].split())
    assert "Never together by" not in notes
    assert "Always together by 'house': 1 of 3 links broken, in 1 of 2 groups: 2." in notes


def test_check(cast):
    result = cast.run("check", "links.csv", "cast.csv", "-k", 3, *RULES)
    assert result.exit_code == 1
    assert "Links: 4 must, 48 cannot" in result.output
    assert "The group film=f0 has 4 rows" in " ".join(result.output.split())
    assert cast.run("check", "links.csv", "cast.csv", "-k", 4, *RULES).exit_code == 0
    result = cast.run("check", "links.csv", "--never-together", "film")
    assert result.exit_code == 2
    assert "need the table" in result.stderr


@pytest.mark.parametrize(
    ("words", "links", "message"),
    [
        (RULES, "", "The group film=f0 has 4 rows, no two of which may be in one cluster, and there are 3 clusters"),
        (FILM, "c0,c1,must", "The links and the columns of groups together: Rows c0 and c1 are given both"),
        (FILM, "c0,c33,must\nc33,c2,must", "c0 and c2 have a cannot-link, but must-links connect them: c0 - c33"),
        (
            PLAIN,
            "c1,c2,cannot\nc1,c3,cannot\nc1,c4,cannot\nc2,c3,cannot\nc2,c4,cannot\nc3,c4,cannot",
            "4 must-link components are all cannot-linked to each other, more than 3 clusters; they contain the rows",
        ),
        ([*PLAIN[:4], "--label-column", "film"], "", "The labels name 8 classes, more than the 3 clusters asked for"),
    ],
)
def test_ask_refuses_what_the_clusters_cannot_keep(cast, words, links, message):
    (cast.folder / "links.csv").write_text(f"a,b,link\n{links}\n")
    stderr = " ".join(cast.fails("ask", "cast.csv", "-k", 3, "--links", "links.csv", *words).split())
    assert message in stderr
    assert "--relax" not in stderr
    assert "--method" not in stderr


def test_ask_takes_rules_that_can_be_kept(cast):
    result = cast.run("ask", "cast.csv", "-k", 4, "--links", "links.csv", *RULES, "--limit", 1)
    assert result.exit_code == 0, result.output
    assert "4 of 4 groups found" in result.output
