"""How the hierarchical clusterers are checked."""

from __future__ import annotations

from typing import Any

from sklearn.cluster import AgglomerativeClustering

from conformance import Case


def agglomerative(estimator: Any) -> AgglomerativeClustering:
    return AgglomerativeClustering(estimator.n_clusters, linkage=getattr(estimator, "linkage", "single"))


CASES = {
    "ConstrainedLinkage": Case(agglomerative, [{"linkage": "ward"}, {"linkage": "complete", "propagation": "klein"}]),
    "PartitionThenLink": Case(agglomerative, [{"linkage": "average", "n_parts": 20}]),
    "SeededSingleLink": Case(agglomerative),
}
