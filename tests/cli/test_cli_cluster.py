"""``mustlink cluster``: its files and its output."""

from __future__ import annotations

import csv
import gzip
import html
import re

import numpy as np
import pytest

from mustlink import Constraints, PCKMeans
from mustlink.tables import encode, read_table

HARD = ["cop", "linkage", "parts"]
TRUTH = [row % 3 for row in range(30)]


def same_partition(first, second):
    return len(set(zip(first, second, strict=True))) == len(set(first)) == len(set(second))


def clusters_in(desk, name):
    with open(desk.folder / name, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize("method", ["boost", "pck", "cop", "seeded", "bckm", "PCKMeans"])
def test_groups_are_found_by_every_method(shop, method):
    result = shop.run(
        "cluster", "shop.csv", "links.csv", "-k", 3, "--id", "who", "--ignore", "kind", "--method", method
    )
    assert result.exit_code == 0, result.output
    rows = clusters_in(shop, "shop.clusters.csv")
    assert [row["who"] for row in rows] == [f"c{row:02d}" for row in range(30)]
    assert same_partition([row["cluster"] for row in rows], TRUTH)
    assert "30 rows in 3 clusters. All 4 links kept." in result.stdout
    assert "Links kept: 2 of 2 must, 2 of 2 cannot" in result.stdout
    assert "Clusters written to shop.clusters.csv" in result.stdout
    assert result.stderr == ""


def test_the_same_as_in_python(shop):
    shop.run(
        "cluster", "shop.csv", "links.csv", "-k", 3, "--id", "who", "--ignore", "kind", "--seed", 5, "--method", "pck"
    )
    table = read_table("shop.csv", text=["who"], ignore=["kind"])
    links = Constraints.read("links.csv", ids=table.row_ids("who"))
    X = encode(table, ignore=["who"]).X
    labels = PCKMeans(3, n_init=10, random_state=5).fit(X, constraints=links).labels_
    assert [int(row["cluster"]) for row in clusters_in(shop, "shop.clusters.csv")] == labels.tolist()


def test_rows_by_number_and_by_id_are_the_same(shop):
    for links, id_options in (("links.csv", ["--id", "who"]), ("rows.csv", ["--ignore", "who"])):
        result = shop.run(
            "cluster", "shop.csv", links, "-k", 3, "--ignore", "kind", *id_options, "-o", f"{links}.out.csv"
        )
        assert result.exit_code == 0, result.output
    by_id, by_row = clusters_in(shop, "links.csv.out.csv"), clusters_in(shop, "rows.csv.out.csv")
    assert [row["cluster"] for row in by_id] == [row["cluster"] for row in by_row]
    assert [row["row"] for row in by_row] == [str(row) for row in range(30)]


def test_labels_for_some_rows(shop):
    result = shop.run("cluster", "shop.csv", "-k", 3, "--id", "who", "--label-column", "kind", "--method", "seeded")
    assert result.exit_code == 0, result.output
    assert "known labels" in result.stdout
    assert "both (3)" in result.stdout
    rows = clusters_in(shop, "shop.clusters.csv")
    assert same_partition([row["cluster"] for row in rows], TRUTH)
    assert [row["kind"] for row in rows][:4] == ["home", "work", "both", "home"]
    assert rows[20]["kind"] == ""


def test_labels_are_equivalent_to_their_links(shop):
    """Labels are one more source of constraints: the same links from a file give the same clusters."""
    labels = [row % 3 if row < 9 else -1 for row in range(30)]
    # The rows of a class are linked in the order of their first column.
    visits = np.loadtxt(shop.folder / "shop.csv", delimiter=",", skiprows=1, usecols=1)
    Constraints.from_labels(labels, order=visits).write(shop.folder / "from_labels.csv")
    options = ["-k", 3, "--ignore", "who"]
    shop.run("cluster", "shop.csv", *options, "--label-column", "kind", "-o", "labels.npy")
    shop.run("cluster", "shop.csv", "from_labels.csv", *options, "--ignore", "kind", "-o", "links.npy")
    np.testing.assert_array_equal(np.load("labels.npy"), np.load("links.npy"))


def test_labels_for_all_rows_are_compared_with_and_make_no_links(desk):
    """As in fit, labels for all rows are the truth; a hard method that used them would make two long clusters."""
    desk.write("t.csv", "x,y,kind\n0,0,u\n1,0,v\n0,1,u\n9,9,u\n9,8,v\n8,9,u\n")
    options = ["-k", 2, "--label-column", "kind", "--method", "cop", "--report", "t.html"]
    result = desk.run("cluster", "t.csv", *options)
    assert result.exit_code == 0, result.output
    clusters = [row["cluster"] for row in clusters_in(desk, "t.clusters.csv")]
    assert same_partition(clusters, "aaabbb")
    note = "Every row has a label in the column 'kind', so the labels are not used as links; the clusters are compared"
    compared = "40.0% of the pairs among the 6 rows with a known label are together or apart as in the labels."
    for text in (result.stdout, html.unescape(desk.read("t.html"))):
        assert note in text
        assert compared in text
    error = desk.fails("cluster", "t.csv", "--label-column", "kind", "--method", "auto", "-o", "a.csv")
    assert (
        "labels for every row, as in the column 'kind', are not used as links; leave some of the labels empty" in error
    )


@pytest.mark.parametrize("unknown", ["", "-1", " -1 ", "-1.0", "  ", "NaN", "?"])
def test_every_sign_of_an_unknown_label_is_the_same(desk, unknown):
    cells = ["1.0", "2", " 1", unknown, "2.0 ", unknown]
    points = ["0,0", "1,0", "0,1", "9,9", "9,8", "8,9"]
    lines = [f"{point},{cell}\n" for point, cell in zip(points, cells, strict=True)]
    desk.write("t.csv", "x,y,kind\n" + "".join(lines))
    result = desk.run("cluster", "t.csv", "-k", 2, "--label-column", "kind", "--method", "cop")
    assert result.exit_code == 0, result.output
    rows = clusters_in(desk, "t.clusters.csv")
    assert [row["kind"] for row in rows] == ["1", "2", "1", "", "2", ""]
    clusters = [row["cluster"] for row in rows]
    assert clusters[0] == clusters[2] != clusters[1] == clusters[4]


@pytest.mark.parametrize(("method", "more"), [("seeded", "."), *((name, ", or use --relax.") for name in HARD)])
def test_more_labels_than_clusters_is_said_in_options(shop, method, more):
    options = ["cluster", "shop.csv", "-k", 2, "--id", "who", "--label-column", "kind", "--method", method]
    error = shop.fails(*options)
    assert f"The labels name 3 classes, more than the 2 clusters asked for; use -k 3 or more{more}" in error
    if method in HARD:
        assert shop.run(*options, "--relax").exit_code == 0


def test_labels_that_contradict_links_through_a_chain_are_reported(shop):
    shop.write("torn.csv", "a,b,link\nc00,c20,must\nc20,c01,must\n")
    options = ["cluster", "shop.csv", "torn.csv", "-k", 3, "--id", "who", "--label-column", "kind"]
    result = shop.run(*options)
    assert result.exit_code == 0, result.output
    assert "The labels contradict the links in 1 place" in result.stdout
    assert "c00 - c20 - c01" in result.stdout
    (shop.folder / "shop.clusters.csv").unlink()
    assert "c00 - c20 - c01" in shop.fails(*options, "--method", "cop")


def test_broken_links_and_conflicts_are_listed(shop):
    shop.write("torn.csv", "a,b,link\nc00,c03,must\nc03,c06,must\nc00,c06,cannot\n")
    options = ("--id", "who", "--ignore", "kind", "--method", "pck")
    result = shop.run("cluster", "shop.csv", "torn.csv", "-k", 3, *options)
    assert result.exit_code == 0, result.output
    assert "1 broken" in result.stdout
    assert "c00 and c06 cannot be together, and are both in cluster" in result.stdout
    assert "must-links connect them: c00 - c03 - c06" in result.stdout


def test_a_broken_link_is_not_called_wrong_without_links_of_the_other_kind(desk):
    desk.write("t.csv", "x,y\n0,0\n0.1,0\n0,0.1\n0.1,0.1\n5,5\n5.1,5\n5,5.1\n5.1,5.1\n")
    desk.write("l.csv", "a,b,link\n0,4,must\n0,1,must\n1,2,must\n2,3,must\n4,5,must\n5,6,must\n6,7,must\n")
    result = desk.run("cluster", "t.csv", "l.csv", "-k", 2, "--report", "t.html")
    assert result.exit_code == 0, result.output
    assert "0 and 4 must be together, and are in clusters" in result.stdout
    for text in (result.stdout, desk.read("t.html")):
        assert "may be wrong" not in text
        assert "robability" not in text


def test_many_broken_links_are_counted(desk):
    desk.write("t.csv", "x,y\n" + "".join(f"{i % 2 * 50},{i}\n" for i in range(40)))
    desk.write("l.csv", "a,b,link\n" + "".join(f"{i},{i + 2},cannot\n" for i in range(38)))
    result = desk.run("cluster", "t.csv", "l.csv", "-k", 2, "--no-scale", "--method", "seeded")
    assert result.exit_code == 0, result.output
    listed = [line for line in result.stdout.splitlines() if "cannot be together" in line]
    assert len(listed) == 10
    broken = int(result.stdout.split(" broken.")[0].split()[-1])
    assert f"and {broken - 10} more" in result.stdout


def test_relax_lets_a_hard_method_break_links(shop):
    shop.write("torn.csv", "a,b,link\nc00,c03,must\nc03,c06,must\nc00,c06,cannot\n")
    options = ["cluster", "shop.csv", "torn.csv", "-k", 3, "--id", "who", "--ignore", "kind", "--method", "cop"]
    error = shop.fails(*options)
    assert "c00 and c06 have a cannot-link, but must-links connect them: c00 - c03 - c06" in error
    assert "--relax" in error
    result = shop.run(*options, "--relax")
    assert result.exit_code == 0, result.output
    assert "c00 and c06 cannot be together" in result.stdout


@pytest.mark.parametrize("method", ["cop", "linkage", "parts"])
def test_a_hard_method_reports_why_links_are_infeasible(shop, method):
    shop.write("ring.csv", "a,b,link\nc00,c01,cannot\nc01,c02,cannot\nc02,c00,cannot\n")
    options = ["cluster", "shop.csv", "ring.csv", "-k", 2, "--method", method, "--ignore", "kind"]
    error = shop.fails(*options, "--id", "who")
    assert re.search(r"cycle of 3 cannot-links, an odd number: (c\d\d - ){3}c\d\d; use -k 3 or more", error)


@pytest.mark.parametrize("links", ["c00,c01,must\nc01,c02,must\n", "c00,c01,cannot\nc01,c02,cannot\n"])
def test_a_mixture_of_hard_links_names_that_of_soft_ones(shop, links):
    shop.write("ring.csv", f"a,b,link\n{links}c02,c00,cannot\n")
    options = ["cluster", "shop.csv", "ring.csv", "-k", 2, "--method", "mixture", "--ignore", "kind"]
    error = shop.fails(*options, "--id", "who")
    assert error.rstrip().endswith("use --relax, or use a mixture that may break links, --method penalized.")


def test_contradictions_are_resolved_by_majority(shop):
    shop.write("votes.csv", "a,b,link,weight\nc00,c03,must,3\nc00,c03,cannot,1\n")
    options = ["cluster", "shop.csv", "votes.csv", "-k", 3, "--id", "who", "--ignore", "kind"]
    assert "votes.csv, line 2 and line 3: c00 and c03" in shop.fails(*options)
    result = shop.run(*options, "--contradictions", "majority")
    assert result.exit_code == 0, result.output
    assert "The link is kept" in result.stdout


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet", ".npy"])
def test_every_kind_of_table(desk, suffix):
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(10, 2)), rng.normal(size=(10, 2)) + 9].round(3)
    name = f"t{suffix}"
    delimiter = "\t" if suffix == ".tsv" else ","
    text = "\n".join(delimiter.join(map(str, row)) for row in [["x", "y"], *X.tolist()]).encode()
    if suffix == ".npy":
        np.save(name, X)
    elif suffix == ".parquet":
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pyarrow.table({"x": X[:, 0], "y": X[:, 1]}), name)
    else:
        desk.write(name, gzip.compress(text) if suffix.endswith("gz") else text)
    result = desk.run("cluster", name, "-k", 2)
    assert result.exit_code == 0, result.output
    clusters = [row["cluster"] for row in clusters_in(desk, "t.clusters.csv")]
    assert same_partition(clusters, [0] * 10 + [1] * 10)


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.npy", "out.parquet"])
def test_every_kind_of_output(shop, name):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    result = shop.run("cluster", "shop.csv", "-k", 3, "--id", "who", "--ignore", "kind", "-o", name)
    assert result.exit_code == 0, result.output
    assert name in shop.names()
    assert f"written to {name}" in result.stdout


def test_report(shop):
    result = shop.run(
        "cluster", "shop.csv", "links.csv", "-k", 3, "--id", "who", "--ignore", "kind", "--report", "r.html"
    )
    assert result.exit_code == 0, result.output
    assert "Report written to r.html" in result.stdout
    page = shop.read("r.html")
    assert "<h1>shop.csv in 3 clusters</h1>" in page
    command = "mustlink cluster shop.csv links.csv -k 3 --id who --ignore kind --report r.html"
    assert command in re.sub("</?span>", "", page)
    assert "RobustBoostCluster" in page


def test_the_command_in_the_report_does_the_same(shop):
    import shlex
    from html import unescape

    first = shop.run(
        "cluster", "shop.csv", "links.csv", "-k", 3, "--id", "who", "--label-column", "kind", "--no-scale",
        "--no-one-hot", "--missing", "mean", "--method", "cop", "--seed", 3, "--starts", 2, "--relax", "--header",
        "--contradictions", "majority", "-o", "out.tsv", "--report", "r.html",
    )  # fmt: skip
    assert first.exit_code == 0, first.output
    page, clusters = shop.read("r.html"), shop.read("out.tsv")
    command = unescape(re.sub("</?span>", "", page.split("<dt>Command</dt><dd>")[1].split("</dd>")[0]))
    again = shop.run(*shlex.split(command)[1:])
    assert again.stdout == first.stdout
    assert (shop.read("r.html"), shop.read("out.tsv")) == (page, clusters)


def test_a_file_of_a_german_spreadsheet(desk):
    """Cut by semicolons, in cp1252, with dates, thousands and currencies."""
    rows = [
        f"K{row:02};{row % 28 + 1:02}.03.{2010 if row % 2 else 2024};{row % 2 * 40 + 1}.{row:03},50 \u20ac;0,{row + 10}"
        for row in range(30)
    ]
    desk.write("k.csv", "\r\n".join(["kunde;seit;umsatz;gr\u00f6\u00dfe", *rows]).encode("cp1252"))
    result = desk.run("cluster", "k.csv", "-k", 2, "--id", "kunde", "--method", "pck", "--report", "r.html")
    assert result.exit_code == 0, result.output
    assert "was read as cp1252" in result.stdout
    assert "gr\u00f6\u00dfe" in result.stdout
    assert "Column 'seit' was read as dates with the day first." in result.stdout
    # They are written with the semicolons of the table.
    clusters = [line.split(";")[1] for line in desk.read("k.clusters.csv").splitlines()[1:]]
    assert len(set(clusters[::2])) == len(set(clusters[1::2])) == 1
    report = desk.read("r.html")
    assert "seit</b> early: 2010-03-" in report
    assert "41,000 EUR" in report or "41,015 EUR" in report


def test_missing_cells(desk):
    desk.write("t.csv", "x,y\n0,0\n,1\n1,0\n9,9\n9,8\n8,9\n")
    desk.write("l.csv", "a,b,link\n0,2,must\n1,2,must\n3,4,must\n")
    assert "t.csv, line 3: the column 'x' is empty" in desk.fails("cluster", "t.csv", "-k", 2)
    result = desk.run("cluster", "t.csv", "l.csv", "-k", 2, "--missing", "drop")
    assert result.exit_code == 0, result.output
    assert "1 row with empty cells left out." in result.stdout
    assert "1 link names rows that were left out; 2 of 3 are used." in result.stdout
    assert "All 2 links kept" in result.stdout
    clusters = [row["cluster"] for row in clusters_in(desk, "t.clusters.csv")]
    assert clusters[1] == ""
    assert same_partition(clusters[:1] + clusters[2:], [0, 0, 1, 1, 1])
    result = desk.run("cluster", "t.csv", "l.csv", "-k", 2, "--missing", "mean")
    assert result.exit_code == 0, result.output
    assert "" not in [row["cluster"] for row in clusters_in(desk, "t.clusters.csv")]


def test_rows_keep_their_numbers_after_some_are_dropped(desk):
    desk.write("t.csv", "x,y\n,0\n,1\n1,0\n9,9\n9,8\n0,1\n")
    desk.write("l.csv", "a,b,link\n2,5,cannot\n3,4,must\n3,2,must\n")
    result = desk.run("cluster", "t.csv", "l.csv", "-k", 2, "--missing", "drop", "--method", "seeded")
    assert result.exit_code == 0, result.output
    assert "2 and 5 cannot be together" in result.stdout or "2 and 3 must be together" in result.stdout


def test_switches_change_the_features(shop):
    scaled = shop.run("cluster", "shop.csv", "-k", 3, "--id", "who", "--ignore", "kind", "--report", "r.html")
    assert "plan = b" in scaled.stdout
    bare = shop.run("cluster", "shop.csv", "-k", 3, "--id", "who", "--ignore", "kind", "--no-one-hot", "--no-scale")
    assert "plan = b" not in bare.stdout
    assert "Column 'plan' holds text and was left out." in bare.stdout


def test_numbers_can_be_categories(desk):
    desk.write("t.csv", "x,zip\n" + "1,10115\n1,80331\n" * 5)
    result = desk.run("cluster", "t.csv", "-k", 2, "--categorical", "zip")
    assert result.exit_code == 0, result.output
    assert "zip = 10115 100% (50% overall)" in result.stdout


def test_duplicate_rows_and_links_given_twice_are_fine(desk):
    desk.write("t.csv", "x,y\n" + "1,2\n" * 4 + "8,9\n" * 4)
    desk.write("l.csv", "a,b,link\n0,1,must\n1,0,must\n0,1,must\n")
    result = desk.run("cluster", "t.csv", "l.csv", "-k", 2)
    assert result.exit_code == 0, result.output
    assert "The link is kept." in result.stdout


def test_fewer_distinct_rows_than_clusters(desk):
    desk.write("t.csv", "x,y\n" + "1,2\n" * 4 + "8,9\n" * 4)
    result = desk.run("cluster", "t.csv", "-k", 5)
    assert result.exit_code == 0, result.output
    assert "Traceback" not in result.output
    assert result.stderr == ""


def test_names_with_markup_are_shown_as_they_are(desk):
    desk.write("t.csv", 'who,[bold]x\n[red]a,1\n[/red]b,2\n"c\x1b[2Jd",30\nd,31\n')
    result = desk.run("cluster", "t.csv", "-k", 2, "--id", "who")
    assert result.exit_code == 0, result.output
    assert "[bold]x low" in result.stdout
    assert "\x1b[2J" not in result.stdout


def test_everything_fits_80_columns(shop):
    shop.write("torn.csv", "a,b,link\nc00,c03,must\nc03,c06,must\nc00,c06,cannot\n")
    options = ["cluster", "shop.csv", "torn.csv", "-k", 3, "--id", "who", "--label-column", "kind"]
    result = shop.run(*options, width=80)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    # Broken between words only.
    assert set(result.stdout.split()) == set(shop.run(*options, width=300).stdout.split())


@pytest.mark.parametrize("base", ["kmeans", "average", "mixture", "spectral"])
def test_any_clusterer_can_be_boosted(shop, base):
    result = shop.run("cluster", "shop.csv", "links.csv", "-k", 3, "--id", "who", "--ignore", "kind", "--base", base)
    assert result.exit_code == 0, result.output
    assert "3 clusters" in result.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--base", "magic"], "There is no clusterer 'magic' to boost; use one of auto, kmeans"),
        (["--method", "pck", "--base", "kmeans"], "The method pck boosts no other clusterer"),
    ],
)
def test_unsupported_estimators_to_boost(shop, words, message):
    assert message in shop.fails("cluster", "shop.csv", "links.csv", "-k", 3, "--id", "who", "--ignore", "kind", *words)


def test_the_whole_table_with_its_clusters(shop):
    shop.write("german.csv", shop.read("shop.csv").replace(",", ";").replace(".", ",").replace("\n", "\r\n"))
    options = ["-k", 3, "--ignore", "kind", "--method", "pck", "--id", "who"]
    shop.run("cluster", "german.csv", "links.csv", *options, "-o", "plain.csv")
    result = shop.run("cluster", "german.csv", "links.csv", *options, "--keep-columns")
    assert result.exit_code == 0, result.output
    assert "Clusters written to german.clusters.csv" in result.stdout
    clusters = [line.split(";")[1] for line in (shop.folder / "plain.csv").read_bytes().decode().split("\r\n")[:-1]]
    lines = (shop.folder / "german.csv").read_bytes().decode().split("\r\n")[:-1]
    expected = "".join(f"{line};{cluster}\r\n" for line, cluster in zip(lines, clusters, strict=True))
    assert (shop.folder / "german.clusters.csv").read_bytes().decode() == expected


def test_rows_that_are_left_out_have_no_cluster(shop):
    shop.write("gaps.csv", shop.read("shop.csv").replace("c05,", "c05,,", 1).replace(",a,both", ",both", 1))
    lines = shop.read("shop.csv").splitlines()
    lines[6] = "c05,,1.0,a,both"
    shop.write("gaps.csv", "\n".join(lines) + "\n")
    result = shop.run(
        "cluster", "gaps.csv", "-k", 3, "--ignore", "who", "--ignore", "kind", "--missing", "drop", "--keep-columns"
    )
    assert result.exit_code == 0, result.output
    written = shop.read("gaps.clusters.csv").splitlines()
    assert written[6] == "c05,,1.0,a,both,"
    assert all(line[-1] in "012" for line in (*written[1:6], *written[7:]))


def test_excel_in_and_out(shop):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for line in shop.read("shop.csv").splitlines():
        who, visits, *others = line.split(",")
        book.active.append([who, visits if who == "who" else float(visits), *others])
    book.save(shop.folder / "shop.xlsx")
    result = shop.run("cluster", "shop.xlsx", "links.csv", "-k", 3, "--id", "who", "--ignore", "kind", "--keep-columns")
    assert result.exit_code == 0, result.output
    assert "Clusters written to shop.clusters.xlsx" in result.stdout
    rows = list(openpyxl.load_workbook(shop.folder / "shop.clusters.xlsx").active.iter_rows(values_only=True))
    assert rows[0] == ("who", "visits", "basket", "plan", "kind", "cluster")
    assert isinstance(rows[1][1], float)
    assert same_partition([row[-1] for row in rows[1:]], TRUTH)


def test_arrays_cannot_hold_the_columns(shop):
    sentence = shop.fails("cluster", "shop.csv", "-k", 3, "--ignore", "who", "--keep-columns", "-o", "out.npy")
    assert "out.npy: a table with its clusters is written as .csv, .tsv, .xlsx or .parquet" in sentence


def test_columns_that_count_most_are_printed(shop, monkeypatch):
    weights = property(lambda model: np.eye(model.n_features_in_)[-1])
    monkeypatch.setattr(PCKMeans, "column_weights_", weights, raising=False)
    options = ["-k", 3, "--id", "who", "--ignore", "kind", "--method", "pck", "--report", "report.html"]
    result = shop.run("cluster", "shop.csv", "links.csv", *options)
    said = re.search(r"Columns that count most: (.*); (\d+) of (\d+) counts? nothing\.", result.stdout)
    assert said is not None, result.stdout
    assert int(said[2]) == int(said[3]) - 1
    page = (shop.folder / "report.html").read_text(encoding="utf-8")
    assert f'<th scope="row">{said[1]}</th>' in page[page.index("What your links say matters") :]
