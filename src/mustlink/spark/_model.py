"""What a clustering in Spark leaves: the fitted clusterer, the broken links by id, labels for new rows."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from mustlink._sklearn_compat import one_blas_thread
from mustlink._types import Ints
from mustlink.spark._columns import LABEL, find_columns
from mustlink.spark._packing import Pack, refuse_faults
from mustlink.spark._session import check_frame

__all__ = ["SparkModel"]


class SparkModel:
    """A fitted clusterer for rows of Spark.

    Returned by :func:`mustlink.spark.cluster`. A model can be pickled; the labels of the rows of the fit are not part
    of the copy.

    Parameters
    ----------
    estimator : estimator
        The fitted clusterer.
    id : str
        The column of the ids.
    columns : list of str
        The columns of the features.
    violations : DataFrame
        Of pandas: the links that the clusters break, with the columns a, b (ids), link and weight.
    sizes : ndarray of shape (n_clusters,)
        The number of rows of every cluster.
    n_noise : int, default=0
        The number of rows in no cluster, those with the label -1.

    See Also
    --------
    cluster : Returns the labels and the model.

    Examples
    --------
    >>> from pyspark.sql import SparkSession  # doctest: +SKIP
    >>> from mustlink.spark import cluster
    >>> spark = SparkSession.builder.getOrCreate()  # doctest: +SKIP
    >>> df = spark.createDataFrame([("a", 0.0), ("b", 1.0), ("c", 8.0), ("d", 9.0)], "id string, x double")
    ... # doctest: +SKIP
    >>> links = {"a": ["a"], "b": ["d"], "link": ["cannot"]}
    >>> _, model = cluster(df, links, n_clusters=2, method="pck", random_state=0)  # doctest: +SKIP
    >>> model  # doctest: +SKIP
    SparkModel(PCKMeans(n_clusters=2, random_state=0), sizes=[2, 2])
    >>> new = spark.createDataFrame([("e", 0.5), ("f", 8.5)], "id string, x double")  # doctest: +SKIP
    >>> model.transform(new).columns  # doctest: +SKIP
    ['id', 'x', 'label']
    """

    def __init__(
        self, estimator: Any, id: str, columns: list[str], violations: Any, sizes: Ints, n_noise: int = 0
    ) -> None:
        self.estimator, self.id, self.columns = estimator, id, columns
        self.violations, self.sizes, self.n_noise = violations, sizes, n_noise

    def __repr__(self) -> str:
        noise = f", n_noise={self.n_noise}" if self.n_noise else ""
        return f"SparkModel({self.estimator!r}, sizes={self.sizes.tolist()}{noise})"

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        # A DataFrame cannot leave its session.
        state["estimator"] = copy.copy(self.estimator)
        state["estimator"].labels_ = np.empty(0, dtype=np.int32)
        return state

    def transform(self, df: Any) -> Any:
        """Return new rows with their clusters.

        Parameters
        ----------
        df : DataFrame
            Of Spark, with the columns of the fit; others are kept.

        Returns
        -------
        DataFrame
            The same rows with one more column, label. It is computed when it is used.
        """
        from pyspark.sql.types import IntegerType, StructField, StructType

        check_frame(df)
        if not hasattr(self.estimator, "predict"):
            raise TypeError(f"{type(self.estimator).__name__} has no predict, so that new rows cannot be clustered.")
        if LABEL in df.columns:
            raise ValueError(f"df has a column {LABEL!r} already; rename it first.")
        layout = find_columns(df, self.id, self.columns)
        features = [df.columns.index(name) for name in self.columns]
        call = PredictBatches(self.estimator._for_predicting(), df.columns.index(self.id), features, layout)
        schema = StructType([*df.schema.fields, StructField(LABEL, IntegerType())])
        return df.mapInArrow(call, schema)


class PredictBatches(Pack):
    """Add the clusters that a model predicts to batches of rows."""

    def __init__(self, model: Any, id: int, features: list[int], layout: Any) -> None:
        super().__init__(len(features), layout.dtype)
        self._model, self._places = model, [id, *features]
        self._id, self._columns = layout.id, layout.columns

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            faults: list[Any] = []
            block = self._as_block(batch.select(self._places), faults)
            refuse_faults(faults, self._id, self._columns)
            with one_blas_thread():
                labels = self._model.predict(block) if len(block) else []
            column = pa.array(np.asarray(labels, dtype=np.int32))
            yield pa.RecordBatch.from_arrays([*batch.columns, column], names=[*batch.schema.names, LABEL])
