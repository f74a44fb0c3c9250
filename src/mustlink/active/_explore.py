"""Explore: find one row of every group."""

from __future__ import annotations

from collections.abc import Sequence

from mustlink.active._placing import PlacingStrategy

__all__ = ["Explore"]


class Explore(PlacingStrategy):
    """Find a row of every group, farthest first (Basu, Banerjee and Mooney 2004).

    The row farthest from all rows that have a place is asked about against each neighbourhood, until it fits one or,
    apart from all, founds a new one. It ends when `n_clusters` neighbourhoods are found.

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
    Consolidate : Explores, and then goes on with further rows.

    Notes
    -----
    The neighbourhood with the nearest row is asked about first, and by that row; the paper leaves the order and the
    row open. A row about which a question is skipped is asked about against the others, and left aside if it fits
    none of them. With `k` groups that are well apart, at most `k (k - 1) / 2` questions are put.

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
    >>> explore.neighbourhoods
    [[4], [0], [3]]
    >>> explore.constraints
    Constraints(0 must-links, 3 cannot-links)
    """

    def _next_row(self) -> int | None:
        return None if len(self._founders) >= self.n_clusters else self._farthest()

    def _in_order(self, row: int, founders: Sequence[int]) -> list[int]:
        return self._by_nearest_member(row, founders)
