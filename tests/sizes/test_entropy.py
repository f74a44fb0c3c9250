"""The exact comparison of an entropy with a bound, beside whole numbers."""

from __future__ import annotations

import math
import time
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink.sizes._entropy import has_entropy, perplexity


def by_fractions(counts, needed):
    """The definition: n ** n >= l ** n times the product of c ** c."""
    total = sum(counts)
    return Fraction(total) ** total >= Fraction(needed) ** total * math.prod(count**count for count in counts)


@settings(deadline=None, max_examples=150)
@given(counts=st.lists(st.integers(1, 40), min_size=1, max_size=6), step=st.integers(-2, 2))
def test_the_bound_and_its_neighbors_are_decided_as_by_fractions(counts, step):
    needed = perplexity(counts)
    for _ in range(abs(step)):
        needed = math.nextafter(needed, step * math.inf)
    assert has_entropy(counts, needed) == by_fractions(counts, needed)


@pytest.mark.parametrize(
    ("counts", "needed"), [([7] * 3, 3.0), ([4, 1, 1, 1, 1], 4.0), ([5], 1.0), ([100_003] * 6, 6.0), ([1] * 5000, 5000)]
)
def test_an_entropy_on_the_bound_is_enough(counts, needed):
    assert has_entropy(counts, needed)
    assert not has_entropy(counts, math.nextafter(needed, math.inf))
    assert has_entropy(counts, math.nextafter(needed, 0))


def test_large_groups_on_the_bound_take_little_time():
    start = time.perf_counter()
    assert has_entropy([1_000_003] * 4, 4)
    counts = list(range(1, 1500))
    needed = perplexity(counts)
    has_entropy(counts, needed)
    assert time.perf_counter() - start < 5
