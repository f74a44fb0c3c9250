"""MinMax: ask about the rows farthest from all assigned rows."""

from __future__ import annotations

from collections.abc import Sequence

from mustlink.active._placing import PlacingStrategy

__all__ = ["MinMax"]


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

    def _next_row(self) -> int | None:
        return self._farthest()

    def _order(self, row: int, firsts: Sequence[int]) -> list[int]:
        return self._order_by_nearest_row(row, firsts)
