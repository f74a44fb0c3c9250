"""Whether two sets of cannot-links are the same, without a list of those of groups."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from mustlink.constraints._groups import CannotLinkGroups, count_pairs

__all__ = ["same_weights"]


def same_weights(
    pairs: Sequence[NDArray[np.int64]],
    weights: Sequence[NDArray[np.float64]],
    groups: Sequence[Sequence[CannotLinkGroups]],
) -> bool:
    """Return whether the listed pairs and the groups of two sets of links give every pair the same weight."""
    listed = np.unique(np.concatenate(pairs), axis=0)
    mine, yours = (_weights_of(listed, *one) for one in zip(pairs, weights, groups, strict=True))
    return np.array_equal(mine, yours) and _same_elsewhere(listed, *groups)


def _weights_of(
    listed: NDArray[np.int64],
    pairs: NDArray[np.int64],
    weights: NDArray[np.float64],
    groups: Sequence[CannotLinkGroups],
) -> NDArray[np.float64]:
    """Return the weights that some pairs have in total; the smallest are added first, as in a list of pairs."""
    terms = np.zeros((1 + len(groups), len(listed)))
    place = np.unique(np.concatenate([listed, pairs]), axis=0, return_inverse=True)[1].ravel()
    terms[0, place[len(listed) :]] = weights
    for term, one in zip(terms[1:], groups, strict=True):
        term[one.contains(listed)] = one.weight
    total: NDArray[np.float64] = np.sort(terms, axis=0).sum(axis=0)
    return total


def _same_elsewhere(
    listed: NDArray[np.int64], mine: Sequence[CannotLinkGroups], yours: Sequence[CannotLinkGroups]
) -> bool:
    """Return whether groups give the same weight to every pair but the listed ones.

    The squares of the differences add up to zero only if all are zero. This sum is one over any two groupings, of the
    number of pairs that they share, and is exact in fractions.
    """
    signed = [(one, Fraction(one.weight), one.contains(listed)) for one in mine]
    signed += [(one, -Fraction(one.weight), one.contains(listed)) for one in yours]
    return not sum(
        weight
        * other_weight
        * (count_pairs([one.cross(other.group_of(one.rows))]) - int((inside & other_inside).sum()))
        for (one, weight, inside), (other, other_weight, other_inside) in product(signed, signed)
    )
