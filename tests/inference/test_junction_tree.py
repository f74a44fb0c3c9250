"""Orders of elimination: their widths, their scopes, and the budget of their tables."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

from mustlink.inference._junction_tree import eliminate_by_fill
from reference.random_links import Pairs, graphs

CYCLE = [(i, (i + 1) % 9) for i in range(9)]
GRID = [(i, i + 1) for i in range(24) if i % 5 < 4] + [(i, i + 5) for i in range(20)]
WHEEL = CYCLE + [(9, i) for i in range(9)]


def eliminate(edges: Pairs, max_table: int = 10**7, n_states: int = 2):
    array = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return eliminate_by_fill(np.unique(array), array, n_states, max_table)


@pytest.mark.parametrize(
    ("edges", "width"),
    [([(0, 1), (1, 2)], 1), (CYCLE, 2), (WHEEL, 3), (GRID, 5), (list(combinations(range(6), 2)), 5)],
)
def test_least_fill_in_finds_the_width_of_simple_graphs(edges: Pairs, width: int) -> None:
    assert eliminate(edges).width == width


@given(graphs(max_nodes=9))
def test_scopes_are_the_neighbors_that_remain(graph: tuple[int, Pairs]) -> None:
    """Eliminated again in the same order, node by node on a set of edges; the next node always fills in least."""
    found = eliminate(graph[1])
    edges = {frozenset(edge) for edge in graph[1]}
    place = {node: number for number, node in enumerate(found.order)}

    def near(node: int) -> set[int]:
        return {other for edge in edges if node in edge for other in edge} - {node}

    def fill(node: int) -> int:
        return sum(frozenset(pair) not in edges for pair in combinations(near(node), 2))

    for number, (node, scope) in enumerate(zip(found.order, found.scopes, strict=True)):
        assert set(scope) == near(node)
        assert scope == sorted(scope, key=place.__getitem__)
        assert fill(node) == min(map(fill, found.order[number:]))
        edges |= {frozenset(pair) for pair in combinations(near(node), 2)}
        edges = {edge for edge in edges if node not in edge}


def test_the_budget_counts_the_entries_of_all_tables() -> None:
    n_entries = 3**3 + 3**2 + 3
    triangle = list(combinations(range(3), 2))
    assert eliminate(triangle, n_entries, n_states=3).width == 2
    assert eliminate(triangle, n_entries - 1, n_states=3) is None
