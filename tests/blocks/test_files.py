"""Rows in memory-mapped files: pages, threads, labels on disk, interrupts."""

from __future__ import annotations

import errno
import pickle
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mustlink import Constraints, PCKMeans, SizeConstrainedKMeans
from mustlink.blocks import FileRows, open_rows

X = np.random.RandomState(0).normal(size=(500, 4)).astype(np.float32)


def sum_of(block: np.ndarray) -> float:
    return float(block.sum(dtype=np.float64))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    np.save(tmp_path / "rows.npy", X)
    return tmp_path / "rows.npy"


def mapped(path: Path, **options: Any) -> FileRows:
    return FileRows(np.load(path, mmap_mode="r"), block_rows=60, **options)


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_a_file_is_opened_and_clustered_as_its_array_is(path: Path) -> None:
    rows = open_rows(path)
    assert repr(rows) == "FileRows(500 x 4 numbers of float32 in 1 block)"
    links = Constraints(must_link=[(0, 1)], cannot_link=[(0, 2), (3, 499)])
    expected = PCKMeans(n_clusters=4, random_state=0).fit(X, constraints=links)
    found = PCKMeans(n_clusters=4, random_state=0).fit(mapped(path), constraints=links)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.cluster_centers_.dtype, np.float32)


def test_a_file_that_is_no_table_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "one.npy", np.zeros(3))
    with pytest.raises(ValueError, match="two dimensions"):
        open_rows(tmp_path / "one.npy")
    with pytest.raises(FileNotFoundError):
        open_rows(tmp_path / "none.npy")


def test_labels_are_written_to_a_file_on_request(path: Path, tmp_path: Path) -> None:
    expected = PCKMeans(n_clusters=4, random_state=0).fit(mapped(path))
    out = tmp_path / "labels.npy"
    model = PCKMeans(n_clusters=4, random_state=0).fit(mapped(path, labels=out))
    assert isinstance(model.labels_, np.memmap)
    np.testing.assert_array_equal(np.load(out), expected.labels_)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["labels.npy", "rows.npy"]


def test_a_prediction_leaves_the_labels_of_the_fit(path: Path, tmp_path: Path) -> None:
    rows = mapped(path, labels=tmp_path / "labels.npy")
    labels = PCKMeans(n_clusters=4, random_state=0).fit(rows).labels_.copy()
    other = PCKMeans(n_clusters=2, random_state=0).fit(X)
    for given in (rows, rows.transform(np.asarray, 4, np.float32)):
        predicted = other.predict(given)
        assert not isinstance(predicted, np.memmap)
        np.testing.assert_array_equal(predicted, other.labels_)
        np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), labels)


@pytest.mark.parametrize("size", [None, 200])
def test_sized_labels_are_written_to_a_file_on_request(path: Path, tmp_path: Path, size: int | None) -> None:
    model = SizeConstrainedKMeans(n_clusters=3, size_max=size, random_state=0)
    found = model.fit(mapped(path, labels=tmp_path / "labels.npy")).labels_
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), found)
    assert isinstance(found, np.memmap)
    np.testing.assert_array_equal(model.fit(X).labels_, found)


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_no_file_and_no_thread(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    model = PCKMeans(n_clusters=3, random_state=0).fit(X)
    (tmp_path / "labels.npy").write_bytes(b"before")
    calls: list[int] = []

    def fail(self: Any, block: np.ndarray, *arguments: Any) -> None:
        calls.append(len(block))
        if len(calls) > 1:
            # On a busy machine the caller may see the first failure late.
            time.sleep(0.5)
        raise error

    monkeypatch.setattr("mustlink.blocks._files.n_threads", lambda: 2)
    monkeypatch.setattr("mustlink.blocks._files.WriteBlocks.__call__", fail)
    before = threading.active_count()
    with pytest.raises(type(error)):
        model.predict(mapped(path, labels=tmp_path / "labels.npy"))
    assert threading.active_count() == before
    # Both threads may have begun another block when the first failed; not all nine blocks are worked on.
    assert len(calls) < 9
    assert sorted(file.name for file in tmp_path.iterdir()) == ["labels.npy", "rows.npy"]
    assert (tmp_path / "labels.npy").read_bytes() == b"before"


def test_an_interrupted_fit_has_no_result(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = PCKMeans(n_clusters=3, random_state=0).fit(X)

    def fail(*arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mustlink.kmeans._blocked.sum_nearest", fail)
    with pytest.raises(KeyboardInterrupt):
        model.fit(mapped(path))
    assert not hasattr(model, "labels_")


def test_threads_do_not_change_results(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = PCKMeans(n_clusters=4, random_state=0).fit(mapped(path))
    monkeypatch.setattr("mustlink.blocks._files.n_threads", lambda: 3)
    several = PCKMeans(n_clusters=4, random_state=0).fit(mapped(path))
    np.testing.assert_array_equal(one.labels_, several.labels_)
    np.testing.assert_array_equal(one.cluster_centers_, several.cluster_centers_)


def test_a_mapped_file_is_pickled_by_its_name(path: Path) -> None:
    rows = mapped(path)
    rows.moments  # noqa: B018  (computed once, and sent along)
    text = pickle.dumps(rows)
    assert len(text) < 2000 < X.nbytes
    again = pickle.loads(text)
    np.testing.assert_array_equal(again.gather(np.arange(500)), X)
    part = FileRows(np.load(path, mmap_mode="r")[100:200])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(part)).gather(np.arange(100)), X[100:200])


def test_a_map_that_may_have_been_written_is_pickled_by_its_numbers(path: Path) -> None:
    private = np.load(path, mmap_mode="c")
    private[0] = 7.0
    again = pickle.loads(pickle.dumps(FileRows(private)))
    np.testing.assert_array_equal(again.gather(np.array([0, 1])), [[7.0] * 4, X[1]])


def test_an_estimator_fitted_on_a_file_is_picklable_and_small(path: Path, tmp_path: Path) -> None:
    model = PCKMeans(n_clusters=4, random_state=0).fit(mapped(path, labels=tmp_path / "labels.npy"))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.labels_, model.labels_)
    np.testing.assert_array_equal(again.predict(mapped(path)), model.predict(X))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the memory of the process from /proc")
def test_passes_over_a_large_file_do_not_keep_it_in_memory(tmp_path: Path) -> None:
    """200 MB are mapped; about a second."""
    n_rows = 200 * (1 << 20) // (16 * 8)
    np.lib.format.open_memmap(tmp_path / "large.npy", mode="w+", dtype=np.float64, shape=(n_rows, 16)).flush()
    rows = open_rows(tmp_path / "large.npy")
    rows.total(sum_of)
    before = resident_bytes()
    for _ in range(3):
        rows.total(sum_of)
    rows.gather(np.arange(0, n_rows, 64))
    in_place = rows.in_place()  # type: ignore[attr-defined]
    in_place.map_pieces(lambda _, piece: sum_of(piece.X))
    in_place.pick(np.arange(0, n_rows, 64))
    assert resident_bytes() - before < 60 << 20


@pytest.mark.parametrize("block_rows", [0, -3])
def test_a_block_has_a_row(block_rows: int) -> None:
    with pytest.raises(ValueError, match=f"block_rows={block_rows}; a block needs at least one row"):
        FileRows(X, block_rows=block_rows)


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.asfortranarray(X), r"in Fortran order, column after column. Save it again as .*dtype=numpy.float32\)"),
        (X.astype(int), r"type int64. Save it again as numpy.ascontiguousarray\(X, dtype=numpy.float64\)"),
        (X.astype(">f8"), r"type >f8 \(not the native byte order\). Save it again as"),
        (X[:, ::2], "not in C order. Save it again as"),
    ],
)
def test_other_arrays_are_refused_with_what_to_do(array: np.ndarray, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        FileRows(array)
