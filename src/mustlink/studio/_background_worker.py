"""The program of the worker process: a table, then requests, on the standard input; results on the standard output."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
from queue import SimpleQueue
from typing import Any

__all__ = ["work"]

# The page and its server go before the fits.
NICENESS = 5
# How often it is checked whether the process that started this one is still there, in seconds.
PARENT_CHECK = 1.0


def work() -> None:
    """Fit what is asked for until the standard input ends, which it does with the process that started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    results = os.fdopen(os.dup(1), "wb")
    # What a clusterer prints is not to be mixed with results.
    os.dup2(2, 1)
    received: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=_receive, args=(received,), daemon=True).start()
    threading.Thread(target=_watch_parent, args=(os.getppid(),), daemon=True).start()

    from mustlink.studio._adapter import fit_method

    _send(results, None)
    X = received.get()
    while True:
        request = received.get()
        fit = fit_method(request.method, X, request.links, request.n_clusters, request.seed, revision=request.revision)
        _send(results, fit)


def _receive(received: SimpleQueue[Any]) -> None:
    """Take in what is sent, and end the process at the end of the input, also in the middle of a fit."""
    try:
        while True:
            received.put(pickle.load(sys.stdin.buffer))
    except (EOFError, OSError, pickle.UnpicklingError):
        os._exit(0)


def _watch_parent(parent: int) -> None:
    """End the process if its parent is gone, but another process still holds the other end of the input."""
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK)
    os._exit(0)


def _send(stream: Any, value: Any) -> None:
    """Send a value."""
    pickle.dump(value, stream, protocol=pickle.HIGHEST_PROTOCOL)
    stream.flush()
