"""Folds of links, cut so that no link held out follows from those that stay."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from mustlink.base import as_constraints
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.errors import ConstraintError

__all__ = ["ConstraintKFold"]


class ConstraintKFold:
    """Split links into folds, without a leak from the training links to the held-out ones.

    Folds of rows do not suit links, because a link has two rows and follows from others. Here the links themselves
    are split. Links that may entail each other stay in one fold, so that a held-out link is never entailed by the
    training links, neither as it stands nor as its opposite.

    Parameters
    ----------
    n_splits : int, default=5
        The number of folds, at least 2.
    shuffle : bool, default=True
        Whether groups of equal size are dealt to the folds in random order; otherwise in the order of their rows.
    random_state : int, RandomState or None, default=None
        Makes the shuffle repeatable. Must be None without `shuffle`.

    See Also
    --------
    held_out_accuracy : Fits on the training links and scores the held-out ones.

    Notes
    -----
    Two kinds of groups are kept whole:

    - the must-links of one component, together with cannot-links inside it, which contradict them;
    - the cannot-links between the same two components, any one of which entails all others.

    This is enough. Taking links away can only break components into smaller ones. If the must-links of a component
    are held out, its rows are single ones for the training links, and nothing joins any two of them. If the
    cannot-links between two components are held out, no training link keeps any of their rows apart. So the
    cannot-links between two components need not be in the fold of the components' must-links, nor do those have to
    share a fold: must-links entail no cannot-link, and cannot-links entail no must-link.

    The last of these does not hold when there are exactly two clusters: then two cannot-links in a row entail a
    must-link. That goes through all links that hang together, which seldom leaves more than one group, and is not
    guarded against.

    Groups are dealt largest first, each kind to the fold that has the fewest links of that kind so far, so that the
    folds are about equal and hold both kinds wherever the groups are small enough.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> from mustlink.selection import ConstraintKFold
    >>> links = Constraints(must_link=[(0, 1), (1, 2), (3, 4)], cannot_link=[(0, 3), (2, 4), (2, 5)])
    >>> for train, test in ConstraintKFold(n_splits=2, shuffle=False).split(links):
    ...     print(test.must_link.tolist(), test.cannot_link.tolist())
    [[0, 1], [1, 2]] [[2, 5]]
    [[3, 4]] [[0, 3], [2, 4]]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        if not isinstance(n_splits, int | np.integer) or n_splits < 2:
            raise ValueError(f"n_splits must be a whole number of at least 2; got {n_splits!r}.")
        if random_state is not None and not shuffle:
            raise ValueError("random_state has no effect without shuffle; leave it out, or pass shuffle=True.")
        self.n_splits = int(n_splits)
        self.shuffle = shuffle
        self.random_state = random_state

    def __repr__(self) -> str:
        return f"ConstraintKFold(n_splits={self.n_splits}, shuffle={self.shuffle}, random_state={self.random_state!r})"

    def get_n_splits(self, constraints: Any = None, n_samples: int | None = None) -> int:
        """Return the number of folds.

        Parameters
        ----------
        constraints : object, default=None
            Not used; there because splitters have it.
        n_samples : int, default=None
            Not used.

        Returns
        -------
        int
        """
        return self.n_splits

    def split(
        self, constraints: Constraints | AlignedConstraints, n_samples: int | None = None
    ) -> Iterator[tuple[Constraints, Constraints]]:
        """Yield the links to train on and the links to hold out, fold by fold.

        Parameters
        ----------
        constraints : Constraints or AlignedConstraints
            The links. Their weights go with them.
        n_samples : int, default=None
            The number of rows of the table; given, the links are checked against it.

        Yields
        ------
        train : Constraints
            The links of all other folds.
        test : Constraints
            The links of this fold.

        Raises
        ------
        ConstraintError
            If there are fewer groups than folds, or a link names a row beyond `n_samples`.
        """
        n_samples = _n_rows(constraints) if n_samples is None else n_samples
        links = as_constraints(constraints, n_samples)
        must_group, cannot_group = _groups(links, n_samples)
        n_groups = int(np.concatenate([must_group, cannot_group]).max(initial=-1)) + 1
        if n_groups < self.n_splits:
            raise ConstraintError(
                f"The {len(links)} links form {n_groups} groups that must not be cut, too few for {self.n_splits} "
                f"folds; lower n_splits, or give links between more must-link components."
            )
        fold = self._deal(np.bincount(must_group, minlength=n_groups), np.bincount(cannot_group, minlength=n_groups))
        for held_out in range(self.n_splits):
            must, cannot = fold[must_group] == held_out, fold[cannot_group] == held_out
            yield _taken(links, ~must, ~cannot), _taken(links, must, cannot)

    def _deal(self, n_must: NDArray[np.intp], n_cannot: NDArray[np.intp]) -> NDArray[np.intp]:
        """Give every group a fold: largest group first, to the fold with the fewest links of its kind.

        `n_must` and `n_cannot` count the links of each group. A group with any must-link is of that kind. Among equal
        folds the one with the fewest links in all is taken, so that no fold stays empty.
        """
        order = np.arange(len(n_must))
        if self.shuffle:
            check_random_state(self.random_state).shuffle(order)
        total = n_must + n_cannot
        order = order[np.argsort(-total[order], kind="stable")]
        fold = np.zeros(len(n_must), dtype=np.intp)
        n_pairs = np.zeros((self.n_splits, 2), dtype=np.int64)
        for kind, members in enumerate((order[n_must[order] > 0], order[n_must[order] == 0])):
            loads = [(int(pairs[kind]), int(pairs.sum()), number) for number, pairs in enumerate(n_pairs)]
            heapq.heapify(loads)
            for group, of_kind, size in zip(
                members, (n_must, n_cannot)[kind][members].tolist(), total[members].tolist(), strict=True
            ):
                load, load_in_all, number = loads[0]
                fold[group] = number
                heapq.heapreplace(loads, (load + of_kind, load_in_all + size, number))
            np.add.at(n_pairs, fold[members], np.column_stack([n_must, n_cannot])[members])
        return fold


def _n_rows(constraints: Constraints | AlignedConstraints) -> int:
    """Return the number of rows the links are aligned with, or else reach to."""
    if isinstance(constraints, AlignedConstraints):
        return len(constraints)
    return int(constraints.constrained_rows().max(initial=-1)) + 1 if isinstance(constraints, Constraints) else 0


def _groups(links: Constraints, n_samples: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Number the groups that must not be cut; return the group of each must-link and of each cannot-link."""
    component = links.components(n_samples).astype(np.int64)
    within = component[links.must_link[:, 0]]
    between = np.sort(component[links.cannot_link], axis=1)
    # The must-links of component c are the group (c, c), and so are the cannot-links inside it.
    ends = np.concatenate([within * n_samples + within, between[:, 0] * n_samples + between[:, 1]])
    _, group = np.unique(ends, return_inverse=True)
    must_group, cannot_group = np.split(group, [len(within)])
    return must_group, cannot_group


def _taken(links: Constraints, must: NDArray[np.bool_], cannot: NDArray[np.bool_]) -> Constraints:
    """Return some of the links with their weights."""
    return Constraints(
        links.must_link[must],
        links.cannot_link[cannot],
        must_link_weight=links.must_link_weight[must],
        cannot_link_weight=links.cannot_link_weight[cannot],
    )
