"""What links entail, by their definitions: saturation of a table of all pairs, and all colorings by two colors."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from reference.random_links import Pairs


def saturate(n: int, must_link: Pairs, cannot_link: Pairs) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Apply the two observations until nothing new comes, as Floyd and Warshall do with paths.

    Together with together is together; together with apart is apart. A row apart from itself is a contradiction.
    """
    together, apart = np.eye(n, dtype=bool), np.zeros((n, n), dtype=bool)
    for i, j in must_link:
        together[i, j] = together[j, i] = True
    for i, j in cannot_link:
        apart[i, j] = apart[j, i] = True
    for via, i, j in product(range(n), repeat=3):
        together[i, j] |= together[i, via] and together[via, j]
    # One round along either end is enough once `together` is saturated.
    for _ in range(2):
        for via, i, j in product(range(n), repeat=3):
            if together[i, via] and apart[via, j]:
                apart[i, j] = apart[j, i] = True
    return together, apart


def pairs_of(table: NDArray[np.bool_]) -> Pairs:
    """List the pairs i < j that a table of all pairs marks."""
    return [(i, j) for i, j in combinations(range(len(table)), 2) if table[i, j]]


def components_by_first_row(together: NDArray[np.bool_]) -> list[int]:
    """Number the classes of an equivalence by first appearance."""
    numbers: list[int] = []
    for row in range(len(together)):
        earlier = [other for other in range(row) if together[row, other]]
        numbers.append(numbers[earlier[0]] if earlier else max(numbers, default=-1) + 1)
    return numbers


def entailed_by_two_clusters(n: int, must_link: Pairs, cannot_link: Pairs) -> tuple[Pairs, Pairs] | None:
    """Return the pairs that agree, and those that differ, in every valid coloring by two; None if there is none."""
    valid = [
        colors
        for colors in product((0, 1), repeat=n)
        if all(colors[i] == colors[j] for i, j in must_link) and all(colors[i] != colors[j] for i, j in cannot_link)
    ]
    if not valid:
        return None
    pairs = list(combinations(range(n), 2))
    return (
        [(i, j) for i, j in pairs if all(colors[i] == colors[j] for colors in valid)],
        [(i, j) for i, j in pairs if all(colors[i] != colors[j] for colors in valid)],
    )


def distance(n: int, edges: Pairs, start: int, end: int) -> int | None:
    """Count the edges of a shortest path by growing the set of nodes reached, or None if there is no path."""
    reached, steps = {start}, 0
    while end not in reached:
        wider = reached | {j for i, j in edges if i in reached} | {i for i, j in edges if j in reached}
        if wider == reached:
            return None
        reached, steps = wider, steps + 1
    return steps
