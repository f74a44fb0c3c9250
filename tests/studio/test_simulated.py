"""The simulated user drives the engine by moves."""

from __future__ import annotations

import numpy as np
import pytest

from mustlink.studio import Engine, SimulatedUser, SpringConstants, SpringLayout
from mustlink.studio._simulated import place_corners

X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [30.0], [31.0], [32.0]])
Y = np.repeat(["a", "b", "c"], 3)


def make_user(**options):
    engine = Engine(X, eps=227.0, method="instant", layout=SpringLayout(9, random_state=0))
    return engine, SimulatedUser(engine, Y, random_state=0, **options)


@pytest.mark.parametrize("pick", ["farthest", "random"])
def test_rows_are_moved_once_each_near_the_corner_of_their_group(pick):
    engine, user = make_user(pick=pick)
    moved = [user.move() for _ in range(9)]
    assert sorted(moved) == list(range(9))
    assert user.move() is None
    assert user.n_moved == 9
    places = np.array([engine.pins[row] for row in range(9)])
    assert np.abs(places - user.corners[np.repeat([0, 1, 2], 3)]).max() <= 20
    assert len(np.unique(places, axis=0)) == 9
    assert user.read_map().tolist() == np.repeat([0, 1, 2], 3).tolist()
    # Each group is one component of the links.
    assert len(np.unique(engine.labels)) == 3
    assert engine.constraints.satisfied(np.repeat([0, 1, 2], 3)).all()


def test_the_farthest_row_is_moved_first():
    places = np.tile([500.0, 400.0], (9, 1))
    places[4] = 120.0, 110.0
    layout = SpringLayout(9, positions=places, constants=SpringConstants(max_steps=0))
    engine = Engine(X, eps=227.0, method="instant", layout=layout)
    user = SimulatedUser(engine, Y, random_state=0)
    # The corner of b is opposite to that of a, near which row 4 is.
    assert user.move() == 4
    assert engine.labels.tolist() == [-1] * 9
    assert layout.positions[0].tolist() == [500.0, 400.0], "without steps only the moved row changes its place"


def test_one_row_of_each_group_is_enough_for_separate_groups():
    engine, user = make_user(pick="random")
    while len(set(Y[user.is_moved])) < 3:
        user.move()
    assert [len(set(engine.labels[name == Y])) for name in "abc"] == [1, 1, 1]


def test_the_same_seed_moves_the_same_rows():
    assert [make_user()[1].move() for _ in range(3)] == [make_user()[1].move()] * 3


@pytest.mark.parametrize("n_groups", [1, 2, 4, 5, 6])
def test_corners_are_on_the_canvas_and_apart(n_groups):
    corners = place_corners(n_groups, (1024.0, 768.0))
    assert corners.shape == (n_groups, 2)
    assert (corners >= 100).all()
    assert (corners <= (924, 668)).all()
    gaps = np.linalg.norm(corners[:, None] - corners, axis=2)[~np.eye(n_groups, dtype=bool)]
    assert gaps.size == 0 or gaps.min() > 284


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="with a layout"):
        SimulatedUser(Engine(X), Y)
    with pytest.raises(ValueError, match="'farthest' or 'random'"):
        make_user(pick="nearest")
    engine, _ = make_user()
    with pytest.raises(ValueError, match="target has 3 entries"):
        SimulatedUser(engine, [0, 1, 2])
    wide = Engine(X, eps=900.0, method="instant", layout=SpringLayout(9))
    with pytest.raises(ValueError, match="Two corners are 568 pixels apart"):
        SimulatedUser(wide, Y)
