"""The whole table as it came in, with the cluster as one more column."""

from __future__ import annotations

import csv
import datetime
import gzip
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mustlink._atomic import StagedFiles
from mustlink.errors import FileFormatError
from mustlink.tables import read_table, stage_table


def kept(folder, name, content, labels, output="out.csv", header=None, **options):
    """Write a table, read it, and write it again with clusters; return the bytes."""
    source = folder / name
    source.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    table = read_table(source, header=header, **options)
    with StagedFiles() as files:
        stage_table(files, folder / output, np.array(labels), source=source, table=table, header=header)
    return (folder / output).read_bytes()


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.csv", b"x,y\n1.250,007\n2,1e3\n", b"x,y,cluster\n1.250,007,1\n2,1e3,\n"),
        ("a.csv", b"x;y\r\n1,250;007\r\n2,5;008\r\n", b"x;y;cluster\r\n1,250;007;1\r\n2,5;008;\r\n"),
        ("a.csv", b"\xef\xbb\xbfx;y\r\n1;2\r\n3;4", b"\xef\xbb\xbfx;y;cluster\r\n1;2;1\r\n3;4;"),
        ("a.csv", b"n\xe4me;x\nJ\xf6rg;1\nb;2\n", b"n\xe4me;x;cluster\nJ\xf6rg;1;1\nb;2;\n"),
        ("a.csv", b"x,cluster\n1,2\n3,4\n", b"x,cluster,cluster_found\n1,2,1\n3,4,\n"),
        ("a.csv", b"x\ty\n1\t2\n3\t4\n", b"x\ty\tcluster\n1\t2\t1\n3\t4\t\n"),
        ("a.csv", b'x,note\n1,"a, ""b"""\n2,"two\nlines"\n', b'x,note,cluster\n1,"a, ""b""",1\n2,"two\nlines",\n'),
        ("a.csv", b"\n  \nx,y\n\n1, 2 \n\n3,4\n\n", b"\n  \nx,y,cluster\n\n1, 2 ,1\n\n3,4,\n\n"),
        ("a.csv", b"sep=;\nx;y\n1;2\n3;4\n", b"sep=;\nx;y;cluster\n1;2;1\n3;4;\n"),
        ("a.csv", b"x,y\r1,2\r3,4\r", b"x,y,cluster\r1,2,1\r3,4,\r"),
        ("a.csv", b"x\n1\n2\n", b"x,cluster\n1,1\n2,\n"),
        ("a.csv.gz", b"x,y\n1,2\n3,4\n", b"x,y,cluster\n1,2,1\n3,4,\n"),
        ("a.tsv", b"x\ty\n1\t2,5\n3\t4\n", b'x,y,cluster\n1,"2,5",1\n3,4,\n'),
        ("a.txt", b"x|y\n1|2\n3|4\n", b"x|y|cluster\n1|2|1\n3|4|\n"),
    ],
)
def test_text_stays_as_it_was_written(tmp_path, name, before, after):
    assert kept(tmp_path, name, before, [1, -1]) == after


def test_utf_16_and_other_separators_by_name(tmp_path):
    before, after = "x;ö\n1;2\n3;4\n", "x;ö;cluster\n1;2;0\n3;4;1\n"
    assert kept(tmp_path, "a.csv", before.encode("utf-16"), [0, 1]).decode("utf-16") == after
    assert kept(tmp_path, "a.csv", b"x:y\n1:2\n3:4\n", [0, 1], delimiter=":") == b"x:y:cluster\n1:2:0\n3:4:1\n"


def test_dates_of_text_are_dates_in_excel(tmp_path):
    pytest.importorskip("openpyxl")
    content = "since;at;pay;n\n01.03.2024;14:30;1.250,50 €;1\n;8:00;3,50 €;2\n".encode()
    kept(tmp_path, "a.csv", content, [0, 1], "out.xlsx")
    frame = pd.read_excel(tmp_path / "out.xlsx")
    assert frame["since"][0] == pd.Timestamp("2024-03-01")
    assert frame["since"].isna().tolist() == [False, True]
    assert frame["at"].tolist() == ["14:30", "8:00"]
    assert frame["pay"].tolist() == [1250.5, 3.5]


def test_tables_without_names_get_no_name(tmp_path):
    assert kept(tmp_path, "a.csv", b"1,2\n3,4\n", [0, 1], header=False) == b"1,2,0\n3,4,1\n"


def test_tsv_asks_for_tabs(tmp_path):
    before = b'x,note\r\n1,"a, b"\r\n2,"c\td"\r\n'
    assert kept(tmp_path, "a.csv", before, [0, 1], "out.tsv") == b'x\tnote\tcluster\r\n1\ta, b\t0\r\n2\t"c\td"\t1\r\n'


CELL = st.text(st.sampled_from("ab0 ;,\"\n'="), max_size=4)


@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=5), st.sampled_from(["\n", "\r\n"]), st.data())
def test_cells_are_the_same_and_one_more(tmp_path_factory, rows, line_end, data):
    folder = tmp_path_factory.mktemp("kept")
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=line_end).writerows([("x", "y", "n"), *((*row, "1") for row in rows)])
    labels = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    options = {"text": ["x", "y"], "delimiter": ","}
    after = kept(folder, "a.csv", text.getvalue().encode(), labels, **options).decode()
    read = list(csv.reader(io.StringIO(after, newline="")))
    assert read[0] == ["x", "y", "n", "cluster"]
    assert [tuple(cells[:2]) for cells in read[1:]] == rows
    assert [int(cells[3]) for cells in read[1:]] == labels
    # Without the new cells the file is the old one, byte for byte.
    assert after.count(",") == text.getvalue().count(",") + len(rows) + 1


def test_a_file_that_changes_meanwhile_is_not_mixed_up(tmp_path):
    source = tmp_path / "a.csv"
    for changed in ("x,y\n1,2\n", "x,y\n1,2\n3,4\n5,6\n"):
        source.write_text("x,y\n1,2\n3,4\n")
        table = read_table(source)
        source.write_text(changed)
        with pytest.raises(FileFormatError, match="was changed after it was read"), StagedFiles() as files:
            stage_table(files, tmp_path / "out.csv", np.array([0, 1]), source=source, table=table)
    assert not (tmp_path / "out.csv").exists()


def test_text_to_excel_keeps_numbers_and_dates_as_such_and_codes_as_text(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    content = (
        b"who;amount;code;note;more;zip;since;share\n"
        b"007;1.250,5;0110;=SUM(A1);2,5;01067;1.3.2024;5 %\n"
        b"008;3;0220;b;;10115;2.3.2024;6 %\n"
        b"009;4;0220;b;3;10115;2.3.2024;6 %\n"
    )
    ignore = ["note", "more", "zip"]
    kept(tmp_path, "a.csv", content, [1, -1, 0], "out.xlsx", text=["who", "code"], ignore=ignore)
    rows = list(openpyxl.load_workbook(tmp_path / "out.xlsx").active.iter_rows(values_only=True))
    assert rows == [
        ("who", "amount", "code", "note", "more", "zip", "since", "share", "cluster"),
        ("007", 1250.5, "0110", "=SUM(A1)", 2.5, "01067", datetime.datetime(2024, 3, 1), 5, 1),
        ("008", 3, "0220", "b", None, "10115", datetime.datetime(2024, 3, 2), 6, None),
        ("009", 4, "0220", "b", 3, "10115", datetime.datetime(2024, 3, 2), 6, 0),
    ]


def test_excel_to_excel_keeps_dates_and_numbers(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    day = datetime.datetime(2024, 3, 1)
    for row in (["who", "since", "x"], ["a", day, 1.5], [None, None, None], ["b", datetime.datetime(2024, 3, 2, 8), 7]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    table = read_table(tmp_path / "a.xlsx", ignore=["since"])
    for output in ("out.xlsx", "out.csv"):
        with StagedFiles() as files:
            stage_table(files, tmp_path / output, np.array([1, -1]), source=tmp_path / "a.xlsx", table=table)
    rows = list(openpyxl.load_workbook(tmp_path / "out.xlsx").active.iter_rows(values_only=True))
    assert rows == [
        ("who", "since", "x", "cluster"),
        ("a", day, 1.5, 1),
        ("b", datetime.datetime(2024, 3, 2, 8), 7, None),
    ]
    assert (tmp_path / "out.csv").read_text() == ("who,since,x,cluster\na,2024-03-01,1.5,1\nb,2024-03-02 08:00:00,7,\n")


def test_parquet_to_parquet_keeps_types(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    frame = pd.DataFrame(
        {"n": [1, 2], "x": [0.5, None], "t": ["a", None], "d": pd.to_datetime(["2024-01-01", "2024-01-02"])}
    )
    frame.to_parquet(tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet", ignore=["d"])
    with StagedFiles() as files:
        stage_table(files, tmp_path / "o.parquet", np.array([1, -1]), source=tmp_path / "a.parquet", table=table)
    read = parquet.read_table(tmp_path / "o.parquet")
    assert read.column_names == ["n", "x", "t", "d", "cluster"]
    assert [str(kind) for kind in read.schema.types][:2] == ["int64", "double"]
    assert read.column("cluster").to_pylist() == [1, None]
    assert read.column("t").to_pylist() == ["a", None]
    assert read.column("d").to_pylist()[0] == datetime.datetime(2024, 1, 1)


def test_arrays_have_no_columns_to_keep(tmp_path):
    with pytest.raises(FileFormatError, match=r"a table with its clusters is written as .csv, .tsv, .xlsx or .parquet"):
        kept(tmp_path, "a.csv", b"x,y\n1,2\n3,4\n", [0, 1], "out.npy")
