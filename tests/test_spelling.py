"""Counts and measured values as people write them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mustlink._spelling import UNITS, count, ordinal, spell_number, spell_numbers


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0, "link"), "0 links"),
        ((1, "link"), "1 link"),
        ((2_000, "link"), "2,000 links"),
        ((1, "pair is", "pairs are"), "1 pair is"),
        ((3, "pair is", "pairs are"), "3 pairs are"),
    ],
)
def test_counts(arguments, words):
    assert count(*arguments) == words


def test_ordinals():
    assert list(map(ordinal, [1, 2, 3, 4, 11, 12, 13, 21, 103, 1_112])) == (
        ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "103rd", "1,112th"]
    )


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([31_512.3, 43_618.0], ["31,500", "43,600"]),
        ([-31_512.3], ["-31,500"]),
        ([37_512_300.0], ["37.5 million"]),
        ([37_512_300.0, 12_000.0], ["37.5 million", "12,000"]),
        ([2.5e9, 3.14e9], ["2.50 billion", "3.14 billion"]),
        ([1.23e13], ["12.3 trillion"]),
        ([1.2e30], ["1.2e+30"]),
        ([0.0012], ["0.0012"]),
        ([0.0012, 0.9], ["0.0012", "0.9"]),
        ([1.2e-9], ["1.2e-09"]),
        ([1987.4, 2003.1], ["1987", "2003"]),
        ([61.24, 40.0], ["61.2", "40.0"]),
        ([612.4, 6.5], ["612.4", "6.5"]),
        ([4.0, 5.0], ["4", "5"]),
        ([100.12, 100.34], ["100.12", "100.34"]),
        ([1_234_567.0, 1_234_890.0], ["1,234,570", "1,234,890"]),
        ([999_999.6], ["1.0 million"]),
        ([0.0, -0.0], ["0", "0"]),
        ([0.0, 0.5], ["0.0", "0.5"]),
        ([math.nan, 3.0], ["nan", "3"]),
        ([5e-324, 1.7e308], ["4.94e-324", "1.7e+308"]),
        ([], []),
    ],
)
def test_values(values, words):
    assert spell_numbers(values) == words


def test_more_digits_on_request():
    assert [spell_number(31_512.25, digits) for digits in (3, 6, 12)] == ["31,500", "31,512.2", "31,512.25"]


def read(words: str) -> float:
    """Read a number as a person would."""
    number, _, unit = words.replace(",", "").partition(" ")
    return float(number) * {word: size for size, word in UNITS.items()}.get(unit, 1)


@given(st.lists(st.floats(min_value=-1e300, max_value=1e300), min_size=1, max_size=5))
def test_words_are_the_value_to_three_digits_or_two_among_others(values):
    for value, words in zip(values, spell_numbers(values), strict=True):
        assert read(words) == pytest.approx(value, rel=0.051 if len(values) > 1 else 0.0051)
        assert len(words) <= 25
