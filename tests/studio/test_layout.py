"""The spring-embedded layout: against the formulas of the chapter, and at rest where it should be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mustlink.studio import SpringConstants, SpringLayout
from mustlink.studio._layout_kernels import build_tree
from reference.spring_layout import net_forces, runge_kutta

EXACT = SpringConstants(theta=0.0)


def edges_between(rng, n_rows, n_edges):
    pairs = [(a, b) for a in range(n_rows) for b in range(a + 1, n_rows)]
    chosen = rng.permutation(len(pairs))[: min(n_edges, len(pairs))]
    return [pairs[place] for place in chosen]


def reference_forces(layout, places, labels=None):
    known = layout.constants
    anchors = {}
    if labels is not None:
        pinned = ~layout._is_free
        for row, label in enumerate(labels):
            members = pinned & (labels == label)
            if label >= 0 and members.any():
                anchors[row] = layout.positions[members].mean(axis=0)
    constants = {"g": known.repulsion, "c_edge": known.edge_strength, "c_group": known.group_strength}
    return net_forces(places, layout.edges, anchors, length=known.length, **constants)


@st.composite
def layouts(draw, theta=0.0):
    """Rows on a grid that is fine or coarse, some pinned, with edges and labels."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.integers(2, 40))
    cells = draw(st.sampled_from([8, 1000]))
    # Places on a grid, no two the same: there the formulas have no direction.
    numbers = rng.permutation(cells * cells)[:n_rows]
    places = np.column_stack([numbers % cells, numbers // cells]) * (700.0 / cells) + 30.0
    edges = edges_between(rng, n_rows, draw(st.integers(0, 60)))
    layout = SpringLayout(n_rows, edges, positions=places, constants=SpringConstants(theta=theta))
    n_pins = draw(st.integers(0, n_rows))
    layout.pin({row: tuple(places[row]) for row in rng.permutation(n_rows)[:n_pins].tolist()})
    return layout, rng.integers(-1, 3, size=n_rows)


@given(layouts())
def test_exact_forces_are_the_sum_over_all_pairs(given_layout):
    layout, labels = given_layout
    # A row that is pinned alone in its group is on its own anchor, where a spring has no direction.
    alone = np.bincount(labels[~layout._is_free & (labels >= 0)], minlength=3) == 1
    labels = np.where((labels >= 0) & alone[labels], -1, labels)
    for groups in (None, labels):
        expected = reference_forces(layout, layout.positions, groups)
        assert np.allclose(layout.forces(groups), expected, rtol=1e-9, atol=1e-12)


@given(layouts(theta=0.9))
def test_approximate_forces_are_near_the_sum_over_all_pairs(given_layout):
    layout, _ = given_layout
    expected = reference_forces(layout, layout.positions)
    scale = np.abs(expected).max()
    assert np.abs(layout.forces() - expected).max() <= 0.15 * scale + 1e-9


def test_approximate_forces_are_near_on_many_rows():
    exact, near = (
        SpringLayout(2000, random_state=0, constants=SpringConstants(theta=theta)).forces() for theta in (0.0, 0.9)
    )
    error = np.linalg.norm(near - exact, axis=1)
    assert error.max() > 0
    assert np.median(error) < 0.05 * np.median(np.linalg.norm(exact, axis=1))


@given(layouts())
def test_forces_sum_to_zero(given_layout):
    """Check 5: every force has an equal and opposite one."""
    layout, _ = given_layout
    forces = layout.forces()
    assert np.abs(forces.sum(axis=0)).max() <= 1e-12 * max(1.0, np.abs(forces).sum())


def test_rows_at_one_place_are_pushed_apart_with_opposite_forces():
    layout = SpringLayout(20, [(0, 1), (2, 3)], positions=np.full((20, 2), 300.0), constants=EXACT)
    forces = layout.forces()
    assert np.abs(forces).min() > 0
    assert np.abs(forces.sum(axis=0)).max() <= 1e-9 * np.abs(forces).sum()
    layout.settle()
    places = layout.positions
    gaps = np.linalg.norm(places[:, None] - places, axis=2)[~np.eye(20, dtype=bool)]
    assert gaps.min() > 1.0


@given(layouts(), st.integers(1, 4))
def test_steps_are_those_of_the_reference(given_layout, n_steps):
    layout, _ = given_layout
    layout.constants = SpringConstants(theta=0.0, max_steps=n_steps, min_speed=0.0)
    places, speeds = layout.positions.copy(), np.zeros((len(layout.positions), 2))
    time = layout._stable_step(np.full(len(places), -1))
    motion = {"drag": 0.01, "limit": 1.0, "time": time, "size": np.array(layout.size)}
    for _ in range(n_steps):
        places, speeds = runge_kutta(
            places, speeds, layout._is_free, lambda here: reference_forces(layout, here), **motion
        )
    assert layout.settle() == n_steps
    # Close rows repel each other so strongly that rounding grows from step to step.
    assert np.allclose(layout.positions, places, rtol=0, atol=1e-6)


@pytest.mark.parametrize("repulsion", [1.0, 0.0, 40.0])
def test_two_rows_and_a_spring_settle_where_both_forces_are_equal(repulsion):
    """Check 6: c (D - l) = g / D^2, and D = l without repulsion."""
    constants = SpringConstants(repulsion=repulsion, min_speed=1e-12, max_steps=10_000)
    layout = SpringLayout(2, [(0, 1)], positions=[[400, 300], [480, 340]], constants=constants)
    assert layout.settle() < 10_000
    distance = np.linalg.norm(np.diff(layout.positions, axis=0))
    assert constants.edge_strength * (distance - constants.length) == pytest.approx(
        repulsion / distance**2, rel=1e-6, abs=1e-12
    )
    if repulsion == 0:
        assert distance == pytest.approx(50.0)


@given(layouts(theta=0.9))
def test_pinned_rows_do_not_move(given_layout):
    """Check 7: bit for bit."""
    layout, labels = given_layout
    pinned = ~layout._is_free
    before = layout.positions.copy()
    layout.settle(labels)
    assert layout.positions[pinned].tobytes() == before[pinned].tobytes()
    if not pinned.all() and len(before) > 1:
        assert (layout.positions[~pinned] != before[~pinned]).any()


def test_pinned_rows_push_free_ones():
    layout = SpringLayout(2, positions=[[400, 300], [402, 300]])
    layout.pin({0: (400, 300)})
    layout.settle()
    assert layout.positions[1, 0] > 410


def test_rows_are_drawn_to_the_pins_of_their_group():
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=60)
    layout = SpringLayout(60, random_state=0)
    first, second = (int(np.flatnonzero(labels == label)[0]) for label in (0, 1))
    layout.pin({first: (150.0, 150.0), second: (850.0, 600.0)})
    layout.settle(labels)
    corners = np.array([[150.0, 150.0], [850.0, 600.0]])
    nearest = np.linalg.norm(layout.positions[:, None] - corners, axis=2).argmin(axis=1)
    assert nearest.tolist() == labels.tolist()


def test_unpinned_rows_move_again_and_rows_stay_on_the_canvas():
    layout = SpringLayout(30, random_state=0, size=(200, 100))
    layout.pin({3: (10.0, 20.0)})
    layout.settle()
    layout.pin({})
    layout.settle()
    assert layout.positions[3].tolist() != [10.0, 20.0]
    assert (layout.positions >= 0).all()
    assert (layout.positions <= (200, 100)).all()


def test_a_hub_with_many_edges_does_not_explode():
    hub = [(0, row) for row in range(1, 2001)]
    layout = SpringLayout(2001, hub, random_state=0, constants=SpringConstants(repulsion=0.0, max_steps=3000))
    assert layout.settle() < 3000
    assert np.linalg.norm(layout.positions[1:] - layout.positions[0], axis=1) == pytest.approx(50.0, abs=1.0)


def test_the_same_seed_gives_the_same_layout():
    places = []
    for seed in (0, 0, 1):
        layout = SpringLayout(50, [(0, 1), (1, 2)], random_state=seed)
        layout.settle()
        places.append(layout.positions)
    assert places[0].tobytes() == places[1].tobytes() != places[2].tobytes()


@given(st.integers(0, 2**32 - 1), st.integers(1, 120), st.sampled_from([2, 5, 1000]))
def test_every_row_is_in_one_leaf(seed, n_rows, n_values):
    rng = np.random.default_rng(seed)
    P = rng.integers(n_values, size=(n_rows, 2)).astype(float)
    order = np.arange(n_rows)
    cells, mean, width, is_leaf = build_tree(P, order)
    assert sorted(order) == list(range(n_rows))
    assert len(cells) <= 2 * n_rows - 1
    rows_of_leaves = [row for first, last, _ in cells[is_leaf] for row in order[first:last]]
    assert sorted(rows_of_leaves) == list(range(n_rows))
    for (first, last, _), center, side in zip(cells, mean, width, strict=True):
        rows = P[order[first:last]]
        assert np.allclose(rows.mean(axis=0), center)
        assert np.ptp(rows, axis=0).max() == side
    # Following the third column from the first cell visits every row once.
    assert cells[0, 2] == len(cells)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_rows": 0}, "n_rows must be"),
        ({"n_rows": 3, "edges": [(0, 3)]}, r"edge \(0, 3\) has a row that does not exist"),
        ({"n_rows": 3, "edges": [(1, 1)]}, "Row 1 has an edge to itself"),
        ({"n_rows": 3, "edges": [0, 1]}, "edges must be pairs"),
        ({"n_rows": 3, "edges": [(0.5, 1.0)]}, "edges must be pairs"),
        ({"n_rows": 3, "size": (0, 10)}, "size must be"),
        ({"n_rows": 3, "positions": [[0, 1]]}, r"shape \(3, 2\)"),
        ({"n_rows": 3, "positions": np.full((3, 2), np.nan)}, "must be finite"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        SpringLayout(**arguments)


@pytest.mark.parametrize(
    ("pins", "message"), [({5: (0, 0)}, "The rows are 0 to 2"), ({0: (np.inf, 0)}, "must be finite")]
)
def test_bad_pins_are_refused(pins, message):
    with pytest.raises(ValueError, match=message):
        SpringLayout(3).pin(pins)


def test_labels_of_other_rows_are_refused():
    with pytest.raises(ValueError, match="each of the 3 rows"):
        SpringLayout(3).settle([0, 1])


@pytest.mark.parametrize(
    ("constant", "value"), [("drag", -1.0), ("theta", np.nan), ("time_step", 0.0), ("max_steps", 1.5), ("length", "50")]
)
def test_bad_constants_are_refused(constant, value):
    with pytest.raises(ValueError, match=constant):
        SpringConstants(**{constant: value})


def test_positions_cannot_be_written():
    with pytest.raises(ValueError, match="read-only"):
        SpringLayout(3).positions[0] = 0
