"""Warnings that point at the user's line."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn_caller"]


def warn_caller(message: str, category: type[Warning]) -> None:
    """Issue a warning that points at the line that called mustlink, however deep the call inside is."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in {"mustlink", "sklearn"}:
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)
