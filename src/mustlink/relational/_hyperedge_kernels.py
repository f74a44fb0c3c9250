"""Compiled comparison of the records that occur with two records."""

from __future__ import annotations

import numpy as np

from mustlink._jit import jit

MEAN_BEST, BEST = 0, 1


@jit
def look_up(indptr, indices, data, one, other):  # type: ignore[no-untyped-def]
    """Return an entry of a sparse matrix with sorted rows."""
    place = indptr[one] + np.searchsorted(indices[indptr[one] : indptr[one + 1]], other)
    return data[place] if place < indptr[one + 1] and indices[place] == other else 0.0


@jit
def best_matches(first, second, one, other, code, indptr, indices, data):  # type: ignore[no-untyped-def]
    """Return the mean and the maximum, over the rows of one group, of the similarity to the best of another group."""
    total, n_rows, best = 0.0, 0, 0.0
    for row in first:
        if row in (one, other):
            continue
        n_rows += 1
        match = 0.0
        for near in second:
            if near not in (one, other):
                match = max(match, look_up(indptr, indices, data, code[row], code[near]))
        total += match
        best = max(best, match)
    return (total / n_rows if n_rows else 0.0), best


@jit
def compare_groups(left, right, how, group_indptr, groups, row_indptr, rows, code, indptr, indices, data):  # type: ignore[no-untyped-def]
    """Return how well the records that occur with two records match, at best over their groups."""
    score = np.zeros(len(left))
    for place in range(len(left)):
        one, other = left[place], right[place]
        for group in groups[group_indptr[one] : group_indptr[one + 1]]:
            first = rows[row_indptr[group] : row_indptr[group + 1]]
            for second_group in groups[group_indptr[other] : group_indptr[other + 1]]:
                if second_group == group:
                    continue
                second = rows[row_indptr[second_group] : row_indptr[second_group + 1]]
                mean, best = best_matches(first, second, one, other, code, indptr, indices, data)
                back, _ = best_matches(second, first, one, other, code, indptr, indices, data)
                score[place] = max(score[place], best if how == BEST else (mean + back) / 2)
    return score
