"""Folds of links without leaks from training links to held-out links."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from mustlink._spelling import count
from mustlink._types import Indices
from mustlink.base import as_constraints
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.errors import ConstraintError

__all__ = ["ConstraintKFold", "check_splitter", "link_groups"]

DEFAULT_N_SPLITS = 5


class ConstraintKFold:
    """K-fold cross-validation of links without leaks.

    Here links are split instead of rows, because a link has two rows and may follow from other links. Links that may
    entail each other are in the same fold: neither a held-out link nor its opposite ever follows from training links.

    Parameters
    ----------
    n_splits : int, default=5
        The number of folds, at least 2.
    shuffle : bool, default=True
        Whether groups of equal size are assigned to folds in random order; otherwise in the order of their rows.
    random_state : int, RandomState or None, default=None
        Makes the shuffling repeatable. Must be None without `shuffle`.

    See Also
    --------
    held_out_accuracy : Fits on the training links and scores the held-out ones.

    Notes
    -----
    Two kinds of groups are never divided:

    - the must-links of one component, together with cannot-links inside it, which contradict them;
    - the cannot-links between the same two components, each of which entails all others.

    This is sufficient. If the must-links of a component are held out, the training links join none of its rows. If the
    cannot-links between two components are held out, no training link separates any of their rows. With exactly two
    clusters, however, two cannot-links in a row entail a must-link; this is not prevented, because it would seldom
    leave more than one group.

    The largest groups are assigned first, each to the fold with the fewest links of its kind. Hence folds have about
    equal sizes, and links of both kinds if groups are small enough.

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
            raise ValueError("random_state has no effect without shuffle; omit it, or pass shuffle=True.")
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
            Not used.
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
            The links.
        n_samples : int, default=None
            The number of rows; if given, links are checked against it.

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
        group = link_groups(links, n_samples)
        n_groups = int(group.max(initial=-1)) + 1
        if n_groups < self.n_splits:
            raise _too_few_groups(links, n_groups, self.n_splits)
        n_must, n_cannot = (np.bincount(group[links.sign == sign], minlength=n_groups) for sign in (1, -1))
        fold = self._assign_folds(n_must, n_cannot)[group]
        for held_out in range(self.n_splits):
            yield links.take(fold != held_out), links.take(fold == held_out)

    def _assign_folds(self, n_must: Indices, n_cannot: Indices) -> Indices:
        """Assign every group to a fold: largest group first, to the fold with the fewest links of its kind.

        `n_must` and `n_cannot` are the numbers of links of each group. A group with a must-link is of that kind. Ties
        go to the fold with the fewest links in total, hence no fold remains empty.
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
                load, total_load, number = loads[0]
                fold[group] = number
                heapq.heapreplace(loads, (load + of_kind, total_load + size, number))
            np.add.at(n_pairs, fold[members], np.column_stack([n_must, n_cannot])[members])
        return fold


def _n_rows(constraints: Constraints | AlignedConstraints) -> int:
    """Return the number of rows that links are aligned with, or else one more than the largest row."""
    if isinstance(constraints, AlignedConstraints):
        return len(constraints)
    return int(constraints.constrained_rows().max(initial=-1)) + 1 if isinstance(constraints, Constraints) else 0


def _too_few_groups(links: Constraints, n_groups: int, n_splits: int) -> ConstraintError:
    """Return the error for links that cannot be divided into so many folds."""
    if links.is_empty:
        return ConstraintError("There are no links to divide into training and held-out links.")
    fewer = f"use {count(n_groups, 'fold')} at most, or " if n_groups > 1 else ""
    return ConstraintError(
        f"{links_form(links)} {count(n_groups, 'group')} that cannot be divided, too few for {n_splits} folds; "
        f"{fewer}give links between more must-link components."
    )


def links_form(links: Constraints) -> str:
    """Begin a sentence about what the links form."""
    return "The only link forms" if len(links) == 1 else f"The {len(links):,} links form"


def link_groups(links: Constraints, n_samples: int) -> Indices:
    """Return the group of each link of ``links.pairs``; groups must not be divided between folds."""
    # Links inside a component have equal ends, and links between the same two components the same ends.
    low, high = np.sort(links.components(n_samples).astype(np.int64)[links.pairs], axis=1).T
    _, group = np.unique(low * n_samples + high, return_inverse=True)
    return group


def check_splitter(cv: int | ConstraintKFold | None) -> ConstraintKFold:
    """Return the splitter that the parameter `cv` stands for; a number of folds is not shuffled."""
    if cv is None or isinstance(cv, int | np.integer):
        return ConstraintKFold(DEFAULT_N_SPLITS if cv is None else int(cv), shuffle=False)
    if not isinstance(cv, ConstraintKFold):
        raise TypeError(
            f"cv must be a number of folds, a ConstraintKFold or None; got {cv!r}. Splitters of scikit-learn split "
            "rows, and links are split here."
        )
    return cv
