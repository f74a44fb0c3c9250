"""A slow condensed tree of HDBSCAN, read from its edges one by one, and all selections of its nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mustlink.constraints import Constraints


class SlowTree:
    """A condensed tree as dictionaries; nodes are numbered as in the list of edges."""

    def __init__(self, edges: NDArray[Any]) -> None:
        self.edges = [(int(p), int(c), float(v), int(s)) for p, c, v, s in edges.tolist()]
        self.root = min(parent for parent, *_ in self.edges)
        self.n_rows = self.root
        self.nodes = sorted({self.root} | {child for _, child, _, _ in self.edges if child >= self.root})
        self.birth = {child: value for _, child, value, _ in self.edges} | {self.root: 0.0}
        self.left_at = {child: value for _, child, value, _ in self.edges if child < self.root}
        self.stability = {node: self._stability(node) for node in self.nodes}
        self.rows = {node: self._rows(node) for node in self.nodes}

    def children(self, node: int) -> list[int]:
        return [child for parent, child, _, _ in self.edges if parent == node and child >= self.root]

    def below(self, node: int) -> list[int]:
        return [node, *(deeper for child in self.children(node) for deeper in self.below(child))]

    def _rows(self, node: int) -> list[int]:
        """The rows of a cluster made of a node; the root keeps only those that stay until it splits."""
        inside = set(self.below(node))
        rows = [child for parent, child, _, _ in self.edges if parent in inside and child < self.root]
        if node == self.root:
            end = max(value for parent, _, value, _ in self.edges if parent == node)
            rows = [row for row in rows if self.left_at[row] >= end]
        return sorted(rows)

    def _stability(self, node: int) -> float:
        return sum((value - self.birth[node]) * size for parent, _, value, size in self.edges if parent == node)

    def choices(self, node: int, allowed: set[int]) -> Iterator[tuple[int, ...]]:
        """Every set of allowed nodes at or below a node, none of them below another."""
        if node in allowed:
            yield (node,)
        combined: list[tuple[int, ...]] = [()]
        for child in self.children(node):
            combined = [(*so_far, *more) for so_far in combined for more in self.choices(child, allowed)]
        yield from combined

    def labels(self, choice: tuple[int, ...]) -> NDArray[np.intp]:
        labels = np.full(self.n_rows, -1)
        for number, node in enumerate(sorted(choice)):
            labels[self.rows[node]] = number
        return labels

    def trim(self, leaf: int, apart: list[tuple[int, int]]) -> None:
        """Remove from a leaf every row that is cannot-linked with one that stays longer."""
        stay: list[int] = []
        for row in sorted(self.rows[leaf], key=lambda row: (-self.left_at[row], row)):
            if not any((row, other) in apart or (other, row) in apart for other in stay):
                stay.append(row)
        self.rows[leaf] = sorted(stay)
        self.stability[leaf] = sum(self.left_at[row] - self.birth[leaf] for row in stay)


def objective(
    tree: SlowTree, choice: tuple[int, ...], value_of: dict[int, float], links: Constraints, penalty: float
) -> float:
    """The value of the selected nodes minus the penalty for the share of violated links."""
    violated = links.weight[~links.satisfied(tree.labels(choice))]
    return sum(value_of[node] for node in choice) - penalty * float(violated.sum() / links.weight.sum())
