"""The exact assignment to clusters of bounded sizes, against exhaustive search, expansion and linear programming."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink.errors import InfeasibleError
from mustlink.sizes import CostBlocks, assign
from mustlink.sizes._assign import _cost_blocks, _paths
from reference.sizes import cheapest_by_expansion, cheapest_by_trying, linear_program

ROUNDING = 1e-9


@st.composite
def problems(draw: st.DrawFn, max_rows: int = 40, max_clusters: int = 6) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw costs, possibly with many ties, and bounds that can be met."""
    n_clusters = draw(st.integers(1, max_clusters))
    n_rows = draw(st.integers(n_clusters, max_rows))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    costs = rng.random((n_rows, n_clusters)) ** 2
    costs[:, 0] *= draw(st.sampled_from([1.0, 0.1]))
    if draw(st.booleans()):
        costs = np.round(4 * costs)
    sizes = rng.multinomial(n_rows, rng.dirichlet(np.ones(n_clusters)))
    lowest = np.maximum(sizes - draw(st.sampled_from([0, 1, n_rows])), 0)
    highest = np.minimum(sizes + draw(st.sampled_from([0, 2, n_rows])), n_rows)
    return costs, lowest, highest


def assert_optimal(answer: Any, costs: np.ndarray, lowest: np.ndarray, highest: np.ndarray) -> None:
    """Check the certificate of linear programming: bounds kept, prices that they explain, no row cheaper elsewhere."""
    labels, prices = answer
    assert np.array_equal(answer.sizes, np.bincount(labels, minlength=len(lowest)))
    assert (answer.sizes >= lowest).all()
    assert (answer.sizes <= highest).all()
    assert (prices[answer.sizes > lowest] <= 0).all()
    assert (prices[answer.sizes < highest] >= 0).all()
    assert answer.slackness(costs) <= ROUNDING * max(np.abs(costs).max(), np.finfo(float).tiny)


TIGHT = {
    "MAX_ROWS_UNSAMPLED": 12,
    "MIN_SAMPLED_PER_CLUSTER": 1,
    "SAMPLED_RATIO": 2,
    "MOVES_PER_ROW": 1,
    "MIN_MOVES": 3,
    "MIN_MOVES_PER_CLUSTER": 1,
    "MIN_SHARE_OF_MOVES": 0.0,
    "MAX_MOVES": 12,
    "MIN_LOOKED_UP": 1,
    "N_PROBED": 5,
    "PATHS_AT_ONCE": 2,
    "MAX_NODES_ONE_END": 0,
    "ENDS_RATIO": 1,
}


@contextmanager
def limits(as_if_large: bool) -> Iterator[None]:
    """Solve small problems as they are, or with the samples, rounds and look-ups of large ones."""
    with pytest.MonkeyPatch.context() as patch:
        if as_if_large:
            for name, value in TIGHT.items():
                patch.setattr(_paths, name, value)
            patch.setattr(_cost_blocks, "BLOCK_ENTRIES", 20)
        yield


AS_IF_LARGE = pytest.mark.parametrize("as_if_large", [False, True], ids=["small", "as if large"])


@AS_IF_LARGE
@given(problems())
def test_least_cost_equals_linear_programming(as_if_large: bool, problem: Any) -> None:
    with limits(as_if_large):
        costs, lowest, highest = problem
        answer = assign(costs, size_min=lowest, size_max=highest)
        assert_optimal(answer, costs, lowest, highest)
        least, shares = linear_program(costs, lowest, highest)
        assert answer.cost(costs) == pytest.approx(least, rel=ROUNDING, abs=ROUNDING)
        assert np.isclose(shares, np.round(shares)).all()


@given(problems(max_rows=8, max_clusters=3))
def test_least_cost_equals_exhaustive_search(problem: Any) -> None:
    costs, lowest, highest = problem
    answer = assign(costs, size_min=lowest, size_max=highest)
    assert answer.cost(costs) == pytest.approx(cheapest_by_trying(costs, lowest, highest), rel=ROUNDING, abs=ROUNDING)


@given(problems())
def test_minimum_sizes_equal_the_expansion_into_columns(problem: Any) -> None:
    costs, lowest, _ = problem
    answer = assign(costs, size_min=lowest)
    assert answer.cost(costs) == pytest.approx(cheapest_by_expansion(costs, lowest), rel=ROUNDING, abs=ROUNDING)


@AS_IF_LARGE
@given(problems(), st.integers(0, 2**32 - 1))
def test_the_start_does_not_change_the_least_cost(as_if_large: bool, problem: Any, seed: int) -> None:
    with limits(as_if_large):
        costs, lowest, highest = problem
        cold = assign(costs, size_min=lowest, size_max=highest)
        for start in (np.random.default_rng(seed).normal(size=len(lowest)), cold.prices):
            warm = assign(costs, size_min=lowest, size_max=highest, start=start)
            assert_optimal(warm, costs, lowest, highest)
            assert warm.cost(costs) == pytest.approx(cold.cost(costs), rel=ROUNDING, abs=ROUNDING)


@AS_IF_LARGE
@given(problems())
def test_bounds_that_hold_already_leave_the_cheapest_cluster_of_every_row(as_if_large: bool, problem: Any) -> None:
    with limits(as_if_large):
        costs = problem[0]
        nearest = costs.argmin(axis=1)
        sizes = np.bincount(nearest, minlength=costs.shape[1])
        labels, prices = assign(costs, size_min=np.maximum(sizes - 1, 0), size_max=sizes + 1)
        assert np.array_equal(labels, nearest)
        assert not prices.any()


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_least_cost_is_convex_and_increases_with_a_minimum(seed: int) -> None:
    costs = np.random.default_rng(seed).random((15, 3))
    least = [assign(costs, size_min=[minimum, 1, 1]) for minimum in range(14)]
    growth = np.diff([answer.cost(costs) for answer in least])
    assert (growth >= -ROUNDING).all()
    assert (np.diff(growth) >= -ROUNDING).all()
    # A price is what the last row of the minimum costs, or less where the next one costs more.
    for minimum in range(1, 13):
        assert growth[minimum - 1] - ROUNDING <= least[minimum].prices[0] <= growth[minimum] + ROUNDING


def test_unsquared_distances_are_another_problem() -> None:
    rng = np.random.default_rng(0)
    n_worse = 0
    for _ in range(100):
        X, centers = rng.normal(size=(12, 2)), rng.normal(size=(3, 2))
        distances = np.linalg.norm(X[:, None] - centers, axis=2)
        squared = assign(distances**2, size_min=4).cost(distances**2)
        other = assign(distances, size_min=4).cost(distances**2)
        assert other >= squared - ROUNDING
        n_worse += other > squared + ROUNDING
    assert n_worse > 20


def test_equal_rows_are_shared_out() -> None:
    labels, prices = assign(np.tile([[1.0, 2.0, 3.0]], (9, 1)), size_min=3)
    assert np.bincount(labels).tolist() == [3, 3, 3]
    assert prices == pytest.approx([0.0, 1.0, 2.0])


@AS_IF_LARGE
@pytest.mark.parametrize("value", [0.0, 7.5])
def test_equal_costs(as_if_large: bool, value: float) -> None:
    with limits(as_if_large):
        answer = assign(np.full((10, 5), value), size_min=2, size_max=2)
        assert answer.sizes.tolist() == [2] * 5
        assert answer.prices == pytest.approx(np.zeros(5))


def test_one_cluster() -> None:
    labels, prices = assign([[3.0], [4.0]], size_min=2, size_max=2)
    assert labels.tolist() == [0, 0]
    assert prices == pytest.approx([0.0])


def test_as_many_clusters_as_rows_is_a_permutation() -> None:
    costs = np.random.default_rng(0).random((12, 12))
    answer = assign(costs, size_min=1)
    assert sorted(answer.labels) == list(range(12))
    assert answer.cost(costs) == pytest.approx(cheapest_by_expansion(costs, np.ones(12, dtype=int)))


@pytest.mark.parametrize("scale", [1e-12, 1e12, 1e-300])
def test_the_scale_of_the_costs_does_not_matter(scale: float) -> None:
    costs = np.random.default_rng(1).random((60, 4)) + np.array([0.0, 1.0, 1.0, 2.0])
    small, large = assign(costs, size_min=15), assign(costs * scale, size_min=15)
    assert np.array_equal(small.labels, large.labels)
    assert large.prices == pytest.approx(small.prices * scale, rel=1e-9, abs=1e-9 * scale)


def test_single_precision() -> None:
    costs = np.random.default_rng(2).random((50, 5), dtype=np.float32)
    answer = assign(costs, size_min=10, size_max=10)
    assert_optimal(answer, costs.astype(np.float64), np.full(5, 10), np.full(5, 10))


def test_negative_costs() -> None:
    costs = np.random.default_rng(3).normal(size=(30, 3))
    assert np.array_equal(assign(costs, size_min=10).labels, assign(costs + 100.0, size_min=10).labels)


@pytest.mark.parametrize(
    ("costs", "options", "message"),
    [
        ([[1.0, np.inf]], {}, "costs contains infinity"),
        ([[1.0, np.nan]], {}, "costs contains NaN"),
        (np.empty((0, 3)), {}, "0 sample"),
        ([1.0, 2.0], {}, "Expected 2D array"),
        ([[1.0, 2.0]], {"start": [0.0]}, r"one price for each of 2 clusters, got the shape \(1,\)"),
        ([[1.0, 2.0]], {"start": [0.0, np.nan]}, "start contains NaN"),
    ],
)
def test_bad_input_is_refused(costs: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        assign(costs, **options)


def test_bounds_that_clash_are_refused() -> None:
    with pytest.raises(InfeasibleError, match="add up to 4, but there is 1 row"):
        assign([[1.0, 2.0]], size_min=2)


def test_the_costs_are_not_written() -> None:
    costs = np.random.default_rng(4).random((20, 3))
    before = costs.copy()
    assign(costs, size_min=6)
    assert np.array_equal(costs, before)
    assert costs.flags.writeable


@AS_IF_LARGE
def test_costs_in_blocks_give_the_same_answer(as_if_large: bool) -> None:
    with limits(as_if_large):
        rng = np.random.default_rng(5)
        X, centers = rng.normal(size=(200, 2)), rng.normal(size=(4, 2))

        def distances(rows: Any) -> np.ndarray:
            return np.square(X[rows][:, None] - centers).sum(axis=2)

        whole = assign(distances(slice(None)), size_min=50)
        blocks = assign(CostBlocks((200, 4), distances), size_min=50)
        assert np.array_equal(whole.labels, blocks.labels)
        assert np.array_equal(whole.prices, blocks.prices)


@pytest.mark.parametrize(
    ("compute", "message"),
    [
        (lambda rows: np.zeros((7, 2)), r"must have the shape \(20, 2\), got \(7, 2\)"),
        (lambda rows: np.full((20, 2), np.nan), "not finite"),
    ],
)
def test_blocks_that_are_no_costs_are_refused(compute: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        assign(CostBlocks((20, 2), compute), size_min=5)


def test_many_rows_with_equal_sizes() -> None:
    rng = np.random.default_rng(6)
    X, centers = rng.normal(size=(20_000, 3)) ** 3, rng.normal(size=(8, 3))
    costs = np.square(X[:, None] - centers).sum(axis=2)
    answer = assign(costs, size_min=2_500, size_max=2_500)
    assert_optimal(answer, costs, np.full(8, 2_500), np.full(8, 2_500))
    again = assign(costs, size_min=2_500, size_max=2_500)
    assert np.array_equal(answer.labels, again.labels)
    assert np.array_equal(answer.prices, again.prices)


def test_many_equal_rows() -> None:
    # More ties than moves are collected in one round.
    costs = np.repeat(np.random.default_rng(7).integers(0, 3, size=(4, 6)).astype(float), 3_000, axis=0)
    answer = assign(costs, size_min=2_000, size_max=2_000)
    assert_optimal(answer, costs, np.full(6, 2_000), np.full(6, 2_000))


def test_blocks_without_rows_are_refused() -> None:
    with pytest.raises(ValueError, match=r"costs must have rows and clusters, got the shape \(0, 2\)"):
        assign(CostBlocks((0, 2), np.zeros))
