"""Cluster a DataFrame of Spark with links between ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mustlink._estimators import count_parameter
from mustlink._types import Ints
from mustlink.base import TAKING_LOCAL_BLOCKS, warn_of_fewer_clusters
from mustlink.catalogue import CATALOGUE, DEFAULT_METHOD, Entry, find_clusterer
from mustlink.errors import ConstraintError, InfeasibleError, OptionError
from mustlink.spark._columns import LABEL
from mustlink.spark._links import find_linked_rows, open_links
from mustlink.spark._model import SparkModel
from mustlink.spark._rows import SparkRows

if TYPE_CHECKING:
    from mustlink.constraints._constraints import Contradictions
    from mustlink.tables import UnknownIds

__all__ = ["cluster"]


def cluster(
    df: Any,
    links: Any = None,
    *,
    id: str = "id",
    columns: Sequence[str] | None = None,
    n_clusters: int = 8,
    method: str = DEFAULT_METHOD,
    estimator: Any = None,
    random_state: Any = None,
    unknown_ids: UnknownIds = "raise",
    contradictions: Contradictions = "raise",
    n_partitions: int | None = None,
    **parameters: Any,
) -> tuple[Any, SparkModel]:
    """Cluster the rows of a Spark DataFrame with must-link and cannot-link constraints between ids.

    Parameters
    ----------
    df : DataFrame
        Of Spark, with a column of ids and columns of numbers. Its rows stay on the executors.
    links : path-like, DataFrame of Spark, pandas or polars, or mapping of columns, default=None
        With the columns a and b (ids), link (must/cannot or 1/-1) and optionally weight, as in
        :meth:`mustlink.Constraints.read`. The links and the linked rows must fit into the memory of the driver.
    id : str, default="id"
        The column of the ids: whole numbers or strings, all different.
    columns : sequence of str, default=None
        The columns of the features; None is all but the ids. Columns of different units should be scaled first.
    n_clusters : int, default=8
        The number of clusters.
    method : str, default="boost"
        A clusterer of the catalogue that takes rows in blocks, such as "pck", "cop" or "lcvqe".
    estimator : estimator or str, default=None
        The clusterer that is boosted, for methods that boost one, such as :class:`MLlibKMeans`.
    random_state : int, RandomState instance or None, default=None
        The seed.
    unknown_ids : {"raise", "skip"}, default="raise"
        How to treat a link with an id that df does not have. With "skip" it is left out, and a SkippedLinksWarning says
        how many were.
    contradictions : {"raise", "majority", "keep"}, default="raise"
        How to treat a pair of ids that is given both as must-link and as cannot-link, as for
        :class:`mustlink.Constraints`.
    n_partitions : int, default=None
        The number of blocks of rows; see :class:`SparkRows`.
    **parameters : object
        Further parameters of the clusterer, such as ``max_iter``.

    Returns
    -------
    labels : DataFrame
        Of Spark, with the ids and a column label. It is computed and kept on the executors; ``labels.unpersist()``
        releases it.
    model : SparkModel
        The fitted clusterer, the broken links, and clusters for new rows.

    See Also
    --------
    SparkRows : The rows alone, as X of a clusterer.

    Notes
    -----
    The labels are those of the same clusterer in memory on rows in the order of :class:`SparkRows`.

    Examples
    --------
    >>> from pyspark.sql import SparkSession  # doctest: +SKIP
    >>> from mustlink.spark import cluster
    >>> spark = SparkSession.builder.getOrCreate()  # doctest: +SKIP
    >>> df = spark.createDataFrame([("a", 0.0), ("b", 1.0), ("c", 8.0), ("d", 9.0)], "id string, x double")
    ... # doctest: +SKIP
    >>> links = {"a": ["a"], "b": ["c"], "link": ["must"]}
    >>> labels, model = cluster(df, links, n_clusters=2, method="cop", random_state=0)  # doctest: +SKIP
    >>> label_of = {row.id: row.label for row in labels.collect()}  # doctest: +SKIP
    >>> label_of["a"] == label_of["c"], len(model.violations)  # doctest: +SKIP
    (True, 0)
    """
    clusterer = _build(find_clusterer(method), n_clusters, estimator, random_state, parameters)
    # Before any pass over the rows, as a file may be missing or wrong.
    source, names = open_links(links)
    rows = SparkRows(df, id, columns, n_partitions=n_partitions)
    try:
        given = find_linked_rows(source, names, rows, unknown_ids, contradictions)
        try:
            clusterer.fit(rows, constraints=given.links)
        except (ConstraintError, InfeasibleError) as error:
            raise given.with_ids(error) from error
        # Computed here, while the rows are kept.
        sizes, n_noise = _sizes(_count_labels(clusterer.labels_), n_clusters)
    finally:
        rows.unpersist()
    assert rows.columns is not None
    model = SparkModel(clusterer, id, rows.columns, given.to_frame(clusterer.violations_), sizes, n_noise)
    return clusterer.labels_, model


def _build(entry: Entry, n_clusters: int, estimator: Any, random_state: Any, parameters: dict[str, Any]) -> Any:
    """Return the clusterer, or refuse one that takes rows in memory only, and parameters that it does not have."""
    kind = entry.load()
    if not _takes_spark(entry):
        where = "on this machine" if entry.takes_blocks else "in memory"
        able = ", ".join(other.name for other in CATALOGUE if _takes_spark(other))
        raise OptionError(f"The method {entry.name} takes rows {where} only; rows of Spark are for {able}.")
    if estimator is not None:
        if not entry.boosts:
            raise OptionError(f"The method {entry.name} boosts no other clusterer; estimator cannot be used with it.")
        parameters = {**parameters, "estimator": estimator}
    known = kind().get_params(deep=False)
    unknown = [name for name in parameters if name not in known]
    if unknown:
        raise OptionError(f"{kind.__name__} has no parameter {unknown[0]!r}; its parameters are {', '.join(known)}.")
    asked = {count_parameter(kind()) or "n_clusters": n_clusters, "random_state": random_state, **parameters}
    return kind(**{name: value for name, value in asked.items() if name in known})


def _takes_spark(entry: Entry) -> bool:
    """Whether a clusterer takes links and rows that are on other machines."""
    return entry.takes_links and entry.takes_blocks and entry.class_name not in TAKING_LOCAL_BLOCKS


def _count_labels(labels: Any) -> dict[int, int]:
    """Return the number of rows of every label."""
    return {row[LABEL]: row["count"] for row in labels.groupBy(LABEL).count().collect()}


def _sizes(size_of: dict[int, int], n_clusters: int) -> tuple[Ints, int]:
    """Return the numbers of rows of the clusters and of noise; warn of fewer clusters than asked for."""
    warn_of_fewer_clusters(np.array(sorted(size_of)), n_clusters)
    sizes = np.zeros(max(n_clusters, max(size_of) + 1), dtype=np.int64)
    for label, size in size_of.items():
        if label >= 0:
            sizes[label] = size
    return sizes, sum(size for label, size in size_of.items() if label < 0)
