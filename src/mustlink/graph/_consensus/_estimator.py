"""Consensus of several clusterings."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from mustlink._numbering import number_by_first
from mustlink._sklearn_compat import Interval, StrOptions
from mustlink._types import Floats, Indices, Ints
from mustlink._warnings import warn_caller
from mustlink.base import TableClusterMixin
from mustlink.graph._consensus._codes import (
    UNKNOWN,
    Codes,
    build_codes,
    column_labels,
    encode,
    mirkin_distances,
)
from mustlink.graph._consensus._methods import (
    MAX_CLUSTERS,
    MAX_LP_NODES,
    PROVEN_MEAN,
    balls,
    by_samples,
    lp_pivots,
    pair_bound,
    pivots,
    search,
)
from mustlink.graph._correlation._cost import cost_ratio
from mustlink.graph._correlation._local_search import compact

# A larger mean distance of a ball, which is better in practice but has no guarantee.
PRACTICAL_MEAN = 0.4
# Up to so many distinct codes, the bound looks at every pair of them.
MAX_BOUND_NODES = 2_000


class ConsensusClustering(TableClusterMixin, BaseEstimator):
    """Consensus of several clusterings: the clustering that disagrees with them in the fewest pairs.

    The columns of X are clusterings of the rows, or categorical columns. The clusters minimize the summed Mirkin
    distance to them: the number of pairs of rows that are together in one and apart in the other.

    Parameters
    ----------
    method : {"auto", "best_input", "balls", "pivot", "lp_pivot"}, default="auto"
        How to find a first clustering:

        - "best_input": the column with the least disagreement, at most twice the least possible.
        - "balls": balls of radius 1/2 around rows that are close to many, if their mean distance is at most 1/4; at
          most 3 times the least disagreement.
        - "pivot": random rows take all rows that at least half of the columns join with them.
        - "lp_pivot": rounding of the linear program of :class:`CorrelationClustering`.
        - "auto": the best of "best_input", "pivot", and "balls" with a mean distance of at most 1/4 and at most
          2/5.
    weights : array-like of shape (n_clusterings,), default=None
        The weight of every column, positive; ones if None.
    local_search : bool, default=True
        Whether rows, and then clusters, move until the disagreement cannot be reduced so.
    sample_size : int, default=2000
        If there are more distinct rows, "balls" and "pivot" cluster a sample of so many; other rows join the cluster
        that they agree with or are sampled next. For "lp_pivot" the size is at most 100.
    random_state : int, RandomState or None, default=None
        Seed of pivots, samples and orders.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row, numbered in the order of their first rows.
    n_clusters_ : int
        The number of clusters.
    disagreement_ : float
        The weighted sum of `distances_`.
    distances_ : ndarray of shape (n_clusterings,)
        The Mirkin distance to every column.
    lower_bound_ : float
        No clustering disagrees less: from the distances between columns, and with up to 2,000 distinct rows from
        the lesser side of every pair of rows.
    ratio_ : float
        `disagreement_` divided by `lower_bound_`; 1 if both are 0, infinite if only the bound is.
    best_input_ : int
        The column with the least disagreement.
    best_input_disagreement_ : float
        Its disagreement.
    n_features_in_ : int
        The number of columns.

    See Also
    --------
    CorrelationClustering : From signed weights of pairs.
    mustlink.boosting.CoAssociation : How often rows are together in several clusterings.

    Notes
    -----
    A row that is -1 in a column is noise: this column separates it from all other rows. A row that is NaN or None is
    unknown: the column says nothing of its pairs.

    Rows with equal labels in all columns are one node with a weight, and no array has an entry per pair of rows. Local
    search keeps the number of rows per cluster and label, and moves a row in time proportional to the number of
    columns times clusters; a start with more than 2,000 clusters is not searched, and a result with so many comes with
    a warning.

    With noise, rows with equal labels that the columns separate more than they join are kept as several nodes. Half of
    an unknown column separates two rows in distances, as in the source of the method of balls [1]_.

    References
    ----------
    .. [1] A. Gionis, H. Mannila and P. Tsaparas, "Clustering aggregation", ACM Transactions on Knowledge Discovery from
       Data 1, 2007.
    .. [2] N. Immorlica and A. Wirth, "Correlation clustering", in S. Basu, I. Davidson and K. L. Wagstaff (eds.),
       Constrained Clustering, CRC Press 2009, chapter 13.

    Examples
    --------
    >>> from mustlink import ConsensusClustering
    >>> X = [["a", 1, 7], ["a", 1, 7], ["a", 2, 9], ["b", 2, 9], ["b", 2, 9]]
    >>> model = ConsensusClustering(random_state=0).fit(X)
    >>> model.labels_
    array([0, 0, 1, 1, 1])
    >>> model.distances_, model.disagreement_
    (array([4, 0, 0]), 4.0)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "method": [StrOptions({"auto", "best_input", "balls", "pivot", "lp_pivot"})],
        "weights": ["array-like", None],
        "local_search": ["boolean"],
        "sample_size": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        method: Literal["auto", "best_input", "balls", "pivot", "lp_pivot"] = "auto",
        *,
        weights: ArrayLike | None = None,
        local_search: bool = True,
        sample_size: int = 2_000,
        random_state: Any = None,
    ) -> None:
        self.method = method
        self.weights = weights
        self.local_search = local_search
        self.sample_size = sample_size
        self.random_state = random_state

    def _fit(self, X: Any) -> None:
        random_state = check_random_state(self.random_state)
        weights = _check_weights(self.weights, X.shape[1])
        columns = encode(X)
        codes, node = build_codes(columns, weights)
        inputs = [column_labels(columns[:, t]) for t in range(columns.shape[1])]
        between = np.stack([mirkin_distances(labels, columns) for labels in inputs])
        costs = between @ weights
        self.best_input_ = int(costs.argmin())
        self.best_input_disagreement_ = float(costs[self.best_input_])
        best = self._best_clustering(codes, node, columns, inputs[self.best_input_], random_state)
        self.n_clusters_ = int(best.max()) + 1
        self.labels_ = best
        self.distances_ = mirkin_distances(best, columns)
        self.disagreement_ = float(self.distances_ @ weights)
        bound = 0.0 if (columns == UNKNOWN).any() else pair_bound(between, weights)
        if codes.n_nodes <= MAX_BOUND_NODES:
            bound = max(bound, codes.sum_of_minima())
        self.lower_bound_ = min(bound, self.disagreement_)
        self.ratio_ = cost_ratio(self.disagreement_, self.lower_bound_)
        if self.local_search and self.n_clusters_ > MAX_CLUSTERS and self.disagreement_ > self.lower_bound_:
            warn_caller(
                f"The consensus has {self.n_clusters_:,} clusters, and local search was left out, as it is above "
                f"{MAX_CLUSTERS:,}: the disagreement may not be the least. Leave out columns that tell almost all rows "
                "apart, such as identifiers.",
                ConvergenceWarning,
            )

    def _best_clustering(
        self, codes: Codes, node: Indices, columns: Ints, best_input: Ints, random_state: np.random.RandomState
    ) -> Ints:
        """Return the candidate with the least disagreement, as it is and after local search."""
        candidates = [labels[node] for labels in self._starts(codes, random_state)]
        if self.method in ("auto", "best_input"):
            candidates.insert(0, best_input)
        if self.local_search:
            # A row of a node may be apart from the others in a column of noise: the node goes with its first row.
            first = np.unique(node, return_index=True)[1]
            candidates += [search(codes, labels[first], random_state)[node] for labels in candidates]
        found = [
            number_by_first(compact(labels), int(compact(labels).max()) + 1)[0].astype(np.int64)
            for labels in candidates
        ]
        weights = codes.weights
        return found[int(np.argmin([mirkin_distances(labels, columns) @ weights for labels in found]))]

    def _starts(self, codes: Codes, random_state: np.random.RandomState) -> list[Indices]:
        """Return the first clusterings of the nodes by the method."""
        size = int(self.sample_size)
        means = {"balls": [PROVEN_MEAN], "auto": [PROVEN_MEAN, PRACTICAL_MEAN]}.get(self.method, [])
        starts = [by_samples(codes, size, partial(balls, max_mean=mean), random_state) for mean in means]
        if self.method in ("pivot", "auto"):
            starts.append(by_samples(codes, size, partial(pivots, random_state=random_state), random_state))
        if self.method == "lp_pivot":
            rounded = partial(lp_pivots, random_state=random_state)
            starts.append(by_samples(codes, min(size, MAX_LP_NODES), rounded, random_state))
        return starts

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        if isinstance(X, list | tuple) and np.asarray(X).dtype.kind in "US":
            # An array of texts would have texts in place of -1 and NaN.
            X = np.array(X, dtype=object)
        return validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")


def _check_weights(weights: ArrayLike | None, n_columns: int) -> Floats:
    """Return one positive weight per column."""
    if weights is None:
        return np.ones(n_columns)
    checked = np.asarray(weights, dtype=np.float64)
    if checked.shape != (n_columns,) or not (np.isfinite(checked).all() and (checked > 0).all()):
        raise ValueError(f"weights must be {n_columns} positive numbers, one per column of X; got {weights!r}.")
    return checked
