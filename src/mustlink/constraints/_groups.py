"""Groups of rows that all have cannot-links between them, without a list of the pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.random import sample_without_replacement

from mustlink._numbering import number_by_first
from mustlink._spelling import count
from mustlink.constraints._sampling import known_rows
from mustlink.errors import ConstraintError, TooLargeError

if TYPE_CHECKING:
    from mustlink.constraints._constraints import Constraints

__all__ = ["CannotLinkGroups"]

NO_GROUP = -1
# So many groupings are counted by crossing them with each other, without a look at another way.
MAX_CROSSED = 4
# Crossing costs so much per row, in comparisons of two kinds of rows (measured).
CROSSING_COST = 200
# Kinds of rows are compared with each other so many at a time.
MAX_COMPARED = 2**22


@dataclass(frozen=True, eq=False)
class CannotLinkGroups:
    """Groups of rows, no two rows of which may be in one cluster.

    Made by :meth:`Constraints.from_groups`. Every two rows of a group have a cannot-link; the pairs are not listed, and
    memory is that of one number per row.

    Attributes
    ----------
    rows : ndarray of shape (n_grouped,)
        The rows in groups of two and more, ascending.
    code : ndarray of shape (n_grouped,)
        The group of each of these rows, numbered in the order of their first rows.
    names : ndarray of shape (n_groups,)
        The names of the groups.
    weight : float
        The weight of each cannot-link.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> groups = Constraints.from_groups(["x", "y", "x", "", "x"]).cannot_link_groups[0]
    >>> groups.rows, groups.sizes, groups.n_pairs
    (array([0, 2, 4]), array([3]), 3)
    """

    rows: NDArray[np.int64]
    code: NDArray[np.intp]
    names: NDArray[Any]
    weight: float = 1.0

    def __post_init__(self) -> None:
        for array in (self.rows, self.code, self.names):
            array.flags.writeable = False

    @property
    def sizes(self) -> NDArray[np.intp]:
        """The number of rows of each group."""
        return np.bincount(self.code, minlength=len(self.names))

    @property
    def n_pairs(self) -> int:
        """The number of cannot-links."""
        sizes = self.sizes.astype(np.int64)
        return int((sizes * (sizes - 1) // 2).sum())

    def members(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows group by group.

        Returns
        -------
        indptr : ndarray of shape (n_groups + 1,)
            The rows of group g are ``rows[indptr[g] : indptr[g + 1]]``.
        rows : ndarray of shape (n_grouped,)
            The rows of all groups, one group after the other, ascending in each.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> Constraints.from_groups([7, 3, 7, 3]).cannot_link_groups[0].members()
        (array([0, 2, 4]), array([0, 2, 1, 3]))
        """
        indptr = np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)
        return indptr, self.rows[np.argsort(self.code, kind="stable")]

    def pairs(self) -> NDArray[np.int64]:
        """List every cannot-link.

        Returns
        -------
        ndarray of shape (n_pairs, 2)
            Smaller row first.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> Constraints.from_groups([7, 3, 7, 3]).cannot_link_groups[0].pairs()
        array([[0, 2],
               [1, 3]])
        """
        indptr, rows = self.members()
        place = np.arange(len(rows))
        n_later = np.repeat(indptr[1:], self.sizes) - place - 1
        first = np.repeat(place, n_later)
        second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(n_later) - n_later, n_later)
        return np.column_stack([rows[first], rows[second]])

    def group_of(self, rows: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return the group of some rows, -1 for a row in none.

        Parameters
        ----------
        rows : ndarray of int
            Row numbers, in any shape.

        Returns
        -------
        ndarray of int
            Of the same shape.

        Examples
        --------
        >>> import numpy as np
        >>> from mustlink import Constraints
        >>> Constraints.from_groups([7, 3, 7]).cannot_link_groups[0].group_of(np.array([0, 1]))
        array([ 0, -1])
        """
        place = np.searchsorted(self.rows, rows).clip(max=len(self.rows) - 1)
        return np.where(self.rows[place] == rows, self.code[place], NO_GROUP)

    def contains(self, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which pairs are inside a group.

        Parameters
        ----------
        pairs : ndarray of shape (n_pairs, 2)
            Pairs of rows.

        Returns
        -------
        ndarray of bool, shape (n_pairs,)

        Examples
        --------
        >>> import numpy as np
        >>> from mustlink import Constraints
        >>> Constraints.from_groups([7, 3, 7]).cannot_link_groups[0].contains(np.array([[0, 1], [0, 2]]))
        array([False,  True])
        """
        group = self.group_of(pairs)
        return (group[:, 0] == group[:, 1]) & (group[:, 0] != NO_GROUP)

    def cross(self, key: NDArray[np.integer]) -> CannotLinkGroups | None:
        """Split the groups by a number of each of their rows.

        Parameters
        ----------
        key : ndarray of int, shape (n_grouped,)
            A number per row of `rows`; a row with a negative one is left out.

        Returns
        -------
        CannotLinkGroups or None
            Rows of one group and one number; None if no two rows are.

        Examples
        --------
        >>> import numpy as np
        >>> from mustlink import Constraints
        >>> Constraints.from_groups([7, 7, 7]).cannot_link_groups[0].cross(np.array([0, 1, 0])).rows
        array([0, 2])
        """
        kept = np.flatnonzero(key >= 0)
        key = key[kept].astype(np.int64)
        both = self.code[kept] * (key.max(initial=0) + 1) + key
        return group_rows(self.rows[kept], both, self.names[self.code[kept]], self.weight)

    def first_pairs(self, max_pairs: int) -> CannotLinkGroups | None:
        """Return the groups without their last rows, such that they have at most so many pairs.

        Parameters
        ----------
        max_pairs : int
            The most pairs.

        Returns
        -------
        CannotLinkGroups or None
            None if no pair is left.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> Constraints.from_groups([1] * 50).cannot_link_groups[0].first_pairs(3).n_pairs
        3
        """
        by_group = np.argsort(self.code, kind="stable")
        place = np.arange(len(by_group)) - np.concatenate([[0], np.cumsum(self.sizes)])[self.code[by_group]]
        # A row has a pair with every row of its group before it.
        kept = np.full(len(by_group), NO_GROUP)
        kept[by_group[np.cumsum(place) <= max_pairs]] = 0
        return self.cross(kept)

    def take(self, chosen: NDArray[np.bool_]) -> CannotLinkGroups | None:
        """Return some of the groups.

        Parameters
        ----------
        chosen : ndarray of bool, shape (n_groups,)
            Which.

        Returns
        -------
        CannotLinkGroups or None
            None if there are none.

        Examples
        --------
        >>> import numpy as np
        >>> from mustlink import Constraints
        >>> groups = Constraints.from_groups([7, 3, 7, 3]).cannot_link_groups[0]
        >>> groups.take(np.array([False, True])).rows
        array([1, 3])
        """
        return self.cross(np.where(chosen[self.code], 0, NO_GROUP))

    def renumber(self, rows: NDArray[np.intp]) -> CannotLinkGroups | None:
        """Return the groups of some rows of a table, numbered by their places.

        Parameters
        ----------
        rows : ndarray of int, shape (n_chosen,)
            The rows, each once.

        Returns
        -------
        CannotLinkGroups or None
            None if no two of these rows are in one group.

        Examples
        --------
        >>> import numpy as np
        >>> from mustlink import Constraints
        >>> Constraints.from_groups([7, 3, 7]).cannot_link_groups[0].renumber(np.array([2, 0])).rows
        array([0, 1])
        """
        group = self.group_of(rows)
        place = np.flatnonzero(group != NO_GROUP)
        return group_rows(place, group[place], self.names[group[place]], self.weight)


def group_rows(
    rows: NDArray[np.int64], code: NDArray[np.integer], names: NDArray[Any], weight: float
) -> CannotLinkGroups | None:
    """Make groups of rows with equal codes; `names` has the name of the group of every row.

    A group of one row has no pair and is left out. None if none is left.
    """
    _, group, size = np.unique(code, return_inverse=True, return_counts=True)
    kept = np.flatnonzero(size[group] > 1)
    if not len(kept):
        return None
    kept = kept[np.argsort(rows[kept], kind="stable")]
    number, _ = number_by_first(np.unique(group[kept], return_inverse=True)[1], int((size > 1).sum()))
    first = np.unique(number, return_index=True)[1]
    return CannotLinkGroups(rows[kept].astype(np.int64), number.astype(np.intp), names[kept][first], weight)


def groups_of_column(column: ArrayLike, missing: object, weight: float) -> CannotLinkGroups | None:
    """Make groups of the rows with equal entries in a column."""
    rows, code, names = known_rows(column, missing)
    return group_rows(rows, code, names[code], weight)


def chains_of_column(column: ArrayLike, missing: object) -> NDArray[np.int64]:
    """Return pairs that join the rows with equal entries in a column, each with the next."""
    rows, code, _ = known_rows(column, missing)
    by_group = np.argsort(code, kind="stable")
    chain = np.column_stack([rows[by_group][:-1], rows[by_group][1:]])
    return chain[code[by_group][:-1] == code[by_group][1:]].astype(np.int64)


def pairs_across_column(
    column: ArrayLike, missing: object, n_pairs: int | None, max_pairs: int, random_state: Any
) -> NDArray[np.int64]:
    """Return all pairs of rows with different entries in a column, or so many of them drawn at random."""
    rows, code, _ = known_rows(column, missing)
    rows, sizes = rows[np.argsort(code, kind="stable")], np.bincount(code)
    end = np.repeat(np.cumsum(sizes), sizes)
    # Each row has a pair with every row of the later groups.
    last = np.cumsum(len(rows) - end)
    n_all = int(last[-1]) if len(last) else 0
    if n_pairs is not None and not 0 < n_pairs <= n_all:
        raise ConstraintError(
            f"n_pairs must be from 1 to {n_all:,}, the number of pairs across the groups; got {n_pairs!r}."
        )
    if n_pairs is None and n_all > max_pairs:
        raise TooLargeError(
            f"{count(len(rows), 'row')} in {count(len(sizes), 'group')} are {count(n_all, 'cannot-link')} across the "
            f"groups, and at most {max_pairs:,} are listed; draw some of them with n_pairs."
        )
    number = (
        np.arange(n_all) if n_pairs is None else sample_without_replacement(n_all, n_pairs, random_state=random_state)
    )
    first = np.searchsorted(last, number, side="right")
    second = end[first] + number - np.concatenate([[0], last])[first]
    return np.column_stack([rows[first], rows[second]]).astype(np.int64)


def merge_equal(groups: Sequence[CannotLinkGroups]) -> tuple[CannotLinkGroups, ...]:
    """Make one of equal groupings, with the weights added, in an order that does not depend on that of the sum."""
    if len(groups) < 2:
        return tuple(groups)
    merged: dict[tuple[bytes, bytes], CannotLinkGroups] = {}
    for one in groups:
        content = one.rows.tobytes(), one.code.tobytes()
        twin = merged.get(content)
        merged[content] = one if twin is None else replace(twin, weight=twin.weight + one.weight)
    return tuple(merged[content] for content in sorted(merged))


def count_pairs(groups: Sequence[CannotLinkGroups | None]) -> int:
    """Count the pairs inside the groups of several groupings, a pair that is in more than one of them once."""
    some = [one for one in groups if one is not None]
    if len(some) <= MAX_CROSSED:
        return _count_by_crossing(some)
    rows = np.unique(np.concatenate([one.rows for one in some]))
    # Rows that are in the same group of every grouping are counted together.
    kinds, sizes = np.unique(np.stack([one.group_of(rows) for one in some]), axis=1, return_counts=True)
    if CROSSING_COST * 2 ** len(some) * len(rows) < len(some) * len(sizes) ** 2:
        return _count_by_crossing(some)
    return _count_by_kind(kinds, sizes)


def _count_by_crossing(groups: Sequence[CannotLinkGroups]) -> int:
    """Count by inclusion and exclusion; the time doubles with every grouping."""
    if not groups:
        return 0
    first, *others = groups
    # Pairs of the others that the first has too.
    crossed = [other.cross(first.group_of(other.rows)) for other in others]
    shared = [one for one in crossed if one is not None]
    return first.n_pairs + _count_by_crossing(others) - _count_by_crossing(shared)


def _count_by_kind(kinds: NDArray[np.intp], sizes: NDArray[np.intp]) -> int:
    """Count by comparing each kind of row, a column of groups, with every other; some kinds at a time."""
    n_kinds, n_ordered = len(sizes), 0
    n_rows = max(1, MAX_COMPARED // n_kinds)
    for start in range(0, n_kinds, n_rows):
        part = slice(start, start + n_rows)
        together = np.zeros((len(sizes[part]), n_kinds), dtype=bool)
        for group in kinds:
            together |= (group[part, None] == group) & (group != NO_GROUP)
        n_ordered += int(sizes[part] @ (together @ sizes))
    # A row was counted with itself, and two rows twice.
    return (n_ordered - int(sizes.sum())) // 2


def in_any(groups: Sequence[CannotLinkGroups], pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which pairs are inside a group of any grouping."""
    inside = np.zeros(len(pairs), dtype=bool)
    for one in groups:
        inside |= one.contains(pairs)
    return inside


def split_alone(links: Constraints) -> tuple[list[CannotLinkGroups], Constraints]:
    """Split off the groups whose rows are in no other link; also return the other links."""
    if not links.cannot_link_groups:
        return [], links
    given, groupings = links.without_groups(), links.cannot_link_groups
    linked, n_times = np.unique(
        np.concatenate([given.constrained_rows(), *(one.rows for one in groupings)]), return_counts=True
    )
    several = linked[n_times > 1]
    alone, others = [], []
    for one in groupings:
        is_alone = np.ones(len(one.names), dtype=bool)
        is_alone[one.code[np.isin(one.rows, several, assume_unique=True)]] = False
        alone.append(one.take(is_alone))
        others.append(one.take(~is_alone))
    return [one for one in alone if one is not None], given.with_groups([one for one in others if one is not None])


def name_size(groups: Sequence[CannotLinkGroups]) -> str:
    """Word how many rows are in groups of which size."""
    n_rows = len(np.unique(np.concatenate([one.rows for one in groups])))
    sizes = np.concatenate([one.sizes for one in groups])
    upto = "" if sizes.min() == sizes.max() else "up to "
    return f"{count(n_rows, 'row')} in {count(len(sizes), 'group')} of {upto}{count(int(sizes.max()), 'row')}"
