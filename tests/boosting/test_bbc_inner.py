"""Parts of the clusterers on similarities: local affinities and k-medoids."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import euclidean_distances

from mustlink.boosting._bbc._inner import local_affinities
from mustlink.boosting._bbc._kernels import k_medoids


def test_local_affinities_use_the_scale_of_each_row():
    rng = np.random.default_rng(0)
    tight = rng.normal(size=(20, 2))
    S = -euclidean_distances(np.vstack([tight, 1000 * tight + 1e6]), squared=True)
    W = local_affinities(S)
    np.testing.assert_allclose(W[:20, :20], W[20:, 20:], rtol=1e-3)
    assert W[:20, 20:].max() < 1e-12
    assert (np.diag(W) == 0).all()
    assert np.isfinite(local_affinities(np.zeros((4, 4)))).all()


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 4))
def test_medoids_cannot_be_improved_by_one_swap(seed, k):
    points = np.random.default_rng(seed).normal(size=(12, 2))
    D = euclidean_distances(points)
    medoids, labels = k_medoids(D, k, 100)
    cost = D[:, medoids].min(axis=1).sum()
    np.testing.assert_allclose(D[np.arange(12), medoids[labels]], D[:, medoids].min(axis=1))
    assert len(set(medoids)) == k
    for position in range(k):
        for row in range(12):
            swapped = medoids.copy()
            swapped[position] = row
            assert D[:, swapped].min(axis=1).sum() >= cost - 1e-9
