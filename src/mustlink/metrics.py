"""Agreement of a clustering with true classes and with constraints.

All scores are computed from the sparse contingency table of classes and clusters, never from an array of all pairs of
rows. With ``constraints=``, a score uses only the rows that appear in no constraint: it then measures what was
learned beyond the constraints themselves.

A predicted label of -1 marks noise. A noise row is apart from all others, other noise rows included, and is scored as
a cluster of its own. A true label of -1 is a class like any other.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import pair_confusion_matrix

from mustlink._types import Indices
from mustlink.errors import ConstraintError

__all__ = [
    "adjusted_rand",
    "normalized_mutual_info",
    "pairwise_f1",
    "pairwise_precision",
    "pairwise_recall",
    "scores",
    "violation_rate",
]

_NOISE = -1


@runtime_checkable
class _Links(Protocol):
    """The methods of constraints that this module uses."""

    def constrained_rows(self) -> NDArray[np.int64]:
        """Rows that appear in some constraint."""

    def violation_rate(self, labels: ArrayLike) -> float:
        """Fraction of the constraints that the labels break."""


def normalized_mutual_info(labels_true: ArrayLike, labels_pred: ArrayLike, *, constraints: Any = None) -> float:
    """Mutual information of classes and clusters, divided by the mean of their two entropies.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The true class of each row.
    labels_pred : array-like of shape (n_samples,)
        The cluster of each row; a noise row (-1) is a cluster of its own.
    constraints : Constraints, default=None
        If given, only the rows that appear in no constraint are scored.

    Returns
    -------
    float
        Between 0 and 1; 1 for the same partition. ``nan`` if the constraints leave no row.

    Notes
    -----
    The mean is the arithmetic one. If both partitions have one cluster only, the score is 1, as in scikit-learn.

    Examples
    --------
    >>> from mustlink.metrics import normalized_mutual_info
    >>> normalized_mutual_info(["a", "a", "b", "b"], [1, 1, 0, 0])
    1.0
    >>> normalized_mutual_info([0, 0, 1, 1], [0, 1, 0, 1])
    0.0
    """
    return _score(_nmi, labels_true, labels_pred, constraints)


def pairwise_precision(labels_true: ArrayLike, labels_pred: ArrayLike, *, constraints: Any = None) -> float:
    """Fraction of the pairs in one cluster that share a class.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The true class of each row.
    labels_pred : array-like of shape (n_samples,)
        The cluster of each row; a noise row (-1) shares its cluster with no other.
    constraints : Constraints, default=None
        If given, only the rows that appear in no constraint are scored.

    Returns
    -------
    float
        Between 0 and 1. ``nan`` if the constraints leave no row.

    Notes
    -----
    If no pair shares a cluster, the ratio is undefined and 0 is returned, as by scikit-learn's
    ``fowlkes_mallows_score``.

    Examples
    --------
    >>> from mustlink.metrics import pairwise_precision
    >>> pairwise_precision([0, 0, 0, 1], [0, 0, 1, 1])
    0.5
    """
    return _score(_precision, labels_true, labels_pred, constraints)


def pairwise_recall(labels_true: ArrayLike, labels_pred: ArrayLike, *, constraints: Any = None) -> float:
    """Fraction of the pairs in one class that share a cluster.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The true class of each row.
    labels_pred : array-like of shape (n_samples,)
        The cluster of each row; a noise row (-1) shares its cluster with no other.
    constraints : Constraints, default=None
        If given, only the rows that appear in no constraint are scored.

    Returns
    -------
    float
        Between 0 and 1. ``nan`` if the constraints leave no row.

    Notes
    -----
    If no pair shares a class, the ratio is undefined and 0 is returned, as by scikit-learn's
    ``fowlkes_mallows_score``.

    Examples
    --------
    >>> from mustlink.metrics import pairwise_recall
    >>> pairwise_recall([0, 0, 1, 1], [0, 0, 1, 2])
    0.5
    """
    return _score(_recall, labels_true, labels_pred, constraints)


def pairwise_f1(labels_true: ArrayLike, labels_pred: ArrayLike, *, constraints: Any = None) -> float:
    """Harmonic mean of pairwise precision and pairwise recall.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The true class of each row.
    labels_pred : array-like of shape (n_samples,)
        The cluster of each row; a noise row (-1) shares its cluster with no other.
    constraints : Constraints, default=None
        If given, only the rows that appear in no constraint are scored.

    Returns
    -------
    float
        Between 0 and 1; 0 if no pair shares both class and cluster. ``nan`` if the constraints leave no row.

    Examples
    --------
    >>> from mustlink.metrics import pairwise_f1
    >>> round(pairwise_f1([0, 0, 1, 1], [0, 0, 1, 2]), 3)
    0.667

    On the rows in no constraint:

    >>> from mustlink import Constraints
    >>> links = Constraints(must_link=[(0, 1)])
    >>> pairwise_f1([0, 0, 1, 1], [0, 0, 1, 2], constraints=links)
    0.0
    """
    return _score(_f1, labels_true, labels_pred, constraints)


def adjusted_rand(labels_true: ArrayLike, labels_pred: ArrayLike, *, constraints: Any = None) -> float:
    """Rand index adjusted for chance.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The true class of each row.
    labels_pred : array-like of shape (n_samples,)
        The cluster of each row; a noise row (-1) is a cluster of its own.
    constraints : Constraints, default=None
        If given, only the rows that appear in no constraint are scored.

    Returns
    -------
    float
        At most 1, which means the same partition; about 0 for labels drawn at random. ``nan`` if the constraints
        leave no row.

    Examples
    --------
    >>> from mustlink.metrics import adjusted_rand
    >>> adjusted_rand([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> adjusted_rand([0, 0, 1, 1], [0, 1, 0, 1])
    -0.5
    """
    return _score(_ari, labels_true, labels_pred, constraints)


def violation_rate(labels: ArrayLike, constraints: Any) -> float:
    """Fraction of the constraints that the labels break.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        The cluster of each row; a noise row (-1) is apart from everything.
    constraints : Constraints
        The pairs to check.

    Returns
    -------
    float
        Between 0 and 1; 0 if there are no constraints.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> from mustlink.metrics import violation_rate
    >>> links = Constraints(must_link=[(0, 1)], cannot_link=[(1, 2)])
    >>> violation_rate([0, 0, 0], links)
    0.5
    """
    return float(_links(constraints).violation_rate(labels))


def scores(labels_true: ArrayLike, labels_pred: ArrayLike, constraints: Any = None) -> dict[str, float]:
    """Compute all scores of this module.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The true class of each row.
    labels_pred : array-like of shape (n_samples,)
        The cluster of each row; a noise row (-1) is a cluster of its own.
    constraints : Constraints, default=None
        If given, the violation rate is reported too, and each score a second time on the rows that appear in no
        constraint.

    Returns
    -------
    dict of str to float
        ``nmi``, ``ari``, ``pairwise_precision``, ``pairwise_recall`` and ``pairwise_f1``. With constraints also the
        same five with ``_unconstrained`` at the end of the name (``nan`` if no row is left), and
        ``violation_rate``.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> from mustlink.metrics import scores
    >>> links = Constraints(must_link=[(0, 1)], cannot_link=[(1, 2)])
    >>> result = scores([0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, 2], links)
    >>> result["nmi"], result["nmi_unconstrained"], result["violation_rate"]
    (1.0, 1.0, 0.0)
    """
    codes = _paired_codes(labels_true, labels_pred)
    result = {name: score(*codes) for name, score in _SCORES.items()}
    if constraints is not None:
        free = _unconstrained(codes, constraints)
        result |= {f"{name}_unconstrained": _or_nan(score, free) for name, score in _SCORES.items()}
        result["violation_rate"] = violation_rate(labels_pred, constraints)
    return result


def _score(
    score: Callable[[Indices, Indices], float], labels_true: ArrayLike, labels_pred: ArrayLike, constraints: Any
) -> float:
    """Apply a score to checked labels, on the unconstrained rows if constraints are given."""
    codes = _paired_codes(labels_true, labels_pred)
    if constraints is None:
        return score(*codes)
    return _or_nan(score, _unconstrained(codes, constraints))


def _or_nan(score: Callable[[Indices, Indices], float], codes: tuple[Indices, Indices]) -> float:
    """Apply a score; ``nan`` if there is no row to score."""
    return score(*codes) if len(codes[0]) else math.nan


def _paired_codes(labels_true: ArrayLike, labels_pred: ArrayLike) -> tuple[Indices, Indices]:
    """Validate both labelings and number their values from 0, each predicted noise row separately."""
    classes = _label_array(labels_true, "labels_true")
    clusters = _label_array(labels_pred, "labels_pred")
    if len(classes) != len(clusters):
        raise ValueError(
            f"labels_true has {len(classes)} entries and labels_pred has {len(clusters)}; both need one entry per row."
        )
    if len(classes) == 0:
        raise ValueError("labels_true and labels_pred are empty; a score needs at least one row.")
    class_codes = _numbered(classes, "labels_true")
    cluster_codes = _numbered(clusters, "labels_pred")
    noise = np.flatnonzero(clusters == _NOISE) if clusters.dtype.kind in "iuf" else np.empty(0, dtype=np.intp)
    cluster_codes[noise] = len(clusters) + np.arange(len(noise))
    return class_codes, cluster_codes


def _label_array(labels: ArrayLike, name: str) -> NDArray[Any]:
    """Turn labels into an array of one dimension."""
    array = np.asarray(labels)
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; expected one dimension with one label per row.")
    if array.dtype.kind == "f" and np.isnan(array).any():
        row = int(np.flatnonzero(np.isnan(array))[0])
        raise ValueError(f"{name} has no label (NaN) at row {row}; leave such rows out of both.")
    return array


def _numbered(labels: NDArray[Any], name: str) -> Indices:
    """Replace each label by its rank among the distinct labels."""
    try:
        return np.unique(labels, return_inverse=True)[1].astype(np.intp, copy=False)
    except TypeError as error:
        raise ValueError(f"{name} mixes types of labels that cannot be compared ({error}); use one type.") from error


def _links(constraints: Any) -> _Links:
    """Return the constraints, also from those aligned with rows."""
    if not isinstance(constraints, _Links):
        constraints = getattr(constraints, "constraints", constraints)
    if not isinstance(constraints, _Links):
        raise TypeError(
            f"constraints is of type {type(constraints).__name__}; expected mustlink.Constraints, "
            "for example Constraints(must_link=[(0, 1)])."
        )
    return constraints


def _unconstrained(codes: tuple[Indices, Indices], constraints: Any) -> tuple[Indices, Indices]:
    """Keep the rows that appear in no constraint."""
    n_samples = len(codes[0])
    rows = np.asarray(_links(constraints).constrained_rows(), dtype=np.int64)
    if len(rows) and rows.max() >= n_samples:
        raise ConstraintError(
            f"The constraints name row {rows.max()}, but there are labels for {n_samples} rows only "
            f"(rows 0 to {n_samples - 1})."
        )
    free = np.ones(n_samples, dtype=bool)
    free[rows] = False
    return codes[0][free], codes[1][free]


@contextmanager
def _many_clusters_allowed() -> Iterator[None]:
    """Silence a warning of scikit-learn 1.7, which takes labels with many distinct values for a regression target."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The number of unique classes is greater than 50%")
        yield


def _nmi(classes: Indices, clusters: Indices) -> float:
    """Normalized mutual information with the arithmetic mean."""
    with _many_clusters_allowed():
        return float(normalized_mutual_info_score(classes, clusters, average_method="arithmetic"))


def _ari(classes: Indices, clusters: Indices) -> float:
    """Adjusted Rand index."""
    with _many_clusters_allowed():
        return float(adjusted_rand_score(classes, clusters))


def _pair_counts(classes: Indices, clusters: Indices) -> tuple[int, int, int]:
    """Count ordered pairs: in one class and cluster, in one class only, in one cluster only."""
    with _many_clusters_allowed():
        table = pair_confusion_matrix(classes, clusters)
    return int(table[1, 1]), int(table[1, 0]), int(table[0, 1])


def _ratio(part: int, whole: int) -> float:
    """Divide, with 0 for an undefined ratio."""
    return part / whole if whole else 0.0


def _precision(classes: Indices, clusters: Indices) -> float:
    """Pairwise precision."""
    both, _, cluster_only = _pair_counts(classes, clusters)
    return _ratio(both, both + cluster_only)


def _recall(classes: Indices, clusters: Indices) -> float:
    """Pairwise recall."""
    both, class_only, _ = _pair_counts(classes, clusters)
    return _ratio(both, both + class_only)


def _f1(classes: Indices, clusters: Indices) -> float:
    """Pairwise F1, in the form that is defined even if precision or recall is not."""
    both, class_only, cluster_only = _pair_counts(classes, clusters)
    return _ratio(2 * both, 2 * both + class_only + cluster_only)


_SCORES: dict[str, Callable[[Indices, Indices], float]] = {
    "nmi": _nmi,
    "ari": _ari,
    "pairwise_precision": _precision,
    "pairwise_recall": _recall,
    "pairwise_f1": _f1,
}
