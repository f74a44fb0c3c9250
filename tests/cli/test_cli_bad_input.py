"""Bad input: one sentence, exit code 2, no traceback, nothing left behind."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from mustlink.cli import _errors
from mustlink.cli._errors import one_sentence
from mustlink.workflow import _job

GOOD = "x,y\n0,0\n1,0\n9,9\n9,8\n"
WITH_IDS = "id,x,y\na,0,0\nb,1,0\nc,9,9\nd,9,8\n"

TABLES = {
    "nothing": ("", "is empty"),
    "header_only": ("x,y\n", "has no data rows"),
    "one_row": ("x,y\n1,2\n", "has one data row"),
    "nan": ("x,y\n1,2\nnan,3\n4,5\n", "line 3: the column 'x' is empty"),
    "empty_cell": ("x,y\n1,2\n2,\n4,5\n", "line 3: the column 'y' is empty"),
    "infinite": ("x,y\n1,2\n-inf,3\n4,5\n", "line 3: the column 'x' holds '-inf'"),
    "too_large": (
        "x,y\n1,2\n1e200,3\n4,5\n",
        "line 3: the column 'x' holds 1e+200; numbers above 1e+75 are too large for squared distances; clear",
    ),
    "constant": ("x,y\n1,2\n1,2\n1,2\n", "every column holds one value throughout"),
    "text": ("x,y\n1,2\n2,3\nthree,4\n", "line 4: the column 'x' holds 'three' among numbers"),
    "free_text": ("x,note\n1,so\n2,la\n3,mi\n", "'note' has 3 different values in 3 rows"),
    "ragged": ("x,y\n1,2\n3\n", "line 3: 1 cell"),
    "damaged_utf_8": (
        "x,y\n1,\u00e9\n".encode() + b"2,\xe9\n",
        "line 3: the byte 0xe9 at position 3 is not UTF-8; save the file with the encoding UTF-8, or name its encoding "
        "with --encoding.",
    ),
    "thousands": ("x;y\n1.250;2\n2.500;3\n9.500;4\n", "decimal sign; name the decimal sign with --decimal, or leave"),
    "dates": ("x,y\n3/1/2024,2\n4/2/2024,3\n5/3/2024,4\n", "day or the month is first; write them like 2024-03-01"),
    "currencies": ("x,y\n$3,2\n4\u20ac,3\n$5,4\n", "the column 'x' mixes EUR and USD"),
    "binary": (b"\x00\x01\x02\n\x00", "line 1: this is not text"),
    "open_quote": ('x,y\n1,2\n"3,4\n', "line 3: a quotation mark is opened"),
    "no_header": ("1,2\n3,4\n", "use --no-header if they are data, or use --header"),
    "same_names": ("x,x\n3,4\n", "both called 'x'"),
}


@pytest.mark.parametrize("case", TABLES)
@pytest.mark.parametrize("command", ["cluster", "check"])
def test_tables(desk, command, case):
    content, message = TABLES[case]
    desk.write("t.csv", content)
    desk.write("l.csv", "a,b,link\n0,1,must\n")
    words = ["cluster", "t.csv", "l.csv"] if command == "cluster" else ["check", "l.csv", "t.csv"]
    error = desk.fails(*words, "-k", 2)
    assert message in error
    assert "t.csv" in error


def test_the_problems_of_all_columns_are_shown_at_once(desk):
    rows = [f"p{row},{'x' if row == 3 else row},{row % 4 or ''},remark {row // 2}" for row in range(24)]
    desk.write("t.csv", "\n".join(["name,age,pay,note", *rows]))
    result = desk.run("cluster", "t.csv", "-k", 2)
    assert result.exit_code == 2
    lines = result.stderr.splitlines()
    assert lines[0] == "Error: t.csv cannot be used as it is, for 3 reasons:"
    assert lines[1].startswith("- the text column 'name' has 24 different values in 24 rows, too many for categories; ")
    assert "use --id name if it names the rows, leave it out with --ignore name" in lines[1]
    assert lines[2].startswith(
        "- line 2: the column 'pay' is empty, as are 5 other cells of the table; fill it, or use --"
    )
    assert lines[3].startswith("- line 5: the column 'age' holds 'x' among numbers; correct the cell, use it as cat")
    assert len(lines) == 4
    with_id = desk.run("cluster", "t.csv", "-k", 2, "--id", "age").stderr
    assert "too many for categories; leave it out with --ignore name" in with_id
    assert "--id" not in with_id


LINKS = {
    "nothing": ("", "is empty"),
    "columns": ("first,second,kind\n0,1,must\n", "a, b and link are missing"),
    "kind": ("a,b,link\n0,1,maybe\n", "line 2: a link is must or cannot"),
    "weight": ("a,b,link,weight\n0,1,must,heavy\n", "line 2: the weight 'heavy' is not a number"),
    "negative_weight": ("a,b,link,weight\n0,1,must,-2\n", "line 2: the weight is -2"),
    "short_line": ("a,b,link\n0,1,must\n0,2\n", "line 3: 2 cells"),
    "open_quote": ('a,b,link\n0,1,must\n"0,2,must\n', "line 3"),
    "latin_1": ("a,b,link\n0,1,must\n0,2,m\u00fcst\n".encode("latin-1"), "line 3: a link is must or cannot"),
    "binary": (b"\x00\x01\x02\n\x00", "line 1: this is not text"),
    "text_for_row": (
        "a,b,link\nann,1,must\n",
        "line 2: 'ann' is not a row number, and the ids of the rows are not known; give the table with --id COLUMN",
    ),
    "itself": ("a,b,link\n0,1,must\n2,2,must\n", "line 3"),
    "both_ways": ("a,b,link\n0,1,must\n1,0,cannot\n", "line 2 and line 3: rows 0 and 1 are given both"),
    "negative_row": ("a,b,link\n0,-1,must\n", "line 2"),
    "out_of_range": (
        "a,b,link\n0,4,must\n",
        "l.csv, line 2: a must-link names the rows 0 and 4, but the table has 4 rows",
    ),
}


@pytest.mark.parametrize("case", LINKS)
@pytest.mark.parametrize("command", ["cluster", "check"])
def test_links(desk, command, case):
    content, message = LINKS[case]
    desk.write("t.csv", GOOD)
    desk.write("l.csv", content)
    words = ["cluster", "t.csv", "l.csv"] if command == "cluster" else ["check", "l.csv", "t.csv"]
    assert message in desk.fails(*words, "-k", 2, "--contradictions", "raise")


IDS = {
    "unknown": (WITH_IDS, "a,b,link\na,zed,must\n", "line 2: there is no row with the id 'zed'"),
    "twice": (WITH_IDS + "a,5,5\n", "a,b,link\na,b,must\n", "the id 'a' occurs in line 2 and again in line 6"),
    "empty": (WITH_IDS + ",5,5\n", "a,b,link\na,b,must\n", "line 6: the id column 'id' is empty"),
    "no_such_column": (GOOD, "a,b,link\na,b,must\n", "has no column 'id'; its columns are x, y"),
    "both_ways": (WITH_IDS, "a,b,link\na,b,1\nb,a,-1\n", "line 2 and line 3: a and b are given both as must-link"),
    "empty_cell": (WITH_IDS, "a,b,link\na,,must\n", "line 2: the column b is empty; every link needs a, b and link."),
    "itself": (WITH_IDS, "a,b,link\nb,b,must\n", "line 2"),
}


@pytest.mark.parametrize("case", IDS)
@pytest.mark.parametrize("command", ["cluster", "check"])
def test_ids(desk, command, case):
    table, links, message = IDS[case]
    desk.write("t.csv", table)
    desk.write("l.csv", links)
    words = ["cluster", "t.csv", "l.csv"] if command == "cluster" else ["check", "l.csv", "t.csv"]
    assert message in desk.fails(*words, "-k", 2, "--id", "id", "--contradictions", "raise")


OPTIONS = {
    "zero_clusters": (["-k", "0"], "The number of clusters is 0; -k must be at least 1."),
    "negative_clusters": (["-k", "-3"], "The number of clusters is -3"),
    "more_clusters_than_rows": (["-k", "5"], "5 clusters cannot be made of the 4 rows of t.csv; reduce"),
    "method": (["-k", "2", "--method", "magic"], "There is no method 'magic'; the methods are boost, bckm, bbc"),
    "starts": (["-k", "2", "--starts", "0"], "The number of starts is 0; --starts must be at least 1."),
    "ignore": (["-k", "2", "--ignore", "z"], "t.csv has no column 'z'"),
    "ignore_all": (["-k", "2", "--ignore", "x", "--ignore", "y"], "has no column to cluster by"),
    "categorical": (["-k", "2", "--categorical", "z"], "t.csv has no column 'z'"),
    "label_column": (["-k", "2", "--label-column", "z"], "t.csv has no column 'z'"),
    "id_is_label": (["-k", "2", "--id", "x", "--label-column", "x"], "cannot hold both the ids and the labels"),
    "id_is_ignored": (["-k", "2", "--id", "x", "--ignore", "x"], "both used and ignored"),
    "output_folder": (["-k", "2", "-o", "none/out.csv"], "The folder to write into does not exist: none."),
    "output_is_folder": (["-k", "2", "-o", "."], "is a folder"),
    "output_suffix": (["-k", "2", "-o", "out.doc"], "clusters are written as .csv, .tsv, .xlsx, .parquet or .npy"),
    "output_is_input": (["-k", "2", "-o", "./t.csv"], "t.csv is an input and would be overwritten"),
    "report_is_input": (["-k", "2", "--report", "t.csv"], "t.csv is an input and would be overwritten"),
    "report_is_output": (["-k", "2", "-o", "a.csv", "--report", "./a.csv"], "cannot both be written to a.csv"),
    "report_folder": (["-k", "2", "--report", "none/r.html"], "The folder to write into does not exist: none."),
    "encoding": (
        ["-k", "2", "--encoding", "x"],
        "The encoding is 'x'; --encoding must be one that Python knows: utf-8,",
    ),
    "delimiter": (
        ["-k", "2", "--delimiter", "ab"],
        "The delimiter is 'ab'; --delimiter must be one character that sep",
    ),
    "decimal": (["-k", "2", "--decimal", "x"], "The decimal is 'x'; --decimal must be . or ,."),
    "seed": (["-k", "2", "--seed", "-1"], "The seed is -1; --seed must be from 0 to 4294967295."),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_options(desk, case):
    words, message = OPTIONS[case]
    desk.write("t.csv", GOOD)
    assert message in desk.fails("cluster", "t.csv", *words)
    assert desk.read("t.csv") == GOOD


def test_labels_that_are_all_unknown(desk):
    desk.write("t.csv", "x,y,kind\n0,0,\n1,0,\n9,9,\n")
    assert "the label column 'kind' is empty" in desk.fails("cluster", "t.csv", "-k", 2, "--label-column", "kind")


def test_labels_against_links(desk):
    desk.write("t.csv", "id,x,y,kind\na,0,0,u\nb,1,0,u\nc,9,9,v\nd,9,8,\n")
    desk.write("l.csv", "a,b,link\na,b,cannot\n")
    options = ["cluster", "t.csv", "l.csv", "-k", 2, "--id", "id", "--label-column", "kind"]
    error = desk.fails(*options, "--method", "cop")
    assert (
        "a and b have a cannot-link, but must-links connect them: a - b; remove a link of the chain, use --relax"
        in error
    )
    assert "contradictions" not in error
    result = desk.run(*options)
    assert result.exit_code == 0, result.output
    assert "The labels contradict the links in 1 place, for example: a and b have a cannot-link" in result.stdout


def test_more_labels_than_clusters(desk):
    desk.write("t.csv", "x,y,kind\n0,0,u\n1,0,v\n9,9,w\n8,9,\n")
    error = desk.fails("cluster", "t.csv", "-k", 2, "--label-column", "kind", "--method", "cop")
    assert "cluster" in error


@pytest.mark.parametrize("command", ["cluster", "check"])
def test_files_that_are_not_there(desk, command):
    desk.write("t.csv", GOOD)
    desk.write("l.csv", "a,b,link\n0,1,must\n")

    def words(table, links):
        return [command, *((table, links) if command == "cluster" else (links, table)), "-k", 2]

    assert desk.fails(*words("none.csv", "l.csv")) == "Error: There is no file none.csv.\n"
    assert desk.fails(*words("t.csv", "none.csv")) == "Error: There is no file none.csv.\n"
    (desk.folder / "folder.csv").mkdir()
    # A table may be a folder of Parquet files.
    expected = " without Parquet files (.parquet or .pq)" if command == "cluster" else "; a file is expected"
    assert f"folder.csv is a folder{expected}" in desk.fails(*words("folder.csv", "l.csv"))
    assert "folder.csv is a folder; a file is expected" in desk.fails(*words("t.csv", "folder.csv"))
    assert "is none of them" in desk.fails(*words("t.doc", "l.csv"))


def test_ids_without_the_table(desk):
    desk.write("l.csv", "a,b,link\n0,1,must\n")
    assert "--id needs the table that holds the ids" in desk.fails("check", "l.csv", "--id", "who")


def test_a_file_that_may_not_be_read(desk, monkeypatch):
    desk.write("t.csv", GOOD)
    real_open = Path.open

    def refuse(path, *args, **options):
        if path.name == "t.csv":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real_open(path, *args, **options)

    monkeypatch.setattr(Path, "open", refuse)
    assert desk.fails("cluster", "t.csv", "-k", 2) == "Error: t.csv cannot be opened: permission denied.\n"


def test_a_full_disk_leaves_nothing(desk, monkeypatch):
    desk.write("t.csv", GOOD)
    desk.write("out.csv", "old")
    n_synced = []

    def full(descriptor):
        n_synced.append(descriptor)
        if len(n_synced) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    error = desk.fails("cluster", "t.csv", "-k", 2, "-o", "out.csv", "--report", "r.html")
    assert error == "Error: No space is left on the disk for r.html; nothing was written.\n"
    assert desk.read("out.csv") == "old"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_device_leaves_nothing(desk):
    desk.write("t.csv", GOOD)
    error = desk.fails("cluster", "t.csv", "-k", 2, "-o", "out.csv", "--report", "/dev/full")
    assert "No space is left on the disk for /dev/full" in error


def test_too_little_memory(desk, monkeypatch):
    def starve(choices):
        raise np._core._exceptions._ArrayMemoryError((10**9, 10**3), np.dtype(np.float64))

    desk.write("t.csv", GOOD)
    monkeypatch.setattr(_job, "load_table", starve)
    assert "There is not enough memory (Unable to allocate" in desk.fails("cluster", "t.csv", "-k", 2)


def test_an_interrupt_ends_quietly(desk, monkeypatch):
    def interrupt(choices):
        raise KeyboardInterrupt

    desk.write("t.csv", GOOD)
    monkeypatch.setattr(_job, "load_table", interrupt)
    result = desk.run("cluster", "t.csv", "-k", 2)
    assert result.exit_code == 130
    assert result.stderr == "Stopped.\n"
    assert desk.names() == ["t.csv"]


def test_debug_shows_the_traceback_too(desk):
    result = desk.run("cluster", "none.csv", "-k", 2, "--debug")
    assert result.exit_code == 2
    assert "Traceback" in result.stderr
    assert result.stderr.endswith("Error: There is no file none.csv.\n")


def test_other_exceptions_are_not_caught(desk, monkeypatch):
    def bug(choices):
        raise RuntimeError("a bug")

    desk.write("t.csv", GOOD)
    monkeypatch.setattr(_job, "load_table", bug)
    result = desk.run("cluster", "t.csv", "-k", 2)
    assert isinstance(result.exception, RuntimeError)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ValueError("two\n  lines"), "two lines."),
        (ValueError(), "ValueError."),
        (ValueError("Already ended."), "Already ended."),
        (ValueError("In brackets. (Like this.)"), "In brackets. (Like this.)"),
        (MemoryError(), "There is not enough memory (no size is known)."),
        (OSError(errno.EIO, "Input/output error", "disk"), "Input/output error: disk."),
        (OSError(errno.ENOSPC, "No space left on device"), "No space is left on the disk."),
        (IsADirectoryError("x is a folder; name a file to write."), "x is a folder; name a file to write."),
    ],
)
def test_sentences(error, sentence):
    assert one_sentence(error) == sentence


def test_exit_codes_are_the_documented_ones():
    assert (_errors.CONFLICT, _errors.BAD_INPUT, _errors.INTERRUPTED) == (1, 2, 130)


def test_an_id_column_is_not_suggested_twice(desk):
    desk.write("t.csv", "id,note,x\n" + "".join(f"p{row},text {row},{row % 3}\n" for row in range(12)))
    first = desk.run("cluster", "t.csv", "-k", 2).stderr.splitlines()
    assert "; use --id id if it names the rows, leave it out with" in first[1]
    again = desk.fails("cluster", "t.csv", "-k", 2, "--id", "id")
    assert (
        "'note' has 12 different values in 12 rows, too many for categories; leave it out with --ignore note" in again
    )
    assert "--id" not in again


def test_a_folder_in_which_no_file_can_be_made(desk):
    desk.write("t.csv", GOOD)
    if not os.access("/proc", os.W_OK):
        pytest.skip("only root seems to be allowed to write there")
    message = desk.fails("cluster", "t.csv", "-k", 2, "--method", "pck", "-o", "/proc/x.csv")
    assert message == "Error: The file cannot be written: /proc/x.csv.\n"
