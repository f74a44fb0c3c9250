"""Large groups cut in two, which always lowers the sum of squared distances."""

from __future__ import annotations

import numpy as np

from mustlink._types import Floats, Indices, Ints
from mustlink.sizes._publish._models import NO_DIVERSITY, PrivacyModel

__all__ = ["cut_groups", "rows_of_groups"]


def cut_groups(X: Floats, codes: Ints, labels: Ints, model: PrivacyModel, min_gain: float) -> Ints:
    """Return groups that cannot be cut further: no cut along their longest line has two valid parts and a gain."""
    labels = labels.copy()
    members = rows_of_groups(labels)
    waiting = [rows for rows in members if len(rows) >= 2 * model.min_size]
    n_groups = len(members)
    while waiting:
        rows = waiting.pop()
        parts = _cut(X[rows], codes[rows], model, min_gain)
        if parts is not None:
            labels[rows[parts[1]]] = n_groups
            n_groups += 1
            waiting += [rows[part] for part in parts if len(part) >= 2 * model.min_size]
    return labels


def rows_of_groups(labels: Ints) -> list[Indices]:
    """Return the rows of each group, in their order."""
    return np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1])


def _cut(X: Floats, codes: Ints, model: PrivacyModel, min_gain: float) -> tuple[Indices, Indices] | None:
    """Cut rows in two at the best place along the line through two remote ones; None if no cut is valid."""
    one = X[_remote(X, X.mean(axis=0))]
    other = X[_remote(X, one)]
    order = np.argsort(X @ (other - one), kind="stable")
    n_rows, size = len(X), model.min_size
    # A cut removes n_left n_right / n times the squared distance of the two means.
    n_left = np.arange(size, n_rows - size + 1)
    sums = np.cumsum(X[order], axis=0)
    left = sums[n_left - 1]
    gap = left / n_left[:, None] - (sums[-1] - left) / (n_rows - n_left)[:, None]
    gains = n_left * (n_rows - n_left) / n_rows * np.einsum("ij,ij->i", gap, gap)
    for place in np.argsort(-gains, kind="stable"):
        if gains[place] <= min_gain:
            return None
        parts = order[: n_left[place]], order[n_left[place] :]
        if model.form == NO_DIVERSITY or all(model.is_diverse(np.bincount(codes[part])) for part in parts):
            return parts
    return None


def _remote(X: Floats, center: Floats) -> int:
    """Return the row farthest from a center."""
    return int(((X - center) ** 2).sum(axis=1).argmax())
