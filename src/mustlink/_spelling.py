"""Counts and measured values as people write them: 1 link, 31,500, 37.5 million, 0.0012."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

__all__ = ["FRAME_PLACE", "count", "ordinal", "spell_number", "spell_numbers", "spell_whole"]

UNITS = {10**12: "trillion", 10**9: "billion", 10**6: "million"}
# From here on, and below the smallest, zeros are harder to read than an exponent.
MAX_WRITTEN_OUT = 10**15
MIN_WRITTEN_OUT = 1e-6
# Years and other numbers of four digits are written without a comma.
MIN_WITH_COMMA = 10_000
# Values whose sizes differ by more than this do not share a number of decimals.
MAX_RATIO = 100.0
# The digits that values close to each other may take to differ.
MAX_DIGITS = 6
# A whole number as pandas writes it where a column has empty cells.
WHOLE_FLOAT = re.compile(r"([+-]?[0-9]+)\.0+")
# Where a link or an edge is in a data frame, as a message begins with it.
FRAME_PLACE = re.compile(r"Row ([0-9]+) of the frame")


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Word a number of things: ``count(1, "link")`` is 1 link, ``count(2000, "link")`` is 2,000 links."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def ordinal(number: int) -> str:
    """Word a place in an order: 1st, 2nd, 3rd, 4th, 11th."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"


def spell_whole(text: str) -> str:
    """Write a whole number without the decimals that pandas gives it, and any other text as it is."""
    whole = WHOLE_FLOAT.fullmatch(text)
    return whole[1] if whole else text


def spell_number(value: float, digits: int = 3) -> str:
    """Spell one value, see :func:`spell_numbers`."""
    return spell_numbers([value], digits)[0]


def spell_numbers(values: Sequence[float], digits: int = 3) -> list[str]:
    """Spell values that are compared with each other, such as the means of a column in several clusters.

    The largest value has at least the given number of significant digits, and whole numbers below 10,000 have all of
    theirs. Values that are close to each other have as many more digits, up to six, as it takes to see the difference.
    Values of similar size have the same number of decimals.
    """
    sizes = [abs(value) for value in values if math.isfinite(value) and value]
    if not sizes:
        return [_spell(value, 1.0, with_comma=False) for value in values]
    if max(sizes) > MAX_RATIO * min(sizes):
        steps = [_step([value], digits) if value and math.isfinite(value) else 1.0 for value in values]
    else:
        steps = [_step([value for value in values if math.isfinite(value)], digits)] * len(values)
    with_comma = max(sizes) >= MIN_WITH_COMMA
    return [_spell(value, step, with_comma=with_comma) for value, step in zip(values, steps, strict=True)]


def _step(values: Sequence[float], digits: int) -> float:
    """Return the power of ten to which values of similar size are rounded; two digits of the smallest are kept."""
    largest = max(map(abs, values))
    if not MIN_WRITTEN_OUT <= largest < MAX_WRITTEN_OUT:
        return 1.0
    magnitude = _magnitude(largest)
    exponent = magnitude - (digits - 1)
    if largest < MIN_WITH_COMMA:
        exponent = min(exponent, 0)
    exponent = min(exponent, _magnitude(min(abs(value) for value in values if value)) - 1)
    spread = max(values) - min(values)
    if 0 < spread < math.inf:
        exponent = min(exponent, _magnitude(spread) - 1)
    exponent = max(exponent, magnitude - max(MAX_DIGITS, digits) + 1)
    # Zeros at the end that all values share.
    while exponent < magnitude and not any(round(value / 10.0**exponent) % 10 for value in values):
        exponent += 1
    return 10.0**exponent


def _magnitude(size: float) -> int:
    """Return the power of ten of the first digit."""
    return math.floor(math.log10(size))


def _spell(value: float, step: float, *, with_comma: bool) -> str:
    """Spell a value rounded to a power of ten."""
    if not math.isfinite(value):
        return str(value)
    size = abs(value)
    if size >= MAX_WRITTEN_OUT or 0 < size < MIN_WRITTEN_OUT:
        return f"{value:.3g}"
    exponent = round(math.log10(step))
    # Rounding may reach the next unit; adding zero removes the sign of minus zero.
    rounded = round(value, -exponent) + 0.0
    unit = next((unit for unit in UNITS if abs(rounded) >= unit), None)
    # A number that needs many digits is clearer without a unit.
    if unit is not None and step * 1000 >= unit:
        return f"{rounded / unit:,.{max(0, round(math.log10(unit)) - exponent)}f} {UNITS[unit]}"
    return f"{rounded:{',' if with_comma else ''}.{max(0, -exponent)}f}"
