from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.optimize import minimize

from mustlink.spectral import rotate_to_indicators


def alignment_cost(Z):
    """The cost as defined by Zelnik-Manor and Perona."""
    return np.sum(Z**2 / np.max(np.abs(Z), axis=1, keepdims=True) ** 2)


def best_cost_by_descent(V, n_starts, rng):
    """Minimize the cost over all skew matrices, from several random rotations."""
    k = V.shape[1]
    upper = np.triu_indices(k, 1)

    def cost(angles, start):
        skew = np.zeros((k, k))
        skew[upper] = angles
        return alignment_cost(V @ start @ expm(skew - skew.T))

    starts = [np.eye(k)] + [np.linalg.qr(rng.normal(size=(k, k)))[0] for _ in range(n_starts)]
    return min(minimize(cost, np.zeros(len(upper[0])), args=(start,), method="Powell").fun for start in starts)


def mixed_indicators(rng, n_rows, k, noise):
    labels = np.r_[np.arange(k), rng.integers(0, k, n_rows - k)]
    turn = np.linalg.qr(rng.normal(size=(k, k)))[0]
    return labels, (np.eye(k)[labels] + noise * rng.normal(size=(n_rows, k))) @ turn


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10_000), k=st.integers(2, 7))
def test_rotation_recovers_indicators(seed, k):
    labels, V = mixed_indicators(np.random.default_rng(seed), 40, k, noise=0.0)
    rotated, quality = rotate_to_indicators(V)
    found = rotated.argmax(axis=1)
    assert quality == pytest.approx(1.0, abs=1e-9)
    assert len(set(zip(labels, found, strict=True))) == k
    np.testing.assert_allclose(rotated[np.arange(40), found], 1.0, atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [2, 3])
def test_rotation_is_as_good_as_descent_from_many_starts(seed, k):
    rng = np.random.default_rng(seed)
    _, V = mixed_indicators(rng, 30, k, noise=0.25)
    rotated, _ = rotate_to_indicators(V)
    assert alignment_cost(rotated) <= best_cost_by_descent(V, 4, rng) * (1 + 1e-3)


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 6), n_rows=st.integers(1, 30))
def test_rotation_is_orthogonal_and_never_increases_the_cost(seed, k, n_rows):
    V = np.random.default_rng(seed).normal(size=(n_rows, k))
    rotated, quality = rotate_to_indicators(V)
    np.testing.assert_allclose(rotated @ rotated.T, V @ V.T, atol=1e-9)
    assert alignment_cost(rotated) <= alignment_cost(V) + 1e-9
    assert 0 <= quality <= 1
    if k > 1:
        assert quality == pytest.approx(1 - (alignment_cost(rotated) / n_rows - 1) / (k - 1), abs=1e-9)


def test_weights_equal_repeated_rows():
    rng = np.random.default_rng(3)
    _, V = mixed_indicators(rng, 25, 3, noise=0.3)
    counts = rng.integers(1, 5, 25)
    weighted, quality = rotate_to_indicators(V, sample_weight=counts)
    repeated, same_quality = rotate_to_indicators(np.repeat(V, counts, axis=0))
    assert quality == pytest.approx(same_quality, rel=1e-6)
    np.testing.assert_array_equal(np.repeat(weighted, counts, axis=0).argmax(axis=1), repeated.argmax(axis=1))


def test_rows_of_zeros_are_ignored():
    _, V = mixed_indicators(np.random.default_rng(0), 20, 3, noise=0.1)
    alone, quality = rotate_to_indicators(V)
    padded, same_quality = rotate_to_indicators(np.vstack([V, np.zeros((4, 3))]))
    np.testing.assert_allclose(padded[:20], alone)
    np.testing.assert_array_equal(padded[20:], 0.0)
    assert quality == pytest.approx(same_quality)


def test_signs_make_the_rows_along_a_column_positive():
    _, V = mixed_indicators(np.random.default_rng(1), 50, 4, noise=0.05)
    rotated, _ = rotate_to_indicators(-V)
    largest = np.abs(rotated).argmax(axis=1)
    assert (rotated[np.arange(50), largest] > 0).all()


@pytest.mark.parametrize("V", [np.zeros((3, 2)), np.ones((3, 1)), -np.ones((1, 1))])
def test_nothing_to_rotate(V):
    rotated, quality = rotate_to_indicators(V)
    np.testing.assert_array_equal(rotated, np.abs(V))
    assert quality == 1.0


@pytest.mark.parametrize(
    ("weight", "message"),
    [([1.0], "1 entries for 3 rows"), ([1.0, -1.0, 1.0], "must not be negative"), ([1, np.nan, 1], "not")],
)
def test_invalid_weights_are_refused(weight, message):
    with pytest.raises(ValueError, match=message):
        rotate_to_indicators(np.ones((3, 2)), sample_weight=weight)


def test_vectors_that_are_not_finite_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        rotate_to_indicators([[0.0, np.nan]])
