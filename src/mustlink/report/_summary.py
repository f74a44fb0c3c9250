"""What is shown of a clustering, as plain data; the terminal and the page both draw from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from mustlink.base import as_constraints
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.report._suspects import SuspectLink, Suspicion, name_suspects
from mustlink.tables import Feature

__all__ = ["BrokenLink", "ClusterSummary", "RowNames", "Summary", "Trait", "summarise"]

NOISE = -1
_MOST_TRAITS = 3
_SMALLEST_TRAIT = 0.3
_MOST_BROKEN_LINKS = 200
_MOST_CONFLICTS = 50
_CHUNK_CELLS = 2**22
_LONGEST_NAME = 60


@dataclass(frozen=True)
class Trait:
    """One thing that sets a cluster apart.

    Parameters
    ----------
    feature : str
        The column, or the column and the category.
    difference : float
        How far the mean of the cluster is from the mean of all rows, in standard deviations of all rows.
    inside, overall : float
        The two means in the units of the table; shares when the feature is a category.
    is_category : bool
        Whether the feature stands for a category.

    Examples
    --------
    >>> from mustlink.report import Trait
    >>> print(Trait("basket_eur", 1.31, 61.2, 40.1, False))
    basket_eur high (+1.3 sd)
    >>> print(Trait("department = garden", 1.2, 0.86, 0.3, True))
    department = garden 86% (30% overall)
    """

    feature: str
    difference: float
    inside: float
    overall: float
    is_category: bool

    def __str__(self) -> str:
        if self.is_category:
            return f"{self.feature} {self.inside:.0%} ({self.overall:.0%} overall)"
        return f"{self.feature} {'high' if self.difference > 0 else 'low'} ({self.difference:+.1f} sd)"


@dataclass(frozen=True)
class ClusterSummary:
    """One cluster.

    Parameters
    ----------
    label : int
        Its number among the labels.
    size : int
        How many rows it has.
    share : float
        Which share of all rows that is.
    nearest_row : int
        The row nearest to the mean of the cluster.
    nearest_name : str
        What that row is called.
    traits : tuple of Trait
        What sets the cluster apart, the strongest first; may be empty.
    known : tuple of (str, int)
        The known labels of its rows and how often each occurs, the most frequent first.

    Examples
    --------
    >>> from mustlink.report import summarise
    >>> first, second = summarise([[0.0], [1.0], [1.1], [9.0]], [0, 0, 0, 1], row_names=list("abcd")).clusters
    >>> first.size, first.nearest_name, second.share
    (3, 'b', 0.25)
    """

    label: int
    size: int
    share: float
    nearest_row: int
    nearest_name: str
    traits: tuple[Trait, ...]
    known: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class BrokenLink:
    """A link that the clustering does not keep.

    Parameters
    ----------
    kind : {'must', 'cannot'}
        What was asked for.
    rows : tuple of (int, int)
        The two rows.
    names : tuple of (str, str)
        What they are called.
    clusters : tuple of (int, int)
        The clusters they are in.

    Examples
    --------
    >>> from mustlink.report import BrokenLink
    >>> print(BrokenLink("must", (0, 7), ("ann", "bob"), (1, 2)))
    ann and bob must be together, and are in clusters 1 and 2
    """

    kind: Literal["must", "cannot"]
    rows: tuple[int, int]
    names: tuple[str, str]
    clusters: tuple[int, int]

    def __str__(self) -> str:
        first, second = self.names
        if self.kind == "cannot":
            return f"{first} and {second} cannot be together, and are both in cluster {self.clusters[0]}"
        places = [f"cluster {label}" if label != NOISE else "no cluster" for label in self.clusters]
        if NOISE not in self.clusters:
            return (
                f"{first} and {second} must be together, and are in clusters {self.clusters[0]} and {self.clusters[1]}"
            )
        return f"{first} and {second} must be together, and are in {places[0]} and in {places[1]}"


@dataclass(frozen=True)
class Summary:
    """A clustering as it is shown.

    Parameters
    ----------
    n_rows, n_features : int
        The size of the table.
    n_noise : int
        How many rows are in no cluster.
    clusters : tuple of ClusterSummary
        In the order of their labels.
    n_must, n_must_kept, n_cannot, n_cannot_kept : int
        How many links there are of each kind, and how many of them the clustering keeps.
    broken : tuple of BrokenLink
        The broken links, at most 200 of them.
    n_conflicts : int
        How many cannot-links the must-links contradict.
    conflicts : tuple of str
        Them as sentences with the chain that causes each, at most 50.
    n_known : int
        How many rows had a known label.
    known_kept : float
        Which share of the pairs of such rows is together or apart as their labels say; NaN without pairs.
    notices : tuple of str
        What else the reader should know.
    n_suspects : int
        How many links look wrong.
    suspects : tuple of SuspectLink
        Them, worst first, at most 50.
    objective : tuple of float
        What the clusterer minimised, after each of its rounds.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.report import summarise
    >>> X = np.array([[0.0], [0.2], [5.0], [5.2]])
    >>> summary = summarise(X, [0, 0, 1, 1], Constraints(must_link=[(0, 1), (1, 2)]))
    >>> summary.n_links, summary.n_kept, str(summary.broken[0])
    (2, 1, '1 and 2 must be together, and are in clusters 0 and 1')
    """

    n_rows: int
    n_features: int
    n_noise: int
    clusters: tuple[ClusterSummary, ...]
    n_must: int
    n_must_kept: int
    n_cannot: int
    n_cannot_kept: int
    broken: tuple[BrokenLink, ...]
    n_conflicts: int
    conflicts: tuple[str, ...]
    n_known: int
    known_kept: float
    notices: tuple[str, ...] = ()
    n_suspects: int = 0
    suspects: tuple[SuspectLink, ...] = ()
    objective: tuple[float, ...] = ()

    @property
    def n_links(self) -> int:
        """How many links there are."""
        return self.n_must + self.n_cannot

    @property
    def n_kept(self) -> int:
        """How many of them the clustering keeps."""
        return self.n_must_kept + self.n_cannot_kept

    @property
    def n_broken(self) -> int:
        """How many of them it breaks."""
        return self.n_links - self.n_kept


def summarise(
    X: Any,
    labels: Any,
    constraints: Constraints | AlignedConstraints | None = None,
    *,
    features: Sequence[Feature | str] | None = None,
    row_names: Sequence[str] | None = None,
    known_labels: Sequence[str] | None = None,
    notices: Sequence[str] = (),
    suspects: Sequence[Suspicion] = (),
    objective: Sequence[float] = (),
) -> Summary:
    """Gather what is worth showing of a clustering.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_features)
        The rows as they were clustered.
    labels : array-like of int, shape (n_rows,)
        The cluster of each row; -1 is no cluster.
    constraints : Constraints, AlignedConstraints or None, default=None
        The links that were given.
    features : sequence of Feature or str, default=None
        What the columns of `X` are; x0, x1, ... by default.
    row_names : sequence of str, default=None
        What the rows are called; their numbers by default.
    known_labels : sequence of str, default=None
        Labels known beforehand, an empty text where there is none.
    notices : sequence of str, default=()
        Sentences to show with the rest.
    suspects : sequence, default=()
        Links that look wrong, worst first, such as ``suspects_`` of a clusterer.
    objective : sequence of float, default=()
        What the clusterer minimised, after each of its rounds, such as ``objective_``.

    Returns
    -------
    Summary

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink.report import summarise
    >>> X = np.array([[0.0, 1.0], [0.2, 1.1], [5.0, 1.0], [5.2, 1.1]])
    >>> for cluster in summarise(X, [0, 0, 1, 1], features=["age", "height"]).clusters:
    ...     print(cluster.label, cluster.size, *cluster.traits)
    0 2 age low (-1.0 sd)
    1 2 age high (+1.0 sd)
    """
    X = X.tocsr() if sparse.issparse(X) else np.asarray(X)
    labels = np.asarray(labels)
    if X.ndim != 2 or labels.shape != (X.shape[0],):
        raise ValueError(
            f"One label per row is expected: the table has the shape {X.shape}, the labels {labels.shape}."
        )
    for what, given in (("row names", row_names), ("known labels", known_labels)):
        if given is not None and len(given) != X.shape[0]:
            raise ValueError(
                f"One per row is expected: the table has {X.shape[0]} rows, and there are {len(given)} {what}."
            )
    constraints = as_constraints(constraints, X.shape[0])
    kept = constraints.satisfied(labels)
    must_kept, cannot_kept = np.split(kept, [len(constraints.must_link)])
    conflicts = constraints.conflicts()
    namer = RowNames(row_names)
    return Summary(
        n_rows=X.shape[0],
        n_features=X.shape[1],
        n_noise=int(np.count_nonzero(labels == NOISE)),
        clusters=_cluster_summaries(X, labels, named_features(features, X.shape[1]), namer, known_labels),
        n_must=must_kept.size,
        n_must_kept=int(must_kept.sum()),
        n_cannot=cannot_kept.size,
        n_cannot_kept=int(cannot_kept.sum()),
        broken=_broken_links(constraints, kept, labels, namer),
        n_conflicts=len(conflicts),
        conflicts=tuple(conflicts[i].describe(namer) for i in range(min(len(conflicts), _MOST_CONFLICTS))),
        n_known=0 if known_labels is None else sum(map(bool, known_labels)),
        known_kept=_share_of_pairs_kept(labels, known_labels),
        notices=tuple(notices),
        n_suspects=len(suspects),
        suspects=name_suspects(suspects, namer),
        objective=tuple(float(value) for value in objective),
    )


class RowNames(Sequence[str]):
    """What the rows are called, made safe to print; without names, their numbers.

    Control characters are shown as escapes, so that a name cannot act on a terminal, and long names are cut.

    Parameters
    ----------
    names : sequence of str or None
        One name per row.

    Examples
    --------
    >>> from mustlink.report import RowNames
    >>> RowNames(["ann", "b\\x1b[2Job"])[1], RowNames(None)[7]
    ('b\\\\x1b[2Job', '7')
    """

    def __init__(self, names: Sequence[str] | None) -> None:
        self._names = names

    def __getitem__(self, row: Any) -> Any:
        return str(row) if self._names is None else printable(self._names[row])

    def __len__(self) -> int:
        return 0 if self._names is None else len(self._names)


def printable(name: str) -> str:
    """Show control characters as escapes and cut a long name, so that a name cannot act on the terminal."""
    shown = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in name[: _LONGEST_NAME + 1])
    return shown if len(shown) <= _LONGEST_NAME else shown[: _LONGEST_NAME - 1] + "\N{HORIZONTAL ELLIPSIS}"


def named_features(features: Sequence[Feature | str] | None, n_features: int) -> list[Feature]:
    """Make features of names, and names where there are none."""
    if features is None:
        return [Feature(f"x{place}") for place in range(n_features)]
    if len(features) != n_features:
        raise ValueError(f"The table has {n_features} columns, and {len(features)} features are named.")
    return [Feature(feature) if isinstance(feature, str) else feature for feature in features]


def _cluster_summaries(
    X: Any,
    labels: np.ndarray[Any, Any],
    features: list[Feature],
    names: RowNames,
    known_labels: Sequence[str] | None,
) -> tuple[ClusterSummary, ...]:
    """Summarise each cluster."""
    numbers = np.unique(labels[labels != NOISE])
    if not numbers.size:
        return ()
    place = np.searchsorted(numbers, labels)
    inside = labels != NOISE
    sizes = np.bincount(place[inside], minlength=numbers.size)
    centers = _cluster_means(X, np.where(inside, place, NOISE), sizes)
    nearest = _nearest_rows(X, np.where(inside, place, NOISE), centers)
    overall, spread = mean_and_spread(X)
    known = _known_counts(labels, known_labels)
    return tuple(
        ClusterSummary(
            label=int(number),
            size=int(sizes[cluster]),
            share=float(sizes[cluster] / X.shape[0]),
            nearest_row=int(nearest[cluster]),
            nearest_name=names[int(nearest[cluster])],
            traits=_traits(centers[cluster], overall, spread, features),
            known=tuple((printable(label), count) for label, count in known[int(number)].most_common()),
        )
        for cluster, number in enumerate(numbers)
    )


def _known_counts(labels: np.ndarray[Any, Any], known_labels: Sequence[str] | None) -> dict[int, Counter[str]]:
    """Count the known labels in each cluster."""
    counts: dict[int, Counter[str]] = {int(number): Counter() for number in np.unique(labels)}
    for cluster, known in zip(labels.tolist(), known_labels or (), strict=known_labels is not None):
        if known:
            counts[cluster][known] += 1
    return counts


def _cluster_means(X: Any, place: np.ndarray[Any, Any], sizes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Average the rows of each cluster, for dense and sparse tables alike."""
    rows = np.flatnonzero(place != NOISE)
    membership = sparse.csr_matrix(
        (np.ones(rows.size), (place[rows], rows)), shape=(sizes.size, X.shape[0]), dtype=np.float64
    )
    sums = membership @ X
    dense = sums.toarray() if sparse.issparse(sums) else np.asarray(sums)
    means: np.ndarray[Any, Any] = dense / sizes[:, np.newaxis]
    return means


def _nearest_rows(X: Any, place: np.ndarray[Any, Any], centers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Find for each cluster the row nearest to its mean, the first one where several are."""
    distance = np.empty(X.shape[0])
    chunk = max(1, _CHUNK_CELLS // X.shape[1])
    for start in range(0, X.shape[0], chunk):
        part = slice(start, start + chunk)
        # Rows of noise are measured against some centre and left aside below.
        distance[part] = _squared_distances(X[part], centers, place[part])
    order = np.lexsort((distance, place))
    first: np.ndarray[Any, Any] = order[np.searchsorted(place[order], np.arange(len(centers)))]
    return first


def _squared_distances(rows: Any, centers: np.ndarray[Any, Any], place: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Measure each row against the centre of its own cluster."""
    if not sparse.issparse(rows):
        squared: np.ndarray[Any, Any] = ((rows - centers[place]) ** 2).sum(axis=1)
        return squared
    products = np.asarray(rows @ centers.T)[np.arange(rows.shape[0]), place]
    lengths = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    squared = lengths - 2 * products + (centers**2).sum(axis=1)[place]
    return squared


def mean_and_spread(X: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Give mean and standard deviation of each column."""
    if not sparse.issparse(X):
        return X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64)
    mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    squares = np.asarray(X.multiply(X).mean(axis=0, dtype=np.float64)).ravel()
    return mean, np.sqrt(np.maximum(squares - mean**2, 0.0))


def _traits(
    center: np.ndarray[Any, Any],
    overall: np.ndarray[Any, Any],
    spread: np.ndarray[Any, Any],
    features: list[Feature],
) -> tuple[Trait, ...]:
    """Pick the columns in which a cluster differs most from all rows, each column of the table once.

    Of a category only a surplus is told: that a plan is rare in a cluster follows from another being frequent.
    """
    difference = np.divide(center - overall, spread, out=np.zeros_like(center), where=spread > 0)
    traits: list[Trait] = []
    told: set[str] = set()
    for place in np.argsort(-np.abs(difference), kind="stable").tolist():
        feature = features[place]
        is_category = feature.category is not None
        if abs(difference[place]) < _SMALLEST_TRAIT or len(traits) == _MOST_TRAITS:
            break
        if feature.column in told or (is_category and difference[place] < 0):
            continue
        told.add(feature.column)
        inside, everywhere = (float(mean) * feature.scale + feature.center for mean in (center[place], overall[place]))
        traits.append(Trait(printable(feature.name), float(difference[place]), inside, everywhere, is_category))
    return tuple(traits)


def _broken_links(
    constraints: Constraints, kept: np.ndarray[Any, Any], labels: np.ndarray[Any, Any], names: RowNames
) -> tuple[BrokenLink, ...]:
    """Name the broken links, as many as can be shown."""
    pairs = np.concatenate([constraints.must_link, constraints.cannot_link])
    broken = np.flatnonzero(~kept)[:_MOST_BROKEN_LINKS]
    return tuple(
        BrokenLink(
            kind="must" if link < len(constraints.must_link) else "cannot",
            rows=(first, second),
            names=(names[first], names[second]),
            clusters=(int(labels[first]), int(labels[second])),
        )
        for link, (first, second) in zip(broken.tolist(), pairs[broken].tolist(), strict=True)
    )


def _share_of_pairs_kept(labels: np.ndarray[Any, Any], known_labels: Sequence[str] | None) -> float:
    """Count, among pairs of rows with known labels, those that are together or apart as the labels say."""
    if known_labels is None:
        return float("nan")
    cells: Counter[tuple[str, int]] = Counter()
    # Every row of noise is a cluster of its own.
    for row, (cluster, known) in enumerate(zip(labels.tolist(), known_labels, strict=True)):
        if known:
            cells[known, cluster if cluster != NOISE else -2 - row] += 1
    by_class: Counter[str] = Counter()
    by_cluster: Counter[int] = Counter()
    for (known, cluster), count in cells.items():
        by_class[known] += count
        by_cluster[cluster] += count
    n_pairs = _pairs(by_class.total())
    if not n_pairs:
        return float("nan")
    together_rightly = sum(map(_pairs, cells.values()))
    split = sum(map(_pairs, by_class.values())) - together_rightly
    merged = sum(map(_pairs, by_cluster.values())) - together_rightly
    return 1.0 - (split + merged) / n_pairs


def _pairs(count: int) -> int:
    """Count the pairs among so many."""
    return count * (count - 1) // 2
