"""A session that is opened again is the one that was closed, whatever was done in it."""

from __future__ import annotations

import numpy as np
import pytest

from mustlink.studio import (
    Answer,
    Choose,
    Link,
    Lock,
    Move,
    Redo,
    Rename,
    Restore,
    Session,
    Snapshot,
    Undo,
    Unlink,
    Unpin,
)
from mustlink.studio._conflicts import ActionRefused

N_ROWS, N_ACTIONS = 30, 24


def draw_action(rng, session, step):
    """One of all things that a person can do, with rows, groups and places by chance."""
    a, b = map(int, rng.choice(N_ROWS, 2, replace=False))
    group = int(rng.choice([group.id for group in session.engine.groups] or [0]))
    x, y = (float(value) for value in rng.choice([-0.6, -0.57, 0.0, 0.6], 2))
    choices = [
        Link(a, b, bool(rng.integers(2))),
        Answer(a, b, [True, False, None][rng.integers(3)]),
        Move((a,), x, y),
        Move((a, b), x, y),
        Unpin((a,)),
        Unlink(a, b),
        Rename(group, f"name {step}"),
        Lock(group, bool(rng.integers(2))),
        Choose(n_clusters=[None, 2, 3][rng.integers(3)]),
        Choose(method=["auto", "instant"][rng.integers(2)]),
        Snapshot(f"snapshot {step}"),
        Restore(f"snapshot {rng.integers(step + 1)}"),
        Undo(),
        Undo(),
        Redo(),
    ]
    return choices[rng.integers(len(choices))]


def summarize(session):
    """What a person sees of a session."""
    engine = session.engine
    return {
        "labels": engine.labels.tolist(),
        "confidence": engine.confidence.round(6).tolist(),
        "groups": engine.groups,
        "pins": engine.pins,
        "links": [(link.a, link.b, link.together, link.source) for link in engine.links],
        "constraints": engine.constraints,
        "history": [(step.n, step.text) for step in engine.history],
        "snapshots": [snapshot.name for snapshot in engine.snapshots],
        "shown": (engine.shown.method, engine.shown.status),
        "undo": (engine.can_undo, engine.can_redo),
    }


@pytest.mark.parametrize("seed", range(8))
def test_a_session_of_any_actions_opens_again_as_it_was(folder, table, options, seed):
    rng = np.random.default_rng(seed)
    path = folder / "any.mustlink"
    session = Session.create(table, options, path, n_clusters=[None, 2, 3][seed % 3], links=folder / "links.csv")
    n_done = 0
    for step in range(N_ACTIONS):
        if rng.random() < 0.25:
            labels = rng.integers(-1, session.engine.state.n_clusters or 3, N_ROWS)
            session.offer(labels, session.engine.revision, method="boost", confidence=rng.random(N_ROWS))
        try:
            session.apply(draw_action(rng, session, step))
            n_done += 1
        except ActionRefused:
            pass
        if step in (N_ACTIONS // 2, N_ACTIONS - 1):
            seen = summarize(session)
            session.close()
            session = Session.open(path)
            assert summarize(session) == seen
    session.close()
    assert n_done >= N_ACTIONS // 4
