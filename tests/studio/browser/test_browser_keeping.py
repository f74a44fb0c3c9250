"""What is kept, in Chromium: a killed server loses nothing, and what is exported equals what is seen."""

from __future__ import annotations

from pathlib import Path

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


def test_a_killed_server_loses_nothing(browser: object, folder: Path, open_page: OpenPage) -> None:
    words = ("iris.csv", "-k", "3", "--id", "flower")
    with RunningStudio(*words, folder=folder) as running:
        studio = open_page(running.url)
        studio.act(do="choose", method="instant")
        for key in "dud":
            studio.answer(key)
        studio.act(do="move", rows=[0], x=-0.9, y=0.9, onto=None)
        studio.act(do="move", rows=[60], x=0.9, y=-0.9, onto=None)
        studio.act(do="rename", group=studio.state["groups"][0]["id"], name="the first")
        studio.act(do="snapshot", name="noon")
        seen = studio.read(SEEN)
        running.kill_server()
        studio.page.get_by_role("status", name="Status").get_by_text("lost").wait_for()
        studio.troubles.clear()
    with RunningStudio("iris.mustlink", folder=folder) as running:
        studio = open_page(running.url)
        assert studio.read(SEEN) == seen
        assert studio.state["can_undo"]
        studio.read(SEND_MANY, 40)
        studio.page.wait_for_function("() => window.acknowledged.length >= 3")
        running.kill_server()
        studio.page.get_by_role("status", name="Status").get_by_text("lost").wait_for()
        acknowledged = studio.page.evaluate("window.acknowledged")
        studio.troubles.clear()
    with RunningStudio(*words, folder=folder) as running:
        studio = open_page(running.url)
        assert all(studio.has_link(row, 149 - row, together=False) for row in acknowledged)
        assert studio.state["counts"]["skipped"] == 1
        assert running.interrupt() in (0, 130)
        studio.troubles.clear()


def test_workers_of_a_killed_server_end(browser: object, folder: Path, open_page: OpenPage) -> None:
    with RunningStudio("iris.csv", "-k", "3", "--id", "flower", folder=folder) as running:
        open_page(running.url)
        running.kill_server()
        running.wait_for_workers()
