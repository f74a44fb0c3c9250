"""The mean of the rows of every group."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse

from mustlink._types import Floats, Ints

__all__ = ["group_means"]


def group_means(X: Any, labels: Ints, n_groups: int) -> tuple[Floats, Ints]:
    """Return the means and sizes of groups, for dense and sparse rows; -1 is no group, an empty one has the mean 0."""
    used = np.flatnonzero(labels >= 0)
    sizes = np.bincount(labels[used], minlength=n_groups)
    members = csr_matrix((np.ones(len(used)), (labels[used], used)), shape=(n_groups, len(labels)))
    sums = members @ X
    dense = sums.toarray() if issparse(sums) else np.asarray(sums)
    return dense / np.maximum(sizes, 1)[:, None], sizes
