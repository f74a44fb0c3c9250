"""One thread for what runs beside other tasks of the same process."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from types import TracebackType

from mustlink._sklearn_compat import one_blas_thread, one_openmp_thread

__all__ = ["one_thread"]


class OneThread(AbstractContextManager[None]):
    """Contexts of the threads of a process, in which matrix products and loops stay on the thread that asks for them.

    The limit of BLAS is one of the process: the first thread that enters sets it and the last that leaves removes it,
    as each would otherwise restore what another has set. That of OpenMP belongs to the thread.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._blas: AbstractContextManager[None] | None = None
        self._own = threading.local()

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._blas = one_blas_thread()
                self._blas.__enter__()
        self._own.openmp = one_openmp_thread()
        self._own.openmp.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._own.openmp.__exit__(kind, error, trace)
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and self._blas is not None:
                self._blas.__exit__(kind, error, trace)
                self._blas = None


one_thread = OneThread()
