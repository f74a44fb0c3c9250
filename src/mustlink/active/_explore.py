"""Explore: find a row of every cluster."""

from __future__ import annotations

from collections.abc import Sequence

from mustlink.active._placing import PlacingStrategy

__all__ = ["Explore"]


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
    Consolidate : Explores, and then assigns further rows.

    Notes
    -----
    Components are compared in the order of their nearest rows, which represent them; the paper leaves this open. If a
    question is skipped, the row is compared with the other components, and set aside if it belongs to none of them.
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

    def _next_row(self) -> int | None:
        return None if len(self._firsts) >= self.n_clusters else self._farthest()

    def _order(self, row: int, firsts: Sequence[int]) -> list[int]:
        return self._order_by_nearest_row(row, firsts)
