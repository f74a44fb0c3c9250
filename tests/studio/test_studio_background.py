"""The worker process: newest request only, crashes reported, nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Queue

import numpy as np
import pytest
from scipy import sparse

from mustlink import Constraints
from mustlink.studio import _background
from mustlink.studio._adapter import Fit, fit_method
from mustlink.studio._background import Background

pytestmark = pytest.mark.skipif(not Path("/proc/self").exists(), reason="processes are looked up in /proc")

# A worker starts in about two seconds; on a busy machine it may take several times as long.
TIMEOUT = 180.0
X = np.random.default_rng(0).normal(size=(40, 3)) + 5 * np.eye(2, 3)[np.arange(40) % 2]
LINKS = Constraints(must_link=[(0, 2), (1, 3)], cannot_link=[(0, 1)])


class Taken:
    """Takes results, and fails each time, which must not stop the next one."""

    def __init__(self) -> None:
        self.results: Queue[Fit] = Queue()

    def __call__(self, fit: Fit) -> None:
        self.results.put(fit)
        raise RuntimeError("no")

    def get(self) -> Fit:
        return self.results.get(timeout=TIMEOUT)


@pytest.fixture(scope="module")
def taken() -> Taken:
    return Taken()


@pytest.fixture(scope="module")
def background(taken: Taken) -> Iterator[Background]:
    """One for several tests, since a process takes seconds to start."""
    made = Background(X, taken, row_names=[f"r{row}" for row in range(40)])
    yield made
    made.close()


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for something that happens in another thread or process."""
    end = time.monotonic() + TIMEOUT
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and is not yet reaped does not."""
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def slow(background: Background, revision: int) -> None:
    """Ask for a fit that does not end, since its process is stopped, and wait until it was sent there."""
    pid = background.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    background.submit(revision, LINKS, 2, "boost")
    wait_until(lambda: background._running is not None)


def test_a_fit_of_the_process_is_that_of_the_function(
    background: Background, taken: Taken, caplog: pytest.LogCaptureFixture
) -> None:
    background.submit(3, LINKS, 2, "pck", seed=1)
    assert background.is_working
    fit = taken.get()
    expected = fit_method("pck", X, LINKS, 2, seed=1, revision=3)
    assert (fit.revision, fit.method, fit.error) == (3, "pck", None)
    assert np.array_equal(fit.labels, expected.labels)  # type: ignore[arg-type]
    assert np.array_equal(fit.confidence, expected.confidence)  # type: ignore[arg-type]
    wait_until(lambda: not background.is_working)

    # The view is turned to the one before.
    background.submit(4, LINKS, 2, "pck", seed=1)
    again = taken.get()
    assert np.abs(again.learned_positions - fit.learned_positions).max() < 1e-5  # type: ignore[operator]
    wait_until(lambda: caplog.text.count("could not be taken over") == 2)


def test_a_failure_names_the_rows(background: Background, taken: Taken) -> None:
    wrong = Constraints(must_link=[(0, 2), (2, 4)], cannot_link=[(0, 4)])
    background.submit(5, wrong, 2, "cop")
    assert "must-links connect them: r0 - r2 - r4" in str(taken.get().error)


def test_a_fit_is_finished_although_there_are_other_links(background: Background, taken: Taken) -> None:
    background._patience = 0.0
    pid = background.pid
    for revision in (7, 8, 9):
        background.submit(revision, LINKS, 2, "boost")
    assert [taken.get().revision for _ in range(2)] == [7, 9]
    assert background.pid == pid
    # Another number, and then the same one again: what runs is of use.
    background._patience = TIMEOUT
    background._running = _background.Request(1, LINKS, 2, "boost", 0)
    background._take_request(_background.Request(2, LINKS, 3, "boost", 0))
    assert background._deadline is not None
    background._take_request(_background.Request(3, LINKS, 2, "boost", 0))
    assert background._deadline is None
    background._running = background._waiting = None
    background._n_open = 0


def test_a_quick_fit_is_finished_although_another_method_is_asked_for(background: Background, taken: Taken) -> None:
    background._patience = TIMEOUT
    pid = background.pid
    background.submit(10, LINKS, 2, "boost")
    background.submit(11, LINKS, 2, "pck")
    background.submit(12, LINKS, 2, "pck")
    # The one in the middle had not begun.
    assert [taken.get().revision for _ in range(2)] == [10, 12]
    assert background.pid == pid
    wait_until(lambda: not background.is_working)


def test_a_slow_fit_is_given_up_for_another_method(background: Background, taken: Taken) -> None:
    background._patience = 0.3
    first = background.pid
    assert first is not None
    slow(background, 20)
    for revision in (21, 22):
        background.submit(revision, LINKS, 2, "pck")
    assert taken.get().revision == 22
    assert background.pid != first
    assert not is_alive(first)
    wait_until(lambda: not background.is_working)
    assert taken.results.empty()


def test_a_process_that_is_killed_is_reported_and_replaced(background: Background, taken: Taken) -> None:
    first = background.pid
    assert first is not None
    slow(background, 30)
    os.kill(first, signal.SIGKILL)
    fit = taken.get()
    assert fit.revision == 30
    assert "ended (exit code -9)" in str(fit.error)
    background.submit(31, LINKS, 2, "pck")
    assert taken.get().revision == 31
    last = background.pid
    assert last is not None
    background.close()
    assert not is_alive(last)
    background.submit(32, LINKS, 2, "pck")
    assert not background.is_working


def test_a_process_that_cannot_start_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    results: Queue[Fit] = Queue()

    monkeypatch.setattr(_background, "WORKER", ["-c", "raise SystemExit(3)"])
    background = Background(X, results.put)
    try:
        for revision in (1, 2):
            background.submit(revision, LINKS, 2, "pck")
            fit = results.get(timeout=TIMEOUT)
            assert fit.revision == revision
            assert "could not start" in str(fit.error)
            assert "3" in str(fit.error)
    finally:
        background.close()


def test_a_process_that_the_system_refuses_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    results: Queue[Fit] = Queue()
    monkeypatch.setattr(_background.sys, "executable", "/nowhere/python")
    background = Background(X, results.put)
    try:
        for revision in (1, 2):
            background.submit(revision, LINKS, 2, "pck")
            fit = results.get(timeout=TIMEOUT)
            assert (fit.revision, fit.labels) == (revision, None)
            assert "could not be started" in str(fit.error)
        assert not background.is_working
    finally:
        background.close()


def test_closing_at_once_leaves_nothing() -> None:
    results: Queue[Fit] = Queue()
    n_threads = threading.active_count()
    background = Background(sparse.csr_array(np.ones((200_000, 20))), results.put)
    wait_until(lambda: background.pid is not None)
    pid = background.pid
    assert pid is not None
    background.close()
    background.close()
    assert not is_alive(pid)
    wait_until(lambda: threading.active_count() == n_threads)
    assert results.empty()


# A script without a guard: multiprocessing would run it again in the worker.
SCRIPT = """
    import sys, time
    import numpy as np
    from mustlink import Constraints
    from mustlink.studio._background import Background

    got = []
    background = Background(np.random.default_rng(0).normal(size=(40, 3)), got.append)
    background.submit(1, Constraints(must_link=[(0, 1)]), 2, "pck")
    while not got:
        time.sleep(0.02)
    print("fitted", got[0].error, background.pid, flush=True)
    background.submit(2, Constraints(cannot_link=[(0, 1), (0, 2)]), 39, "mean-field")
    {end}
"""


def test_the_process_ends_with_its_parent(tmp_path: Path) -> None:
    parents = {}
    for end in ("killed", "ended"):
        script = tmp_path / f"{end}.py"
        code = textwrap.dedent(SCRIPT).format(end="time.sleep(600)" if end == "killed" else "")
        script.write_text(code, encoding="utf-8")
        parents[end] = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    try:
        for end, parent in parents.items():
            assert parent.stdout is not None
            line = parent.stdout.readline().split()
            assert line[:2] == ["fitted", "None"]
            worker = int(line[2])
            if end == "killed":
                assert is_alive(worker)
                parent.kill()
            assert parent.wait(TIMEOUT) == (-signal.SIGKILL if end == "killed" else 0)
            wait_until(lambda worker=worker: not is_alive(worker))  # type: ignore[misc]
    finally:
        for parent in parents.values():
            parent.kill()
            parent.communicate()
