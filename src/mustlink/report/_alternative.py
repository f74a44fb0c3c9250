"""What is shown of a clustering beside the splits that were known before, as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mustlink._information import share_explained, variation
from mustlink._spelling import count
from mustlink._types import Array, Indices
from mustlink.report._summary import Summary, printable, summarize

__all__ = ["AlternativeSummary", "CrossTable", "KnownAgreement", "summarize_alternative"]

# The most classes of a known split in a cross table; the smaller ones are counted together.
MAX_CLASSES = 15


class KnownAgreement(NamedTuple):
    """How much clusters tell of a known split, beside what plain k-means tells of it.

    Parameters
    ----------
    name : str
        The known split.
    nmi : float
        The mutual information with the known split as a part of the information in it: 0 is nothing, 1 all.
    vi : float
        The variation of information, in nats: 0 if both are the same.
    kmeans_nmi, kmeans_vi : float
        The same of plain k-means.

    Examples
    --------
    >>> from mustlink.report import KnownAgreement
    >>> KnownAgreement("region", 0.02, 2.1, 0.9, 0.3).words
    'tells 2% of region, plain k-means 90%'
    """

    name: str
    nmi: float
    vi: float
    kmeans_nmi: float
    kmeans_vi: float

    @property
    def words(self) -> str:
        """The comparison in a few words."""
        return f"tells {self.nmi:.0%} of {self.name}, plain k-means {self.kmeans_nmi:.0%}"


class CrossTable(NamedTuple):
    """The rows of each class of a known split in each cluster.

    Parameters
    ----------
    name : str
        The known split.
    classes : tuple of str
        Its classes; the last one may be several small ones together.
    clusters : tuple of str
        The clusters.
    counts : tuple of tuple of int
        The number of rows, one line for each class.

    Examples
    --------
    >>> from mustlink.report import CrossTable
    >>> CrossTable("sex", ("f", "m"), ("0", "1"), ((3, 4), (4, 3))).shares
    ((0.42857142857142855, 0.5714285714285714), (0.5714285714285714, 0.42857142857142855))
    """

    name: str
    classes: tuple[str, ...]
    clusters: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def shares(self) -> tuple[tuple[float, ...], ...]:
        """The counts as fractions of their class."""
        return tuple(tuple(number / max(sum(line), 1) for number in line) for line in self.counts)


@dataclass(frozen=True)
class AlternativeSummary:
    """A clustering, and how it relates to the splits that were known before it.

    Parameters
    ----------
    clusters : Summary
        What is shown of the clustering itself.
    known : tuple of KnownAgreement
        How much it tells of each known split.
    tables : tuple of CrossTable
        The classes of each known split in the clusters.
    explained, kmeans_explained : float
        The fraction of the variance of the table between its clusters, and between those of plain k-means.
    known_explained : tuple of float
        The same for each known split.

    Examples
    --------
    See :func:`summarize_alternative`.
    """

    clusters: Summary
    known: tuple[KnownAgreement, ...]
    tables: tuple[CrossTable, ...]
    explained: float
    kmeans_explained: float
    known_explained: tuple[float, ...]

    @property
    def headline(self) -> str:
        """The result in a sentence or two."""
        told = self.known[0].words if len(self.known) == 1 else self._told_of_each
        rows = f"{count(self.clusters.n_rows, 'row')} in {count(len(self.clusters.clusters), 'new cluster')}"
        return f"{rows}. The new split {told}."

    @property
    def _told_of_each(self) -> str:
        """How much is told of several known splits, in a few words."""
        parts = [f"{one.nmi:.0%} of {one.name} (plain k-means {one.kmeans_nmi:.0%})" for one in self.known]
        return f"tells {' and '.join(parts) or 'nothing'}"

    @property
    def fit(self) -> str:
        """How well the clusters describe the rows, in a sentence."""
        known = ", ".join(
            f"{agreement.name} {share:.0%}" for agreement, share in zip(self.known, self.known_explained, strict=True)
        )
        return (
            f"Of the variance of the table, the new split explains {self.explained:.0%}, plain k-means "
            f"{self.kmeans_explained:.0%}, and the known split{'s' if len(self.known) > 1 else ''} {known}."
        )


def summarize_alternative(
    X: Any, labels: Any, known: Any, kmeans_labels: Any, *, known_names: Sequence[str] = (), **shown: Any
) -> AlternativeSummary:
    """Summarize a clustering beside the splits that were known before it.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        The rows as they were clustered.
    labels : array-like of int, shape (n_rows,)
        The cluster of each row; -1 is no cluster.
    known : sequence of array-like of shape (n_rows,)
        The class of each row in each known split, numbers or texts.
    kmeans_labels : array-like of int, shape (n_rows,)
        The clusters of plain k-means, to compare with.
    known_names : sequence of str, default=()
        What the known splits are called.
    **shown : object
        The options of :func:`summarize`, such as `features`, `row_names` and `notices`.

    Returns
    -------
    AlternativeSummary

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink.report import summarize_alternative
    >>> X = np.array([[0, 0], [0, 5], [9, 0], [9, 5.0]])
    >>> found = summarize_alternative(X, [0, 1, 0, 1], [["l", "l", "r", "r"]], [0, 0, 1, 1], known_names=["side"])
    >>> print(found.headline)
    4 rows in 2 new clusters. The new split tells 0% of side, plain k-means 100%.
    >>> found.tables[0].counts
    ((1, 1), (1, 1))
    """
    X, labels, plain = np.asarray(X), np.asarray(labels), _codes(kmeans_labels)
    classes = [[str(cell) for cell in split] for split in known]
    names = [printable(str(name)) for name in known_names] or [f"known {place}" for place in range(len(classes))]
    found = _codes(labels)
    agreements, tables = [], []
    for name, split in zip(names, classes, strict=True):
        codes = _codes(split)
        told = [(share_explained(codes, other), variation(codes, other)) for other in (found, plain)]
        agreements.append(KnownAgreement(name, *told[0], *told[1]))
        tables.append(_cross(name, split, labels))
    return AlternativeSummary(
        clusters=summarize(X, labels, **shown),
        known=tuple(agreements),
        tables=tuple(tables),
        explained=_explained(X, found),
        kmeans_explained=_explained(X, plain),
        known_explained=tuple(_explained(X, _codes(split)) for split in classes),
    )


def _codes(labels: Any) -> Indices:
    """Number the classes of rows from 0."""
    return np.unique(np.asarray(labels), return_inverse=True)[1]


def _explained(X: Array, codes: Indices) -> float:
    """Return the fraction of the variance that is between classes."""
    centered = X - X.mean(axis=0)
    total = float((centered**2).sum())
    sums = np.zeros((int(codes.max()) + 1, X.shape[1]))
    np.add.at(sums, codes, centered)
    between = float((sums**2 / np.bincount(codes)[:, None]).sum())
    return between / total if total else 0.0


def _cross(name: str, split: Sequence[str], labels: Array) -> CrossTable:
    """Count the rows of the classes of a split in the clusters."""
    sizes = Counter(split)
    largest = sorted(sizes, key=lambda each: (-sizes[each], each))
    n_shown = len(sizes) if len(sizes) <= MAX_CLASSES else MAX_CLASSES - 1
    # Numbers in their order, then names in theirs.
    shown = sorted(largest[:n_shown], key=lambda each: (0, int(each), "") if each.isdecimal() else (1, 0, each))
    others = set(largest[n_shown:])
    numbers = np.unique(labels).tolist()
    pairs = Counter(zip(split, labels.tolist(), strict=True))
    counts = [tuple(pairs[each, number] for number in numbers) for each in shown]
    classes = [printable(each) for each in shown]
    if others:
        counts.append(tuple(sum(pairs[each, number] for each in others) for number in numbers))
        classes.append(count(len(others), "other"))
    called = tuple("none" if number < 0 else str(number) for number in numbers)
    return CrossTable(name, tuple(classes), called, tuple(counts))
