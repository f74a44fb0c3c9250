"""Claims, verdicts on them, and the words of their sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from mustlink.reproduce.engine._results import Results

# Scores that differ by less are tied: over a few trials that much is chance.
TIE = 0.02


@dataclass(frozen=True)
class Verdict:
    """Whether a claim held (None: it could not be tested), and the figures in a sentence."""

    held: bool | None
    sentence: str

    @property
    def word(self) -> str:
        """The verdict in a word or two."""
        return {True: "held", False: "not held", None: "not tested"}[self.held]


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, and the function that tests it on results."""

    name: str
    text: str
    judge: Callable[[Results], Verdict]


NO_RESULTS = Verdict(None, "Not tested: there are no such results.")


def missing_methods(results: Results, methods: Sequence[str], **wanted: object) -> Verdict | None:
    """Return the verdict that a claim cannot be tested, if one of the methods has no result."""
    absent = [method for method in methods if not len(results.select(method=method, **wanted))]
    return Verdict(None, f"Not tested: there are no results of {join_words(absent)}.") if absent else None


def score_text(value: float) -> str:
    """Write a score for a sentence."""
    return "unknown" if math.isnan(value) else f"{value:.2f}"


def join_words(parts: Iterable[str]) -> str:
    """Join words for a sentence: a, b and c."""
    words = list(parts)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else "none"
