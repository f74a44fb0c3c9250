"""HMRFKMeans: k-means by distance, cosine or divergence in which broken links have a penalty."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.preprocessing import normalize

from mustlink._magnitude import place_of
from mustlink._rows import RowBlocks
from mustlink._sklearn_compat import Interval, StrOptions
from mustlink._types import Array, Floats
from mustlink.blocks import blockwise_transform
from mustlink.constraints import Constraints
from mustlink.kmeans._base import BaseConstrainedKMeans, Plan, Problem
from mustlink.kmeans._engine import Run
from mustlink.kmeans._hmrfkmeans_distortions import DISTORTIONS, WeightedDistortion
from mustlink.kmeans._rules import LinkedRows


class HMRFKMeans(BaseConstrainedKMeans):
    """k-means by distance, cosine or I-divergence with soft constraints (Basu, Bilenko and Mooney 2004).

    The labels form a hidden Markov random field: linked rows prefer labels that keep the link. Use it for text and
    counts, with the cosine or the I-divergence; sparse matrices stay sparse. A weight of each column is learned with
    the clusters.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    distortion : {"euclidean", "cosine", "i-divergence"}, default="euclidean"
        How rows are compared:

        - "euclidean": squared distance;
        - "cosine": one minus the cosine, as is usual for text;
        - "i-divergence": I-divergence, for counts and other nonnegative numbers.

    learn_metric : bool, default=True
        Whether to learn a weight for each column.
    penalty : float, default=1.0
        The penalty of a broken link of weight one, relative to the weight of a row. With 0 links are used only for the
        start.
    metric_prior : float, default=3.0
        How strongly the weights of the columns are held near each other.
    init : {"components", "k-means++", "random"} or array-like of shape (n_clusters, n_features), default="components"
        The starting centers; for the cosine the rows are scaled to length one for this.

        - "components": means of must-link components far from each other, then rows as by "k-means++";
        - "k-means++": rows drawn far from each other;
        - "random": rows drawn at random;
        - an array: these centers.

    n_init : int or "auto", default="auto"
        The number of runs from different starts, of which the one with the lowest objective is kept. "auto" is one
        run, ten for ``init="random"``. From a start without randomness one run is made.
    max_iter : int, default=100
        The maximum number of iterations of a run.
    tol : float, default=1e-5
        A run stops when an iteration lowers the objective by no more than this fraction.
    verbose : int or bool, default=0
        Whether to show a progress bar.
    random_state : int, RandomState or None, default=None
        Makes a fit repeatable bit for bit.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The center of each cluster.
    feature_weights_ : ndarray of shape (n_features,)
        The weights of the columns; their mean is one, each column counted by its spread.
    n_iter_ : int
        The number of iterations of the kept run.
    objective_ : list of float
        The objective after each assignment of that run; it never rises.
    violations_ : Constraints
        The links that the result breaks.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X has any.

    See Also
    --------
    MPCKMeans : A metric for each cluster, or a full one.
    PCKMeans : Squared distances without learning.

    Notes
    -----
    The objective sums the distortion of the rows from their centers; over broken must-links, the weight times the
    distortion between the two rows; over broken cannot-links, the weight times the difference between the largest
    possible distortion and that of the two rows; and a prior of the weights of the columns. Rows without links go to
    the nearest center; rows with links are visited by iterated conditional modes, the most certain first, then
    must-link components as wholes. Then come the centers (means; for the cosine the normalized sum of the normalized
    rows), then one gradient step for the weights.

    What the paper leaves open. Without a bound, weights of zero would be optimal. Here the distortion of all rows from
    one center stays what it is with all weights one, and the prior is minus `metric_prior` times the sum, over the
    columns, of what the column adds to that distortion times the logarithm of its weight: a column gets a higher
    weight, the more of its spread the clusters explain, in whatever units it is. The largest distortion is an upper
    bound: the diameter of the box or of the ball around all rows; 1 for the cosine of nonnegative rows, and 2 of
    others; 2 log 2 times the largest row sum for the I-divergence. The I-divergence between two rows is the sum of
    their divergences from their mean. No entry of a center is less than a thousandth of the mean of its column, which
    keeps divergences finite. A row of zeros has the cosine 0 with all others. An empty cluster is restarted at the row
    whose leaving lowers the objective most. X is copied in double precision.

    References
    ----------
    S. Basu, M. Bilenko and R. J. Mooney, "A probabilistic framework for semi-supervised clustering", KDD 2004.

    Examples
    --------
    Counts of four words in six texts, long and short.

    >>> import numpy as np
    >>> from mustlink import Constraints, HMRFKMeans
    >>> X = np.array([[9, 8, 0, 1], [1, 1, 0, 0], [2, 3, 1, 0], [0, 1, 7, 9], [0, 0, 1, 1], [1, 0, 4, 3]])
    >>> links = Constraints(must_link=[(0, 1)], cannot_link=[(1, 4)])
    >>> model = HMRFKMeans(n_clusters=2, distortion="cosine", random_state=0).fit(X, constraints=links)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseConstrainedKMeans._parameter_constraints,
        "distortion": [StrOptions(set(DISTORTIONS))],
        "learn_metric": ["boolean"],
        "penalty": [Interval(Real, 0, None, closed="left")],
        "metric_prior": [Interval(Real, 0, None, closed="neither")],
    }

    _read_by_predict = ("cluster_centers_", "feature_weights_", "_origin")

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        distortion: str = "euclidean",
        learn_metric: bool = True,
        penalty: float = 1.0,
        metric_prior: float = 3.0,
        init: str | ArrayLike = "components",
        n_init: int | str = "auto",
        max_iter: int = 100,
        tol: float = 1e-5,
        verbose: int | bool = 0,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.distortion = distortion
        self.learn_metric = learn_metric
        self.penalty = penalty
        self.metric_prior = metric_prior
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    def _nearest(self, rows: RowBlocks) -> Array:
        centers = self._shifted(self.cluster_centers_)
        distortion = DISTORTIONS[self.distortion]
        return rows.cheapest(lambda X: distortion.costs(X, self.feature_weights_, centers))[0]

    @blockwise_transform
    def transform(self, X: Any) -> Array:
        """Return the distortion of each row from each center.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Squared distances, one minus cosines, or divergences, under the weights of the columns.
        """
        rows, centers = self._check_new_rows(X), self._shifted(self.cluster_centers_)
        costs = DISTORTIONS[self.distortion].costs(rows.X, self.feature_weights_, centers)
        return costs.astype(self.cluster_centers_.dtype)

    def _check_new_rows(self, X: Any) -> RowBlocks:
        """Check rows that come after the fit, and shift them to the origin."""
        return RowBlocks(self._shifted(super()._check_new_rows(X).X))

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        """Check rows, for the I-divergence also that nothing is negative."""
        X = super()._check_rows(X, reset=reset)
        if self.distortion == "i-divergence":
            _check_not_negative(X)
        return X

    def _shifted(self, X: Any) -> Any:
        """Return rows in double precision, relative to the origin: squared distances lose digits far from zero."""
        X = X.astype(np.float64)
        if self._origin is None:
            return X
        return (X.toarray() if sparse.issparse(X) else X) - self._origin

    def _unshifted(self, centers: Floats, dtype: Any) -> Array:
        """Return centers relative to zero, in the precision of X."""
        return (centers if self._origin is None else centers + self._origin).astype(dtype)

    def _plan(self, problem: Problem) -> Plan:
        X, dtype = problem.X, problem.X.dtype
        is_shifted = self.distortion == "euclidean" and not sparse.issparse(X)
        self._origin = np.asarray(X.mean(axis=0, dtype=np.float64)) if is_shifted else None
        rows = self._shifted(X)
        linked = problem.linked if self.penalty else LinkedRows(Constraints(), X.shape[0])
        geometry = WeightedDistortion(
            DISTORTIONS[self.distortion](rows, linked.given.pairs),
            linked,
            float(self.penalty),
            float(self.metric_prior) if self.learn_metric else 0.0,
            # To the precision of X: `predict` then uses exactly the centers that labeled the rows.
            lambda centers: np.asarray(self._shifted(self._unshifted(centers, dtype))),
        )
        shown = problem.of_starts
        seen = self._shifted(shown.X)
        seeding = replace(shown, rows=RowBlocks(normalize(seen) if self.distortion == "cosine" else seen))
        start = self._start(seeding, self._shifted).map(geometry.begin)
        return geometry, [start], {"decrease": self.tol}

    def _check_init(self, n_features: int) -> Floats:
        centers = super()._check_init(n_features)
        if self.distortion == "i-divergence":
            _check_not_negative(centers, "init")
        return centers

    def _keep(self, run: Run, links: Constraints, dtype: Any) -> None:
        super()._keep(run, links, dtype)
        self.cluster_centers_ = self._unshifted(run.state.centers, dtype)
        self.feature_weights_ = run.state.metric

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self.distortion == "i-divergence"
        return tags


def _check_not_negative(X: Any, name: str = "X") -> None:
    """Raise for negative numbers, with the place of the first one."""
    values = X.data if sparse.issparse(X) else X
    if values.size == 0 or values.min() >= 0:
        return
    row, column = place_of(X, values < 0)
    raise ValueError(
        f"Negative values in data passed to HMRFKMeans: row {row}, column {column} of {name} is {X[row, column]}, but "
        'the I-divergence needs nonnegative numbers; pass distortion="euclidean" or "cosine".'
    )
