"""Questions that are given, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mustlink.active import Question, Strategy
from mustlink.constraints import Constraints

__all__ = ["GivenPairs"]


class GivenPairs(Strategy):
    """Given pairs in their order, without those whose answer follows from others."""

    _END = "No question is left: all pairs are answered, or their answers follow from others."

    def __init__(self, pairs: Sequence[tuple[int, int]], n_rows: int, known: Constraints) -> None:
        self._pairs = pairs
        # The rows play no part in the choice.
        super().__init__(np.zeros((n_rows, 1)), 1, known=known, random_state=0)

    def _choose(self) -> Question | None:
        return next((Question(a, b) for a, b in self._pairs if not self._knowledge.is_settled(a, b)), None)
