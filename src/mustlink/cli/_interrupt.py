"""Long work that Ctrl-C ends at once: it is done on a second thread, while the main one waits and hears signals.

Python runs a signal's handler between two of its own instructions on the main thread; a compiled function that runs
there for minutes is not interrupted. Compiled functions release the interpreter lock, so that another thread can.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from threading import Event, Thread
from typing import Any, NoReturn, TypeVar

from mustlink._atomic import discard_staged

__all__ = ["leave_now", "run_interruptibly", "was_interrupted"]

Result = TypeVar("Result")

# How often the main thread looks up; where waiting cannot be interrupted, Ctrl-C takes so many seconds longer.
LOOK_UP = 0.2
# How many seconds interrupted work has to clean up before it is abandoned.
GRACE = 0.7

# Interrupted work. It may still be inside a compiled function, and the process must not wait for it.
_interrupted: list[Thread] = []


def run_interruptibly(work: Callable[[], Result]) -> Result:
    """Return the result of some work, or raise its exception; Ctrl-C is raised here within about a second.

    The work gets the interruption as well, and cleans up unless it is inside a compiled function.
    """
    outcome: dict[str, Any] = {}

    def run() -> None:
        try:
            outcome["result"] = work()
        except BaseException as error:
            outcome["error"] = error
        finally:
            done.set()

    # Not Thread.join: interrupted, that of Python 3.11 takes the thread for ended (its issue 45274).
    done, thread = Event(), Thread(target=run, daemon=True)
    try:
        thread.start()
        while not done.wait(LOOK_UP):
            pass
    except KeyboardInterrupt:
        _interrupted.append(thread)
        _raise_in(thread)
        done.wait(GRACE)
        raise
    if "error" in outcome:
        raise outcome["error"]
    return outcome["result"]


def _raise_in(thread: Thread) -> None:
    """Interrupt a thread, when it next runs Python."""
    number = ctypes.c_ulong(thread.ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(number, ctypes.py_object(KeyboardInterrupt))


def was_interrupted() -> bool:
    """Return whether some work was interrupted."""
    return bool(_interrupted)


def leave_now(code: int) -> NoReturn:
    """End the process without waiting for other threads, and without unloading packages, which takes a second."""
    # Work that is abandoned while it writes a large file cannot remove it.
    discard_staged()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
