"""Strategies that find the clusters by farthest-first traversal: Explore, Consolidate and MinMax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from mustlink._types import Floats, Indices
from mustlink.active._placing import PlacingStrategy
from mustlink.constraints import Constraints

__all__ = ["Consolidate", "Explore", "MinMax"]


class Explore(PlacingStrategy):
    """Find a row of every cluster by farthest-first traversal (Basu, Banerjee and Mooney 2004).

    The row farthest from all assigned rows is compared with each component, until it belongs to one or, apart from all,
    starts a new one. It ends when `n_clusters` components are found.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Features are not scaled, and distances are Euclidean.
    n_clusters : int
        The number of clusters.
    known : Constraints, default=None
        Links that are known in advance and not asked about. Their components that are apart from each other are the
        first components.
    random_state : int, RandomState or None, default=None
        Chooses the first row, if no links are known.

    See Also
    --------
    Strategy : The methods and attributes of all strategies.
    Consolidate : Explores, and then assigns further rows.

    Notes
    -----
    Components are compared in the order of their nearest rows, which represent them; the paper leaves this open. If a
    question is skipped, the row is compared with the other components, and set aside if it belongs to none of them. In
    all strategies of this kind, a row is also set aside after three skipped questions without an answer, until no
    others are left; if it is the only component, another row replaces it as the first one.
    With `k` well-separated clusters there are at most `k (k - 1) / 2` questions.

    References
    ----------
    S. Basu, A. Banerjee and R. J. Mooney, "Active semi-supervision for pairwise constrained clustering", SDM 2004.

    Examples
    --------
    >>> from mustlink.active import Explore
    >>> explore = Explore([[0.0], [1.0], [8.0], [9.0], [20.0]], 3, random_state=0)
    >>> truth = [0, 0, 1, 1, 2]
    >>> for question in explore:
    ...     explore.answer(truth[question.a] == truth[question.b])
    >>> explore.components
    [[4], [0], [3]]
    >>> explore.constraints
    Constraints(0 must-links, 3 cannot-links)
    """

    _END = "No question is left: a row of every group is known."

    def _next_row(self) -> int | None:
        return None if len(self._firsts) >= self.n_clusters else self._farthest()


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
        Which row is next: a random one, as in the paper, or the one nearest to the mean of a component, which is easier
        to answer but less informative.
    known : Constraints, default=None
        Links that are known in advance and not asked about. Their components that are apart from each other are the
        first components.
    random_state : int, RandomState or None, default=None
        Chooses the first row and the order of the rows.

    See Also
    --------
    Strategy : The methods and attributes of all strategies.
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
        self._shuffled = np.random.RandomState(self._seed).permutation(self._n_rows)

    def _next_row(self) -> int | None:
        if len(self._firsts) < self.n_clusters:
            return self._farthest()
        rows = self._shuffled if self.order == "random" else self._by_centrality()
        priority = np.empty(self._n_rows)
        priority[rows] = np.arange(self._n_rows, 0, -1)
        return self._first_undecided(priority)

    def _by_centrality(self) -> Indices:
        """Order the rows by their distance to the nearest mean."""
        return np.argsort(
            np.min([self._rows.distances_to(mean) for mean in self._means(self._firsts)], axis=0), kind="stable"
        )

    def _order(self, row: int, firsts: Sequence[int]) -> list[int]:
        """Sort components by the distance of their means."""
        point = self._rows.point(row)
        return self._sort(firsts, [float(np.square(mean - point).sum()) for mean in self._means(firsts)])

    def _means(self, firsts: Sequence[int]) -> list[Floats]:
        return [self._rows.mean(self._knowledge.members(first)) for first in firsts]


class MinMax(PlacingStrategy):
    """Assign the rows least similar to those assigned before (Mallapragada, Jin and Jain 2008).

    After the clusters are found as by :class:`Explore`, the next row is the one with the smallest maximum similarity to
    an assigned row. It is compared with the components, most similar first, until it belongs to one.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Features are not scaled, and distances are Euclidean.
    n_clusters : int
        The number of clusters.
    known : Constraints, default=None
        Links that are known in advance and not asked about. Their components that are apart from each other are the
        first components.
    random_state : int, RandomState or None, default=None
        Chooses the first row, if no links are known.

    See Also
    --------
    Strategy : The methods and attributes of all strategies.
    Consolidate : Assigns rows in random order.

    Notes
    -----
    The paper measures similarity by a Gaussian kernel, which decreases with the distance: the next row is the one
    farthest from its nearest assigned row, and no kernel is computed. Such rows are often outliers; on data with many
    of them, :class:`Consolidate` may be better.

    References
    ----------
    P. K. Mallapragada, R. Jin and A. K. Jain, "Active query selection for semi-supervised clustering", ICPR 2008.

    Examples
    --------
    >>> from mustlink.active import MinMax, TruthOracle, ask
    >>> X = [[0.0], [1.0], [2.0], [8.0], [9.0], [12.0]]
    >>> strategy = MinMax(X, 2, random_state=0)
    >>> ask(strategy, TruthOracle([0, 0, 0, 1, 1, 1]), 2)
    Constraints(1 must-link, 1 cannot-link)
    >>> [(answer.a, answer.b) for answer in strategy.answers]
    [(0, 4), (5, 4)]
    """
