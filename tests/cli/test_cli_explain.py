"""``mustlink explain``."""

from __future__ import annotations

import pytest


def test_clusters_of_any_tool_are_explained(shop):
    lines = [f"c{row:02d};{['red', 'green', 'blue'][row % 3]}" for row in range(30)]
    shop.write("segments.csv", "who;segment\n" + "\n".join(lines) + "\n")
    result = shop.run(
        "explain", "segments.csv", "shop.csv", "--ignore", "kind", "--links", "links.csv", "--report", "r.html"
    )
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("30 rows in 3 clusters. All 4 links kept.\n")
    assert [line.split()[:2] for line in result.stdout.splitlines() if line.lstrip().startswith(("blue", "red"))] == [
        ["blue", "10"],
        ["red", "10"],
    ]
    assert "basket high (+1.4 sd)" in result.stdout
    assert result.stdout.endswith("Report written to r.html\n")
    assert "<dd>mustlink explain segments.csv shop.csv" in shop.read("r.html")


def test_a_column_of_the_table(shop):
    result = shop.run("explain", "shop.csv", "--cluster-column", "kind", "--id", "who")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("30 rows in 3 clusters; 21 rows are in no cluster.\n")
    assert " both     3  10.0%" in result.stdout


def test_what_cannot_be_matched_is_said_with_the_options(shop):
    assert "name the column of the clusters with --cluster-column." in shop.fails("explain", "shop.csv")
    shop.write("short.csv", "cluster\n1\n")
    sentence = shop.fails("explain", "short.csv", "shop.csv", "--id", "who", "--ignore", "kind")
    assert sentence == (
        "Error: short.csv has 1 row and shop.csv has 30 rows; name a column of ids that both files have with --id.\n"
    )


@pytest.mark.parametrize(
    ("options", "encoding"),
    [
        (["--delimiter", "#"], "utf-8"),
        (["--delimiter", "#", "--encoding", "utf-16-le"], "utf-16-le"),
        (["--delimiter", "#", "--encoding", "cp437"], "cp437"),
    ],
)
def test_clusters_written_as_the_table_are_read_with_its_options(desk, options, encoding):
    rows = [f"kö{row:02}#{row % 3 * 100 + row}" for row in range(30)]
    desk.write("t.csv", "\n".join(["kunde#umsatz", *rows]).encode(encoding))
    result = desk.run("cluster", "t.csv", "-k", 3, "--method", "pck", "--id", "kunde", *options)
    assert result.exit_code == 0, result.output
    assert "kunde#cluster\n" in (desk.folder / "t.clusters.csv").read_bytes().decode(encoding)
    result = desk.run("explain", "t.clusters.csv", "t.csv", *options)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("30 rows in 3 clusters.\n")


def test_clusters_of_another_tool_are_read_as_they_are_found(shop):
    lines = [f"c{row:02d},{row % 3}" for row in range(30)]
    shop.write("clusters.csv", "who,cluster\n" + "\n".join(lines) + "\n")
    shop.write("wide.csv", shop.read("shop.csv").replace(",", "#").encode("utf-16-le"))
    words = ["explain", "clusters.csv", "wide.csv", "--ignore", "kind", "--delimiter", "#", "--encoding", "utf-16-le"]
    result = shop.run(*words)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("30 rows in 3 clusters.\n")


def test_links_with_unknown_ids_are_skipped(shop):
    shop.write("more.csv", shop.read("links.csv") + "c00,nobody,must\n")
    words = ["explain", "shop.csv", "--cluster-column", "kind", "--id", "who", "--links", "more.csv"]
    assert "; use --unknown-ids skip to leave out such links." in shop.fails(*words)
    result = shop.run(*words, "--unknown-ids", "skip")
    assert result.exit_code == 0, result.output
    assert "nobody" in result.stdout
