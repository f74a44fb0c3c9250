"""Populating clusters by proposals of the rows (Gale and Shapley), and the conditions of chapter 8, pair by pair."""

from __future__ import annotations

from typing import Any

import numpy as np


def propose(squares: Any, quotas: Any, free: list[int]) -> dict[int, int]:
    """Rows propose to clusters, the nearest first; a cluster keeps the nearest rows up to its quota."""
    kept: dict[int, list[int]] = {cluster: [] for cluster in range(len(quotas))}
    wishes = {row: [int(c) for c in np.argsort(squares[row], kind="stable") if quotas[c] > 0] for row in free}
    waiting = list(free)
    while waiting:
        row = waiting.pop()
        if not wishes[row]:
            continue
        cluster = wishes[row].pop(0)
        kept[cluster].append(row)
        if len(kept[cluster]) > quotas[cluster]:
            farthest = max(kept[cluster], key=lambda member: squares[member, cluster])
            kept[cluster].remove(farthest)
            waiting.append(farthest)
    return {row: cluster for cluster, rows in kept.items() for row in rows}


def is_stable(squares: Any, placed: dict[int, int], quotas: Any) -> bool:
    """If a placed row would be nearer elsewhere, that cluster has its quota of rows which are nearer still."""
    for row, cluster in placed.items():
        for other in range(len(quotas)):
            if squares[row, other] < squares[row, cluster]:
                members = [member for member, of in placed.items() if of == other]
                full = len(members) == quotas[other]
                if not full or any(squares[member, other] > squares[row, other] for member in members):
                    return False
    return True


def can_improve(squares: Any, labels: Any, lowest: Any) -> bool:
    """Whether a single move is allowed, or the graph of improvements has a cycle."""
    k = len(lowest)
    sizes = np.bincount(labels, minlength=k)
    edges = np.zeros((k, k), dtype=bool)
    for row, own in enumerate(labels):
        nearer = np.flatnonzero(squares[row] < squares[row, own] - 1e-9)
        if nearer.size and sizes[own] > lowest[own]:
            return True
        edges[own, nearer] = True
    reach = edges.copy()
    for middle in range(k):
        reach |= reach[:, [middle]] & reach[[middle], :]
    return bool(reach.diagonal().any())
