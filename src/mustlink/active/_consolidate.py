"""Consolidate: assign rows to the components found by Explore."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from mustlink._types import Indices
from mustlink.active._placing import PlacingStrategy
from mustlink.constraints import Constraints

__all__ = ["Consolidate"]


class Consolidate(PlacingStrategy):
    """Explore until every cluster is found, then assign further rows (Basu, Banerjee and Mooney 2004).

    Each row is compared with the components, nearest mean first, until it belongs to one. A row that is apart from all
    but one of `n_clusters` components belongs to the last one without a question; hence a row takes at most
    `n_clusters - 1` questions.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Features are not scaled, and distances are Euclidean.
    n_clusters : int
        The number of clusters.
    order : {"random", "central"}, default="random"
        Which row is next: a random one, as in the paper, or the one nearest to the mean of a component. Central rows
        are easy to answer and take few questions, but are less informative: random rows led to better clusters.
    known : Constraints, default=None
        Links that are known in advance and not asked about. Their components that are apart from each other are the
        first components.
    random_state : int, RandomState or None, default=None
        Chooses the first row and the order of the rows.

    Attributes
    ----------
    answers : list of Answer
        All answers so far, in order.
    contradictions : list of Answer
        Answers that contradict `known` or earlier answers.
    deduced : list of Question
        Pairs that must belong together because there are only `n_clusters` clusters.

    See Also
    --------
    Explore : The first phase only.
    MinMax : Asks about the rows farthest from those assigned before.

    Notes
    -----
    A component is represented in a question by its row nearest to the row in question. If answers reveal more than
    `n_clusters` clusters, there are as many components, and a row is compared with all but one of them.

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
    >>> strategy.components
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
        if len(self._firsts) < self.n_clusters:
            return self._farthest()
        rows = self._shuffled if self.order == "random" else self._by_centrality()
        waiting = rows[~self._assigned[rows]]
        return next((row for row in waiting.tolist() if self._undecided(row)), None)

    def _by_centrality(self) -> Indices:
        """Order the rows by their distance to the nearest mean."""
        means = [self._rows.mean(self._knowledge.members(first)) for first in self._firsts]
        return np.argsort(np.min([self._rows.distances_to(mean) for mean in means], axis=0), kind="stable")

    def _order(self, row: int, firsts: Sequence[int]) -> list[int]:
        return self._order_by_mean(row, firsts)
