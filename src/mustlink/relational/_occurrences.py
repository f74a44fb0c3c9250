"""Records that occur together: group keys, who occurs with whom, and how telling that is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from mustlink._spelling import count
from mustlink._types import Floats, Ints, Mask
from mustlink.errors import TooLargeError
from mustlink.relational._pairs import incidence
from mustlink.relational._records import Records, is_missing, split_name


def read_groups(groups: Any, n_rows: int, max_pairs: int) -> csr_array:
    """Return which row occurs in which group, from a key or a list of keys per row; None, NaN and "" are none."""
    if groups is None:
        return csr_array((n_rows, 0))
    if isinstance(groups, str):
        raise TypeError("groups is one text; pass a group key, or a list of keys, for each record.")
    given = groups.tolist() if hasattr(groups, "tolist") else list(groups)
    if len(given) != n_rows:
        raise ValueError(
            f"groups must hold one key, or one list of keys, per record: X has {count(n_rows, 'record')}, and groups "
            f"has {count(len(given), 'entry', 'entries')}."
        )
    rows, keys = [], []
    for row, own in enumerate(given):
        for key in own if isinstance(own, list | tuple | set | frozenset | np.ndarray) else (own,):
            if not _is_no_group(key, row):
                rows.append(row)
                keys.append(key)
    code, names = pd.factorize(np.array(keys, dtype=object)) if keys else (np.empty(0, np.int64), [])
    found = incidence(np.array(rows, dtype=np.int64), code.astype(np.int64), (n_rows, len(names)))
    _refuse_large_groups(found, max_pairs)
    return found


def _is_no_group(key: object, row: int) -> bool:
    """Return whether a key names no group."""
    try:
        hash(key)
    except TypeError:
        raise TypeError(
            f"The group key of record {row} is a {type(key).__name__}; keys must be text or numbers."
        ) from None
    return is_missing(key) or (isinstance(key, str) and not key.strip())


def _refuse_large_groups(groups: csr_array, max_pairs: int) -> None:
    """Refuse groups whose pairs of records are too many to be listed."""
    sizes = np.bincount(groups.indices, minlength=groups.shape[1]).astype(float)
    n_pairs = float((sizes * (sizes - 1) / 2).sum())
    if n_pairs > max_pairs:
        raise TooLargeError(
            f"The groups have {n_pairs:,.0f} pairs of records that occur together, the largest {int(sizes.max()):,} "
            f"records, and at most {max_pairs:,} pairs are allowed",
            remedy="smaller_groups",
        )


def neighbor_pairs(groups: csr_array, cluster: Ints) -> tuple[Ints, Ints]:
    """Return the pairs of clusters that occur in one group, each once; clusters are named by a row."""
    n_rows = groups.shape[0]
    row = np.repeat(np.arange(n_rows), np.diff(groups.indptr))
    occurs = incidence(cluster[row], groups.indices.astype(np.int64), groups.shape)
    together = (occurs @ occurs.T).tocoo()
    is_once = together.row < together.col
    return together.row[is_once].astype(np.int64), together.col[is_once].astype(np.int64)


def names_nearby(groups: csr_array, records: Records) -> csr_array:
    """Return for each row the distinct records that occur with it."""
    n_rows = groups.shape[0]
    together = (groups @ groups.T).tocoo()
    is_other = together.row != together.col
    row, other = together.row[is_other].astype(np.int64), records.code[together.col[is_other]]
    is_filled = ~records.is_empty[other]
    return incidence(row[is_filled], other[is_filled], (n_rows, records.n_values))


def count_first_names(records: Records) -> Floats:
    """Return for each distinct record the number of different first names that its last name occurs with.

    An initial is no name of its own if a first name begins with it. Middle names count: "W." and "W. W." are two.
    """
    parts = [split_name(text) for text in records.columns[0]]
    seen: dict[str, set[str]] = {}
    for last, first in parts:
        seen.setdefault(last, set()).add(first)
    n_names = {}
    for last, firsts in seen.items():
        written_out = {first[:1] for first in firsts if len(first) > 1 and " " not in first}
        n_names[last] = len([first for first in firsts if len(first) > 1 or first not in written_out])
    return np.array([float(n_names[last]) for last, _ in parts])


def has_first_name(records: Records) -> Mask:
    """Return which distinct records do not have initials only, or initials that a written-out first name explains."""
    parts = [split_name(text) for text in records.columns[0]]
    written_out = {(last, first[0]) for last, first in parts if len(first.split(" ")[0]) > 1}
    return np.array(
        [(last, first[:1]) in written_out or any(len(word) != 1 for word in first.split(" ")) for last, first in parts]
    )


def share_of_ambiguous_relations(groups: csr_array, records: Records, is_ambiguous: Mask) -> float:
    """Return which share of relations that repeat lead to an ambiguous name.

    Two groups with the same two names repeat a relation, from either name to the other. Where the other name is
    ambiguous, they may be two people, and a merge of the first names would be no reason to merge these.
    """
    row = np.repeat(np.arange(groups.shape[0]), np.diff(groups.indptr))
    value = records.code[row]
    filled = ~records.is_empty[value]
    names = incidence(groups.indices[filled].astype(np.int64), value[filled], (groups.shape[1], records.n_values))
    together = (names.T @ names).tocoo()
    is_pair = together.row != together.col
    n_groups = together.data[is_pair]
    n_repeats = n_groups * (n_groups - 1) / 2
    total = float(n_repeats.sum())
    return float(n_repeats[is_ambiguous[together.col[is_pair]]].sum() / total) if total else float("nan")
