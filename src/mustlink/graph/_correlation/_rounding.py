"""Clusterings from the distances of the linear program: random pivots, balls, and region growing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mustlink._types import Floats, Indices

# Comparisons of distances allow for so much rounding.
EPSILON = 1e-9


class Regions(NamedTuple):
    """The clusters of region growing, and for every one of them its radius and the positive weight that it cuts."""

    labels: Indices
    radii: list[float]
    cuts: list[float]


def round_by_pivots(x: Floats, random_state: np.random.RandomState) -> Indices:
    """Let random pivots take every free node with a probability of one minus its distance."""
    n_nodes = len(x)
    labels = np.full(n_nodes, -1, dtype=np.intp)
    for u in random_state.permutation(n_nodes):
        if labels[u] < 0:
            joins = (labels < 0) & (random_state.uniform(size=n_nodes) < 1 - x[u])
            joins[u] = True
            labels[joins] = u
    return labels


def round_by_balls(x: Floats, random_state: np.random.RandomState) -> Indices:
    """Take the free nodes within 1/2 of a node if their mean distance is below 1/4, else the node alone."""
    labels = np.full(len(x), -1, dtype=np.intp)
    for u in random_state.permutation(len(x)):
        if labels[u] < 0:
            near = (labels < 0) & (x[u] <= 0.5 + EPSILON)
            near[u] = False
            if near.any() and x[u, near].mean() < 0.25 - EPSILON:
                labels[near] = u
            labels[u] = u
    return labels


def grow_regions(x: Floats, net: Floats, ratio: float, random_state: np.random.RandomState) -> Regions:
    """Grow balls until the positive weight that they cut is small beside their volume.

    `ratio` is the constant c of the source, above 2: a ball ends at a radius of at most 1/c. The volume and the number
    of nodes of the whole graph are used for all balls. A ball of fixed nodes is judged at the largest radius for which
    it has these nodes, and not beyond 1/c: the volume grows with the radius, the cut does not.
    """
    positive = np.maximum(net, 0.0)
    total = float((positive * x).sum()) / 2
    n_nodes = len(x)
    factor = ratio * np.log(n_nodes + 1)
    labels = np.full(n_nodes, -1, dtype=np.intp)
    radii, cuts = [], []
    for u in random_state.permutation(n_nodes):
        if labels[u] >= 0:
            continue
        free = np.flatnonzero(labels < 0)
        free = free[np.argsort(x[u, free], kind="stable")]
        distance = x[u, free]
        cut, volume, slope_from = _ball_sums(positive[np.ix_(free, free)], x[np.ix_(free, free)], distance)
        # Nodes at one distance enter together.
        is_end = np.append(np.diff(distance) > EPSILON, True)
        after = np.append(distance[1:], np.inf)
        radius = np.minimum(after, np.maximum(1 / ratio, distance))
        volume = total / n_nodes + volume + radius * cut - slope_from
        accepted = np.flatnonzero(is_end & (cut <= factor * volume + EPSILON))[0]
        labels[free[: accepted + 1]] = u
        radii.append(float(distance[accepted]))
        cuts.append(float(cut[accepted]))
    return Regions(labels, radii, cuts)


def _ball_sums(positive: Floats, x: Floats, distance: Floats) -> tuple[Floats, Floats, Floats]:
    """Return sums over the first 1, 2, ... nodes: the weight they cut, their inner volume, and cut weight by distance.

    The volume at radius r is the inner volume plus r times the cut minus the third sum.
    """
    inner = _leading_sums(positive)
    cut = np.cumsum(positive.sum(axis=1)) - inner
    scaled = positive * distance[:, None]
    cut_by_distance = np.cumsum(scaled.sum(axis=1)) - _leading_sums(scaled)
    # Rounding may leave a cut of the whole below zero.
    return cut.clip(min=0.0), _leading_sums(positive * x) / 2, cut_by_distance


def _leading_sums(matrix: Floats) -> Floats:
    """Return the sums of the leading 1 x 1, 2 x 2, ... blocks."""
    return np.diagonal(matrix.cumsum(axis=0).cumsum(axis=1))
