"""The cheapest assignment of rows to clusters of bounded sizes that keeps links."""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_scalar

from mustlink._types import Ints
from mustlink.base import as_constraints
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.errors import ConstraintError
from mustlink.sizes._assign._assign import Assignment
from mustlink.sizes._assign._bounds import check_sizes
from mustlink.sizes._linked._linked import LinkedAssignment
from mustlink.sizes._linked._program import NO_TRIPLES
from mustlink.sizes._linked._units import make_units

__all__ = ["assign_linked", "check_triples"]


def assign_linked(
    costs: ArrayLike,
    constraints: Constraints | AlignedConstraints,
    *,
    size_min: ArrayLike | None = 0,
    size_max: ArrayLike | None = None,
    one_of: ArrayLike | None = None,
    penalty: float | None = None,
    exact: bool | str = "auto",
) -> Assignment:
    """Assign rows to clusters of bounded sizes such that no link is broken, at a low total cost.

    Parameters
    ----------
    costs : array-like of shape (n_rows, n_clusters)
        What each row costs in each cluster, for example squared distances to centers.
    constraints : Constraints or AlignedConstraints
        Must-links and cannot-links between the rows.
    size_min : int or array-like of shape (n_clusters,), default=0
        The minimum size of all clusters, or of each.
    size_max : int or array-like of shape (n_clusters,), default=None
        The maximum size of all clusters, or of each; None is no maximum.
    one_of : array-like of shape (n_triples, 3), default=None
        Triples (i, j, g) of rows: i shares a cluster with j or with g, but not with both.
    penalty : float, default=None
        What a broken must-link of weight 1 costs; None keeps all must-links. Cannot-links are always kept.
    exact : bool or "auto", default="auto"
        Whether to search for the least cost with a proof, which can take long. "auto" does so for up to 500 entries of
        must-link components and cannot-linked rows times clusters, if all rows have up to 3,000; beyond these sizes
        a start at the prices of the sizes is improved by moves.

    Returns
    -------
    Assignment
        The labels, and the prices of the bounds for a row without links.

    Raises
    ------
    InfeasibleError
        If links and sizes cannot be kept together, with the numbers that clash, or if no assignment that keeps them was
        found; the message says which.
    ConstraintError
        If links or triples name rows that do not exist.

    See Also
    --------
    assign : The same without links, always exact.

    Notes
    -----
    A must-link component is one unit as large as its rows together; placing units is an unsplittable flow, NP-hard
    under sizes, and cannot-links alone contain graph coloring. Where all links are cannot-links that form separate
    cliques, pairs for example, the problem is a network flow, and the answer exact at any size.

    Elsewhere, beyond the sizes of an exact search, units are placed at the prices of the relaxation in which units can
    be divided, by the methods of :class:`~mustlink.COPKMeans`. Chains of moves that break no cannot-link repair the
    sizes and lower the cost, and the rows without links follow exactly. If no placement is found so, an exact search
    decides whether there is one.

    The chapter's constraint for "one of two" is printed such that it forces all three rows together; this is the
    corrected one. Its penalty rho is half of `penalty` [1]_.

    References
    ----------
    .. [1] A. Demiriz, K. P. Bennett and P. S. Bradley, "Using assignment constraints to avoid empty clusters in
       k-means clustering", in Constrained Clustering, chapter 9, 2009.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> from mustlink.sizes import assign_linked
    >>> costs = [[0.0, 5.0], [1.0, 5.0], [2.0, 5.0], [3.0, 5.0]]
    >>> assign_linked(costs, Constraints(must_link=[(0, 3)]), size_min=2).labels
    array([0, 1, 1, 0])
    >>> assign_linked(costs, Constraints(must_link=[(0, 1), (1, 3)]), size_max=2)
    Traceback (most recent call last):
        ...
    mustlink.errors.InfeasibleError: The must-link component of row 0 has 3 rows, more than the largest maximum size...
    """
    table = check_array(costs, dtype=np.float64, order="C", input_name="costs")
    links = as_constraints(constraints, len(table))
    lowest, highest = check_sizes(size_min, size_max, *table.shape)
    if penalty is not None:
        check_scalar(penalty, "penalty", Real, min_val=0)
        if not np.isfinite(penalty):
            raise ValueError(f"penalty is {penalty}; it must be finite, or None to keep all must-links.")
    if not isinstance(exact, bool | np.bool_) and not (isinstance(exact, str) and exact == "auto"):
        raise ValueError(f'exact must be True, False or "auto", got {exact!r}.')
    units = make_units(links, len(table), lowest, highest, check_triples(one_of, len(table)), penalty)
    assignment = LinkedAssignment(units, exact=exact)
    assignment.check()
    return assignment.assign(table)


def check_triples(one_of: ArrayLike | None, n_samples: int) -> Ints:
    """Validate triples of rows, of which the first is to share a cluster with exactly one of the others.

    Parameters
    ----------
    one_of : array-like of shape (n_triples, 3) or None
        The triples. None is no triple.
    n_samples : int
        The number of rows of the table.

    Returns
    -------
    ndarray of shape (n_triples, 3)
        Row numbers.

    Raises
    ------
    ConstraintError
        If a triple has not three different rows of the table.
    """
    if one_of is None:
        return NO_TRIPLES
    try:
        triples = np.asarray(one_of)
    except ValueError:
        raise ConstraintError(
            "one_of must hold triples of row numbers, and some of its entries are of another length."
        ) from None
    if triples.size == 0:
        return NO_TRIPLES
    if triples.ndim != 2 or triples.shape[1] != 3 or triples.dtype.kind not in "iu":
        raise ConstraintError(
            f"one_of must be an integer array of shape (n_triples, 3), got {triples.dtype} of shape {triples.shape}."
        )
    for number in np.flatnonzero((triples < 0).any(axis=1) | (triples >= n_samples).any(axis=1))[:1]:
        i, j, g = triples[number].tolist()
        raise ConstraintError(
            f"A triple of one_of names the rows {i}, {j} and {g}, but the table has {n_samples} rows."
        )
    ordered = np.sort(triples, axis=1)
    for number in np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))[:1]:
        i, j, g = triples[number].tolist()
        raise ConstraintError(f"A triple of one_of names the rows {i}, {j} and {g}; it needs three different rows.")
    return triples.astype(np.int64)
