"""Gaps of bi-sets and jumps of clusters."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import rand_score

from mustlink.coclustering._gaps import make_gaps
from mustlink.metrics import (
    coclustering_information,
    comparison_coefficient,
    goodman_kruskal_tau,
    information_loss,
    jump_number,
    rand,
)
from reference import coclustering as reference


def kept(members: set[int], n: int = 9, **bounds: Any) -> bool:
    from scipy import sparse

    side = np.zeros((1, n), dtype=np.uint8)
    side[0, sorted(members)] = 1
    options = {"min_gap": None, "max_gap": None, "circular": False} | bounds
    circular = options.pop("circular")
    return bool(make_gaps(np.arange(n), **options, circular=circular).kept(sparse.csr_array(side))[0])


def test_gaps_of_the_specification() -> None:
    """Check 5."""
    assert kept({1, 3, 4}, max_gap=1)
    assert not kept({1, 3, 4}, max_gap=0)
    assert not kept({1, 3, 4}, min_gap=1)
    assert not kept({2, 3, 7}, max_gap=1)
    assert kept({2, 3, 5, 7}, max_gap=1)
    assert kept({2, 3}, max_gap=1)
    assert kept({4}, max_gap=0, min_gap=5)
    # 8, 0 and 1 are next to each other in a circle.
    assert kept({0, 1, 8}, max_gap=0, circular=True)
    assert not kept({0, 1, 8}, max_gap=0)
    assert not kept({0, 8}, min_gap=1, circular=True)
    assert kept({0, 8}, min_gap=1)


@settings(max_examples=60, deadline=None)
@given(st.sets(st.integers(0, 8), min_size=1), st.integers(0, 3), st.booleans(), st.data())
def test_min_gap_is_hereditary(members: set[int], gap: int, circular: bool, data: st.DataObject) -> None:
    """Check 5."""
    if kept(members, min_gap=gap, circular=circular):
        subset = data.draw(st.sets(st.sampled_from(sorted(members)), min_size=1))
        assert kept(subset, min_gap=gap, circular=circular)


def test_jumps_by_brute_force() -> None:
    """Check 7."""
    for n in (1, 2, 4, 6):
        for labels in itertools.product(range(-1, 2), repeat=n):
            array = np.array(labels)
            assert jump_number(array) == reference.jumps(array)
            intervals = all(reference.is_interval((array == cluster).tolist(), False) for cluster in (0, 1))
            assert (jump_number(array) == 0) == intervals
            intervals = all(reference.is_interval((array == cluster).tolist(), True) for cluster in (0, 1))
            assert (jump_number(array, circular=True) == 0) == intervals


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_measures_of_random_co_clusterings(seed: int, k: int) -> None:
    """Checks 3 and 7."""
    rng = np.random.default_rng(seed)
    X = (rng.random((7, 6)) < 0.5).astype(int)
    X[0, 0] = 1
    rows, columns = rng.integers(k, size=7), rng.integers(k, size=6)
    p = reference.share_table(X, rows, columns)
    tau = goodman_kruskal_tau(X, rows, columns)
    assert tau == pytest.approx(reference.tau(p))
    assert tau == pytest.approx(goodman_kruskal_tau(X.T, columns, rows))
    a, b = p.sum(axis=1), p.sum(axis=0)
    below = 2 - (a**2).sum() - (b**2).sum()
    above = (p**2 / np.where(a, a, 1)[:, None]).sum() + (p**2 / np.where(b, b, 1)).sum() - (a**2).sum() - (b**2).sum()
    if below > 1e-12 and min((a > 0).sum(), (b > 0).sum()) > 1:
        assert tau == pytest.approx(above / below)
    used = p > 0
    information = (p[used] * np.log(p[used] / np.outer(a, b)[used])).sum()
    assert coclustering_information(X, rows, columns) == pytest.approx(information, abs=1e-12)
    whole = coclustering_information(X, np.arange(7), np.arange(6))
    assert information_loss(X, rows, columns) == pytest.approx(whole - information, abs=1e-9)
    assert rand(rows, rng.integers(k, size=7)) >= 0
    other = rng.integers(k, size=7)
    assert rand(rows, other) == pytest.approx(rand_score(rows, other))


def test_tau_of_independent_and_diagonal_tables() -> None:
    """Check 3."""
    assert goodman_kruskal_tau(np.ones((4, 4)), [0, 0, 1, 1], [0, 1, 1, 1]) == pytest.approx(0)
    assert goodman_kruskal_tau(np.eye(4), [0, 1, 2, 3], [2, 1, 0, 3]) == pytest.approx(1)
    # Groups without a one, and rows of no group, do not count.
    assert goodman_kruskal_tau(np.eye(4), [0, 5, 2, -1], [0, 5, 2, 3]) == pytest.approx(1)


def test_bad_input_of_measures() -> None:
    with pytest.raises(ValueError, match="row_labels has 3 entries, and X has 2 rows"):
        goodman_kruskal_tau(np.eye(2), [0, 1, 1], [0, 1])
    with pytest.raises(ValueError, match="column_labels must be cluster numbers"):
        goodman_kruskal_tau(np.eye(2), [0, 1], ["a", "b"])
    with pytest.raises(ValueError, match="negative"):
        coclustering_information(-np.eye(2), [0, 1], [0, 1])
    with pytest.raises(ValueError, match="order must have one score"):
        jump_number([0, 1], order=[1])
    for order in ([1.0, np.nan, 2.0], ["a", "b", "c"], np.array(["2024-01-01", "NaT", "2024-01-02"], dtype="M8[D]")):
        with pytest.raises(ValueError, match="order must be finite numbers or dates"):
            jump_number([0, 1, 0], order=order)
    with pytest.raises(ValueError, match="at least one run"):
        comparison_coefficient(3, [])
