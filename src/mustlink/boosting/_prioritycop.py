"""Constrained k-means that never fails: pairs of rows are placed in the order of their priority."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.cluster import kmeans_plusplus
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mustlink._sklearn_compat import Interval, StrOptions, fit_context, is_array_like
from mustlink.base import ConstrainedClusterMixin, check_enough_rows
from mustlink.boosting._prioritycop_kernels import inertia_of, nearest, priority_cop
from mustlink.constraints import AlignedConstraints, Constraints

__all__ = ["LinkedPairs", "PriorityCOPKMeans", "nearest_centers", "random_rows"]

Labels = NDArray[np.int32]


@dataclass(frozen=True)
class LinkedPairs:
    """The links of a table in the form the compiled loops want: must-links first, then cannot-links.

    Attributes
    ----------
    bound, free : ndarray
        The rows in some pair and the rows in none.
    left, right : ndarray of shape (n_pairs,)
        The two ends of each pair, as positions in `bound`.
    is_must : ndarray of shape (n_pairs,)
        Whether the pair belongs together.
    weight : ndarray of shape (n_pairs,)
        The weights a person gave.
    """

    bound: NDArray[np.intp]
    free: NDArray[np.intp]
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    is_must: NDArray[np.bool_]
    weight: NDArray[np.float64]

    @classmethod
    def of(cls, links: Constraints, n_samples: int) -> Self:
        """Take the pairs of the links apart."""
        pairs = np.concatenate([links.must_link, links.cannot_link])
        bound, position = np.unique(pairs, return_inverse=True)
        left, right = position.reshape(pairs.shape).T
        is_free = np.ones(n_samples, dtype=bool)
        is_free[bound] = False
        return cls(
            bound.astype(np.intp),
            np.flatnonzero(is_free),
            np.ascontiguousarray(left, dtype=np.intp),
            np.ascontiguousarray(right, dtype=np.intp),
            np.repeat([True, False], [len(links.must_link), len(links.cannot_link)]),
            np.concatenate([links.must_link_weight, links.cannot_link_weight]),
        )

    def cluster(
        self, X: NDArray[Any], priority: NDArray[np.float64], centers: NDArray[Any], max_iter: int
    ) -> tuple[Labels, NDArray[Any], int]:
        """Run the constrained k-means; pairs of equal priority keep their order."""
        order = np.argsort(-priority, kind="stable")
        labels, centers, n_iter = priority_cop(
            X, self.free, self.bound, self.left[order], self.right[order], self.is_must[order], centers, max_iter
        )
        return labels, centers, int(n_iter)

    def kept(self, labels: NDArray[Any]) -> NDArray[np.bool_]:
        """Say of each pair whether a labelling of all rows keeps it."""
        bound_labels = labels[self.bound]
        kept: NDArray[np.bool_] = (bound_labels[self.left] == bound_labels[self.right]) == self.is_must
        return kept


def random_rows(X: NDArray[Any], n_clusters: int, rng: np.random.RandomState) -> NDArray[Any]:
    """Draw different rows as starting centres, in time that does not grow with the table."""
    drawn: list[int] = []
    while len(drawn) < n_clusters:
        row = int(rng.randint(len(X)))
        if row not in drawn:
            drawn.append(row)
    return X[drawn]


def nearest_centers(X: NDArray[Any], centers: NDArray[Any]) -> Labels:
    """Label each row with its nearest centre."""
    labels = np.empty(len(X), dtype=np.int32)
    nearest(X, np.arange(len(X)), centers.astype(X.dtype), labels)
    return labels


class PriorityCOPKMeans(ConstrainedClusterMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Constrained k-means that places linked pairs by priority and never fails.

    COP-KMeans gives up when a row fits nowhere, and its result depends on the order of the rows. This variant goes
    through the linked pairs instead, the one with the largest weight first. Both ends of a pair that are still free are
    placed so that the link holds; if one end has its place already, the other follows it or avoids it; if both have,
    nothing is done, and the link may be broken. So the heaviest link always holds (a cannot-link needs two clusters,
    of course), and lighter ones give way. Rows in no pair go to the nearest centre.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    init : {"k-means++", "random"} or array-like of shape (n_clusters, n_features), default="k-means++"
        Where the centres start: spread out, at random rows, or as given.
    max_iter : int, default=30
        The largest number of assignments.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centres by which the rows were placed.
    inertia_ : float
        The sum of squared distances of the rows to the centres of their clusters.
    n_iter_ : int
        The number of assignments.
    violations_ : Constraints
        The links that the labels break.
    n_features_in_ : int
        The number of columns of the table.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if all of them are texts.

    See Also
    --------
    BoostedConstrainedKMeans : Learns the priorities and joins many runs.

    Notes
    -----
    Links of equal weight are taken in the order in which :class:`~mustlink.Constraints` lists them: must-links before
    cannot-links, each kind by its rows. Must-links first keeps more links and scores better than either order
    by rows or a random one.

    Of two free ends, the one that is closer to its nearest centre chooses; at equal distances the second. A cluster
    that loses all rows keeps its centre, which the source leaves open. There is no objective that falls: the labels
    often go round in a circle. A run ends when its centres are exactly those of one of the 32 latest assignments, which
    is a fixed point or a circle, or after `max_iter` assignments.

    References
    ----------
    M. Okabe and S. Yamada, "Clustering by learning constraints priorities", ICDM 2012.

    K. Wagstaff, C. Cardie, S. Rogers and S. Schroedl, "Constrained k-means clustering with background knowledge",
    ICML 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.boosting import PriorityCOPKMeans
    >>> X = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> contradiction = {"must_link": [(0, 1), (1, 2)], "cannot_link": [(0, 2)]}
    >>> links = Constraints(**contradiction, must_link_weight=[1, 3], cannot_link_weight=[2])
    >>> clusterer = PriorityCOPKMeans(n_clusters=2, random_state=0).fit(X, constraints=links)
    >>> clusterer.violations_.must_link
    array([[0, 1]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"k-means++", "random"}), "array-like"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: str | ArrayLike = "k-means++",
        max_iter: int = 30,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        constraints: Constraints | AlignedConstraints | None = None,
    ) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The table.
        y : array-like of shape (n_samples,), default=None
            Partial labels, -1 for unknown, as one more source of constraints.
        constraints : Constraints or AlignedConstraints, default=None
            What is known of pairs of rows; the weights of the links are their priorities.

        Returns
        -------
        self : object
            The fitted clusterer.
        """
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C")
        check_enough_rows(len(X), self.n_clusters)
        links = self._constraints_for(constraints, y, len(X))
        pairs = LinkedPairs.of(links, len(X))
        labels, self.cluster_centers_, self.n_iter_ = pairs.cluster(
            X, pairs.weight, self._starting_centers(X), self.max_iter
        )
        self.labels_ = labels.astype(np.intp)
        self.inertia_ = float(inertia_of(X, labels, self.cluster_centers_))
        self.violations_ = links.violations(self.labels_)
        self._n_features_out = self.n_clusters
        return self

    def _starting_centers(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the centres of the first assignment, in the precision of the table."""
        rng = check_random_state(self.random_state)
        if not is_array_like(self.init):
            if isinstance(self.init, str) and self.init == "random":
                return random_rows(X, self.n_clusters, rng)
            centers, _ = kmeans_plusplus(X, self.n_clusters, random_state=rng)
            return np.ascontiguousarray(centers)
        given = check_array(self.init, dtype=X.dtype, order="C", copy=True, input_name="init", estimator=self)
        expected = (self.n_clusters, X.shape[1])
        if given.shape != expected:
            raise ValueError(
                f"init holds centres of shape {given.shape}, and {self.n_clusters} clusters of rows with "
                f"{X.shape[1]} features need the shape {expected}."
            )
        return given

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the cluster whose centre is nearest, for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows. Constraints play no part: for a row that a link placed elsewhere this differs from ``labels_``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster numbers.
        """
        return nearest_centers(self._check_new_rows(X), self.cluster_centers_).astype(np.intp)

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the distance of each row to each centre.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Euclidean distances.
        """
        rows = self._check_new_rows(X)
        distances: NDArray[Any] = euclidean_distances(rows, self.cluster_centers_.astype(rows.dtype))
        return distances

    def _check_new_rows(self, X: Any) -> NDArray[Any]:
        """Check rows that come after the fit."""
        check_is_fitted(self)
        rows: NDArray[Any] = validate_data(self, X, reset=False, dtype=[np.float64, np.float32], order="C")
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
