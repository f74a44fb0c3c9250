"""Parquet as rows in blocks: the numbers of the files, one pass of decoding, and errors that name the file."""

from __future__ import annotations

import errno
import gc
import itertools
import os
import shutil
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mustlink import Constraints, PCKMeans
from mustlink.blocks import FileRows, ParquetFiles, open_rows
from mustlink.blocks import _parquet as parquet_module
from mustlink.errors import DiskSpaceError, FileFormatError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def write(path, columns, group=7):
    pq.write_table(pa.table(columns), path, row_group_size=group)
    return path


@pytest.fixture
def numbers():
    return np.random.default_rng(0).normal(size=(40, 3))


@pytest.fixture
def file(tmp_path, numbers):
    return write(tmp_path / "rows.parquet", dict(zip("abc", numbers.T, strict=True)))


def test_the_numbers_of_a_file(file, numbers):
    rows = open_rows(file)
    assert isinstance(rows, FileRows)
    assert rows.columns == ["a", "b", "c"]
    assert rows.dtype == np.float64
    np.testing.assert_array_equal(rows.gather(np.arange(40)), numbers)
    np.testing.assert_array_equal(open_rows(file, columns=["c", "a"]).gather(np.arange(40)), numbers[:, [2, 0]])


def test_the_files_of_a_folder_in_the_order_of_their_names(tmp_path, numbers):
    for start, name in [(25, "part-2.parquet"), (0, "part-0.pq"), (10, "part-1.parquet")]:
        stop = {0: 10, 10: 25, 25: 40}[start]
        write(tmp_path / name, dict(zip("abc", numbers[start:stop].T, strict=True)))
    write(tmp_path / "part-3.parquet", {name: np.empty(0) for name in "abc"})
    (tmp_path / "_SUCCESS").touch()
    np.testing.assert_array_equal(open_rows(tmp_path).gather(np.arange(40)), numbers)


@given(
    sizes=st.lists(st.integers(0, 20), min_size=1, max_size=5).filter(sum),
    group=st.integers(1, 9),
    cells=st.integers(1, 40),
)
def test_the_blocks_of_files_do_not_matter(tmp_path_factory, sizes, group, cells):
    folder = tmp_path_factory.mktemp("parts")
    values = np.random.default_rng(sum(sizes)).normal(size=(sum(sizes), 2)).astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    for number, (start, stop) in enumerate(itertools.pairwise(starts)):
        write(folder / f"{number}.parquet", dict(zip("ab", values[start:stop].T, strict=True)), group)
    before, parquet_module.BATCH_CELLS = parquet_module.BATCH_CELLS, cells
    try:
        rows = open_rows(folder)
    finally:
        parquet_module.BATCH_CELLS = before
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows.gather(np.arange(len(values))), values)
    chosen = np.arange(0, len(values), 3)
    taken = ParquetFiles(folder).take(chosen, ["b"])
    np.testing.assert_array_equal(taken.column("b").to_numpy(), values[chosen, 1])


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ([pa.float32(), pa.int8(), pa.uint16(), pa.bool_(), pa.float16()], np.float32),
        ([pa.float32(), pa.int32()], np.float64),
        ([pa.float64()], np.float64),
        ([pa.int64(), pa.float32()], np.float64),
    ],
)
def test_the_precision_is_that_of_the_columns(tmp_path, kinds, expected):
    columns = {f"x{i}": pa.array(np.array([0, 1, 1])).cast(kind) for i, kind in enumerate(kinds)}
    rows = open_rows(write(tmp_path / "rows.parquet", columns))
    assert rows.dtype == expected
    np.testing.assert_array_equal(rows.gather(np.arange(3)), np.tile([[0], [1], [1]], len(kinds)))


def test_a_fit_has_the_labels_of_memory(tmp_path):
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(size=(200, 4)), rng.normal(size=(200, 4)) + 3])[rng.permutation(400)]
    links = Constraints(must_link=[(0, 5), (7, 9)], cannot_link=[(0, 7)])
    rows = open_rows(write(tmp_path / "rows.parquet", {f"x{i}": X[:, i] for i in range(4)}, 50))
    in_blocks = PCKMeans(3, random_state=0).fit(rows, constraints=links)
    in_memory = PCKMeans(3, random_state=0).fit(X, constraints=links)
    np.testing.assert_array_equal(in_blocks.labels_, in_memory.labels_)
    assert in_blocks.feature_names_in_.tolist() == ["x0", "x1", "x2", "x3"]


# ---- bad input ----------------------------------------------------------------------------------------------------


def test_an_empty_cell_is_named_with_its_file_and_row(tmp_path):
    write(tmp_path / "0.parquet", {"a": [1.0, 2.0], "b": [1, 2]})
    write(tmp_path / "1.parquet", {"a": [1.0, 2.0, 3.0], "b": pa.array([1, 2, None])})
    with pytest.raises(FileFormatError, match=r"1\.parquet, row 2 \(row 4 of all\): the column 'b' is empty; fill in"):
        open_rows(tmp_path)


@pytest.mark.parametrize(("value", "shown"), [(np.nan, "nan"), (-np.inf, "-inf")])
def test_a_number_that_is_none_is_named(tmp_path, value, shown):
    values = np.zeros(30)
    values[17] = value
    path = write(tmp_path / "rows.parquet", {"a": np.zeros(30), "b": values})
    with pytest.raises(FileFormatError, match=rf"row 17 \(row 17 of all\): the column 'b' holds {shown}"):
        open_rows(path)


def test_columns_without_numbers_are_named_with_what_to_do(tmp_path):
    days = pa.array([0, 1], pa.int32()).cast(pa.date32())
    path = write(tmp_path / "rows.parquet", {"name": ["u", "v"], "x": [1.0, 2.0], "at": days})
    with pytest.raises(FileFormatError, match=r"'name' \(string\), 'at' \(date32\S*\); choose .* columns=\['x'\]"):
        open_rows(path)
    assert open_rows(path, columns=["x"]).shape == (2, 1)
    with pytest.raises(FileFormatError, match=r"no column 'y'; its columns are 'name', 'x', 'at'"):
        open_rows(path, columns=["y"])
    with pytest.raises(FileFormatError, match="at least one is needed"):
        open_rows(path, columns=[])
    with pytest.raises(TypeError, match=r"columns='xy' is one text; pass a list of names, such as \['xy'\]"):
        open_rows(path, columns="xy")
    with pytest.raises(ValueError, match="columns names 'x' 2 times; name every column once"):
        open_rows(path, columns=["x", "x"])


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"a": [1.0]}, "b.parquet has no column 'b', which a.parquet has"),
        ({"a": [1.0], "b": [2.0], "c": [1]}, "b.parquet has the column 'c', which a.parquet has not"),
        ({"a": [1.0], "B": [2.0]}, "b.parquet has no column 'b', which a.parquet has, and has the column 'B'"),
        ({"a": [1.0], "b": pa.array([1.0], "float32")}, "the column 'b' is of the type float, and of the type double"),
    ],
)
def test_files_of_a_folder_must_be_alike(tmp_path, other, words):
    write(tmp_path / "a.parquet", {"a": [1.0], "b": [2.0]})
    write(tmp_path / "b.parquet", other)
    with pytest.raises(FileFormatError, match=words):
        open_rows(tmp_path)


def test_columns_in_another_order_are_the_same(tmp_path):
    write(tmp_path / "a.parquet", {"a": [1.0], "b": [2.0]})
    write(tmp_path / "b.parquet", {"b": [4.0], "a": [3.0]})
    np.testing.assert_array_equal(open_rows(tmp_path).gather(np.arange(2)), [[1, 2], [3, 4]])


def test_folders_without_parquet(tmp_path):
    with pytest.raises(FileFormatError, match=r"a folder without Parquet files .*; it has nothing"):
        open_rows(tmp_path)
    (tmp_path / "rows.csv").write_text("a\n1\n")
    with pytest.raises(FileFormatError, match=r"it has only 'rows\.csv'"):
        open_rows(tmp_path)
    (tmp_path / "year=2024").mkdir()
    write(tmp_path / "year=2024" / "a.parquet", {"a": [1.0]})
    with pytest.raises(FileFormatError, match="in folders below it, such as year=2024; put all in one folder"):
        open_rows(tmp_path)


def test_files_that_are_no_parquet(tmp_path, file):
    (tmp_path / "text.parquet").write_text("a,b\n1,2\n")
    with pytest.raises(FileFormatError, match=r"text\.parquet is not a readable Parquet file"):
        open_rows(tmp_path / "text.parquet")
    whole = file.read_bytes()
    (tmp_path / "half.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileFormatError, match=r"half\.parquet is not a readable Parquet file"):
        open_rows(tmp_path / "half.parquet")
    broken = bytearray(whole)
    broken[10:200] = bytes(190)
    (tmp_path / "broken.parquet").write_bytes(broken)
    with pytest.raises(FileFormatError, match=r"broken\.parquet is not a readable Parquet file"):
        open_rows(tmp_path / "broken.parquet")
    with pytest.raises(FileNotFoundError):
        open_rows(tmp_path / "none.parquet")
    with pytest.raises(FileFormatError, match=r"empty\.parquet has no rows"):
        open_rows(write(tmp_path / "empty.parquet", {"a": np.empty(0)}))


def test_the_extra_is_named(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(FileFormatError, match=r'needs pyarrow; install it with: pip install "mustlink\[parquet\]"'):
        open_rows(file)


# ---- the disk -----------------------------------------------------------------------------------------------------


def test_nothing_is_left_in_the_scratch_folder(tmp_path, file):
    folder = tmp_path / "scratch"
    folder.mkdir()
    rows = open_rows(file, scratch=folder)
    if os.name != "nt":
        # Not even while the rows are used: the file has no name.
        assert list(folder.iterdir()) == []
    assert rows.shape == (40, 3)
    del rows
    gc.collect()
    assert list(folder.iterdir()) == []
    with pytest.raises(NotADirectoryError, match="does not exist"):
        open_rows(file, scratch=tmp_path / "missing")


def test_too_little_space_is_refused_before_anything_is_read(tmp_path, file, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(1000, 500, 500))
    monkeypatch.setattr(ParquetFiles, "parts", lambda *_: (1 / 0 for _ in "x"))
    with pytest.raises(DiskSpaceError, match=r"take 960 bytes on the disk .* has 500 bytes free; pass another folder"):
        open_rows(file, scratch=tmp_path)


SMALL_DISK = """
import resource, signal, sys
from mustlink.blocks import open_rows
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    {code}
except OSError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.skipif(os.name == "nt", reason="limits are those of Unix")
def test_a_disk_that_is_full_in_the_middle(tmp_path):
    path = write(tmp_path / "rows.parquet", {"a": np.zeros(60_000)}, 1000)
    folder = tmp_path / "scratch"
    folder.mkdir()
    script = SMALL_DISK.format(code="open_rows(sys.argv[1], scratch=sys.argv[2])")
    done = subprocess.run([sys.executable, "-c", script, path, folder], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("DiskSpaceError The rows of ")
    assert "take 480 kB on the disk" in done.stdout
    assert list(folder.iterdir()) == []


def test_memory_does_not_grow_with_the_rows(tmp_path):
    """Of numpy by tracemalloc, of Arrow by its pool; a row group has 80 kB, and the larger file 16 MB."""
    peaks = []
    for n_groups in (20, 200):
        path = write(tmp_path / f"{n_groups}.parquet", {f"x{i}": np.zeros(n_groups * 2000) for i in range(5)}, 2000)
        before = parquet_module.BATCH_CELLS
        parquet_module.BATCH_CELLS = 5 * 1000
        pa.default_memory_pool().release_unused()
        held = pa.total_allocated_bytes()
        arrow = [0]
        numbers_of_part = parquet_module.numbers_of_part

        def watched(*arguments, arrow=arrow, held=held, inner=numbers_of_part):
            arrow[0] = max(arrow[0], pa.total_allocated_bytes() - held)
            return inner(*arguments)

        parquet_module.numbers_of_part = watched
        tracemalloc.start()
        try:
            rows = open_rows(path)
            peaks.append((tracemalloc.get_traced_memory()[1], arrow[0]))
        finally:
            tracemalloc.stop()
            parquet_module.numbers_of_part = numbers_of_part
            parquet_module.BATCH_CELLS = before
        assert rows.shape == (n_groups * 2000, 5)
    (numpy_few, arrow_few), (numpy_many, arrow_many) = peaks
    assert numpy_many < numpy_few + 100_000
    assert arrow_many < arrow_few + 100_000
    assert numpy_many < 1_000_000


# ---- .npy ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.asfortranarray(np.ones((4, 3))), "in Fortran order.*save it again as numpy.ascontiguousarray"),
        (np.asfortranarray(np.ones((4, 3), dtype=np.float32)), r"ascontiguousarray\(X, dtype=numpy.float32\)"),
        (np.ones((4, 3), dtype=">f8"), r"not the native byte order.*save it again as .*dtype=numpy.float64\)"),
        (
            np.ones((4, 3), dtype=np.int32),
            r"type int32; float32 or float64 in native .* expected: save .*float64\)",
        ),
        (np.ones(4), r"shape \(4,\).*two dimensions, are expected: reshape it with X\.reshape\(-1, 1\)"),
        (np.ones((2, 2, 2)), "two dimensions, are expected: reshape it"),
        (np.ones((0, 3)), "at least one row and one column are needed"),
        (np.array([["a", "b"]]), "float32 or float64 in native byte order is expected"),
        (np.array([[None, 1]], dtype=object), "an array of objects, not of numbers: save it again as X.astype"),
    ],
)
def test_arrays_that_cannot_be_read_in_blocks(tmp_path, array, words):
    path = tmp_path / "rows.npy"
    np.save(path, array, allow_pickle=True)
    with pytest.raises(FileFormatError, match=words) as caught:
        open_rows(path)
    assert str(path) in str(caught.value)


def test_other_files_are_refused(tmp_path):
    np.savez(tmp_path / "rows.npz", X=np.ones((2, 2)))
    with pytest.raises(FileFormatError, match="an archive of arrays; save one of them alone"):
        open_rows(tmp_path / "rows.npz")
    np.save(tmp_path / "rows.npy", np.ones((100, 3)))
    whole = (tmp_path / "rows.npy").read_bytes()
    for name, content in {"half.npy": whole[:1000], "head.npy": whole[:60]}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FileFormatError, match=f"{name} is not a whole .npy file: it ends before its last number"):
            open_rows(tmp_path / name)
    broken = whole.replace(b"descr", b"dexcr")
    for name, content in {"empty.npy": b"", "text.npy": b"a,b\n1,2\n", "broken.npy": broken}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FileFormatError, match=f"{name} is not an .npy file of numbers; an array of rows"):
            open_rows(tmp_path / name)
    (tmp_path / "rows.csv").write_text("a\n1\n")
    with pytest.raises(FileFormatError, match=r"from \.npy, \.parquet or \.pq, or a folder .* and \.csv is none"):
        open_rows(tmp_path / "rows.csv")
    with pytest.raises(FileNotFoundError):
        open_rows(tmp_path / "none.npy")
    with pytest.raises(FileFormatError, match="names no columns"):
        open_rows(tmp_path / "rows.npy", columns=["x"])


# ---- labels -------------------------------------------------------------------------------------------------------


@pytest.fixture
def rows_and_labels(tmp_path):
    np.save(tmp_path / "rows.npy", np.repeat([[0.0], [9.0]], 50, axis=0))
    folder = tmp_path / "out"
    folder.mkdir()
    return tmp_path / "rows.npy", folder / "labels.npy"


def test_labels_are_a_file_that_appears_when_it_is_complete(rows_and_labels):
    path, target = rows_and_labels
    target.write_bytes(b"old")

    def half(block):
        assert target.read_bytes() == b"old"
        return (block[:, 0] > 5).astype(np.int32)

    found = open_rows(path, labels=target).label(half)
    assert isinstance(found, np.memmap)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(np.load(target), np.repeat([0, 1], 50))
    np.testing.assert_array_equal(found, np.repeat([0, 1], 50))
    assert [entry.name for entry in target.parent.iterdir()] == ["labels.npy"]
    model = PCKMeans(2, random_state=0).fit(open_rows(path, labels=target))
    assert isinstance(model.labels_, np.memmap)
    np.testing.assert_array_equal(np.load(target), model.labels_)


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left")])
def test_a_failure_leaves_no_labels(rows_and_labels, error):
    path, target = rows_and_labels

    def fail(block):
        raise error

    with pytest.raises(type(error)):
        open_rows(path, labels=target).label(fail)
    assert list(target.parent.iterdir()) == []


def test_labels_that_are_the_rows_are_refused(rows_and_labels, tmp_path):
    path, target = rows_and_labels
    before = path.read_bytes()
    os.link(path, target)
    for labels in (path, target):
        with pytest.raises(ValueError, match=r"a file of the rows themselves; write labels to another file"):
            open_rows(path, labels=labels)
    assert path.read_bytes() == before
    folder = tmp_path / "parts"
    folder.mkdir()
    write(folder / "a.parquet", {"x": np.zeros(3)})
    with pytest.raises(ValueError, match="a file of the rows themselves"):
        open_rows(folder, labels=folder / "a.parquet")


def test_a_place_where_labels_cannot_be_written_is_refused_at_once(rows_and_labels, file, tmp_path, monkeypatch):
    rows, _ = rows_and_labels
    (tmp_path / "folder.npy").mkdir()
    for path in (rows, file):
        with pytest.raises(IsADirectoryError):
            open_rows(path, labels=tmp_path / "folder.npy")
        with pytest.raises(FileNotFoundError, match="folder to write into does not exist"):
            open_rows(path, labels=tmp_path / "none" / "labels.npy")
        with pytest.raises(ValueError, match=r"labels.csv' does not end in .npy; .* a name that ends in .npy"):
            open_rows(path, labels=tmp_path / "labels.csv")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(100, 50, 50))
    with pytest.raises(DiskSpaceError, match=r"labels.npy take 400 bytes on the disk, and .* has 50 bytes free; free"):
        open_rows(rows, labels=tmp_path / "labels.npy")


@pytest.mark.skipif(os.name == "nt", reason="limits are those of Unix")
def test_a_full_disk_leaves_no_labels(tmp_path):
    """Written as a memory map alone, they would end the process with SIGBUS."""
    np.save(tmp_path / "rows.npy", np.zeros((100_000, 1), dtype=np.float32))
    folder = tmp_path / "out"
    folder.mkdir()
    code = "open_rows(sys.argv[1], labels=sys.argv[2]).label(lambda block: block[:, 0].astype('i4'))"
    done = subprocess.run(
        [sys.executable, "-c", SMALL_DISK.format(code=code), tmp_path / "rows.npy", folder / "labels.npy"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"DiskSpaceError The labels in {folder / 'labels.npy'} take 400 kB on the disk, and " in done.stdout
    assert "or write the labels to another disk" in done.stdout
    assert list(folder.iterdir()) == []


def test_a_killed_process_leaves_no_labels_under_their_name(tmp_path):
    np.save(tmp_path / "rows.npy", np.zeros((1000, 1)))
    code = (
        "import os, signal, sys\n"
        "from mustlink.blocks import open_rows\n"
        "open_rows(sys.argv[1], labels=sys.argv[2]).label(lambda block: os.kill(os.getpid(), 9))\n"
    )
    target = Path(tmp_path, "labels.npy")
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "rows.npy", target], capture_output=True, check=False)
    assert done.returncode != 0
    assert not target.exists()
