"""What the clusterers with connected clusters share: `fit`."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator

from mustlink._sklearn_compat import fit_context
from mustlink.base import TableClusterMixin
from mustlink.graph._adjacency import check_graph, check_parts

__all__ = ["BaseConnected"]


class BaseConnected(TableClusterMixin, BaseEstimator):
    """Base of the clusterers whose clusters are connected in a graph; a subclass implements ``_fit(X, graph)``."""

    __metadata_request__fit = {"graph": True}  # noqa: RUF012  (scikit-learn reads a plain class attribute)

    n_clusters: int

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: object = None, *, graph: Any = None) -> Self:
        """Find connected clusters.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; with ``metric="precomputed"``, where it is supported, an array of shape (n_samples, n_samples).
        y : object, default=None
            Ignored.
        graph : sparse or dense array of shape (n_samples, n_samples), default=None
            Symmetric; two rows are adjacent where it is not zero. Weights and the diagonal are not used. Without a
            graph nothing is restricted: any rows may be in one cluster, as if all were adjacent, and there is no
            warning.

        Returns
        -------
        self : object
            The fitted clusterer.
        """
        rows = self._check_fit_rows(X, y)
        adjacency = check_graph(graph, rows.shape[0])
        check_parts(adjacency, self.n_clusters)
        self._fit_and_count(rows, adjacency)
        return self
