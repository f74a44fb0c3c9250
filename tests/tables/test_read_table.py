"""Reading tables: what comes out, and which sentence a bad file gets."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import os
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink.errors import FileFormatError
from mustlink.tables import NumericColumn, TextColumn, read_table
from mustlink.tables import _delimited as delimited


def write(folder, content, name="table.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("table.csv", "who,age,plan\nann,31,pro\nbob,40.5,basic\n"),
        ("table.csv", "who;age;plan\nann;31;pro\nbob;40,5;basic\n"),
        ("table.csv", "who\tage\tplan\nann\t31\tpro\nbob\t40.5\tbasic\n"),
        ("table.txt", "who;age;plan\nann;31;pro\nbob;40.5;basic"),
        ("table.tsv", "who\tage\tplan\nann\t31\tpro\nbob\t40.5\tbasic\n"),
        ("table.csv", "\ufeffwho,age,plan\r\nann,31,pro\r\nbob,40.5,basic\r\n"),
        ("table.csv", '"who", "age" ,"plan"\n'.replace(" ,", ",") + '"ann", 31 ," pro "\n\n"bob",40.5,basic\n\n'),
    ],
)
def test_spellings_of_one_table(tmp_path, name, content):
    table = read_table(write(tmp_path, content, name), text=["who"])
    assert table.names == ("who", "age", "plan")
    assert table.column("who").strings() == ["ann", "bob"]
    np.testing.assert_array_equal(table.column("age").values, [31.0, 40.5])
    assert table.column("plan").strings() == ["pro", "basic"]
    assert table.n_rows == 2


@pytest.mark.parametrize("name", ["table.csv.gz", "table.tsv.gz"])
def test_gzip_is_unpacked(tmp_path, name):
    delimiter = "," if "csv" in name else "\t"
    text = "\n".join(delimiter.join(row) for row in (("a", "b"), ("1", "x"), ("2", "y")))
    table = read_table(write(tmp_path, gzip.compress(text.encode()), name))
    np.testing.assert_array_equal(table.column("a").values, [1.0, 2.0])
    assert table.column("b").categories == ("x", "y")


def test_decimal_comma_is_told(tmp_path):
    table = read_table(write(tmp_path, "a;b\n1,5;2\n2,5;3\n"))
    np.testing.assert_array_equal(table.column("a").values, [1.5, 2.5])
    assert table.notices == ("Column 'a' was read with the comma as the decimal sign.",)


def test_lines_are_those_of_the_file(tmp_path):
    path = write(tmp_path, 'a,b\n1,"two\nlines"\n\n3,x\n')
    table = read_table(path)
    assert [table.where(row) for row in range(2)] == ["line 2", "line 5"]


@pytest.mark.parametrize("empty", ["", " ", "NA", "N/A", "NaN", "nan", "null", "?"])
def test_empty_cells(tmp_path, empty):
    table = read_table(write(tmp_path, f"a,b,c\n1,x,{empty}\n{empty},{empty},{empty}\n2,y,{empty}\n"))
    np.testing.assert_array_equal(table.column("a").missing(), [False, True, False])
    np.testing.assert_array_equal(table.column("b").missing(), [False, True, False])
    assert table.column("c").missing().all()


def test_ids_keep_their_spelling(tmp_path):
    path = write(tmp_path, "id,x\n007,1\n7,2\n")
    assert read_table(path, text=["id"]).row_ids("id") == ["007", "7"]


def test_ignored_columns_are_not_even_parsed(tmp_path):
    table = read_table(write(tmp_path, "a,b\n1,2\n2,oops\n3,4\n"), ignore=["b"])
    assert table.names == ("a",)


def test_headers(tmp_path):
    path = write(tmp_path, "1,2\n3,4\n")
    with pytest.raises(FileFormatError, match="line 1: the first line holds only numbers; say --no-header"):
        read_table(path)
    assert read_table(path, header=True).names == ("1", "2")
    table = read_table(path, header=False)
    assert table.names == ("x0", "x1")
    assert table.n_rows == 2


def test_columns_may_decide_late_and_blocks_do_not_show(tmp_path, monkeypatch):
    path = write(tmp_path, "n,t,m\n" + "1,,\n" * 5 + "2,x,7\n" + "3,y,\n")
    whole = read_table(path)
    monkeypatch.setattr(delimited, "_BLOCK_ROWS", 2)
    in_blocks = read_table(path)
    for name in whole.names:
        assert type(whole.column(name)) is type(in_blocks.column(name))
        assert whole.column(name).strings() == in_blocks.column(name).strings()
    assert isinstance(in_blocks.column("t"), TextColumn)
    assert isinstance(in_blocks.column("m"), NumericColumn)


def test_text_after_many_blocks_of_numbers_is_blamed_on_its_line(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "_BLOCK_ROWS", 3)
    path = write(tmp_path, "a,b\n" + "1,2\n" * 10 + "oops,2\n" + "zero,2\n" * 5)
    with pytest.raises(FileFormatError, match=r"line 12: the column 'a' holds 'oops' among numbers"):
        read_table(path)


cells = st.text(
    alphabet=st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from('",;\n'), min_size=1, max_size=8
)


@given(st.lists(st.lists(cells, min_size=3, max_size=3), min_size=1, max_size=6))
@settings(deadline=None, max_examples=50)
def test_any_text_comes_back(tmp_path_factory, rows):
    """Written by the standard library and read by ours, each cell is the same but for the blanks around it."""
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([["a", "b", "c"], *rows])
    path = write(tmp_path_factory.mktemp("any"), out.getvalue())
    table = read_table(path, text=["a", "b", "c"])
    missing = {"", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "?"}
    for place, name in enumerate("abc"):
        expected = [row[place].strip() for row in rows]
        assert table.column(name).strings() == ["" if cell in missing else cell for cell in expected]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
@settings(deadline=None, max_examples=50)
def test_any_number_comes_back_exactly(tmp_path_factory, numbers):
    path = write(tmp_path_factory.mktemp("any"), "a,b\n" + "".join(f"{x!r},0\n" for x in numbers))
    np.testing.assert_array_equal(read_table(path).column("a").values, numbers)


BROKEN = {
    "empty": ("table.csv", "", "is empty"),
    "blank": ("table.csv", "\n\n", "is empty"),
    "ragged_short": ("table.csv", "a,b\n1,2\n3\n", "line 3: 1 cell where the first line has 2"),
    "ragged_long": ("table.csv", "a,b\n1,2\n3,4,5\n", "line 3: 3 cells where the first line has 2"),
    "latin_1": (
        "table.csv",
        "a,b\n1,x\n2,caf\xe9\n".encode("latin-1"),
        "line 3: the byte 0xe9 at place 6 is not UTF-8",
    ),
    "utf_16": ("table.csv", "a,b\n1,2\n".encode("utf-16"), "line 1: this is not text but binary data or UTF-16"),
    "binary": ("table.csv", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "line 2: this is not text|line 1: the byte 0x89"),
    "open_quote": ("table.csv", 'a,b\n1,2\n"3,4\n5,6\n', "line 3: a quotation mark is opened here and never closed"),
    "quote_within": ("table.csv", 'a,b\n1,2\n"3"4,5\n', "line 3: a quotation mark closes in the middle of a cell"),
    "twice": ("table.csv", "a,b,a\n1,2,3\n", "the columns 1 and 3 are both called 'a'"),
    "infinite": ("table.csv", "a,b\n1,2\n3,inf\n", "line 3: the column 'b' holds 'inf', which is not a finite number"),
    "overflow": ("table.csv", "a,b\n1,2\n3,1e999\n", "line 3: the column 'b' holds '1e999', which is not a finite"),
    "text": ("table.csv", "a,b\n1,2\n3,4\n5,six\n", "line 4: the column 'b' holds 'six' among numbers"),
    "two_decimal_signs": ("table.csv", "a;b\n1,5;2\n2.5;3\n", "'a' has numbers with a decimal comma and numbers with"),
    "one_column_gap": ("table.csv", "a\n1\n\n2\n", "line 3: an empty line between the rows of a table of one column"),
    "not_gzip": ("table.csv.gz", "a,b\n1,2\n", "is not a whole gzip file"),
    "cut_gzip": ("table.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 99)[:-9], "is not a whole gzip file"),
    "suffix": ("table.xlsx", "", "a table is read from .csv, .tsv, .txt .* and .xlsx is none of them"),
    "no_suffix": ("table", "", "a file without a suffix is none of them"),
    "not_npy": ("table.npy", "hello", "is not an .npy file of numbers"),
    "empty_npy": ("table.npy", "", "is not an .npy file of numbers"),
    "not_parquet": ("table.parquet", "hello", "is not a readable Parquet file"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files_get_a_sentence(tmp_path, case):
    name, content, message = BROKEN[case]
    path = write(tmp_path, content, name)
    with pytest.raises(FileFormatError, match=message) as caught:
        read_table(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_line_without_end_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "_LONGEST_LINE", 100)
    with pytest.raises(FileFormatError, match="this is not a table in text form"):
        read_table(write(tmp_path, "x" * 1000))


@pytest.mark.parametrize("argument", ["text", "ignore"])
@pytest.mark.parametrize("name", ["table.csv", "table.npy", "table.parquet"])
def test_unknown_columns(tmp_path, argument, name):
    path = tmp_path / name
    if name == "table.csv":
        path.write_text("x0,x1\n1,2\n")
    elif name == "table.npy":
        np.save(path, np.ones((2, 2)))
    else:
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pyarrow.table({"x0": [1], "x1": [2]}), path)
    with pytest.raises(FileFormatError, match="has no column 'age'; its columns are x0, x1"):
        read_table(path, **{argument: ["age"]})


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "none.csv")
    with pytest.raises(IsADirectoryError):
        read_table(tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file(tmp_path):
    path = write(tmp_path, "a,b\n1,2\n")
    path.chmod(0)
    with pytest.raises(PermissionError):
        read_table(path)


@pytest.mark.parametrize(("dtype", "expected"), [("float32", "float32"), ("float64", "float64"), ("int16", "float64")])
def test_npy(tmp_path, dtype, expected):
    values = np.arange(6, dtype=dtype).reshape(3, 2)
    np.save(tmp_path / "table.npy", values)
    table = read_table(tmp_path / "table.npy", text=["x1"])
    assert table.column("x0").values.dtype == expected
    np.testing.assert_array_equal(table.column("x0").values, values[:, 0])
    assert table.column("x1").strings() == ["1", "3", "5"]
    assert table.where(1) == "row 1"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.ones(3), r"the shape \(3,\)"),
        (np.array([["a", "b"]]), "the type <U1"),
        (np.array([[1j, 2j]]), "the type complex128"),
        (np.array([[1.0, np.inf], [1.0, 2.0]]), "row 0: the column 'x1' holds inf"),
    ],
)
def test_npy_that_is_no_table(tmp_path, values, message):
    np.save(tmp_path / "table.npy", values)
    with pytest.raises(FileFormatError, match=message):
        read_table(tmp_path / "table.npy")


def test_npy_with_python_objects_is_not_unpickled(tmp_path):
    np.save(tmp_path / "table.npy", np.array([[object()]]), allow_pickle=True)
    with pytest.raises(FileFormatError, match=r"is not an \.npy file of numbers"):
        read_table(tmp_path / "table.npy")


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {
        "id": pyarrow.array([2**60, 2**60 + 1, 3]),
        "age": pyarrow.array([31.5, None, 40.0], type=pyarrow.float32()),
        "plan": pyarrow.array(["pro", None, ""]).dictionary_encode(),
        "paid": pyarrow.array([True, False, True]),
        "count": pyarrow.array([1, 2, 3], type=pyarrow.uint8()),
    }
    parquet.write_table(pyarrow.table(columns), tmp_path / "table.parquet")
    table = read_table(tmp_path / "table.parquet", text=["id"])
    assert table.row_ids("id") == [str(2**60), str(2**60 + 1), "3"]
    assert table.column("age").values.dtype == np.float32
    np.testing.assert_array_equal(table.column("age").values, [31.5, np.nan, 40.0])
    assert table.column("plan").strings() == ["pro", "", ""]
    assert table.column("paid").strings() == ["true", "false", "true"]
    np.testing.assert_array_equal(table.column("count").values, [1, 2, 3])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1], [2]], "is of the type list"),
        ([datetime.date(2024, 1, 1), None], "is of the type .*, which has no distance; leave it out with --ignore c"),
        ([1.0, float("inf")], "row 1: the column 'c' holds inf"),
    ],
)
def test_parquet_columns_without_distance(tmp_path, values, message):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"c": values}), tmp_path / "table.parquet")
    with pytest.raises(FileFormatError, match=message):
        read_table(tmp_path / "table.parquet")


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(FileFormatError, match=r"pip install 'mustlink\[parquet\]'"):
        read_table(write(tmp_path, "", "table.parquet"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,x\na,1\nb,2\na,3\n", "the id 'a' stands in line 2 and again in line 4 of the column 'id'"),
        ("id,x\na,1\n,2\n", "line 3: the id column 'id' is empty"),
    ],
)
def test_ids_must_tell_rows_apart(tmp_path, content, message):
    with pytest.raises(FileFormatError, match=message):
        read_table(write(tmp_path, content), text=["id"]).row_ids("id")
