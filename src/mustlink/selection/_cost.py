"""What a selection costs: the number of fits before it starts, and the time left once methods have been timed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from mustlink._spelling import count, spell_number

__all__ = ["Clock", "spell_cost"]


def spell_cost(n_trials: int, n_methods: int, n_folds: int) -> str:
    """Word the number of fits of a selection."""
    fits = count(n_trials * n_folds + 1, "fit")
    trials = f"{count(n_trials, 'trial')} of {count(n_methods, 'method')}"
    return f"Choosing by held-out links: {fits} ({trials}, {count(n_folds, 'fold')} each, and the best with all links)."


class Clock:
    """The trials that are still to be made, and the time that they take, estimated by the last one of each method."""

    def __init__(self, methods: Iterable[str], slow: Collection[str]) -> None:
        self._left = Counter(methods)
        self._seconds: dict[str, float] = {}
        self._slow = slow
        self.n_done = 0

    def add(self, method: str, seconds: float) -> None:
        """Note that a trial of a method is done."""
        self.n_done += 1
        self._left[method] -= 1
        self._seconds[method] = seconds

    def __str__(self) -> str:
        """The time left in words; empty before the first trial."""
        if not self._seconds:
            return ""
        # A method not timed yet takes at most as long as a slow one; without one it is only known that it takes some.
        bound = max((self._seconds[name] for name in self._slow if name in self._seconds), default=None)
        total, word = 0.0, "about"
        for method, n_trials in self._left.items():
            if n_trials and method not in self._seconds:
                word = "at least" if bound is None else "at most"
            total += n_trials * self._seconds.get(method, bound or 0.0)
        return f"{word} {_spell_seconds(total)} left"


def _spell_seconds(seconds: float) -> str:
    """Spell a time as people say it."""
    if seconds < 1:
        return "1 s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{spell_number(seconds / 60, 2)} min" if seconds < 6000 else f"{spell_number(seconds / 3600, 2)} hours"
