"""Affinity propagation, and the search for the preference that gives a wanted number of clusters."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import euclidean_distances, pairwise_distances_argmin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mustlink._sklearn_compat import Interval, StrOptions, fit_context
from mustlink.base import check_enough_rows
from mustlink.boosting._affinity_kernels import pass_messages
from mustlink.errors import TooLargeError

__all__ = ["AffinityPropagationSearch"]

CALMER = (0.0, 0.6)
"""How far the damping moves towards 1 at each new attempt, where the messages have not settled."""

ARRAYS_HELD = 3
"""Affinity propagation holds the similarities, the responsibilities and the availabilities."""


@dataclass(frozen=True)
class Exemplars:
    """What one run of affinity propagation found."""

    labels: NDArray[np.intp]
    rows: NDArray[np.intp]
    n_iter: int
    converged: bool


def check_square_fits(n_samples: int, max_samples: int, itemsize: int, name: str, n_arrays: int) -> None:
    """Refuse work on arrays of n x n numbers above the size that the user allows."""
    if n_samples <= max_samples:
        return
    gigabytes = n_arrays * itemsize * n_samples**2 / 1e9
    arrays = "an array" if n_arrays == 1 else f"{n_arrays} arrays"
    raise TooLargeError(
        f"{name} compares all rows with each other: {n_samples:,} rows need {arrays} of {n_samples:,} x "
        f"{n_samples:,} numbers, {gigabytes:.1f} GB, and max_samples allows {max_samples:,} rows. Raise max_samples "
        "if the memory is there, cluster a sample of the rows, or take a clusterer that works on features, such as "
        "KMeans."
    )


def without_diagonal(S: NDArray[Any]) -> NDArray[Any]:
    """Return the similarities between different rows, a view of a square array in C order."""
    n_rows = len(S)
    return S.ravel()[:-1].reshape(n_rows - 1, n_rows + 1)[:, 1:]


def propagate_affinity(
    S: NDArray[Any],
    preference: float,
    rng: np.random.RandomState,
    *,
    damping: float = 0.75,
    max_iter: int = 300,
    convergence_iter: int = 30,
) -> Exemplars:
    """Cluster by passing messages; where they do not settle, try again with more damping.

    Exemplars that have not settled after the last attempt are used as they stand; if there is none, every row is
    noise (-1).
    """
    n_rows = len(S)
    if n_rows == 1:
        return _all_alike(1, apart=False)
    between = without_diagonal(S)
    if between.min() == between.max():
        return _all_alike(n_rows, apart=preference > between.max())
    S = S.copy()
    S.flat[:: n_rows + 1] = preference
    # Equal similarities make the messages swing for ever; a push in the last digit ends that.
    info = np.finfo(S.dtype)
    S += (info.eps * S + info.tiny * 100) * rng.standard_normal(S.shape).astype(S.dtype)
    n_iter = 0
    for share in CALMER:
        # Slower messages take longer to settle, and longer to show that they have.
        slower = 1 / (1 - share)
        is_exemplar, used, converged = pass_messages(
            S, 1 - (1 - damping) / slower, round(max_iter * slower), round(convergence_iter * slower)
        )
        n_iter += used
        if converged:
            break
    rows = np.flatnonzero(is_exemplar)
    if len(rows) == 0:
        return Exemplars(np.full(n_rows, -1), rows, n_iter, False)
    return Exemplars(*_join_exemplars(S, rows), n_iter, converged)


def _all_alike(n_rows: int, *, apart: bool) -> Exemplars:
    """Return the clustering of rows that are all equally similar: one cluster, or one for each row."""
    if apart:
        return Exemplars(np.arange(n_rows), np.arange(n_rows), 0, True)
    return Exemplars(np.zeros(n_rows, dtype=np.intp), np.zeros(1, dtype=np.intp), 0, True)


def _join_exemplars(S: NDArray[Any], rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Put every row with its most similar exemplar, after each cluster has chosen its best exemplar again."""
    labels = _nearest_exemplar(S, rows)
    better = rows.copy()
    for cluster in range(len(rows)):
        members = np.flatnonzero(labels == cluster)
        better[cluster] = members[np.argmax(S[np.ix_(members, members)].sum(axis=0))]
    better.sort()
    return _nearest_exemplar(S, better), better


def _nearest_exemplar(S: NDArray[Any], rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the number of the most similar exemplar of every row; an exemplar is its own."""
    labels = np.argmax(S[:, rows], axis=1)
    labels[rows] = np.arange(len(rows))
    return labels


class AffinityPropagationSearch(ClusterMixin, BaseEstimator):
    """Affinity propagation for a wanted number of clusters.

    Affinity propagation finds the number of clusters itself, from a preference: how ready a row is to stand for
    others. This clusterer halves an interval of preferences until the wanted number comes out, or as near to it
    as can be.

    Parameters
    ----------
    n_clusters : int, default=8
        The wanted number of clusters.
    affinity : {"euclidean", "precomputed"}, default="euclidean"
        "euclidean" takes minus the squared distances as similarities; with "precomputed", X is a square array of
        similarities, whose diagonal is ignored.
    damping : float, default=0.75
        How much of the old message is kept at each iteration, at least 0.5 and below 1. Where the messages do not
        settle, the run is tried again with more.
    max_iter : int, default=300
        The most iterations of the first attempt; later ones, with more damping, get more.
    convergence_iter : int, default=30
        After so many iterations with the same exemplars the messages have settled.
    max_search : int, default=30
        The most preferences tried.
    max_samples : int, default=5000
        More rows are refused, since three arrays of n x n numbers are held.
    random_state : int, RandomState or None, default=None
        For the tiny noise that breaks ties between equal similarities.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    n_clusters_ : int
        The number of clusters found.
    cluster_centers_indices_ : ndarray of shape (n_clusters,)
        The rows that stand for the clusters.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Those rows, if `affinity` is "euclidean".
    preference_ : float
        The preference that gave this result.
    searched_ : list of (float, int)
        The preferences tried, each with the number of clusters it gave.
    n_iter_ : int
        The iterations of the run that was kept.
    n_features_in_ : int
        The number of columns of X.

    Raises
    ------
    TooLargeError
        If there are more than `max_samples` rows.

    Warns
    -----
    ConvergenceWarning
        If another number of clusters was as near as the search came.

    See Also
    --------
    sklearn.cluster.AffinityPropagation : For a given preference.

    Notes
    -----
    The number of clusters falls with the preference, though not strictly, so that some numbers may not come out at
    any preference. The search works on the logarithm of the distance between the preference and the largest
    similarity, since the number of clusters changes evenly on that scale.

    References
    ----------
    B. J. Frey, D. Dueck, "Clustering by passing messages between data points", Science 315 (2007), 972-976.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink.boosting._affinity_search import AffinityPropagationSearch
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [9.0], [9.1], [9.2]])
    >>> AffinityPropagationSearch(n_clusters=3, random_state=0).fit_predict(X)
    array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "affinity": [StrOptions({"euclidean", "precomputed"})],
        "damping": [Interval(Real, 0.5, 1.0, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "convergence_iter": [Interval(Integral, 1, None, closed="left")],
        "max_search": [Interval(Integral, 1, None, closed="left")],
        "max_samples": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: str = "euclidean",
        damping: float = 0.75,
        max_iter: int = 300,
        convergence_iter: int = 30,
        max_search: int = 30,
        max_samples: int = 5_000,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.damping = damping
        self.max_iter = max_iter
        self.convergence_iter = convergence_iter
        self.max_search = max_search
        self.max_samples = max_samples
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: object = None) -> Self:
        """Search the preference and keep the clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            The table, or the similarities.
        y : object
            Ignored.

        Returns
        -------
        self : object
            The fitted clusterer.
        """
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C")
        n_rows = X.shape[0]
        check_enough_rows(n_rows, self.n_clusters)
        if self.affinity == "precomputed" and X.shape[1] != n_rows:
            raise ValueError(f"Precomputed similarities must be a square array; got the shape {X.shape}.")
        check_square_fits(n_rows, self.max_samples, X.itemsize, "Affinity propagation", ARRAYS_HELD)
        S = X if self.affinity == "precomputed" else -euclidean_distances(X, squared=True)
        found = self._search(S)
        if len(found.rows) != self.n_clusters:
            warnings.warn(
                f"No preference of the {len(self.searched_)} tried gave {self.n_clusters} clusters; the nearest "
                f"gave {len(found.rows)}.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.labels_ = found.labels
        self.n_clusters_ = len(found.rows)
        self.cluster_centers_indices_ = found.rows
        self.n_iter_ = max(found.n_iter, 1)
        if self.affinity == "euclidean":
            self.cluster_centers_ = X[found.rows].copy()
        return self

    def _search(self, S: NDArray[Any]) -> Exemplars:
        """Try preferences until the wanted number of clusters is met, and return the nearest result."""
        rng = check_random_state(self.random_state)
        self.searched_: list[tuple[float, int]] = []
        if len(S) == self.n_clusters:
            self.preference_ = np.inf
            return _all_alike(len(S), apart=True)
        between = without_diagonal(S)
        top = float(between.max())
        # Below the top by this much; the number of clusters falls as it grows.
        depth = top - float(np.median(between)) or top - float(between.min()) or 1.0
        shallow, deep = 0.0, np.inf
        best: Exemplars | None = None
        for _ in range(self.max_search):
            found = propagate_affinity(
                S,
                top - depth,
                rng,
                damping=self.damping,
                max_iter=self.max_iter,
                convergence_iter=self.convergence_iter,
            )
            n_found = len(found.rows)
            self.searched_.append((top - depth, n_found))
            if best is None or self._is_nearer(found, best):
                best, self.preference_ = found, top - depth
            if n_found == self.n_clusters:
                break
            if n_found > self.n_clusters:
                shallow = depth
            else:
                deep = depth
            depth = _between(shallow, deep)
            if depth in (shallow, deep):
                break
        assert best is not None
        return best

    def _is_nearer(self, found: Exemplars, best: Exemplars) -> bool:
        """Say whether a result comes nearer to the wanted number than the best so far; noise alone is no result."""

        def distance(result: Exemplars) -> tuple[bool, int, bool]:
            return len(result.rows) == 0, abs(len(result.rows) - self.n_clusters), not result.converged

        return distance(found) < distance(best)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the cluster whose exemplar is nearest, for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows; not for precomputed similarities.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster numbers.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32], order="C")
        if self.affinity == "precomputed":
            raise ValueError("predict needs features, and this clusterer was fitted on precomputed similarities.")
        if self.n_clusters_ == 0:
            return np.full(len(X), -1)
        return pairwise_distances_argmin(X, self.cluster_centers_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.affinity == "precomputed"
        return tags


def _between(shallow: float, deep: float) -> float:
    """Return the next depth to try: the geometric mean, or four times more or less where a side is still open."""
    if np.isinf(deep):
        return shallow * 4
    if shallow == 0:
        return deep / 4
    return float(np.sqrt(shallow) * np.sqrt(deep))
