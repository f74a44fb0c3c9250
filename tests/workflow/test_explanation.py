"""Clusters from files of any tool, and what sets them apart."""

from __future__ import annotations

import numpy as np
import pytest

from mustlink.errors import FileFormatError, OptionError
from mustlink.report import summarize
from mustlink.workflow import ExplanationJob, Job, run_explanation, run_job

GROUPS = [row % 3 for row in range(30)]


def explain(folder, content=None, *, name="clusters.csv", **options):
    given = {"ignore": ["note"], "label_column": "kind"} | options
    if content is not None:
        (folder / name).write_text(content)
        given["clusters"] = folder / name
    return run_explanation(ExplanationJob(folder / "shop.csv", **given))


def clusters_file(labels, *, key="who", header=True, order=range(30)):
    lines = [f"c{row:02d},{labels[row]}" if key == "who" else f"{row},{labels[row]}" for row in order]
    return "\n".join([f"{key},cluster", *lines] if header else lines) + "\n"


def test_the_result_of_a_job_is_explained_as_by_the_job(shop):
    job = Job(
        shop / "shop.csv", shop / "links.csv", n_clusters=3, method="pck", id_column="who", ignore=["note", "kind"]
    )
    done = run_job(Job(**(vars(job) | {"output": shop / "out.csv", "report": shop / "job.html"})))
    found = run_explanation(
        ExplanationJob(
            shop / "shop.csv",
            shop / "out.csv",
            ignore=["note", "kind"],
            links=shop / "links.csv",
            report=shop / "explained.html",
        )
    )
    assert found.summary.clusters == done.summary.clusters
    assert (found.summary.n_kept, found.summary.n_links) == (4, 4)
    page = (shop / "explained.html").read_text()
    assert "<dt>Clusters of</dt><dd>out.csv</dd>" in page
    # All but the curve of the method's rounds, which a file of clusters does not tell.
    pages = [page, (shop / "job.html").read_text()]
    assert len({text.split("<h2>Rounds")[0].split("<h2>How it was made")[0] for text in pages}) == 1


@pytest.mark.parametrize("order", [range(30), range(29, -1, -1)])
@pytest.mark.parametrize("key", ["who", "row"])
def test_rows_are_matched_by_id_or_number_in_any_order(shop, key, order):
    found = explain(shop, clusters_file(GROUPS, key=key, order=order), id_column="who")
    np.testing.assert_array_equal(found.labels, GROUPS)
    assert found.summary.notices == found.table.notices


def test_the_id_column_is_found_in_both_files(shop):
    assert explain(shop, clusters_file(GROUPS)).table.ids[:2] == ["c00", "c01"]


@pytest.mark.parametrize("content", ["cluster\n" + "\n".join(map(str, GROUPS)), "\n".join(map(str, GROUPS))])
def test_a_list_of_clusters_is_in_the_order_of_the_table(shop, content):
    found = explain(shop, content, ignore=["note", "who"])
    np.testing.assert_array_equal(found.labels, GROUPS)
    assert found.summary.notices[-1].endswith("are taken to be in the order of " + str(shop / "shop.csv") + ".")
    np.save(shop / "labels.npy", np.array(GROUPS))
    by_array = explain(shop, ignore=["note"], id_column="who", clusters=shop / "labels.npy")
    assert [cluster.size for cluster in by_array.summary.clusters] == [10, 10, 10]


def test_names_of_clusters_are_kept(shop):
    labels = [["b&w", "<i>", "-1"][group] for group in GROUPS]
    (shop / "links.csv").write_text("a,b,link\nc00,c01,must\nc00,c02,must\nc00,c03,cannot\n")
    found = explain(shop, clusters_file(labels), links=shop / "links.csv", report=shop / "r.html", id_column="who")
    assert found.names == ("<i>", "b&w")
    assert [cluster.name for cluster in found.summary.clusters] == ["<i>", "b&w"]
    assert found.summary.n_noise == 10
    assert [str(link) for link in found.summary.broken] == [
        "c00 and c01 must be together, and are in clusters b&w and <i>",
        "c00 and c02 must be together, and are in cluster b&w and in no cluster",
        "c00 and c03 cannot be together, and are both in cluster b&w",
    ]
    page = (shop / "r.html").read_text()
    assert "cluster b&amp;w" in page
    assert "<i>" not in page
    # In the picture, the tables of clusters and of broken links, and the legend.
    assert page.count("&lt;i&gt;") > 3


def test_numbers_with_gaps_stay_and_empty_cells_are_no_cluster(shop):
    labels = [["3", "7", ""][group] for group in GROUPS]
    found = explain(shop, clusters_file(labels), id_column="who")
    assert [cluster.label for cluster in found.summary.clusters] == [3, 7]
    assert [cluster.name for cluster in found.summary.clusters] == ["3", "7"]
    assert found.summary.n_noise == 10


def test_clusters_as_numbers_with_a_decimal_point_are_whole(shop):
    cells = ["-1.0", "", "nan", *(f"{group}.0" for group in GROUPS[3:])]
    result = explain(shop, clusters_file(cells))
    assert result.labels.tolist() == [-1, -1, -1, *GROUPS[3:]]
    assert result.names is None


def test_a_column_of_the_table_itself(shop):
    found = explain(shop, cluster_column="kind", label_column=None, id_column="who")
    assert [cluster.name for cluster in found.summary.clusters] == ["both", "home", "work"]
    assert found.summary.n_noise == 21
    assert "kind" not in {feature.column for feature in found.table.features}
    direct = summarize(found.table.X, found.labels, features=found.table.features, row_names=found.table.row_names)
    assert [cluster.traits for cluster in found.summary.clusters] == [cluster.traits for cluster in direct.clusters]


def test_ids_in_one_of_the_files_are_counted(shop):
    content = clusters_file(GROUPS, order=range(2, 30)) + "x1,0\nx2,1\nx3,1\nx4,2\n"
    found = explain(shop, content, id_column="who")
    assert "4 rows are in" in found.summary.notices[-2]
    assert found.summary.notices[-2].endswith("not in the table: x1, x2, x3 and more.")
    assert found.summary.notices[-1].endswith("and in no cluster: c00, c01.")
    assert found.summary.n_noise == 2


@pytest.mark.parametrize(
    ("content", "options", "kind", "words"),
    [
        (
            "cluster\n0\n1\n",
            {"ignore": ["note", "who"]},
            FileFormatError,
            "has 2 rows and .* has 30 rows; name a",
        ),
        (
            "who,cluster\nx,0\ny,1\n",
            {},
            FileFormatError,
            "no value of the column 'who' is an id of the table",
        ),
        (
            "who,cluster\nc00,0\nc00,1\n",
            {"id_column": "who"},
            FileFormatError,
            "'c00' occurs in line 2 and again",
        ),
        (
            "who,a,b\nc00,0,1\n",
            {"id_column": "who"},
            OptionError,
            "has 3 columns and none called cluster; name",
        ),
        ("who,a,b\nc00,0,1\n", {"cluster_column": "c"}, FileFormatError, "has no column 'c'"),
        (clusters_file([""] * 30), {"id_column": "who"}, FileFormatError, "No row of .* is in a cluster"),
        (None, {}, OptionError, "Which column of .*shop.csv holds the clusters is not known; name the column"),
        (None, {"cluster_column": "kind"}, OptionError, "'kind' cannot hold the clusters and be used otherwise"),
        (
            None,
            {"cluster_column": "kin", "label_column": None},
            FileFormatError,
            "'kin' may be 'kind'",
        ),
    ],
)
def test_what_cannot_be_matched_is_said(shop, content, options, kind, words):
    with pytest.raises(kind, match=words):
        explain(shop, content, **options)


def test_a_report_does_not_overwrite_an_input(shop):
    with pytest.raises(OptionError, match="is an input and would be overwritten"):
        explain(shop, clusters_file(GROUPS), report=shop / "clusters.csv")


def test_a_whole_table_beside_its_own_copy_is_not_explained_by_its_clusters(shop):
    job = Job(shop / "shop.csv", n_clusters=3, method="pck", id_column="who", ignore=["note", "kind"])
    run_job(Job(**(vars(job) | {"output": shop / "kept.csv", "keep_columns": True})))
    given = {"id_column": "who", "ignore": ["note", "kind"]}
    once = run_explanation(ExplanationJob(shop / "shop.csv", shop / "kept.csv", **given))
    twice = run_explanation(ExplanationJob(shop / "kept.csv", shop / "kept.csv", **given))
    assert twice.summary.clusters == once.summary.clusters
    assert "Column 'cluster' of" in twice.summary.notices[-1]


def test_a_first_column_with_repetitions_holds_no_ids(shop):
    lines = ["plan,cluster", *(f"{'ab'[row % 2]},{group}" for row, group in enumerate(GROUPS))]
    found = explain(shop, "\n".join(lines), ignore=["note", "who"])
    np.testing.assert_array_equal(found.labels, GROUPS)
    assert "are taken to be in the order of" in found.summary.notices[-1]


@pytest.mark.parametrize("names", ["who,Klasse", "index,who,Klasse"])
def test_a_column_that_both_files_have_names_the_rows(shop, names):
    index = [f"x{row}," if names.startswith("index") else "" for row in range(30)]
    lines = [names, *(f"{index[row]}c{row:02d},{GROUPS[row]}" for row in reversed(range(30)))]
    found = explain(shop, "\n".join(lines), **({"cluster_column": "Klasse"} if "index" in names else {}))
    np.testing.assert_array_equal(found.labels, GROUPS)


def numbered(folder, *, ids, order):
    rows = [f"{100 + row},{row % 3},{row % 7}" for row in range(30)]
    (folder / "shop.csv").write_text("\n".join(["nr,size,age", *rows]) + "\n")
    return "\n".join(["kunde,cluster", *(f"{ids(row)},{GROUPS[row]}" for row in order)]) + "\n"


@pytest.mark.parametrize("ignore", [[], ["nr"]])
def test_ids_under_another_name_are_not_matched_by_order(shop, ignore):
    content = numbered(shop, ids=lambda row: f"{100 + row}.0", order=reversed(range(30)))
    given = {"ignore": ignore, "label_column": None}
    with pytest.raises(FileFormatError, match=r"'kunde' holds the values of the column 'nr' .* id_column='nr' if"):
        explain(shop, content, **given)
    np.testing.assert_array_equal(explain(shop, content, label_column=None, ignore=[], id_column="nr").labels, GROUPS)
    in_order = explain(shop, numbered(shop, ids=lambda row: 100 + row, order=range(30)), **given)
    np.testing.assert_array_equal(in_order.labels, GROUPS)
    # Row numbers are in the order of the rows, whatever the table has.
    assert explain(shop, numbered(shop, ids=lambda row: row + 1, order=range(30)), **given).labels.tolist() == GROUPS
