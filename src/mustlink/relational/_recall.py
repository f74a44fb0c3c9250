"""How many true pairs a blocking keeps."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["candidate_recall"]


def candidate_recall(candidates: Any, labels_true: ArrayLike) -> float:
    """Return the share of the pairs of one entity that are candidates: what blocking leaves to be found.

    Parameters
    ----------
    candidates : structured array
        Pairs of records with the fields `left` and `right`, such as ``candidates_`` of
        :class:`~mustlink.CollectiveRelationalClustering`.
    labels_true : array-like of shape (n_samples,)
        The entity of every record.

    Returns
    -------
    float
        From 0 to 1; NaN if no two records are of one entity.

    Examples
    --------
    >>> from mustlink.relational import CollectiveRelationalClustering, candidate_recall
    >>> model = CollectiveRelationalClustering().fit(["Anna Carter", "A. Carter", "Ms. Bloom"])
    >>> len(model.candidates_), candidate_recall(model.candidates_, [0, 0, 0])
    (1, 0.3333333333333333)
    """
    if isinstance(candidates, Integral):
        raise TypeError(
            f"candidates is the number of pairs only, {candidates:,}; candidates_ lists at most a million. Draw some "
            "of the records, and compare these."
        )
    if not {"left", "right"} <= set(getattr(getattr(candidates, "dtype", None), "names", None) or ()):
        raise TypeError(
            "candidates must be an array with the fields left and right, such as candidates_, and is the first "
            f"argument: candidate_recall(model.candidates_, labels_true); got a {type(candidates).__name__}."
        )
    code = np.unique(labels_true, return_inverse=True)[1]
    sizes = np.bincount(code).astype(float)
    n_true = float((sizes * (sizes - 1) / 2).sum())
    n_found = np.count_nonzero(code[candidates["left"]] == code[candidates["right"]])
    return float(n_found / n_true) if n_true else float("nan")
