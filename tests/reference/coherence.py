"""Coherence of links, one pair of links after the other, straight from the formula."""

from __future__ import annotations

import math
from collections.abc import Sequence

from reference.random_links import Pairs

Point = Sequence[float]


def overlap(a: tuple[Point, Point], b: tuple[Point, Point]) -> float:
    """Length of the projection of segment a onto the line of segment b that falls on b."""
    length = math.dist(*b)
    if length == 0:
        return 0.0
    unit = [(end - begin) / length for begin, end in zip(*b, strict=True)]
    t = [sum((x - begin) * u for x, begin, u in zip(point, b[0], unit, strict=True)) for point in a]
    return max(0.0, min(max(t), length) - max(min(t), 0.0))


def coherence(points: Sequence[Point], must_link: Pairs, cannot_link: Pairs, rounding: float = 1e-9) -> float:
    """Share of the pairs of a must-link and a cannot-link that overlap in neither direction."""
    if not must_link or not cannot_link:
        return math.nan
    n_coherent = 0
    for i, j in must_link:
        for k, l in cannot_link:  # noqa: E741  (the four ends i, j, k, l)
            m, c = (points[i], points[j]), (points[k], points[l])
            n_coherent += overlap(m, c) <= rounding and overlap(c, m) <= rounding
    return n_coherent / (len(must_link) * len(cannot_link))
