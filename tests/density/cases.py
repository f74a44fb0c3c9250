"""How the density clusterers are checked."""

from __future__ import annotations

from typing import Any

from sklearn.cluster import HDBSCAN

from conformance import Case


def hdbscan(estimator: Any) -> HDBSCAN:
    return HDBSCAN(cluster_selection_method=estimator.cluster_selection_method, copy=True)


CASES = {"ConstrainedHDBSCAN": Case(hdbscan, [{"enforce": "soft"}, {"cluster_selection_method": "leaf"}])}
