"""Sizes on rows of a file: the labels of memory, and neither rows nor costs held."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from mustlink import Constraints, SizeConstrainedKMeans
from mustlink.blocks import BlockedRows, FileRows


class Elsewhere(BlockedRows):
    """Rows on another machine."""

    def __init__(self, array: np.ndarray) -> None:
        super().__init__(np.array([0, len(array)]), array.shape[1], array.dtype)
        self._array = array

    def run(self, task: Any, *shared: Any, each: Any = None) -> list[Any]:
        return [task(self._array, *shared, *(each[0] if each else ()))]

    def gather(self, index: Any) -> np.ndarray:
        return self._array[index]

    def label(self, task: Any, *shared: Any, dtype: Any = np.int32, each: Any = None) -> np.ndarray:
        return np.asarray(self.run(task, *shared, each=each)[0]).astype(dtype)

    def derive(self, task: Any, *shared: Any, n_features: int, dtype: Any) -> BlockedRows:
        raise NotImplementedError


def assert_same(in_memory: SizeConstrainedKMeans, in_blocks: SizeConstrainedKMeans) -> None:
    np.testing.assert_array_equal(in_blocks.labels_, in_memory.labels_)
    np.testing.assert_array_equal(in_blocks.sizes_, in_memory.sizes_)
    assert in_blocks.labels_.dtype == np.int32
    assert in_blocks.n_iter_ == in_memory.n_iter_
    assert in_blocks.violations_ == in_memory.violations_
    np.testing.assert_allclose(in_blocks.prices_, in_memory.prices_)
    np.testing.assert_allclose(in_blocks.gains_, in_memory.gains_)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 9999),
    n_rows=st.sampled_from([30, 400, 9_000]),
    n_clusters=st.integers(1, 6),
    block_rows=st.integers(100, 5_000),
    slack=st.sampled_from([0, 1, 5]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_sizes_in_blocks_are_those_in_memory(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    n_rows: int,
    n_clusters: int,
    block_rows: int,
    slack: int,
    dtype: Any,
) -> None:
    X = np.random.RandomState(seed).normal(size=(n_rows, 3)).astype(dtype)
    path = tmp_path_factory.mktemp("rows") / "rows.npy"
    np.save(path, X)
    rows = FileRows(np.load(path, mmap_mode="r"), block_rows=block_rows)
    model = SizeConstrainedKMeans(
        n_clusters, size_min=n_rows // n_clusters - slack, random_state=seed, max_iter=10, polish=n_rows < 500
    )
    in_memory, in_blocks = clone(model).fit(X), clone(model).fit(rows)
    assert_same(in_memory, in_blocks)
    np.testing.assert_array_equal(in_blocks.predict(rows, sized=True), in_memory.predict(X, sized=True))
    np.testing.assert_array_equal(in_blocks.predict(rows), in_memory.predict(X))
    assert in_blocks.score(rows) == pytest.approx(in_memory.score(X))
    np.testing.assert_allclose(in_blocks.transform(rows).gather(np.arange(5)), in_memory.transform(X)[:5], rtol=1e-5)


def test_links_pivots_and_outliers_in_blocks() -> None:
    X = np.random.RandomState(0).normal(size=(200, 2))
    rows = FileRows(X, block_rows=30)
    links = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 5), (7, 8)])
    for model, given_too in (
        (SizeConstrainedKMeans(4, size_max=60, random_state=0), {"constraints": links}),
        (SizeConstrainedKMeans(4, size_min=20, pivot_min=3, random_state=0), {"pivots": np.arange(200) % 9 == 0}),
        (SizeConstrainedKMeans(4, size_min=20, outlier_cost=2.0, random_state=0), {}),
        (SizeConstrainedKMeans(4, size_min=40, compare=True, random_state=0), {"apart": np.arange(200) // 3}),
    ):
        assert_same(clone(model).fit(X, **given_too), clone(model).fit(rows, **given_too))


def test_few_costs_and_rows_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """With everything computed in small parts, the result is the same."""
    X = np.random.RandomState(1).normal(size=(20_000, 3))
    model = SizeConstrainedKMeans(5, size_min=3_999, random_state=0, max_iter=4)
    expected = clone(model).fit(X)
    monkeypatch.setattr("mustlink.sizes._assign._paths.MAX_HELD", 100)
    monkeypatch.setattr("mustlink.sizes._size_constrained._row_costs.MAX_HELD", 100)
    monkeypatch.setattr("mustlink.sizes._size_constrained._row_costs.PART_BYTES", 24_000)
    monkeypatch.setattr("mustlink.blocks._in_place.MAX_BLOCK_BYTES", 10_000)
    assert_same(expected, clone(model).fit(FileRows(X, block_rows=777)))


def test_rows_on_other_machines_are_refused() -> None:
    X = np.random.RandomState(0).normal(size=(20, 2))
    model = SizeConstrainedKMeans(2, size_min=5, random_state=0)
    with pytest.raises(TypeError, match=r"Sizes bound all rows together.*on this machine.*open_rows\(path\)"):
        model.fit(Elsewhere(X))
    model.fit(X)
    np.testing.assert_array_equal(model.predict(Elsewhere(X)), model.predict(X))
    with pytest.raises(TypeError, match="Sizes bound all rows together"):
        model.predict(Elsewhere(X), sized=True)


def test_what_sizes_in_blocks_do_not_take() -> None:
    rows = FileRows(np.random.RandomState(0).normal(size=(20, 2)))
    with pytest.raises(ValueError, match='metric="manhattan" needs all values of a cluster at once'):
        SizeConstrainedKMeans(2, metric="manhattan").fit(rows)
    with pytest.raises(ValueError, match="sample_weight is not supported for rows that are read in blocks"):
        SizeConstrainedKMeans(2).fit(rows, sample_weight=np.ones(20))


def test_labels_go_to_the_file_that_was_asked_for(tmp_path: Path) -> None:
    rows = FileRows(np.random.RandomState(0).normal(size=(50, 2)), labels=tmp_path / "labels.npy", block_rows=9)
    model = SizeConstrainedKMeans(3, size_max=20, random_state=0).fit(rows)
    assert isinstance(model.labels_, np.memmap)
    np.testing.assert_array_equal(np.bincount(np.load(tmp_path / "labels.npy")), model.sizes_)
