"""A folder to work in, and the command to run there."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from mustlink.cli import app


class Desk:
    """A folder with files, in which the command is run."""

    def __init__(self, folder):
        self.folder = folder

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())

    def read(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def run(self, *words, width=200):
        return CliRunner(env={"COLUMNS": str(width), "TERM": "dumb"}).invoke(app, [str(word) for word in words])

    def fails(self, *words):
        """Run, and return the one sentence of a failure that leaves nothing behind."""
        before = self.names()
        result = self.run(*words)
        assert result.exit_code == 2, result.output
        assert isinstance(result.exception, SystemExit)
        assert self.names() == before
        assert result.stdout == ""
        assert result.stderr.startswith("Error: ")
        assert result.stderr.endswith("\n")
        assert result.stderr.count("\n") == 1
        return result.stderr


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path)


@pytest.fixture
def shop(desk):
    """Thirty customers in three groups, with an id, a category and known labels for some."""
    rng = np.random.default_rng(0)
    lines = ["who,visits,basket,plan,kind"]
    for row in range(30):
        group = row % 3
        visits, basket = rng.normal(size=2) + [[0, 0], [9, 0], [0, 9]][group]
        kind = ["home", "work", "both"][group] if row < 9 else ""
        lines.append(f"c{row:02d},{visits:.3f},{basket:.3f},{['a', 'b', 'a'][group]},{kind}")
    desk.write("shop.csv", "\n".join(lines) + "\n")
    desk.write("links.csv", "a,b,link\nc00,c03,must\nc01,c04,must\nc00,c01,cannot\nc02,c00,cannot\n")
    desk.write("rows.csv", "a,b,link\n0,3,1\n1,4,1\n0,1,-1\n2,0,-1\n")
    return desk


@pytest.fixture
def environment():
    """The environment of a subprocess that imports the same package."""
    import mustlink

    source = str(Path(mustlink.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}


class Screen:
    """The command in a process of its own, on a terminal."""

    def __init__(self, process, descriptor):
        self.process = process
        self.descriptor = descriptor

    def wait_for(self, text, seconds=60):
        """Read the screen until some text is on it."""
        shown, end = b"", time.monotonic() + seconds
        while text not in shown:
            assert time.monotonic() < end, shown
            if select.select([self.descriptor], [], [], 0.2)[0]:
                shown += os.read(self.descriptor, 65536)
        return shown

    def type(self, text):
        os.write(self.descriptor, text.encode())

    def interrupt(self):
        """Press Ctrl-C until the process ends, and return its exit code.

        A signal between the prompt and the wait for input is handled only after the next one.
        """
        for _ in range(4):
            self.process.send_signal(signal.SIGINT)
            # On a busy machine the process takes a while to end, and a second signal would end it in another way.
            with contextlib.suppress(subprocess.TimeoutExpired):
                return self.process.wait(timeout=20)
        return self.process.wait(timeout=20)

    def rest(self):
        """Read what a process that has ended left on the screen."""
        shown = b""
        while True:
            try:
                part = os.read(self.descriptor, 65536)
            except OSError:
                return shown
            if not part:
                return shown
            shown += part


@pytest.fixture
def start_on_terminal(desk, environment):
    """A function that starts the command on a terminal, with a number of columns, and returns its screen."""
    pty = pytest.importorskip("pty", reason="Windows has no such terminals")
    screens = []

    def start(*words, width):
        ours, terminal = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "mustlink", *map(str, words)],
            cwd=desk.folder,
            env=environment | {"TERM": "xterm", "COLUMNS": str(width)},
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
            # A shell without job control starts background jobs, such as a whole test run, deaf to Ctrl-C.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )
        os.close(terminal)
        screens.append(Screen(process, ours))
        return screens[-1]

    yield start
    for screen in screens:
        if screen.process.poll() is None:
            screen.process.kill()
            screen.process.wait()
        os.close(screen.descriptor)
