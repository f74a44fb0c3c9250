"""What is kept, in Chromium: a killed server loses nothing, and what is exported equals what is seen."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from mustlink import Constraints
from studio.browser.running import RunningStudio
from studio.browser.studio_page import OpenPage, StudioPage
from studio.scripts import run_script


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
        # The page looks whether a server with another token is there.
        studio.expect_trouble("Failed to load resource")
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


def test_exports_are_what_is_seen(studio: StudioPage, open_page: OpenPage, tmp_path: Path) -> None:
    studio.act(do="choose", n_clusters=None, method="instant")
    for row, x, y in ((0, -0.9, 0.9), (60, 0.9, -0.9), (120, 0.9, 0.9)):
        studio.act(do="move", rows=[row], x=x, y=y, onto=None)
    studio.act(do="link", a=1, b=149, together=True)
    studio.act(do="rename", group=studio.labels[0], name="early & small")
    seen, groups = studio.labels, {group["id"]: group["name"] for group in studio.state["groups"]}

    labels = pd.read_csv(StringIO(studio.save("Labels")))
    assert labels["cluster"].tolist() == seen
    assert labels["cluster_name"].tolist() == [groups[label] for label in seen]
    flowers = labels["flower"].tolist()

    links = {frozenset((link["a"], link["b"])): link["together"] for link in studio.state["links"]}
    (tmp_path / "links.csv").write_text(studio.save("Links"), encoding="utf-8")
    read = Constraints.read(tmp_path / "links.csv", ids=flowers)
    assert {frozenset(pair) for pair in read.must_link.tolist()} == {pair for pair in links if links[pair]}
    assert {frozenset(pair) for pair in read.cannot_link.tolist()} == {pair for pair in links if not links[pair]}

    run_script(studio.save("Python"), tmp_path)
    again = pd.read_csv(tmp_path / "iris.script.clusters.csv")
    pd.testing.assert_frame_equal(again, labels[again.columns])

    log = json.loads(studio.save("Log"))
    assert "early & small" in json.dumps(log)

    (tmp_path / "report.html").write_text(studio.save("Report"), encoding="utf-8")
    report = studio.page.context.new_page()
    report.goto((tmp_path / "report.html").as_uri())
    for name in groups.values():
        assert name in report.inner_text("body")
