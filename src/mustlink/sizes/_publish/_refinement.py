"""Groups improved by local search until no step lowers the sum of squared distances by much."""

from __future__ import annotations

import numpy as np

from mustlink._neighbors import nearest_neighbors
from mustlink._types import Floats, Ints
from mustlink.sizes._publish._cutting import cut_groups
from mustlink.sizes._publish._models import PrivacyModel
from mustlink.sizes._publish._reassignment import reassign_regions, sums_of_groups
from mustlink.sizes._publish._search_kernels import Groups, Rule, dissolve_groups, improve_groups, link_rows

__all__ = ["refine_groups", "sum_of_squares"]

# The groups that a row may move to: those nearest to its own.
N_NEAR = 40
MAX_ROUNDS = 30
# A round that gains less than this part of the sum is the last.
MIN_ROUND_GAIN = 1e-3
# A step gains at least this part of the mean squared distance, so that rounding cannot make steps cycle.
MIN_STEP_GAIN = 1e-9


def refine_groups(
    X: Floats,
    codes: Ints,
    labels: Ints,
    model: PrivacyModel,
    *,
    keep_number: bool = False,
    random_state: np.random.RandomState,
) -> Ints:
    """Return groups with a lower sum of squared distances to their means, all of them valid.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        The scaled quasi-identifiers, in C order.
    codes : ndarray of int64, shape (n_rows,)
        The sensitive value of each row, from 0.
    labels : ndarray of int64, shape (n_rows,)
        Valid groups, numbered from 0.
    model : PrivacyModel
        What every group must have.
    keep_number : bool, default=False
        Whether groups are neither cut nor dissolved.
    random_state : RandomState
        Chooses the regions that are reassigned together.
    """
    total = sum_of_squares(X, labels)
    for _ in range(MAX_ROUNDS):
        labels = _improve(X, codes, labels, model, keep_number=keep_number, min_gain=MIN_STEP_GAIN * total / len(X))
        labels = reassign_regions(X, codes, labels, model, random_state)
        before, total = total, sum_of_squares(X, labels)
        if before - total <= MIN_ROUND_GAIN * before:
            break
    return labels


def _improve(X: Floats, codes: Ints, labels: Ints, model: PrivacyModel, *, keep_number: bool, min_gain: float) -> Ints:
    """Cut large groups, move and swap rows between near groups, and dissolve groups that are not needed."""
    rule = Rule(model.min_size, model.form, float(model.min_diversity or 0), model.m, min_gain)
    labels = labels.copy() if keep_number else cut_groups(X, codes, labels, model, min_gain)
    n_groups = int(labels.max()) + 1
    if n_groups == 1:
        return labels
    groups = Groups(
        X,
        codes,
        labels,
        sizes=np.bincount(labels),
        sums=sums_of_groups(X, labels, n_groups),
        first=np.empty(n_groups, dtype=np.int64),
        following=np.empty_like(labels),
        previous=np.empty_like(labels),
        counts=np.zeros(int(codes.max()) + 1, dtype=np.int64),
    )
    link_rows(groups)
    near = nearest_neighbors(groups.sums / groups.sizes[:, None], min(N_NEAR, n_groups - 1))[1]
    improve_groups(groups, near, rule)
    if not keep_number:
        dissolve_groups(groups, near, rule)
    # Dissolved groups leave their numbers behind.
    return np.unique(groups.labels, return_inverse=True)[1].astype(np.int64)


def sum_of_squares(X: Floats, labels: Ints) -> float:
    """Return the sum of the squared distances of all rows to the means of their groups."""
    sums = sums_of_groups(X, labels, int(labels.max()) + 1)
    offset = X - (sums / np.bincount(labels)[:, None])[labels]
    return float(np.einsum("ij,ij->", offset, offset))
