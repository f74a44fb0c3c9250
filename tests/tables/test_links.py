"""Links from files and frames and back, and a sentence for everything that can be wrong with them."""

from __future__ import annotations

import errno
import gzip
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink import Constraints
from mustlink.errors import ConstraintError, FileFormatError, SkippedLinksWarning
from mustlink.tables import read_table
from reference.random_links import Case, cases

TEXT = "a,b,link,weight\n0,1,must,1\n7,4,1,0.5\n0,9,cannot,2\n3,2,-1,1\n"
GZIPPED = gzip.compress(TEXT.encode(), mtime=0)
LINKS = Constraints([(0, 1), (4, 7)], [(0, 9), (2, 3)], must_link_weight=[1, 0.5], cannot_link_weight=[2, 1])


@pytest.fixture
def links_file(tmp_path: Path) -> Any:
    """Return a function that writes bytes or text to a file of links and returns its path."""

    def write(content: str | bytes, name: str = "links.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


# ---- reading -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (TEXT, "links.csv"),
        (TEXT.replace(",", "\t"), "links.tsv"),
        (TEXT.replace(",", "\t"), "links.csv"),
        (TEXT.replace(",", ";"), "links.csv"),
        (TEXT.replace("\n", "\r\n"), "links.csv"),
        (TEXT.replace("\n", "\r"), "links.csv"),
        (TEXT.encode("utf-16"), "links.csv"),
        ("sep=|\n" + TEXT.replace(",", "|"), "links.csv"),
        (TEXT.rstrip("\n"), "links.txt"),
        ("\n\n" + TEXT.replace("\n", "\n\n"), "links.csv"),
        ("\ufeff" + TEXT, "links.csv"),
        (GZIPPED, "links.csv.gz"),
        (gzip.compress(("\ufeff" + TEXT.replace(",", "\t")).encode(), mtime=0), "links.tsv.GZ"),
        (TEXT.replace(",", " , "), "links.csv"),
        (TEXT.replace("a,b,link,weight", "A, B, Link, WEIGHT"), "links.csv"),
        ('"a", "b", "link", "weight"\n0,1,"must",1\n"7","4",1,0.5\n0,9, "cannot",2\n3,2,-1,1\n', "links.csv"),
        (TEXT.replace("must", "Must-Link").replace("cannot", "CANNOT_LINK"), "links.csv"),
        ("link,weight,note,b,a\nmust,,x,1,0\n1,0.5,,7,4\ncannot,2,,0,9\n-1,1,,2,3\n", "links.csv"),
    ],
)
def test_files_of_every_shape(links_file: Any, content: str | bytes, name: str) -> None:
    assert Constraints.read(links_file(content, name)) == LINKS
    assert Constraints.read(str(links_file(content, name))) == LINKS


@pytest.mark.parametrize("suffix", [".xlsx", ".parquet"])
def test_workbooks_and_parquet(tmp_path: Path, suffix: str) -> None:
    frame = pd.DataFrame({"A": [0, 7, 0, 3], "b": [1, 4, 9, 2], "link": ["must", "1", "cannot", "-1"]})
    frame["weight"] = [1, 0.5, 2, 1]
    write = frame.to_excel if suffix == ".xlsx" else frame.to_parquet
    write(tmp_path / f"links{suffix}", index=False)
    assert Constraints.read(tmp_path / f"links{suffix}") == LINKS
    frame.loc[2, "link"] = "maybe"
    write(tmp_path / f"links{suffix}", index=False)
    with pytest.raises(FileFormatError, match=r"links.xlsx, sheet row 4: a link is|links.parquet, row 2: a link is"):
        Constraints.read(tmp_path / f"links{suffix}")


@pytest.mark.parametrize("separator", [";", "\t"])
def test_weights_with_decimal_commas(links_file: Any, separator: str) -> None:
    path = links_file(TEXT.replace(",", separator).replace("0.5", "0,5"))
    assert Constraints.read(path) == LINKS


@pytest.mark.parametrize("empty", ["", " ", None, float("nan"), pd.NA])
def test_an_empty_weight_is_one(links_file: Any, empty: Any) -> None:
    frame = {"a": [0, 1], "b": [1, 2], "link": [1, -1], "weight": [empty, 2.0]}
    expected = Constraints([(0, 1)], [(1, 2)], cannot_link_weight=2.0)
    assert Constraints.from_frame(frame) == Constraints.from_frame(pd.DataFrame(frame)) == expected
    path = links_file("a,b,link,weight\n0,1,must,\n1,2,cannot,2\n")
    assert Constraints.read(path) == Constraints.from_frame(pd.read_csv(path)) == expected


@pytest.mark.parametrize("ids", [[10, 20, 30], [10.0, 20.0, 30.0], ["10", "20", "30"], ["10.0", "20.0", "30.0"]])
@pytest.mark.parametrize("text", ["10,30", "10.0,30.0"])
def test_whole_numbers_with_and_without_decimals(links_file: Any, ids: Any, text: str) -> None:
    path = links_file(f"a,b,link\n{text},must\n")
    expected = Constraints([(0, 2)])
    assert Constraints.read(path, ids=ids) == expected
    assert Constraints.from_frame(pd.read_csv(path), ids=ids) == expected
    assert (
        Constraints.from_frame(pd.read_csv(path, dtype=float, usecols=["a", "b"]).assign(link=1), ids=ids) == expected
    )
    assert Constraints.read(path) == Constraints([(10, 30)])


def test_ids_that_differ_only_in_decimals_stay_apart(links_file: Any) -> None:
    path = links_file("a,b,link\n1,1.0,cannot\n")
    assert Constraints.read(path, ids=["1", "1.0"]) == Constraints(None, [(0, 1)])


UNKNOWN = "a,b,link\nu1,u2,must\nu1,u9,must\nu8,u9,cannot\nu2,u3,cannot\nu7,u6,cannot\nu5,u1,must\n"


def test_links_with_unknown_ids_are_skipped_on_request(links_file: Any) -> None:
    path, ids = links_file(UNKNOWN), ["u1", "u2", "u3"]
    others = "nor with 4 other ids of the links: 'u8', 'u7' and 2 more"
    with pytest.raises(
        ConstraintError, match=rf"line 3: .* the id 'u9' in the table, {others}; pass unknown_ids=\"skip"
    ):
        Constraints.read(path, ids=ids)
    told = rf"4 of 6 links name ids that .* skipped: 'u9' \({re.escape(str(path))}, line 3\), 'u8' .* and 2 more"
    with pytest.warns(SkippedLinksWarning, match=told) as caught:
        links = Constraints.read(path, ids=ids, unknown_ids="skip")
    assert links == Constraints([(0, 1)], [(1, 2)])
    assert caught[0].filename == __file__
    with pytest.warns(SkippedLinksWarning, match="4 of 6 links"):
        assert Constraints.from_frame(pd.read_csv(path), ids=ids, unknown_ids="skip") == links
    with pytest.raises(ValueError, match='unknown_ids must be "raise" or "skip"; got \'drop\''):
        Constraints.read(path, ids=ids, unknown_ids="drop")  # type: ignore[arg-type]


def test_known_ids_are_read_without_a_warning(links_file: Any) -> None:
    path = links_file("a,b,link\nu1,u2,must\n")
    assert Constraints.read(path, ids=["u1", "u2"], unknown_ids="skip") == Constraints([(0, 1)])


@pytest.mark.parametrize("ids", [None, ["u", "v", "w x", "ö,"], [4, 3, 2, 1], [4.0, 3.0, 2.0, 1.0]])
@pytest.mark.parametrize("name", ["links.csv", "links.tsv.gz"])
def test_links_go_out_and_in_by_id(tmp_path: Path, ids: Any, name: str) -> None:
    links = Constraints([(0, 2), (1, 3)], [(0, 1)], must_link_weight=[0.1, 3])
    frame = links.to_frame(ids)
    assert list(frame.columns) == ["a", "b", "link", "weight"]
    assert frame["link"].tolist() == ["must", "must", "cannot"]
    assert frame["a"].tolist() == [0, 1, 0] if ids is None else [ids[0], ids[1], ids[0]]
    assert Constraints.from_frame(frame, ids=ids) == links
    links.write(tmp_path / name, ids=ids)
    assert Constraints.read(tmp_path / name, ids=ids) == links


def test_ids_that_cannot_name_the_rows(tmp_path: Path) -> None:
    links = Constraints([(0, 2)])
    with pytest.raises(ConstraintError, match="The id 'u' occurs twice, at rows 0 and 2"):
        links.write(tmp_path / "links.csv", ids=["u", "v", "u"])
    with pytest.raises(ConstraintError, match="rows 0 and 2, but the table has 2 rows"):
        links.to_frame(ids=["u", "v"])
    assert not (tmp_path / "links.csv").exists()


def test_without_weights_each_link_counts_one(links_file: Any) -> None:
    links = Constraints.read(links_file("a,b,link\n0,1,must\n0,1,must\n2,1,cannot\n"))
    assert links == Constraints([(0, 1)], [(1, 2)], must_link_weight=2)


@pytest.mark.parametrize("ids", [["u1", "ü2", "u 3"], np.array(["u1", "ü2", "u 3"]), pd.Series(["u1", "ü2", "u 3"])])
def test_links_by_id(links_file: Any, ids: Any) -> None:
    path = links_file("a,b,link\nu1,u 3,must\n ü2 ,u1,cannot\n")
    assert Constraints.read(path, ids=ids) == Constraints([(0, 2)], [(0, 1)])


def test_ids_that_are_numbers_are_not_row_numbers(links_file: Any) -> None:
    path = links_file("a,b,link\n30,10,must\n")
    assert Constraints.read(path, ids=[10, 20, 30]) == Constraints([(0, 2)])


def test_several_answers_are_counted(links_file: Any) -> None:
    path = links_file("a,b,link\n0,1,must\n1,0,cannot\n0,1,must\n2,3,must\n3,2,cannot\n")
    assert Constraints.read(path, contradictions="majority") == Constraints([(0, 1)])


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".tsv.gz", ".TSV"])
@given(case=cases(max_samples=9), weight=st.floats(1e-300, 1e140))
@settings(deadline=None, max_examples=15)
def test_what_is_written_is_read_back_exactly(suffix: str, case: Case, weight: float) -> None:
    links = Constraints(case.must_link, case.cannot_link, must_link_weight=weight, cannot_link_weight=weight / 3)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"links{suffix}"
        links.write(path)
        assert Constraints.read(path) == links
        assert os.listdir(folder) == [path.name]
        first = path.read_bytes()
        links.write(path)
        assert path.read_bytes() == first
        assert first.startswith(b"\x1f\x8b") == suffix.endswith(".gz")
        if not suffix.endswith(".gz"):
            assert first.startswith(b"a\tb\t" if suffix.lower() == ".tsv" else b"a,b,")


# ---- frames ------------------------------------------------------------------------------------------------------

COLUMNS = {"a": [0, 7, 0, 3], "b": [1, 4, 9, 2], "link": ["must", "1", "cannot", "-1"], "weight": [1.0, 0.5, 2.0, 1.0]}


@pytest.mark.parametrize(
    "frame",
    [
        COLUMNS,
        pd.DataFrame(COLUMNS, index=[3, 3, 1, 0]),
        pl.DataFrame(COLUMNS),
        pd.DataFrame({**COLUMNS, "link": [1, 1, -1, -1], "other": "x"}),
        pl.DataFrame({**COLUMNS, "link": [1, 1, -1, -1]}),
        pd.DataFrame({**COLUMNS, "link": [1.0, 1.0, -1.0, -1.0], "a": [0.0, 7.0, 0.0, 3.0]}),
        pd.DataFrame(COLUMNS).convert_dtypes(),
        pd.DataFrame({**COLUMNS, "link": pd.Categorical(COLUMNS["link"])}),
        {**COLUMNS, "weight": [None, 0.5, 2, ""]},
        pl.DataFrame({**COLUMNS, "weight": [None, 0.5, 2.0, None]}),
        {name: np.array(column) for name, column in COLUMNS.items()},
    ],
)
def test_frames_of_every_kind(frame: Any) -> None:
    assert Constraints.from_frame(frame) == LINKS


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
def test_frames_by_id(make: Any) -> None:
    frame = make({"a": ["u1", "u2"], "b": ["u3", "u1"], "link": ["must", "cannot"]})
    assert Constraints.from_frame(frame, ids=["u1", "u2", "u3"]) == Constraints([(0, 2)], [(0, 1)])
    answers = make({"a": ["u1", "u1"], "b": ["u3", "u3"], "link": ["must", "cannot"]})
    assert Constraints.from_frame(answers, ids=["u1", "u2", "u3"], contradictions="majority").is_empty


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"a": [0, 7, 0.5, 3]}, FileFormatError, r"Row 2 of the frame: 0\.5 is not a row number"),
        ({"a": [0, 7, float("nan"), 3]}, FileFormatError, "Row 2 of the frame: the column a is empty"),
        ({"a": [0, 7, float("inf"), 3]}, FileFormatError, "Row 2 of the frame: inf is not a row number"),
        ({"a": [0, 7, None, 3]}, FileFormatError, "Row 2 of the frame: the column a is empty"),
        ({"a": [True, 7, 0, 3]}, FileFormatError, "Row 0 of the frame: True is not a row number"),
        ({"a": [0, -7, 0, 3]}, ConstraintError, "Row 1 of the frame: a row number cannot be negative"),
        ({"a": [0, 7, 9, 3]}, ConstraintError, "Row 2 of the frame: links 9 with itself"),
        ({"link": [1, 0, 1, 1]}, FileFormatError, "Row 1 of the frame: a link is must or cannot.* this is '0'"),
        ({"link": [1, None, 1, 1]}, FileFormatError, "Row 1 of the frame: the column link is empty"),
        ({"weight": [1, 0, 1, 1]}, ConstraintError, "Row 1 of the frame: the weight is 0"),
        ({"weight": [1, "1_0", 1, 1]}, FileFormatError, "Row 1 of the frame: the weight '1_0' is not a number"),
        ({"b": [1, 4]}, ConstraintError, "equally long: a has 4, b has 2, link has 4"),
    ],
)
def test_an_error_in_a_frame_names_its_row(change: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        Constraints.from_frame({**COLUMNS, **change})


def test_contradictory_links_of_a_frame_are_named_by_number() -> None:
    frame = {"a": [3, 1, 0], "b": [4, 0, 1], "link": [1, 1, -1]}
    with pytest.raises(ConstraintError, match=r"^Link 1 and link 2: rows 1 and 0 are given both as must-link"):
        Constraints.from_frame(frame)


def test_a_skipped_link_of_a_frame_is_named_within_the_sentence() -> None:
    with pytest.warns(SkippedLinksWarning, match=r"'u9' \(row 0 of the frame\)"):
        Constraints.from_frame({"a": ["u9"], "b": ["u1"], "link": [1]}, ids=["u1"], unknown_ids="skip")


def test_invalid_frames_are_refused() -> None:
    with pytest.raises(FileFormatError, match="The frame has the columns a, c, and b and link are missing"):
        Constraints.from_frame(pd.DataFrame({"a": [0], "c": [1]}))
    with pytest.raises(TypeError, match="data frame or a mapping of columns"):
        Constraints.from_frame([(0, 1)])


# ---- errors of files ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        ("", FileFormatError, "is empty; the columns a, b, link and optionally weight are expected"),
        ("\n \n", FileFormatError, "is empty"),
        ("x,y\n0,1\n", FileFormatError, "line 1: the header has the columns x, y, and a, b and link are missing"),
        ("a,b,kind\n0,1,must\n", FileFormatError, "line 1: .* link is missing"),
        ("0,1,must\n", FileFormatError, "line 1: the header has the columns 0, 1, must"),
        ("a,b,link,a\n0,1,must,3\n", FileFormatError, "line 1: the header has the column a more than once"),
        ("a,b,link\n0,1,must\n2,3\n", FileFormatError, "line 3: 2 cells where the first line has 3"),
        ("a,b,link\n0,1,must,9\n", FileFormatError, "line 2: 4 cells where the first line has 3"),
        ("a,b,link\n\n0,1,must\n\n2,x,must\n", FileFormatError, "line 5: 'x' is not a row number, .*; pass the ids of"),
        ("a,b,link\n0,1.5,must\n", FileFormatError, "line 2: '1.5' is not a row number"),
        ("a,b,link\n0,1_0,must\n", FileFormatError, "line 2: '1_0' is not a row number"),
        ("a,b,link\n0,,must\n", FileFormatError, "line 2: the column b is empty; every link needs"),
        ("a,b,link\n0,-3,must\n", ConstraintError, "line 2: a row number cannot be negative, and this is -3"),
        (
            "a,b,link\n0,99999999999999999999,must\n",
            ConstraintError,
            "line 2: the row number 9+ is larger than any table has",
        ),
        ("a,b,link\n0,1,must\n5,5,cannot\n", ConstraintError, "line 3: links 5 with itself"),
        ("a,b,link\n0,1,maybe\n", FileFormatError, "line 2: a link is must or cannot, or 1 or -1, and this is 'maybe'"),
        ("a,b,link\n0,1,0\n", FileFormatError, "line 2: .* this is '0'"),
        ("a,b,link\n0,1,\n", FileFormatError, "line 2: the column link is empty; every link needs"),
        ("a,b,link,weight\n0,1,must,heavy\n", FileFormatError, "line 2: the weight 'heavy' is not a number"),
        ("a,b,link,weight\n0,1,must,1_000\n", FileFormatError, "line 2: the weight '1_000' is not a number"),
        ('a,b,link,weight\n0,1,must,"1,5"\n', FileFormatError, "line 2: the weight '1,5' is not a number"),
        ("a;b;link;weight\n0;1;must;1.250,5\n", FileFormatError, "line 2: the weight '1.250,5' is not a number"),
        ("a,b,link,weight\n0,1,must,0\n", ConstraintError, "line 2: the weight is 0; a weight must be positive"),
        ("a,b,link,weight\n0,1,must,-2\n", ConstraintError, "line 2: the weight is -2"),
        ("a,b,link,weight\n0,1,must,nan\n", ConstraintError, "line 2: the weight is nan"),
        ("a,b,link,weight\n0,1,must,inf\n", ConstraintError, "line 2: the weight is inf"),
        (
            'a,b,link\n0,1,must\n2,"3,must\n4,5,must\n',
            FileFormatError,
            "line 3: a quotation mark is opened here and never",
        ),
        ('a,b,link\n0,1,must\n2,"3"x,must\n', FileFormatError, "line 3: a quotation mark closes in the middle"),
        ('a,b,link,note\n0,1,must,"x\ny"\n2,z,must,"p\nq"\n', FileFormatError, "line 4: 'z' is not a row number"),
        (
            "a,b,link\n0,1,m\xfcst\n".encode() + b"2,3,m\xfcst\n",
            FileFormatError,
            "line 3: the byte 0xfc at position 6 is not UTF-8; save the file with the encoding UTF-8.$",
        ),
        (TEXT.encode("utf-16-le"), FileFormatError, "line 1: this is not text but binary data, or text in UTF-16"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", FileFormatError, "line 1: the byte 0x89 at position 1 is not UTF-8"),
    ],
)
def test_an_error_in_a_file_names_its_line(links_file: Any, content: str | bytes, error: type, message: str) -> None:
    path = links_file(content)
    with pytest.raises(error, match=message) as info:
        Constraints.read(path)
    assert str(info.value).startswith(str(path))
    assert "\n" not in str(info.value)


@pytest.mark.parametrize(
    ("content", "second", "first"),
    [
        ("a,b,link\n4,3,must\n0,1,must\n1,0,cannot\n", 4, 3),
        ("a,b,link\n1,0,cannot\n5,6,must\n0,1,must\n", 4, 2),
        # The last of them is a must-link like the first; what contradicts is the line between.
        ("a,b,link\n0,1,must\n1,0,cannot\n0,1,must\n", 3, 2),
    ],
)
def test_a_pair_given_both_ways_names_both_lines(links_file: Any, content: str, second: int, first: int) -> None:
    path = links_file(content)
    with pytest.raises(ConstraintError, match=r"rows (0 and 1|1 and 0) are given both") as info:
        Constraints.read(path)
    assert str(info.value).startswith(f"{path}, line {first} and line {second}: rows ")
    assert info.value.pairs == [(0, 1)]


def test_weights_that_add_up_beyond_all_numbers_name_the_line(links_file: Any) -> None:
    path = links_file("a,b,link,weight\n2,3,must,1\n0,1,must,1e308\n1,0,must,1e308\n")
    with pytest.raises(ConstraintError, match="line 3: The weights of rows 0 and 1 overflow"):
        Constraints.read(path)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["u1", "u2"], "line 3: there is no row with the id 'u9'"),
        (["u1", "u2", "u1"], "The id 'u1' occurs twice, at rows 0 and 2; ids must differ"),
        ([1, "1"], "The id '1' occurs twice, at rows 0 and 1"),
    ],
)
def test_ids_that_do_not_fit(links_file: Any, ids: Any, message: str) -> None:
    with pytest.raises(ConstraintError, match=message):
        Constraints.read(links_file("a,b,link\nu1,u2,must\nu1,u9,must\n"), ids=ids)


def test_a_link_of_an_id_with_itself(links_file: Any) -> None:
    with pytest.raises(ConstraintError, match="line 2: links u2 with itself") as info:
        Constraints.read(links_file("a,b,link\nu2,u2,must\n"), ids=["u1", "u2"])
    assert info.value.pairs == [(1, 1)]


def test_a_row_out_of_range_is_seen_when_the_table_is_known(links_file: Any) -> None:
    links = Constraints.read(links_file("a,b,link\n0,1,must\n5,12,cannot\n"))
    with pytest.raises(ConstraintError, match="A cannot-link names the rows 5 and 12, but the table has 12 rows"):
        links.check_rows(12)


@pytest.mark.parametrize(
    "content",
    [
        b"a,b,link\n0,1,must\n",
        GZIPPED[:-12],
        GZIPPED[:20] + b"\xff" * 20 + GZIPPED[40:],
    ],
)
def test_a_broken_gzip_file(links_file: Any, content: bytes) -> None:
    with pytest.raises(FileFormatError, match=r"links\.csv\.gz is not a whole gzip file"):
        Constraints.read(links_file(content, "links.csv.gz"))


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.csv"):
        Constraints.read(tmp_path / "nothing.csv")
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        Constraints.read(tmp_path)


# ---- writing -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "links.csv"
    LINKS.write(path)

    def fail(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="No space left"):
        Constraints([(0, 1)]).write(path)
    monkeypatch.undo()
    assert Constraints.read(path) == LINKS
    assert os.listdir(tmp_path) == ["links.csv"]


@pytest.mark.parametrize("name", ["links.xlsx", "links.parquet", "links.json", "links.XLSX.gz"])
def test_a_format_in_which_links_are_not_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileFormatError, match=rf"{name}: links are written as \.csv or \.tsv, also compressed"):
        LINKS.write(tmp_path / name)
    assert os.listdir(tmp_path) == []


def test_a_folder_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="Is a directory"):
        LINKS.write(tmp_path)
    with pytest.raises(FileNotFoundError, match="folder to write into does not exist"):
        LINKS.write(tmp_path / "no" / "links.csv")
    assert os.listdir(tmp_path) == []


def test_digits_with_underscores_are_no_number_in_links_and_tables(links_file: Any) -> None:
    table = read_table(links_file("x,y\n1_000,1\n2_000,2\n", "table.csv"))
    assert table.column("x").dtype == "category"
    assert table.column("y").dtype == float
    with pytest.raises(FileFormatError, match="the weight '1_000' is not a number"):
        Constraints.read(links_file("a,b,link,weight\n0,1,must,1_000\n"))
