"""Linkage with a maximum size, against a slow version, and its errors."""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_blobs

from mustlink import ConstrainedLinkage, Constraints
from mustlink.errors import InfeasibleError, InfeasibleWarning
from mustlink.metrics import adjusted_rand

DISTANCE: dict[str, Any] = {"single": np.min, "complete": np.max, "average": np.mean}


def merge_slowly(X: Any, linkage: str, size_max: int) -> list[set[int]]:
    """Join the two closest clusters that fit together until none do."""
    clusters = [{row} for row in range(len(X))]
    while True:
        pairs = [
            (DISTANCE[linkage]([np.linalg.norm(X[i] - X[j]) for i in a for j in b]), a, b)
            for a, b in combinations(clusters, 2)
            if len(a) + len(b) <= size_max
        ]
        if not pairs:
            return clusters
        _, a, b = min(pairs, key=lambda pair: pair[0])
        clusters = [cluster for cluster in clusters if cluster not in (a, b)] + [a | b]


@given(seed=st.integers(0, 10_000), linkage=st.sampled_from(sorted(DISTANCE)), size_max=st.integers(1, 8))
@settings(deadline=None, max_examples=60)
def test_merges_are_those_of_the_slow_version(seed: int, linkage: str, size_max: int) -> None:
    X = np.random.default_rng(seed).normal(size=(12, 2))
    model = ConstrainedLinkage(None, distance_threshold=np.inf, linkage=linkage, size_max=size_max).fit(X)
    expected = merge_slowly(X, linkage, size_max)
    found = [set(np.flatnonzero(model.labels_ == cluster).tolist()) for cluster in range(model.n_clusters_)]
    assert sorted(map(sorted, found)) == sorted(map(sorted, expected))


@pytest.mark.parametrize("linkage", ["single", "complete", "average", "ward"])
def test_no_cluster_is_larger(linkage: str) -> None:
    X, _ = make_blobs([80, 10, 10], random_state=0)
    model = ConstrainedLinkage(6, linkage=linkage, size_max=25).fit(X)
    assert np.bincount(model.labels_).max() <= 25
    assert model.n_clusters_ == 6


def test_a_maximum_that_never_binds_changes_nothing() -> None:
    X, _ = make_blobs(40, random_state=1)
    plain, capped = (ConstrainedLinkage(3, size_max=size_max).fit(X) for size_max in (None, 40))
    np.testing.assert_array_equal(plain.linkage_, capped.linkage_)


def test_sizes_that_cannot_be() -> None:
    X = np.arange(10.0)[:, None]
    with pytest.raises(InfeasibleError, match="2 clusters of at most 4 rows hold 8, but there are 10 rows; increase"):
        ConstrainedLinkage(2, size_max=4).fit(X)
    chain = Constraints(must_link=[(2, 3), (3, 4)])
    with pytest.raises(InfeasibleError, match="must-link component of row 2 has 3 rows, more than size_max=2"):
        ConstrainedLinkage(5, size_max=2).fit(X, constraints=chain)
    with pytest.raises(InfeasibleError, match="cannot-linked or larger than size_max=5 together"):
        ConstrainedLinkage(2, size_max=5, linkage="single").fit(np.array([0, 1, 2, 6, 7, 8, 12, 13, 14, 15.0])[:, None])
    with pytest.warns(InfeasibleWarning, match="A cluster has 10 rows, more than size_max=4"):
        ConstrainedLinkage(1, size_max=4, on_infeasible="relax").fit(X)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=30)
def test_the_nearest_clusters_exceed_the_maximum_in_any_order_of_the_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, order = rng.normal(size=(14, 3)), rng.permutation(14)
    links = Constraints(cannot_link=[(0, 5)])
    moved = Constraints(cannot_link=np.argsort(order)[links.cannot_link])
    model = ConstrainedLinkage(5, size_max=3, on_infeasible="relax")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InfeasibleWarning)
        labels = clone(model).fit(X, constraints=links).labels_
        again = clone(model).fit(X[order], constraints=moved).labels_
    assert adjusted_rand(labels[order], again) == 1
