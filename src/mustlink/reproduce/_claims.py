"""Asking results about a claim."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from mustlink.reproduce._protocol import Verdict
from mustlink.reproduce._results import Results

__all__ = ["LEVEL", "counted", "listed", "needs", "text_of"]

LEVEL = 0.02
"""Scores that differ by less are level: over a few trials that much is chance."""


def text_of(value: float) -> str:
    """Write a score for a sentence."""
    return "unknown" if math.isnan(value) else f"{value:.2f}"


def listed(parts: Iterable[str]) -> str:
    """Join words for a sentence: a, b and c."""
    words = list(parts)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else "none"


def counted(number: int, total: int, what: str) -> str:
    """Write a count for a sentence."""
    return f"{number} of {total} {what}"


def needs(results: Results, methods: Sequence[str], **wanted: object) -> Verdict | None:
    """Return the verdict that a claim cannot be tested, if one of the methods has no result."""
    absent = [method for method in methods if not len(results.select(method=method, **wanted))]
    return Verdict(None, f"Not tested: there are no results of {listed(absent)}.") if absent else None
