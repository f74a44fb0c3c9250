"""The engine: groups that follow from actions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink import Constraints
from mustlink.errors import OptionError
from mustlink.studio import (
    ActionRefused,
    Answer,
    Choose,
    Engine,
    Link,
    Lock,
    Move,
    Redo,
    Rename,
    Replace,
    Restore,
    Snapshot,
    Undo,
    Unlink,
    Unpin,
)

TRUTH = np.arange(30) % 3
NOON = "2026-03-01T12:00:00+00:00"
CORNERS = [(-0.8, -0.8), (0.8, -0.8), (0.0, 0.8)]


def is_same_grouping(one, other):
    return len(set(zip(one, other, strict=True))) == len(set(one)) == len(set(other))


def place(engine, row, shift=0.0):
    x, y = CORNERS[TRUTH[row]]
    return engine.apply(Move((row,), x + shift, y))


def summary(engine):
    """All that a person sees, as comparable values."""
    return (
        engine.labels.tolist(),
        engine.confidence.tolist(),
        engine.constraints,
        engine.links,
        engine.pins,
        engine.groups,
        engine.state.skipped,
        (engine.state.n_clusters, engine.state.method, engine.state.strategy, engine.state.eps),
        engine.shown.method,
        engine.shown.status,
    )


# ---- the rule of the chapter -----------------------------------------------------------------------------------------


def test_groups_follow_the_moves(blobs):
    engine = Engine(blobs)
    assert (engine.labels == -1).all()
    assert engine.groups == ()
    place(engine, 0)
    assert (engine.labels == -1).all()
    place(engine, 1)
    assert set(engine.labels) == {0, 1}
    change = place(engine, 2)
    assert is_same_grouping(engine.labels, TRUTH)
    assert set(change.rows) == set(np.flatnonzero(TRUTH == 2)) & set(change.rows)
    assert engine.constraints == Constraints(cannot_link=[(0, 1), (0, 2), (1, 2)])
    place(engine, 3)
    assert engine.constraints.must_link.tolist() == [[0, 3]]
    assert [link.source for link in engine.links] == ["pin"] * 4


def test_moving_away_and_back_restores_the_links(blobs):
    engine = Engine(blobs)
    for row in range(6):
        place(engine, row)
    before = engine.constraints
    engine.apply(Move((3,), 0.3, 0.3))
    assert engine.constraints != before
    place(engine, 3)
    assert engine.constraints == before
    assert len(engine.history) == 8


def test_zero_distance_and_many_pins(blobs):
    engine = Engine(np.zeros((30, 2)))
    for row in range(30):
        place(engine, row)
    assert is_same_grouping(engine.labels, TRUTH)
    assert (engine.confidence == 1).all()


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 11), st.integers(-5, 5), st.integers(-5, 5)), min_size=2, max_size=10))
def test_every_seed_keeps_its_group(moves):
    X = np.random.default_rng(0).normal(size=(12, 2))
    engine = Engine(X, eps=0.25)
    for row, x, y in moves:
        engine.apply(Move((row,), x / 5, y / 5))
    components = engine.state.pin_components
    if len(engine.pins) < 2:
        return
    of_component = [set(engine.labels[rows]) for rows in components]
    assert all(len(labels) == 1 for labels in of_component)
    assert len(set.union(*of_component)) == len(components)
    assert set(engine.labels) == set.union(*of_component)
    assert engine.constraints.violation_rate(engine.labels) == 0


def test_a_row_by_itself_is_a_group_beside_drawn_links(blobs):
    engine = Engine(blobs)
    engine.apply(Link(0, 1, together=False))
    engine.apply(Move((2,), 0.5, 0.5))
    assert is_same_grouping(engine.labels, TRUTH)
    engine.apply(Unpin((2,)))
    assert len(engine.groups) == 2


def test_several_rows_move_into_a_group(blobs):
    engine = Engine(blobs)
    for row in (0, 1, 2):
        place(engine, row)
    engine.apply(Move((7, 10, 13), 0.78, -0.8, onto=(4, 0.8, -0.8)))
    assert {7, 10, 13, 4} <= set(engine.pins)
    assert len(set(engine.labels[[1, 4, 7, 10, 13]])) == 1
    # The wrong group, so that something changes.
    change = engine.apply(Move((4, 7), *CORNERS[0]))
    assert set(change.rows) == {4, 7}
    assert set(engine.labels[[4, 7]]) == {engine.labels[0]}


def test_rows_are_dropped_onto_a_group_again_and_again(blobs):
    engine = Engine(blobs)
    for row in (0, 1, 2):
        place(engine, row)
    group = engine.labels[1]
    # Rows of the first group, onto different rows of the second one, which are drawn far from each other.
    for row, onto, x in ((3, 4, 0.1), (6, 7, 0.3), (9, 10, 0.5)):
        assert engine.labels[onto] == group
        change = engine.apply(Move((row,), x, 0.02, onto=(onto, x, 0.0)))
        assert change.notices == ()
        assert engine.labels[row] == engine.labels[onto] == engine.labels[1] == group
        assert len(engine.groups) == 3
    assert engine.constraints.violation_rate(engine.labels) == 0
    # A row that is moved away is no longer of this group, and those that were dropped there are.
    engine.apply(Move((7,), *CORNERS[2]))
    assert engine.labels[7] == engine.labels[2]
    assert engine.labels[6] == group
    engine.apply(Unpin((1, 4, 3)))
    assert engine.labels[6] == engine.labels[9]


def test_the_same_of_two_rows_of_a_group_does_not_split_it(blobs):
    engine = Engine(blobs)
    engine.apply(Link(0, 3, together=True))
    assert len(engine.groups) == 1
    engine.apply(Link(0, 1, together=False))
    before = engine.labels
    assert len(engine.groups) == 2
    engine.apply(Link(6, 9, together=True))
    np.testing.assert_array_equal(engine.labels, before)
    engine.apply(Link(6, 9 - 1, together=False))
    assert len(engine.groups) > 2
    assert engine.constraints.violation_rate(engine.labels) == 0


def test_a_place_beyond_the_number_of_groups_is_a_new_group(blobs):
    engine = Engine(blobs, n_clusters=2)
    place(engine, 0)
    place(engine, 1)
    assert engine.state.n_clusters == 2
    change = place(engine, 2)
    assert change.notices == ("The number of groups is now 3: a new place begins a group.",)
    assert engine.state.n_clusters == 3
    assert len(engine.groups) == 3
    engine.apply(Undo())
    assert engine.state.n_clusters == 2


def test_groups_that_join_are_told(blobs):
    engine = Engine(blobs)
    for row in (0, 1, 2):
        place(engine, row)
    change = engine.apply(Move((1,), *CORNERS[0]))
    assert change.notices == ("Group 2 is no longer a group; undo brings it back.",)
    assert {group.id for group in engine.groups} == {0, 2}


# ---- links and conflicts ---------------------------------------------------------------------------------------------


def test_drawn_links_answers_and_links_of_a_file_hold_together(blobs):
    known = Constraints(must_link=[(0, 3)], cannot_link=[(0, 1)])
    engine = Engine(blobs, known=known, fixed=Constraints(must_link=[(1, 4)]))
    engine.apply(Link(5, 2, together=True))
    engine.apply(Answer(2, 0, together=False))
    engine.apply(Answer(8, 9, None))
    assert [(link.a, link.b, link.together, link.source) for link in engine.links] == [
        (0, 3, True, "file"),
        (0, 1, False, "file"),
        (2, 5, True, "drawn"),
        (0, 2, False, "answer"),
    ]
    assert len(engine.constraints) == 5
    assert engine.state.skipped == {(8, 9)}
    engine.apply(Unlink(3, 0))
    engine.apply(Unlink(2, 5))
    assert len(engine.constraints) == 3
    with pytest.raises(ActionRefused, match="no link that can be removed"):
        engine.apply(Unlink(1, 4))
    engine.apply(Link(0, 3, together=False))
    assert engine.constraints.cannot_link.tolist() == [[0, 1], [0, 2], [0, 3]]


def test_a_conflict_is_refused_with_its_chain(blobs):
    engine = Engine(blobs, known=Constraints(must_link=[(0, 3)]))
    engine.apply(Link(3, 6, together=True))
    # Rows of different groups: the link that the data speak against.
    engine.apply(Answer(6, 1, together=True))
    before, revision = summary(engine), engine.revision
    with pytest.raises(ActionRefused, match="contradicts") as caught:
        engine.apply(Link(1, 0, together=False))
    error = caught.value
    assert [(link.a, link.b, link.together, link.source) for link in error.chain] == [
        (0, 3, True, "file"),
        (3, 6, True, "drawn"),
        (1, 6, True, "answer"),
        (0, 1, False, "drawn"),
    ]
    assert error.chain[error.weakest][:2] == (1, 6)
    assert error.action == Link(1, 0, together=False)
    assert summary(engine) == before
    assert engine.revision == revision
    engine.apply(Replace((1, 6), Link(1, 0, together=False)))
    assert engine.constraints == Constraints(must_link=[(0, 3), (3, 6)], cannot_link=[(0, 1)])
    assert engine.history[-1].text == "Linked 1 and 0 as different, without the link of 1 and 6"
    engine.apply(Undo())
    assert summary(engine)[:-1] == before[:-1]


@pytest.mark.parametrize("together", [True, False])
def test_a_pair_that_is_both_drawn_and_pinned_is_released_as_a_whole(blobs, together):
    engine = Engine(blobs)
    engine.apply(Link(0, 3, together=together))
    engine.apply(Move((0,), 0.5, 0.5))
    engine.apply(Move((3,), 0.5 if together else -0.5, 0.5))
    with pytest.raises(ActionRefused) as caught:
        engine.apply(Link(0, 3, together=not together))
    chain = caught.value.chain
    removed = chain[caught.value.weakest]
    engine.apply(Replace((removed.a, removed.b), caught.value.action))
    assert [link[:4] for link in engine.links] == [(0, 3, not together, "drawn")]
    assert engine.history[-1].text.endswith(", in place of the link before")
    assert list(engine.pins) == [3]


def test_the_opposite_of_a_link_is_refused_and_can_replace_it(blobs):
    engine = Engine(blobs)
    engine.apply(Link(0, 3, together=False))
    with pytest.raises(ActionRefused, match="0 and 3 are linked as different; remove") as caught:
        engine.apply(Answer(3, 0, together=True))
    assert caught.value.weakest == 0
    assert [link.together for link in caught.value.chain] == [False, True]
    with pytest.raises(ActionRefused, match="linked as different already"):
        engine.apply(Link(3, 0, together=False))
    engine.apply(Replace((0, 3), caught.value.action))
    assert [(link.together, link.source) for link in engine.links] == [(True, "answer")]


def test_the_cannot_link_is_weakest_if_its_rows_are_near(blobs):
    engine = Engine(blobs)
    engine.apply(Link(0, 3, together=False))
    engine.apply(Link(0, 6, together=True))
    with pytest.raises(ActionRefused) as caught:
        engine.apply(Link(6, 3, together=True))
    assert caught.value.chain[caught.value.weakest][:3] == (0, 3, False)


def test_nothing_to_remove_in_a_chain_of_fixed_links(blobs):
    engine = Engine(blobs, fixed=Constraints(must_link=[(0, 3)]))
    with pytest.raises(ActionRefused) as caught:
        engine.apply(Link(0, 3, together=False))
    assert caught.value.weakest is None
    assert [link.source for link in caught.value.chain] == ["fixed", "drawn"]


def test_conflicts_of_the_file_do_not_stop_the_work(blobs):
    torn = Constraints(must_link=[(0, 3), (3, 6)], cannot_link=[(0, 6)])
    engine = Engine(blobs, known=torn)
    engine.apply(Link(1, 4, together=True))
    with pytest.raises(ActionRefused):
        engine.apply(Link(4, 1, together=False))
    engine.apply(Unlink(0, 6))
    with pytest.raises(ActionRefused, match="contradicts"):
        engine.apply(Link(0, 6, together=False))


def test_a_move_against_a_link_is_refused_and_a_pin_can_be_released(blobs):
    engine = Engine(blobs)
    place(engine, 0)
    place(engine, 1)
    with pytest.raises(ActionRefused) as caught:
        engine.apply(Link(0, 1, together=True))
    chain = caught.value.chain
    assert [(link.together, link.source) for link in chain] == [(True, "drawn"), (False, "pin")]
    assert caught.value.weakest == 1
    engine.apply(Replace((0, 1), Link(0, 1, together=True)))
    assert len(engine.pins) == 1
    assert engine.constraints == Constraints(must_link=[(0, 1)])
    engine.apply(Undo())
    engine.apply(Link(0, 4, together=False))
    with pytest.raises(ActionRefused) as caught:
        engine.apply(Move((4,), *CORNERS[0]))
    assert caught.value.chain[caught.value.weakest].source == "drawn"
    engine.apply(Replace((0, 4), Move((4,), *CORNERS[0])))
    assert engine.constraints.must_link.tolist() == [[0, 4]]


def test_a_larger_eps_that_joins_cannot_linked_pins_is_refused(blobs):
    engine = Engine(blobs)
    engine.apply(Move((0,), 0.0, 0.0))
    engine.apply(Move((1,), 0.3, 0.0))
    engine.apply(Choose(eps=0.5))
    assert engine.constraints == Constraints(must_link=[(0, 1)])
    engine.apply(Undo())
    engine.apply(Link(0, 1, together=False))
    with pytest.raises(ActionRefused, match="contradicts"):
        engine.apply(Choose(eps=0.5))
    assert engine.state.eps == 0.08


# ---- locks, names, ids -----------------------------------------------------------------------------------------------


def test_a_locked_group_keeps_its_rows(blobs):
    engine = Engine(blobs)
    for row in (0, 1, 2):
        place(engine, row)
    engine.apply(Rename(1, " regulars "))
    engine.apply(Lock(1))
    group = engine.groups[1]
    assert (group.name, group.locked, group.is_named) == ("regulars", True, True)
    rows = np.flatnonzero(engine.labels == 1)
    with pytest.raises(ActionRefused) as caught:
        engine.apply(Move((4,), *CORNERS[0]))
    assert {link.source for link in caught.value.chain} == {"lock", "pin"}
    engine.apply(Unpin((0, 1, 2)))
    assert (engine.labels[rows] == 1).all()
    with pytest.raises(ActionRefused, match="regulars is locked already"):
        engine.apply(Lock(1))
    engine.apply(Undo())
    engine.apply(Lock(1, locked=False))
    with pytest.raises(ActionRefused, match="not locked"):
        engine.apply(Lock(1, locked=False))


def test_a_lock_holds_against_the_background(blobs):
    engine = Engine(blobs, n_clusters=3)
    engine.offer(TRUTH, engine.revision, method="boost")
    engine.apply(Lock(0))
    engine.apply(Lock(1))
    rows = [np.flatnonzero(engine.labels == group) for group in (0, 1)]
    engine.offer(np.zeros(30, dtype=int), engine.revision, method="boost")
    assert (engine.labels[rows[0]] == 0).all()
    assert (engine.labels[rows[1]] == 1).all()
    engine.offer(np.arange(30) % 5, engine.revision, method="boost")
    assert (engine.labels[rows[0]] == 0).all()
    assert (engine.labels[rows[1]] == 1).all()


def test_ids_stay_with_the_rows(blobs):
    engine = Engine(blobs, n_clusters=3)
    engine.offer(TRUTH, engine.revision, method="boost")
    before = engine.labels
    engine.offer((TRUTH + 1) % 3, engine.revision, method="boost")
    assert (engine.labels == before).all()
    engine.offer(np.where(np.arange(30) < 3, 7, TRUTH), engine.revision, method="boost")
    assert (engine.labels[:3] == 3).all()
    assert (engine.labels[3:] == before[3:]).all()
    engine.offer(np.minimum(TRUTH, 1), engine.revision, method="boost")
    assert set(engine.labels) == {0, 1} or set(engine.labels) == {0, 2}
    # The lowest free id.
    engine.offer(np.where(np.arange(30) == 5, 9, np.minimum(TRUTH, 1)), engine.revision, method="boost")
    assert engine.labels[5] == ({0, 1, 2} - set(np.delete(engine.labels, 5))).pop()


def test_the_name_of_a_group_goes_with_it(blobs):
    engine = Engine(blobs)
    for row in (0, 1, 2):
        place(engine, row)
    engine.apply(Rename(2, "guests"))
    engine.apply(Unpin((2,)))
    place(engine, 2)
    assert [group.name for group in engine.groups] == ["Group 1", "Group 2", "Group 3"]
    engine.apply(Undo())
    engine.apply(Undo())
    assert engine.groups[2].name == "guests"


def test_a_name_comes_back_with_its_rows_after_a_result_without_them(blobs):
    engine = Engine(blobs, n_clusters=3)
    engine.offer(TRUTH, engine.revision, method="boost")
    engine.apply(Rename(2, "guests"))
    merged = np.minimum(TRUTH, 1)
    change = engine.offer(merged, engine.revision, method="boost")
    assert change.notices[0].startswith("guests is no group in this result")
    assert [group.name for group in engine.groups] == ["Group 1", "Group 2"]
    # Neither another group nor a link takes the name.
    engine.offer(np.where(np.arange(30) < 9, 5, merged), engine.revision, method="boost")
    assert [group.name for group in engine.groups] == ["Group 1", "Group 2", "Group 4"]
    engine.apply(Link(0, 3, together=True))
    for labels in (TRUTH, merged, TRUTH):
        engine.offer(labels, engine.revision, method="boost")
    assert [group.name for group in engine.groups] == ["Group 1", "Group 2", "guests"]
    assert (np.flatnonzero(engine.labels == 2) == np.flatnonzero(TRUTH == 2)).all()


# ---- history ---------------------------------------------------------------------------------------------------------


def test_undo_redo_and_snapshots(blobs):
    engine = Engine(blobs)
    assert not engine.can_undo
    with pytest.raises(ActionRefused, match="nothing to undo"):
        engine.apply(Undo())
    with pytest.raises(ActionRefused, match="nothing to redo"):
        engine.apply(Redo())
    place(engine, 0)
    place(engine, 1)
    engine.apply(Snapshot("two"))
    at_two = summary(engine)
    place(engine, 2)
    engine.apply(Undo())
    assert summary(engine) == at_two
    assert engine.can_redo
    engine.apply(Redo())
    assert len(engine.groups) == 3
    engine.apply(Restore("two"))
    assert summary(engine) == at_two
    assert engine.history[-1].text == "Restored the snapshot two"
    engine.apply(Undo())
    assert len(engine.groups) == 3
    engine.apply(Undo())
    place(engine, 5)
    assert not engine.can_redo
    assert [saved.name for saved in engine.snapshots] == ["two"]
    with pytest.raises(ActionRefused, match="no snapshot 'three'"):
        engine.apply(Restore("three"))
    with pytest.raises(ActionRefused, match="name is empty"):
        engine.apply(Snapshot("  "))
    with pytest.raises(ActionRefused, match="There is a snapshot 'two' already"):
        engine.apply(Snapshot(" two"))


rows = st.integers(0, 11)
some_actions = st.one_of(
    st.builds(Link, rows, rows, st.booleans()),
    st.builds(Unlink, rows, rows),
    st.builds(Answer, rows, rows, st.sampled_from([True, False, None])),
    st.builds(
        Move,
        st.lists(rows, min_size=1, max_size=3, unique=True).map(tuple),
        st.sampled_from([-0.5, 0.0, 0.05, 0.5]),
        st.sampled_from([-0.5, 0.0, 0.5]),
        st.none() | st.tuples(rows, st.just(0.05), st.just(0.0)),
    ),
    st.builds(Unpin, st.lists(rows, min_size=1, max_size=2, unique=True).map(tuple)),
    st.builds(Rename, st.integers(0, 3), st.sampled_from(["one", "two"])),
    st.builds(Lock, st.integers(0, 3), st.booleans()),
    st.builds(Choose, n_clusters=st.sampled_from([None, 2, 3])),
    st.builds(Choose, method=st.sampled_from(["auto", "instant", "boost"])),
    st.builds(Snapshot, st.sampled_from(["a", "b"])),
    st.builds(Restore, st.sampled_from(["a", "b"])),
    st.builds(Replace, st.tuples(rows, rows), st.builds(Link, rows, rows, st.booleans())),
    st.integers(0, 10**6),
    st.integers(-(10**6), -1),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(some_actions, max_size=14), st.sampled_from([None, 3]))
def test_any_sequence_can_be_undone_and_redone_exactly(sequence, n_clusters):
    """A number stands for a result of the background with this seed, a negative one for one of an earlier revision."""
    X = np.random.default_rng(0).normal(size=(12, 2))
    known = Constraints(must_link=[(0, 1)], cannot_link=[(2, 3)])
    engine = Engine(X, n_clusters=n_clusters, known=known, fixed=Constraints(cannot_link=[(4, 5)]))
    again = Engine(X, n_clusters=n_clusters, known=known, fixed=Constraints(cannot_link=[(4, 5)]))
    seen = [summary(engine)]
    for action in sequence:
        before, revision = summary(engine), engine.revision
        if isinstance(action, int):
            rng = np.random.default_rng(abs(action))
            if action < 0:
                revision = int(rng.integers(0, revision + 1))
            if engine.offer(rng.integers(-1, 4, 12), revision, method="boost", confidence=rng.random(12)) is not None:
                seen[-1] = summary(engine)
                again._replay_fit(engine.state.fit, engine.state.is_final, engine.state.ids)
                assert action < 0 or engine.shown.status == "final"
            continue
        n_steps = len(engine.history)
        try:
            change = engine.apply(action, when=NOON)
        except ActionRefused:
            assert summary(engine) == before
            assert engine.revision == revision
            continue
        again._replay(action, NOON, engine.state.ids)
        assert change.revision == engine.revision > revision
        assert set(change.rows) == set(np.flatnonzero(np.array(before[0]) != engine.labels))
        if len(engine.history) > n_steps:
            seen.append(summary(engine))
        for rows in engine.state.locks.values():
            assert len(set(engine.labels[rows])) == 1
    again._refresh()
    assert summary(again) == summary(engine)
    for step in range(len(seen) - 1, 0, -1):
        assert summary(engine) == seen[step]
        engine.apply(Undo())
    assert summary(engine) == seen[0]
    for expected in seen[1:]:
        engine.apply(Redo())
        assert summary(engine) == expected


# ---- results of the background ---------------------------------------------------------------------------------------


def test_the_background_replaces_the_instant_clustering(blobs):
    engine = Engine(blobs, n_clusters=3)
    assert engine.shown.status == "working"
    change = engine.offer(TRUTH, engine.revision, method="boost", confidence=np.full(30, 0.5))
    assert len(change.rows) == 30
    assert (engine.shown.method, engine.shown.status) == ("boost", "final")
    assert np.allclose(engine.confidence, 0.5, atol=1 / 255)
    # One cannot-link makes two seed groups, fewer than asked for: the offered labels stay, linked rows are corrected.
    engine.apply(Link(0, 3, together=False))
    assert (engine.shown.method, engine.shown.status) == ("boost", "working")
    assert engine.labels[0] != engine.labels[3]
    assert np.count_nonzero(engine.labels != TRUTH) == 1
    engine.apply(Link(0, 1, together=False))
    engine.apply(Link(3, 1, together=False))
    # Now there are enough for the instant clustering, but the last result is nearer to the next one.
    assert (engine.shown.method, engine.shown.status) == ("boost", "working")
    assert "before the last change, with linked rows corrected" in engine.shown.text
    assert np.count_nonzero(engine.labels != TRUTH) == 1
    engine.offer(TRUTH, engine.revision, method="boost")
    # A soft method may break a link.
    assert engine.labels[0] == engine.labels[3]
    assert engine.shown.n_changed > 0


def test_the_instant_clustering_is_shown_until_the_first_result(blobs):
    engine = Engine(blobs, n_clusters=3)
    for pair in ((0, 1), (1, 2), (0, 2)):
        engine.apply(Link(*pair, together=False))
    assert (engine.shown.method, engine.shown.status) == ("instant", "working")
    engine.offer((np.arange(30) > 8) + (np.arange(30) > 18), engine.revision, method="boost")
    engine.apply(Link(3, 4, together=False))
    assert engine.shown.method == "boost"
    assert not is_same_grouping(engine.labels, TRUTH)
    for options in ({"method": "instant"}, {"method": "auto", "n_clusters": None}):
        engine.apply(Choose(**options))
        assert (engine.shown.method, engine.shown.status) == ("instant", "instant")
        assert len(set(engine.labels[:3])) == 3


@pytest.mark.parametrize("method", ["instant", "hdbscan"])
def test_fewer_groups_than_asked_for_are_shown(blobs, method):
    engine = Engine(blobs, n_clusters=4, method=method)
    engine.apply(Link(0, 1, together=False))
    assert [len(set(engine.labels)), engine.shown.method] == [2, "instant"]
    engine.apply(Choose(method="auto"))
    assert engine.groups == ()


def test_a_new_place_is_a_new_group_before_the_next_result(blobs):
    engine = Engine(blobs, n_clusters=3)
    engine.offer(TRUTH, engine.revision, method="boost")
    for row in (5, 4, 3):
        place(engine, row)
    before = engine.labels
    # The row that is moved begins the group, and not the one that was pinned before.
    engine.apply(Move((2, 8), 0.0, 0.0))
    assert (engine.state.n_clusters, engine.shown.method, engine.shown.status) == (4, "boost", "working")
    assert np.flatnonzero(engine.labels != before).tolist() == [2, 8]
    assert set(engine.labels[[2, 8]]) == {3}
    # A cannot-link for which the number of groups leaves no room waits for the next result.
    for pair in ((0, 4), (0, 3), (0, 5), (0, 8)):
        engine.apply(Link(*pair, together=False))
    assert len(set(engine.labels)) == 4


def test_a_result_for_earlier_links_is_shown_until_the_next_one(blobs):
    engine = Engine(blobs, n_clusters=3)
    first = engine.revision
    engine.apply(Link(0, 1, together=True))
    second = engine.revision
    engine.apply(Link(2, 5, together=False))
    engine.apply(Link(3, 4, together=True))
    assert engine.offer(TRUTH, second, method="boost") is not None
    assert (engine.shown.method, engine.shown.status) == ("boost", "working")
    assert engine.labels[0] == engine.labels[1]
    assert engine.labels[2] != engine.labels[5]
    # An earlier one than that is not.
    assert engine.offer(TRUTH, first, method="boost") is None
    assert engine.offer(TRUTH, engine.revision, method="boost") is not None
    assert engine.shown.status == "final"
    # A state whose result is there takes none for other links.
    earlier = engine.revision
    engine.apply(Link(6, 9, together=True))
    later = engine.revision
    engine.apply(Undo())
    assert engine.shown.status == "final"
    for revision in (earlier, later):
        assert engine.offer(np.zeros(30), revision, method="boost") is None
    assert engine.offer(TRUTH, engine.revision, method="boost") is not None


@pytest.mark.parametrize("options", [{"n_clusters": 2}, {"method": "pck"}])
def test_a_result_for_other_options_is_not_shown(blobs, options):
    engine = Engine(blobs, n_clusters=3)
    revision = engine.revision
    engine.apply(Choose(**options))
    assert engine.offer(TRUTH, revision, method="boost") is None
    engine.apply(Undo())
    assert engine.offer(TRUTH, revision, method="boost") is None


def test_steps_without_links_leave_a_result_as_it_is(blobs):
    engine = Engine(blobs, n_clusters=3)
    engine.apply(Link(0, 3, together=True))
    revision = engine.revision
    engine.apply(Snapshot("now"))
    assert engine.offer(TRUTH, revision, method="boost") is not None
    engine.apply(Rename(0, "first"))
    assert engine.shown.status == "final"
    with pytest.raises(OptionError, match="one label per row"):
        engine.offer(TRUTH[:5], engine.revision, method="boost")


def test_without_a_number_of_groups_only_the_instant_one_is_shown(blobs):
    engine = Engine(blobs)
    assert engine.offer(TRUTH, engine.revision, method="boost") is None
    engine.apply(Choose(n_clusters=3, method="instant"))
    assert engine.offer(TRUTH, engine.revision, method="boost") is None
    engine.apply(Choose(method="pck"))
    assert engine.offer(TRUTH, engine.revision, method="pck") is not None


def test_pinned_rows_stay_where_they_were_put(blobs):
    engine = Engine(blobs, n_clusters=3)
    engine.offer(TRUTH, engine.revision, method="boost")
    engine.apply(Move((0,), 0.5, 0.5, onto=(1, 0.52, 0.5)))
    assert engine.labels[0] == engine.labels[1] == engine.labels[4]
    engine.offer(TRUTH, engine.revision, method="boost")
    assert engine.labels[0] == engine.labels[1] == engine.labels[4]


def test_a_small_move_inside_a_place_can_be_undone_and_redone(blobs):
    engine = Engine(blobs, n_clusters=3)
    engine.apply(Move((0,), 0.5, 0.5))
    engine.apply(Move((1,), 0.52, 0.5))
    engine.offer(TRUTH, engine.revision, method="boost")
    before = engine.labels
    # The links are the same, and so is the row that the other one was moved to.
    engine.apply(Move((0,), 0.51, 0.5))
    assert (engine.labels == before).all()
    seen = summary(engine)
    engine.apply(Undo())
    engine.apply(Redo())
    assert summary(engine) == seen


# ---- bad input -------------------------------------------------------------------------------------------------------

BAD = [
    (Link(0, 30, together=True), "30 is not a row; the rows are 0 to 29"),
    (Link(-1, 3, together=True), "-1 is not a row"),
    (Link("a", 3, together=True), "'a' is not a row"),
    (Link(3, 3, together=True), "3 cannot be linked with itself"),
    (Answer(0, 99, together=None), "99 is not a row"),
    (Unlink(0, 1), "no link that can be removed"),
    (Move((), 0.0, 0.0), "names no row"),
    (Move((1, 1), 0.0, 0.0), "given twice"),
    (Move((1,), float("nan"), 0.0), "two finite numbers"),
    (Move((1,), 0.0, float("inf")), "two finite numbers"),
    (Move((1,), 0.0, 1e9), "outside the map"),
    (Move((1,), 0.0, 0.0, onto=(1, 0.0, 0.0)), "onto itself"),
    (Move((1,), 0.0, 0.0, onto=(2, 0.5, 0.0)), "farther than 0.08 from where the rows were dropped"),
    (Unpin((4,)), "4 is not pinned"),
    (Rename(0, "x"), "There is no group 0"),
    (Rename(True, "x"), "There is no group True"),
    (Lock(-1), "There is no group -1"),
    (Choose(), "No option is given"),
    (Choose(n_clusters=0), "from 1 to 30, the number of rows"),
    (Choose(n_clusters=31), "from 1 to 30, the number of rows"),
    (Choose(n_clusters=2.5), "from 1 to 30, the number of rows"),
    (Choose(eps=0.0), "above 0 and at most 2"),
    (Choose(eps=1e9), "above 0 and at most 2"),
    (Choose(eps=float("nan")), "above 0 and at most 2"),
    (Choose(method="magic"), "There is no method 'magic'"),
    (Choose(strategy="guess"), "There is no strategy 'guess'"),
    (Replace((0, 1), Link(0, 2, together=True)), "no link that can be removed"),
    (Choose(method="pck"), "PCKMeans needs the number of groups"),
    (Choose(method="balanced"), "cannot be used here"),
    (Replace((0, 1), Undo()), "Only an action that makes links"),
    ("undo", "'undo' is not an action"),
]


@pytest.mark.parametrize(("action", "words"), BAD, ids=repr)
def test_bad_input_is_refused_with_a_sentence(blobs, action, words):
    engine = Engine(blobs)
    before = summary(engine)
    with pytest.raises(ActionRefused, match=words) as caught:
        engine.apply(action)
    assert str(caught.value).endswith(".")
    assert summary(engine) == before
    assert engine.revision == 0


def test_bad_options_are_refused(blobs):
    with pytest.raises(OptionError, match="number of groups is 31"):
        Engine(blobs, n_clusters=31)
    with pytest.raises(OptionError, match="eps"):
        Engine(blobs, eps=-1.0)
    with pytest.raises(ValueError, match="NaN"):
        Engine([[0.0], [float("nan")]])


def test_one_row():
    engine = Engine([[1.0, 2.0]])
    engine.apply(Move((0,), 0.0, 0.0))
    assert engine.labels.tolist() == [-1]
    engine.apply(Unpin((0,)))


def test_what_is_shown_cannot_be_written_to(blobs):
    engine = Engine(blobs)
    engine.apply(Link(0, 1, together=False))
    for values in (engine.labels, engine.confidence):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 5
    with pytest.raises(TypeError):
        engine.state.told[1, 2] = None


def test_a_layout_follows(blobs):
    class Drawing:
        size = (800.0, 600.0)
        positions = np.zeros((30, 2))

        def __init__(self):
            self.pinned, self.labels = [], []

        def pin(self, pins):
            self.pinned.append(dict(pins))

        def settle(self, labels=None):
            self.labels.append(labels)

    drawing = Drawing()
    engine = Engine(blobs, eps=227.0, method="instant", layout=drawing)
    assert engine.positions is drawing.positions
    engine.apply(Move((0,), 100.0, 100.0))
    engine.apply(Move((1,), 700.0, 100.0))
    assert drawing.pinned[-1] == {0: (100.0, 100.0), 1: (700.0, 100.0)}
    assert drawing.labels[1] is None
    assert drawing.labels[2] is engine.labels
