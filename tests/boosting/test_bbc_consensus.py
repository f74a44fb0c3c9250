"""Reading clusters from the sum of the rounds: components and the spectral consensus against the full matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from mustlink._eigen import leading_eigenpairs
from mustlink.boosting import CoAssociation
from mustlink.boosting._bbc import _spectral_consensus as consensus_module
from mustlink.boosting._bbc._bbc import _components as components_of
from mustlink.boosting._bbc._spectral_consensus import distinct_rows, normalized_graph, spectral_consensus
from mustlink.boosting._coassociation_kernels import min_in_common
from reference.bbc import components, dense_sum, normalized_laplacian


@st.composite
def rounds(draw, noise):
    n, t = draw(st.integers(2, 14)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    return rng.integers(-1 if noise else 0, draw(st.integers(1, 4)), size=(n, t)), rng.uniform(0.1, 1.5, t)


@settings(deadline=None, max_examples=50)
@given(case=rounds(noise=True))
def test_components_and_least_entry_equal_those_of_the_full_matrix(case):
    codes, weights = case
    Y = dense_sum(codes, weights)
    kernel = CoAssociation(codes, weights)
    labels = components_of(kernel)
    expected = components(Y)
    noise = (codes < 0) @ weights > weights.sum() / 2 + 1e-9
    np.testing.assert_array_equal(labels == -1, noise)
    assert adjusted_rand_score(expected[~noise], labels[~noise]) == 1.0
    least = min_in_common(kernel.codes, kernel.weights)
    assert 2 * least - weights.sum() == pytest.approx(Y[~np.eye(len(Y), dtype=bool)].min())


@pytest.mark.parametrize("noise", [False, True])
@pytest.mark.parametrize("by_lanczos", [False, True])
def test_laplacian_eigenvectors_equal_those_of_the_full_matrix(noise, by_lanczos, monkeypatch):
    rng = np.random.default_rng(5)
    codes = rng.integers(-1 if noise else 0, 3, size=(60, 3))
    weights = np.array([1.0, 0.7, 0.4])
    if by_lanczos:
        monkeypatch.setattr(consensus_module, "MAX_DIRECT_ROWS", 5)
    kernel = CoAssociation(codes, weights)
    distinct, inverse, counts = distinct_rows(kernel)
    if not noise:
        assert len(distinct) < 60
    small = CoAssociation(distinct, weights)
    _, vectors = leading_eigenpairs(normalized_graph(small, counts), 4, positive=False)
    written_out = (vectors / np.sqrt(counts)[:, None])[inverse]
    np.testing.assert_allclose(written_out.T @ written_out, np.eye(4), atol=1e-8)
    L = normalized_laplacian(dense_sum(codes, weights))
    values = np.linalg.eigvalsh(L)[:4]
    np.testing.assert_allclose(L @ written_out, written_out * values, atol=1e-8)


@pytest.mark.parametrize("assign_labels", ["rotation", "kmeans"])
def test_spectral_consensus_finds_the_blocks(assign_labels):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2, 3], 20)
    codes = np.column_stack([np.where(rng.random(80) < 0.15, rng.integers(0, 4, 80), y) for _ in range(9)])
    labels = spectral_consensus(CoAssociation(codes), 4, assign_labels, seed=0)
    assert adjusted_rand_score(y, labels) > 0.95
    assert labels[0] == 0
    assert set(labels) == {0, 1, 2, 3}


@pytest.mark.parametrize("n_distinct", [1, 2, 3])
def test_spectral_consensus_with_few_distinct_codes(n_distinct):
    codes = np.column_stack([np.arange(9) % n_distinct] * 2)
    np.testing.assert_array_equal(spectral_consensus(CoAssociation(codes), 3, "rotation", 0), np.arange(9) % n_distinct)
