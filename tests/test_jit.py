"""Compilation by numba: kept on disk where it can be, compiled in every process where it cannot."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from mustlink._coloring_kernels import grow_clique
from mustlink._jit import jit

KERNEL = """
def total(numbers):
    result = 0
    for number in numbers:
        result += number
    return result
"""


def without_a_file() -> Callable[..., Any]:
    """Make a function whose source is in no file, for which numba finds no cache folder."""
    names: dict[str, Any] = {}
    exec(compile(KERNEL, "<nowhere>", "exec"), names)
    function: Callable[..., Any] = names["total"]
    return function


def test_numba_refuses_to_cache_what_has_no_file() -> None:
    """The reason for the fallback; should numba change its mind, the fallback can go."""
    with pytest.raises(RuntimeError, match="no locator available"):
        numba.njit(cache=True)(without_a_file())


def test_without_a_cache_folder_the_function_is_compiled_all_the_same() -> None:
    total = jit(without_a_file())
    assert total(np.arange(10)) == 45
    assert total.stats.cache_path is None  # type: ignore[attr-defined]
    assert total.signatures  # type: ignore[attr-defined]


def test_the_fallback_asks_for_the_same_but_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, bool]] = []

    def njit(**options: bool) -> Callable[[Any], Any]:
        asked.append(options)
        if options.get("cache"):
            raise RuntimeError("cannot cache function 'total': no locator available for file")
        return lambda function: function

    monkeypatch.setattr(numba, "njit", njit)
    assert jit(max)(3, 4) == 4
    assert asked == [{"cache": True, "nogil": True}, {"nogil": True}]


def test_kernels_are_kept_on_disk(tmp_path: Path) -> None:
    """A module imported from a folder that can be written leaves its compiled function there."""
    (tmp_path / "kernel_in_a_folder.py").write_text(f"from mustlink._jit import jit\n\n@jit{KERNEL}")
    script = "import kernel_in_a_folder as k; k.total((1, 2)); print(dict(k.total.stats.cache_hits))"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for expected in ("{}", "UniTuple"):
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment, cwd=tmp_path
        )
        assert expected in done.stdout
    assert list((tmp_path / "cache").rglob("*.nbi"))


def test_the_package_works_where_no_cache_folder_can_be_written(tmp_path: Path) -> None:
    """The folder told to numba is a file, and it is told to look nowhere else."""
    blocked = tmp_path / "cache"
    blocked.write_bytes(b"")
    script = (
        "from mustlink._coloring_kernels import grow_clique\n"
        "import numpy as np\n"
        "print(grow_clique(np.array([0, 1, 2]), np.array([1, 0]), np.array([0, 1])))\n"
        "print(grow_clique.stats.cache_path)\n"
    )
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(blocked),
        "NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator",
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True, env=environment
    )
    clique, cache_path = done.stdout.splitlines()
    assert clique == "[0 1]"
    if hasattr(numba.config, "CACHE_LOCATOR_CLASSES"):  # older versions look elsewhere too
        assert cache_path == "None"
    assert blocked.read_bytes() == b""


def test_the_plain_function_gives_the_same() -> None:
    """What numba compiles is also correct as plain Python, as when NUMBA_DISABLE_JIT is set."""
    indptr, indices = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1])
    order = np.array([1, 0, 2])
    compiled = grow_clique(indptr, indices, order)
    plain = getattr(grow_clique, "py_func", grow_clique)(indptr, indices, order)
    assert compiled.tolist() == plain.tolist() == [1, 0]


def test_processes_that_compile_at_the_same_time_do_not_share_a_file(tmp_path: Path) -> None:
    """Each saves another signature, and had read the index before the other wrote it."""
    (tmp_path / "kernel_in_a_folder.py").write_text(f"from mustlink._jit import jit\n\n@jit{KERNEL}")
    script = (
        "import sys\nimport numpy as np\nimport kernel_in_a_folder as k\n"
        "print(k.total(np.arange(5).astype(sys.argv[1])))"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def total(kind: str) -> str:
        command = [sys.executable, "-c", script, kind]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.strip()

    assert total("float64") == "10.0"
    (index,) = (tmp_path / "cache").rglob("*.nbi")
    of_first = index.read_bytes()
    index.unlink()
    assert total("int64") == "10"
    of_second = index.read_bytes()
    for written_last in (of_first, of_second):
        index.write_bytes(written_last)
        assert (total("float64"), total("int64")) == ("10.0", "10")
