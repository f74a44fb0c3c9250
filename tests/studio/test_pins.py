"""Links from the positions of pinned rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink.studio._pins import pin_components, pin_links, place_around

EPS = 0.1
positions = st.dictionaries(
    st.integers(0, 40), st.tuples(*[st.integers(-20, 20).map(lambda step: step / 50)] * 2), max_size=15
)


def components_by_search(pins, eps):
    """Grow each component from its first row by all rows that are near one of it."""
    left, found = sorted(pins), []
    while left:
        component = [left.pop(0)]
        for row in component:
            near = [other for other in left if math.dist(pins[row], pins[other]) < eps]
            component += near
            left = [other for other in left if other not in near]
        found.append(sorted(component))
    return found


@settings(max_examples=60, deadline=None)
@given(positions, st.randoms())
def test_components_are_those_of_near_positions_in_any_order(pins, random):
    found = pin_components(pins, EPS)
    assert found == components_by_search(pins, EPS)
    rows = list(pins)
    random.shuffle(rows)
    assert pin_components({row: pins[row] for row in rows}, EPS) == found
    together, apart = pin_links(found)
    assert len(together) == len(pins) - len(found)
    assert len(apart) == len(found) * (len(found) - 1) // 2
    place = {row: number for number, component in enumerate(found) for row in component}
    assert all(place[a] == place[b] for a, b in together.tolist())
    assert len({frozenset((place[a], place[b])) for a, b in apart.tolist()}) == len(apart)


@pytest.mark.parametrize("n_rows", [1, 2, 7, 500])
def test_rows_that_are_dropped_together_are_one_component(n_rows):
    placed = place_around(range(n_rows), 0.3, -0.2, EPS)
    assert len(pin_components(placed, EPS)) == 1
    assert max(math.dist(place, (0.3, -0.2)) for place in placed.values()) <= 0.4 * EPS
    assert len(set(placed.values())) == n_rows
    assert np.isfinite(list(placed.values())).all()


def test_a_distance_of_eps_is_apart():
    assert pin_components({0: (0.0, 0.0), 1: (0.125, 0.0)}, 0.125) == [[0], [1]]
    assert pin_components({0: (0.0, 0.0), 1: (0.0, 0.0)}, 0.125) == [[0, 1]]
    assert pin_components({}, 0.125) == []
