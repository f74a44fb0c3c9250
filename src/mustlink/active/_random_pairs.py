"""Random pairs: the baseline."""

from __future__ import annotations

import numpy as np

from mustlink.active._strategy import Question, Strategy

__all__ = ["RandomPairs"]

# Up to this number all pairs are shuffled; otherwise pairs are drawn.
MAX_SHUFFLED = 1_000_000
# Pairs are drawn in blocks; after so many blocks of settled pairs, nearly all pairs are settled.
BLOCK_SIZE = 1024
MAX_BLOCKS = 100


class RandomPairs(Strategy):
    """Ask about random pairs of rows, as a baseline.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data.
    n_clusters : int
        The number of clusters; not used.
    known : Constraints, default=None
        Links that are known in advance and not asked about.
    random_state : int, RandomState or None, default=None
        Makes the questions repeatable.

    See Also
    --------
    Strategy : The methods and attributes of all strategies.
    Consolidate : Assigns one row after the other, with far fewer questions.

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
        n_rows = self._n_rows
        self._is_shuffled = n_rows * (n_rows - 1) // 2 <= MAX_SHUFFLED
        self._block: list[tuple[int, int]] = self._all_pairs() if self._is_shuffled else []

    def _choose(self) -> Question | None:
        for _ in range(MAX_BLOCKS):
            while self._block:
                # A settled pair remains settled.
                pair = self._block[-1]
                if not self._knowledge.is_settled(*pair):
                    return Question(*pair)
                self._block.pop()
            if self._is_shuffled:
                return None
            drawn = self._random.randint(self._n_rows, size=(BLOCK_SIZE, 2))
            self._block = [(a, b) for a, b in drawn.tolist() if a != b]
        return None

    def _all_pairs(self) -> list[tuple[int, int]]:
        """Return every pair of rows once, in random order."""
        a, b = np.triu_indices(self._n_rows, k=1)
        order = self._random.permutation(len(a))
        return list(zip(a[order].tolist(), b[order].tolist(), strict=True))
