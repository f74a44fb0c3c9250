"""Clustering of the rows of eigenvectors by any clusterer."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state

from mustlink._estimators import clone_with, draw_seed
from mustlink._sklearn_compat import Interval
from mustlink.spectral._eigenvectors import leading_vectors
from mustlink.spectral._graph import Graph, SpectralMixin


class EmbeddingMixin(SpectralMixin):
    """The parameters of the eigenvectors and of their clusterer, and the clustering itself."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SpectralMixin._parameter_constraints,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
    }

    estimator: Any
    n_components: int | None
    random_state: Any

    def _count_vectors(self, n_rows: int) -> int:
        """Return the number of eigenvectors, and refuse more than rows."""
        n_vectors = self.n_clusters if self.n_components is None else self.n_components
        if n_rows < n_vectors:
            raise ValueError(f"n_samples={n_rows} should be >= n_components={n_vectors}.")
        return n_vectors

    def _cluster_vectors(self, graph: Graph, form: str, n_vectors: int, dtype: Any) -> None:
        """Find the eigenvectors of a normalized graph, and the clusters of their rows."""
        rng = check_random_state(self.random_state)
        self.eigenvalues_, vectors = leading_vectors(graph, form, n_vectors, rng)
        directions = normalize(vectors)
        self.embedding_ = directions.astype(dtype, copy=False)
        estimator = KMeans(n_init=10) if self.estimator is None else self.estimator
        if isinstance(estimator, type) or not hasattr(estimator, "fit_predict"):
            raise TypeError(f"estimator must be a clusterer with fit_predict, such as KMeans(); got {estimator!r}.")
        self.estimator_ = clone_with(estimator, self.n_clusters, draw_seed(rng))
        self.labels_ = np.asarray(self.estimator_.fit_predict(directions), dtype=np.int64)
