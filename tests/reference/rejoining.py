"""Rejoining of must-link components, one part and one pair of rows at a time."""

from __future__ import annotations

import math


def rejoin_components(distance, labels, must, cannot, penalty, n_turns=10):
    """Move, in turns, the part of every split component that gains most to the best other part of its component.

    `must` and `cannot` are lists of (row, row, weight).
    """
    labels = list(labels)
    n_clusters = len(distance[0])
    components = components_of(len(labels), must)
    for _ in range(n_turns):
        moves = []
        for component in components:
            present = sorted({labels[row] for row in component})
            best = None
            for own in present:
                rows = [row for row in component if labels[row] == own]
                for target in present:
                    if target != own:
                        change = cost(rows, target, distance, labels, must, cannot, penalty) - cost(
                            rows, own, distance, labels, must, cannot, penalty
                        )
                        if change < -1e-12 and (best is None or change < best[0] - 1e-15):
                            best = (change, rows, target)
            if best is not None:
                moves.append(best)
        if not moves:
            break
        for _, rows, target in moves:
            for row in rows:
                labels[row] = target
        assert all(0 <= label < n_clusters for label in labels)
    return labels


def cost(rows, label, distance, labels, must, cannot, penalty):
    """Return what it costs to give all these rows a label: distances as of sqrt(n) rows, and the links they break."""
    total = sum(distance[row][label] for row in rows) / math.sqrt(len(rows))
    for sign, links in ((True, must), (False, cannot)):
        for a, b, weight in links:
            if (a in rows) == (b in rows):
                continue
            other = labels[b if a in rows else a]
            total += penalty * weight * ((other == label) != sign)
    return total


def components_of(n_rows, must):
    """Return the must-link components as lists of rows."""
    component = list(range(n_rows))
    for a, b, _ in must:
        old, new = component[a], component[b]
        component = [new if each == old else each for each in component]
    return [[row for row in range(n_rows) if component[row] == name] for name in dict.fromkeys(component)]
