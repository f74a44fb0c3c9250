"""Co-clusters and new splits from Python."""

from __future__ import annotations

import numpy as np
import pytest

from mustlink.errors import FileFormatError, OptionError, TooLargeError
from mustlink.workflow import AnotherJob, CoclusterJob, run_another, run_cocluster


@pytest.fixture
def ones(tmp_path):
    path = tmp_path / "ones.csv"
    path.write_text("a,b,c,d\n1,1,0,0\n1,1,0,0\n0,0,1,1\n0,0,1,1\n")
    return path


def test_co_clusters_are_those_of_the_estimator(ones):
    result = run_cocluster(CoclusterJob(ones, n_clusters=2))
    np.testing.assert_array_equal(result.row_labels, result.estimator.row_labels_)
    np.testing.assert_array_equal(result.column_labels, result.estimator.column_labels_)
    assert result.summary.tau == 1.0


def test_intervals_of_a_circular_order_have_no_jump(tmp_path):
    path = tmp_path / "hours.csv"
    path.write_text("a,b\n1,0\n0,1\n0,1\n1,0\n")
    result = run_cocluster(CoclusterJob(path, n_clusters=2, circular="rows", contiguous="rows"))
    assert result.row_labels[0] == result.row_labels[3]
    assert all(check.holds for check in result.estimator.constraint_report_)
    assert "The groups of rows in their order: each is one interval." in result.summary.notices


def test_nothing_is_written_if_the_report_cannot_be(ones, monkeypatch):
    def fail(*args, **options):
        raise OSError(28, "No space left on device", "r.html")

    monkeypatch.setattr("mustlink.workflow._cocluster.render_coclusters", fail)
    folder = ones.parent
    outputs = {"output": folder / "r.csv", "column_output": folder / "c.csv", "report": folder / "r.html"}
    with pytest.raises(OSError, match="No space left"):
        run_cocluster(CoclusterJob(ones, n_clusters=2, **outputs))
    assert [path.name for path in folder.iterdir()] == ["ones.csv"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "The number of co-clusters is not given; pass n_clusters"),
        ({"n_clusters": 2, "contradictions": "keep"}, "of two contradicting links only one can be"),
        ({"n_clusters": 2, "missing": "mean"}, "it must be error or zero"),
        ({"n_clusters": 2, "contiguous": "all"}, "it must be rows, columns or both"),
        ({"n_clusters": 2, "row_order": "a", "ignore": "a", "row_max_gap": 1}, "cannot order the rows and be used"),
    ],
)
def test_options_of_co_clusters_are_checked(options, sentence):
    with pytest.raises(OptionError, match=sentence):
        CoclusterJob("ones.csv", **options)


def test_errors_are_worded_for_python(ones):
    with pytest.raises(TooLargeError, match="increase min_rows or min_columns, so that there are fewer, or max_bisets"):
        run_cocluster(CoclusterJob(ones, n_clusters=2, max_bisets=1))
    ones.write_text("a,b\n1,0\n0,0\n")
    with pytest.raises(FileFormatError, match="1 row has no 1: line 3; leave out such rows with drop_empty=True"):
        run_cocluster(CoclusterJob(ones, n_clusters=1))
    with pytest.raises(TypeError, match="takes a CoclusterJob"):
        run_cocluster("ones.csv")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_clusters": 2}, "No known split is given; give known"),
        ({"known": "side"}, "The number of clusters is not given; pass n_clusters"),
        ({"known": "side", "n_clusters": 2, "method": "boost"}, "it must be residual, condens or ccib"),
        ({"known": "side", "n_clusters": 2, "label_column": "x"}, "cannot be combined .*; leave out label_column"),
    ],
)
def test_options_of_another_split_are_checked(options, sentence):
    with pytest.raises(OptionError, match=sentence):
        AnotherJob("points.csv", **options)


def test_nothing_of_another_split_is_written_on_failure(tmp_path, monkeypatch):
    path = tmp_path / "points.csv"
    lines = [f"{x},{y},{'left' if x < 5 else 'right'}" for x in (0, 1, 9, 10) for y in (0, 1, 6, 7)]
    path.write_text("\n".join(["x,y,side", *lines]))

    def fail(*args, **options):
        raise OSError(28, "No space left on device", "r.html")

    monkeypatch.setattr("mustlink.workflow._another.render_alternatives", fail)
    job = AnotherJob(path, known="side", n_clusters=2, output=tmp_path / "o.csv", report=tmp_path / "r.html")
    with pytest.raises(OSError, match="No space left"):
        run_another(job)
    assert [one.name for one in tmp_path.iterdir()] == ["points.csv"]
    with pytest.raises(TypeError, match="takes an AnotherJob"):
        run_another(path)


def test_the_measures_are_those_of_the_estimator(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "points.csv"
    kinds = rng.choice(list("abc"), size=60)
    lines = [f"{x},{y},{kind}" for (x, y), kind in zip(rng.normal(size=(60, 2)).tolist(), kinds, strict=True)]
    path.write_text("\n".join(["x,y,kind", *lines]))
    result = run_another(AnotherJob(path, known=["kind"], n_clusters=3, n_init=1))
    (told,) = result.summaries[0].known
    assert told.nmi == pytest.approx(result.estimators[0].nmi_known_[0])
    assert told.vi == pytest.approx(result.estimators[0].vi_known_[0])


def four_splits(tmp_path, names):
    """Write 96 rows with four splits, the first by the largest distance, and some of them as columns; return them."""
    splits = np.array([[row % 2, row // 2 % 2, row // 4 % 2, row // 8 % 2] for row in range(96)])
    rows = np.random.default_rng(0).normal(size=(96, 4)) + splits * [40, 30, 20, 10]
    lines = [",".join(map(str, [*values, *split[: len(names)]])) for values, split in zip(rows, splits, strict=True)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join([",".join(["w", "x", "y", "z", *names]), *lines]))
    return path, splits


def test_known_files_of_one_name_in_two_folders_both_count(tmp_path):
    table, splits = four_splits(tmp_path, ["a", "b", "c.csv"])
    files = []
    for place, folder in enumerate(("first", "second")):
        files.append(tmp_path / folder / "c.csv")
        files[-1].parent.mkdir()
        files[-1].write_text("cluster\n" + "\n".join(map(str, splits[:, place])))
    job = AnotherJob(table, known=files, n_clusters=2, ignore=["a", "b", "c.csv"], scale=False)
    result = run_another(job)
    assert list(result.known) == [str(path) for path in files]
    assert [one.nmi < 0.1 for one in result.summaries[0].known] == [True, True]
    # A column of the table may be called like a file, too.
    job = AnotherJob(table, known=[files[0], "c.csv"], n_clusters=2, ignore=["a", "b"], scale=False)
    assert list(run_another(job).known) == [str(files[0]), "c.csv"]


def test_known_columns_called_like_new_splits_stay(tmp_path):
    names = ["the first", "alternative 1"]
    table, _ = four_splits(tmp_path, names)
    result = run_another(AnotherJob(table, known=names, n_clusters=2, n_next=2, scale=False, n_init=1))
    assert [one.name for one in result.summaries[1].known] == [*names, "alternative 1 (2)"]
    assert max(one.nmi for one in result.summaries[1].known) < 0.1


def test_rows_without_a_class_get_a_name_that_is_free(tmp_path):
    path = tmp_path / "points.csv"
    kinds = ["none", "none kind", "none (2)", ""] * 4
    path.write_text("x,kind\n" + "\n".join(f"{row % 5},{kind}" for row, kind in enumerate(kinds)))
    result = run_another(AnotherJob(path, known="kind", n_clusters=2))
    assert set(result.known["kind"]) == {"none", "none kind", "none (2)", "none (3)"}
