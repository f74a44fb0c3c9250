"""Constraints aligned with the rows of a table, for cross-validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from mustlink._spelling import count
from mustlink.constraints._display import constraints_html
from mustlink.errors import ConstraintError

if TYPE_CHECKING:
    from mustlink.constraints._constraints import Constraints

__all__ = ["AlignedConstraints"]


class NoShape:
    """The shape of bare pairs, which nothing can be read from.

    scikit-learn takes the length of the shape of everything that it splits into folds. A list of pairs, split or passed
    on whole, would silently refer to wrong rows, so that asking here is an error. To have a shape at all must not be
    one: notebooks and ``hasattr`` look for it.
    """

    def _refuse(self, *_: object) -> NoReturn:
        raise ConstraintError(
            "Constraints are pairs of rows, not one entry per row, and cross-validation cannot split them into "
            "folds; pass constraints.on(n_samples) instead."
        )

    __len__ = __getitem__ = __iter__ = _refuse

    def __repr__(self) -> str:
        return "<no shape: pairs are not aligned with rows>"


class AlignedConstraints:
    """Constraints with one entry per row of a table.

    Made by :meth:`Constraints.on`. It has a length and a shape like a column of the table, and indexing it
    with the rows of a fold keeps the pairs whose two ends are in the fold, renumbered. That is what
    scikit-learn's splitters, ``cross_validate`` and ``GridSearchCV`` do with every argument that has one entry
    per row.

    Parameters
    ----------
    constraints : Constraints
        Pairs of rows, all of them below `n_samples`.
    n_samples : int
        The number of rows of the table.

    Attributes
    ----------
    constraints : Constraints
        The pairs, numbered by the rows of this object.
    shape : tuple of int
        ``(n_samples,)``.

    Notes
    -----
    A row taken twice, as in a bootstrap sample, carries its links in every copy.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> aligned = Constraints(must_link=[(0, 2)], cannot_link=[(2, 4)]).on(5)
    >>> len(aligned)
    5
    >>> aligned[[2, 3, 4]].constraints.cannot_link
    array([[0, 2]])
    """

    def __init__(self, constraints: Constraints, n_samples: int) -> None:
        constraints.check_rows(n_samples)
        self.constraints = constraints
        self.shape = (int(n_samples),)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"{self.constraints!r} on {count(len(self), 'row')}"

    def _repr_html_(self) -> str:
        return constraints_html(self.constraints, len(self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlignedConstraints):
            return NotImplemented
        return self.shape == other.shape and self.constraints == other.constraints

    def __hash__(self) -> int:
        return hash((self.shape, self.constraints))

    def __getitem__(self, key: Any) -> AlignedConstraints:
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]  # scikit-learn indexes everything that has a shape as array[rows, ...]
        rows = np.atleast_1d(np.arange(len(self))[key])
        if rows.ndim != 1:
            raise IndexError(f"Constraints on rows take one list of rows, not an index of shape {rows.shape}.")
        links = self.constraints
        if links.cannot_link_groups and len(np.unique(rows)) < len(rows):
            # Copies of a row have no link between them, so that its group is no longer one.
            links = links.expand()
        given = links.without_groups()
        pairs, source = _renumber(given.pairs, rows, len(self))
        taken = given.from_pairs(pairs, given.sign[source], given.weight[source], contradictions="keep")
        groups = [one.renumber(rows) for one in links.cannot_link_groups]
        return AlignedConstraints(taken.with_groups([one for one in groups if one is not None]), len(rows))


def _renumber(
    pairs: NDArray[np.int64], rows: NDArray[np.intp], n_samples: int
) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Write pairs in the numbering of the chosen rows, once for every two copies of their ends.

    Returns the new pairs and, for each, the position of the pair it comes from.
    """
    by_row = np.argsort(rows, kind="stable")
    copies = np.bincount(rows, minlength=n_samples)
    start = np.cumsum(copies) - copies
    a, b = pairs.T
    n_new = copies[a] * copies[b]
    source = np.repeat(np.arange(len(pairs)), n_new)
    within = np.arange(len(source)) - np.repeat(np.cumsum(n_new) - n_new, n_new)
    copy_of_a, copy_of_b = np.divmod(within, np.maximum(copies[b[source]], 1))
    new_a = by_row[start[a[source]] + copy_of_a]
    new_b = by_row[start[b[source]] + copy_of_b]
    return np.column_stack([new_a, new_b]).astype(np.int64), source
