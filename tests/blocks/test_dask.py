"""Dask arrays and data frames as X: the labels of a fit in memory, checks of blocks, and threads without a client."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
import time
import warnings
from functools import partial, reduce
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info, threadpool_limits

from mustlink import LCVQE, ConstrainedHDBSCAN, Constraints, COPKMeans, MPCKMeans, PCKMeans, SeededKMeans
from mustlink.blocks import DaskRows, FileRows, as_blocked
from mustlink.blocks import _dask as dask_rows
from mustlink.blocks import _dask_collections as collections
from mustlink.blocks._blocked_rows import join_results
from mustlink.blocks._dask_tasks import join_neighbors, task_name
from mustlink.errors import OptionError, TooLargeError

da = pytest.importorskip("dask.array", reason="needs the extra dask")
dd = pytest.importorskip("dask.dataframe", reason="needs the extra dask")
dask = pytest.importorskip("dask")

ESTIMATORS = [PCKMeans, COPKMeans, LCVQE, MPCKMeans, SeededKMeans]
LINKS = Constraints(must_link=[(0, 1), (5, 9), (9, 30)], cannot_link=[(3, 4), (7, 1), (30, 61)])
CHUNKINGS = [(64, 4), (7, 3), ((0, 30, 0, 34, 0), (1, 3)), ((1, 1, 62), 4)]


def make_table(dtype: Any = np.float64) -> np.ndarray:
    rng = np.random.default_rng(3)
    return (rng.normal(size=(64, 4)) + 3 * rng.integers(0, 3, 64)[:, None]).astype(dtype)


TABLE = make_table()


def fit(estimator: Any, X: Any, **options: Any) -> Any:
    return estimator(n_clusters=3, random_state=0, **options).fit(X, constraints=LINKS)


def same_links(one: Constraints, other: Constraints) -> bool:
    return np.array_equal(one.pairs, other.pairs) and np.array_equal(one.sign, other.sign)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("chunks", CHUNKINGS, ids=str)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_labels_are_those_in_memory(estimator: Any, chunks: Any, dtype: Any) -> None:
    table = make_table(dtype)
    X = da.from_array(table, chunks=chunks)
    in_memory, fitted = fit(estimator, table), fit(estimator, X)
    assert isinstance(fitted.labels_, da.Array)
    assert fitted.labels_.chunks == (X.chunks[0],)
    assert fitted.labels_.dtype == np.int32
    np.testing.assert_array_equal(fitted.labels_.compute(), in_memory.labels_)
    assert fitted.cluster_centers_.dtype == dtype
    np.testing.assert_allclose(fitted.cluster_centers_, in_memory.cluster_centers_, rtol=1e-5)
    assert same_links(fitted.violations_, in_memory.violations_)
    predicted = fitted.predict(X)
    assert predicted.chunks == (X.chunks[0],)
    np.testing.assert_array_equal(predicted.compute(), in_memory.predict(table))


@settings(max_examples=25)
@given(cuts=st.lists(st.integers(0, 64), max_size=8), columns=st.integers(1, 4), seed=st.integers(0, 5))
def test_labels_do_not_depend_on_the_chunks(cuts: list[int], columns: int, seed: int) -> None:
    lengths = tuple(np.diff([0, *sorted(cuts), 64]).tolist())
    X = da.from_array(TABLE, chunks=(lengths, columns))
    fitted = PCKMeans(n_clusters=3, random_state=seed).fit(X, constraints=LINKS)
    in_memory = PCKMeans(n_clusters=3, random_state=seed).fit(TABLE, constraints=LINKS)
    np.testing.assert_array_equal(fitted.labels_.compute(), in_memory.labels_)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_partial_labels_are_those_in_memory(estimator: Any) -> None:
    y = np.full(64, -1)
    y[[0, 5, 20, 33, 60]] = [0, 1, 2, 0, 1]
    X = da.from_array(TABLE, chunks=(11, 4))
    labels = estimator(n_clusters=3, random_state=0).fit_predict(X, y)
    np.testing.assert_array_equal(labels.compute(), estimator(n_clusters=3, random_state=0).fit_predict(TABLE, y))


def test_rows_beyond_the_sample_of_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mustlink.kmeans._base.MAX_ROWS_OF_STARTS", 20)
    in_memory, fitted = fit(PCKMeans, TABLE), fit(PCKMeans, da.from_array(TABLE, chunks=(9, 4)))
    np.testing.assert_array_equal(fitted.labels_.compute(), in_memory.labels_)


def test_data_frame_with_its_columns() -> None:
    frame = pd.DataFrame(TABLE, columns=list("abcd"))
    fitted, in_memory = fit(PCKMeans, dd.from_pandas(frame, npartitions=3)), fit(PCKMeans, frame)
    assert list(fitted.feature_names_in_) == list("abcd")
    np.testing.assert_array_equal(fitted.labels_.compute(), in_memory.labels_)
    assert not np.isnan(fitted.labels_.shape[0])
    np.testing.assert_array_equal(
        fitted.predict(dd.from_pandas(frame, npartitions=2)).compute(), in_memory.predict(frame)
    )


def test_columns_that_are_numbered_have_no_names() -> None:
    fitted = fit(PCKMeans, dd.from_pandas(pd.DataFrame(TABLE), npartitions=2))
    assert not hasattr(fitted, "feature_names_in_")


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [
        (["float32", "float32"], np.float32),
        (["float32", "int16"], np.float32),
        (["float32", "int64"], np.float64),
        (["int8", "bool"], np.float64),
        (["Int64", "Float64"], np.float64),
    ],
)
def test_types_of_columns(dtypes: list[str], expected: Any) -> None:
    frame = pd.DataFrame({"a": [0, 1, 0, 1], "b": [1, 0, 0, 1]}).astype(dict(zip("ab", dtypes, strict=True)))
    rows = DaskRows(dd.from_pandas(frame, npartitions=2))
    assert rows.dtype == expected
    np.testing.assert_array_equal(rows.gather(np.arange(4)), frame.to_numpy(dtype=float))


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [(bool, np.float64), (np.int32, np.float64), (np.uint8, np.float64), (np.float16, np.float64), ("f4", np.float32)],
)
def test_types_of_arrays(dtype: Any, expected: Any) -> None:
    table = np.asfortranarray((TABLE > 2).astype(dtype))
    rows = DaskRows(da.from_array(table, chunks=(10, 2)))
    assert rows.dtype == expected
    assert all(rows.run(lambda block: block.flags.c_contiguous and block.dtype == expected))
    np.testing.assert_array_equal(rows.gather(np.arange(64)), table.astype(expected))


def test_unknown_lengths_are_computed_once() -> None:
    seen: list[int] = []

    def see(block: np.ndarray) -> np.ndarray:
        seen.append(len(block))
        return block

    X = da.from_array(TABLE, chunks=(16, 4))
    kept = X[X[:, 0] > 2].map_blocks(see, dtype=TABLE.dtype, meta=np.empty((0, 0)))
    assert np.isnan(kept.shape[0])
    rows = DaskRows(kept)
    assert rows.n_rows == (TABLE[:, 0] > 2).sum()
    assert np.isnan(kept.shape[0]), "the array of the user is not changed"
    assert len(seen) == 4
    fitted = PCKMeans(n_clusters=2, random_state=0).fit(kept)
    expected = PCKMeans(n_clusters=2, random_state=0).fit(TABLE[TABLE[:, 0] > 2])
    np.testing.assert_array_equal(fitted.labels_.compute(), expected.labels_)


def test_masked_values_are_missing() -> None:
    masked = da.from_array(np.ma.masked_greater(TABLE, 8.0), chunks=(10, 4))
    with pytest.raises(ValueError, match="contains NaN"):
        fit(PCKMeans, masked)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_a_bad_number_is_named_with_its_block_and_row(bad: float) -> None:
    table = np.tile(TABLE, (160, 1))[:10_000]
    table[7_038, 2] = bad
    # The empty chunk counts, as it does in X.blocks.
    X = da.from_array(table, chunks=((0, *[10] * 1000), 4))
    with pytest.raises(ValueError, match=r"row 7,038, column 2 of X \(block 705 of 1,001, row 8 of the block\)"):
        fit(PCKMeans, X)


def test_a_bad_number_of_a_data_frame_is_named_with_its_column() -> None:
    frame = pd.DataFrame(TABLE, columns=list("abcd"))
    frame.loc[40, "c"] = np.nan
    with pytest.raises(ValueError, match=r"NaN: row 40, column 'c' of X \(block 3 of 4, row 8 of the block\)"):
        fit(PCKMeans, dd.from_pandas(frame, npartitions=4))


def change_block(number: int, change: Any) -> Any:
    """A Dask array of which one block is not what its metadata state."""
    blocks = [TABLE[start : start + 16] for start in range(0, 64, 16)]
    delayed = [dask.delayed(change)(block) if place == number else block for place, block in enumerate(blocks)]
    return da.concatenate([da.from_delayed(dask.delayed(block), (16, 4), TABLE.dtype) for block in delayed])


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda block: block[:, :3], ValueError, r"shape \(16, 3\) and type float64 as block 3 of 4"),
        (lambda block: block[:5], ValueError, r"shape \(5, 4\) and type float64 as block 3 of 4"),
        (lambda block: block.astype("f4"), ValueError, r"type float32 as block 3 of 4.* type float64"),
        (lambda block: block.astype(str), ValueError, r"as block 3 of 4"),
        (pd.DataFrame, TypeError, "has a DataFrame as block 3 of 4"),
    ],
)
def test_a_block_unlike_the_metadata_is_named(change: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        fit(PCKMeans, change_block(2, change))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda part: part.rename(columns={"b": "z"}), r"columns 'a', 'z' in block 2 of 2.* columns 'a', 'b'"),
        (lambda part: part[["b", "a"]], r"columns 'b', 'a' in block 2 of 2"),
        (lambda part: part.astype({"b": "f4"}), r"column 'b' of X has the type float32 in block 2 of 2.*float64"),
        (lambda part: part.astype({"a": str}), r"column 'a' of X has the type .* in block 2 of 2"),
    ],
)
def test_a_partition_unlike_the_metadata_is_named(change: Any, words: str) -> None:
    frame = pd.DataFrame({"a": np.arange(6.0), "b": np.arange(6.0)})
    parts = [dask.delayed(frame[:3]), dask.delayed(change)(frame[3:])]
    X = dd.from_delayed(parts, meta=frame[:0], verify_meta=False)
    with pytest.raises(ValueError, match=words):
        fit(PCKMeans, X)


def test_partitions_without_rows_may_have_lost_their_types() -> None:
    frame = pd.DataFrame({"a": np.arange(6.0), "b": np.arange(6.0)})
    parts = [dask.delayed(frame[:0].astype(object)), dask.delayed(frame)]
    rows = DaskRows(dd.from_delayed(parts, meta=frame[:0], verify_meta=False))
    assert rows.shape == (6, 2)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: da.from_array(TABLE.astype(object), chunks=16), ValueError, "Dask array of type object"),
        (lambda: da.from_array(TABLE.astype(str), chunks=16), ValueError, "numbers are expected"),
        (lambda: da.from_array(TABLE.astype(complex), chunks=16), ValueError, "of type complex128"),
        (lambda: da.from_array(TABLE[:, 0], chunks=16), ValueError, "two dimensions, rows and columns; .* has 1"),
        (lambda: frame_of(["u", "v"]), ValueError, "The column 'b' of X has the type (str|object|string)"),
        (lambda: frame_of(pd.to_datetime(["2024-01-01", "2024-01-02"])), ValueError, "'b' of X has the type datetime"),
        (lambda: frame_of(pd.Categorical([1, 2])), ValueError, "'b' of X has the type category"),
        (lambda: frame_of([1j, 2j]), ValueError, "'b' of X has the type complex128"),
        (lambda: frame_of([1, 2])["a"], TypeError, r"X.to_frame\(\)"),
        (lambda: dask.delayed(TABLE), TypeError, "arrays and data frames"),
        (lambda: da.from_array(TABLE[:0], chunks=16), ValueError, r"shape \(0, 4\)"),
        (lambda: da.from_array(TABLE[:, :0], chunks=16), ValueError, r"shape \(64, 0\)"),
    ],
)
def test_collections_that_cannot_be_clustered(make: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        PCKMeans(n_clusters=2).fit(make())


def frame_of(values: Any) -> Any:
    return dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0], "b": values}), npartitions=1)


def test_sparse_chunks_are_refused() -> None:
    from scipy import sparse

    X = da.from_array(TABLE, chunks=(16, 4)).map_blocks(sparse.csr_array)
    with pytest.raises(TypeError, match="chunks of csr_array"):
        fit(PCKMeans, X)


def test_unknown_number_of_columns_is_refused() -> None:
    X = da.from_array(TABLE, chunks=(16, 4))
    with pytest.raises(ValueError, match="number of columns of X is not known"):
        fit(PCKMeans, X[:, X[0] > -np.inf])


def test_joining_columns_to_large_chunks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collections, "MAX_JOINED_BYTES", 64 * 4 * 8 - 1)
    with pytest.raises(TooLargeError, match=r"columns of X are in 2 chunks.*X\.rechunk"):
        fit(PCKMeans, da.from_array(TABLE, chunks=(64, 2)))
    fit(PCKMeans, da.from_array(TABLE, chunks=(64, 4)))
    fit(PCKMeans, da.from_array(TABLE, chunks=(32, 2)))


def test_clusterers_that_need_rows_in_memory_say_so() -> None:
    with pytest.raises(TypeError, match="ConstrainedHDBSCAN takes rows in memory only") as caught:
        ConstrainedHDBSCAN().fit(da.from_array(TABLE, chunks=(16, 4)))
    assert "SizeConstrainedKMeans" not in str(caught.value)
    with pytest.raises(ValueError, match="sample_weight is not supported"):
        PCKMeans(n_clusters=2).fit(da.from_array(TABLE, chunks=(16, 4)), sample_weight=np.ones(64))


def test_transform_and_score_are_those_in_memory() -> None:
    fitted, X = fit(PCKMeans, TABLE), da.from_array(TABLE, chunks=((0, 20, 44), 2))
    distances = fitted.transform(X)
    assert isinstance(distances, da.Array)
    np.testing.assert_allclose(distances.compute(), fitted.transform(TABLE))
    np.testing.assert_allclose(fitted.score(X), fitted.score(TABLE))


def test_predict_refuses_other_columns_at_once() -> None:
    with pytest.raises(ValueError, match="X has 3 features, but PCKMeans is expecting 4"):
        fit(PCKMeans, TABLE).predict(da.from_array(TABLE[:, :3], chunks=(16, 3)))


def test_predict_names_the_row_that_is_missing() -> None:
    table = TABLE.copy()
    table[20] = np.nan
    with pytest.raises(ValueError, match=r"NaN: row 20, column 0 of X \(block 2 of 4, row 4 of the block\)"):
        fit(PCKMeans, TABLE).predict(da.from_array(table, chunks=(16, 4)))


def test_a_task_that_fails_is_named_by_its_block() -> None:
    rows = DaskRows(da.from_array(np.repeat(np.arange(64.0), 4).reshape(64, 4), chunks=(16, 4)))
    with pytest.raises(ZeroDivisionError) as caught:
        rows.run(lambda block: 1 // int(block[0, 0] != 16))
    assert caught.value.__notes__ == ["This was block 2 of 4 of X."]


def test_fewer_clusters_are_counted() -> None:
    X = da.from_array(np.repeat([[0.0], [1.0]], 8, axis=0), chunks=((5, 0, 11), 1))
    with pytest.warns(ConvergenceWarning, match="3 clusters were asked for, and 2 were found"):
        PCKMeans(n_clusters=3, random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PCKMeans(n_clusters=2, random_state=0).fit(X)


def test_a_fitted_clusterer_is_pickled_cloned_and_shown() -> None:
    fitted = fit(PCKMeans, da.from_array(TABLE, chunks=(16, 4))).set_output(transform="pandas")
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.labels_.compute(), fitted.labels_.compute())
    assert not hasattr(clone(fitted), "labels_")
    assert "PCKMeans" in fitted._repr_html_()
    assert list(fitted.transform(TABLE).columns) == ["pckmeans0", "pckmeans1", "pckmeans2"]


def test_labels_are_computed_by_the_fit() -> None:
    calls: list[int] = []

    def see(block: np.ndarray) -> np.ndarray:
        calls.append(len(block))
        return block

    X = da.from_array(TABLE, chunks=(16, 4)).map_blocks(see, dtype=TABLE.dtype, meta=np.empty((0, 0)))
    fitted = fit(PCKMeans, X)
    calls.clear()
    fitted.labels_.compute()
    assert calls == []


def test_gather_reads_only_the_chunks_of_its_rows() -> None:
    read: list[int] = []

    def see(block: np.ndarray, block_info: Any = None) -> np.ndarray:
        read.append(block_info[0]["chunk-location"][0])
        return block

    X = da.from_array(TABLE, chunks=(8, 4)).map_blocks(see, dtype=TABLE.dtype, meta=np.empty((0, 0)))
    rows = DaskRows(X)
    index = np.array([50, 3, 51, 3, 0])
    np.testing.assert_array_equal(rows.gather(index), TABLE[index])
    assert sorted(read) == [0, 6]
    assert rows.gather(np.empty(0, dtype=np.intp)).shape == (0, 4)


def sum_block(block: np.ndarray, factor: float, own: float) -> tuple[np.ndarray, float]:
    return block.sum(axis=0) * factor, own


@pytest.mark.parametrize("n_chunks", [1, 2, 8, 9, 64])
def test_totals_are_joined_in_pairs_of_neighbors(n_chunks: int) -> None:
    rows = DaskRows(da.from_array(TABLE, chunks=(-(-64 // n_chunks), 4)))
    each = [(float(number),) for number in range(rows.n_blocks)]
    sums, own = rows.total(sum_block, 2.0, each=each)
    assert own == sum(range(rows.n_blocks))
    results = rows.run(sum_block, 2.0, each=each)
    expected = join_neighbors(*results)
    np.testing.assert_array_equal(sums, expected[0])
    np.testing.assert_allclose(sums, reduce(join_results, results)[0])


def test_derived_rows_stay_in_their_blocks() -> None:
    rows = DaskRows(da.from_array(TABLE, chunks=((0, 20, 0, 44), 4)))
    derived = rows.derive(lambda block, shift: (block[:, :2] > shift).astype(np.uint8), 1.0, n_features=2, dtype="u1")
    assert isinstance(derived, DaskRows)
    assert derived.dtype == np.uint8
    np.testing.assert_array_equal(derived.bounds, rows.bounds)
    np.testing.assert_array_equal(derived.gather(np.arange(64)), TABLE[:, :2] > 1.0)


def test_transformed_rows() -> None:
    rows = DaskRows(da.from_array(TABLE, chunks=(10, 4)))
    doubled = rows.transform(lambda block: block * 2, 4, np.float64)
    np.testing.assert_allclose(doubled.total(np.sum), 2 * TABLE.sum())
    np.testing.assert_array_equal(doubled.label(len_labels).compute(), np.repeat([10] * 6 + [4], [10] * 6 + [4]))


def len_labels(block: np.ndarray) -> np.ndarray:
    return np.full(len(block), len(block))


def test_tasks_have_the_names_of_their_functions() -> None:
    rows = DaskRows(da.from_array(TABLE, chunks=(10, 4)))
    assert rows._call(sum_block, ())[0].key[0].startswith("mustlink-sum-block-")
    assert rows.label(len_labels).name.startswith("mustlink-len-labels-")
    assert task_name(partial(len_labels)) == "len-labels"


def test_tasks_use_one_thread() -> None:
    rows = DaskRows(da.from_array(TABLE, chunks=(4, 4)))
    with threadpool_limits(limits=2):
        before = pool_sizes()
        seen = rows.run(
            lambda block, seconds: time.sleep(seconds) or pool_sizes(), each=[(s % 3 / 50,) for s in range(16)]
        )
        assert 2 in before
        assert set().union(*seen) == {1}
        assert pool_sizes() == before


def pool_sizes() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info()]


def test_a_failed_task_removes_the_limit() -> None:
    with threadpool_limits(limits=2):
        before = pool_sizes()
        with pytest.raises(ZeroDivisionError):
            DaskRows(da.from_array(TABLE, chunks=(10, 4))).run(lambda block: 1 / 0)
        assert pool_sizes() == before


def test_other_schedulers_of_dask_are_used() -> None:
    with dask.config.set(scheduler="synchronous"):
        rows = DaskRows(da.from_array(TABLE, chunks=(10, 4)))
        assert set(rows.run(lambda block: threading.get_ident())) == {threading.get_ident()}


def test_missing_dask_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(OptionError, match=r'pip install "mustlink\[dask\]"'):
        DaskRows(TABLE)


def test_tables_in_memory_do_not_import_dask() -> None:
    code = (
        "import sys, numpy as np; from mustlink import PCKMeans; from mustlink.blocks import DaskRows\n"
        "PCKMeans(n_clusters=2).fit(np.eye(3)).predict(np.eye(3)); print('dask' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_blocks_are_those_of_files_with_the_same_bounds() -> None:
    """The same passes on the same blocks find the same means, whoever runs them."""
    X = da.from_array(TABLE, chunks=(20, 4))
    one, other = fit(PCKMeans, as_blocked(X)), fit(PCKMeans, FileRows(TABLE, block_rows=20))
    np.testing.assert_allclose(one.cluster_centers_, other.cluster_centers_, rtol=1e-12)
    np.testing.assert_array_equal(one.labels_.compute(), other.labels_)
    assert dask_rows.DaskRows is DaskRows


@pytest.mark.parametrize("method", ["predict", "transform"])
def test_new_rows_without_any_row_are_refused(method: str) -> None:
    model = fit(PCKMeans, TABLE)
    with pytest.raises(ValueError, match=r"X has the shape \(0, 4\); at least one row and one column are needed"):
        getattr(model, method)(da.from_array(TABLE[:0], chunks=16))
