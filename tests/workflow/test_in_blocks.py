"""Jobs on tables that are read in blocks: the same results as in memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mustlink.blocks import BlockedRows, _files, _parquet
from mustlink.catalogue import blocked_methods, find_clusterer
from mustlink.errors import ConstraintError, FileFormatError, InfeasibleError, OptionError
from mustlink.tables import read_table
from mustlink.workflow import Job, _in_blocks, load_model, reads_in_blocks, run_job

pytest.importorskip("pyarrow")

N = 120


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(_parquet, "MAX_BATCH_ROWS", 13)
    monkeypatch.setattr(_files, "BLOCK_BYTES", 700)


@pytest.fixture
def frame():
    rng = np.random.default_rng(3)
    group = rng.integers(3, size=N)
    X = rng.normal(size=(N, 3)) + 4 * np.eye(3)[group]
    return pd.DataFrame(
        {
            "who": [f"u{row:03d}" for row in range(N)],
            "x": X[:, 0] * 100,
            "y": X[:, 1].astype(np.float32),
            "z": X[:, 2] - 5000,
            "plan": np.array(["basic", "pro", "none"])[np.where(rng.random(N) < 0.7, group, 0)],
            "is_new": rng.random(N) < 0.5,
            "kind": [f"g{group[row]}" if row % 7 == 0 else None for row in range(N)],
        }
    )


@pytest.fixture
def files(tmp_path, frame):
    frame.to_parquet(tmp_path / "people.parquet", row_group_size=17)
    lines = [f"u{a:03d},u{b:03d},{kind}" for a, b, kind in [(0, 40, "must"), (3, 90, "cannot"), (7, 80, "must")]]
    (tmp_path / "links.csv").write_text("\n".join(["a,b,link", *lines, "u005,u006,cannot"]) + "\n")
    return tmp_path


def jobs(files, **options):
    """The same job in memory and in blocks."""
    known = {"n_clusters": 3, "id_column": "who", "method": "pck", "ignore": ["kind"], **options}
    table, links = known.pop("table", files / "people.parquet"), known.pop("links", files / "links.csv")
    one = Job(table, links, output=files / "memory.csv", in_blocks=False, **known)
    return one, replace(one, output=files / "blocks.csv", in_blocks=True)


def assert_same(one, other):
    np.testing.assert_array_equal(other.labels, one.labels)
    assert isinstance(other.table.X, BlockedRows)
    for path in (one.job, other.job):
        assert path.output.exists()
    assert other.job.output.read_bytes() == one.job.output.read_bytes()
    assert_same_summary(one.summary, other.summary)


def assert_same_summary(one, other):
    plain = {"clusters": (), "known_kept": 0.0, "objective": (), "notices": ()}
    assert replace(other, **plain) == replace(one, **plain)
    assert other.known_kept == pytest.approx(one.known_kept, nan_ok=True)
    assert other.objective[-1:] == pytest.approx(one.objective[-1:])
    assert sorted(other.notices) == sorted(one.notices)
    for mine, its in zip(other.clusters, one.clusters, strict=True):
        assert replace(mine, traits=()) == replace(its, traits=())
        assert [str(trait) for trait in mine.traits] == [str(trait) for trait in its.traits]
        means = [[(trait.inside, trait.overall) for trait in cluster.traits] for cluster in (mine, its)]
        np.testing.assert_allclose(means[0], means[1], rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"scale": False, "ignore": ["kind", "z", "x"]},
        {"one_hot": False},
        {"links": None},
        {"id_column": None, "ignore": ["who", "kind"], "links": None},
        {"ignore": [], "label_column": "kind"},
        {"ignore": [], "label_column": "kind", "method": "seeded"},
        {"ignore": ["kind"], "label_column": "plan"},
        {"method": "cop"},
        {"method": "lcvqe"},
        {"method": "sizes", "size_min": 30, "size_max": 50},
        {"n_clusters": 7, "random_state": 5},
    ],
    ids=str,
)
def test_the_same_as_in_memory(files, options):
    one, other = (run_job(job) for job in jobs(files, **options))
    assert_same(one, other)


@pytest.mark.skipif("boost" not in blocked_methods(), reason="boosting takes no blocks yet")
@pytest.mark.parametrize("base", [None, "kmeans"])
def test_boosting_is_the_same_as_in_memory(files, base):
    one, other = (run_job(job) for job in jobs(files, method="boost", estimator=base))
    np.testing.assert_array_equal(other.labels, one.labels)


@pytest.mark.parametrize("missing", ["drop", "mean"])
def test_empty_cells(files, frame, missing):
    for place, name in enumerate(["x", "plan"]):
        frame.loc[[0, 20 + place, 50 + place, 119], name] = None
    frame.to_parquet(files / "gaps.parquet", row_group_size=17)
    one, other = (run_job(job) for job in jobs(files, table=files / "gaps.parquet", missing=missing))
    assert_same(one, other)
    if missing == "drop":
        assert "1 link names rows that were left out; 3 of 4 are used." in other.summary.notices


def test_a_folder(files, frame):
    folder = files / "parts"
    folder.mkdir()
    for part in range(3):
        frame[part * 40 : part * 40 + 40].reset_index(drop=True).to_parquet(folder / f"{part}.parquet")
    one, other = jobs(files)
    one, other = run_job(one), run_job(replace(other, table=folder, in_blocks=None))
    np.testing.assert_array_equal(other.labels, one.labels)
    assert other.job.output.read_bytes() == one.job.output.read_bytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("missing", ["error", "mean", "drop"])
def test_arrays(files, frame, dtype, missing):
    X = (frame[["x", "y", "z"]].to_numpy() * 10).astype(dtype)
    if missing != "error" and dtype != np.int32:
        X[[3, 50], [0, 1]] = np.nan
    np.save(files / "rows.npy", X)
    (files / "rows.csv").write_text("a,b,link\n0,40,must\n3,90,cannot\n")
    same = {
        "table": files / "rows.npy",
        "links": files / "rows.csv",
        "id_column": None,
        "ignore": (),
        "missing": missing,
    }
    one, other = (run_job(job) for job in jobs(files, **same))
    assert_same(one, other)


@pytest.mark.parametrize("suffix", [".parquet", ".tsv", ".npy"])
def test_other_outputs(files, suffix):
    one, other = jobs(files)
    one, other = (replace(job, output=job.output.with_suffix(suffix)) for job in (one, other))
    run_job(one)
    run_job(other)
    if suffix == ".parquet":
        pd.testing.assert_frame_equal(pd.read_parquet(one.output), pd.read_parquet(other.output), check_dtype=False)
    else:
        assert one.output.read_bytes() == other.output.read_bytes()


def test_the_whole_table(files):
    one, other = (replace(job, keep_columns=True) for job in jobs(files))
    assert_same(run_job(one), run_job(other))


def test_a_model_is_the_same(files):
    pytest.importorskip("skops")
    one, other = (replace(job, save_model=files / f"{job.output.stem}.model") for job in jobs(files))
    assert_same(run_job(one), run_job(other))
    table = read_table(files / "people.parquet")
    np.testing.assert_array_equal(
        load_model(files / "blocks.model").predict(table), load_model(files / "memory.model").predict(table)
    )


def test_a_report_says_that_its_picture_is_of_a_sample(files):
    _, job = jobs(files)
    result = run_job(replace(job, report=files / "report.html"), command="mustlink cluster")
    page = (files / "report.html").read_text()
    assert "people.parquet in 3 clusters" in page
    assert "The picture of the report is made of a sample of the rows, and of all linked ones." in page
    assert "u040" in page
    assert any("sample" in note for note in result.summary.notices)


def test_broken_links_and_conflicts(files):
    (files / "links.csv").write_text("a,b,link\nu000,u001,must\nu001,u002,must\nu000,u002,cannot\nu003,u004,cannot\n")
    one, other = (run_job(job) for job in jobs(files, n_clusters=2))
    assert_same(one, other)
    assert other.summary.n_conflicts == 1


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ("a,b,link\nu000,nobody,must\nx,u001,cannot\n", {}),
        ("a,b,link\nu000,u000,must\n", {}),
        ("a,b,link\nu000,u001,must\nu001,u000,cannot\n", {}),
        ("a,b,link\nu000,u001,must\nu001,u002,must\nu002,u000,cannot\n", {"method": "cop"}),
        ("a,b,link\n0,500,must\n", {"id_column": None, "ignore": ["who", "kind"]}),
        ("a,b,link\nu000,u001,must\n", {"id_column": None, "ignore": ["who", "kind"]}),
        ("a,b\n1,2\n", {}),
    ],
)
def test_errors_of_links_are_those_of_memory(files, content, options):
    (files / "links.csv").write_text(content)
    one, other = jobs(files, **options)
    with pytest.raises((ConstraintError, FileFormatError, InfeasibleError)) as expected:
        run_job(one)
    with pytest.raises((ConstraintError, FileFormatError, InfeasibleError)) as caught:
        run_job(other)
    assert str(caught.value) == str(expected.value)
    assert not other.output.exists()


def test_unknown_ids_can_be_skipped(files):
    (files / "links.csv").write_text("a,b,link\nu000,nobody,must\nu003,u001,cannot\n")
    assert_same(*(run_job(job) for job in jobs(files, unknown_ids="skip")))


@pytest.mark.parametrize(
    "options",
    [
        {"id_column": "nobody"},
        {"ignore": ["nothing"]},
        {"label_column": "kind", "ignore": ["kind"]},
        {"id_column": "who", "label_column": "who"},
        {"encoding": "utf-8"},
        {"n_clusters": 500},
        {"ignore": []},
    ],
    ids=str,
)
def test_errors_of_options_are_those_of_memory(files, options):
    one, other = jobs(files, **{"links": None, **options})
    with pytest.raises((FileFormatError, OptionError)) as expected:
        run_job(one)
    with pytest.raises((FileFormatError, OptionError)) as caught:
        run_job(other)
    assert str(caught.value) == str(expected.value)


def test_a_column_of_different_texts_may_be_the_ids(files):
    with pytest.raises(FileFormatError, match=r"'who' has at least 51 different values .*; pass id_column='who' if it"):
        run_job(jobs(files, id_column=None, links=None)[1])


def test_ids(files, frame):
    frame.loc[100, "who"] = "u003"
    frame.to_parquet(files / "twice.parquet")
    one, other = jobs(files, table=files / "twice.parquet")
    with pytest.raises(FileFormatError) as expected:
        run_job(one)
    with pytest.raises(FileFormatError) as caught:
        run_job(other)
    assert str(caught.value) == str(expected.value)
    frame.loc[100, "who"] = None
    frame.to_parquet(files / "empty.parquet")
    for links in (None, files / "links.csv"):
        with pytest.raises(FileFormatError, match=r"empty\.parquet, row 100: the id column 'who' is empty"):
            run_job(replace(other, table=files / "empty.parquet", links=links))


# ---- whether blocks are read --------------------------------------------------------------------------------------


def test_large_tables_are_read_in_blocks(files, monkeypatch):
    job = replace(jobs(files)[0], in_blocks=None)
    assert not reads_in_blocks(job)
    size = 120 * (60 + 8 + 4 + 8 + 60 + 4 + 60)
    monkeypatch.setattr(_in_blocks, "available_memory", lambda: 4 * size)
    assert not reads_in_blocks(job)
    monkeypatch.setattr(_in_blocks, "available_memory", lambda: 4 * size - 1)
    assert reads_in_blocks(job)
    assert isinstance(run_job(job).table.X, BlockedRows)
    assert not reads_in_blocks(replace(job, in_blocks=False))
    # A method that takes no blocks goes on in memory, with a note, as long as the table fits.
    result = run_job(replace(job, method="mixture", links=None))
    assert any(
        "it was not read in blocks: the method constrained-mixture takes no blocks" in n for n in result.summary.notices
    )
    monkeypatch.setattr(_in_blocks, "available_memory", lambda: size - 1)
    with pytest.raises(
        OptionError, match=r"takes about .* in memory, where .* are free, and cannot be read in blocks: "
    ):
        run_job(replace(job, method="mixture"))
    monkeypatch.setattr(_in_blocks, "available_memory", lambda: None)
    assert not reads_in_blocks(job)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"method": "hdbscan"},
            r"the method hdbscan takes no blocks; those that do are .*pck, cop.*; pass in_blocks=False",
        ),
        ({"method": "auto"}, "the method auto compares clusterings in memory"),
        ({"never_together": ["plan"]}, "columns of groups"),
        ({"output": "a.xlsx"}, "a sheet of Excel is not written in blocks; use .csv or .parquet"),
        ({"table": "people.csv"}, "this is done for .parquet, a folder of .parquet files and .npy"),
    ],
    ids=str,
)
def test_what_blocks_cannot_do_is_refused(files, monkeypatch, options, words):
    monkeypatch.chdir(files)
    with pytest.raises(OptionError, match=words):
        run_job(replace(jobs(files)[1], **options))


def test_folders_are_not_read_into_memory(files):
    job = replace(jobs(files)[0], table=files)
    with pytest.raises(OptionError, match="is a folder, which is read in blocks only"):
        run_job(job)
    with pytest.raises(OptionError, match="blocks only: the method hdbscan takes no blocks"):
        run_job(replace(job, in_blocks=None, method="hdbscan"))


def test_the_memory_of_the_system(tmp_path, monkeypatch):
    (tmp_path / "meminfo").write_text("MemTotal: 100 kB\nMemAvailable:     50 kB\n")
    monkeypatch.setattr(_in_blocks, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(_in_blocks, "CGROUP", tmp_path)
    assert _in_blocks.available_memory() == 50 * 1024
    (tmp_path / "memory.max").write_text("30000\n")
    (tmp_path / "memory.current").write_text("10000\n")
    assert _in_blocks.available_memory() == 20_000
    (tmp_path / "memory.max").write_text("max\n")
    assert _in_blocks.available_memory() == 50 * 1024
    monkeypatch.setattr(_in_blocks, "MEMINFO", tmp_path / "nothing")
    assert _in_blocks.available_memory() is None or _in_blocks.available_memory() > 0


def test_the_catalogue_knows_who_takes_blocks():
    assert find_clusterer("pck").takes_blocks
    assert not find_clusterer("hdbscan").takes_blocks
    assert {"pck", "cop", "lcvqe", "seeded"} <= set(blocked_methods())
