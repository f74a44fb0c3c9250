"""The same assignments by OR-tools and HiGHS."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mustlink.errors import OptionError
from mustlink.sizes import assign

SOLVERS = pytest.mark.parametrize("solver", ["flow", "lp"])


def drawn_terms(rng: np.random.Generator, n_rows: int, n_clusters: int) -> dict[str, Any]:
    """Draw one of the further conditions, one that any sizes can be met with."""
    kind = rng.integers(4)
    if kind == 0:
        pivots = np.arange(n_rows) % 2 == 0
        return {"pivots": pivots, "pivot_min": (n_rows // 4) // n_clusters}
    if kind == 1:
        return {"apart": np.arange(n_rows) // 2, "apart_max": 1} if n_clusters > 1 else {}
    if kind == 2:
        return {"weights": rng.integers(0, 4, size=n_rows) + (np.arange(n_rows) == 0)}
    return {}


@SOLVERS
@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1))
@example(5_000_000)  # sums of weights that are a bound but for rounding
def test_all_solvers_agree(solver: str, seed: int) -> None:
    pytest.importorskip("ortools", reason="OR-tools is not installed (extra exact)")
    rng = np.random.default_rng(seed)
    n_clusters = rng.integers(1, 5)
    n_rows = n_clusters * rng.integers(2, 9)
    costs = rng.normal(size=(n_rows, n_clusters))
    terms = drawn_terms(rng, n_rows, n_clusters)
    total = np.sum(terms.get("weights", np.ones(n_rows)))
    bounds = {"size_min": np.floor(total / n_clusters), "size_max": np.ceil(total / n_clusters)}
    ours, theirs = assign(costs, **bounds, **terms), assign(costs, **bounds, **terms, solver=solver)
    # By duality, the cost of the fractional optimum.
    assert theirs.cost(costs) - theirs.gap(costs) == pytest.approx(ours.cost(costs) - ours.gap(costs), abs=1e-7)
    if "weights" in terms:
        assert np.abs(theirs.terms.excess(theirs.labels)).max() <= terms["weights"].max()
        return
    assert theirs.is_within_bounds
    assert theirs.cost(costs) == pytest.approx(ours.cost(costs), abs=1e-9)
    assert theirs.slackness(costs) <= 1e-9
    assert theirs.gap(costs) == pytest.approx(0.0, abs=1e-8)


@SOLVERS
@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_the_scale_of_the_costs_does_not_matter(solver: str, scale: float) -> None:
    pytest.importorskip("ortools", reason="OR-tools is not installed (extra exact)")
    costs = np.random.default_rng(1).random((60, 4)) + np.array([0.0, 1.0, 1.0, 2.0])
    ours, theirs = assign(costs, size_min=15), assign(costs * scale, size_min=15, solver=solver)
    assert np.array_equal(ours.labels, theirs.labels)
    assert theirs.slackness(costs * scale) <= 1e-9 * scale


def test_weights_with_decimals_by_linear_programming() -> None:
    rng = np.random.default_rng(2)
    costs, weights = rng.random((40, 3)), rng.random(40)
    bounds = {"size_min": weights.sum() / 4, "size_max": weights.sum() / 2.5, "weights": weights}
    ours, theirs = assign(costs, **bounds), assign(costs, **bounds, solver="lp")
    assert theirs.prices == pytest.approx(ours.prices, abs=1e-6)


def test_flows_need_whole_weights() -> None:
    pytest.importorskip("ortools", reason="OR-tools is not installed (extra exact)")
    with pytest.raises(OptionError, match=r'solver="flow" needs whole weights'):
        assign(np.zeros((2, 2)), weights=[0.5, 1.0], solver="flow")


def test_an_unknown_solver_is_refused() -> None:
    with pytest.raises(ValueError, match="solver must be one of paths, flow, lp, got 'simplex'"):
        assign(np.zeros((2, 2)), solver="simplex")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ortools.graph.python", None)
    with pytest.raises(OptionError, match=r'needs OR-tools; install it with: pip install "mustlink\[exact\]"'):
        assign(np.zeros((2, 2)), solver="flow")
