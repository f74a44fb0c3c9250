"""Files are written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mustlink._atomic import StagedFiles, discard_staged, write_atomically

on_unix = pytest.mark.skipif(os.name == "nt", reason="permissions, links and limits are those of Unix")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "out.csv"
    path.write_bytes(b"old")
    return path


@pytest.mark.parametrize("data", [b"", b"new", b"\0\xff" * 100_000])
def test_a_file_is_made_or_replaced(old: Path, data: bytes) -> None:
    for path in (old, old.with_name("fresh.bin")):
        write_atomically(path, data)
        assert path.read_bytes() == data
        write_atomically(str(path), data + b"!")
        assert path.read_bytes() == data + b"!"
    assert sorted(os.listdir(old.parent)) == ["fresh.bin", "out.csv"]


def test_a_name_without_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_atomically("here.txt", b"new")
    assert (tmp_path / "here.txt").read_bytes() == b"new"


@pytest.mark.parametrize("step", ["fdopen", "fsync", "chmod", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_at_any_step_leaves_things_as_they_were(
    old: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    descriptors: list[int] = []

    def fail(handle: Any, *_: Any, **__: Any) -> None:
        descriptors.append(handle)
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(error)):
        write_atomically(old, b"new")
    monkeypatch.undo()
    assert old.read_bytes() == b"old"
    assert os.listdir(old.parent) == [old.name]
    if step == "fdopen":
        os.close(descriptors[0])


@on_unix
def test_a_disk_that_takes_only_half(old: Path) -> None:
    """A limit on the size of files makes the system refuse in the midst of writing."""
    script = (
        "import resource, signal, sys\n"
        "from mustlink._atomic import write_atomically\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))\n"
        "try:\n"
        "    write_atomically(sys.argv[1], b'x' * 50_000)\n"
        "except OSError as error:\n"
        "    print('refused', error.errno)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(old)], capture_output=True, text=True, check=True)
    assert done.stdout == f"refused {errno.EFBIG}\n"
    assert old.read_bytes() == b"old"
    assert os.listdir(old.parent) == [old.name]


def test_the_old_file_stands_until_the_new_one_is_complete(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    fsync = os.fsync

    def look(handle: int) -> None:
        seen.append(old.read_bytes())
        fsync(handle)

    monkeypatch.setattr(os, "fsync", look)
    write_atomically(old, b"new")
    assert seen == [b"old"]
    assert old.read_bytes() == b"new"


@on_unix
@pytest.mark.parametrize(("umask", "expected"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path: Path, umask: int, expected: int) -> None:
    before = os.umask(umask)
    try:
        write_atomically(tmp_path / "new", b"")
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == expected


@on_unix
def test_a_replaced_file_keeps_its_permissions(old: Path) -> None:
    old.chmod(0o640)
    write_atomically(old, b"private")
    assert stat.S_IMODE(old.stat().st_mode) == 0o640


@on_unix
def test_a_symbolic_link_stays_one(old: Path) -> None:
    link = old.with_name("latest.csv")
    link.symlink_to(old.name)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert old.read_bytes() == b"new"


def test_a_long_name(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 250)
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"


def test_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="Is a directory"):
        write_atomically(tmp_path, b"new")
    with pytest.raises(FileNotFoundError, match=r"folder to write into does not exist.*missing"):
        write_atomically(tmp_path / "missing" / "out.csv", b"new")
    assert os.listdir(tmp_path) == []


def test_what_is_staged_can_be_removed_from_outside(tmp_path):
    with StagedFiles() as done:
        done.stage(tmp_path / "done.txt", b"done")
    files = StagedFiles()
    files.stage(tmp_path / "a.txt", b"a")
    assert len(list(tmp_path.iterdir())) == 2
    discard_staged()
    assert [path.name for path in tmp_path.iterdir()] == ["done.txt"]
    files.__exit__(KeyboardInterrupt)
