"""Compilation by numba, cached on disk where a folder can be written."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import numba
from numba.core.caching import IndexDataCacheFile

__all__ = ["jit"]


class FilePerSignature(IndexDataCacheFile):
    """The files of a function in the cache, with a name of its own for the code of each signature.

    numba (0.61 to 0.68) numbers them. Two processes that compile a function for different types at the same time may
    then choose the same number, and others load code for the wrong types: wrong results, or a crash.
    """

    _key: Any = None

    def save(self, key: Any, data: Any) -> None:
        """Save the code of a signature. Only one thread at a time compiles."""
        self._key = key
        super().save(key, data)

    def _data_name(self, number: int) -> str:
        digest = sha256(repr(self._key).encode()).hexdigest()[:16]
        return f"{self._index_name.removesuffix('.nbi')}.{digest}.{number}.nbc"


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a numeric function at its first call, and cache the result on disk.

    Where neither the package folder nor the user's cache folder can be written, numba refuses to set up its
    cache; the function is then compiled in every process.

    Parameters
    ----------
    function : callable
        Takes and returns numbers and arrays only.

    Returns
    -------
    callable
        The compiled function. It releases the interpreter lock while it runs.
    """
    try:
        compiled = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:
        return numba.njit(nogil=True)(function)
    # With NUMBA_DISABLE_JIT it is the function itself.
    if isinstance(getattr(getattr(compiled, "_cache", None), "_cache_file", None), IndexDataCacheFile):
        compiled._cache._cache_file.__class__ = FilePerSignature
    return compiled
