"""A job from files to files, without the command."""

from __future__ import annotations

import inspect
from dataclasses import fields, replace
from typing import get_args, get_type_hints

import numpy as np
import pytest

from mustlink import Constraints, PCKMeans, catalogue
from mustlink.cli._ask import ask
from mustlink.cli._check import check
from mustlink.cli._cluster import cluster
from mustlink.errors import ConstraintError, FileFormatError, InfeasibleError, OptionError
from mustlink.metrics import adjusted_rand
from mustlink.report import write_report
from mustlink.selection import choose
from mustlink.workflow import STRATEGIES, Job, TableOptions, load_table, read_link_file, run_job
from mustlink.workflow._naming import with_row_names


def job_of(folder, **options):
    given = {"n_clusters": 3, "method": "pck", "id_column": "who", "ignore": ["kind", "note"]} | options
    return Job(folder / "shop.csv", folder / "links.csv", **given)


def test_nothing_is_written_unless_asked_for(shop):
    before = sorted(path.name for path in shop.iterdir())
    result = run_job(job_of(shop))
    assert sorted(path.name for path in shop.iterdir()) == before
    assert result.summary.n_broken == 0
    assert result.entry.class_name == "PCKMeans"
    assert result.choice is None
    direct = PCKMeans(3, n_init=10, random_state=0).fit(result.table.X, constraints=result.links)
    np.testing.assert_array_equal(result.labels, direct.labels_)


def test_the_report_from_python_is_the_report_of_a_job(shop):
    result = run_job(job_of(shop, method="boost", report=shop / "job.html"), command="mustlink cluster ...")
    write_report(
        shop / "own.html",
        result.table.X,
        result.labels,
        result.links,
        features=result.table.features,
        row_names=result.table.row_names,
        estimator=result.estimator,
        title="shop.csv in 3 clusters",
        run={"Command": "mustlink cluster ..."},
    )
    page = (shop / "own.html").read_text()
    assert page == (shop / "job.html").read_text()
    assert "<h2>Rounds</h2>" in page
    assert f"<dt>Method</dt><dd>{type(result.estimator).__name__}(" in page


def test_a_choice_is_reported(shop):
    result = run_job(job_of(shop))
    links = Constraints.sample(np.arange(30) % 3, n_pairs=30, random_state=0)
    choice = choose(result.table.X, links, methods=["pck"], n_clusters=3, cv=2, random_state=0)
    write_report(shop / "own.html", result.table.X, choice.estimator.labels_, links, choice=choice)
    page = (shop / "own.html").read_text()
    assert "<dt>Chosen</dt>" in page
    assert "<dt>Method</dt><dd>PCKMeans(" in page


def test_errors_name_remedies_in_the_words_of_python(shop):
    (shop / "links.csv").write_text("a,b,link\nc00,c03,must\nc03,c06,must\nc00,c06,cannot\n")
    with pytest.raises(InfeasibleError, match=r"c00 - c03 - c06; remove a link.*pass relax=True, or use") as caught:
        run_job(job_of(shop, method="cop"))
    assert caught.value.remedy == ("drop_link", "relax", "soft_method")
    (shop / "links.csv").write_text("a,b,link\nc00,c01,cannot\nc01,c02,cannot\nc00,c02,cannot\n")
    with pytest.raises(InfeasibleError, match=r"use n_clusters=3 or more, pass relax=True, or use a method"):
        run_job(job_of(shop, method="cop", n_clusters=2))
    with pytest.raises(
        FileFormatError, match=r"'c00' is not a row number.*; name the column of the ids with id_column"
    ):
        run_job(job_of(shop, id_column=None, ignore=["who", "kind", "note"]))
    with pytest.raises(FileFormatError, match=r"'who' has 30 .*; pass id_column='who' if it names the rows, leave"):
        run_job(job_of(shop, id_column=None))
    with pytest.raises(
        FileFormatError, match=r"the text column 'note' has 30 .* categories; leave it out with ignore="
    ):
        run_job(job_of(shop, ignore=["kind"]))
    with pytest.raises(OptionError, match="needs the number of clusters; pass n_clusters, or"):
        run_job(job_of(shop, n_clusters=None))


@pytest.mark.parametrize(("a", "b"), [("c00", "c03"), ("c03", "c06"), ("c00", "c06")])
def test_links_against_labels_are_noted_by_id_in_any_order(shop, a, b):
    (shop / "links.csv").write_text(f"a,b,link\n{a},{b},cannot\n")
    job = job_of(shop, ignore=["note"], label_column="kind")
    notices = run_job(job).summary.notices
    assert any(f"contradict the links in 1 place, for example: {a} and {b} have a cannot" in note for note in notices)
    with pytest.raises(InfeasibleError, match=rf"{a} and {b} have a cannot-link.*; remove a link .*, pass relax=True"):
        run_job(replace(job, method="cop"))


@pytest.mark.parametrize(("weight", "kept", "noted"), [(1, 1, True), (2, 2, False)])
def test_pairs_dropped_by_a_tie_are_noted(shop, weight, kept, noted):
    (shop / "links.csv").write_text(f"a,b,link,weight\nc00,c03,must,1\nc03,c00,cannot,{weight}\nc01,c04,must,\n")
    result = run_job(job_of(shop, contradictions="majority"))
    assert len(result.links) == kept
    assert any("1 pair is linked both ways with equal weight" in note for note in result.summary.notices) == noted


def test_pairs_linked_both_ways_may_be_kept(shop):
    (shop / "links.csv").write_text("a,b,link\nc00,c03,must\nc03,c00,cannot\n")
    result = run_job(job_of(shop, contradictions="keep"))
    assert (result.summary.n_links, result.summary.n_broken, result.summary.n_conflicts) == (2, 1, 1)
    with pytest.raises(InfeasibleError, match="c00 and c03 have a cannot-link"):
        run_job(job_of(shop, contradictions="keep", method="cop"))


@pytest.mark.parametrize(("command", "kind"), [(cluster, Job), (ask, TableOptions)])
def test_a_command_has_an_option_for_every_field(command, kind):
    options = inspect.signature(command).parameters
    assert {field.name for field in fields(kind)} <= set(options)
    for field in fields(kind):
        default = options[field.name].default
        assert default in (None, inspect.Parameter.empty, field.default)


def test_check_takes_the_options_of_a_table():
    # Labels are no links of a file, and not checked.
    missing = {field.name for field in fields(TableOptions)} - set(inspect.signature(check).parameters)
    assert missing == {"label_column"}


def test_names_that_the_command_lists_are_those_of_the_workflow():
    strategy = get_type_hints(ask)["strategy"]
    assert set(get_args(strategy)) == set(STRATEGIES)


def test_labels_and_names_follow_the_kept_rows(tmp_path):
    (tmp_path / "t.csv").write_text("who,x,kind\na,1,u\nb,,v\nc,3,\nd,9,v\n")
    table = load_table(TableOptions(tmp_path / "t.csv", id_column="who", label_column="kind", missing="drop"))
    assert table.row_names == ["a", "c", "d"]
    assert table.kept_labels == ["u", "", "v"]
    assert table.partial_labels.tolist() == [0, -1, 1]


@pytest.mark.parametrize("method", ["cop", "linkage", "seeded", "seeded-link"])
def test_the_order_of_labeled_rows_does_not_matter(shop, method):
    header, *lines = (shop / "shop.csv").read_text().splitlines()
    job = job_of(shop, method=method, label_column="kind", ignore=["note"])
    expected = run_job(job)
    clusters = dict(zip(expected.table.row_names, expected.labels.tolist(), strict=True))
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(30)
        (shop / "shop.csv").write_text("\n".join([header, *(lines[row] for row in order)]) + "\n")
        moved = run_job(job)
        assert adjusted_rand([clusters[name] for name in moved.table.row_names], moved.labels) == 1.0
        (shop / "torn.csv").write_text("a,b,link\nc00,c06,cannot\n")
        with pytest.raises(InfeasibleError, match=r"c0[06] and c0[06] have a cannot-link, but must-links connect them"):
            run_job(replace(job, method="cop", links=shop / "torn.csv"))


def test_labels_for_all_kept_rows_are_no_partial_labels(tmp_path):
    (tmp_path / "t.csv").write_text("x,kind\n1,u\n2,v\n,\n9,v\n")
    options = TableOptions(tmp_path / "t.csv", label_column="kind", missing="drop")
    table = load_table(options)
    assert table.is_labeled
    assert table.partial_labels is None
    assert any(notice.startswith("Every row has a label in the column 'kind'") for notice in table.notices)
    table = load_table(replace(options, missing="mean"))
    assert not table.is_labeled
    assert table.partial_labels.tolist() == [0, 1, -1, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": "3"}, "n_clusters must be a whole number, or None; got '3'."),
        ({"n_clusters": True}, "n_clusters must be a whole number, or None; got True."),
        ({"n_init": 2.5}, "n_init must be a whole number, or None; got 2.5."),
        ({"random_state": "0"}, "random_state must be a whole number, or None; got '0'."),
        ({"method": PCKMeans(3)}, "method must be the name of a clusterer, as mustlink methods lists them; got PCK"),
        ({"estimator": PCKMeans(3)}, "estimator must be the name of a clusterer"),
        ({"relax": "yes"}, "relax must be True or False; got 'yes'."),
        ({"ignore": "note"}, "ignore must be a list of column names; got 'note'."),
        ({"missing": "median"}, "missing must be 'error', 'drop' or 'mean'; got 'median'."),
        ({"contradictions": "drop"}, "contradictions must be 'raise', 'majority' or 'keep'; got 'drop'."),
        ({"header": "no"}, "header must be True or False, or None; got 'no'."),
        ({"report": "r.pdf"}, "r.pdf: the report is HTML, and its name must end in .html or .htm."),
        ({"output": 3}, "output must be the name of a file, or None; got 3."),
        ({"method": "magic"}, "There is no method 'magic'; the methods are boost, bckm"),
    ],
)
def test_options_of_another_kind_are_refused(shop, options, message):
    with pytest.raises(OptionError) as raised:
        run_job(job_of(shop, **options))
    assert str(raised.value).startswith(message)


def test_a_job_without_a_seed(shop):
    assert run_job(job_of(shop, random_state=None)).labels.shape == (30,)
    auto = job_of(shop, random_state=None, method="auto", label_column="kind", ignore=["note"])
    assert run_job(auto).labels.shape == (30,)


def test_a_table_is_loaded_by_options():
    with pytest.raises(TypeError, match=r"by TableOptions or a Job, such as TableOptions\('t.csv'\)"):
        load_table("t.csv")


def test_rows_are_named_where_an_error_gives_their_numbers():
    names = ["ann", "bob"]
    plain = with_row_names(InfeasibleError("No start kept all links of 2 rows"), names)
    assert str(plain) == "No start kept all links of 2 rows"
    numbered = with_row_names(InfeasibleError("No place is left for row 1."), names)
    assert str(numbered) == "No place is left for row bob."
    listed = InfeasibleError(
        "The pairs (0, 1), (1, 0) and 3 more; must-links connect them: 0 - 1 - 2, of rows 1 and 0."
    )
    words = "The pairs (ann, bob), (bob, ann) and 3 more; must-links connect them: ann - bob - 2, of rows bob and ann."
    assert str(with_row_names(listed, names)) == words
    # Other numbers are no rows.
    other = InfeasibleError("Must-links join 2 rows of the source 0 - 1; got an array of shape (1, 0).")
    assert str(with_row_names(other, names)) == other.problem


def test_a_row_outside_of_the_table_is_named_with_its_line(shop):
    (shop / "rows.csv").write_text("a,b,link\n0,3,must\n1,30,cannot\n")
    table = load_table(TableOptions(shop / "shop.csv", ignore=["who", "kind", "note"]))
    with pytest.raises(
        ConstraintError, match=r"rows.csv, line 3: a cannot-link names the rows 1 and 30, but the table"
    ):
        table.read_links(shop / "rows.csv")


@pytest.mark.parametrize(
    ("content", "note"),
    [
        ("a,b,link\n", "{path} has no links."),
        ("a,b,link\n0,1,1\n0,1,-1\n0,2,1\n", "1 pair is linked both ways with equal weight in {path}; neither"),
        ("a,b,link\n0,1,1\n1,0,-1\n0,2,1\n2,0,-1\n", "2 pairs are linked both ways with equal weight in {path}"),
        ("a,b,link\n0,1,1\n0,1,1\n1,0,-1\n0,2,1\n", None),
    ],
)
def test_what_is_left_out_of_a_file_of_links_is_noted(shop, content, note):
    path = shop / "rows.csv"
    path.write_text(content)
    _, notices = read_link_file(path, "majority")
    assert [notice.startswith(str(note).format(path=path)) for notice in notices] == ([] if note is None else [True])


def test_links_both_ways_name_the_ids(shop):
    (shop / "links.csv").write_text("a,b,link\nc01,c02,must\nc02,c01,cannot\nc03,c04,must\nc04,c03,cannot\n")
    with pytest.raises(ConstraintError) as raised:
        run_job(job_of(shop))
    assert str(raised.value).startswith(
        f"{shop / 'links.csv'}, line 2 and line 3: c01 and c02 are given both as must-link and as cannot-link, as is 1 "
        "other pair; remove one of the two"
    )


def test_clusters_are_numbered_without_gaps(shop, monkeypatch):
    def fit(self, X, y=None, *, constraints=None):
        self.labels_ = np.where(np.arange(30) % 3 == 0, -1, 1 + 3 * (np.arange(30) % 2))
        return self

    monkeypatch.setattr(PCKMeans, "fit", fit)
    result = run_job(job_of(shop, output=shop / "out.csv", report=shop / "out.html"))
    assert set(result.estimator.labels_.tolist()) == {-1, 1, 4}
    assert set(result.labels.tolist()) == {-1, 0, 1}
    assert [cluster.label for cluster in result.summary.clusters] == [0, 1]
    written = [line.split(",")[1] for line in (shop / "out.csv").read_text().splitlines()[1:]]
    assert written == ["" if label < 0 else str(label) for label in result.labels]
    assert "shop.csv in 2 clusters" in (shop / "out.html").read_text()


def test_auto_without_links_names_the_file(shop):
    (shop / "links.csv").write_text("a,b,link\n")
    with pytest.raises(OptionError, match=r"links.csv has none; pass links, or a column of labels as label_column"):
        run_job(job_of(shop, method="auto"))


@pytest.fixture
def linkless(monkeypatch):
    """A method that takes no links."""
    entry = catalogue.Entry("KMeans", "sklearn.cluster", "none", "You have no links.", aliases=("plain",))
    monkeypatch.setattr(catalogue, "CATALOGUE", (*catalogue.CATALOGUE, entry))
    return entry


def test_a_method_that_takes_no_links_runs_without_them(shop, linkless):
    result = run_job(replace(job_of(shop, method="plain"), links=None))
    assert result.entry is linkless
    assert result.links.is_empty
    assert len(np.unique(result.labels)) == 3


def test_a_method_that_takes_no_links_refuses_them(shop, linkless):
    message = r"The method plain takes no links, and .*links.csv was given; leave out links, or use a method that takes"
    with pytest.raises(OptionError, match=message):
        run_job(job_of(shop, method="plain"))
    alone = replace(job_of(shop, method="plain"), links=None)
    with pytest.raises(OptionError, match="The method plain takes no links that it could break; leave out relax"):
        run_job(replace(alone, relax=True))
    with pytest.raises(OptionError, match=r"The method plain needs the number of clusters; pass n_clusters\.$"):
        run_job(replace(alone, n_clusters=None))
    message = "takes no links, and so no labels of some rows, as in the column 'kind'; leave out label_column, or use a"
    with pytest.raises(OptionError, match=message):
        run_job(replace(alone, label_column="kind", ignore=["note"]))


def test_a_method_that_takes_no_links_is_not_chosen_by_links(shop, linkless):
    table = load_table(job_of(shop))
    links = Constraints.sample(np.arange(30) % 3, n_pairs=60, random_state=0)
    with pytest.raises(
        ValueError, match=r"trials failed.*KMeans takes no constraints; a clusterer or metric that does is needed"
    ):
        choose(table.X, links, methods=["plain"], n_clusters=3)
