"""Any clusterer of the catalogue behind one function: links in, labels and what the page shows of them out."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from mustlink import errors
from mustlink._estimators import count_parameter
from mustlink._numbering import number_by_first
from mustlink._spelling import count
from mustlink._types import Floats, Ints
from mustlink.catalogue import CATALOGUE, Entry, find_clusterer
from mustlink.constraints import Constraints
from mustlink.errors import MustlinkError, OptionError
from mustlink.studio._group_means import group_means
from mustlink.studio._views import learned_view
from mustlink.workflow import build_clusterer

__all__ = ["AUTO", "INSTANT", "Fit", "MethodChoice", "check_method", "fit_method", "list_methods", "make_clusterer"]

# Instant labels that the default clusterer replaces, and these alone: no clusterers of the catalogue.
AUTO, INSTANT = "auto", "instant"
# The clusterer that "auto" runs in the background.
BACKGROUND_METHOD = "boost"
# Without a number, it makes a cluster of every seed group.
FINDS_NUMBER = ("seeded-link",)
# Rows are compared with the means of the groups in blocks of so many numbers.
BLOCK_NUMBERS = 2**22
# What to do about an error, in the words of the page; what a person cannot do there is left out.
REMEDIES = {
    **dict.fromkeys(errors.REMEDIES, ""),
    "at_least_clusters": "ask for {n_needed} groups or more",
    "drop_cannot_link": "remove this link",
    "drop_link": "remove a link of the chain",
    "drop_of_cycle": "remove a link of the cycle",
    "drop_side": "remove one of the two",
    "fewer_clusters": "ask for fewer groups",
    "fewer_neighbors": "choose another method",
    "give_n_clusters": "choose it first",
    "groups_method": "choose COPKMeans or PCKMeans, which take groups without a list of their pairs",
    "more_clusters": "ask for more groups",
    "soft_method": "choose a method that may break links, such as RobustBoostCluster",
    "soft_mixture": "choose a mixture that may break links, PenalizedGaussianMixture",
    "too_large": "choose another method, such as RobustBoostCluster",
}


@dataclass(frozen=True)
class MethodChoice:
    """A method that the page offers, or does not.

    `why` says when to pick it, or why it is not available.
    """

    name: str
    title: str
    available: bool
    why: str


@dataclass(frozen=True)
class Fit:
    """What a clusterer found; with an `error`, a sentence, nothing else is known.

    Parameters
    ----------
    revision : int
        The state of the links that it was asked for.
    method : str
        The short name of the clusterer.
    labels : ndarray of int, shape (n_rows,), or None
        The cluster of each row; -1 is none.
    confidence : ndarray of float, shape (n_rows,), or None
        From 0 (as near to another cluster) to 1.
    column_weights : ndarray of float, shape (n_features,), or None
        What each column of X counts, the largest 1; None if the clusterer gives no weights or equal ones.
    suspects : mapping of (int, int) to float
        For each link whose trust is estimated, by its rows, the smaller first: the probability that it is wrong.
    learned_positions : ndarray of float32, shape (n_rows, 2), or None
        The view that the links make, in the box from -1 to 1.
    seconds : float
        How long it took.
    error : str or None
        Why it failed.

    Examples
    --------
    >>> from mustlink.studio import Fit
    >>> Fit(3, "boost", error="There is not enough memory for this method; choose another one.").labels is None
    True
    """

    revision: int
    method: str
    labels: Ints | None = None
    confidence: Floats | None = None
    column_weights: Floats | None = None
    suspects: Mapping[tuple[int, int], float] = field(default_factory=dict)
    learned_positions: NDArray[np.float32] | None = None
    seconds: float = 0.0
    error: str | None = None


def list_methods(X: Any = None, *, finds_number: bool = False) -> list[MethodChoice]:
    """List what the page offers: "auto" and "instant", then every clusterer of the catalogue.

    Parameters
    ----------
    X : array or sparse matrix, default=None
        The table; methods for counts need one without negative numbers.
    finds_number : bool, default=False
        Whether the number of groups is open, which most clusterers do not take.
    """
    chosen = [
        MethodChoice(AUTO, "Automatic", True, "Instant groups, and then those of RobustBoostCluster."),
        MethodChoice(INSTANT, "Instant", True, "Single linkage from your links alone (SeededSingleLink), at once."),
    ]
    for entry in CATALOGUE:
        reason = _why_not(entry, X, finds_number)
        chosen.append(MethodChoice(entry.name, entry.class_name, reason is None, reason or entry.pick_when))
    return chosen


def _why_not(entry: Entry, X: Any, finds_number: bool) -> str | None:
    """Say why a clusterer cannot be used here; None if it can."""
    if entry.takes_graph:
        return "It takes edges between rows and no links, so nothing that you say would change it."
    if entry.takes_known:
        return "It takes a split that is known already, and no links."
    if not entry.takes_links:
        return "It takes no links, so nothing that you say would change it."
    if X is not None and "counts" in entry.input and X.shape[0] and X.min() < 0:
        return "It is for counts, such as words of texts, and this table has negative numbers."
    if finds_number and _needs_number(entry):
        return "It needs the number of groups; choose one first."
    return None


def _needs_number(entry: Entry) -> bool:
    """Return whether a clusterer has to be told the number of clusters."""
    return entry.name not in FINDS_NUMBER and count_parameter(entry.load()()) is not None


def check_method(name: str, n_clusters: int | None, X: Any = None) -> None:
    """Refuse a method that cannot be used here, and a number of groups that is missing or too large.

    Parameters
    ----------
    name : str
        "auto", "instant", or a clusterer of the catalogue.
    n_clusters : int or None
        The number of groups.
    X : array or sparse matrix, default=None
        The table.

    Raises
    ------
    OptionError
        With a sentence for the page.
    """
    if name in (AUTO, INSTANT):
        return
    entry = find_clusterer(name)
    reason = _why_not(entry, X, finds_number=False)
    if reason is not None:
        raise OptionError(f"{entry.class_name} cannot be used here. {reason}")
    if n_clusters is None and _needs_number(entry):
        problem = f"{entry.class_name} needs the number of groups"
        raise OptionError(problem, remedy="give_n_clusters").with_remedies(REMEDIES)
    if n_clusters is not None and X is not None and n_clusters > X.shape[0]:
        problem = f"{n_clusters:,} groups cannot be made of {count(X.shape[0], 'row')}"
        raise OptionError(problem, remedy="fewer_clusters").with_remedies(REMEDIES)


def make_clusterer(name: str, n_clusters: int | None, seed: int) -> Any:
    """Make the clusterer of a method, not fitted; "auto" is the one that runs in the background.

    Hard clusterers keep every link or fail, and the person is told which links are in the way.
    """
    return build_clusterer(find_clusterer(BACKGROUND_METHOD if name == AUTO else name), n_clusters, random_state=seed)


def fit_method(
    name: str, X: Any, links: Constraints, n_clusters: int | None, seed: int = 0, *, revision: int = 0
) -> Fit:
    """Cluster a table with links; a failure is a sentence in the result.

    Parameters
    ----------
    name : str
        A clusterer of the catalogue, or "auto".
    X : array or sparse matrix of shape (n_rows, n_features)
        The table, scaled as it is to be clustered.
    links : Constraints
        All links in force.
    n_clusters : int or None
        The number of groups.
    seed : int, default=0
        The seed; the same one gives the same labels.
    revision : int, default=0
        Handed on to the result.

    Returns
    -------
    Fit
        What was found, or why it failed.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.studio import fit_method
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> fit_method("cop", X, Constraints(must_link=[(0, 1)]), 2).labels
    array([0, 0, 1, 1])
    """
    start = time.perf_counter()
    entry = None
    try:
        method = BACKGROUND_METHOD if name == AUTO else name
        check_method(method, n_clusters, X)
        entry = find_clusterer(method)
        with warnings.catch_warnings():
            # What they say is seen: broken links are marked, and fewer groups are counted.
            warnings.simplefilter("ignore")
            model = make_clusterer(method, n_clusters, seed).fit(X, constraints=links)
        found = describe_fit(model, X, links)
    except MustlinkError as error:
        found = Fit(0, name, error=error.describe(REMEDIES))
    except MemoryError:
        found = Fit(0, name, error="There is not enough memory for this method; choose another one.")
    except Exception as error:
        # A clusterer may fail in any way, and the page stays usable with the groups that it has.
        found = Fit(0, name, error=f"The method failed: {' '.join(str(error).split()) or type(error).__name__}")
    method = name if entry is None else entry.name
    return replace(found, revision=revision, method=method, seconds=time.perf_counter() - start)


def describe_fit(model: Any, X: Any, links: Constraints) -> Fit:
    """Take from a fitted clusterer what the page shows."""
    labels = np.asarray(model.labels_, dtype=np.int64)
    used = labels >= 0
    if used.any():
        labels[used] = number_by_first(labels[used], int(labels.max()) + 1)[0]
    return Fit(
        revision=0,
        method=type(model).__name__,
        labels=labels,
        confidence=measure_confidence(model, X, labels),
        column_weights=_column_weights(model, X.shape[1]),
        suspects=_suspicion(model, links),
        learned_positions=learned_view(X, labels),
    )


def _column_weights(model: Any, n_features: int) -> Floats | None:
    """Return what the columns count, if that differs."""
    weights = np.asarray(getattr(model, "column_weights_", ()), dtype=np.float64)
    if weights.shape != (n_features,) or not np.isfinite(weights).all():
        return None
    largest = float(weights.max(initial=0.0))
    return None if np.ptp(weights) <= 1e-9 * largest else weights / largest


def _suspicion(model: Any, links: Constraints) -> dict[tuple[int, int], float]:
    """Return for each link, by its rows, the estimated probability that it is wrong, where there is one."""
    trust = np.asarray(getattr(model, "trust_", ()), dtype=np.float64)
    pairs = links.pairs
    if len(trust) != len(pairs):
        return {}
    return {(a, b): 1.0 - value for (a, b), value in zip(pairs.tolist(), trust.tolist(), strict=True)}


def measure_confidence(model: Any, X: Any, labels: Ints) -> Floats:
    """Return how clearly each row belongs to its own group, from 0 to 1; 0 for a row in no group.

    It is always a margin, (own - other) / (own + other), of two means over groups, the row's own and the best other
    one. For boosted clusterers these are how often, by weight, the rounds put the row together with rows of the group.
    For mixtures they are probabilities. Otherwise they are distances to the means of the groups, other - own instead.
    """
    n_groups = int(labels.max(initial=-1)) + 1
    used = labels >= 0
    if n_groups < 2 or not used.any():
        return used.astype(np.float64)
    kernel = getattr(model, "coassociation_", None)
    shares = getattr(model, "responsibilities_", None)
    if kernel is not None and kernel.n_samples == len(labels) and kernel.n_rounds > 1:
        members = np.zeros((len(labels), n_groups))
        members[used, labels[used]] = 1.0
        own, other = _own_and_best_other(kernel.matvec(members) / members.sum(axis=0), labels)
    elif shares is not None and np.shape(shares) == (len(labels), n_groups):
        own, other = _own_and_best_other(np.asarray(shares, dtype=np.float64), labels)
    else:
        other, own = distances_to_means(X, labels, n_groups)
    margin = np.divide(own - other, own + other, out=np.zeros(len(labels)), where=own + other > 0)
    return np.where(used, np.clip(margin, 0.0, 1.0), 0.0)


def _own_and_best_other(scores: Floats, labels: Ints) -> tuple[Floats, Floats]:
    """Return the score of each row in its own group, and the largest one in another."""
    rows, own = np.arange(len(labels)), np.maximum(labels, 0)
    mine = scores[rows, own]
    others = scores.copy()
    others[rows, own] = -np.inf
    return mine, others.max(axis=1)


def distances_to_means(X: Any, labels: Ints, n_groups: int) -> tuple[Floats, Floats]:
    """Return the distances of each row to the mean of its own group, and to the nearest mean of another."""
    means, sizes = group_means(X, labels, n_groups)
    lengths = (means**2).sum(axis=1)
    own, other = np.empty(len(labels)), np.empty(len(labels))
    for part in gen_batches(len(labels), max(1, BLOCK_NUMBERS // max(X.shape[1], n_groups))):
        rows = X[part]
        square = np.asarray(rows.multiply(rows).sum(axis=1)).ravel() if hasattr(rows, "multiply") else (rows**2).sum(1)
        squared = np.maximum(square[:, None] - 2 * np.asarray(rows @ means.T) + lengths, 0.0)
        squared[:, sizes == 0] = np.inf
        mine, others = _own_and_best_other(-squared, labels[part])
        own[part], other[part] = np.sqrt(-mine), np.sqrt(-others)
    return own, other
