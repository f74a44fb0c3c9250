"""``mustlink cluster --links-are certain`` and ``--base auto``."""

from __future__ import annotations

import pytest

from mustlink import RobustBoostCluster
from mustlink.errors import OptionError
from mustlink.workflow import Job, run_job

CLUSTER = ("cluster", "shop.csv", "links.csv", "-k", 3, "--id", "who", "--ignore", "kind")


def test_certain_links_are_kept_against_the_columns(shop):
    """The rows 15, 18 and 21 are in one group, and the row 16 in another that is far away."""
    right = "c00,c03,must\nc01,c04,must\nc02,c05,must\nc00,c01,cannot\nc01,c02,cannot\nc15,c18,must\nc18,c21,must\n"
    shop.write("links.csv", f"a,b,link\n{right}c21,c16,must\nc16,c01,must\n")
    estimated = shop.run(*CLUSTER)
    assert estimated.exit_code == 0, estimated.output
    assert "8 of 9 links kept" in estimated.stdout
    certain = shop.run(*CLUSTER, "--links-are", "certain")
    assert certain.exit_code == 0, certain.output
    assert "All 9 links kept" in certain.stdout
    assert "Broken links" not in certain.stdout


def test_certain_links_reach_the_clusterer(shop):
    job = Job("shop.csv", "links.csv", n_clusters=3, id_column="who", ignore=("kind",), links_are="certain")
    estimator = run_job(job).estimator
    assert isinstance(estimator, RobustBoostCluster)
    assert estimator.trust == "certain"
    assert estimator.estimator == "auto"


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        ("cop", "The method cop keeps all links anyway; leave out --links-are certain."),
        (
            "pck",
            "The method pck is soft and may break links in any case; use --method boost, or a method that always keeps "
            "all links, such as --method cop.",
        ),
        ("balanced", "The method balanced takes no links that it could keep; leave out --links-are certain."),
        (
            "auto",
            "The method auto also tries methods that may break links; use --method boost, or a method that always "
            "keeps all links, such as --method cop.",
        ),
    ],
)
def test_methods_that_cannot_choose_refuse_certain_links(shop, method, sentence):
    result = shop.run("cluster", "shop.csv", "-k", 3, "--method", method, "--links-are", "certain")
    assert result.exit_code == 2
    assert result.stderr == f"Error: {sentence}\n"


def test_certain_links_that_contradict_each_other_are_refused(shop):
    shop.write("links.csv", "a,b,link\nc00,c01,must\nc01,c02,must\nc00,c02,cannot\n")
    result = shop.run(*CLUSTER, "--links-are", "certain")
    assert result.exit_code == 2
    assert "c00 and c02 have a cannot-link, but must-links connect them: c00 - c01 - c02;" in result.stderr
    assert "leave out --links-are certain" in result.stderr
    assert "--relax" not in result.stderr


def test_certain_links_that_need_more_clusters_are_refused(shop):
    shop.write("links.csv", "a,b,link\nc00,c01,cannot\nc01,c02,cannot\nc00,c02,cannot\n")
    result = shop.run(*CLUSTER[:4], 2, *CLUSTER[5:], "--links-are", "certain")
    assert result.exit_code == 2
    assert "c00" in result.stderr
    assert "-k" in result.stderr
    assert "--relax" not in result.stderr


def test_another_word_is_refused(shop):
    assert shop.run(*CLUSTER, "--links-are", "sure").exit_code == 2
    with pytest.raises(OptionError, match="links_are must be 'estimated' or 'certain'; got 'sure'"):
        run_job(Job("shop.csv", "links.csv", n_clusters=3, links_are="sure"))


def test_rules_that_are_certain_are_kept_by_the_default_method(shop):
    result = shop.run(
        "cluster", "shop.csv", "-k", 3, "--id", "who", "--always-together", "kind", "--links-are", "certain"
    )
    assert result.exit_code == 0, result.output
    assert "The method is cop" not in result.stdout


def test_the_base_auto_is_the_default_of_boost(shop):
    texts = []
    for options in ([], ["--base", "auto"]):
        assert shop.run(*CLUSTER, "-o", "found.csv", *options).exit_code == 0
        texts.append(shop.read("found.csv"))
    assert texts[0] == texts[1]
    refused = shop.run(*CLUSTER, "--method", "boostcluster", "--base", "auto")
    assert refused.exit_code == 2
    assert "There is no clusterer 'auto' to boost" in refused.stderr
