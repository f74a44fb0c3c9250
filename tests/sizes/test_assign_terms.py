"""Assignments with weights, pivots and groups apart, against mixed-integer programming."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink.errors import InfeasibleError
from mustlink.sizes import Assignment, assign
from mustlink.sizes._assign import _apart
from reference.sizes import integer_program

ROUNDING = 1e-9
SEEDS = st.integers(0, 2**32 - 1)


def drawn_sizes(rng: np.random.Generator, n_rows: int, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw bounds that can be met, exact ones sometimes."""
    sizes = rng.multinomial(n_rows, rng.dirichlet(np.full(n_clusters, 3.0)))
    return np.maximum(sizes - rng.integers(0, 3), 0), sizes + rng.integers(0, 3)


# ---- pivots


@settings(max_examples=60)
@given(SEEDS)
def test_pivots_equal_integer_programming(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows, n_clusters = rng.integers(4, 25), rng.integers(1, 5)
    costs = rng.random((n_rows, n_clusters))
    lowest, highest = drawn_sizes(rng, n_rows, n_clusters)
    pivots = rng.random(n_rows) < 0.5
    pivot_min = np.minimum(rng.multinomial(pivots.sum(), np.full(n_clusters, 1 / n_clusters)), highest)
    options: dict[str, Any] = {"pivots": pivots, "pivot_min": pivot_min}
    least = integer_program(costs, lowest, highest, **options)
    if least is None:
        with pytest.raises(InfeasibleError):
            assign(costs, size_min=lowest, size_max=highest, **options)
        return
    answer = assign(costs, size_min=lowest, size_max=highest, **options)
    found = np.bincount(answer.labels[pivots], minlength=n_clusters)
    assert answer.is_within_bounds
    assert (found >= pivot_min).all()
    assert answer.cost(costs) == pytest.approx(least, abs=1e-7)
    assert answer.slackness(costs) <= ROUNDING
    assert answer.gap(costs) == pytest.approx(0.0, abs=1e-8)
    assert answer.pivot_prices is not None
    assert (answer.pivot_prices >= 0).all()
    assert not answer.pivot_prices[found > pivot_min].any()
    again = assign(costs, size_min=lowest, size_max=highest, **options, start=answer)
    assert again.cost(costs) == pytest.approx(least, abs=1e-7)


def test_pivots_of_many_are_shared_out() -> None:
    rng = np.random.default_rng(0)
    costs = rng.random((20_000, 5)) + np.array([0.0, 0.2, 0.4, 0.6, 0.8])
    pivots = rng.random(20_000) < 0.1
    answer = assign(costs, size_min=2_000, pivots=pivots, pivot_min=300)
    assert np.bincount(answer.labels[pivots]).min() == 300
    assert answer.is_within_bounds
    assert answer.slackness(costs) <= ROUNDING


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pivots": [True, False]}, r"there are 4 rows, and it has the shape \(2,\)"),
        ({"pivots": [0, 1, 0, 2]}, "True or False for every row"),
        ({"pivots": [True] * 4, "pivot_min": -1}, "pivot_min is -1"),
        ({"pivots": [True] * 4, "weights": [1.0] * 4}, "weights and pivots cannot be given together"),
    ],
)
def test_invalid_pivots_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        assign(np.zeros((4, 2)), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pivot_min": 2}, "pivots of 2 clusters add up to 4, but 3 rows are marked as such; reduce pivot_min"),
        ({"pivot_min": [2, 0], "size_max": [1, 9]}, "Cluster 0 needs 2 pivots, and its maximum size is 1"),
        ({"pivot_min": [3, 0], "size_min": [0, 2]}, "numbers of pivots, add up to 5, but there are 4 rows"),
    ],
)
def test_pivots_that_clash_are_refused_with_their_numbers(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InfeasibleError, match=message):
        assign(np.zeros((4, 2)), pivots=[True, True, True, False], **options)


# ---- groups apart


def drawn_groups(rng: np.random.Generator, n_rows: int) -> np.ndarray:
    """Draw groups of several sizes, and rows without a group."""
    return rng.integers(-1, rng.integers(1, max(2, n_rows // 2)), size=n_rows)


@settings(max_examples=100)
@given(SEEDS, st.booleans())
def test_groups_apart_equal_integer_programming(seed: int, with_ties: bool) -> None:
    rng = np.random.default_rng(seed)
    n_rows, n_clusters, apart_max = rng.integers(3, 25), rng.integers(1, 6), int(rng.integers(1, 4))
    costs = (
        rng.integers(0, 4, size=(n_rows, n_clusters)).astype(float) if with_ties else rng.random((n_rows, n_clusters))
    )
    lowest, highest = drawn_sizes(rng, n_rows, n_clusters)
    options: dict[str, Any] = {"apart": drawn_groups(rng, n_rows), "apart_max": apart_max}
    least = integer_program(costs, lowest, highest, **options)
    if least is None:
        with pytest.raises(InfeasibleError):
            assign(costs, size_min=lowest, size_max=highest, **options)
        return
    fractional = integer_program(costs, lowest, highest, **options, fractional=True)
    assert least == pytest.approx(fractional, abs=1e-7)
    for start in (None, rng.normal(size=n_clusters)):
        answer = assign(costs, size_min=lowest, size_max=highest, **options, start=start)
        assert answer.is_within_bounds
        assert largest_share(answer.labels, options["apart"]) <= apart_max
        assert answer.cost(costs) == pytest.approx(least, abs=1e-7)
        assert answer.slackness(costs) <= ROUNDING
        assert answer.gap(costs) == pytest.approx(0.0, abs=1e-8)
        assert (answer.prices[answer.sizes > lowest] <= 0).all()
        assert (answer.prices[answer.sizes < highest] >= 0).all()


@settings(max_examples=60)
@given(SEEDS, st.booleans())
def test_few_rows_near_the_borders_are_enough(seed: int, with_ties: bool) -> None:
    """More rows take part until the prices prove the answer, however few are tried at first."""
    rng = np.random.default_rng(seed)
    n_rows, n_clusters, apart_max = rng.integers(30, 80), rng.integers(2, 6), int(rng.integers(1, 3))
    costs = rng.random((n_rows, n_clusters)) + rng.random(n_clusters)
    if with_ties:
        costs = np.rint(4 * costs)
    groups = np.full(n_rows, -1)
    groups[rng.permutation(n_rows)[:8]] = np.repeat([0, 1, 2, 3], 2) if apart_max == 1 else np.repeat([0, 1], 4)
    options: dict[str, Any] = {"apart": groups, "apart_max": apart_max}
    lowest, highest = drawn_sizes(rng, n_rows, n_clusters)
    try:
        whole = assign(costs, size_min=lowest, size_max=highest, **options)
    except InfeasibleError:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_apart, "MIN_NEAR", 1)
        patch.setattr(_apart, "NEAR_PER_ROW", 0)
        answer = assign(costs, size_min=lowest, size_max=highest, **options, start=rng.normal(size=n_clusters))
    assert answer.is_within_bounds
    assert largest_share(answer.labels, groups) <= apart_max
    assert answer.cost(costs) == pytest.approx(whole.cost(costs), abs=1e-7)
    assert answer.slackness(costs) <= ROUNDING
    assert answer.gap(costs) == pytest.approx(0.0, abs=1e-8)


def test_a_few_groups_leave_rows_far_from_the_borders_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    costs = rng.random((20_000, 5)) + np.linspace(0, 0.3, 5)
    free = assign(costs, size_min=3_900).labels
    groups = np.full(20_000, -1)
    groups[np.flatnonzero(free == 0)[:20]] = np.repeat(np.arange(10), 2)
    n_assigned: list[int] = []

    class Counting(_apart._ApartSolver):
        def __init__(self, costs: Any, *args: Any) -> None:
            n_assigned.append(len(costs))
            super().__init__(costs, *args)

    monkeypatch.setattr(_apart, "_ApartSolver", Counting)
    answer = assign(costs, size_min=3_900, apart=groups)
    assert largest_share(answer.labels, groups) == 1
    assert answer.slackness(costs) <= ROUNDING
    assert answer.gap(costs) == pytest.approx(0.0, abs=1e-6)
    assert sum(n_assigned) < 5_000


def largest_share(labels: np.ndarray, groups: np.ndarray) -> int:
    """Return the most rows of a group in a cluster."""
    inside = groups >= 0
    if not inside.any():
        return 0
    return int(np.unique(np.stack([groups, labels])[:, inside], axis=1, return_counts=True)[1].max())


def test_groups_that_are_one_row_each_change_nothing() -> None:
    costs = np.random.default_rng(4).random((80, 4)) + np.arange(4)
    free = assign(costs, size_min=20)
    alone = assign(costs, size_min=20, apart=np.arange(80))
    assert alone.cost(costs) == pytest.approx(free.cost(costs))


def test_a_triangle_of_rows_apart_needs_three_clusters() -> None:
    """Check 7: pairwise, two clusters leave a solution in halves; by the node of the group there is none."""
    with pytest.raises(
        InfeasibleError, match="The group trio has 3 rows, and 2 clusters with at most 1 of them each hold 2"
    ):
        assign(np.zeros((3, 2)), apart=["trio"] * 3)
    assert sorted(assign(np.zeros((3, 3)), apart=["trio"] * 3).labels) == [0, 1, 2]


def test_many_groups_are_apart() -> None:
    rng = np.random.default_rng(5)
    costs = rng.random((6_000, 8)) + np.linspace(0, 0.5, 8)
    groups = rng.integers(-1, 1_500, size=6_000)
    answer = assign(costs, size_min=750, size_max=750, apart=groups, apart_max=2)
    assert answer.is_within_bounds
    assert largest_share(answer.labels, groups) == 2
    assert answer.slackness(costs) <= ROUNDING


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"apart": [0, 0, 1, 1], "size_min": [3, 0]},
            "At most 2 rows fit into 1 cluster with at most 1 of each group, ",
        ),
        ({"apart": [0, 0, 1, 1], "size_max": [1, 9]}, "At least 2 rows of large groups must be in any 1 of 2 clusters"),
    ],
)
def test_groups_that_clash_with_sizes_are_refused_with_their_numbers(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InfeasibleError, match=message):
        assign(np.zeros((4, 2)), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"apart": [0, 1]}, r"a group, or -1, for each of 4 rows, got the shape \(2,\)"),
        ({"apart": [0] * 4, "apart_max": 0}, "apart_max must be a whole number from 1 on, got 0"),
        ({"apart": [0] * 4, "weights": [1.0] * 4}, "weights and apart cannot be given together"),
    ],
)
def test_invalid_groups_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        assign(np.zeros((4, 2)), **options)


# ---- weights


def drawn_weights(rng: np.random.Generator, n_rows: int) -> np.ndarray:
    """Draw weights with decimals, whole ones, or a few heavy rows among ones that count one."""
    kind = rng.integers(3)
    if kind == 0:
        return rng.random(n_rows) + 0.1
    heavy = rng.integers(2, 6, size=n_rows)
    return np.where(rng.random(n_rows) < (0.2 if kind == 1 else 1.0), heavy, 1).astype(float)


@settings(max_examples=60)
@given(SEEDS)
def test_weights_keep_near_the_bounds_at_the_prices_of_linear_programming(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows, n_clusters = rng.integers(4, 25), rng.integers(1, 5)
    weights = drawn_weights(rng, n_rows)
    costs = rng.random((n_rows, n_clusters)) * weights[:, None]
    middle = weights.sum() * rng.dirichlet(np.full(n_clusters, 3.0))
    lowest, highest = 0.9 * middle, 1.1 * middle
    answer = assign(costs, weights=weights, size_min=lowest, size_max=highest)
    assert answer.sizes == pytest.approx(np.bincount(answer.labels, weights, n_clusters))
    assert (answer.sizes >= lowest - weights.max() - ROUNDING).all()
    assert (answer.sizes <= highest + weights.max() + ROUNDING).all()
    # Whole weights have whole sums, which may tighten the bounds.
    lowest, highest = answer.terms.lowest, answer.terms.highest
    fractional = integer_program(costs, lowest, highest, weight=weights, fractional=True)
    assert answer.cost(costs) - answer.gap(costs) == pytest.approx(fractional, abs=1e-6)
    least = integer_program(costs, lowest, highest, weight=weights)
    if answer.is_within_bounds:
        assert least is not None
        assert answer.cost(costs) >= least - 1e-6


def test_weights_that_can_meet_the_bounds_mostly_do() -> None:
    n_feasible, n_met, excess = 0, 0, []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        weights = np.where(rng.random(24) < 0.2, rng.integers(2, 6, size=24), 1).astype(float)
        costs = rng.random((24, 3)) * weights[:, None]
        lowest = np.full(3, np.floor(0.3 * weights.sum()))
        least = integer_program(costs, lowest, np.full(3, weights.sum()), weight=weights)
        answer = assign(costs, weights=weights, size_min=lowest)
        n_feasible += least is not None
        n_met += answer.is_within_bounds
        if least is not None and answer.is_within_bounds:
            excess.append(answer.cost(costs) / least - 1.0)
    assert n_feasible == n_met == 60
    assert np.mean(excess) < 0.02


def test_equal_weights_are_equal_to_none() -> None:
    costs = np.random.default_rng(1).random((60, 4)) + np.arange(4)
    counted = assign(costs, size_min=12)
    weighted = assign(costs, size_min=24, weights=np.full(60, 2.0))
    assert np.array_equal(counted.labels, weighted.labels)
    assert weighted.prices * 2.0 == pytest.approx(counted.prices)


def test_rows_without_weight_are_in_their_cheapest_cluster() -> None:
    costs = np.random.default_rng(2).random((40, 3))
    weights = np.where(np.arange(40) < 20, 0.0, 1.0)
    answer = assign(costs, weights=weights, size_min=6, size_max=7)
    assert np.array_equal(answer.labels[:20], costs[:20].argmin(axis=1))
    assert answer.is_within_bounds


def test_many_weights_meet_their_bounds() -> None:
    rng = np.random.default_rng(3)
    weights = rng.lognormal(size=20_000)
    costs = rng.random((20_000, 6)) * weights[:, None]
    total = weights.sum()
    answer = assign(costs, weights=weights, size_min=0.999 * total / 6, size_max=1.001 * total / 6)
    assert answer.is_within_bounds
    assert answer.gap(costs) <= 1e-3 * answer.cost(costs)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], r"one weight for each of 3 rows, got the shape \(2,\)"),
        ([1.0, -2.0, 1.0], "The weight of row 1 is -2"),
        ([0.0, 0.0, 0.0], "All weights are zero"),
        ([1.0, np.nan, 1.0], "weights contains NaN"),
    ],
)
def test_invalid_weights_are_refused(weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        assign(np.zeros((3, 2)), weights=weights)


def test_sums_of_weights_that_clash_are_refused() -> None:
    with pytest.raises(
        InfeasibleError, match=r"minimum sizes of 2 clusters add up to 5, but the rows weigh 4\.5 in all"
    ):
        assign(np.zeros((3, 2)), weights=[1.5, 1.5, 1.5], size_min=2.5)


def test_an_assignment_without_bounds_has_no_gap() -> None:
    answer = Assignment(np.array([0, 1]), np.zeros(2))
    assert answer.sizes.tolist() == [1, 1]
    assert answer.slackness([[0.0, 1.0], [1.0, 0.0]]) == 0.0
    with pytest.raises(ValueError, match="bounds of this assignment are not known"):
        answer.gap(np.zeros((2, 2)))
