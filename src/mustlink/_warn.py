"""Warnings that point at the user's own line."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn_user"]

# Frames of these packages are passed over in the search for the user's line.
OURS = {"mustlink", "sklearn"}


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line outside of mustlink and scikit-learn that led here."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in OURS:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
