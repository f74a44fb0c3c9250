"""Consensus clustering against brute force over all partitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink.graph import ConsensusClustering
from reference import correlation as reference

METHODS = ["auto", "best_input", "balls", "pivot", "lp_pivot"]


@st.composite
def tables(draw: Any) -> tuple[np.ndarray, np.ndarray]:
    """Up to four clusterings of up to seven rows, with noise (-1) and unknown labels (NaN), and their weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.integers(2, 7)), draw(st.integers(1, 4))
    X = rng.integers(draw(st.integers(1, 3)), size=shape).astype(float)
    if draw(st.booleans()):
        X[rng.random(shape) < 0.2] = -1
    if draw(st.booleans()):
        X[rng.random(shape) < 0.2] = np.nan
    weights = np.ones(shape[1]) if draw(st.booleans()) else rng.integers(1, 4, size=shape[1]) / 2
    return X, weights


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("local_search", [True, False])
@settings(max_examples=25, deadline=None)
@given(table=tables())
def test_disagreement_and_bounds_agree_with_brute_force(
    method: str, local_search: bool, table: tuple[np.ndarray, np.ndarray]
) -> None:
    X, weights = table
    model = ConsensusClustering(method, weights=weights, local_search=local_search, random_state=0).fit(X)
    least = reference.least_consensus_cost(X, weights)
    assert np.isclose(model.disagreement_, reference.consensus_cost(X, model.labels_, weights))
    assert model.lower_bound_ <= least + 1e-9
    assert model.disagreement_ >= least - 1e-9
    if np.isnan(X).any():
        return
    # Without unknown labels, distances are a metric, and the bounds are proven.
    assert model.best_input_disagreement_ <= 2 * least + 1e-9
    if method in ("auto", "best_input"):
        assert model.disagreement_ <= 2 * least + 1e-9
    if method == "balls":
        assert model.disagreement_ <= 3 * least + 1e-9
