"""Rounds kept in a folder, so that a fit that was interrupted reads them instead of computing them again."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from mustlink._atomic import make_folder, write_atomically
from mustlink._types import Array, Floats
from mustlink._warnings import warn_caller
from mustlink.blocks import BlockedRows

__all__ = ["Checkpoint", "describe_table", "digest", "rounded"]

# Part of every name, so that files of another format are not read.
FORMAT = "mustlink rounds 2"
# Decimals, relative to the largest number, in which numbers are compared: sums on several threads differ by rounding.
DIGITS = 8
# What a file that was cut off or changed can raise.
DAMAGED = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)


class Checkpoint:
    """Arrays in a folder, each file named by a digest of all that they depend on; without a folder nothing is kept.

    Parameters
    ----------
    folder : path or None
        It is made if there is none.
    *context : object
        What all files depend on.
    """

    def __init__(self, folder: Path | None, *context: Any) -> None:
        self._folder, self._context = folder, ""
        if folder is not None:
            make_folder(folder)
            self._context = digest(*context)

    def load_or_compute(self, parts: tuple[Any, ...], compute: Callable[[], dict[str, Array]]) -> dict[str, Array]:
        """Return the arrays kept for these parts, or compute and keep them."""
        if self._folder is None:
            return compute()
        path = self._folder / f"round-{digest(FORMAT, self._context, *parts)}.npz"
        found = load(path)
        if found is None:
            found = compute()
            self._save(path, found)
        return found

    def _save(self, path: Path, arrays: dict[str, Array]) -> None:
        """Write a file; if that fails, the fit goes on without it."""
        content = BytesIO()
        np.savez(content, **arrays)  # type: ignore[arg-type]
        try:
            write_atomically(path, content.getvalue())
        except OSError as error:
            self._folder = None
            warn_caller(
                f"The checkpoint {path} cannot be written ({error.strerror}). The fit goes on without checkpoints.",
                UserWarning,
            )


def load(path: Path) -> dict[str, Array] | None:
    """Read a file; None if there is none, or if it is damaged."""
    if not path.exists():
        return None
    try:
        # From memory, as a file that cannot be read would stay open.
        with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except DAMAGED as error:
        warn_caller(f"The checkpoint {path} is damaged ({error}). Its round is computed again.", UserWarning)
        return None


def digest(*parts: Any) -> str:
    """Return a text that differs for different parts: arrays of numbers, and values that are told apart by repr."""
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            total.update(f"{part.dtype.str}{part.shape}".encode())
            total.update(np.ascontiguousarray(part).tobytes())
        else:
            total.update(f"{type(part).__name__} {part!r}".encode())
        total.update(b";")
    return total.hexdigest()[:32]


def rounded(values: Floats) -> Floats:
    """Return numbers without the digits in which they may differ by rounding."""
    largest = np.abs(values).max(initial=0.0)
    # Adding zero turns minus zero into zero.
    return np.asarray(np.round(values / (largest or 1.0), DIGITS) + 0.0, dtype=np.float64)


def describe_table(rows: BlockedRows, held: Array) -> tuple[Any, ...]:
    """Return what tells a table apart from others: its shape, type, moments, and the rows of it that are in memory.

    Moments do not depend on the order of the rows, but labels of the rows in memory do.
    """
    moments = rows.moments
    # Of a constant column the deviation is rounding.
    deviation = np.where(moments.lowest < moments.highest, np.sqrt(moments.variance), 0.0)
    # Every column in its own unit. A mean may be zero but for rounding, so that its unit is the deviation.
    mean = np.round(moments.mean / np.where(deviation > 0, deviation, 1.0), DIGITS) + 0.0
    spread = " ".join(f"{value:.{DIGITS}e}" for value in deviation)
    return rows.shape, rows.dtype.str, moments.lowest, moments.highest, mean, spread, held
