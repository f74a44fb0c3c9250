"""Records of the new categories, and of what became of the given ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from mustlink._types import Array, Floats, Indices, Ints
from mustlink.text._passes import SeedHistory

__all__ = ["Category", "GivenCategory", "Status", "describe_categories", "describe_given", "heaviest_terms"]

Status: TypeAlias = Literal["kept", "split", "merged", "killed"]

# Names that are joined for a category of several given ones; of more it is said how many.
MAX_JOINED_NAMES = 3


@dataclass(frozen=True)
class Category:
    """A category that was found: its name, its terms and its documents.

    Attributes
    ----------
    name : str
        That of `given`; several names if the seeds of several given categories were merged, and the two largest given
        categories of its documents if it is new. All names differ.
    given : object
        The given category that it comes from, as in `y`: that of its seed, if no other one has more of its documents;
        of merged ones that with the most documents. None if it is new: its documents are mostly of another category.
    seeds : tuple of object
        The given categories whose seeds it has, the one with the most documents in it first.
    terms : list of (str or int, float)
        Its terms and their weights in its seed of norm 1, the heaviest first. Terms are names if X had any, else column
        numbers; :meth:`TaxonomyClusterer.category_terms` names them.
    rows : ndarray of shape (n_documents,)
        Its documents.
    composition : dict of object to int
        How many of its documents are of each given category, the most first; documents without one are left out.

    Examples
    --------
    >>> from mustlink.text import TaxonomyClusterer
    >>> X = [[9, 1, 0], [8, 2, 0], [0, 2, 9], [0, 3, 7]]
    >>> model = TaxonomyClusterer(min_df=1, words_init=2, words_final=2, min_cluster_size=1, gini_drop=0)
    >>> category = model.fit(X, ["music", "music", "sport", None]).categories_[1]
    >>> category.name, category.given, category.rows, category.composition
    ('sport', 'sport', array([2, 3]), {'sport': 1})
    >>> [(term, round(weight, 2)) for term, weight in category.terms]
    [(2, 0.87), (1, 0.49)]
    """

    name: str
    given: Any
    seeds: tuple[Any, ...]
    terms: list[tuple[Any, float]]
    rows: Ints
    composition: Mapping[Any, int]


@dataclass(frozen=True)
class GivenCategory:
    """What became of a given category.

    Attributes
    ----------
    name : object
        The category, as in `y`.
    status : {"kept", "split", "merged", "killed"}
        Kept: its seed is that of a category. Split: as kept, and it has the most documents of another category too.
        Merged: its seed was merged with those of other given categories. Killed: its seed was removed, as it had too
        few documents.
    into : int or None
        The number of the category with its seed; if it was killed, of that with most of its documents, None if all are
        outliers.
    in_pass : int or None
        The pass in which it was first merged, or killed, from 1.
    n_documents : int
        The number of its documents.
    counts : dict of int to int
        How many of them are in each category, the most first.
    n_outliers : int
        How many are in none.

    Examples
    --------
    >>> from mustlink.text import TaxonomyClusterer
    >>> X = [[9, 1, 0], [8, 2, 0], [9, 2, 0], [0, 2, 9], [0, 3, 7]]
    >>> model = TaxonomyClusterer(min_df=1, words_init=2, words_final=2, min_cluster_size=1, gini_drop=0)
    >>> [one.status for one in model.fit(X, ["jazz", "rock", "rock", "sport", "sport"]).given_]
    ['merged', 'merged', 'kept']
    >>> model.given_[0].into, model.categories_[0].name
    (0, 'rock + jazz')
    """

    name: Any
    status: Status
    into: int | None
    in_pass: int | None
    n_documents: int
    counts: Mapping[int, int]
    n_outliers: int


def describe_categories(
    seeds: csr_array, labels: Ints, composition: Ints, history: SeedHistory, given: Array, terms: Sequence[Any] | None
) -> list[Category]:
    """Return a record of every final seed; `composition` has the documents of final and given categories."""
    found: list[Category] = []
    taken: set[str] = set()
    order = np.argsort(labels, kind="stable")
    ends = np.searchsorted(labels[order], np.arange(seeds.shape[0] + 1))
    for number, counts in enumerate(composition):
        own = np.flatnonzero(history.seed == number)
        own = own[np.argsort(-counts[own], kind="stable")]
        is_new = counts[own[0]] < counts.max()
        name = _make_distinct(
            _join_names(_largest(counts)[:2], given, " / ") if is_new else _join_names(own, given), taken
        )
        taken.add(name)
        found.append(
            Category(
                name,
                None if is_new else given[own[0]],
                tuple(given[own]),
                _weighted_terms(seeds, number, terms),
                np.sort(order[ends[number] : ends[number + 1]]).astype(np.int64),
                {given[one]: int(counts[one]) for one in _largest(counts)},
            )
        )
    return found


def describe_given(
    composition: Ints, n_documents: Ints, history: SeedHistory, categories: Sequence[Category], given: Array
) -> list[GivenCategory]:
    """Return what became of every given category."""
    found = []
    leading = {number: next(iter(one.composition), None) for number, one in enumerate(categories)}
    for code, counts in enumerate(composition.T):
        order = _largest(counts)
        seed = int(history.seed[code])
        status: Status = "kept"
        in_pass: int | None = None
        if seed < 0:
            status, in_pass = "killed", int(history.killed_in[code])
        elif history.merged_in[code]:
            status, in_pass = "merged", int(history.merged_in[code])
        elif any(leading[number] == given[code] for number in order if number != seed):
            status = "split"
        found.append(
            GivenCategory(
                given[code],
                status,
                seed if seed >= 0 else int(order[0]) if len(order) else None,
                in_pass,
                int(n_documents[code]),
                {int(number): int(counts[number]) for number in order},
                int(n_documents[code] - counts.sum()),
            )
        )
    return found


def _largest(counts: Ints) -> Indices:
    """Return the places of counts above 0, the largest first."""
    order = np.argsort(-counts, kind="stable")
    return order[counts[order] > 0]


def _join_names(codes: Indices, given: Array, sign: str = " + ") -> str:
    """Join the names of given categories."""
    names = [str(given[code]) for code in codes[:MAX_JOINED_NAMES]]
    if len(codes) > MAX_JOINED_NAMES:
        names.append(f"{len(codes) - MAX_JOINED_NAMES} more")
    return sign.join(names)


def _make_distinct(name: str, taken: set[str]) -> str:
    """Return a name that is not taken."""
    number, tried = 1, name
    while tried in taken:
        number += 1
        tried = f"{name} ({number})"
    return tried


def _weighted_terms(seeds: csr_array, number: int, terms: Sequence[Any] | None) -> list[tuple[Any, float]]:
    """Return the terms of a seed with their weights."""
    columns, weights = heaviest_terms(seeds, number)
    return [
        (int(column) if terms is None else terms[column], float(weight))
        for column, weight in zip(columns, weights, strict=True)
    ]


def heaviest_terms(seeds: csr_array, number: int) -> tuple[Indices, Floats]:
    """Return the columns and weights of a seed by decreasing weight, of equal ones by column."""
    here = slice(seeds.indptr[number], seeds.indptr[number + 1])
    columns, weights = seeds.indices[here], seeds.data[here]
    order = np.lexsort((columns, -weights))
    return columns[order], weights[order]
