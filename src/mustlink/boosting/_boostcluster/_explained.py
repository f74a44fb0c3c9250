"""How much of each column clusters explain.

Links give one test per column, of as many pairs as there are links. Clusters of all rows, guided by the links, say
more, and wrong links count less in them. The clusters of several runs are averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from mustlink._types import Array, Floats, Ints
from mustlink.boosting._bases import BaseRun, labels_of_each
from mustlink.boosting._boostcluster._coordinates import is_constant, mean_and_variance
from mustlink.boosting._boostcluster._representations import to_dense
from mustlink.boosting._boostcluster._subsample import draw_places
from mustlink.boosting._coassociation import label_names, renumber

__all__ = ["average_explained", "explained_variance"]

# More rows would change the fractions by less than a hundredth, unless the values of a column are rare.
MAX_ROWS_EXPLAINED = 20_000


def average_explained(runs: Sequence[BaseRun], table: Any, rows: Ints) -> Floats:
    """Average, over the runs as they count, how much of the variance of every column their clusters explain.

    Of many rows some are looked at. All runs must have labels of them; the table has all rows.
    """
    rows = rows[draw_places(len(rows), MAX_ROWS_EXPLAINED)]
    some, weight = table[rows], [run.weight for run in runs]
    moments = mean_and_variance(some)
    explained = [explained_variance(some, labels, moments) for labels in labels_of_each(runs, rows)]
    return np.asarray(np.average(explained, axis=0, weights=weight))


def explained_variance(table: Any, labels: Array, moments: tuple[Floats, Floats] | None = None) -> Floats:
    """Return the fraction of the variance of every column that lies between clusters, adjusted for their number.

    `moments` are the mean and the variance of the columns, computed if None.
    Clusters that have nothing to do with the column explain zero in the mean, before negative values become zero. Noise
    is left out. It is also zero for a constant column, and if there are not two clusters.
    """
    names = label_names(labels)
    cluster = renumber(labels, names)
    clustered = cluster >= 0
    if not clustered.all():
        table, cluster, moments = table[np.flatnonzero(clustered)], cluster[clustered], None
    n_rows, n_clusters = len(cluster), len(names)
    if n_clusters < 2 or n_rows <= n_clusters:
        return np.zeros(table.shape[1])
    member = csc_array((np.ones(n_rows), cluster, np.arange(n_rows + 1)), shape=(n_clusters, n_rows))
    sizes = np.bincount(cluster)
    means = to_dense(member @ table) / sizes[:, None]
    between = sizes @ (means - sizes @ means / n_rows) ** 2 / n_rows
    mean, variance = moments or mean_and_variance(table)
    varies = ~is_constant(mean, variance, n_rows, table.dtype)
    fraction = np.where(varies, between / np.where(varies, variance, 1.0), 0.0)
    return np.clip(1 - (1 - fraction) * (n_rows - 1) / (n_rows - n_clusters), 0.0, 1.0)
