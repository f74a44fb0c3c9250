"""``mustlink cluster`` on tables that are read in blocks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from mustlink.workflow import _in_blocks

pytest.importorskip("pyarrow")


@pytest.fixture
def big(desk):
    """Three groups of customers as Parquet and as an array, with links by id and by number."""
    rng = np.random.default_rng(0)
    group = np.arange(300) % 3
    X = rng.normal(size=(300, 2)) + np.array([[0, 0], [9, 0], [0, 9]])[group]
    frame = pd.DataFrame({"who": [f"c{row:03d}" for row in range(300)], "visits": X[:, 0], "basket": X[:, 1]})
    frame["plan"] = np.array(["a", "b", "a"])[group]
    frame.to_parquet(desk.folder / "big.parquet", row_group_size=50)
    np.save(desk.folder / "big.npy", X)
    desk.write("links.csv", "a,b,link\nc000,c003,must\nc001,c004,must\nc000,c001,cannot\n")
    desk.write("rows.csv", "a,b,link\n0,3,must\n1,4,must\n0,1,cannot\n")
    return desk


CLUSTER = ("cluster", "big.parquet", "links.csv", "-k", 3, "--id", "who", "--method", "pck")


def test_output_and_file_are_those_of_memory(big):
    shown = {}
    for how in ("blocks", "memory"):
        result = big.run(*CLUSTER, f"--in-{how}", "-o", f"{how}.csv")
        assert result.exit_code == 0, result.output
        assert result.stderr == ""
        shown[how] = result.stdout.replace(f"{how}.csv", "OUT")
    assert shown["blocks"] == shown["memory"]
    assert big.read("blocks.csv") == big.read("memory.csv")
    assert "300 rows in 3 clusters. All 3 links kept." in shown["blocks"]
    assert "Links kept: 2 of 2 must, 1 of 1 cannot" in shown["blocks"]


def test_an_array(big):
    for how in ("blocks", "memory"):
        result = big.run(
            "cluster", "big.npy", "rows.csv", "-k", 3, "--method", "cop", f"--in-{how}", "-o", f"{how}.csv"
        )
        assert result.exit_code == 0, result.output
    assert big.read("blocks.csv") == big.read("memory.csv")


def test_large_tables_by_themselves(big, monkeypatch):
    monkeypatch.setattr(_in_blocks, "available_memory", lambda: 100_000)
    from mustlink.workflow import reads_in_blocks

    seen = []
    monkeypatch.setattr(
        "mustlink.workflow.reads_in_blocks", lambda *a, **k: seen.append(reads_in_blocks(*a, **k)) or seen[-1]
    )
    assert big.run(*CLUSTER).exit_code == 0
    assert seen == [True]
    assert big.names() == ["big.clusters.csv", "big.npy", "big.parquet", "links.csv", "rows.csv"]


def test_a_folder(big):
    (big.folder / "parts").mkdir()
    frame = pd.read_parquet("big.parquet")
    for part in range(3):
        frame[part * 100 : part * 100 + 100].to_parquet(big.folder / "parts" / f"{part}.parquet", index=False)
    result = big.run("cluster", "parts", "links.csv", "-k", 3, "--id", "who", "--method", "pck")
    assert result.exit_code == 0, result.output
    assert big.run(*CLUSTER, "--in-memory", "-o", "memory.csv").exit_code == 0
    assert big.read("parts.clusters.csv") == big.read("memory.csv")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--method", "hdbscan"), "the method hdbscan takes no blocks; those that do are "),
        (("--method", "hdbscan"), "; use --in-memory to read it into memory."),
        (("--method", "auto"), "the method auto compares clusterings in memory"),
        (("--never-together", "plan"), "columns of groups"),
        (("-o", "out.xlsx"), "a sheet of Excel is not written in blocks; use .csv or .parquet"),
        (("--id", "nobody"), "has no column 'nobody'"),
        (("--method", "pck", "--encoding", "utf-8"), "is not a file of text"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(big, words, expected):
    assert expected in big.fails(*CLUSTER, "--in-blocks", *words)


def test_bad_tables_are_sentences(big):
    assert "row 120: the column 'visits' is empty" in fails_with(
        big, lambda frame: frame.visits.mask(frame.index == 120)
    )
    assert "fill it, or use --missing drop or --missing mean" in big.fails(*named("bad.parquet"))
    big.write("bad.parquet", "no parquet")
    assert "bad.parquet is not a readable Parquet file" in big.fails(*named("bad.parquet"))
    (big.folder / "none").mkdir()
    assert "none is a folder without Parquet files" in big.fails(*named("none"))
    assert "There is no file nothing.parquet." in big.fails(*named("nothing.parquet"))
    big.write("a.csv", "x\n1\n2\n")
    assert "this is done for .parquet, a folder of .parquet files and .npy" in big.fails(*named("a.csv"))


def named(table):
    return "cluster", table, "links.csv", "-k", 3, "--id", "who", "--method", "pck", "--in-blocks"


def fails_with(desk, change):
    frame = pd.read_parquet("big.parquet")
    frame["visits"] = change(frame)
    frame.to_parquet(desk.folder / "bad.parquet")
    return desk.fails(*named("bad.parquet"))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is always full")
def test_a_full_disk(big):
    result = big.run(*CLUSTER, "--in-blocks", "-o", "/dev/full")
    assert result.exit_code == 2
    assert "No space is left on the disk for /dev/full; nothing was written" in result.stderr


def test_too_little_space_for_the_rows(big, monkeypatch):
    import shutil

    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10_000, 9_000, 1_000))
    sentence = big.fails(*CLUSTER, "--in-blocks")
    assert "The rows of big.parquet take 9.6 kB on the disk while they are read in blocks, and " in sentence
    assert "has 1 kB free; free some space, or set TMPDIR to a folder on a larger disk." in sentence


def test_clusters_to_standard_output(big, environment):
    words = [sys.executable, "-m", "mustlink", *map(str, CLUSTER), "--in-blocks", "-o", "/dev/stdout"]
    done = subprocess.run(words, cwd=big.folder, env=environment, capture_output=True, text=True, check=True)
    assert "who,cluster\nc000," in done.stdout


def long_run(desk):
    """A table and a number of starts that take a while."""
    rng = np.random.default_rng(0)
    np.save(desk.folder / "long.npy", rng.normal(size=(400_000, 4)))
    desk.write("links.csv", "a,b,link\n0,3,must\n")
    return "cluster", "long.npy", "links.csv", "-k", 40, "--method", "pck", "--in-blocks", "--starts", 500


def test_the_bar_counts_passes_and_ctrl_c_leaves_nothing(desk, start_on_terminal):
    words = long_run(desk)
    screen = start_on_terminal(*words, width=100)
    shown = screen.wait_for(b"pass 3")
    assert b"Clustering long.npy" in shown
    assert screen.interrupt() == 130
    assert b"Stopped." in screen.rest()
    assert desk.names() == ["links.csv", "long.npy"]


@pytest.mark.skipif(os.name == "nt", reason="signals are those of Unix")
def test_a_killed_run_leaves_no_half_file(desk, environment):
    folder = desk.folder / "scratch"
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "mustlink", *map(str, long_run(desk))],
        cwd=desk.folder,
        env=environment | {"TMPDIR": str(folder)},
    )
    time.sleep(6)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert desk.names() == ["links.csv", "long.npy", "scratch"]
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("words", [("--in-blocks",), ("--in-memory",), ()])
def test_an_archive_of_arrays_is_named_as_one(big, words):
    big.write("x.npz", b"")
    said = big.fails("cluster", "x.npz", "-k", 3, "--method", "pck", *words)
    assert "x.npz is an archive of arrays; save one of them alone with numpy.save." in said
