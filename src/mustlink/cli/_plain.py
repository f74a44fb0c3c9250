"""What the same table gives without links, to compare with."""

from __future__ import annotations

import warnings
from typing import Any

__all__ = ["plain_labels"]


def plain_labels(X: Any, n_clusters: int, seed: int) -> Any:
    """Cluster by scikit-learn's k-means, which knows nothing of links."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        # Fewer distinct rows than clusters: the labels are still what plain k-means gives.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return KMeans(n_clusters, n_init=10, random_state=seed).fit_predict(X)
