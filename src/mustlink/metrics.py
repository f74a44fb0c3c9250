"""Agreement of a clustering with true classes and with constraints, balance of its sizes, and co-clusterings.

All scores are computed from the sparse contingency table of classes and clusters, never from an array of all pairs of
rows. With ``constraints=``, a score uses only the rows that appear in no constraint: it then measures what was
learned beyond the constraints themselves.

A predicted label of -1 marks noise. A noise row is apart from all others, other noise rows included, and is scored as
a cluster of its own. A row whose true class is unknown (-1, None, NaN or empty text, see
:func:`mustlink.constraints.known_rows`) is not scored.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, rand_score
from sklearn.metrics.cluster import pair_confusion_matrix
from sklearn.preprocessing import normalize
from sklearn.utils import check_array

from mustlink._coclustering_measures import (
    coclustering_information,
    comparison_coefficient,
    goodman_kruskal_tau,
    information_loss,
    jump_number,
)
from mustlink._information import joint_entropies, share_explained, variation
from mustlink._types import Array, Indices
from mustlink.base import as_constraints
from mustlink.constraints import AlignedConstraints, Constraints, known_rows
from mustlink.errors import ConstraintError

__all__ = [
    "adjusted_rand",
    "coclustering_information",
    "comparison_coefficient",
    "conditional_entropy",
    "f_measure",
    "goodman_kruskal_tau",
    "homogeneity",
    "information_loss",
    "jump_number",
    "mean_cosine",
    "normalized_mutual_info",
    "pairwise_f1",
    "pairwise_precision",
    "pairwise_recall",
    "purity",
    "rand",
    "relative_min_size",
    "scores",
    "size_deviation",
    "variation_of_information",
    "violation_rate",
]

Links: TypeAlias = Constraints | AlignedConstraints | None


def normalized_mutual_info(labels_true: ArrayLike, labels_pred: ArrayLike, *, constraints: Links = None) -> float:
    """Mutual information of classes and clusters, divided by the arithmetic mean of their entropies.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The true class and the cluster of each row; a noise row (-1) is a cluster of its own.
    constraints : Constraints, default=None
        If given, only the rows that appear in no constraint are scored.

    Returns
    -------
    float
        Between 0 and 1; 1 for the same partition. ``nan`` if the constraints leave no row.

    Examples
    --------
    >>> from mustlink.metrics import normalized_mutual_info
    >>> normalized_mutual_info(["a", "a", "b", "b"], [1, 1, 0, 0])
    1.0
    >>> normalized_mutual_info([0, 0, 1, 1], [0, 1, 0, 1])
    0.0
    """
    return _score(_nmi, labels_true, labels_pred, constraints)


def pairwise_precision(labels_true: ArrayLike, labels_pred: ArrayLike, *, constraints: Links = None) -> float:
    """Fraction of the pairs in one cluster that share a class.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The true class and the cluster of each row; a noise row (-1) shares its cluster with no other.
    constraints : Constraints, default=None
        If given, only the rows that appear in no constraint are scored.

    Returns
    -------
    float
        Between 0 and 1; 0 if no pair shares a cluster. ``nan`` if the constraints leave no row.

    Examples
    --------
    >>> from mustlink.metrics import pairwise_precision
    >>> pairwise_precision([0, 0, 0, 1], [0, 0, 1, 1])
    0.5
    """
    return _score(_precision, labels_true, labels_pred, constraints)


def pairwise_recall(labels_true: ArrayLike, labels_pred: ArrayLike, *, constraints: Links = None) -> float:
    """Fraction of the pairs in one class that share a cluster.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The true class and the cluster of each row; a noise row (-1) shares its cluster with no other.
    constraints : Constraints, default=None
        If given, only the rows that appear in no constraint are scored.

    Returns
    -------
    float
        Between 0 and 1; 0 if no pair shares a class. ``nan`` if the constraints leave no row.

    Examples
    --------
    >>> from mustlink.metrics import pairwise_recall
    >>> pairwise_recall([0, 0, 1, 1], [0, 0, 1, 2])
    0.5
    """
    return _score(_recall, labels_true, labels_pred, constraints)


def pairwise_f1(labels_true: ArrayLike, labels_pred: ArrayLike, *, constraints: Links = None) -> float:
    """Harmonic mean of pairwise precision and pairwise recall.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The true class and the cluster of each row; a noise row (-1) shares its cluster with no other.
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


def adjusted_rand(labels_true: ArrayLike, labels_pred: ArrayLike, *, constraints: Links = None) -> float:
    """Rand index adjusted for chance.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The true class and the cluster of each row; a noise row (-1) is a cluster of its own.
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


def rand(labels_true: ArrayLike, labels_pred: ArrayLike, *, constraints: Links = None) -> float:
    """Rand index: fraction of the pairs on which classes and clusters agree.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The true class and the cluster of each row; a noise row (-1) is a cluster of its own.
    constraints : Constraints, default=None
        If given, only the rows that appear in no constraint are scored.

    Returns
    -------
    float
        Between 0 and 1; it is not adjusted for chance, see :func:`adjusted_rand`. ``nan`` if the constraints leave no
        row.

    Examples
    --------
    >>> from mustlink.metrics import rand
    >>> round(rand([0, 0, 1, 1], [0, 0, 1, 2]), 3)
    0.833
    """
    return _score(_rand, labels_true, labels_pred, constraints)


def f_measure(labels_true: ArrayLike, labels_pred: ArrayLike, *, constraints: Links = None) -> float:
    """F1 score of each class with the cluster that fits it best, weighted by the sizes of the classes.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The true class and the cluster of each row; a noise row (-1) is a cluster of its own.
    constraints : Constraints, default=None
        If given, only the rows that appear in no constraint are scored.

    Returns
    -------
    float
        Above 0 and at most 1; 1 for the same partition. ``nan`` if the constraints leave no row.

    Notes
    -----
    A class of n rows and a cluster of m rows with a rows in common have the F1 score 2a / (m + n). Several classes may
    choose the same cluster, so that one cluster of all rows scores well: 2/3 for two classes of equal size, 1/2 for
    three, 1/3 for five. Compare a score with this baseline, ``f_measure(y, np.zeros(len(y)))``.

    References
    ----------
    Lange, Law, Jain, Buhmann: Clustering with constraints: a mean-field approximation perspective (2009).

    Examples
    --------
    >>> from mustlink.metrics import f_measure
    >>> f_measure([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> round(f_measure([0, 0, 1, 1], [0, 0, 0, 0]), 3)
    0.667
    """
    return _score(_best_f1, labels_true, labels_pred, constraints)


def purity(labels_true: ArrayLike, labels_pred: ArrayLike, *, constraints: Links = None) -> float:
    """Fraction of the rows that are of the most frequent class of their cluster.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The true class and the cluster of each row; a noise row (-1) is a cluster of its own.
    constraints : Constraints, default=None
        If given, only the rows that appear in no constraint are scored.

    Returns
    -------
    float
        At most 1. It rises with the number of clusters. ``nan`` if the constraints leave no row.

    Examples
    --------
    >>> from mustlink.metrics import purity
    >>> purity([0, 0, 1, 1], [0, 0, 0, 1])
    0.75
    """
    return _score(_purity, labels_true, labels_pred, constraints)


def homogeneity(labels_true: ArrayLike, labels_pred: ArrayLike, *, constraints: Links = None) -> float:
    """Mutual information of classes and clusters, divided by the entropy of the classes alone.

    It is also called asymmetric NMI: how much of the classes the clusters tell.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The true class and the cluster of each row; a noise row (-1) is a cluster of its own.
    constraints : Constraints, default=None
        If given, only the rows that appear in no constraint are scored.

    Returns
    -------
    float
        Between 0 and 1; 0 also if there is only one class. ``nan`` if the constraints leave no row.

    Examples
    --------
    >>> from mustlink.metrics import homogeneity
    >>> round(homogeneity([0, 0, 1, 1], [0, 1, 2, 2]), 3)
    1.0
    >>> round(homogeneity([0, 1, 2, 2], [0, 0, 1, 1]), 3)
    0.667
    """
    return _score(share_explained, labels_true, labels_pred, constraints)


def conditional_entropy(labels_true: ArrayLike, labels_pred: ArrayLike, *, constraints: Links = None) -> float:
    """Entropy of the classes that is left when the clusters are known, H(class | cluster).

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The true class and the cluster of each row; a noise row (-1) is a cluster of its own.
    constraints : Constraints, default=None
        If given, only the rows that appear in no constraint are scored.

    Returns
    -------
    float
        In nats; 0 if every cluster has one class. ``nan`` if the constraints leave no row.

    Examples
    --------
    >>> from mustlink.metrics import conditional_entropy
    >>> round(conditional_entropy([0, 0, 1, 1], [0, 1, 0, 1]), 4)
    0.6931
    """
    return _score(_conditional_entropy, labels_true, labels_pred, constraints)


def variation_of_information(labels_true: ArrayLike, labels_pred: ArrayLike, *, constraints: Links = None) -> float:
    """Variation of information, a distance of two clusterings: H(class | cluster) + H(cluster | class).

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The true class and the cluster of each row; a noise row (-1) is a cluster of its own.
    constraints : Constraints, default=None
        If given, only the rows that appear in no constraint are scored.

    Returns
    -------
    float
        In nats; 0 for the same partition, at most the sum of both entropies, which independent clusterings have.
        ``nan`` if the constraints leave no row.

    References
    ----------
    Meila: Comparing clusterings by the variation of information (2003).

    Examples
    --------
    >>> from mustlink.metrics import variation_of_information
    >>> variation_of_information([0, 0, 1, 1], [1, 1, 0, 0])
    0.0
    >>> round(variation_of_information([0, 0, 1, 1], [0, 1, 0, 1]), 4)
    1.3863
    """
    return _score(variation, labels_true, labels_pred, constraints)


def violation_rate(labels: ArrayLike, constraints: Links) -> float:
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
    if constraints is None:
        raise TypeError("violation_rate needs constraints; got None.")
    return as_constraints(constraints, np.size(labels)).violation_rate(labels)


def scores(labels_true: ArrayLike, labels_pred: ArrayLike, constraints: Links = None) -> dict[str, float]:
    """Compute all scores of this module.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The true class and the cluster of each row; a noise row (-1) is a cluster of its own.
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
    rows, codes = _paired_codes(labels_true, labels_pred)
    functions = {
        "nmi": _nmi,
        "ari": _ari,
        "pairwise_precision": _precision,
        "pairwise_recall": _recall,
        "pairwise_f1": _f1,
    }
    result = {name: score(*codes) for name, score in functions.items()}
    if constraints is not None:
        free = _unconstrained(rows, codes, constraints, len(np.asarray(labels_true)))
        result |= {f"{name}_unconstrained": _or_nan(score, free) for name, score in functions.items()}
        result["violation_rate"] = violation_rate(labels_pred, constraints)
    return result


def size_deviation(labels: ArrayLike, *, n_clusters: int | None = None) -> float:
    """Standard deviation of cluster sizes.

    It is called SDCS in the literature on balanced clustering; the mean is over the clusters, not over one less.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        The cluster of each row, numbered from 0; rows of no cluster (-1) are left out.
    n_clusters : int, default=None
        The number of clusters, of which some may be empty; None is the largest label plus one.

    Returns
    -------
    float
        0 if all clusters have the same size.

    Examples
    --------
    >>> from mustlink.metrics import size_deviation
    >>> size_deviation([0, 0, 0, 1])
    1.0
    """
    return float(_sizes(labels, n_clusters).std())


def relative_min_size(labels: ArrayLike, *, n_clusters: int | None = None) -> float:
    """Size of the smallest cluster divided by the mean size.

    It is called RME in the literature on balanced clustering, the ratio of the minimum to the expected size, which need
    not be whole.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        The cluster of each row, numbered from 0; rows of no cluster (-1) are left out.
    n_clusters : int, default=None
        The number of clusters, of which some may be empty; None is the largest label plus one.

    Returns
    -------
    float
        1 if all clusters have the same size, 0 if one is empty.

    Examples
    --------
    >>> from mustlink.metrics import relative_min_size
    >>> relative_min_size([0, 0, 0, 1])
    0.5
    >>> relative_min_size([0, 0, 0, 1], n_clusters=3)
    0.0
    """
    sizes = _sizes(labels, n_clusters)
    return float(sizes.min() / sizes.mean())


def mean_cosine(X: Any, labels: ArrayLike) -> float:
    """Mean cosine of the rows and the directions of their clusters.

    It is called SOF, the objective of spherical k-means; the direction of a cluster is that of the sum of its rows at
    unit length.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    labels : array-like of shape (n_samples,)
        The cluster of each row, numbered from 0; rows of no cluster (-1) and rows of zeros are left out.

    Returns
    -------
    float
        At most 1, which means that all rows of a cluster have the same direction.

    Examples
    --------
    >>> from mustlink.metrics import mean_cosine
    >>> mean_cosine([[2.0, 0.0], [5.0, 0.0], [0.0, 1.0]], [0, 0, 1])
    1.0
    """
    X = check_array(X, accept_sparse="csr", dtype=np.float64)
    codes = _cluster_numbers(labels)
    if len(codes) != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows and labels has {len(codes)} entries; both need one per row.")
    X = normalize(X)
    used = np.flatnonzero((codes >= 0) & (np.asarray(abs(X).sum(axis=1)).ravel() > 0))
    if not len(used):
        raise ValueError("No row has both a cluster and a direction; a mean needs at least one.")
    ones = np.ones(len(used))
    sums = sparse.csr_array((ones, (codes[used], used)), shape=(codes.max() + 1, X.shape[0])) @ X
    # The cosines of a cluster's rows add up to the length of their sum.
    lengths = np.sqrt(np.asarray(sums.multiply(sums).sum(axis=1) if sparse.issparse(sums) else (sums**2).sum(axis=1)))
    return float(lengths.sum() / len(used))


def _sizes(labels: ArrayLike, n_clusters: int | None) -> Indices:
    """Return the size of every cluster."""
    codes = _cluster_numbers(labels)
    codes = codes[codes >= 0]
    if not len(codes):
        raise ValueError("No row is in a cluster; sizes need at least one.")
    if n_clusters is not None and n_clusters <= codes.max():
        raise ValueError(f"labels has the cluster {codes.max()}, and {n_clusters} clusters are numbered from 0.")
    return np.bincount(codes, minlength=n_clusters or 0)


def _cluster_numbers(labels: ArrayLike) -> Indices:
    """Return labels as cluster numbers, -1 for none."""
    array = _check_dimension(labels, "pred")
    if array.dtype.kind not in "iu" or array.min(initial=0) < -1:
        raise ValueError("labels must be cluster numbers: integers from 0 on, and -1 for no cluster.")
    return array.astype(np.intp)


def _score(
    score: Callable[[Indices, Indices], float], labels_true: ArrayLike, labels_pred: ArrayLike, constraints: Links
) -> float:
    """Apply a score to checked labels, on the unconstrained rows if constraints are given."""
    rows, codes = _paired_codes(labels_true, labels_pred)
    if constraints is None:
        return score(*codes)
    return _or_nan(score, _unconstrained(rows, codes, constraints, len(np.asarray(labels_true))))


def _or_nan(score: Callable[[Indices, Indices], float], codes: tuple[Indices, Indices]) -> float:
    """Apply a score; ``nan`` if there is no row to score."""
    return score(*codes) if len(codes[0]) else math.nan


def _paired_codes(labels_true: ArrayLike, labels_pred: ArrayLike) -> tuple[Indices, tuple[Indices, Indices]]:
    """Validate both labelings; return the rows of known class, and the numbers of their classes and clusters from 0."""
    truth, found = (_check_dimension(labels, name) for labels, name in ((labels_true, "true"), (labels_pred, "pred")))
    if len(truth) != len(found):
        raise ValueError(
            f"labels_true has {len(truth)} entries and labels_pred has {len(found)}; both need one entry per row."
        )
    if len(truth) == 0:
        raise ValueError("labels_true and labels_pred are empty; a score needs at least one row.")
    try:
        rows, class_codes, _ = known_rows(labels_true)
    except ConstraintError:
        raise ValueError("labels_true mixes types of labels that cannot be compared; use one type.") from None
    if not len(rows):
        raise ValueError("labels_true names no class; a score needs at least one row of known class.")
    return rows, (class_codes, _cluster_codes(found)[rows])


def _check_dimension(labels: ArrayLike, name: str) -> Array:
    """Return the labels as an array of one dimension."""
    array = np.asarray(labels)
    if array.ndim != 1:
        raise ValueError(f"labels_{name} has shape {array.shape}; expected one dimension with one label per row.")
    return array


def _cluster_codes(labels: Array) -> Indices:
    """Replace each label by its rank among the distinct labels, and number each row of noise separately."""
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        row = int(np.flatnonzero(np.isnan(labels))[0])
        raise ValueError(f"labels_pred has no label (NaN) at row {row}; leave such rows out of both.")
    try:
        codes = np.unique(labels, return_inverse=True)[1].astype(np.intp, copy=False)
    except TypeError as error:
        raise ValueError(
            f"labels_pred mixes types of labels that cannot be compared ({error}); use one type."
        ) from error
    if labels.dtype.kind in "iuf":
        noise = np.flatnonzero(labels == -1)
        codes[noise] = len(codes) + np.arange(len(noise))
    return codes


def _unconstrained(
    rows: Indices, codes: tuple[Indices, Indices], constraints: Links, n_rows: int
) -> tuple[Indices, Indices]:
    """Keep the rows that appear in no constraint."""
    free = np.ones(n_rows, dtype=bool)
    free[as_constraints(constraints, n_rows).constrained_rows()] = False
    return codes[0][free[rows]], codes[1][free[rows]]


@contextmanager
def _many_clusters_allowed() -> Iterator[None]:
    """Silence a warning of scikit-learn 1.7, which takes labels with many distinct values for a regression target."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The number of unique classes is greater than 50%")
        yield


@_many_clusters_allowed()
def _nmi(classes: Indices, clusters: Indices) -> float:
    return float(normalized_mutual_info_score(classes, clusters))


@_many_clusters_allowed()
def _ari(classes: Indices, clusters: Indices) -> float:
    return float(adjusted_rand_score(classes, clusters))


@_many_clusters_allowed()
def _rand(classes: Indices, clusters: Indices) -> float:
    return float(rand_score(classes, clusters))


@_many_clusters_allowed()
def _pair_counts(classes: Indices, clusters: Indices) -> tuple[int, int, int]:
    """Count ordered pairs: in one class and cluster, in one class, in one cluster."""
    (_, cluster_only), (class_only, both) = pair_confusion_matrix(classes, clusters).tolist()
    return both, both + class_only, both + cluster_only


def _precision(classes: Indices, clusters: Indices) -> float:
    both, _, in_cluster = _pair_counts(classes, clusters)
    return both / in_cluster if in_cluster else 0.0


def _recall(classes: Indices, clusters: Indices) -> float:
    both, in_class, _ = _pair_counts(classes, clusters)
    return both / in_class if in_class else 0.0


def _f1(classes: Indices, clusters: Indices) -> float:
    """Pairwise F1, in the form that is defined even if precision or recall is not."""
    both, in_class, in_cluster = _pair_counts(classes, clusters)
    return 2 * both / (in_class + in_cluster) if in_class + in_cluster else 0.0


def _best_f1(classes: Indices, clusters: Indices) -> float:
    """F1 of every class and the cluster with the largest one, from the table of counts."""
    counts = sparse.coo_array((np.ones(len(classes)), (classes, clusters))).tocsr().tocoo()
    class_sizes, cluster_sizes = np.bincount(classes), np.bincount(clusters)
    best = np.zeros(len(class_sizes))
    np.maximum.at(best, counts.row, 2 * counts.data / (class_sizes[counts.row] + cluster_sizes[counts.col]))
    return float(class_sizes @ best / len(classes))


def _purity(classes: Indices, clusters: Indices) -> float:
    counts = sparse.coo_array((np.ones(len(classes)), (clusters, classes))).tocsr()
    return float(counts.max(axis=1).sum() / len(classes))


def _conditional_entropy(classes: Indices, clusters: Indices) -> float:
    _, of_clusters, both = joint_entropies(classes, clusters)
    return max(both - of_clusters, 0.0)
