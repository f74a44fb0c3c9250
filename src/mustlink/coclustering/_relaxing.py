"""Links that cannot be kept together by the filter on bi-sets, and which of them are left out of it."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from mustlink._types import Indices, Mask
from mustlink.coclustering._bisets import Bisets
from mustlink.constraints import Constraints

__all__ = ["choose_links", "drop_contradictory", "find_uncovered"]


def drop_contradictory(links: Constraints) -> Constraints:
    """Return the links without the cannot-links between elements that must-links join."""
    wrong = {tuple(sorted(map(int, conflict.cannot_link))) for conflict in links.conflicts()}
    is_wrong = [sign < 0 and tuple(sorted(pair)) in wrong for pair, sign in _listing(links)]
    return links.take(~np.array(is_wrong, dtype=np.bool_))


def find_uncovered(bisets: Bisets, links: Constraints) -> Mask:
    """Return for every link whether no bi-set has either of its elements."""
    return np.asarray(~np.concatenate(bisets.covered())[links.pairs].any(axis=1))


def choose_links(bisets: Bisets, links: Constraints, others: Constraints, n_bisets: int) -> Constraints:
    """Return the links that bi-sets can keep together, taken one after the other.

    A link is left out if without the bi-sets that break it fewer than `n_bisets` different ones are left, or none that
    has an element of it, of a link taken before, or of one of the other links.
    """
    members = sparse.csc_array(sparse.hstack([bisets.rows, bisets.columns]))
    is_left = np.ones(bisets.n_bisets, dtype=np.bool_)
    is_taken = np.zeros(len(links), dtype=np.bool_)
    for at, (pair, sign) in enumerate(_listing(links)):
        candidate = is_left & _keep_pair(members, pair, is_must=sign > 0)
        left = bisets.take(np.flatnonzero(candidate))
        is_taken[at] = True
        needed = links.take(is_taken), others
        if len(left.distinct()) < n_bisets or any(find_uncovered(left, one).any() for one in needed):
            is_taken[at] = False
        else:
            is_left = candidate
    return links.take(is_taken)


def _keep_pair(members: sparse.csc_array, pair: tuple[int, int], *, is_must: bool) -> Mask:
    """Return which bi-sets have both elements of a must-link or none, or at most one of a cannot-link."""
    has_one, has_other = (_has(members, element) for element in pair)
    return np.asarray(has_one == has_other) if is_must else ~(has_one & has_other)


def _has(members: sparse.csc_array, element: int) -> Mask:
    """Return which bi-sets have an element."""
    found = np.zeros(members.shape[0], dtype=np.bool_)
    holders: Indices = members.indices[members.indptr[element] : members.indptr[element + 1]]
    found[holders] = True
    return found


def _listing(links: Constraints) -> list[tuple[tuple[int, int], int]]:
    """Return the pairs with their signs."""
    return [((one, other), sign) for (one, other), sign in zip(links.pairs.tolist(), links.sign.tolist(), strict=True)]
