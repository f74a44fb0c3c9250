"""Fits in a process of their own, so that the page answers while they run: the newest request only."""

from __future__ import annotations

import itertools
import logging
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import IO, Any, NamedTuple

from mustlink.constraints import Constraints
from mustlink.studio._adapter import Fit
from mustlink.studio._views import align_view, pca_view
from mustlink.workflow import name_rows

__all__ = ["Background"]

# How long a fit may go on when another method or number of groups is asked for, in seconds. Starting another process
# takes about as long.
PATIENCE = 3.0
# How long to wait for a process or a thread that was told to end, in seconds.
END_TIMEOUT = 5.0
# `-P` keeps the current folder, which may hold anything, from the path; PYTHONPATH brings that of this process.
WORKER = ["-P", "-c", "from mustlink.studio._background_worker import work; work()"]


class Request(NamedTuple):
    """What to fit."""

    revision: int
    links: Constraints
    n_clusters: int | None
    method: str
    seed: int

    @property
    def options(self) -> tuple[int | None, str, int]:
        """All but the links."""
        return self.n_clusters, self.method, self.seed


class _Reply(NamedTuple):
    """What a worker sent; None is that it is ready."""

    worker: int
    fit: Fit | None


class _Gone(NamedTuple):
    """That a worker has ended, and its exit code."""

    worker: int
    code: int


class _Close(NamedTuple):
    """That there is nothing more to do."""


class Background:
    """A worker process that fits clusterers, one at a time.

    A request replaces one that has not begun. If a fit is running when a request comes that differs in the links alone,
    it is finished, so that there are results also for a person who is faster than the fits. When another method or
    number of groups is asked for, it may go on for three seconds; then its process is ended and another one started.
    If the process ends by itself, such as for lack of memory, the
    request is answered with a sentence, and another process is started. It ends with this process, also if this one is
    killed.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_features)
        The table, sent to the process once.
    on_fit : callable
        Called with every result, a :class:`Fit`, in a thread of its own.
    row_names : sequence of str, default=None
        What rows are called in errors; their numbers by default.
    patience : float, default=3.0
        How long a fit may go on when another method or number of groups is asked for, in seconds.

    Notes
    -----
    The process is a new interpreter and not one of :mod:`multiprocessing`, which would run the main program again:
    a script that opens a studio would open another one.
    """

    def __init__(
        self,
        X: Any,
        on_fit: Callable[[Fit], None],
        *,
        row_names: Sequence[str] | None = None,
        patience: float = PATIENCE,
    ) -> None:
        self._X, self._on_fit, self._patience = X, on_fit, patience
        self._row_names = None if row_names is None else list(row_names)
        self._events: SimpleQueue[Any] = SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False
        self._n_open = 0
        self._worker: _Worker | None = None
        self._view: Any = None
        # These are used by the thread alone.
        self._running: Request | None = None
        self._waiting: Request | None = None
        self._deadline: float | None = None
        self._thread = threading.Thread(target=self._manage, name="mustlink-background", daemon=True)
        self._thread.start()

    def submit(
        self, revision: int, links: Constraints, n_clusters: int | None, method: str = "auto", seed: int = 0
    ) -> None:
        """Ask for a fit; returns at once.

        Parameters
        ----------
        revision : int
            The state of the links, handed on to the result.
        links : Constraints
            All links in force.
        n_clusters : int or None
            The number of groups.
        method : str, default="auto"
            A clusterer of the catalogue, or "auto".
        seed : int, default=0
            The seed.
        """
        with self._lock:
            if self._closed:
                return
            self._n_open += 1
            self._events.put(Request(revision, links, n_clusters, method, seed))

    @property
    def is_working(self) -> bool:
        """Whether a request is waiting or running."""
        return self._n_open > 0

    @property
    def pid(self) -> int | None:
        """The number of the worker process, None while there is none."""
        worker = self._worker
        return None if worker is None else worker.process.pid

    def close(self) -> None:
        """End the process; results that are not there yet are not delivered."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._events.put(_Close())
            if self._worker is not None:
                # Also ends a thread that is waiting to send.
                self._worker.process.kill()
        if threading.current_thread() is not self._thread:
            self._thread.join(END_TIMEOUT)

    def _manage(self) -> None:
        """Start workers, give them requests and deliver what they send, until closed."""
        self._start()
        try:
            while True:
                event = self._next_event()
                if isinstance(event, _Close):
                    return
                if isinstance(event, Request):
                    self._take_request(event)
                elif self._is_of_worker(event):
                    self._take_news(event)
                if self._running is None and self._waiting is not None:
                    self._send_waiting()
        finally:
            self._stop()

    def _next_event(self) -> Any:
        """Wait for an event; None if the time of the running fit is over, which is then ended."""
        left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
        try:
            return self._events.get(timeout=left)
        except Empty:
            self._running, self._deadline = None, None
            self._count_down()
            self._start()
            return None

    def _take_request(self, request: Request) -> None:
        """Let a request wait in place of the one before, and the running fit not go on for long if it is of no use."""
        if self._waiting is not None:
            self._count_down()
        self._waiting = request
        if self._running is None or self._running.options == request.options:
            self._deadline = None
        elif self._deadline is None:
            self._deadline = time.monotonic() + self._patience

    def _take_news(self, event: _Reply | _Gone) -> None:
        """Deliver a result, or say that the worker has ended."""
        if isinstance(event, _Gone):
            failed = self._running or self._waiting
            if failed is self._waiting:
                self._waiting = None
            self._running, self._deadline = None, None
            self._report_end(event, failed)
        elif event.fit is not None:
            self._running, self._deadline = None, None
            self._deliver(event.fit)

    def _send_waiting(self) -> None:
        """Let the worker fit what is waiting."""
        if self._worker is None:
            self._start()
        request, self._waiting = self._waiting, None
        if self._worker is not None:
            self._running = request
            self._worker.send(request)
        elif request is not None:
            failed = "The process that computes the groups could not be started; close other programs."
            self._deliver(Fit(request.revision, request.method, error=failed))

    def _is_of_worker(self, event: Any) -> bool:
        """Return whether an event is about the present worker, and not about one that was ended."""
        return event is not None and self._worker is not None and event.worker == self._worker.number

    def _start(self) -> None:
        """Start a worker in place of the one before."""
        self._stop()
        try:
            worker = _Worker(self._events)
        except OSError as error:
            logging.getLogger(__name__).warning("The process that computes the groups could not be started: %s", error)
            return
        with self._lock:
            self._worker = worker
            if self._closed:
                worker.process.kill()
        worker.send(self._X)

    def _stop(self) -> None:
        """End the worker, if there is one."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()

    def _report_end(self, event: _Gone, request: Request | None) -> None:
        """Say that the process ended, and start another if it was able to work."""
        was_ready = self._worker is not None and self._worker.is_ready
        self._stop()
        if request is not None:
            reason = "It may have run out of memory; choose another method." if was_ready else "It could not start."
            ended = f"The process that computes the groups ended (exit code {event.code}). {reason}"
            self._deliver(Fit(request.revision, request.method, error=ended))
        if was_ready:
            self._start()

    def _count_down(self) -> None:
        """Count one request less that is open."""
        with self._lock:
            self._n_open -= 1

    def _deliver(self, fit: Fit) -> None:
        """Hand over a result, its view turned to the one before and its error with the names of rows."""
        self._count_down()
        if fit.error is not None and self._row_names is not None:
            fit = replace(fit, error=name_rows(fit.error, self._row_names))
        if fit.learned_positions is not None:
            before = pca_view(self._X) if self._view is None else self._view
            self._view = align_view(fit.learned_positions, before)
            fit = replace(fit, learned_positions=self._view)
        if self._closed:
            return
        try:
            self._on_fit(fit)
        except Exception:
            # The next results are to arrive all the same.
            logging.getLogger(__name__).exception("A result could not be taken over.")


class _Worker:
    """One process, and the thread that reads what it sends."""

    _numbers = itertools.count()

    def __init__(self, events: SimpleQueue[Any]) -> None:
        self.number = next(self._numbers)
        self.is_ready = False
        self._events = events
        path = os.pathsep.join(folder or os.getcwd() for folder in sys.path)
        self.process = subprocess.Popen(
            [sys.executable, *WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )
        self._reader = threading.Thread(target=self._read, name="mustlink-background-reader", daemon=True)
        self._reader.start()

    def send(self, value: Any) -> None:
        """Send a value; if the process has ended, that is an event already."""
        stream = self.process.stdin
        with suppress(OSError, ValueError):
            assert stream is not None
            pickle.dump(value, stream, protocol=pickle.HIGHEST_PROTOCOL)
            stream.flush()

    def _read(self) -> None:
        """Turn what the process sends, and its end, into events."""
        stream: IO[bytes] | None = self.process.stdout
        with suppress(EOFError, OSError, ValueError, pickle.UnpicklingError):
            while stream is not None:
                fit = pickle.load(stream)
                self.is_ready = True
                self._events.put(_Reply(self.number, fit))
        self._events.put(_Gone(self.number, self.process.wait()))

    def end(self) -> None:
        """End the process and close what belongs to it."""
        self.process.kill()
        self.process.wait()
        self._reader.join(END_TIMEOUT)
        for stream in (self.process.stdin, self.process.stdout):
            # What was to be sent cannot be sent any more.
            with suppress(OSError):
                if stream is not None:
                    stream.close()
