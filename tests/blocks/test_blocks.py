"""Rows in blocks: what every engine shares, on blocks of an array."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink import ConstrainedHDBSCAN, MPCKMeans, PCKMeans
from mustlink.base import TAKING_BLOCKS
from mustlink.blocks import BlockedRows, FileRows, as_blocked, distinct_labels
from mustlink.catalogue import CATALOGUE
from mustlink.errors import NumberTooLargeError

X = np.random.RandomState(0).normal(size=(40, 3))


def count_and_sum(block: np.ndarray, factor: float = 1.0) -> tuple[int, np.ndarray]:
    return len(block), factor * block.sum(axis=0)


def add_own(block: np.ndarray, factor: float, places: np.ndarray, values: np.ndarray) -> float:
    return float((factor * block[places, 0] * values).sum())


def is_positive(block: np.ndarray, limit: float = 0.0) -> np.ndarray:
    return (block[:, 0] > limit).astype(np.int32)


def squares(block: np.ndarray) -> np.ndarray:
    return np.square(block)


def two_columns(block: np.ndarray, factor: float) -> np.ndarray:
    return (factor * block[:, :2]).astype(np.float32)


def blocked(table: np.ndarray = X, block_rows: int = 7, **options: Any) -> FileRows:
    return FileRows(table, block_rows=block_rows, **options)


def test_results_are_in_the_order_of_the_blocks_and_totals_are_sums() -> None:
    rows = blocked()
    assert (rows.n_blocks, rows.n_rows, len(rows), rows.shape, rows.ndim) == (6, 40, 40, (40, 3), 2)
    found = rows.run(count_and_sum, 2.0)
    assert [count for count, _ in found] == [7, 7, 7, 7, 7, 5]
    np.testing.assert_allclose(found[1][1], 2 * X[7:14].sum(axis=0))
    count, total = rows.total(count_and_sum, 2.0)
    assert count == 40
    np.testing.assert_allclose(total, 2 * X.sum(axis=0))


@given(st.lists(st.integers(0, 39)), st.integers(1, 50))
def test_rows_are_dealt_to_their_blocks(index: list[int], block_rows: int) -> None:
    rows, wanted = blocked(block_rows=block_rows), np.array(index, dtype=np.intp)
    values = np.random.RandomState(1).normal(size=len(wanted))
    each = rows.split(wanted, values)
    assert rows.total(add_own, 3.0, each=each) == pytest.approx(3 * (X[wanted, 0] * values).sum())
    np.testing.assert_array_equal(rows.gather(wanted), X[wanted])


@pytest.mark.parametrize("block_rows", [1, 7, 40, 100])
def test_labels_and_derived_rows(block_rows: int) -> None:
    rows = blocked(block_rows=block_rows)
    labels = rows.label(is_positive, 0.5)
    assert labels.dtype == np.int32
    np.testing.assert_array_equal(labels, X[:, 0] > 0.5)
    derived = rows.derive(two_columns, 2.0, n_features=2, dtype=np.float32)
    assert isinstance(derived, BlockedRows)
    assert (derived.shape, derived.dtype) == ((40, 2), np.float32)
    np.testing.assert_array_equal(derived.bounds, rows.bounds)
    np.testing.assert_array_equal(derived.gather(np.arange(40)), (2 * X[:, :2]).astype(np.float32))


def test_transformed_rows_are_rows_after_a_function() -> None:
    rows = blocked().transform(squares, 3, np.float64)
    np.testing.assert_allclose(rows.total(count_and_sum)[1], np.square(X).sum(axis=0))
    np.testing.assert_array_equal(rows.gather(np.array([3, 1])), np.square(X[[3, 1]]))
    np.testing.assert_array_equal(rows.label(is_positive, 1.0), np.square(X[:, 0]) > 1.0)
    np.testing.assert_allclose(rows.moments.mean, np.square(X).mean(axis=0))
    kept = rows.derive(two_columns, 1.0, n_features=2, dtype=np.float32)
    np.testing.assert_array_equal(kept.gather(np.arange(40)), np.square(X[:, :2]).astype(np.float32))
    again = rows.transform(squares, 3, np.float64)
    np.testing.assert_array_equal(again.rows(np.array([0])), np.square(np.square(X[:1])))


@given(
    seed=st.integers(0, 999),
    n_rows=st.integers(1, 60),
    block_rows=st.integers(1, 70),
    offset=st.sampled_from([0.0, 1e3, -1e9]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_moments_are_those_of_numpy_at_any_offset(
    seed: int, n_rows: int, block_rows: int, offset: float, dtype: Any
) -> None:
    table = (np.random.RandomState(seed).normal(size=(n_rows, 2)) * [1, 50] + offset).astype(dtype)
    moments = FileRows(table, block_rows=block_rows).moments
    exact = table.astype(np.float64)
    assert moments.n_rows == n_rows
    np.testing.assert_allclose(moments.mean, exact.mean(axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(moments.variance, exact.var(axis=0), rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(moments.lowest, table.min(axis=0))
    np.testing.assert_array_equal(moments.highest, table.max(axis=0))


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (
            np.nan,
            ValueError,
            "Input X contains NaN: row 5,437, column 1 of X \\(block 544 of 1,000, row 7 of the block",
        ),
        (np.inf, ValueError, "Input X contains infinity: row 5,437, column 1"),
        (-np.inf, ValueError, "Input X contains infinity: row 5,437, column 1"),
        (1e300, NumberTooLargeError, "X holds 1e\\+300 in row 5,437, column 1 of X \\(block 544 of 1,000"),
    ],
)
def test_one_bad_number_in_a_thousand_blocks_is_named(value: float, error: type[Exception], words: str) -> None:
    table = np.zeros((10_000, 2))
    table[5437, 1] = value
    rows = FileRows(table, block_rows=10)
    with pytest.raises(error, match=words):
        PCKMeans(n_clusters=2).fit(rows)
    fitted = PCKMeans(n_clusters=2, random_state=0).fit(np.eye(2))
    with pytest.raises(error, match=words):
        fitted.predict(FileRows(table, block_rows=10))


def test_a_bad_number_is_named_with_the_name_of_its_column() -> None:
    table = np.zeros((4, 2))
    table[2, 0] = np.nan
    with pytest.raises(ValueError, match="row 2, column 'price' of X"):
        PCKMeans(n_clusters=2).fit(FileRows(table, ["price", "size"], block_rows=2))


def test_the_number_of_columns_and_their_names_are_compared_with_those_of_the_fit() -> None:
    model = PCKMeans(n_clusters=2, random_state=0).fit(blocked(columns=["a", "b", "c"]))
    assert model.n_features_in_ == 3
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    model.predict(blocked(columns=["a", "b", "c"]))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(blocked(columns=["a", "b", "d"]))
    nameless = PCKMeans(n_clusters=2, random_state=0).fit(blocked())
    for method in (nameless.predict, nameless.transform, nameless.score):
        with pytest.raises(ValueError, match="X has 2 features, but PCKMeans is expecting 3 features as input"):
            method(FileRows(np.zeros((5, 2))))
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict(blocked())


def test_the_list_of_classes_that_take_blocks_is_right() -> None:
    taking = {entry.class_name for entry in CATALOGUE if entry.load()._takes_blocks}
    assert taking == set(TAKING_BLOCKS)
    assert len(TAKING_BLOCKS) == len(taking)


@pytest.mark.parametrize(
    "entry", [entry for entry in CATALOGUE if entry.class_name not in TAKING_BLOCKS], ids=lambda entry: entry.class_name
)
def test_other_classes_say_which_do(entry: Any) -> None:
    with pytest.raises(TypeError, match=f"{entry.class_name} takes rows in memory only.* PCKMeans, .* take rows in bl"):
        entry.load()().fit(blocked())


def test_rows_are_not_turned_into_an_array_by_accident() -> None:
    with pytest.raises(TypeError, match=r"FileRows\(40 x 3 numbers of float64 in 6 blocks\) are not turned into an ar"):
        np.asarray(blocked())


def test_what_is_read_in_blocks(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert as_blocked(X) is None
    rows = blocked()
    assert as_blocked(rows) is rows
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert as_blocked(mapped) is None
    monkeypatch.setattr("mustlink.blocks._convert.MIN_MAPPED_BYTES", 10)
    assert isinstance(as_blocked(mapped), FileRows)
    assert as_blocked(mapped.T) is None
    assert as_blocked(mapped[:, 0]) is None


@pytest.mark.parametrize("make", [lambda: X[:, :0], lambda: X[:0], lambda: X[0], lambda: X.T, lambda: X.astype(int)])
def test_arrays_that_are_no_rows_are_refused(make: Callable[[], np.ndarray]) -> None:
    with pytest.raises(ValueError, match=r"at least one row|two dimensions of float32 or float64 in C order"):
        FileRows(make())


@settings(max_examples=20)
@given(st.integers(1, 45))
def test_transform_of_k_means_is_computed_by_block(block_rows: int) -> None:
    for model in (PCKMeans(n_clusters=3, random_state=0), MPCKMeans(n_clusters=3, random_state=0)):
        fitted = model.fit(X.astype(np.float32))
        found = fitted.transform(FileRows(X.astype(np.float32), block_rows=block_rows))
        assert isinstance(found, BlockedRows)
        expected = fitted.transform(X.astype(np.float32))
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(found.gather(np.arange(40)), expected, rtol=1e-5)


def test_rows_and_their_transformation_are_picklable() -> None:
    rows = blocked(columns=["a", "b", "c"])
    again = pickle.loads(pickle.dumps(rows))
    np.testing.assert_array_equal(again.gather(np.arange(40)), X)
    assert again.columns == rows.columns
    transformed = pickle.loads(pickle.dumps(rows.transform(squares, 3, np.float64)))
    np.testing.assert_array_equal(transformed.gather(np.array([5])), np.square(X[[5]]))


def test_hdbscan_names_the_shape() -> None:
    with pytest.raises(TypeError, match=r"X is read in blocks \(40 x 3 numbers\)"):
        ConstrainedHDBSCAN().fit(blocked())


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_distinct_labels(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the largest label of a type, and labels of several slices."""
    monkeypatch.setattr("mustlink.blocks._labels.SLICE_LABELS", 3)
    labels = np.array([127, 0, 0, -1, 5, 0, 127], dtype=dtype)
    np.testing.assert_array_equal(distinct_labels(labels), [-1, 0, 5, 127])
    assert len(distinct_labels(labels[:0])) == 0  # type: ignore[arg-type]
