"""What is kept, in Chromium: a killed server loses nothing, and what is exported equals what is seen."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from studio.browser.running import RunningStudio
from studio.browser.studio_page import OpenPage


@pytest.fixture
def folder(iris_table: Path, tmp_path: Path) -> Path:
    """A folder with the table alone."""
    (tmp_path / "iris.csv").write_bytes(iris_table.read_bytes())
    return tmp_path


SEEN = """(({ groups, pins, links, counts, snapshots }) =>
    [groups, pins, links, counts, snapshots, [...store.labels]])(store.state)"""
# Send many links at once, and note which of them the server has acknowledged.
SEND_MANY = """(() => {
    window.acknowledged = [];
    for (let row = 0; row < given; row++)
        store.act({ do: "link", a: row, b: 149 - row, together: false })
            .then((reply) => { if (reply.type === "done") window.acknowledged.push(row); }, () => {});
})()"""


ANSWERS = {"s": True, "d": False, "u": None}
KEYS = "ddusu"
N_SENT = 40


def entries_of(folder: Path, copies: Path) -> list[dict[str, Any]]:
    """The actions in the file of a studio, read from a copy; none can be removed."""
    shutil.copytree(folder, copies, dirs_exist_ok=True)
    with closing(sqlite3.connect(copies / "iris.mustlink")) as connection:
        entries = [json.loads(message) for (message,) in connection.execute("SELECT message FROM entry ORDER BY n")]
        with pytest.raises(sqlite3.IntegrityError, match="never changed or removed"):
            connection.execute("DELETE FROM entry")
    return entries


def test_a_killed_server_loses_nothing(
    browser: object, folder: Path, tmp_path_factory: pytest.TempPathFactory, open_page: OpenPage
) -> None:
    with RunningStudio("iris.csv", "-k", "3", "--id", "flower", folder=folder) as running:
        studio = open_page(running.url)
        for key in KEYS:
            studio.answer(key)
        studio.act(do="choose", method="instant")
        studio.act(do="move", rows=[0], x=-0.9, y=0.9, onto=None)
        studio.act(do="move", rows=[60], x=0.9, y=-0.9, onto=None)
        studio.act(do="move", rows=[120], x=0.9, y=0.9, onto=None)
        studio.act(do="rename", group=studio.state["groups"][0]["id"], name="the first")
        studio.act(do="snapshot", name="noon")
        seen = studio.read(SEEN)
        n_steps = len(studio.state["history"])
        studio.read(SEND_MANY, N_SENT)
        studio.page.wait_for_function("() => window.acknowledged.length >= 3")
        studio.expect_trouble("WebSocket connection")
        running.kill_server()
        studio.page.get_by_role("status", name="Status").get_by_text("lost").wait_for()
        acknowledged = studio.page.evaluate("window.acknowledged")
        running.wait_for_workers()
    entries = entries_of(folder, tmp_path_factory.mktemp("copy"))
    assert [entry["together"] for entry in entries if entry["do"] == "answer"] == [ANSWERS[key] for key in KEYS]
    n_kept = sum(entry["do"] == "link" for entry in entries)
    assert len(acknowledged) <= n_kept <= N_SENT
    with RunningStudio("iris.mustlink", folder=folder) as running:
        studio = open_page(running.url)
        assert len(studio.state["history"]) == n_steps + n_kept
        assert all(studio.has_link(row, 149 - row, together=False) for row in acknowledged)
        # Undo reaches back over the crash, to what was seen before.
        for _ in range(n_kept):
            studio.act(do="undo")
        assert studio.read(SEEN) == seen
        studio.expect_trouble("WebSocket connection")
        assert running.interrupt() in (0, 130)
        studio.page.get_by_role("status", name="Status").get_by_text("closed").wait_for()
