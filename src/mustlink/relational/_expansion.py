"""Query-time resolution: the records near a query, found step by step through names and through groups."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mustlink._types import Ints
from mustlink.relational._problem import Problem
from mustlink.relational._records import normalize


class Resolution(NamedTuple):
    """The entities of the records that match a query.

    Attributes
    ----------
    rows : ndarray of shape (n_matching,)
        The records that match the query, ascending.
    labels : ndarray of shape (n_matching,)
        The entity of each of them, numbered in the order of their first rows.
    n_records : list of int
        How many records were resolved together, after each level of expansion; the first entry is for none.

    Examples
    --------
    >>> from mustlink.relational import CollectiveRelationalClustering
    >>> names = ["W. Wang", "A. Ansari", "W. Wang", "A. Ansari", "L. Li"]
    >>> model = CollectiveRelationalClustering().fit(names, groups=[1, 1, 2, 2, 3])
    >>> found = model.resolve("Wang, W.", depth=1)
    >>> found.rows, found.labels, found.n_records
    (array([0, 2]), array([0, 0]), [2, 4])
    """

    rows: Ints
    labels: Ints
    n_records: list[int]


def match_query(problem: Problem, query: str) -> Ints:
    """Return the rows whose record is the query, or is compared with it."""
    records = problem.records
    if records is None:
        raise TypeError("resolve needs names, and the similarities are precomputed.")
    text = normalize(query)
    values = [value for value, own in enumerate(records.columns[0]) if own == text]
    if not text or not values:
        raise ValueError(f"No record has the name {query!r}; pass the name of a record, or its row number.")
    return expand_by_name(problem, np.flatnonzero(np.isin(problem.code, values)))


def expand_by_name(problem: Problem, rows: Ints) -> Ints:
    """Return the rows whose records are those of some rows, or are compared with them."""
    is_near = np.zeros(len(problem.is_same), dtype=bool)
    own = np.unique(problem.code[rows])
    own = own[problem.is_same[own]]
    is_near[own] = True
    left, right, _ = problem.value_pairs
    is_own = is_near.copy()
    is_near[right[is_own[left]]] = True
    is_near[left[is_own[right]]] = True
    found = is_near[problem.code]
    found[rows] = True
    return np.flatnonzero(found)


def expand_by_group(problem: Problem, rows: Ints) -> Ints:
    """Return the rows that occur in a group with some rows."""
    in_group = np.zeros(problem.groups.shape[1], dtype=bool)
    in_group[problem.groups[rows].indices] = True
    return np.flatnonzero(problem.groups @ in_group.astype(float) > 0)


def expand_by_links(component: Ints, rows: Ints) -> Ints:
    """Return the rows in the must-link components of some rows."""
    in_component = np.zeros(int(component.max(initial=-1)) + 1, dtype=bool)
    in_component[component[rows]] = True
    return np.flatnonzero(in_component[component])


def expand(problem: Problem, component: Ints, rows: Ints, depth: int, max_frontier: int) -> tuple[Ints, list[int]]:
    """Return the rows within so many steps of some rows, and how many they were after each step.

    A step adds the rows that occur with those of the last step, and the rows with names like theirs. Of more than
    `max_frontier` rows that a step would go on from, it takes those with the rarest names. Rows are added with their
    whole must-link components.
    """
    rows = expand_by_links(component, rows)
    n_of_value = np.bincount(problem.code, minlength=len(problem.is_same))
    chosen = np.zeros(problem.n_rows, dtype=bool)
    chosen[rows] = True
    frontier, n_records = rows, [len(rows)]
    for _ in range(depth):
        near = expand_by_group(problem, frontier)
        near = near[~chosen[near]]
        if len(near) > max_frontier:
            near = np.sort(near[np.argsort(n_of_value[problem.code[near]], kind="stable")[:max_frontier]])
        found = expand_by_links(component, expand_by_name(problem, near)) if len(near) else near
        frontier = found[~chosen[found]]
        chosen[frontier] = True
        n_records.append(int(chosen.sum()))
    return np.flatnonzero(chosen), n_records
