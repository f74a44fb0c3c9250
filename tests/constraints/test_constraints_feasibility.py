"""Feasibility: the answer against all assignments, and every step of the ladder."""

from __future__ import annotations

import re
import tracemalloc
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mustlink import Constraints
from mustlink._coloring_kernels import (
    color_by_search,
    color_greedily,
    grow_clique,
    smallest_last_order,
)
from mustlink.constraints import Feasibility
from mustlink.constraints._graph import symmetric_csr
from mustlink.errors import ConstraintError
from reference.feasibility import can_be_clustered, can_be_colored, core_numbers, groetzsch
from reference.random_links import Case, Pairs, cases, graphs

# Bipartite, but colored greedily it takes three colors.
HEXAGON = [(0, 1), (2, 3), (1, 4), (3, 4), (0, 5), (2, 5)]
# Three colors are enough, but greedily it takes four; found by trying random graphs.
HARD_FOR_GREED = [
    *[(0, 2), (0, 4), (3, 4), (2, 5), (4, 5), (0, 7)],
    *[(1, 7), (4, 7), (1, 8), (2, 8), (5, 8), (7, 8)],
]


def graph_rows(edges: NDArray[np.int64], n_nodes: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    graph = symmetric_csr(edges, np.ones(len(edges)), n_nodes)
    return graph.indptr.astype(np.int64), graph.indices.astype(np.int64)


def complete(n: int) -> Pairs:
    return [(i, j) for j in range(n) for i in range(j)]


def check_witness(feasibility: Feasibility, links: Constraints, n_clusters: int, n_samples: int) -> None:
    """Check that the colors keep all links and use all clusters."""
    assert feasibility.colors is not None
    labels = feasibility.colors[links.components(n_samples)]
    assert links.satisfied(labels).all()
    assert set(labels) == set(range(n_clusters))


@given(case=cases(max_samples=8), n_clusters=st.integers(1, 4))
@settings(deadline=None, max_examples=250)
def test_the_answer_is_that_of_trying_every_assignment(case: Case, n_clusters: int) -> None:
    links = Constraints(case.must_link, case.cannot_link)
    feasibility = links.feasible(n_clusters, case.n_samples)
    assert feasibility.answer is can_be_clustered(*case, n_clusters)
    assert bool(feasibility) is feasibility.answer
    assert feasibility.reason.endswith(".")
    if feasibility.answer:
        check_witness(feasibility, links, n_clusters, case.n_samples)
    else:
        assert feasibility.colors is None


@pytest.mark.parametrize(
    ("links", "n_clusters", "n_samples", "answer", "reason"),
    [
        pytest.param(
            Constraints([(0, 1), (1, 2)], [(0, 2)]), 2, 9, False, r"Rows 0 and 2 .* 0 - 1 - 2\.", id="contradiction"
        ),
        pytest.param(Constraints([(0, 1)]), 3, 3, False, "leave only 2 components for 3", id="too few groups"),
        pytest.param(Constraints(), 1, 0, False, "leave only 0 components for 1", id="no rows"),
        pytest.param(Constraints([(0, 1)]), 1, 4, True, "no cannot-links", id="one cluster"),
        pytest.param(Constraints([(0, 1)], [(1, 3)]), 1, 4, False, "separate the rows 0 and 3", id="one, apart"),
        pytest.param(
            Constraints(None, [(0, 1), (1, 2)]), 2, 4, True, "A clustering that keeps them was found", id="degeneracy"
        ),
        pytest.param(
            Constraints(None, [(0, 1), (1, 2), (2, 3), (0, 3)]),
            2,
            4,
            True,
            "A clustering that keeps them was found",
            id="greedy",
        ),
        pytest.param(Constraints(None, HEXAGON), 2, 6, True, "A clustering that keeps them was found", id="two colors"),
        pytest.param(
            Constraints(None, [(0, 1), (1, 2), (2, 3), (1, 3)]),
            2,
            4,
            False,
            r"a cycle of 3 cannot-links, an odd number: [123] - [123] - [123] - [123]\.",
            id="odd cycle",
        ),
        pytest.param(
            Constraints([(0, 9)], [(9, 1), *complete(4)[1:]]),
            3,
            10,
            False,
            "4 must-link components are all cannot-linked .* more than 3 clusters; they contain the rows",
            id="clique",
        ),
        pytest.param(Constraints(None, HARD_FOR_GREED), 3, 10, True, "A search found a clustering", id="search, yes"),
        pytest.param(
            Constraints(None, groetzsch()[1]),
            3,
            11,
            False,
            "exhaustive search .* 11 must-link",
            id="search, no",
        ),
    ],
)
def test_every_step_of_the_ladder(
    links: Constraints, n_clusters: int, n_samples: int, answer: bool, reason: str
) -> None:
    feasibility = links.feasible(n_clusters, n_samples)
    assert feasibility.answer is answer
    assert re.search(reason, feasibility.reason)
    if answer:
        check_witness(feasibility, links, n_clusters, n_samples)


def test_the_budget_is_for_all_parts_together() -> None:
    one = Constraints(None, HARD_FOR_GREED)
    two = one + Constraints(None, [(a + 10, b + 10) for a, b in HARD_FOR_GREED])
    enough = next(budget for budget in range(10_000) if one.feasible(3, 10, budget=budget))
    assert two.feasible(3, 20, budget=enough).answer is None
    assert two.feasible(3, 20, budget=2 * enough).answer is True


def test_the_search_gives_up_when_its_budget_is_used_up() -> None:
    n, edges = groetzsch()
    links = Constraints(None, edges)
    feasibility = links.feasible(3, n, budget=50)
    assert feasibility.answer is None
    assert not feasibility
    assert "exceeded its budget" in feasibility.reason
    assert links.feasible(4, n).answer is True
    assert links.feasible(3, n).answer is False


@given(tail=st.integers(0, 6), ring=st.sampled_from([3, 5, 7]), seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=60)
def test_the_odd_cycle_is_a_cycle(tail: int, ring: int, seed: int) -> None:
    """A way that leads to the ring, and even rings beside it, are not part of it."""
    n = tail + ring + 3
    name = np.random.RandomState(seed).permutation(n)
    path = [(i, i + 1) for i in range(tail)]
    around = [(tail + i, tail + (i + 1) % ring) for i in range(ring)]
    square = [(0, n - 3), (n - 3, n - 2), (n - 2, n - 1), (n - 1, 0)]
    edges = [(int(name[i]), int(name[j])) for i, j in path + around + square]
    reason = Constraints(None, edges).feasible(2, n).reason
    told = [int(row) for row in reason.removesuffix(".").rsplit(": ")[-1].split(" - ")]
    assert told[0] == told[-1]
    assert len(told) - 1 == len(set(told[1:])) == ring
    assert f"a cycle of {ring} cannot-links" in reason
    assert all({a, b} in [set(edge) for edge in edges] for a, b in pairwise(told))


def test_a_hard_core_with_easy_surroundings() -> None:
    """Trees hang on two hard cores; each part is colored, and a part that cannot be is found out."""
    rng = np.random.default_rng(0)
    n = 3_000
    tree = [(int(rng.integers(0, i)), i) for i in range(10, n)]
    second = [(a + n, b + n) for a, b in HARD_FOR_GREED]
    links = Constraints([(5, 7 + n)], [*HARD_FOR_GREED, *tree, *second])
    feasibility = links.feasible(3, n + 10)
    assert feasibility.answer is True
    assert feasibility.reason == "A search found a clustering that keeps them."
    check_witness(feasibility, links, 3, n + 10)
    impossible = links + Constraints(None, [(a + n + 10, b + n + 10) for a, b in groetzsch()[1]])
    assert impossible.feasible(3, n + 21).answer is False
    assert impossible.feasible(4, n + 21).answer is True


@pytest.mark.parametrize("n_clusters", [0, -1])
def test_fewer_than_one_cluster_is_refused(n_clusters: int) -> None:
    with pytest.raises(ValueError, match=f"n_clusters must be at least 1; got {n_clusters}"):
        Constraints().feasible(n_clusters, 5)


@pytest.mark.parametrize("bad", [1.5, 2.0, "2", True, None, [2], np.ones((3, 2))])
def test_numbers_that_are_no_whole_numbers_are_refused(bad: Any) -> None:
    with pytest.raises(ConstraintError, match="n_clusters must be a whole number; got "):
        Constraints().feasible(bad, n_samples=3)
    with pytest.raises(ConstraintError, match="n_samples must be a whole number"):
        Constraints().feasible(2, n_samples=bad)


@pytest.mark.parametrize("far", [2_000_000_000, 9 * 10**18])
@pytest.mark.parametrize(("n_clusters", "answer"), [(1, False), (2, False), (3, True), (4, True)])
def test_memory_is_by_the_links_and_not_by_the_rows(far: int, n_clusters: int, answer: bool) -> None:
    links = Constraints([(1, far)], [(0, 1), (0, far - 1), (far - 1, far)])
    tracemalloc.start()
    feasibility = links.feasible(n_clusters, far + 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert feasibility.answer is answer
    assert peak < 50_000_000
    if n_clusters == 2:
        assert set(feasibility.rows) == {0, 1, far - 1}


def test_the_colors_of_rows_without_links() -> None:
    links = Constraints([(2, 6), (6, 9)], [(2, 4), (4, 11)])
    for n_clusters in (2, 3, 5, 9):
        check_witness(links.feasible(n_clusters, 14), links, n_clusters, 14)


def test_a_row_out_of_range_is_named() -> None:
    with pytest.raises(ConstraintError, match="rows 1 and 5"):
        Constraints(None, [(1, 5)]).feasible(2, 5)


# ---- the compiled parts ------------------------------------------------------------------------------------------


@given(graph=graphs(max_nodes=9))
@settings(deadline=None, max_examples=120)
def test_smallest_last_order_and_core_numbers(graph: tuple[int, Pairs]) -> None:
    n, edges = graph
    order, core_number = smallest_last_order(*graph_rows(np.array(edges, dtype=np.int64).reshape(-1, 2), n))
    assert core_number.tolist() == core_numbers(n, edges)
    assert sorted(order.tolist()) == list(range(n))
    assert (np.diff(core_number[order]) >= 0).all()
    for position, node in enumerate(order.tolist()):
        later = set(order[position + 1 :].tolist())
        assert sum(a + b - node in later for a, b in edges if node in (a, b)) <= core_number[node]


@given(graph=graphs(max_nodes=9), seed=st.integers(0, 100), n_given=st.integers(0, 2))
@settings(deadline=None, max_examples=80)
def test_greedy_colors(graph: tuple[int, Pairs], seed: int, n_given: int) -> None:
    n, edges = graph
    order = np.random.RandomState(seed).permutation(n).astype(np.int64)
    given_colors = np.full(n, -1, dtype=np.int64)
    given_colors[:n_given] = [7, 8][:n_given]
    colors = color_greedily(*graph_rows(np.array(edges, dtype=np.int64).reshape(-1, 2), n), order, given_colors)
    assert colors[:n_given].tolist() == [7, 8][:n_given]
    assert all(colors[a] != colors[b] for a, b in edges)
    for node in range(n_given, n):
        neighbors = [a + b - node for a, b in edges if node in (a, b)]
        done = [w for w in neighbors if w < n_given or order.tolist().index(w) < order.tolist().index(node)]
        assert colors[node] == min(set(range(n + 1)) - {int(colors[w]) for w in done})


@given(graph=graphs(max_nodes=9))
@settings(deadline=None, max_examples=80)
def test_what_is_grown_is_a_clique_that_cannot_grow_further(graph: tuple[int, Pairs]) -> None:
    n, edges = graph
    linked = {frozenset(edge) for edge in edges}
    clique = grow_clique(
        *graph_rows(np.array(edges, dtype=np.int64).reshape(-1, 2), n), np.arange(n, dtype=np.int64)
    ).tolist()
    assert all(frozenset((a, b)) in linked for a in clique for b in clique if a < b)
    assert not any(all(frozenset((a, v)) in linked for a in clique) for v in set(range(n)) - set(clique))


@given(graph=graphs(max_nodes=7), n_colors=st.integers(1, 4))
@settings(deadline=None, max_examples=150)
def test_search_against_trying_every_coloring(graph: tuple[int, Pairs], n_colors: int) -> None:
    n, edges = graph
    rows = graph_rows(np.array(edges, dtype=np.int64).reshape(-1, 2), n)
    answer, colors, steps = color_by_search(*rows, n_colors, 10**9)
    assert answer == can_be_colored(n, edges, n_colors)
    assert steps > 0
    if answer:
        assert all(colors[a] != colors[b] for a, b in edges)
        assert set(colors.tolist()) <= set(range(n_colors))


@pytest.mark.parametrize(
    ("n", "edges"),
    [
        (8, "01 12 14 24 05 25 35 16 36 37 47 57 67"),
        (9, "02 03 13 23 25 45 26 36 47 57 18 38 48 78"),
        (10, "01 14 24 35 06 16 26 36 56 07 27 37 47 18 28 38 58 09 29 39 79"),
    ],
)
def test_the_search_takes_back_what_led_nowhere(n: int, edges: str) -> None:
    """Graphs in which the most saturated node first leads astray; a straight run would take n * n + 2 m steps."""
    pairs = [(int(a), int(b)) for a, b in edges.split()]
    answer, colors, steps = color_by_search(*graph_rows(np.array(pairs), n), 3, 10**9)
    assert answer == 1
    assert steps > n * n + 2 * len(pairs)
    assert all(colors[a] != colors[b] for a, b in pairs)


@given(seed=st.integers(0, 10_000), n=st.integers(8, 25), density=st.floats(0.2, 0.9))
@settings(deadline=None, max_examples=100)
def test_the_search_finds_colors_that_were_hidden(seed: int, n: int, density: float) -> None:
    rng = np.random.RandomState(seed)
    hidden = rng.randint(3, size=n)
    pairs = [(i, j) for j in range(n) for i in range(j) if hidden[i] != hidden[j] and rng.rand() < density]
    answer, colors, _ = color_by_search(*graph_rows(np.array(pairs, dtype=np.int64).reshape(-1, 2), n), 3, 10**9)
    assert answer == 1
    assert all(colors[a] != colors[b] for a, b in pairs)


@pytest.mark.parametrize("n_colors", [2, 3, 4])
def test_the_groetzsch_graph_needs_four_colors(n_colors: int) -> None:
    n, edges = groetzsch()
    assert (n, len(edges)) == (11, 20)
    answer, _, _ = color_by_search(*graph_rows(np.array(edges), n), n_colors, 10**9)
    assert answer == (n_colors >= 4)


def test_a_reason_can_name_rows_by_their_ids() -> None:
    answer = Constraints(cannot_link=[(0, 1), (1, 2), (0, 2)]).feasible(2, n_samples=3)
    assert set(answer.rows) == {0, 1, 2}
    names = ["ann", "bob", "cid"]
    assert answer.describe(names).endswith(" - ".join(names[row] for row in answer.rows) + ".")


def test_a_long_cycle_is_truncated() -> None:
    feasibility = Constraints(None, [(i, (i + 1) % 15) for i in range(15)]).feasible(2, 15)
    assert "a cycle of 15 cannot-links" in feasibility.reason
    assert len(feasibility.rows) == 16
    assert feasibility.reason.endswith(" and 4 more.")
    assert feasibility.reason.count(" - ") == 11
