"""Ctrl-C ends the command at once, also inside a compiled function, and leaves no file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from mustlink.cli import _interrupt
from mustlink.cli._interrupt import run_interruptibly, was_interrupted

needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send Ctrl-C to one process")


@needs_signals
@pytest.mark.parametrize("kind", ["compiled", "python"])
def test_the_command_ends_at_once(kind: str, tmp_path: Path, environment: dict[str, str]) -> None:
    """Takes a few seconds: a process of its own has to start."""
    (tmp_path / "t.csv").write_text("x,y\n0,0\n1,0\n9,9\n9,8\n", encoding="utf-8")
    work = "compiled(10**13)" if kind == "compiled" else "[time.sleep(0.01) for _ in range(10**9)]"
    code = f"""
import signal, sys, time
import numpy as np
from mustlink import PCKMeans, cli
from mustlink._jit import jit

def spin(n):
    total = 0.0
    for i in range(n):
        total += np.sin(i)
    return total

compiled = jit(spin)
compiled(1)

def fit(self, X, y=None, **options):
    print("fitting", flush=True)
    {work}

PCKMeans.fit = fit
# A shell starts background jobs with Ctrl-C ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv = ["mustlink", "cluster", "t.csv", "-k", "2", "--method", "pck"]
cli.main()
"""
    (tmp_path / "run.py").write_text(code, encoding="utf-8")
    words, pipe = [sys.executable, "run.py"], subprocess.PIPE
    with subprocess.Popen(words, cwd=tmp_path, env=environment, stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            assert process.stdout.readline() == b"fitting\n"
            time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            # Two seconds on a machine that does nothing else; a command that does not hear it takes hours.
            assert process.wait(10) == 130
            assert process.stderr.read() == b"Stopped.\n"
        finally:
            process.kill()
    assert not list(tmp_path.glob("*cluster*"))


def test_results_and_errors_come_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_interrupt, "_interrupted", [])
    caller = threading.get_ident()
    assert run_interruptibly(threading.get_ident) != caller
    with pytest.raises(ZeroDivisionError):
        run_interruptibly(lambda: 1 // 0)
    assert not was_interrupted()


@needs_signals
def test_interrupted_work_cleans_up(monkeypatch: pytest.MonkeyPatch) -> None:
    cleaned: list[str] = []

    def work() -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(10_000):
                time.sleep(0.01)
        except KeyboardInterrupt:
            cleaned.append("yes")
            raise

    monkeypatch.setattr(_interrupt, "GRACE", 20.0)
    monkeypatch.setattr(_interrupt, "_interrupted", [])
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_interruptibly(work)
    finally:
        signal.signal(signal.SIGINT, before)
    assert cleaned == ["yes"]
    assert was_interrupted()
