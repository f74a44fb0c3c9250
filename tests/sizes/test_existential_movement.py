"""The pivot-movement problem without geometry: random and look-ahead moves, deadlock cycles, brute force."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mustlink.sizes._existential._movement import CheckedSums, Items, Schedule, schedule_moves
from mustlink.sizes._existential._movement_kernels import OPERATORS
from reference.existential import (
    Pivot,
    best_schedule,
    hamiltonian_gadget,
    has_cycle,
    has_hamiltonian_path,
    replay,
)

T = 50  # the threshold of the chapter's example


def items_of(pivots: list[Pivot], units: list[int] | None = None) -> Items:
    source, target, gain = (np.array(part) for part in zip(*pivots, strict=True))
    return Items.of_one_kind(source, target, gain.astype(float), None if units is None else np.array(units))


def solve(counts: list[int], minimum: list[int], pivots: list[Pivot], *, seed: int = 0, **options: Any) -> Schedule:
    return schedule_moves(items_of(pivots), column(counts), column(minimum), np.random.RandomState(seed), **options)


def column(values: Any) -> np.ndarray:
    return np.array(values).reshape(-1, 1)


def states(schedule: Schedule, items: Items, counts: Any) -> list[np.ndarray]:
    moves = zip(schedule.items.tolist(), schedule.units.tolist(), schedule.step.tolist(), strict=True)
    return list(replay(counts, items.source, items.target, items.member[items.group].astype(int), moves))


@st.composite
def problems(draw: st.DrawFn, max_clusters: int = 4, max_pivots: int = 8) -> tuple[list[int], list[int], list[Pivot]]:
    """Clusters with a few pivots to spare, and pivots that want to move."""
    n_clusters = draw(st.integers(2, max_clusters))
    cluster = st.integers(0, n_clusters - 1)
    pivots = [
        (source, target, float(gain))
        for source, target, gain in draw(
            st.lists(st.tuples(cluster, cluster, st.integers(1, 9)), min_size=1, max_size=max_pivots)
        )
        if source != target
    ]
    if not pivots:
        pivots = [(0, 1, 1.0)]
    minimum = draw(st.lists(st.integers(0, 3), min_size=n_clusters, max_size=n_clusters))
    wanting = [sum(source == c for source, _, _ in pivots) for c in range(n_clusters)]
    counts = [max(low + draw(st.integers(0, 1)), n) for low, n in zip(minimum, wanting, strict=True)]
    return counts, minimum, pivots


@given(problems(), st.sampled_from(["random", "lookahead"]), st.booleans(), st.integers(0, 99))
def test_every_step_is_valid_and_each_pivot_moves_once(
    problem: Any, heuristic: Any, deadlocks: bool, seed: int
) -> None:
    counts, minimum, pivots = problem
    found = solve(counts, minimum, pivots, heuristic=heuristic, deadlocks=deadlocks, seed=seed)
    items = items_of(pivots)
    for now in states(found, items, column(counts)):
        assert (now.ravel() >= minimum).all()
    assert len(set(found.items.tolist())) == len(found.items)
    assert found.moved.tolist() == np.bincount(found.items, minlength=len(pivots)).tolist()
    assert found.gain == pytest.approx(sum(pivots[p][2] for p in found.items))
    in_a_cycle = found.step >= found.n_steps_a
    assert deadlocks or not in_a_cycle.any()


@given(problems(), st.sampled_from(["random", "lookahead"]), st.integers(0, 99))
def test_no_move_is_left_after_phase_a_and_no_cycle_after_phase_b(problem: Any, heuristic: Any, seed: int) -> None:
    counts, minimum, pivots = problem
    first = solve(counts, minimum, pivots, heuristic=heuristic, deadlocks=False, seed=seed)
    now = [column(counts), *states(first, items_of(pivots), column(counts))][-1].ravel()
    left = [pivots[p] for p in np.flatnonzero(first.moved == 0)]
    assert not any(now[source] > minimum[source] for source, _, _ in left)
    both = solve(counts, minimum, pivots, heuristic=heuristic, seed=seed)
    left = [pivots[p] for p in np.flatnonzero(both.moved == 0)]
    assert not has_cycle((source, target) for source, target, _ in left)
    assert both.gain >= first.gain


@given(problems(), st.integers(1, 3))
def test_brute_force_gains_at_least_as_much_as_the_heuristics_of_phase_a(problem: Any, depth: int) -> None:
    counts, minimum, pivots = problem
    best = best_schedule(counts, minimum, pivots)
    for heuristic in ("random", "lookahead"):
        found = solve(counts, minimum, pivots, heuristic=heuristic, depth=depth, deadlocks=False)
        assert found.gain <= best + 1e-9


@given(problems(max_pivots=6), st.integers(0, 3))
def test_a_far_lookahead_finds_the_best_way_of_a_single_token(problem: Any, start: int) -> None:
    _, _, pivots = problem
    n_clusters = 4
    minimum = [max(1, sum(source == c for source, _, _ in pivots)) for c in range(n_clusters)]
    counts = minimum.copy()
    counts[start] += 1
    found = solve(counts, minimum, pivots, heuristic="lookahead", depth=len(pivots), deadlocks=False)
    assert found.gain == pytest.approx(best_schedule(counts, minimum, pivots))


@pytest.mark.parametrize("seed", range(12))
def test_the_gadget_decides_on_hamiltonian_paths(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_vertices, t = 4, 3
    pairs = list(itertools.permutations(range(n_vertices), 2))
    edges = {pairs[k] for k in np.flatnonzero(rng.random(len(pairs)) < 0.4)}
    counts, minimum, pivots = hamiltonian_gadget(n_vertices, edges, 0, t)
    enough = 2 * (n_vertices - 1)
    far = solve(counts, minimum, pivots, heuristic="lookahead", depth=len(pivots), deadlocks=False)
    assert (far.gain >= enough) == has_hamiltonian_path(n_vertices, edges, 0)
    assert (best_schedule(counts, minimum, pivots) >= enough) == has_hamiltonian_path(n_vertices, edges, 0)
    near = solve(counts, minimum, pivots, heuristic="lookahead", depth=2, deadlocks=False)
    assert near.gain <= far.gain


def test_both_answers_of_the_gadget_occur() -> None:
    """Else the test above could not fail."""
    answers = set()
    for seed in range(12):
        rng = np.random.default_rng(seed)
        pairs = list(itertools.permutations(range(4), 2))
        edges = {pairs[k] for k in np.flatnonzero(rng.random(len(pairs)) < 0.4)}
        answers.add(has_hamiltonian_path(4, edges, 0))
    assert answers == {True, False}


def test_the_worked_example_of_the_chapter() -> None:
    """Moving pivot 3 frees pivot 8; moving pivot 12 takes away the surplus of cluster 3 and gives one to cluster 4."""
    counts = [52, 50, 51, 50, 60]  # clusters 1 to 5; the last has a surplus and no edge
    o3, o8, o12 = (0, 1, 3.0), (1, 2, 2.0), (2, 3, 4.0)
    items = items_of([o3, o8, o12])
    found = solve(counts, [T] * 5, [o3], heuristic="lookahead")
    assert states(found, items_of([o3]), column(counts))[-1].ravel().tolist() == [51, 51, 51, 50, 60]
    found = solve(counts, [T] * 5, [o8])
    assert len(found.items) == 0  # cluster 2 has no surplus yet
    found = solve(counts, [T] * 5, [o12])
    assert states(found, items_of([o12]), column(counts))[-1].ravel().tolist() == [52, 50, 50, 51, 60]
    found = solve(counts, [T] * 5, [o3, o8, o12], heuristic="lookahead")
    assert states(found, items, column(counts))[-1].ravel().tolist() == [51, 50, 51, 51, 60]
    assert sorted(found.items.tolist()) == [0, 1, 2]


def test_two_pivots_on_both_edges_swap_in_one_resolution() -> None:
    found = solve([T, T], [T, T], [(0, 1, 1.0), (0, 1, 2.0), (1, 0, 3.0), (1, 0, 1.0)])
    assert found.n_steps_a == 0
    assert set(found.step.tolist()) == {0}
    assert sorted(found.items.tolist()) == [0, 1, 2, 3]


def test_the_weakest_edge_of_a_cycle_limits_it_and_the_best_pivots_move() -> None:
    pivots = [(0, 1, 1.0), (0, 1, 5.0), (0, 1, 3.0), (1, 2, 1.0), (1, 2, 2.0), (2, 0, 1.0), (2, 0, 7.0)]
    found = solve([T] * 3, [T] * 3, pivots)
    assert found.moved.tolist() == [0, 1, 1, 1, 1, 1, 1]


@given(problems(), st.lists(st.integers(1, 4), min_size=8, max_size=8), st.sampled_from(["random", "lookahead"]))
def test_shares_of_several_units_keep_every_step_valid(problem: Any, units: list[int], heuristic: Any) -> None:
    _, minimum, pivots = problem
    units = units[: len(pivots)]
    held = [sum(u for u, (s, _, _) in zip(units, pivots, strict=True) if s == c) for c in range(len(minimum))]
    counts = np.maximum(minimum, held)
    items = items_of(pivots, units)
    found = schedule_moves(
        items, column(counts), column(minimum), np.random.RandomState(0), heuristic=heuristic, depth=3
    )
    for now in states(found, items, column(counts)):
        assert (now.ravel() >= minimum).all()
        assert now.sum() == counts.sum()
    assert (found.moved <= units).all()
    left = [(s, t) for (s, t, _), u, m in zip(pivots, units, found.moved, strict=True) if m < u]
    assert not has_cycle(left)


@given(problems(), st.integers(0, 99))
def test_unit_shares_are_single_pivots(problem: Any, seed: int) -> None:
    """A share of three units moves as three pivots of the same gain do, in the end."""
    _, minimum, pivots = problem
    room = [low + 3 * sum(s == c for s, _, _ in pivots) for c, low in enumerate(minimum)]
    whole = schedule_moves(
        items_of(pivots, [3] * len(pivots)), column(room), column(minimum), np.random.RandomState(seed)
    )
    assert (whole.moved == 3).all()
    parts = solve(room, minimum, pivots * 3, seed=seed)
    assert parts.gain == pytest.approx(whole.gain)


def test_kinds_of_pivots_are_counted_apart() -> None:
    """A pivot of both kinds may leave only if its cluster has both to spare."""
    member = np.array([[True, False], [False, True], [True, True]])
    items = Items(
        np.array([0, 0, 0]), np.array([1, 1, 1]), np.array([1.0, 1.0, 9.0]), np.ones(3, dtype=np.int64),
        np.array([0, 1, 2]), member, np.empty((3, 0)),
    )  # fmt: skip
    counts, minimum = np.array([[3, 2], [1, 1]]), np.array([[1, 2], [1, 1]])
    found = schedule_moves(items, counts, minimum, np.random.RandomState(0))
    assert found.moved.tolist() == [1, 0, 0]
    counts[0, 1] += 1
    found = schedule_moves(items, counts, minimum, np.random.RandomState(0), heuristic="lookahead")
    assert found.moved.tolist() == [1, 0, 1]


@given(st.integers(0, 200), st.sampled_from(["random", "lookahead"]), st.sampled_from(OPERATORS))
def test_checked_sums_hold_after_every_step(seed: int, heuristic: Any, operator: str) -> None:
    rng = np.random.RandomState(seed)
    n_items, n_clusters = 12, 3
    source = rng.randint(n_clusters, size=n_items)
    target = (source + rng.randint(1, n_clusters, size=n_items)) % n_clusters
    values = rng.randint(0, 4, size=(n_items, 1)).astype(float)
    totals = np.zeros((n_clusters, 1))
    np.add.at(totals, source, values)
    if operator == "=":
        totals[:] = 5.0
    bound = {"<": totals.max() + 2, "<=": totals.max() + 1, "!=": totals.max() + 1, "=": 5.0}.get(operator, -1.0)
    items = Items(
        source, target, rng.random_sample(n_items) + 0.1, np.ones(n_items, dtype=np.int64),
        np.zeros(n_items, dtype=np.intp), np.zeros((1, 0), dtype=bool), values,
    )  # fmt: skip
    sums = CheckedSums(totals, np.array([OPERATORS.index(operator)]), np.array([bound]), np.array([1e-9]))
    none = np.zeros((n_clusters, 0), dtype=np.int64)
    found = schedule_moves(items, none, none, rng, heuristic=heuristic, sums=sums)
    now = totals.copy()
    compare = {"<": np.less, "<=": np.less_equal, "!=": np.not_equal, "=": np.equal, ">=": np.greater_equal}
    for _, step in itertools.groupby(zip(found.items, found.step, strict=True), key=lambda move: move[1]):
        for item, _ in step:
            now[source[item]] -= values[item]
            now[target[item]] += values[item]
        assert compare.get(operator, np.greater)(now, bound).all()


def test_the_same_seed_makes_the_same_moves() -> None:
    pivots = [(a, b, 1.0 + a + b) for a, b in itertools.permutations(range(4), 2)]
    one, other = (solve([5] * 4, [3] * 4, pivots, seed=3) for _ in range(2))
    assert one.items.tolist() == other.items.tolist()


def test_moves_that_need_several_calls_are_continued(monkeypatch: pytest.MonkeyPatch) -> None:
    pivots = [(a, b, 1.0 + a + b + n / 10) for a, b in itertools.permutations(range(4), 2) for n in range(5)]
    for heuristic in ("random", "lookahead"):
        whole = solve([40] * 4, [3] * 4, pivots, heuristic=heuristic, depth=3)
        with monkeypatch.context() as patch:
            patch.setattr("mustlink.sizes._existential._movement.MAX_MOVES", 2)
            parts = solve([40] * 4, [3] * 4, pivots, heuristic=heuristic, depth=3)
        assert len(parts.items) == len(whole.items) == len(pivots)
        assert len(np.unique(parts.step)) == len(parts.step)
