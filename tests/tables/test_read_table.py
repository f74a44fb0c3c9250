"""Reading tables: what comes out, and which sentence a bad file gets."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import os
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink.errors import FileFormatError, OptionError
from mustlink.tables import Dialect, _read, _text, read_dialect, read_table


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
        ("table.csv", "who|age|plan\nann|31|pro\nbob|40.5|basic\n"),
        ("table.csv", "sep=|\nwho|age|plan\nann|31|pro\nbob|40.5|basic\n"),
        ("table.csv", "\ufeffsep=;\r\nwho;age;plan\r\nann;31;pro\r\nbob;40,5;basic\r\n"),
        ("table.csv", "who,age,plan\rann,31,pro\rbob,40.5,basic\r"),
        ("table.csv", "\ufeffwho,age,plan\r\nann,31,pro\r\nbob,40.5,basic\r\n"),
        ("table.csv", '"who", "age" ,"plan"\n'.replace(" ,", ",") + '"ann", 31 ," pro "\n\n"bob",40.5,basic\n\n'),
    ],
)
def test_spellings_of_one_table(tmp_path, name, content):
    table = read_table(write(tmp_path, content, name), text=["who"])
    assert table.names == ("who", "age", "plan")
    assert table.strings("who") == ["ann", "bob"]
    np.testing.assert_array_equal(table.column("age"), [31.0, 40.5])
    assert table.strings("plan") == ["pro", "basic"]
    assert table.n_rows == 2


@pytest.mark.parametrize("name", ["table.csv.gz", "table.tsv.gz"])
def test_gzip_is_unpacked(tmp_path, name):
    delimiter = "," if "csv" in name else "\t"
    text = "\n".join(delimiter.join(row) for row in (("a", "b"), ("1", "x"), ("2", "y")))
    table = read_table(write(tmp_path, gzip.compress(text.encode()), name))
    np.testing.assert_array_equal(table.column("a"), [1.0, 2.0])
    assert list(table.column("b").cat.categories) == ["x", "y"]


def test_decimal_comma_gives_a_notice(tmp_path):
    table = read_table(write(tmp_path, "a;b\n1,5;2\n2,5;3\n"))
    np.testing.assert_array_equal(table.column("a"), [1.5, 2.5])
    assert table.notices == ("Column 'a' was read with the comma as the decimal sign.",)


def test_lines_are_those_of_the_file(tmp_path):
    path = write(tmp_path, 'a,b\n1,"two\nlines"\n\n3,x\n')
    table = read_table(path)
    assert [table.where(row) for row in range(2)] == ["line 2", "line 5"]


@pytest.mark.parametrize("empty", ["", " ", "NA", "N/A", "NaN", "nan", "null", "?"])
def test_empty_cells(tmp_path, empty):
    table = read_table(write(tmp_path, f"a,b,c\n1,x,{empty}\n{empty},{empty},{empty}\n2,y,{empty}\n"))
    np.testing.assert_array_equal(table.column("a").isna(), [False, True, False])
    np.testing.assert_array_equal(table.column("b").isna(), [False, True, False])
    assert table.column("c").isna().all()


def test_ids_keep_their_spelling(tmp_path):
    path = write(tmp_path, "id,x\n007,1\n7,2\n")
    assert read_table(path, text=["id"]).row_ids("id") == ["007", "7"]


def test_ignored_columns_are_not_even_parsed(tmp_path):
    table = read_table(write(tmp_path, "a,b\n1,2\n2,oops\n3,4\n"), ignore=["b"])
    assert table.names == ("a",)


def test_headers(tmp_path):
    path = write(tmp_path, "1,2\n3,4\n")
    with pytest.raises(
        FileFormatError,
        match="line 1: the first line holds only numbers; pass header=False if they are data, or pass header=True",
    ):
        read_table(path)
    assert read_table(path, header=True).names == ("1", "2")
    table = read_table(path, header=False)
    assert table.names == ("x0", "x1")
    assert table.n_rows == 2


def test_columns_may_decide_late(tmp_path, monkeypatch):
    path = write(tmp_path, "n,t,m,b\n" + "1,,,\n" * 5 + "2,x,7,true\n" + "3,y,,FALSE\n")
    whole = read_table(path)
    monkeypatch.setattr(_read, "N_GUESSED_RECORDS", 2)
    pd.testing.assert_frame_equal(read_table(path).frame, whole.frame)
    assert whole.frame.dtypes.map(str).tolist() == ["float64", "category", "float64", "category"]
    assert whole.strings("b")[-2:] == ["true", "FALSE"]


def test_text_after_many_numbers_is_named_with_its_line(tmp_path, monkeypatch):
    monkeypatch.setattr(_read, "N_GUESSED_RECORDS", 3)
    path = write(tmp_path, "a,b\n" + "1,2\n" * 10 + "oops,2\n" + "zero,2\n" * 5)
    with pytest.raises(FileFormatError, match=r"line 12: the column 'a' holds 'oops' among numbers"):
        read_table(path)


def test_a_large_file_is_read_like_a_small_one(tmp_path):
    """pandas reads files of more than 5 MB in parallel parts."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(30_000, 12)), columns=list("abcdefghijkl"))
    frame["code"] = np.where(np.arange(30_000) < 25_000, "7", "x7")
    frame["kind"] = rng.choice(["red", "green"], 30_000)
    frame.to_csv(tmp_path / "large.csv", index=False)
    table = read_table(tmp_path / "large.csv", text=["code"])
    np.testing.assert_array_equal(table.frame.iloc[:, :12], frame.iloc[:, :12])
    assert table.strings("code") == frame["code"].tolist()
    assert table.strings("kind") == frame["kind"].tolist()
    lines = (tmp_path / "large.csv").read_text().splitlines()
    lines[20_000] = lines[20_000].rpartition(",")[0]
    with pytest.raises(FileFormatError, match="line 20001: 13 cells where the first line has 14"):
        read_table(write(tmp_path, "\n".join(lines)))


GERMAN = "Name;Größe\r\nMüller;1,5\r\nGrün;2,5\r\n"


@pytest.mark.parametrize(
    ("encoding", "found"),
    [("utf-8", "utf-8"), ("utf-8-sig", "utf-8-sig"), ("utf-16", "utf-16"), ("utf-32", "utf-32"), ("cp1252", "cp1252")],
)
@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
def test_encodings_are_found(tmp_path, encoding, found, name):
    content = GERMAN.encode(encoding)
    path = write(tmp_path, gzip.compress(content) if name.endswith("gz") else content, name)
    table = read_table(path)
    assert table.names == ("Name", "Größe")
    assert table.strings("Name") == ["Müller", "Grün"]
    assert table.dialect == Dialect(separator=";", encoding=found, decimal=",", line_end="\r\n")
    note = f"{path} is not in UTF-8 and was read as cp1252; if letters look wrong, give its encoding."
    assert (table.notices[0] == note) == (found == "cp1252")
    dialect, cells = read_dialect(path)
    assert (dialect.separator, cells) == (";", ["Name", "Größe"])


@pytest.mark.parametrize(("encoding", "known_as"), [("cp437", "cp437"), ("Latin-1", "iso8859-1"), ("utf-16-be",) * 2])
def test_encodings_that_are_asked_for(tmp_path, encoding, known_as):
    table = read_table(write(tmp_path, GERMAN.encode(encoding)), encoding=encoding)
    assert table.strings("Name") == ["Müller", "Grün"]
    assert table.dialect.encoding == known_as
    assert not any("encoding" in notice for notice in table.notices)


@pytest.mark.parametrize(
    ("encoding", "message"),
    [
        ("ascii", "line 1: the byte 0xc3 at position 8 is not ascii; save the file with .* UTF-8, or pass its enc"),
    ],
)
def test_an_encoding_that_does_not_fit(tmp_path, encoding, message):
    with pytest.raises(FileFormatError, match=message):
        read_table(write(tmp_path, GERMAN), encoding=encoding)


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path):
    path = write(tmp_path, "\ufeff" + GERMAN)
    assert read_table(path, encoding="utf-8").names == ("Name", "Größe")
    assert read_table(path, encoding="utf-8").dialect.encoding == "utf-8-sig"


@pytest.mark.parametrize(("delimiter", "separator"), [("#", "#"), ("tab", "\t"), ("\\t", "\t"), (" ", " "), ("§", "§")])
@pytest.mark.parametrize("lead", ["", "sep=;\n"])
def test_separators_that_are_asked_for(tmp_path, delimiter, separator, lead):
    path = write(tmp_path, lead + "\n".join(separator.join(cells) for cells in (("a", "b,c"), ("1", "x"), ("2", "y"))))
    table = read_table(path, delimiter=delimiter)
    assert table.names == ("a", "b,c")
    assert table.strings("b,c") == ["x", "y"]
    assert table.dialect.separator == separator


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoding": "utf-99"}, "The encoding is 'utf-99'; encoding must be one that Python knows: \"utf-8\", "),
        ({"encoding": "base64"}, "encoding must be one that Python knows"),
        ({"delimiter": ";;"}, "The delimiter is ';;'; delimiter must be one character that separates cells"),
        ({"delimiter": "x"}, "delimiter must be one character"),
        ({"decimal": ";"}, "The decimal is ';'; decimal must be "),
        ({"problems": "show"}, "problems must be 'raise' or 'keep'; got 'show'."),
    ],
)
def test_options_of_text_files_are_checked(tmp_path, options, message):
    with pytest.raises(OptionError, match=message):
        read_table(write(tmp_path, "a,b\n1,2\n"), **options)


def test_other_files_have_no_dialect(tmp_path):
    np.save(tmp_path / "table.npy", np.eye(2))
    assert read_table(tmp_path / "table.npy").dialect is None


odd_numbers = ["1.250", "0.5", "1.234.567", '"1,250"', "12 %", "3 €", "1 250", "01.03.2024", "2024-03-01", "1:30"]
odd_cells = st.sampled_from(
    [
        *odd_numbers,
        "",
        " ",
        "1",
        " 2.5 ",
        "-3e2",
        "x",
        "NA ",
        '"y, z"',
        '"a""b"',
        "inf",
        "1_0",
        "0x1",
        "True",
        "1,5",
        "\t",
    ]
)


@given(st.lists(st.lists(odd_cells, min_size=1, max_size=4), min_size=2, max_size=8), st.sampled_from(",;\t"))
@settings(deadline=None, max_examples=150)
def test_pandas_and_the_record_reader_agree(tmp_path_factory, rows, separator):
    """Broken files and sound ones give the same table, or the same error, in both ways of reading."""
    content = "\n".join(separator.join(cells) for cells in rows)
    path = write(tmp_path_factory.mktemp("any"), content)

    def outcome():
        try:
            table = read_table(path, header=True)
        except FileFormatError as error:
            return str(error)
        return [table.strings(name) for name in table.names], table.notices, table.frame.dtypes.map(str).tolist()

    fast = outcome()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_read, "_read_fast", lambda *arguments: None)
        assert outcome() == fast


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
        assert table.strings(name) == ["" if cell in missing else cell for cell in expected]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
@settings(deadline=None, max_examples=50)
def test_any_number_comes_back_exactly(tmp_path_factory, numbers):
    path = write(tmp_path_factory.mktemp("any"), "a,b\n" + "".join(f"{x!r},0\n" for x in numbers))
    np.testing.assert_array_equal(read_table(path).column("a"), numbers)


BROKEN = {
    "empty": ("table.csv", "", "is empty"),
    "blank": ("table.csv", "\n\n", "is empty"),
    "ragged_short": ("table.csv", "a,b\n1,2\n3\n", "line 3: 1 cell where the first line has 2"),
    "ragged_long": ("table.csv", "a,b\n1,2\n3,4,5\n", "line 3: 3 cells where the first line has 2"),
    "damaged_utf_8": (
        "table.csv",
        "a,b\n1,\xfc\n".encode() + b"2,caf\xe9\n",
        "line 3: the byte 0xe9 at position 6 is not UTF-8; save the file with the encoding UTF-8, or pass its enc",
    ),
    "no_byte_order_mark": (
        "table.csv",
        "a,b\n1,2\n".encode("utf-16-le"),
        "line 1: .* UTF-16 without a byte order mark",
    ),
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
    "suffix": ("table.doc", "", "a table is read from .csv, .tsv, .txt .* and .doc is none of them"),
    "old_excel": ("table.xls", "", ".xls files cannot be read; save it as .xlsx or .csv."),
    "other_separator": ("table.csv", "a~b~c\n1~2~x\n3~4~y\n", "has one column, 'a~b~c'; pass delimiter='~' if it sep"),
    "no_suffix": ("table", "", "a file without a suffix is none of them"),
    "not_npy": ("table.npy", "hello", "is not an .npy file of numbers"),
    "empty_npy": ("table.npy", "", "is not an .npy file of numbers"),
    "not_excel": ("table.xlsx", "hello", "is not a readable Excel file"),
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


@pytest.mark.parametrize(("sign", "named"), [(",", ","), ("\t", "tab")])
def test_a_delimiter_that_separates_nothing_is_doubted(tmp_path, sign, named):
    path = write(tmp_path, f"a{sign}b\n1{sign}2\n3{sign}4\n")
    with pytest.raises(
        FileFormatError, match=f"has one column, .*; pass delimiter='{named}' if it separates the cells"
    ):
        read_table(path, delimiter=";")
    assert read_table(path, delimiter=named).names == ("a", "b")
    assert read_table(write(tmp_path, "a\n1,5\n2,5\n"), delimiter=";").frame["a"].tolist() == [1.5, 2.5]


def test_remedies_name_arguments_of_read_table(tmp_path):
    path = write(tmp_path, "a,b\n1,2\n3,4\n5,six\n")
    with pytest.raises(FileFormatError, match=r"use it as categories with text=\['b'\], or leave it out with ignore="):
        read_table(path)
    assert read_table(path, text=["b"]).strings("b") == ["2", "4", "six"]


def test_a_line_without_end_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(_text, "MAX_LINE_BYTES", 100)
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


def test_read_dialect(tmp_path):
    dialect = Dialect(separator=";", line_end="\r\n")
    assert read_dialect(write(tmp_path, "\r\n A ;b; link\r\n0;1;must\r\n")) == (dialect, ["A", "b", "link"])
    with pytest.raises(FileFormatError, match="is empty"):
        read_dialect(write(tmp_path, ""))


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
    assert table.column("x0").dtype == expected
    np.testing.assert_array_equal(table.column("x0"), values[:, 0])
    assert table.strings("x1") == ["1", "3", "5"]
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
    assert table.column("age").dtype == np.float32
    np.testing.assert_array_equal(table.column("age"), [31.5, np.nan, 40.0])
    assert table.strings("plan") == ["pro", "", ""]
    assert table.strings("paid") == ["true", "false", "true"]
    np.testing.assert_array_equal(table.column("count"), [1, 2, 3])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1], [2]], "holds values of the type (list|ndarray), which have no distance"),
        ([1.0, float("inf")], "row 1: the column 'c' holds inf"),
    ],
)
def test_parquet_columns_without_distance(tmp_path, values, message):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"c": values}), tmp_path / "table.parquet")
    with pytest.raises(FileFormatError, match=message):
        read_table(tmp_path / "table.parquet")


@pytest.mark.parametrize(
    ("package", "extra", "name"), [("pyarrow", "parquet", "t.parquet"), ("openpyxl", "excel", "t.xlsx")]
)
def test_a_missing_package_names_the_extra(tmp_path, monkeypatch, package, extra, name):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(FileFormatError, match=f'needs {package}; install it with: pip install "mustlink.{extra}."'):
        read_table(write(tmp_path, "", name))


def test_excel(tmp_path):
    pytest.importorskip("openpyxl")
    frame = pd.DataFrame({"id": ["007", "8"], "age": [31, 40.5], "plan": ["pro", None], "n": ["1", "2"]})
    frame.to_excel(tmp_path / "table.xlsx", index=False, startrow=2)
    table = read_table(tmp_path / "table.xlsx", text=["id"])
    assert table.row_ids("id") == ["007", "8"]
    np.testing.assert_array_equal(table.column("age"), [31.0, 40.5])
    np.testing.assert_array_equal(table.column("n"), [1.0, 2.0])
    assert table.strings("plan") == ["pro", ""]
    assert table.where(1) == "sheet row 5"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [1, 2, "x"]}, "sheet row 4: the column 'a' holds 'x' among numbers; correct the cell"),
        ({"a": [datetime.datetime(2024, 1, 1)] * 3 + [5]}, "sheet row 5: the column 'a' holds '5' among dates"),
        ({}, "is empty"),
        ({1: [2, 3]}, "sheet row 1: the first line holds only numbers"),
    ],
)
def test_excel_that_is_no_table(tmp_path, columns, message):
    pytest.importorskip("openpyxl")
    pd.DataFrame(columns).to_excel(tmp_path / "table.xlsx", index=False)
    with pytest.raises(FileFormatError, match=message):
        read_table(tmp_path / "table.xlsx")


def test_excel_with_dates_times_and_local_numbers(tmp_path):
    pytest.importorskip("openpyxl")
    frame = pd.DataFrame(
        {
            "day": [datetime.datetime(2024, 3, 1), datetime.datetime(2024, 3, 2), None],
            "at": [datetime.datetime(2024, 3, 1, 12), None, datetime.datetime(2024, 3, 2)],
            "clock": [datetime.time(14, 30), datetime.time(8, 0), None],
            "pay": ["1.250,50 €", "990,00 €", ""],
            "n": ["1.250", "2.500", "3"],
        }
    )
    frame.to_excel(tmp_path / "table.xlsx", index=False)
    table = read_table(tmp_path / "table.xlsx")
    np.testing.assert_allclose(table.column("day"), [19783, 19784, np.nan])
    np.testing.assert_allclose(table.column("at"), [19783.5, np.nan, 19784])
    np.testing.assert_allclose(table.column("clock"), [14.5, 8, np.nan])
    np.testing.assert_allclose(table.column("pay"), [1250.5, 990, np.nan])
    np.testing.assert_allclose(table.column("n"), [1250, 2500, 3])
    assert table.units == {"day": "date", "at": "date and time", "clock": "hours", "pay": "EUR"}
    assert "Column 'n' was read with '.' between thousands." in table.notices


def test_excel_sheets(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "table.xlsx"
    with pd.ExcelWriter(path) as writer:
        # A column with blanks alone is behind the last one.
        pd.DataFrame({"a": [1, 2], "b": [3, 4], "": ["", ""]}).to_excel(writer, sheet_name="first", index=False)
        pd.DataFrame({"c": [5, 6]}).to_excel(writer, sheet_name="other", index=False)
    table = read_table(path)
    assert table.names == ("a", "b")
    assert table.sheet == "first"
    assert table.notices == (f"The sheet 'first' was read; {path} also has 'other'.",)
    assert read_table(path, sheet="other").names == ("c",)
    with pytest.raises(FileFormatError, match="has no sheet 'third'; its sheets are 'first' and 'other'"):
        read_table(path, sheet="third")
    with pytest.raises(OptionError, match=r"table.xlsx is not a file of text, so that the encoding 'cp1252' cannot be"):
        read_table(path, encoding="cp1252")
    with pytest.raises(
        OptionError, match=r"table.csv is not a file of Excel, so that the sheet 'first' cannot be used"
    ):
        read_table(write(tmp_path, "a,b\n1,2\n"), sheet="first")


def test_a_title_above_the_names_is_refused(tmp_path):
    pytest.importorskip("openpyxl")
    frame = pd.DataFrame([["Sales 2024", "", ""], ["who", "pay", "n"], ["ann", 3, 4], ["bob", 5, 6]])
    frame.to_excel(tmp_path / "table.xlsx", index=False, header=False)
    message = "sheet row 1: the row has names for 1 of 3 columns, and the next one seems to hold the names; delete"
    with pytest.raises(FileFormatError, match=message):
        read_table(tmp_path / "table.xlsx")


def test_a_suffix_that_does_not_fit_the_separator(tmp_path):
    assert read_table(write(tmp_path, "a;b\n1;2\n3;4\n", "table.tsv")).names == ("a", "b")
    assert read_table(write(tmp_path, "a\tb,c\n1\t2\n3\t4\n", "table.tsv")).names == ("a", "b,c")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,x\na,1\nb,2\na,3\n", "the id 'a' occurs in line 2 and again in line 4 of the column 'id'"),
        ("id,x\na,1\n,2\n", "line 3: the id column 'id' is empty"),
    ],
)
def test_ids_must_differ(tmp_path, content, message):
    with pytest.raises(FileFormatError, match=message):
        read_table(write(tmp_path, content), text=["id"]).row_ids("id")
