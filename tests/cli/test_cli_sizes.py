"""``mustlink cluster --min-size --max-size``: the sizes, what they cost, and the methods that know them."""

from __future__ import annotations

import csv
import html
from collections import Counter

import pytest

START = ["cluster", "shop.csv", "-k", 3, "--id", "who", "--ignore", "kind"]


def sizes_in(desk, name="shop.clusters.csv"):
    with open(desk.folder / name, newline="", encoding="utf-8") as stream:
        return sorted(Counter(row["cluster"] for row in csv.DictReader(stream)).values())


def test_sizes_choose_the_method_and_say_so(shop):
    result = shop.run(*START, "--min-size", 8, "--max-size", 11)
    assert result.exit_code == 0, result.output
    assert sizes_in(shop) == [10, 10, 10]
    assert "The method is sizes, k-means with sizes; boost, the default, keeps to no sizes." in result.stdout
    assert "is at its" not in result.stdout, "no bound binds"


def test_bounds_that_bind_are_explained_in_the_terminal_and_in_the_report(shop):
    lines = shop.read("shop.csv").splitlines()
    shop.write("some.csv", "\n".join(line for line in lines if line[:3] not in ("c01", "c04", "c07")) + "\n")
    words = ["cluster", "some.csv", "-k", 3, "--id", "who", "--ignore", "kind", "--method", "sizes"]
    result = shop.run(*words, "--min-size", 8, "--report", "r.html")
    assert result.exit_code == 0, result.output
    assert sizes_in(shop, "some.clusters.csv") == [8, 9, 10]
    (line,) = [line for line in result.stdout.splitlines() if "is at its minimum of 8;" in line]
    assert "lowering it by one would lower the sum of squared distances by" in line
    assert html.escape(line.strip()) in shop.read("r.html")
    assert "The method is sizes" not in result.stdout


def test_sizes_and_links_are_both_kept(shop):
    result = shop.run(
        "cluster",
        "shop.csv",
        "links.csv",
        "-k",
        3,
        "--id",
        "who",
        "--ignore",
        "kind",
        "--min-size",
        9,
        "--max-size",
        11,
    )
    assert result.exit_code == 0, result.output
    assert "All 4 links kept." in result.stdout
    assert sizes_in(shop)[0] >= 9


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--min-size", 11], "The minimum sizes of 3 clusters add up to 33, but there are 30 rows; reduce --min-size."),
        (
            ["--max-size", 9],
            "The maximum sizes of 3 clusters add up to 27, but there are 30 rows; increase --max-size.",
        ),
        (["--min-size", -1], "The minimum size is -1; --min-size and --max-size must be at least 0."),
        (["--min-size", 9, "--max-size", 8], "The maximum size of cluster 0 is 8, below its minimum of 9; reduce"),
        (["--min-size", 9, "--method", "boost"], "The method boost keeps to no sizes; use --method sizes."),
        (["--min-size", 9, "--method", "pck"], "The method pck keeps to no sizes; use --method sizes."),
        (["--min-size", 9, "--method", "linkage"], "The method linkage keeps to no minimum size; use --method sizes."),
        (
            ["--max-size", 9, "--method", "balanced"],
            "The method balanced keeps to no maximum size; use --method sizes.",
        ),
        (
            ["--min-size", 2, "--max-size", 9, "--method", "balanced"],
            "The method balanced keeps to no maximum size; use --method sizes.",
        ),
        (["--min-size", 5, "--base", "ward"], "The method sizes boosts no other clusterer; 'ward' cannot be used"),
    ],
)
def test_sizes_that_cannot_be(shop, words, sentence):
    assert shop.fails(*START, *words).startswith(f"Error: {sentence}")


def test_linkage_keeps_to_a_maximum_size(shop):
    lines = shop.read("shop.csv").splitlines()
    shop.write("some.csv", "\n".join(line for line in lines if line[:3] not in ("c01", "c04", "c07")) + "\n")
    words = ["cluster", "some.csv", "-k", 4, "--id", "who", "--ignore", "kind", "--method", "linkage"]
    assert shop.run(*words).exit_code == 0
    assert sizes_in(shop, "some.clusters.csv")[-1] > 9
    result = shop.run(*words, "--max-size", 9)
    assert result.exit_code == 0, result.output
    assert sizes_in(shop, "some.clusters.csv")[-1] <= 9


def test_balanced_keeps_to_a_minimum_size(shop):
    result = shop.run(*START, "--method", "balanced", "--min-size", 9)
    assert result.exit_code == 0, result.output
    assert sizes_in(shop)[0] >= 9


def test_auto_knows_no_sizes(shop):
    words = ["cluster", "shop.csv", "links.csv", "-k", 3, "--id", "who", "--ignore", "kind", "--method", "auto"]
    assert "The method auto keeps to no sizes; use --method sizes." in shop.fails(*words, "--min-size", 3)


def test_in_python_the_words_are_those_of_a_job(shop):
    from mustlink.errors import OptionError
    from mustlink.workflow import Job, run_job

    job = {"table": shop.folder / "shop.csv", "n_clusters": 3, "id_column": "who", "ignore": ["kind"]}
    result = run_job(Job(**job, size_min=8))
    assert result.entry.name == result.job.method == "sizes"
    assert result.estimator.size_min == 8
    with pytest.raises(OptionError, match='The method pck keeps to no sizes; use method="sizes"'):
        run_job(Job(**job, size_min=8, method="pck"))
    with pytest.raises(OptionError, match=r"size_max must be a whole number, or None; got 2\.5"):
        run_job(Job(**job, size_max=2.5))
