"""Pairs at random: what every other strategy is measured against."""

from __future__ import annotations

import numpy as np

from mustlink.active._strategy import Question, Strategy

__all__ = ["RandomPairs"]

MOST_SHUFFLED = 1_000_000
"""Up to so many pairs are shuffled; of more, pairs are drawn."""

DRAWN_AT_ONCE = 1024
MOST_FRUITLESS_BLOCKS = 100
"""After a hundred thousand settled pairs in a row nearly all is known, and there is nothing worth asking."""


class RandomPairs(Strategy):
    """Ask about random pairs of rows: the baseline.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The table.
    n_clusters : int
        The number of groups, which plays no part in this strategy.
    known : Constraints, default=None
        What is known beforehand. It is not asked again.
    random_state : int, RandomState or None, default=None
        Makes the questions repeatable.

    Attributes
    ----------
    answers : list of Answer
        All answers so far, in order.
    contradictions : list of Answer
        Those that contradict what follows from earlier ones.
    deduced : list of Question
        Empty: nothing is deduced from the number of groups.

    See Also
    --------
    Consolidate : Places one row after the other, which takes far fewer questions.

    Examples
    --------
    >>> from mustlink.active import RandomPairs, TruthOracle, ask
    >>> X = [[0.0], [1.0], [8.0], [9.0]]
    >>> ask(RandomPairs(X, 2, random_state=0), TruthOracle([0, 0, 1, 1]))
    Constraints(2 must-links, 3 cannot-links)
    """

    def _begin(self) -> None:
        super()._begin()
        self._random = np.random.RandomState(self._seed)
        n_rows = self._rows.n_rows
        self._is_shuffled = n_rows * (n_rows - 1) // 2 <= MOST_SHUFFLED
        self._block: list[tuple[int, int]] = self._all_pairs() if self._is_shuffled else []

    def _choose(self) -> Question | None:
        for _ in range(MOST_FRUITLESS_BLOCKS):
            while self._block:
                # What is settled now stays settled, so that it need not be looked at again.
                pair = self._block[-1]
                if not self._knowledge.is_settled(*pair):
                    return Question(*pair)
                self._block.pop()
            if self._is_shuffled:
                return None
            drawn = self._random.randint(self._rows.n_rows, size=(DRAWN_AT_ONCE, 2))
            self._block = [(a, b) for a, b in drawn.tolist() if a != b]
        return None

    def _all_pairs(self) -> list[tuple[int, int]]:
        """Return every pair of rows once, in random order."""
        a, b = np.triu_indices(self._rows.n_rows, k=1)
        order = self._random.permutation(len(a))
        return list(zip(a[order].tolist(), b[order].tolist(), strict=True))
