"""Rows of three groups, a table of them in a folder of its own, and rooms that start no process without need."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from mustlink.studio import _room
from mustlink.studio._background import Background
from mustlink.workflow import TableOptions, load_table


class IdleBackground(Background):
    """A background that takes requests and has no process: each takes seconds of the processor to start."""

    def _start(self) -> None:
        pass


@pytest.fixture(scope="session", autouse=True)
def idle_without_a_number() -> Iterator[None]:
    """Start no process for a session without a number of groups, in which nothing is fitted at first."""
    begin = _room.Room.__init__

    def begin_idle(room: _room.Room, session, *given, **options) -> None:
        with pytest.MonkeyPatch.context() as patch:
            if session.engine.state.n_clusters is None:
                patch.setattr(_room, "Background", IdleBackground)
            begin(room, session, *given, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_room.Room, "__init__", begin_idle)
        yield


@pytest.fixture
def blobs():
    """Thirty rows of three groups that are far from each other, row by row: 0, 1, 2, 0, 1, 2, ..."""
    return np.random.default_rng(0).normal(size=(30, 2)) + np.array([[0, 0], [9, 0], [0, 9]])[np.arange(30) % 3]


@pytest.fixture
def folder(tmp_path, blobs):
    """A folder with a table, links and edges of these rows."""
    lines = [f"c{row:02d},{x:.3f},{y:.3f}" for row, (x, y) in enumerate(blobs)]
    (tmp_path / "shop.csv").write_text("\n".join(["who,visits,basket", *lines]) + "\n")
    (tmp_path / "links.csv").write_text("a,b,link\nc00,c03,must\nc01,c04,must\nc00,c01,cannot\nc02,c00,cannot\n")
    (tmp_path / "edges.csv").write_text("a,b\nc00,c03\nc03,c06\nc01,c04\n")
    return tmp_path


@pytest.fixture
def options(folder):
    return TableOptions(folder / "shop.csv", id_column="who")


@pytest.fixture
def table(options):
    return load_table(options)
