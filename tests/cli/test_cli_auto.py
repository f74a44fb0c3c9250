"""``mustlink cluster --method auto``, and methods that find the number of clusters."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest

from mustlink import Constraints
from mustlink.catalogue import find_clusterer


@pytest.fixture
def market(shop, monkeypatch):
    """The shop with links enough to choose by, and two methods to choose from."""
    monkeypatch.setattr("mustlink.workflow._job.default_methods", lambda: ["pck", "cop"])
    links = Constraints.sample(np.arange(30) % 3, n_pairs=24, random_state=0)
    lines = ["a,b,link"]
    for kind, pairs in (("must", links.must_link), ("cannot", links.cannot_link)):
        lines += [f"c{a:02d},c{b:02d},{kind}" for a, b in pairs.tolist()]
    shop.write("many.csv", "\n".join(lines) + "\n")
    return shop


def clusters_in(desk, name):
    with open(desk.folder / name, newline="", encoding="utf-8") as stream:
        return [row["cluster"] for row in csv.DictReader(stream)]


def test_auto_chooses_method_and_number_of_clusters(market):
    words = ["--method", "auto", "--id", "who", "--ignore", "kind", "--starts", 2, "--report", "r.html"]
    result = market.run("cluster", "shop.csv", "many.csv", *words)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["method", "clusters", "links", "kept", "+/-", "seconds"]
    tried = [line.replace("*", " ").split()[:2] for line in lines[1:20]]
    assert [["pck", str(k)] for k in range(2, 11)] == tried[:9]
    method, number, kept = next(line for line in lines if line.startswith("*")).split()[1:4]
    assert number == "3"
    sentence = f"{method} with 3 clusters keeps {kept} of the held-out links"
    assert f"Chosen: {sentence}" in result.stdout
    assert "30 rows in 3 clusters. All 24 links kept." in result.stdout
    labels = clusters_in(market, "shop.clusters.csv")
    assert len(set(zip(labels, np.arange(30) % 3, strict=True))) == 3
    page = market.read("r.html")
    assert f"<dd>{find_clusterer(method).class_name}(n_clusters=3" in page
    assert sentence in page
    assert "<span>--method</span> auto" in page


def test_auto_with_a_number_chooses_the_method_only(market):
    result = market.run(
        "cluster", "shop.csv", "many.csv", "-k", 3, "--method", "AUTO", "--ignore", "kind", "--id", "who", "--starts", 2
    )
    assert result.exit_code == 0, result.output
    tried = [line.replace("*", " ").split()[:2] for line in result.stdout.splitlines()[1:3]]
    assert tried == [["pck", "3"], ["cop", "3"]]


def test_auto_takes_labels_as_links(market):
    result = market.run(
        "cluster", "shop.csv", "-k", 3, "--method", "auto", "--id", "who", "--label-column", "kind", "--starts", 2
    )
    assert result.exit_code == 0, result.output
    assert "9 links are few" in result.stdout
    assert "30 rows in 3 clusters" in result.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--method", "auto"],
            "auto chooses by links, and there are none; give LINKS, or a column of labels with --label-column.",
        ),
        (
            ["many.csv", "--method", "auto", "--base", "ward"],
            "The method auto cannot be combined with a clusterer to boost ('ward').",
        ),
        (["many.csv"], "The method boost needs the number of clusters; give it with -k, or choose it by the links"),
        (["must.csv", "--method", "auto"], "All 3 links are must-links, which cannot determine the number of clusters"),
        (["many.csv", "--method", "auto", "-k", "0"], "The number of clusters is 0"),
    ],
)
def test_auto_without_what_it_needs_is_an_error(market, words, message):
    market.write("must.csv", "a,b,link\nc00,c03,must\nc01,c04,must\nc02,c05,must\n")
    assert message in market.fails("cluster", "shop.csv", *words, "--id", "who", "--ignore", "kind")


def test_a_method_that_finds_the_number_of_clusters(market):
    plain = market.run("cluster", "shop.csv", "links.csv", "--method", "hdbscan", "--id", "who", "--ignore", "kind")
    assert plain.exit_code == 0, plain.output
    labels = clusters_in(market, "shop.clusters.csv")
    told = market.run(
        "cluster", "shop.csv", "links.csv", "-k", 7, "--method", "hdbscan", "--id", "who", "--ignore", "kind"
    )
    assert told.exit_code == 0, told.output
    assert "The method hdbscan finds the number of clusters itself; the given number, 7, was not used." in told.stdout
    assert clusters_in(market, "shop.clusters.csv") == labels


def test_failures_and_warnings_name_the_ids_of_rows(market):
    apart = [f"c{b:02d},c{a:02d},cannot" for a in range(2, 7) for b in range(2, a)]
    more = [f"c{a:02d},c{a + 3:02d},must" for a in range(7, 14)]
    market.write("apart.csv", "\n".join(["a,b,link", *apart, *more]))
    words = ["-k", 2, "--id", "who", "--ignore", "kind"]
    result = market.run("cluster", "shop.csv", "apart.csv", "--method", "auto", *words)
    assert result.exit_code == 0, result.output
    assert "cop with 2 clusters failed" in result.stdout
    assert re.search(r"an odd number: c0\d - c0\d - c0\d - c0\d\.", " ".join(result.stdout.split()))
    market.write("chain.csv", "a,b,link\nc00,c03,must\nc03,c06,must\nc00,c06,cannot\n")
    result = market.run("cluster", "shop.csv", "chain.csv", "--method", "seeded-link", *words)
    assert result.exit_code == 0, result.output
    notes = " ".join(result.stdout.partition("Notes")[2].split())
    assert "Rows c00 and c06 have a cannot-link, but must-links connect them: c00 - c03 - c06." in notes
