"""MinMax: ask about what is least like all that was asked about."""

from __future__ import annotations

from collections.abc import Sequence

from mustlink.active._placing import PlacingStrategy

__all__ = ["MinMax"]


class MinMax(PlacingStrategy):
    """Place the rows that are least like those that have a place (Mallapragada, Jin and Jain 2008).

    After the groups are found as by :class:`Explore`, the next row is the one whose greatest similarity to a row with a
    place is least. It is asked about against the neighbourhoods, the most similar first, until one fits.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The table. Nothing is standardised, and distances are Euclidean.
    n_clusters : int
        The number of groups.
    known : Constraints, default=None
        What is known beforehand. It is not asked again: its groups that are apart from each other are the first
        neighbourhoods.
    random_state : int, RandomState or None, default=None
        Draws the first row, if nothing is known beforehand.

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
    Consolidate : Places rows in random order.

    Notes
    -----
    The paper measures similarity by a Gaussian kernel. As that falls with the distance whatever its width is, the row
    of least greatest similarity is the one farthest from its nearest row with a place, and no kernel is computed.
    Being far out, such rows are often outliers: on data that has many, :class:`Consolidate` may do better.

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

    def _in_order(self, row: int, founders: Sequence[int]) -> list[int]:
        return self._by_nearest_member(row, founders)
