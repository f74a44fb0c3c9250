"""Consolidate: let the neighbourhoods grow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from mustlink.active._placing import PlacingStrategy
from mustlink.constraints import Constraints

__all__ = ["Consolidate"]


class Consolidate(PlacingStrategy):
    """Explore until every group is found, then place further rows (Basu, Banerjee and Mooney 2004).

    Each row is asked about against the neighbourhoods, the one with the nearest mean first, until one fits. As there
    are no more groups than `n_clusters`, a row that is apart from all but one belongs to that one without a question,
    so that a row takes at most `n_clusters - 1` questions.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The table. Nothing is standardised, and distances are Euclidean.
    n_clusters : int
        The number of groups.
    order : {"random", "central"}, default="random"
        Which row comes next: a random one, as in the paper, or the one nearest to the mean of a neighbourhood. Central
        rows are easy to answer and mostly fit at the first question, so that the neighbourhoods grow quickly; but they
        tell little of where one group ends and the next begins, and random ones led to better clusters.
    known : Constraints, default=None
        What is known beforehand. It is not asked again: its groups that are apart from each other are the first
        neighbourhoods.
    random_state : int, RandomState or None, default=None
        Draws the first row and the order of the rows.

    Attributes
    ----------
    answers : list of Answer
        All answers so far, in order.
    contradictions : list of Answer
        Those that contradict what follows from `known` and from earlier answers.
    deduced : list of Question
        Pairs that must belong together because there are no more than `n_clusters` groups.

    See Also
    --------
    Explore : The first part alone.
    MinMax : Places the rows that are least like those placed before.

    Notes
    -----
    A neighbourhood is asked about by that of its rows that is nearest to the row in question. If some answer shows more
    groups than `n_clusters`, so many are taken, and a row is asked about against all of them but one.

    References
    ----------
    S. Basu, A. Banerjee and R. J. Mooney, "Active semi-supervision for pairwise constrained clustering", SDM 2004.

    Examples
    --------
    >>> from mustlink.active import Consolidate, TruthOracle, ask
    >>> X = [[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]]
    >>> strategy = Consolidate(X, 2, random_state=0)
    >>> links = ask(strategy, TruthOracle([0, 0, 0, 1, 1, 1]))
    >>> strategy.n_asked
    5
    >>> strategy.neighbourhoods
    [[3, 4, 5], [0, 1, 2]]
    """

    def __init__(
        self,
        X: Any,
        n_clusters: int,
        *,
        order: Literal["random", "central"] = "random",
        known: Constraints | None = None,
        random_state: Any = None,
    ) -> None:
        if order not in ("random", "central"):
            raise ValueError(f'order must be "random" or "central"; got {order!r}.')
        self.order = order
        super().__init__(X, n_clusters, known=known, random_state=random_state)

    def _begin(self) -> None:
        super()._begin()
        self._shuffled = np.random.RandomState(self._seed).permutation(self._rows.n_rows)

    def _next_row(self) -> int | None:
        if len(self._founders) < self.n_clusters:
            return self._farthest()
        rows = self._shuffled if self.order == "random" else self._from_the_middle()
        waiting = rows[~self._placed[rows]]
        return next((row for row in waiting.tolist() if self._open(row)), None)

    def _from_the_middle(self) -> np.ndarray[Any, np.dtype[np.intp]]:
        """Order the rows by their distance to the nearest mean."""
        centres = [self._rows.centre(self._knowledge.members(founder)) for founder in self._founders]
        return np.argsort(np.min([self._rows.distances_to(centre) for centre in centres], axis=0), kind="stable")

    def _in_order(self, row: int, founders: Sequence[int]) -> list[int]:
        return self._by_centre(row, founders)
