"""What a looser bound gains, against solving again with that bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink import Constraints
from mustlink.sizes import CostBlocks, SizeConstrainedKMeans, assign
from sizes.test_assign import problems

RELAXED = [("size_min", -1), ("size_max", 1)]


def gains_by_solving(costs: np.ndarray, **terms: Any) -> np.ndarray:
    """Solve again with each bound looser by one."""
    total = assign(costs, **terms).cost(costs)
    gains = np.zeros((2, costs.shape[1]))
    for kind, (name, change) in enumerate(RELAXED):
        for cluster in range(costs.shape[1]):
            looser = np.array(terms[name])
            looser[cluster] += change
            if looser[cluster] >= 0:
                gains[kind, cluster] = total - assign(costs, **{**terms, name: looser}).cost(costs)
    return gains


@given(problem=problems())
@settings(max_examples=60)
def test_gains_are_those_of_solving_again(problem: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    """Costs with and without ties; equal bounds, minimum and maximum, or one of both. No price is below its gain."""
    costs, lowest, highest = problem
    answer = assign(costs, size_min=lowest, size_max=highest)
    gains = answer.gains(costs)
    np.testing.assert_allclose(gains, gains_by_solving(costs, size_min=lowest, size_max=highest), atol=1e-9)
    assert (gains[0] <= np.maximum(answer.prices, 0) + 1e-9).all()
    assert (gains[1] <= np.maximum(-answer.prices, 0) + 1e-9).all()


@given(problem=problems(max_rows=20, max_clusters=4), seed=st.integers(0, 1000))
@settings(max_examples=40)
def test_gains_with_pivots(problem: tuple[np.ndarray, np.ndarray, np.ndarray], seed: int) -> None:
    costs, lowest, highest = problem
    rng = np.random.RandomState(seed)
    pivots = rng.uniform(size=len(costs)) < 0.5
    # As many as some assignment within the bounds has.
    needed = np.bincount(assign(-costs, size_min=lowest, size_max=highest).labels[pivots], minlength=len(lowest))
    terms = {"size_min": lowest, "size_max": highest, "pivots": pivots, "pivot_min": needed}
    np.testing.assert_allclose(assign(costs, **terms).gains(costs), gains_by_solving(costs, **terms), atol=1e-9)


def test_sizes_that_are_all_fixed_gain_nothing_one_by_one() -> None:
    costs = np.random.RandomState(0).uniform(size=(30, 3)) * [1, 2, 3]
    for terms in ({"size_min": 10}, {"size_max": 10}, {"size_min": 10, "size_max": 10}):
        answer = assign(costs, **terms)
        assert answer.prices.any()
        lowest, highest = answer.terms.lowest, answer.terms.highest
        np.testing.assert_allclose(
            answer.gains(costs), gains_by_solving(costs, size_min=lowest, size_max=highest), atol=1e-9
        )
    assert not answer.gains(costs).any()


def test_costs_in_blocks_and_in_single_precision_give_the_same_gains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mustlink.sizes._assign._cost_blocks.BLOCK_ENTRIES", 20)
    costs = np.random.RandomState(0).uniform(size=(50, 4)) * [1, 2, 3, 4]
    answer = assign(costs, size_min=10)
    gains = answer.gains(costs)
    assert (gains[0] > 0).sum() == 2
    np.testing.assert_array_equal(answer.gains(CostBlocks(costs.shape, costs.__getitem__)), gains)
    single = costs.astype(np.float32)
    np.testing.assert_allclose(assign(single, size_min=10).gains(single), gains, atol=1e-5)


@pytest.mark.parametrize(("name", "value"), [("weights", [1.0, 2.0, 1.0]), ("apart", [0, 0, -1])])
def test_gains_that_are_not_known_are_refused(name: str, value: list[float]) -> None:
    costs = np.arange(6.0).reshape(3, 2)
    answer = assign(costs, size_min=1, **{name: value})
    with pytest.raises(ValueError, match=f"With {name}, the gain of a looser bound is not known"):
        answer.gains(costs)


@pytest.mark.parametrize("metric", ["sqeuclidean", "manhattan"])
@pytest.mark.parametrize(("size_min", "size_max"), [(12, 18), (15, 15), (0, 15), (15, 60)])
def test_gains_of_a_fit_are_those_at_its_centers(metric: str, size_min: int, size_max: int) -> None:
    table = np.random.RandomState(1).normal(size=(60, 2)) * [1, 4]
    model = SizeConstrainedKMeans(4, size_min=size_min, size_max=size_max, metric=metric, random_state=0).fit(table)
    apart = table[:, None] - model.cluster_centers_
    costs = np.square(apart).sum(axis=2) if metric == "sqeuclidean" else np.abs(apart).sum(axis=2)
    expected = gains_by_solving(costs, size_min=np.full(4, size_min), size_max=np.full(4, size_max))
    np.testing.assert_allclose(model.gains_, expected, atol=1e-9)
    assert model.prices_.any()


def test_gains_of_a_fit_with_outliers() -> None:
    table = np.random.RandomState(2).normal(size=(40, 2)) * [1, 4]
    model = SizeConstrainedKMeans(3, size_min=[8, 0, 0], size_max=[10, 9, 12], outlier_cost=90.0, random_state=0)
    model.fit(table)
    squares = np.square(table[:, None] - model.cluster_centers_).sum(axis=2)
    costs = np.column_stack([squares, np.full(40, 90.0)])
    bounds = {"size_min": np.array([8, 0, 0, 0]), "size_max": np.array([10, 9, 12, 40])}
    assert model.gains_.any()
    np.testing.assert_allclose(model.gains_, gains_by_solving(costs, **bounds)[:, :3], atol=1e-9)


def test_gains_of_a_fit_that_are_not_known() -> None:
    table = np.random.RandomState(3).normal(size=(30, 2)) * [1, 4]
    model = SizeConstrainedKMeans(3, size_min=9, size_max=12, random_state=0)
    model.fit(table, constraints=Constraints(cannot_link=[(0, 1)]))
    np.testing.assert_array_equal(np.isnan(model.gains_), [model.sizes_ == 9, model.sizes_ == 12])
    assert np.isnan(model.gains_).any()
    free = SizeConstrainedKMeans(3, size_min=1, random_state=0).fit(table)
    np.testing.assert_array_equal(free.gains_, np.zeros((2, 3)))
