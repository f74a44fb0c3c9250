"""Tables that are read some rows at a time: the same features, notes and errors as a table in memory."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink._atomic import StagedFiles
from mustlink.blocks import _parquet
from mustlink.errors import FileFormatError
from mustlink.tables import (
    check_streamed_suffix,
    encode,
    encode_stream,
    find_linked_ids,
    is_streamed,
    open_stream,
    read_table,
    stage_clusters,
    stage_stream,
    stage_table,
)

pytest.importorskip("pyarrow")


@pytest.fixture(autouse=True)
def few_rows_at_a_time(monkeypatch):
    monkeypatch.setattr(_parquet, "MAX_BATCH_ROWS", 4)


N = 30
DAYS = [datetime.date(2024, 1, 1) + datetime.timedelta(days=3 * row) for row in range(N)]


def frame_of_all_kinds():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "nr": np.arange(N),
            "age": rng.integers(20, 60, size=N),
            "income": rng.normal(40_000, 5_000, size=N).astype(np.float32),
            "plan": rng.choice(["pro", "basic", " basic", "none"], size=N),
            "is_new": rng.random(N) < 0.4,
            "since": pd.to_datetime(DAYS) + pd.to_timedelta(rng.integers(0, 2, size=N) * 6, unit="h"),
            "day": DAYS,
            "took": pd.to_timedelta(rng.integers(0, 1000, size=N), unit="min"),
            "grade": pd.Categorical(rng.choice(["b", "a"], size=N)),
            "same": 7,
            "empty": pd.Series([None] * N, dtype=object),
            "customer_no": np.arange(N) * 2 + 50,
        }
    )


def both(path, **options):
    """Encode a file in memory and in parts."""
    reading = {"text": [*options.get("categorical", ()), *options.get("ignore", ())]}
    in_memory = encode(read_table(path, problems="keep", **reading), **options)
    return in_memory, encode_stream(open_stream(path), **options)


def assert_same(in_memory, encoding):
    np.testing.assert_allclose(np.concatenate(list(encoding.parts())), in_memory.X, rtol=1e-6, atol=1e-6)
    assert encoding.dtype == in_memory.X.dtype
    assert encoding.n_rows == len(in_memory.X)
    kept = np.setdiff1d(np.arange(encoding.stream.n_rows), encoding.dropped)
    np.testing.assert_array_equal(kept, in_memory.rows)
    for mine, other in zip(encoding.encoder.features, in_memory.features, strict=True):
        assert (mine.name, mine.unit) == (other.name, other.unit)
        assert (mine.center, mine.scale) == pytest.approx((other.center, other.scale), rel=1e-6)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"scale": False},
        {"one_hot": False},
        {"categorical": ["age"]},
        {"ignore": ["plan", "nr"]},
        {"ignore": [name for name in frame_of_all_kinds() if name != "income"]},
    ],
    ids=str,
)
def test_features_and_notes_are_those_of_memory(tmp_path, options):
    frame_of_all_kinds().to_parquet(tmp_path / "all.parquet", row_group_size=7)
    in_memory, encoding = both(tmp_path / "all.parquet", **options)
    assert_same(in_memory, encoding)
    read = read_table(tmp_path / "all.parquet", problems="keep", text=options.get("categorical", ()))
    judged = [note for note in read.notices if not any(name in note for name in options.get("ignore", ()))]
    assert list(encoding.notices) == [*judged, *in_memory.notices]


@pytest.mark.parametrize("missing", ["drop", "mean"])
def test_empty_cells_are_those_of_memory(tmp_path, missing):
    frame = frame_of_all_kinds()
    for place, name in enumerate(["age", "income", "plan", "is_new", "since", "day"]):
        frame[name] = frame[name].astype(object).where(np.arange(N) % (9 + place) != place, None)
        frame[name] = frame[name].infer_objects() if name in ("plan", "day") else frame[name]
    frame["age"], frame["income"] = frame["age"].astype("Int64"), frame["income"].astype("float32")
    frame["is_new"], frame["since"] = frame["is_new"].astype("boolean"), pd.to_datetime(frame["since"])
    frame.to_parquet(tmp_path / "gaps.parquet", row_group_size=7)
    in_memory, encoding = both(tmp_path / "gaps.parquet", missing=missing)
    assert_same(in_memory, encoding)
    assert list(encoding.notices)[-len(in_memory.notices) :] == list(in_memory.notices)
    with pytest.raises(FileFormatError) as expected:
        encode(read_table(tmp_path / "gaps.parquet"))
    with pytest.raises(FileFormatError) as caught:
        encode_stream(open_stream(tmp_path / "gaps.parquet"))
    assert str(caught.value) == str(expected.value)


@settings(max_examples=30)
@given(
    values=st.lists(
        st.tuples(st.floats(-1e6, 1e6, width=32), st.sampled_from(["a", "b", "c", None]), st.integers(-5, 5)),
        min_size=2,
        max_size=25,
    ),
    group=st.integers(1, 6),
    missing=st.sampled_from(["error", "drop", "mean"]),
)
def test_any_table_is_that_of_memory(tmp_path_factory, values, group, missing):
    path = tmp_path_factory.mktemp("tables") / "any.parquet"
    frame = pd.DataFrame(values, columns=["x", "kind", "n"]).astype({"x": "float64", "kind": "string"})
    frame.loc[::7, "x"] = np.nan if missing != "error" else 1.0
    frame.to_parquet(path, row_group_size=group)
    expected = outcome(lambda: encode(read_table(path), missing=missing))
    found = outcome(lambda: encode_stream(open_stream(path), missing=missing))
    if isinstance(expected, str):
        assert found == expected
        return
    assert_same(expected, found)
    assert found.notices == expected.notices


def outcome(work):
    """Return what some work returns, or its error in words."""
    try:
        return work()
    except FileFormatError as error:
        return str(error)


def spoil(name, value):
    frame = pd.DataFrame({"x": np.arange(12.0) ** 2, "y": np.arange(12.0)[::-1] ** 3})
    frame[name] = value
    return frame


@pytest.mark.parametrize(
    "frame",
    [
        spoil("y", [1.0] * 9 + [np.inf, 1.0, 2.0]),
        spoil("y", [1.0] * 9 + [1e300, -1e300, 2.0]),
        spoil("t", [f"text {row}" for row in range(12)]),
        spoil("t", [[1]] * 12),
        spoil("y", [None] * 12)[["y"]],
        spoil("y", 3.0)[["y"]],
        spoil("y", 3.0)[:1],
        spoil("y", 3.0)[:0],
        spoil("y", [1.0, None, None, *range(9)]),
    ],
    ids=["infinite", "huge", "free text", "lists", "empty", "constant", "one row", "no rows", "gaps"],
)
def test_errors_are_those_of_memory(tmp_path, frame):
    frame.to_parquet(tmp_path / "bad.parquet", row_group_size=5)
    with pytest.raises(FileFormatError) as expected:
        encode(read_table(tmp_path / "bad.parquet", problems="keep"))
    with pytest.raises(FileFormatError) as caught:
        encode_stream(open_stream(tmp_path / "bad.parquet"))
    assert str(caught.value) == str(expected.value)


def test_very_many_texts_are_not_collected(tmp_path):
    pd.DataFrame({"x": np.arange(300.0), "t": [f"t{row // 2}" for row in range(300)]}).to_parquet(
        tmp_path / "t.parquet"
    )
    with pytest.raises(FileFormatError, match="'t' has at least 51 different values in 300 rows, too many for cat"):
        encode_stream(open_stream(tmp_path / "t.parquet"))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays(tmp_path, dtype, order):
    X = (np.random.default_rng(0).normal(size=(50, 3)) * 100).astype(dtype, order=order)
    np.save(tmp_path / "rows.npy", X)
    assert_same(*both(tmp_path / "rows.npy"))


def test_the_index_of_pandas_is_a_column(tmp_path):
    for index in (
        pd.Index([5, 3, 9]),
        pd.Index([5, 3, 9], name="who"),
        pd.MultiIndex.from_tuples([(1, 2), (3, 4), (5, 6)]),
    ):
        frame = pd.DataFrame({"x": [1.0, 2.0, 4.0]}, index=index)
        frame.to_parquet(tmp_path / "indexed.parquet")
        assert open_stream(tmp_path / "indexed.parquet").names == read_table(tmp_path / "indexed.parquet").names


def test_what_is_streamed(tmp_path):
    assert is_streamed(tmp_path)
    assert not is_streamed("a.csv")
    with pytest.raises(FileFormatError, match=r"in blocks from .parquet, a folder of .parquet files or .npy"):
        open_stream("a.csv")


# ---- links --------------------------------------------------------------------------------------------------------


def test_only_linked_ids_are_kept():
    links = {"a": ["u1", 7], "b": ["u9", "u1"], "link": [1, -1]}
    assert find_linked_ids(links, [(0, ["u0", "u1", "x"]), (3, ["7.0", "u3"])], "who", "t") == {"u1": 1, "7": 3}


def test_linked_ids_must_be_unique_and_no_id_empty():
    links = {"a": ["u1"], "b": ["u2"], "link": [1]}
    with pytest.raises(FileFormatError, match=r"t: the id 'u1' occurs in row 1 and again in row 3 of the column 'who'"):
        find_linked_ids(links, [(0, ["u0", "u1"]), (2, ["u2", "u1"])], "who", "t")
    with pytest.raises(FileFormatError, match=r"t, row 3: the id column 'who' is empty"):
        find_linked_ids(links, [(0, ["u0", "u1"]), (2, ["u2", ""])], "who", "t")


# ---- writing ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".npy"])
@pytest.mark.parametrize("id_column", [None, "customer_no"])
@pytest.mark.parametrize("has_known", [False, True])
def test_written_clusters_are_those_of_memory(tmp_path, suffix, id_column, has_known):
    frame_of_all_kinds().to_parquet(tmp_path / "all.parquet", row_group_size=7)
    table, stream = read_table(tmp_path / "all.parquet", text=["customer_no"]), open_stream(tmp_path / "all.parquet")
    labels = np.arange(N) % 4 - 1
    known = ["yes" if row % 3 else "" for row in range(N)] if has_known else None
    one, other = tmp_path / f"one{suffix}", tmp_path / f"other{suffix}"
    with StagedFiles() as files:
        ids = None if id_column is None else table.row_ids(id_column)
        stage_clusters(files, one, labels, ids=ids, id_name=id_column or "row", known=known, known_name="is")
        stage_stream(
            files,
            other,
            stream,
            lambda start, stop: labels[start:stop],
            id_column=id_column,
            known=None if known is None else lambda start, stop: known[start:stop],
            known_name="is",
        )
    if suffix == ".parquet":
        pd.testing.assert_frame_equal(pd.read_parquet(one), pd.read_parquet(other), check_dtype=False)
    else:
        assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_the_whole_table_is_that_of_memory(tmp_path, suffix):
    frame_of_all_kinds().to_parquet(tmp_path / "all.parquet", row_group_size=7)
    table, stream = read_table(tmp_path / "all.parquet"), open_stream(tmp_path / "all.parquet")
    labels = np.arange(N) % 4 - 1
    one, other = tmp_path / f"one{suffix}", tmp_path / f"other{suffix}"
    with StagedFiles() as files:
        stage_table(files, one, labels, source=tmp_path / "all.parquet", table=table)
        stage_stream(files, other, stream, lambda start, stop: labels[start:stop], keep_columns=True)
    if suffix == ".parquet":
        pd.testing.assert_frame_equal(
            pd.read_parquet(one), pd.read_parquet(other), check_dtype=False, check_categorical=False
        )
    else:
        assert one.read_bytes() == other.read_bytes()


def test_sheets_are_not_written():
    with pytest.raises(FileFormatError, match="not written in blocks"):
        check_streamed_suffix("a.xlsx")
    with pytest.raises(FileFormatError, match=r"written as .csv, .tsv, .xlsx, .parquet or .npy"):
        check_streamed_suffix("a.ods")


def test_a_failure_in_the_middle_leaves_nothing(tmp_path):
    np.save(tmp_path / "rows.npy", np.ones((200_000, 1)))
    (tmp_path / "clusters.csv").write_text("old")

    def labels(start, stop):
        if start:
            raise KeyboardInterrupt
        return np.zeros(stop - start, dtype=np.int64)

    with pytest.raises(KeyboardInterrupt), StagedFiles() as files:
        stage_stream(files, tmp_path / "clusters.csv", open_stream(tmp_path / "rows.npy"), labels)
    assert (tmp_path / "clusters.csv").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clusters.csv", "rows.npy"]
