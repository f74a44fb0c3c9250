"""Compilation by numba, cached on disk where a folder can be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

__all__ = ["jit"]


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
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:
        return numba.njit(nogil=True)(function)
