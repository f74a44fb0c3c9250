"""MLlib's k-means as a clusterer of scikit-learn."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mustlink._sklearn_compat import Interval, StrOptions, check_sample_weight, fit_context
from mustlink._types import Array, Floats
from mustlink.base import check_blocked, check_enough_rows
from mustlink.blocks import BlockedRows
from mustlink.spark._passes import EmitVectors
from mustlink.spark._rows import PackedRows, same_block
from mustlink.spark._session import active_session, name_missing_modules, require_pyspark

__all__ = ["MLlibKMeans"]

FEATURES, WEIGHT = "features", "weight"
# Rows of an array are sent to Spark in cells of this size.
CELL_BYTES = 1 << 20


class MLlibKMeans(ClusterMixin, BaseEstimator):
    """K-means of Spark's MLlib.

    A clusterer in the manner of scikit-learn, to be boosted (``estimator=MLlibKMeans()``) or used alone.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    init : {"k-means||", "random"}, default="k-means||"
        How the first centers are chosen.
    init_steps : int, default=2
        The number of steps of "k-means||".
    max_iter : int, default=20
        The maximum number of iterations.
    tol : float, default=1e-4
        A run ends when no center moves farther.
    random_state : int, RandomState instance or None, default=None
        The seed.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_found, n_features)
        The centers; MLlib returns fewer than `n_clusters` where rows are equal.
    labels_ : ndarray of shape (n_samples,), or DataFrame
        The cluster of every row; for rows of Spark a DataFrame with ids and labels.
    inertia_ : float
        The sum of squared distances to the nearest centers, as MLlib computes it.
    n_iter_ : int
        The number of iterations.

    See Also
    --------
    sklearn.cluster.KMeans : For rows in memory.

    Notes
    -----
    The result depends on how the rows are partitioned, and so on the number of cores, as always in MLlib.

    Examples
    --------
    >>> import numpy as np
    >>> from pyspark.sql import SparkSession  # doctest: +SKIP
    >>> from mustlink.spark import MLlibKMeans
    >>> spark = SparkSession.builder.getOrCreate()  # doctest: +SKIP
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> kmeans = MLlibKMeans(n_clusters=2, random_state=0).fit(X)  # doctest: +SKIP
    >>> sorted(kmeans.cluster_centers_.ravel().tolist())  # doctest: +SKIP
    [0.5, 8.5]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 2, None, closed="left")],
        "init": [StrOptions({"k-means||", "random"})],
        "init_steps": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }
    _takes_blocks = True

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: str = "k-means||",
        init_steps: int = 2,
        max_iter: int = 20,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.init_steps = init_steps
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: object = None, sample_weight: Any = None) -> Self:
        """Find the centers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or SparkRows
            The rows. An array is sent to the executors of the active Spark session.
        y : object, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of every row of an array.

        Returns
        -------
        self : object
            The fitted clusterer.
        """
        require_pyspark()
        rows = self._check_rows(X)
        check_enough_rows(rows.shape[0], self.n_clusters)
        if isinstance(rows, PackedRows):
            if sample_weight is not None:
                raise ValueError("sample_weight is not supported for rows that are read in blocks.")
            self._keep(self._run(rows.vectors(FEATURES)), rows.dtype)
            self.labels_ = rows.label(nearest_centers, self.cluster_centers_)
            return self
        weight = None if sample_weight is None else check_sample_weight(sample_weight, rows, dtype=np.float64)
        self._keep(self._run(_send(rows, weight), None if weight is None else WEIGHT), rows.dtype)
        self.labels_ = nearest_centers(rows, self.cluster_centers_)
        return self

    def predict(self, X: Any) -> Any:
        """Return the cluster with the nearest center for every row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or rows in blocks
            New rows.

        Returns
        -------
        ndarray of shape (n_samples,), or DataFrame
            As ``labels_``.
        """
        check_is_fitted(self)
        rows = self._check_rows(X, reset=False)
        if isinstance(rows, BlockedRows):
            return rows.label(nearest_centers, self.cluster_centers_)
        return nearest_centers(rows, self.cluster_centers_)

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        """Validate rows, of the fit or new ones."""
        if isinstance(X, BlockedRows):
            if reset and not isinstance(X, PackedRows):
                raise TypeError(f"MLlibKMeans takes arrays and rows of Spark, and X is {X!r}.")
            return check_blocked(self, X, reset=reset)
        return validate_data(self, X, reset=reset, dtype=[np.float64, np.float32], order="C")

    def _run(self, frame: Any, weight: str | None = None) -> Any:
        """Fit MLlib's clusterer."""
        from pyspark.ml.clustering import KMeans

        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        kmeans = KMeans(
            featuresCol=FEATURES,
            k=self.n_clusters,
            initMode=self.init,
            initSteps=self.init_steps,
            maxIter=self.max_iter,
            tol=self.tol,
            seed=seed,
            **({} if weight is None else {"weightCol": weight}),
        )
        with name_missing_modules():
            return kmeans.fit(frame)

    def _keep(self, model: Any, dtype: Any) -> None:
        """Store the result of MLlib."""
        self.cluster_centers_ = np.array(model.clusterCenters(), dtype=dtype)
        self.inertia_ = float(model.summary.trainingCost)
        self.n_iter_ = int(model.summary.numIter)


def nearest_centers(block: Array, centers: Floats) -> Array:
    """Return the nearest center of every row of a block."""
    return pairwise_distances_argmin(block, centers).astype(np.int32)


def _send(X: Array, weight: Floats | None) -> Any:
    """Return the rows of an array, and their weights, as vectors in a DataFrame of the active session."""
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql import functions

    session = active_session()
    width = X.shape[1]
    table = np.column_stack([X, np.ones(len(X)) if weight is None else weight]).astype(np.float64)
    step = max(1, CELL_BYTES // table[:1].nbytes)
    cells = [(place, bytearray(table[start : start + step])) for place, start in enumerate(range(0, len(X), step))]
    packed = session.createDataFrame(cells, "block int, data binary")

    rows = packed.mapInArrow(EmitVectors(same_block, (), None, width + 1, table.dtype), "values array<double>")
    features = array_to_vector(functions.slice("values", 1, width)).alias(FEATURES)
    return rows.select(features, functions.element_at("values", width + 1).alias(WEIGHT))
