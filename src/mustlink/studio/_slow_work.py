"""One thread for what takes longer than a person waits: questions, panels, views and exports."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable
from threading import Condition, Thread

__all__ = ["SlowWork"]

logger = logging.getLogger("mustlink.studio")


class SlowWork:
    """Jobs that are done one after the other on a thread; of jobs with one key only the newest is done."""

    def __init__(self) -> None:
        self._jobs: dict[Hashable, Callable[[], None]] = {}
        self._changed = Condition()
        self._is_closed = False
        self._is_busy = False
        self._thread = Thread(target=self._run, name="mustlink-studio-slow", daemon=True)
        self._thread.start()

    def submit(self, key: Hashable, job: Callable[[], None]) -> None:
        """Do a job soon, in place of a waiting one with the same key."""
        with self._changed:
            self._jobs[key] = job
            self._changed.notify_all()

    def wait(self, seconds: float) -> bool:
        """Wait until nothing is left to do; return whether that came about."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._jobs and not self._is_busy, seconds)

    def close(self, seconds: float = 2.0) -> None:
        """Drop what waits, and wait a little for what runs."""
        with self._changed:
            self._is_closed = True
            self._jobs.clear()
            self._changed.notify_all()
        self._thread.join(seconds)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._is_busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._jobs or self._is_closed)
                if self._is_closed:
                    return
                key = next(iter(self._jobs))
                job = self._jobs.pop(key)
                self._is_busy = True
            try:
                job()
            except Exception:
                # A failure of one job must not end the thread; jobs of a person report their own.
                logger.exception("The job %r of the studio failed.", key)
