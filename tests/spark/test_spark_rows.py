"""Rows of Spark: passes over blocks give what the same functions give in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from mustlink import LCVQE, COPKMeans, PCKMeans
from mustlink.blocks import FileRows
from mustlink.constraints import Constraints
from mustlink.spark import SparkRows

N_ROWS = 240


def table() -> np.ndarray:
    rng = np.random.default_rng(3)
    centers = rng.normal(scale=3.0, size=(4, 3))
    return (centers[rng.integers(4, size=N_ROWS)] + rng.normal(size=(N_ROWS, 3))).astype(np.float32)


@pytest.fixture(scope="module")
def frame(spark: Any) -> Any:
    rows = [(f"u{place:03}", *map(float, row)) for place, row in enumerate(table())]
    return spark.createDataFrame(rows, "id string, x float, `y.z` float, `w` float").repartition(5)


@pytest.fixture(scope="module")
def rows(frame: Any) -> Any:
    made = SparkRows(frame, n_partitions=2)
    yield made
    made.unpersist()


@pytest.fixture(scope="module")
def table_in_order(rows: Any) -> np.ndarray:
    """The same rows in memory, in the same order, found by their ids."""
    order = [int(name[1:]) for name in rows.ids_of(np.arange(N_ROWS))]
    assert sorted(order) == list(range(N_ROWS))
    return table()[order]


def label_list(labels: Any, rows: Any) -> np.ndarray:
    label_of = {row.id: row.label for row in labels.collect()}
    assert len(label_of) == N_ROWS
    return np.array([label_of[name] for name in rows.ids_of(np.arange(N_ROWS))])


def test_rows_are_found_by_number(rows: Any, table_in_order: np.ndarray) -> None:
    X = table_in_order
    assert rows.shape == X.shape
    assert rows.dtype == X.dtype == np.float32
    assert rows.columns == ["x", "y.z", "w"]
    assert rows.n_blocks == 2
    np.testing.assert_array_equal(rows.gather(np.arange(N_ROWS)), X)
    index = np.array([7, 200, 3, 3])
    np.testing.assert_array_equal(rows.gather(index), X[index])
    assert rows.gather(np.empty(0, dtype=int)).shape == (0, 3)
    np.testing.assert_allclose(rows.moments.mean, X.mean(axis=0), rtol=1e-5)


@pytest.mark.parametrize(
    "clusterer",
    [
        PCKMeans(n_clusters=4, n_init=1, max_iter=2, random_state=1),
        COPKMeans(n_clusters=4, n_init=1, max_iter=2, random_state=1),
        LCVQE(n_clusters=4, n_init=1, max_iter=2, random_state=1),
    ],
    ids=lambda clusterer: type(clusterer).__name__,
)
def test_labels_are_those_in_memory(clusterer: Any, rows: Any, table_in_order: np.ndarray) -> None:
    X = table_in_order
    links = Constraints(must_link=[(0, 100), (5, 230)], cannot_link=[(1, 2), (100, 7)])
    expected = clusterer.fit(X, constraints=links).labels_.copy()
    centers = clusterer.cluster_centers_.copy()
    clusterer.fit(rows, constraints=links)
    np.testing.assert_array_equal(label_list(clusterer.labels_, rows), expected)
    np.testing.assert_allclose(clusterer.cluster_centers_, centers, rtol=1e-5)


def test_predict_takes_rows_of_spark(rows: Any, table_in_order: np.ndarray) -> None:
    model = PCKMeans(n_clusters=3, n_init=1, max_iter=2, random_state=0).fit(rows)
    X = pd.DataFrame(table_in_order, columns=rows.columns)
    np.testing.assert_array_equal(label_list(model.predict(rows), rows), model.predict(X))


def test_derived_rows_stay_in_the_blocks(rows: Any, table_in_order: np.ndarray) -> None:
    X = table_in_order

    def codes(block: Any, factor: int) -> Any:
        return (block[:, :2] > 0).astype(np.uint8) * factor

    def one_number(block: Any, shift: int) -> Any:
        return block[:, 0].astype(np.int64) + shift

    derived = rows.derive(codes, 3, n_features=2, dtype=np.uint8)
    expected = (X[:, :2] > 0).astype(np.uint8) * 3
    assert derived.dtype == np.uint8
    np.testing.assert_array_equal(derived.gather(np.arange(N_ROWS)), expected)
    each = [(number,) for number in range(rows.n_blocks)]
    labels = label_list(derived.label(one_number, each=each), rows)
    block_of = np.repeat(np.arange(2), np.diff(rows.bounds))
    np.testing.assert_array_equal(labels, expected[:, 0] + block_of)
    twice = derived.derive(codes, 1, n_features=2, dtype=np.int16)
    np.testing.assert_array_equal(twice.gather(np.array([4, 9])), expected[[4, 9]] // 3)


def test_results_of_many_blocks_are_joined_on_executors(rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def sums(block: Any, place: int) -> Any:
        return block.sum(axis=0, dtype=np.float64), [place]

    each = [(number,) for number in range(rows.n_blocks)]
    expected = rows.total(sums, each=each)
    monkeypatch.setattr("mustlink.spark._rows.MAX_BLOCKS_JOINED_BY_DRIVER", 1)
    found = rows.total(sums, each=each)
    np.testing.assert_allclose(found[0], expected[0])
    # Lists are joined in the order of the blocks.
    assert found[1] == expected[1] == [0, 1]


def test_an_error_of_a_function_is_raised_as_it_is(rows: Any) -> None:
    def refuse(block: Any) -> Any:
        raise ValueError("This block cannot be used.")

    with pytest.raises(ValueError, match=r"^This block cannot be used\.$"):
        rows.run(refuse)


def test_large_arguments_reach_every_block(rows: Any) -> None:
    large = np.arange(400_000.0)
    assert rows.run(lambda block, values: float(values.sum()), large) == [large.sum()] * rows.n_blocks


def test_the_same_passes_as_on_a_file(rows: Any, table_in_order: np.ndarray) -> None:
    X = table_in_order
    on_file = FileRows(X, block_rows=50).moments
    np.testing.assert_allclose(rows.moments.squares, on_file.squares, rtol=1e-5)


def test_partitions_follow_from_the_size_of_the_rows(frame: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mustlink.spark._rows.BLOCK_BYTES", N_ROWS * 12 // 6)
    made = SparkRows(frame)
    assert 5 <= made.n_blocks <= 6
    assert made.n_rows == N_ROWS
    made.unpersist()
