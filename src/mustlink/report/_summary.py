"""What is shown of a clustering, as plain data, for the terminal and for the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from mustlink._spelling import spell_numbers
from mustlink._types import Array
from mustlink.base import as_constraints
from mustlink.constraints import AlignedConstraints, Constraints, known_rows
from mustlink.report._columns import ColumnWeights, weigh_columns
from mustlink.report._given import as_list, check_estimator, check_table, name_clusters, name_features
from mustlink.report._sizes import SizeBound, reached_bounds, spell_bounds
from mustlink.report._typical import cluster_means, nearest_rows
from mustlink.tables import TIME_UNITS, Feature

__all__ = ["BrokenLink", "ClusterSummary", "RowNames", "Summary", "SuspectLink", "Trait", "summarize"]

NOISE = -1
MAX_TRAITS = 3
MIN_TRAIT = 0.3
MAX_BROKEN_LINKS = 200
MAX_CONFLICTS = 50
MAX_SUSPECTS = 50
MAX_NAME_LENGTH = 60


@dataclass(frozen=True)
class Trait:
    """A feature in which a cluster differs from all rows.

    Parameters
    ----------
    feature : str
        The column, or the column and the category.
    difference : float
        The mean of the cluster minus the mean of all rows, in standard deviations of all rows.
    inside, overall : float
        The two means in the units of the table; fractions if the feature is a category.
    is_category : bool
        Whether the feature indicates a category.
    spelled : tuple of (str, str), default=()
        The two means as people write them, with the same digits in every cluster.
    is_time : bool, default=False
        Whether the feature is a date or a time.

    Examples
    --------
    >>> from mustlink.report import Trait
    >>> print(Trait("basket_eur", 1.31, 61.2, 40.1, False))
    basket_eur high (+1.3 sd)
    >>> print(Trait("department = garden", 1.2, 0.86, 0.3, True))
    department = garden 86% (30% overall)
    >>> Trait("income", -0.9, 31_512.3, 43_618.0, False).means
    ('31,500', '43,600')
    """

    feature: str
    difference: float
    inside: float
    overall: float
    is_category: bool
    spelled: tuple[str, ...] = ()
    is_time: bool = False

    @property
    def direction(self) -> str:
        """In which direction the cluster differs: high or low, late or early."""
        above, below = ("late", "early") if self.is_time else ("high", "low")
        return above if self.difference > 0 else below

    @property
    def means(self) -> tuple[str, ...]:
        """The two means as people write them; percentages if the feature is a category."""
        if self.is_category:
            return f"{self.inside:.0%}", f"{self.overall:.0%}"
        return self.spelled or tuple(spell_numbers([self.inside, self.overall]))

    def __str__(self) -> str:
        if self.is_category:
            return f"{self.feature} {self.means[0]} ({self.means[1]} overall)"
        return f"{self.feature} {self.direction} ({self.difference:+.1f} sd)"


@dataclass(frozen=True)
class ClusterSummary:
    """One cluster.

    Parameters
    ----------
    label : int
        Its number among the labels.
    size : int
        The number of its rows.
    share : float
        The fraction of all rows.
    nearest_row : int
        The row nearest to the mean of the cluster.
    nearest_name : str
        The name of that row.
    traits : tuple of Trait
        The features in which the cluster differs most, the largest difference first; may be empty.
    known : tuple of (str, int)
        The known labels of its rows with their counts, the most frequent first.
    name : str, default=""
        What the cluster is called: its number, or the name that was given.

    Examples
    --------
    >>> from mustlink.report import summarize
    >>> first, second = summarize([[0.0], [1.0], [1.1], [9.0]], [0, 0, 0, 1], row_names=list("abcd")).clusters
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
    name: str = ""


@dataclass(frozen=True)
class BrokenLink:
    """A link that the clustering breaks.

    Parameters
    ----------
    kind : {'must', 'cannot'}
        The kind of the link.
    rows : tuple of (int, int)
        The two rows.
    names : tuple of (str, str)
        The names of the rows.
    clusters : tuple of (int, int)
        The clusters of the rows.
    places : tuple of (str, str) or None, default=None
        What the clusters are called, if not by their numbers.

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
    places: tuple[str, str] | None = None

    @property
    def cluster_names(self) -> tuple[str, str]:
        """What the clusters are called."""
        first, second = self.clusters
        return self.places or (str(first), str(second))

    def __str__(self) -> str:
        asked = f"{self.names[0]} and {self.names[1]} {self.kind} be together"
        first, second = self.cluster_names
        if self.kind == "cannot":
            return f"{asked}, and are both in cluster {first}"
        if NOISE not in self.clusters:
            return f"{asked}, and are in clusters {first} and {second}"
        named = zip(self.clusters, self.cluster_names, strict=True)
        places = ["no cluster" if label == NOISE else f"cluster {name}" for label, name in named]
        return f"{asked}, and are in {places[0]} and in {places[1]}"


@dataclass(frozen=True)
class SuspectLink:
    """A link that may be wrong.

    Parameters
    ----------
    kind : {'must', 'cannot'}
        The kind of the link.
    rows : tuple of (int, int)
        The two rows.
    names : tuple of (str, str)
        The names of the rows.
    trust : float or None
        The estimated probability that the link is right; None if the method estimates none.

    Examples
    --------
    >>> from mustlink.report import SuspectLink
    >>> print(SuspectLink("must", (0, 7), ("ann", "bob"), 0.12))
    ann and bob must be together: right with probability 12%
    """

    kind: Literal["must", "cannot"]
    rows: tuple[int, int]
    names: tuple[str, str]
    trust: float | None

    def __str__(self) -> str:
        asked = f"{self.names[0]} and {self.names[1]} {self.kind} be together"
        return asked if self.trust is None else f"{asked}: right with probability {self.trust:.0%}"


@dataclass(frozen=True)
class Summary:
    """A clustering as it is shown.

    Parameters
    ----------
    n_rows, n_features : int
        The size of the table.
    n_noise : int
        The number of rows in no cluster.
    clusters : tuple of ClusterSummary
        In the order of their labels.
    n_must, n_must_kept, n_cannot, n_cannot_kept : int
        The number of links of each kind, and how many of them the clustering keeps.
    broken : tuple of BrokenLink
        The broken links, at most 200 of them.
    n_conflicts : int
        The number of cannot-links that must-links contradict.
    conflicts : tuple of str
        The conflicts as sentences with the chain that causes each, at most 50.
    n_known : int
        The number of rows with a known label.
    known_kept : float
        The fraction of pairs of such rows that are together or apart as in their labels; NaN without pairs.
    notices : tuple of str
        Further notes, as sentences.
    n_suspects : int
        The number of links that may be wrong.
    suspects : tuple of SuspectLink
        The links that may be wrong, the most suspect first, at most 50.
    objective : tuple of float
        The objective of the clusterer after each of its rounds.
    bounds : tuple of SizeBound
        The minimum and maximum sizes that clusters are at.
    columns : ColumnWeights or None, default=None
        What the columns count; None if the clusterer gives them no weights, or equal ones.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.report import summarize
    >>> X = np.array([[0.0], [0.2], [5.0], [5.2]])
    >>> summary = summarize(X, [0, 0, 1, 1], Constraints(must_link=[(0, 1), (1, 2)]))
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
    bounds: tuple[SizeBound, ...] = ()
    columns: ColumnWeights | None = None

    @property
    def n_links(self) -> int:
        """The number of links."""
        return self.n_must + self.n_cannot

    @property
    def n_kept(self) -> int:
        """The number of links that the clustering keeps."""
        return self.n_must_kept + self.n_cannot_kept

    @property
    def n_broken(self) -> int:
        """The number of links that it breaks."""
        return self.n_links - self.n_kept

    @property
    def size_notes(self) -> list[str]:
        """The bounds of sizes in sentences, few of them if there are many bounds."""
        return spell_bounds(self.bounds)

    def _repr_html_(self) -> str:
        from mustlink.report._page import summary_html

        return summary_html(self)


def summarize(
    X: Any,
    labels: Any,
    constraints: Constraints | AlignedConstraints | None = None,
    *,
    features: Sequence[Feature | str] | None = None,
    row_names: Sequence[str] | None = None,
    known_labels: Sequence[Any] | None = None,
    notices: Sequence[str] = (),
    estimator: Any = None,
    cluster_names: Sequence[str] | None = None,
) -> Summary:
    """Summarize a clustering: its clusters, links and known labels.

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
        The names of the rows; their numbers by default.
    known_labels : sequence, default=None
        Labels known in advance; unknown ones are empty, -1, None or NaN.
    notices : sequence of str, default=()
        Notes to show, as sentences.
    estimator : object, default=None
        The fitted clusterer. Its ``suspects_`` (links that may be wrong), ``objective_`` (one value per round),
        ``column_weights_`` (what each column counts) and ``gains_`` (of looser minimum and maximum sizes) are shown if
        it has them.
    cluster_names : sequence of str, default=None
        What the clusters 0, 1, ... are called; their numbers by default.

    Returns
    -------
    Summary

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink.report import summarize
    >>> X = np.array([[0.0, 1.0], [0.2, 1.1], [5.0, 1.0], [5.2, 1.1]])
    >>> for cluster in summarize(X, [0, 0, 1, 1], features=["age", "height"]).clusters:
    ...     print(cluster.label, cluster.size, *cluster.traits)
    0 2 age low (-1.0 sd)
    1 2 age high (+1.0 sd)
    """
    check_table(X)
    check_estimator(estimator)
    X = check_array(X, accept_sparse="csr", ensure_2d=False, allow_nd=True, ensure_min_samples=0, input_name="X")
    labels = _whole_numbers(labels)
    if X.ndim != 2 or labels.shape != (X.shape[0],):
        raise ValueError(
            f"One label per row is expected: the table has the shape {X.shape}, the labels {labels.shape}."
        )
    names = as_list("row_names", row_names, X.shape[0])
    as_list("known_labels", known_labels, X.shape[0])
    known = None if known_labels is None else _known_names(known_labels)
    constraints = as_constraints(constraints, X.shape[0])
    namer, places = RowNames(names), RowNames(name_clusters(cluster_names, labels))
    columns = name_features(features, X.shape[1])
    return Summary(
        n_rows=X.shape[0],
        n_features=X.shape[1],
        n_noise=int(np.count_nonzero(labels == NOISE)),
        clusters=_cluster_summaries(X, labels, columns, namer, known, places),
        n_known=0 if known is None else sum(map(bool, known)),
        known_kept=_share_of_pairs_kept(labels, known),
        notices=tuple(str(notice) for notice in as_list("notices", notices) or ()),
        bounds=reached_bounds(estimator, labels, places),
        **describe_links(constraints, constraints.violations(labels), labels, estimator, namer, places),
        **describe_fit(estimator, columns),
    )


def describe_links(
    constraints: Constraints, broken: Constraints, labels: Array, estimator: Any, namer: RowNames, places: RowNames
) -> dict[str, Any]:
    """Return the fields of a summary about links: those that are kept, broken, contradictory or suspect."""
    conflicts = constraints.conflicts()
    suspects = getattr(estimator, "suspects_", ())
    return {
        "n_must": constraints.n_must_links,
        "n_must_kept": constraints.n_must_links - broken.n_must_links,
        "n_cannot": constraints.n_cannot_links,
        "n_cannot_kept": constraints.n_cannot_links - broken.n_cannot_links,
        "broken": _broken_links(broken.excerpt(MAX_BROKEN_LINKS), labels, namer, places),
        "n_conflicts": len(conflicts),
        "conflicts": tuple(conflicts[i].describe(namer) for i in range(min(len(conflicts), MAX_CONFLICTS))),
        "n_suspects": len(suspects),
        "suspects": tuple(
            SuspectLink(suspect.link, (suspect.a, suspect.b), (namer[suspect.a], namer[suspect.b]), suspect.trust)
            for suspect in suspects[:MAX_SUSPECTS]
        ),
    }


def describe_fit(estimator: Any, columns: Sequence[Feature]) -> dict[str, Any]:
    """Return the fields of a summary about the rounds of a clusterer and the weights of its columns."""
    return {
        "objective": tuple(float(value) for value in getattr(estimator, "objective_", ())),
        "columns": weigh_columns(estimator, [printable(column.name) for column in columns]),
    }


def _known_names(labels: Sequence[Any]) -> list[str]:
    """Return the known labels as text, empty where unknown."""
    names = [""] * len(labels)
    rows, codes, classes = known_rows(labels)
    for row, code in zip(rows.tolist(), codes.tolist(), strict=True):
        label = classes[code]
        # Numbers with NaN among them are floats.
        names[row] = str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
    return names


def _whole_numbers(labels: Any) -> Array:
    """Return the labels as an array, or refuse what does not number clusters."""
    labels = np.asarray(labels)
    if labels.size and not (labels.dtype.kind in "iufb" and np.all(np.mod(labels, 1) == 0)):
        raise ValueError(
            "Labels are whole numbers, -1 for no cluster, and these are of the type "
            f"{labels.dtype}, such as {labels.ravel()[0]!s}; names of clusters can be given as known_labels."
        )
    return labels.astype(np.int64)


class RowNames(Sequence[str]):
    """The names of rows, made safe to print; without names, their numbers.

    Control characters, which a terminal would obey, are shown as escapes, and long names are cut.

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
        return str(row) if self._names is None else printable(str(self._names[row]))

    def __len__(self) -> int:
        return 0 if self._names is None else len(self._names)


def printable(name: str, max_length: int = MAX_NAME_LENGTH) -> str:
    """Show control characters as escapes, and cut a long name."""
    shown = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in name[: max_length + 1])
    return shown if len(shown) <= max_length else shown[: max_length - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _cluster_summaries(
    X: Any,
    labels: Array,
    features: list[Feature],
    names: RowNames,
    known_labels: Sequence[str] | None,
    places: RowNames,
) -> tuple[ClusterSummary, ...]:
    """Summarize each cluster."""
    numbers = np.unique(labels[labels != NOISE])
    if not numbers.size:
        return ()
    place = np.where(labels != NOISE, np.searchsorted(numbers, labels), NOISE)
    sizes = np.bincount(place[place != NOISE])
    centers = cluster_means(X, place, sizes)
    nearest = np.array([rows[0] for rows in nearest_rows(X, place, centers)])
    facts = ClusterFacts(numbers, sizes, X.shape[0], centers, nearest, *mean_and_spread(X))
    known = Counter(zip(labels.tolist(), known_labels or (), strict=known_labels is not None)).most_common()
    return describe_clusters(facts, features, names, known, places)


class ClusterFacts(NamedTuple):
    """What is computed of the rows to describe clusters.

    The numbers of the clusters, their sizes, the number of all rows, the means, the rows nearest to them, and the mean
    and the standard deviation of all rows.
    """

    numbers: Array
    sizes: Array
    n_rows: int
    centers: Array
    nearest: Array
    overall: Array
    spread: Array


def describe_clusters(
    facts: ClusterFacts,
    features: list[Feature],
    names: RowNames,
    known: Sequence[tuple[tuple[int, str], int]],
    places: RowNames,
) -> tuple[ClusterSummary, ...]:
    """Describe each cluster; `known` counts the known labels of clusters, the most frequent first."""
    spelled = _SpelledMeans(features, facts.centers, facts.overall)
    return tuple(
        ClusterSummary(
            label=int(number),
            size=int(facts.sizes[cluster]),
            share=float(facts.sizes[cluster] / facts.n_rows),
            nearest_row=int(facts.nearest[cluster]),
            nearest_name=names[int(facts.nearest[cluster])],
            traits=_traits(cluster, facts.spread, spelled),
            known=tuple((printable(label), count) for (where, label), count in known if where == number and label),
            name=places[int(number)],
        )
        for cluster, number in enumerate(facts.numbers)
    )


def mean_and_spread(X: Any) -> tuple[Array, Array]:
    """Return the mean and the standard deviation of each column."""
    if not sparse.issparse(X):
        return X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64)
    mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    squares = np.asarray(X.multiply(X).mean(axis=0, dtype=np.float64)).ravel()
    return mean, np.sqrt(np.maximum(squares - mean**2, 0.0))


class _SpelledMeans:
    """The means of all clusters in the units of the table, as numbers and as people write them."""

    def __init__(self, features: list[Feature], centers: Array, overall: Array) -> None:
        self.features, self.centers, self.overall = features, centers, overall
        self._of_feature: dict[int, tuple[list[float], list[str]]] = {}

    def of(self, cluster: int, place: int) -> tuple[tuple[float, float], tuple[str, str]]:
        """Return the mean of a feature in a cluster and overall; the digits are those that all clusters need."""
        if place not in self._of_feature:
            feature = self.features[place]
            encoded = [self.overall[place], *self.centers[:, place]]
            values = [float(mean) * feature.scale + feature.center for mean in encoded]
            self._of_feature[place] = values, feature.spell(values)
        values, words = self._of_feature[place]
        return (values[cluster + 1], values[0]), (words[cluster + 1], words[0])


def _traits(cluster: int, spread: Array, means: _SpelledMeans) -> tuple[Trait, ...]:
    """Pick the columns in which a cluster differs most from all rows, each column of the table once.

    A category is listed only where it is frequent: that it is rare follows from another one being frequent.
    """
    center = means.centers[cluster]
    difference = np.divide(center - means.overall, spread, out=np.zeros_like(center), where=spread > 0)
    traits: list[Trait] = []
    listed: set[str] = set()
    for place in np.argsort(-np.abs(difference), kind="stable").tolist():
        feature = means.features[place]
        is_category = feature.category is not None
        if abs(difference[place]) < MIN_TRAIT or len(traits) == MAX_TRAITS:
            break
        if feature.column in listed or (is_category and difference[place] < 0):
            continue
        listed.add(feature.column)
        values, words = means.of(cluster, place)
        is_time = feature.unit in TIME_UNITS
        traits.append(Trait(printable(feature.name), float(difference[place]), *values, is_category, words, is_time))
    return tuple(traits)


def _broken_links(broken: Constraints, labels: Array, names: RowNames, places: RowNames) -> tuple[BrokenLink, ...]:
    """List the broken links, up to the maximum shown."""
    return tuple(
        BrokenLink(
            kind="must" if sign > 0 else "cannot",
            rows=(first, second),
            names=(names[first], names[second]),
            clusters=(int(labels[first]), int(labels[second])),
            places=(_place(places, labels[first]), _place(places, labels[second])),
        )
        for sign, (first, second) in zip(
            broken.sign[:MAX_BROKEN_LINKS].tolist(), broken.pairs[:MAX_BROKEN_LINKS].tolist(), strict=True
        )
    )


def _place(places: RowNames, label: int) -> str:
    """Return what a cluster is called; no cluster has no name."""
    return "" if label == NOISE else str(places[int(label)])


def _share_of_pairs_kept(labels: Array, known_labels: Sequence[str] | None) -> float:
    """Return the fraction of pairs of rows with known labels that are together or apart as in the labels."""
    from sklearn.metrics import rand_score

    rows = [row for row, known in enumerate(known_labels or ()) if known]
    if known_labels is None or len(rows) < 2:
        return float("nan")
    # Every row of noise is a cluster of its own.
    clusters = np.where(labels == NOISE, NOISE - 1 - np.arange(labels.size), labels)
    return float(rand_score([known_labels[row] for row in rows], clusters[rows]))
