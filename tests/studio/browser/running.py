"""A studio in a process of its own, and Chromium to look at its page; the benchmark and the pictures use it too."""

from __future__ import annotations

import importlib.util
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# A machine for tests has no graphics card: WebGL is computed by software there, which the page does not use, so that it
# draws the points on a canvas.
ARGUMENTS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/\S*")
# Seconds that a busy machine may need to start a studio.
PATIENCE = 120.0


def find_browser() -> str | None:
    """Return the path of a Chromium that the system has, if any."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def why_no_browser() -> str | None:
    """Return why nothing can be looked at in a browser; None if it can."""
    if importlib.util.find_spec("playwright") is None:
        return "the package playwright is not installed"
    if find_browser() is None:
        return f"none of {', '.join(BROWSERS)} is installed"
    return None


@contextmanager
def open_browser() -> Iterator[Any]:
    """Start the system's Chromium, and yield it as a Browser of Playwright."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


class RunningStudio:
    """``mustlink studio`` with some words, in a process of its own, from its address to the end of a `with` block.

    Parameters
    ----------
    *words : str or Path
        What follows ``mustlink studio``.
    folder : Path
        Where it runs.

    Attributes
    ----------
    url : str
        The address that it printed, with the token.
    pid : int
        The process.
    """

    def __init__(self, *words: str | Path, folder: Path) -> None:
        self._words = [sys.executable, "-m", "mustlink", "studio", *map(str, words), "--no-browser"]
        self._folder = folder
        self._printed: list[str] = []

    def __enter__(self) -> RunningStudio:
        environment = os.environ | {"COLUMNS": "400", "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}
        self._process = subprocess.Popen(
            self._words,
            cwd=self._folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # A group of its own, so that its workers end with it even if it is killed.
            start_new_session=True,
        )
        self.pid = self._process.pid
        addresses: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout, addresses), daemon=True)
        self._reader.start()
        try:
            address = addresses.get(timeout=PATIENCE)
        except queue.Empty:
            address = None
        if address is None:
            self.kill()
            raise RuntimeError(f"{' '.join(self._words)} printed no address, but:\n{self.printed}")
        self.url = address
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        code = self._process.poll()
        self.kill()
        if kind is not None:
            # Why a server ended by itself stands nowhere else.
            print(f"The studio's exit code was {code} (None: it ran), and it printed:\n{self.printed}")

    @property
    def printed(self) -> str:
        """All that it has printed so far."""
        return "".join(self._printed)

    def kill(self) -> None:
        """Kill the server, as a power cut does, and whatever it has left behind."""
        self.kill_server()
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._reader.join()

    def kill_server(self) -> None:
        """Kill the server alone; its workers have to notice."""
        self._process.kill()
        self._process.wait()

    @property
    def memory(self) -> float:
        """Megabytes that the server and its workers hold (on Linux)."""
        held = re.compile(r"VmRSS:\s+(\d+)")
        texts = (Path(f"/proc/{pid}/status").read_text() for pid in self.processes)
        return sum(int(found.group(1)) / 1024 for text in texts if (found := held.search(text)))

    @property
    def processes(self) -> list[int]:
        """The server and its workers, as far as they have not ended (on Linux)."""
        found = []
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                state, _, group = path.read_text().rsplit(")", 1)[1].split()[:3]
                if int(group) == self.pid and state != "Z":
                    found.append(int(path.parent.name))
        return found

    def wait_for_workers(self) -> None:
        """Wait until no process that the server has started is left; raises TimeoutError if one stays."""
        end = time.monotonic() + PATIENCE
        while self.processes:
            if time.monotonic() > end:
                raise TimeoutError(f"Processes of the studio are left {PATIENCE:g} s after it was killed.")
            time.sleep(0.02)

    def interrupt(self) -> int:
        """Send Ctrl-C, and return the exit code."""
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(PATIENCE)

    def _read(self, stream: IO[str], addresses: queue.Queue[str | None]) -> None:
        with stream:
            for line in stream:
                self._printed.append(line)
                if found := ADDRESS.search(line):
                    addresses.put(found.group())
        addresses.put(None)
