"""Warnings that point at the user's line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from mustlink.errors import REMEDIES, add_remedies

__all__ = ["reword_warning", "warn_caller", "warning_topic"]


def warn_caller(
    problem: str, category: type[Warning], *, remedy: str | Sequence[str] | None = None, **fields: Any
) -> None:
    """Issue a warning that points at the line that called mustlink, however deep the call inside is.

    Like an error of mustlink, it may name remedies by their keys in :data:`mustlink.errors.REMEDIES`. A field `topic`
    tells callers inside what it is about.
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in {"mustlink", "sklearn"}:
        frame = frame.f_back
        level += 1
    message = category(add_remedies(problem, remedy, fields, REMEDIES))
    # Categories of scikit-learn are used too, which have no such attribute.
    message.mustlink_parts = problem, remedy, fields  # type: ignore[attr-defined]
    warnings.warn(message, stacklevel=level)


def warning_topic(message: Warning | str) -> str | None:
    """Return what a warning of ours is about, if it says so."""
    parts = getattr(message, "mustlink_parts", None)
    return None if parts is None else parts[2].get("topic")


def reword_warning(message: Warning | str, remedies: Mapping[str, str]) -> str | None:
    """Word a warning of ours for another front end; None if it is not ours."""
    parts = getattr(message, "mustlink_parts", None)
    if parts is None:
        return None
    problem, remedy, fields = parts
    return add_remedies(problem, remedy, fields, remedies)
