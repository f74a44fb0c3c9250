"""``mustlink another`` as a person uses it."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def points(desk):
    """Forty points in four corners: left and right is known, up and down is not."""
    rng = np.random.default_rng(0)
    lines = ["who,x,y,side"]
    for row in range(40):
        right, up = row % 2, row // 2 % 2
        x, y = rng.normal(scale=0.6, size=2) + np.array([9 * right, 5 * up])
        lines.append(f"p{row:02d},{x:.3f},{y:.3f},{'right' if right else 'left'}")
    desk.write("points.csv", "\n".join(lines) + "\n")
    desk.write("known.csv", "who,cluster\n" + "".join(f"p{row:02d},{row % 2}\n" for row in reversed(range(40))))
    return desk


def another(desk, *words, k=2):
    result = desk.run("another", "points.csv", "-k", k, *words)
    assert result.exit_code == 0, result.output
    return result.stdout


def clusters_of(desk, name="points.another.csv"):
    return pd.read_csv(desk.folder / name)


UP = np.arange(40) // 2 % 2


@pytest.mark.parametrize("known", [["--known", "side", "--id", "who"], ["--known", "known.csv", "--ignore", "side"]])
@pytest.mark.parametrize("method", ["residual", "condens", "ccib"])
def test_the_other_split_is_found(points, known, method):
    shown = another(points, *known, "--method", method, "--no-scale")
    found = clusters_of(points)
    assert (found["cluster"].groupby(UP).nunique() == 1).all()
    assert found["cluster"].nunique() == 2
    assert re.match(
        r"40 rows in 2 new clusters\. The new split tells 0% of (side|known.csv), plain k-means 100%\.", shown
    )
    assert "10 (50%)" in shown
    assert re.search(r"y (high|low)", shown)


def test_the_report_has_both_splits_and_the_cross_table(points):
    another(points, "--known", "side", "--id", "who", "--report", "r.html")
    page = points.read("r.html")
    assert page.count('<svg class="scatter"') == 2
    for text in ("Known: side", "The new split", "left", "right", "<b>y</b>", "mustlink another points.csv"):
        assert text in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org", "")


def test_known_clusters_match_by_id_in_any_order(points):
    another(points, "--known", "known.csv", "--ignore", "side")
    assert clusters_of(points).columns.tolist() == ["who", "cluster"]
    by_id = clusters_of(points)["cluster"].tolist()
    another(points, "--known", "side", "--id", "who")
    same = clusters_of(points)["cluster"].tolist()
    assert by_id == same


@pytest.mark.parametrize("header", ["who,side", "Kunde,Region"])
def test_the_classes_beside_the_ids_are_taken_whatever_they_are_called(points, header):
    lines = [f"p{row:02d},{'right' if row % 2 else 'left'}" for row in range(40)]
    points.write("region.csv", "\n".join([header, *lines]) + "\n")
    words = ["--id", "who", "--ignore", "side"] if header == "Kunde,Region" else ["--no-scale"]
    shown = another(points, "--known", "region.csv", *words)
    assert "tells 0% of region.csv, plain k-means 100%" in " ".join(shown.split())


def test_several_known_splits_and_several_new_ones(points):
    rng = np.random.default_rng(1)
    frame = pd.read_csv(points.folder / "points.csv")
    frame["z"] = rng.normal(scale=0.4, size=40) + 4 * (np.arange(40) // 4 % 2)
    frame.to_csv(points.folder / "points.csv", index=False)
    shown = another(points, "--known", "side", "--id", "who", "--next", 2, "--starts", 2, "--save-model", "p.model")
    assert "The model is that of the first new split alone." in " ".join(shown.split())
    found = clusters_of(points)
    assert found.columns.tolist() == ["who", "cluster_1", "cluster_2"]
    splits = [UP, np.arange(40) // 4 % 2]
    for name in ("cluster_1", "cluster_2"):
        assert any((found[name].groupby(split).nunique() == 1).all() for split in splits)
    assert "Alternative 2 (column cluster_2)" in shown
    points.write("up.csv", "cluster\n" + "".join(f"{up}\n" for up in UP))
    another(points, "--known", "known.csv", "--known", "up.csv", "--ignore", "side", "-o", "third.csv")
    third = clusters_of(points, "third.csv")["cluster"]
    assert (third.groupby(splits[1]).nunique() == 1).all()


def test_the_search_ends_where_nothing_is_left(points):
    shown = another(points, "--known", "side", "--id", "who", "--next", 4, "--starts", 2, "--report", "r.html")
    assert "told no more of the columns" in shown
    assert len([name for name in clusters_of(points).columns if name.startswith("cluster")]) < 4


@pytest.mark.parametrize(
    ("method", "others"),
    [("residual", "condens or ccib"), ("condens", "residual or ccib"), ("ccib", "residual or condens")],
)
def test_a_split_that_tells_much_is_noted(desk, method, others):
    """The first kind has no spread, so that the clusters are those of the second."""
    lines = ["x,kind"] + ["0,a"] * 6 + [f"{x},b" for x in (10, 11, 20, 21, 30, 31)]
    desk.write("points.csv", "\n".join(lines) + "\n")
    shown = " ".join(another(desk, "--known", "kind", "--method", method, k=3).split())
    assert re.search(rf"still tells \d+% of kind\. The method {others}, another number of clusters than 3, or", shown)
    assert "no other split" not in shown


def test_the_default_tells_little_where_the_others_tell_much(desk):
    """Three kinds of wine: clusters of the default method are not noted."""
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True, as_frame=True)
    X.assign(kind=[f"kind {name}" for name in y]).to_csv(desk.folder / "points.csv", index=False)
    for words, tells_much in (([], False), (["--method", "condens"], True)):
        assert ("still tells" in another(desk, "--known", "kind", *words, k=3)) == tells_much


def test_rows_without_a_known_class_are_a_class(points):
    text = points.read("points.csv").replace("p00,", "p00x,").replace(",left\n", ",\n")
    points.write("points.csv", text)
    shown = another(points, "--known", "side", "--id", "who")
    assert "20 rows are in no class of side (empty or -1), and taken for a class of their own." in shown
    assert re.search(r"none +\d+ \(", shown)


def test_the_whole_table_is_kept(points):
    another(points, "--known", "side", "--id", "who", "--keep-columns", "-o", "all.csv")
    assert clusters_of(points, "all.csv").columns.tolist() == ["who", "x", "y", "side", "cluster"]


@pytest.mark.parametrize("method", ["residual", "condens", "ccib"])
def test_a_model_puts_rows_into_the_new_clusters(points, method):
    pytest.importorskip("skops")
    another(points, "--known", "side", "--id", "who", "--method", method, "--save-model", "p.model")
    result = points.run("predict", "p.model", "points.csv", "-o", "again.csv")
    assert result.exit_code == 0, result.output
    assert clusters_of(points, "again.csv")["cluster"].tolist() == clusters_of(points)["cluster"].tolist()


def test_what_a_model_leaves_out_is_noted(points):
    pytest.importorskip("skops")
    rng = np.random.default_rng(0)
    lines = [f"{9 * (row % 2) + 3 * (row // 2 % 2) + rng.normal():.2f},{row % 2}" for row in range(60)]
    points.write("points.csv", "\n".join(["x,side", *lines]) + "\n")
    shown = another(points, "--known", "side", "--method", "ccib", "--save-model", "p.model", "--no-scale")
    found = re.search(r"does not read the known classes of rows: without them, (\d+) rows", " ".join(shown.split()))
    assert found
    points.run("predict", "p.model", "points.csv", "-o", "again.csv")
    again, first = clusters_of(points, "again.csv")["cluster"], clusters_of(points)["cluster"]
    assert int(found[1]) == (again != first).sum() > 0


def test_the_file_that_is_written_is_the_one_of_the_help(points):
    assert "with .another.csv" in " ".join(points.run("another", "--help").stdout.replace("│", " ").split())


@pytest.mark.parametrize(
    ("files", "words", "sentence"),
    [
        ({}, ["--known", "nothing.csv"], "There is no file nothing.csv, and points.csv has no column of this name"),
        ({}, ["--known", "sides"], "points.csv has no column 'sides' ('sides' may be 'side')"),
        ({"s.csv": "cluster\n1\n2\n"}, ["--known", "s.csv"], "s.csv has 2 rows and points.csv has 40 rows"),
        (
            {"s.csv": "who,cluster\nq1,1\nq2,2\n"},
            ["--known", "s.csv"],
            "no value of the column 'who' is an id of the table; the first is 'q1'",
        ),
        (
            {"s.csv": "who,cluster\np00,1\np01,2\n"},
            ["--known", "s.csv"],
            "38 rows are in the table and not in s.csv: p02, p03, p04 and more; add their clusters.",
        ),
        (
            {"s.csv": "cluster\n" + "7\n" * 40},
            ["--known", "s.csv", "--id", "who"],
            "The known split s.csv has one class only, '7', for all 40 rows",
        ),
        (
            {"s.csv": "Kunde,Region,more\na,1,1\nb,2,2\n"},
            ["--known", "s.csv"],
            "s.csv has 3 columns and none called cluster; call the column of the known classes cluster",
        ),
        ({}, ["--known", "who"], "The known split who has a class of its own for each of 40 rows"),
        ({"s.csv": "cluster\n" + "-1\n" * 40}, ["--known", "s.csv"], "s.csv has no class for any row"),
        ({}, ["--known", "side", "--id", "side"], "cannot be a known split and be used otherwise"),
        ({}, ["--known", "side", "--next", "0", "--id", "who"], "The number of new splits is 0, .* change --next"),
        ({}, ["--known", "side", "--next", "2", "--keep-columns", "--id", "who"], "leave out --keep-columns"),
        ({}, ["--known", "side", "--id", "who", "--starts", "0"], "The number of starts is 0, .* change --starts"),
        ({}, ["--known", "side", "--id", "who", "-o", "points.csv"], "is an input and would be overwritten"),
        ({"s.csv": "cluster\n1\n"}, ["--known", "s.csv", "-o", "s.csv"], "is an input and would be overwritten"),
        ({}, ["--known", "side", "--id", "who", "--report", "r.pdf"], "must end in .html"),
        ({}, ["--known", "side"], "use --id who if it names the rows"),
        ({}, ["--known", "side", "--id", "who", "--seed", "-1"], "--seed must be from 0"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(points, files, words, sentence):
    for name, content in files.items():
        points.write(name, content)
    if words[1] == "s.csv":
        words = [*words, "--ignore", "side"]
    if files.get("s.csv", "").startswith("cluster") and "--id" not in words:
        words = [*words, "--id", "who"]
    message = points.fails("another", "points.csv", "-k", 2, *words)
    assert re.search(re.escape(sentence).replace(r"\.\*", ".*"), message), message


def test_the_number_of_clusters_fits_the_table(points):
    assert "-k must be at least 1" in points.fails("another", "points.csv", "--known", "side", "--id", "who", "-k", 0)
    message = points.fails("another", "points.csv", "--known", "side", "--id", "who", "-k", 41)
    assert "41 clusters cannot be made of the 40 rows of points.csv" in message
