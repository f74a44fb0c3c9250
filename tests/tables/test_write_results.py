"""Results appear whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import sys

import numpy as np
import pytest

from mustlink._atomic import StagedFiles, check_writable
from mustlink.errors import FileFormatError
from mustlink.tables import Dialect, check_output_suffix, check_sheet_size, stage_clusters


def write_clusters(path, labels, **options):
    with StagedFiles() as files:
        stage_clusters(files, path, np.asarray(labels), **options)


def test_csv_with_ids_and_labels(tmp_path):
    path = tmp_path / "out.csv"
    write_clusters(path, [1, -1, 0], ids=["a,b", "c", "d"], id_name="who", known=["x", "", "y"], known_name="kind")
    assert path.read_text() == 'who,cluster,kind\n"a,b",1,x\nc,,\nd,0,y\n'


def test_tsv_with_row_numbers(tmp_path):
    write_clusters(tmp_path / "out.tsv", [1, 0])
    assert (tmp_path / "out.tsv").read_text() == "row\tcluster\n0\t1\n1\t0\n"


def test_an_id_column_called_cluster(tmp_path):
    write_clusters(tmp_path / "out.csv", [1, 0], ids=["a", "b"], id_name="cluster")
    assert (tmp_path / "out.csv").read_text().startswith("cluster,cluster_found\n")


def test_npy_is_the_labels_alone(tmp_path):
    write_clusters(tmp_path / "out.npy", [2, -1, 0], ids=["a", "b", "c"])
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), [2, -1, 0])


def test_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    write_clusters(tmp_path / "out.parquet", [2, -1], ids=["a", "b"], id_name="who", known=["x", ""])
    content = parquet.read_table(tmp_path / "out.parquet").to_pydict()
    assert content == {"who": ["a", "b"], "cluster": [2, None], "label": ["x", None]}


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(FileFormatError, match=r'pip install "mustlink\[parquet\]"'):
        check_output_suffix(tmp_path / "out.parquet")


def test_excel_holds_numbers_and_text_that_is_no_formula(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    ids = ["=cmd|' /C calc'!A0", "007", "b\x1b", "+1"]
    write_clusters(tmp_path / "out.xlsx", [2, -1, 0, 1], ids=ids, id_name="who", known=["x", "", "", ""])
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").active
    assert [cell.value for cell in sheet[1]] == ["who", "cluster", "label"]
    assert [cell.value for cell in sheet[2]] == [ids[0], 2, "x"]
    assert sheet["A2"].data_type == "s"
    assert [sheet["A3"].value, sheet["B3"].value, sheet["A5"].value] == ["007", None, "+1"]
    assert sheet["A4"].value == "b\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(
    ("ids", "written"),
    [
        (["10150", "0", "-7"], [10150, 0, -7]),
        (["10150", "007", "8"], None),
        (["1234567890123456", "1", "2"], None),
        (["1.5", "1", "2"], None),
    ],
)
def test_excel_holds_ids_that_are_numbers_as_numbers(tmp_path, ids, written):
    openpyxl = pytest.importorskip("openpyxl")
    write_clusters(tmp_path / "out.xlsx", [2, 0, 1], ids=ids, id_name="nr")
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").active
    assert [cell.value for cell in sheet["A"][1:]] == (written or ids)


def test_excel_without_openpyxl_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(FileFormatError, match=r'pip install "mustlink\[excel\]"'):
        check_output_suffix(tmp_path / "out.xlsx")


def test_more_rows_than_a_sheet_has_are_refused(tmp_path):
    check_sheet_size(tmp_path / "out.csv", 2_000_000, 3)
    check_sheet_size(tmp_path / "out.xlsx", 1_048_575, 3)
    with pytest.raises(FileFormatError, match="at most 1,048,576 rows"):
        check_sheet_size(tmp_path / "out.xlsx", 1_048_576, 3)


@pytest.mark.parametrize(
    ("name", "dialect", "content"),
    [
        ("out.csv", Dialect(";", "utf-8-sig", ",", "\r\n"), "\ufeffwho;cluster\r\nJörg;1\r\na,b;0\r\n".encode()),
        ("out.csv", Dialect(";", "cp1252"), "who;cluster\nJörg;1\na,b;0\n".encode("cp1252")),
        ("out.csv", Dialect("\t"), 'who,cluster\nJörg,1\n"a,b",0\n'.encode()),
        ("out.tsv", Dialect(";"), "who\tcluster\nJörg\t1\na,b\t0\n".encode()),
        ("out.csv", None, 'who,cluster\nJörg,1\n"a,b",0\n'.encode()),
    ],
)
def test_clusters_are_written_as_the_table_is(tmp_path, name, dialect, content):
    write_clusters(tmp_path / name, [1, 0], ids=["Jörg", "a,b"], id_name="who", dialect=dialect)
    assert (tmp_path / name).read_bytes() == content


@pytest.mark.parametrize("name", ["out.ods", "out"])
def test_other_suffixes_are_refused(tmp_path, name):
    with pytest.raises(FileFormatError, match=r"clusters are written as .csv, .tsv, .xlsx, .parquet or .npy"):
        write_clusters(tmp_path / name, [0])
    assert not list(tmp_path.iterdir())


def test_nothing_appears_when_the_block_fails(tmp_path):
    (tmp_path / "a").write_bytes(b"old")

    def stage_and_fail():
        with StagedFiles() as files:
            files.stage(tmp_path / "a", b"new")
            files.stage(tmp_path / "b", b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stage_and_fail()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_nothing_appears_when_the_disk_is_full(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    def stage_all():
        with StagedFiles() as files:
            files.stage(tmp_path / "a", b"new")
            monkeypatch.setattr(os, "fsync", full)
            files.stage(tmp_path / "b", b"new")

    with pytest.raises(OSError, match="No space left") as caught:
        stage_all()
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(tmp_path / "b")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_device_leaves_the_other_file_unwritten(tmp_path):
    def stage_all():
        with StagedFiles() as files:
            files.stage(tmp_path / "a", b"new")
            files.stage("/dev/full", b"new")

    with pytest.raises(OSError, match="No space left") as caught:
        stage_all()
    assert caught.value.errno == errno.ENOSPC
    assert not list(tmp_path.iterdir())


def test_permissions_are_those_of_the_file_before_or_of_a_new_one(tmp_path):
    (tmp_path / "old").write_bytes(b"")
    (tmp_path / "old").chmod(0o640)
    mask = os.umask(0o027)
    try:
        with StagedFiles() as files:
            files.stage(tmp_path / "old", b"x")
            files.stage(tmp_path / "new", b"x")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "old").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_a_symbolic_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with StagedFiles() as files:
        files.stage(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


def test_folders_are_no_targets(tmp_path):
    with pytest.raises(IsADirectoryError):
        check_writable(tmp_path)
    with pytest.raises(FileNotFoundError, match="The folder to write into does not exist"):
        check_writable(tmp_path / "none" / "out.csv")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError):
        check_writable(tmp_path / "out.csv")
