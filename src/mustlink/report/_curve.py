"""The objective of the rounds as SVG, with axes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from mustlink._spelling import count, spell_number, spell_numbers
from mustlink._types import Array

__all__ = ["curve", "ends", "round_ticks", "value_ticks"]

WIDTH, HEIGHT = 760, 260
LEFT, RIGHT, TOP, BOTTOM = 104, 24, 18, 62
# A curve whose largest value is more than this many times the smallest is drawn on a logarithmic scale.
MAX_LINEAR_RATIO = 20
MAX_TICKS = 5


def ends(values: Sequence[float]) -> str:
    """Word the first and the last of some values."""
    return " to ".join(spell_numbers([values[0], values[-1]]))


def curve(values: Sequence[float]) -> str:
    """Draw a line with one point per round, on a logarithmic scale if the values differ much."""
    heights = np.asarray(values, dtype=float)
    is_logarithmic = bool(heights.min() > 0 and heights.max() / heights.min() > MAX_LINEAR_RATIO)
    ticks = value_ticks(float(heights.min()), float(heights.max()), is_logarithmic=is_logarithmic)
    scale = np.log if is_logarithmic else np.asarray
    shown = scale(np.concatenate([heights, ticks]))
    low, high = shown.min(), shown.max()
    up = np.divide(shown - low, high - low) if high > low else np.full(len(shown), 0.5)
    down = HEIGHT - BOTTOM - up * (HEIGHT - BOTTOM - TOP)
    across = _across(np.arange(1, len(heights) + 1), len(heights))
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, down, strict=False))
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in zip(across, down, strict=False))
    on_scale = ", on a logarithmic scale" if is_logarithmic else ""
    description = f"The objective from {ends(values)} after {count(len(heights), 'round')}{on_scale}."
    return (
        f'<svg class="curve" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{description}">'
        f"{_axes(ticks, down[len(heights) :], len(heights))}"
        f'<polyline points="{line}"/>{dots}</svg>'
    )


def _across(rounds: Array, n_rounds: int) -> Array:
    """Return how far to the right each round is."""
    return LEFT + (rounds - 1) / max(n_rounds - 1, 1) * (WIDTH - LEFT - RIGHT)


def _axes(ticks: Sequence[float], down: Array, n_rounds: int) -> str:
    """Draw lines and numbers for the values, numbers for the rounds, and the names of both."""
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = []
    for y, words in zip(down, _spell_ticks(ticks), strict=True):
        parts.append(f'<path class="grid" d="M{LEFT},{y:.1f}H{right}"/>')
        parts.append(f'<text class="value" x="{LEFT - 10}" y="{y:.1f}">{words}</text>')
    rounds = round_ticks(n_rounds)
    for number, x in zip(rounds, _across(np.array(rounds), n_rounds), strict=True):
        parts.append(f'<path class="tick" d="M{x:.1f},{bottom}v6"/>')
        parts.append(f'<text class="round" x="{x:.1f}" y="{bottom + 22}">{number:,}</text>')
    parts.append(f'<path class="tick" d="M{LEFT},{bottom}H{right}"/>')
    middle = (LEFT + right) / 2
    parts.append(f'<text class="round" x="{middle:.0f}" y="{HEIGHT - 14}">round</text>')
    parts.append(f'<text class="round" transform="translate(18 {(TOP + bottom) / 2:.0f}) rotate(-90)">objective</text>')
    return "".join(parts)


def _spell_ticks(ticks: Sequence[float]) -> list[str]:
    """Spell the numbers of an axis, with the same decimals if they are evenly spaced."""
    finest = min((abs(a - b) for a, b in pairwise(ticks)), default=1.0)
    near_zero = [0.0 if abs(tick) < finest * 1e-6 else tick for tick in ticks]
    is_even = len(ticks) > 2 and np.allclose(np.diff(ticks), ticks[1] - ticks[0])
    decimals = max(0, -int(np.floor(np.log10(finest) + 1e-9)))
    if is_even and decimals <= 6 and max(map(abs, ticks)) < 1e6:
        return [f"{tick:,.{decimals}f}" for tick in near_zero]
    return [spell_number(tick) for tick in near_zero]


def value_ticks(low: float, high: float, *, is_logarithmic: bool = False) -> list[float]:
    """Return a few round numbers that cover an interval: multiples of 1, 2 or 5, or powers on a logarithmic scale."""
    if not high > low:
        return [low]
    if is_logarithmic:
        first, last = int(np.floor(np.log10(low))), int(np.ceil(np.log10(high)))
        powers = -(-(last - first) // (MAX_TICKS - 1))
        return [10.0**power for power in range(first, last + powers, powers)]
    step = _round_step((high - low) / (MAX_TICKS - 1))
    first, last = int(np.floor(low / step + 1e-9)), int(np.ceil(high / step - 1e-9))
    return [step * place for place in range(first, last + 1)]


def round_ticks(n_rounds: int) -> list[int]:
    """Return the numbers of a few rounds: the first, and multiples of a round number."""
    step = max(1, int(_round_step(n_rounds / MAX_TICKS)))
    return sorted({1, *range(step, n_rounds + 1, step)} - ({2} if step == 2 else set()))


def _round_step(size: float) -> float:
    """Return the smallest of 1, 2 and 5 times a power of ten that is not less than a size."""
    power = 10.0 ** np.floor(np.log10(size))
    return float(next(power * digit for digit in (1, 2, 5, 10) if power * digit >= size * (1 - 1e-9)))
