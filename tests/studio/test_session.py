"""Sessions: a file that keeps every action, and questions."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import zlib

import numpy as np
import pandas as pd
import pytest

from mustlink import Constraints
from mustlink.errors import ConstraintError, FileFormatError, OptionError
from mustlink.hierarchy import SeededSingleLink
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
    Restore,
    Session,
    Snapshot,
    Undo,
    Unpin,
)
from mustlink.studio._record import Entry
from mustlink.workflow import TableOptions, load_table


def begin(table, options, path, **more):
    return Session.create(table, options, path, **{"n_clusters": 3, **more})


def summary(session):
    engine = session.engine
    return (
        engine.labels.tolist(),
        engine.confidence.tolist(),
        engine.constraints,
        engine.links,
        engine.pins,
        engine.groups,
        engine.history,
        engine.state.skipped,
        engine.shown.method,
        engine.shown.status,
        [saved[:2] for saved in engine.snapshots],
        (engine.can_undo, engine.can_redo),
    )


def work(session):
    """Do something of everything."""
    for _ in range(3):
        question = session.question
        session.apply(Answer(*question, question.a % 3 == question.b % 3))
    session.apply(Answer(28, 29, None))
    session.apply(Move((0,), 0.5, 0.5))
    session.apply(Move((1, 4), -0.5, 0.5))
    session.apply(Move((2,), 0.0, -0.5))
    session.apply(Rename(1, "regulars"))
    session.offer(np.arange(30) % 3, session.engine.revision, method="boost", confidence=np.linspace(0, 1, 30))
    session.apply(Lock(1))
    revision = session.engine.revision
    session.apply(Link(7, 10, together=True))
    session.offer(np.arange(30) % 3, revision, method="boost")
    assert session.engine.shown.status == "working"
    session.apply(Snapshot("first"))
    session.apply(Unpin((0,)))
    session.apply(Restore("first"))
    session.apply(Undo())


def test_a_session_opens_again_as_it_was(folder, table, options):
    path = folder / "shop.mustlink"
    with begin(table, options, path, links=folder / "links.csv", edges=folder / "edges.csv") as session:
        assert session.title == "shop.csv"
        assert session.folder == folder.resolve()
        assert session.path == path.resolve()
        assert session.edges.tolist() == [[0, 3], [1, 4], [3, 6]]
        work(session)
        seen, edges = summary(session), session.edges
    assert {one.name for one in folder.iterdir()} == {"shop.csv", "links.csv", "edges.csv", "shop.mustlink"}
    # The links were read once.
    (folder / "links.csv").unlink()
    with Session.open(path) as session:
        assert summary(session) == seen
        assert (session.edges == edges).all()
        session.apply(Undo())
        seen = summary(session)
        question = session.question
    with Session.open(path) as session:
        assert summary(session) == seen
        assert session.question == question


def test_a_name_that_waits_for_its_group_is_kept(folder, table, options):
    path, truth = folder / "shop.mustlink", np.arange(30) % 3
    with begin(table, options, path) as session:
        session.offer(truth, session.engine.revision, method="boost")
        session.apply(Rename(2, "guests"))
        session.offer(np.minimum(truth, 1), session.engine.revision, method="boost")
    with Session.open(path) as session:
        assert [group.name for group in session.engine.groups] == ["Group 1", "Group 2"]
        session.offer(truth, session.engine.revision, method="boost")
        assert [group.name for group in session.engine.groups] == ["Group 1", "Group 2", "guests"]
        seen = summary(session)
    with Session.open(path) as session:
        assert summary(session) == seen


WORKER = """
import sys, time
from mustlink.studio import Answer, Session, Undo
session = Session.open(sys.argv[1])
for number in range(1000):
    if number % 5 == 4:
        session.apply(Undo())
    else:
        a, b = number % 30, (number * 7 + 3) % 30
        if a == b or (min(a, b), max(a, b)) in session.engine.state.told:
            continue
        together = a % 3 == b % 3
        session.apply(Answer(a, b, together))
    print(len(session.engine.history), len(session.engine.constraints), session.engine.history[-1].text, flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes cannot be killed by SIGKILL here")
def test_nothing_acknowledged_is_lost_when_the_process_is_killed(folder, table, options):
    path = folder / "shop.mustlink"
    begin(table, options, path).close()
    worker = subprocess.Popen([sys.executable, "-c", WORKER, path], stdout=subprocess.PIPE, text=True)
    acknowledged = [worker.stdout.readline() for _ in range(23)][-1]
    with pytest.raises(OptionError, match="open in another studio"):
        Session.open(path)
    worker.send_signal(signal.SIGKILL)
    rest = worker.stdout.read().splitlines(keepends=True)
    worker.wait()
    worker.stdout.close()
    last = rest[-1] if rest and rest[-1].endswith("\n") else acknowledged
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        n_entries = connection.execute("SELECT count(*) FROM entry").fetchone()[0]
    connection.close()
    with Session.open(path) as session:
        n_steps, n_links, text = last.strip().split(" ", 2)
        history = session.engine.history
        # At most one more, which was on the disk before it could be acknowledged.
        assert n_entries - (23 + len(rest)) in (0, 1)
        assert text in [step.text for step in history[-2:]]
        assert abs(len(history) - int(n_steps)) <= 1
        assert abs(len(session.engine.constraints) - int(n_links)) <= 1
        session.apply(Answer(0, 29, None))


def test_the_tree_of_a_large_table_is_kept(folder, monkeypatch):
    monkeypatch.setattr("mustlink.studio._session.MIN_KEPT_ROWS", 30)
    rows = np.random.default_rng(0).normal(size=(40, 3))
    frame, path = pd.DataFrame(rows, columns=list("xyz")), folder / "large.mustlink"
    with Session.from_frame(frame, path=path, n_clusters=2) as session:
        session.apply(Answer(0, 1, None))
        assert session._record.kept("tree") is None
        session.apply(Link(0, 5, together=False))
        assert session.prepare() is not None
        assert session.prepare() is None
        assert session._record.kept("tree") == session.engine.tree
        seen = summary(session)

    def compute(*given):
        raise AssertionError("The tree is computed again.")

    monkeypatch.setattr("mustlink.hierarchy.SeededSingleLink.fit", compute)
    with Session.from_frame(frame, path=path) as session:
        assert summary(session) == seen
        session.apply(Undo())
        session.apply(Link(0, 7, together=False))
        seen = summary(session)
    monkeypatch.undo()
    with Session.from_frame(frame, path=path) as session:
        assert summary(session) == seen
        tree = session.engine.tree
    with pytest.raises(FileFormatError, match="not one of 39 rows"):
        Engine(rows[:39], tree=tree)


@pytest.fixture
def slow_tree(monkeypatch):
    """Tables of 30 rows or more are large, and their tree is computed when the event is set."""
    go_on, fit = threading.Event(), SeededSingleLink.fit

    def compute(self, X, *given, **options):
        # Positions of pinned rows have a tree, too.
        assert len(X) < 40 or go_on.wait(20)
        return fit(self, X, *given, **options)

    monkeypatch.setattr("mustlink.studio._session.MIN_KEPT_ROWS", 40)
    monkeypatch.setattr(SeededSingleLink, "fit", compute)
    yield go_on
    go_on.set()


@pytest.mark.parametrize("n_clusters", [None, 2])
def test_no_action_waits_for_the_tree(folder, slow_tree, n_clusters):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=list("xyz"))
    path, links = folder / "large.mustlink", Constraints(cannot_link=[(0, 5)], must_link=[(0, 3)])
    with Session.from_frame(frame, path=path, n_clusters=n_clusters, links=links) as session:
        engine = session.engine
        thread = threading.Thread(target=session.prepare)
        thread.start()
        assert (engine.shown.method, engine.shown.status) == ("instant", "working")
        assert engine.shown.text == "The first groups along the links are being prepared."
        assert engine.expects_fit == (n_clusters is not None)
        session.apply(Link(7, 9, together=True))
        session.apply(Move((11,), 0.5, 0.5))
        session.apply(Snapshot("early"))
        assert (engine.labels == -1).all()
        slow_tree.set()
        thread.join(20)
        assert (engine.labels >= 0).all()
        assert engine.shown.status == ("instant" if n_clusters is None else "working")
        assert engine.shown.text.startswith("Instant groups along the links; 40 rows changed")
        at_two = engine.labels
        # Earlier states are shown with groups as well, and again with the same ones.
        session.apply(Undo())
        at_one = engine.labels
        assert (at_one >= 0).all()
        session.apply(Undo())
        session.apply(Redo())
        assert (engine.labels == at_one).all()
        session.apply(Restore("early"))
        assert (engine.labels == at_two).all()
        session.apply(Undo())
        seen = summary(session)
    with Session.from_frame(frame, path=path) as session:
        assert summary(session) == seen
        session.apply(Redo())
        assert (session.engine.labels == at_two).all()


def test_a_session_that_is_closed_before_the_tree_is_there(folder, slow_tree):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=list("xyz"))
    path = folder / "large.mustlink"
    with Session.from_frame(frame, path=path, n_clusters=2) as session:
        thread = threading.Thread(target=session.prepare)
        thread.start()
        session.offer(np.arange(40) % 2, session.engine.revision, method="boost")
        session.apply(Link(0, 1, together=False))
        # There is something to show meanwhile.
        session.apply(Choose(method="instant"))
        assert (session.engine.shown.method, session.engine.shown.status) == ("boost", "working")
        assert "those along the links are being prepared" in session.engine.shown.text
        assert not session.engine.expects_fit
    slow_tree.set()
    thread.join(20)
    with Session.from_frame(frame, path=path) as session:
        assert session.engine.is_waiting
        session.prepare()
        assert (session.engine.shown.method, session.engine.shown.status) == ("instant", "instant")


def test_entries_are_never_changed(folder, table, options):
    path = folder / "shop.mustlink"
    with begin(table, options, path) as session:
        session.apply(Link(0, 3, together=True))
        session.apply(Undo())
    connection = sqlite3.connect(path)
    messages = [json.loads(text)["do"] for (text,) in connection.execute("SELECT message FROM entry ORDER BY n")]
    assert messages == ["link", "undo"]
    for statement in (
        "DELETE FROM entry",
        "UPDATE entry SET message = ''",
        "DELETE FROM about",
        "UPDATE about SET value = 1",
    ):
        with pytest.raises(sqlite3.DatabaseError, match="never changed"):
            connection.execute(statement)
    connection.close()


def test_what_cannot_be_saved_is_not_done(folder, table, options):
    session = begin(table, options, folder / "shop.mustlink")
    session.apply(Link(0, 1, together=False))
    seen, revision = summary(session), session.engine.revision
    session._record._connection.execute("PRAGMA query_only = 1")
    with pytest.raises(ActionRefused, match=r"could not be saved in .*, and was not done"):
        session.apply(Link(0, 2, together=False))
    with pytest.raises(ActionRefused, match="could not be saved"):
        session.offer(np.zeros(30), revision, method="boost")
    assert summary(session) == seen
    assert session.engine.revision == revision
    session._record._connection.execute("PRAGMA query_only = 0")
    session.apply(Link(0, 2, together=False))
    session.close()
    session.close()
    with pytest.raises(ActionRefused, match="closed"):
        session.apply(Undo())


# ---- files that are refused ------------------------------------------------------------------------------------------


def test_a_session_is_open_once(folder, table, options):
    path = folder / "shop.mustlink"
    with begin(table, options, path) as session:
        with pytest.raises(OptionError, match="open in another studio"):
            Session.open(path)
        with pytest.raises(OptionError, match="exists already"):
            begin(table, options, path)
        session.apply(Link(0, 1, together=True))
    Session.open(path).close()


def test_files_of_other_programs_are_refused_and_not_changed(folder):
    (folder / "text.mustlink").write_text("a,b\n" * 100)
    connection = sqlite3.connect(folder / "other.mustlink")
    connection.execute("CREATE TABLE entry (n)")
    connection.close()
    (folder / "empty.mustlink").touch()
    for name in ("text", "other", "empty"):
        path = folder / f"{name}.mustlink"
        before = path.read_bytes()
        with pytest.raises(FileFormatError, match="not a session of the studio"):
            Session.open(path)
        assert path.read_bytes() == before
    with pytest.raises(FileNotFoundError, match="There is no file"):
        Session.open(folder / "none.mustlink")


def test_a_later_format_is_refused(folder, table, options):
    path = folder / "shop.mustlink"
    begin(table, options, path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(FileFormatError, match="format version 99"):
        Session.open(path)


def test_a_damaged_file_is_refused(folder, table, options):
    path = folder / "shop.mustlink"
    with begin(table, options, path) as session:
        session.apply(Link(0, 1, together=True))
    content = bytearray(path.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="damaged"):
        Session.open(path)


def test_a_changed_or_missing_table_is_refused(folder, table, options):
    path = folder / "shop.mustlink"
    begin(table, options, path, edges=folder / "edges.csv").close()
    text = (folder / "shop.csv").read_text()
    (folder / "shop.csv").write_text(text.replace("c05", "c99"))
    with pytest.raises(FileFormatError, match=r"The table .*shop.csv has changed since"):
        Session.open(path)
    (folder / "shop.csv").unlink()
    with pytest.raises(FileFormatError, match=r"The table .*shop.csv .* is missing"):
        Session.open(path)
    (folder / "shop.csv").write_text(text)
    (folder / "edges.csv").write_text("a,b\nc00,c03\n")
    with pytest.raises(FileFormatError, match=r"The file of edges .* has changed"):
        Session.open(path)


def test_a_folder_may_be_moved(folder, table, options, tmp_path_factory):
    with begin(table, options, folder / "shop.mustlink") as session:
        session.apply(Link(0, 1, together=False))
    moved = tmp_path_factory.mktemp("elsewhere") / "inner"
    shutil.move(folder, moved)
    with Session.open(moved / "shop.mustlink") as session:
        assert session.folder == moved.resolve()
        assert len(session.engine.constraints) == 1


def test_a_session_that_cannot_begin_leaves_no_file(folder, table, options):
    path = folder / "shop.mustlink"
    for more, words in [
        ({"n_clusters": 31}, "31 clusters cannot be made of the 30 rows"),
        ({"strategy": "guess"}, "no strategy 'guess'"),
        ({"random_state": -1}, "seed is -1"),
        ({"links": Constraints(must_link=[(0, 99)])}, "99"),
    ]:
        with pytest.raises((OptionError, ConstraintError), match=words):
            begin(table, options, path, **more)
        assert not path.exists()
    with pytest.raises(FileNotFoundError):
        begin(table, options, folder / "none" / "shop.mustlink")


# ---- tables ----------------------------------------------------------------------------------------------------------


def test_rules_and_labels_of_the_table_always_hold(folder, blobs):
    frame = pd.DataFrame(blobs, columns=["x", "y"])
    frame["kind"] = ["a", "b", "c", "a", *[""] * 26]
    frame["pair"] = ["p", *[""] * 28, "p"]
    with Session.from_frame(frame, n_clusters=3, label_column="kind", never_together=["pair"]) as session:
        assert session.path is None
        assert session.folder is None
        assert len(session.engine.links) == 0
        assert not session.engine.constraints.is_empty
        with pytest.raises(ActionRefused) as caught:
            session.apply(Link(0, 29, together=True))
        assert [link.source for link in caught.value.chain] == ["drawn", "fixed"]
        assert caught.value.weakest is None
        with pytest.raises(ActionRefused, match="contradicts"):
            session.apply(Link(0, 1, together=True))


def test_links_that_contradict_each_other_are_noted(folder, table, options):
    (folder / "torn.csv").write_text("a,b,link\nc00,c03,must\nc03,c06,must\nc00,c06,cannot\n")
    with begin(table, options, folder / "shop.mustlink", links=folder / "torn.csv") as session:
        told = "1 of the links contradicts others: c00 and c06 are to be different, and the same through c00 - c03"
        assert any(notice.startswith(told) for notice in session.notices)
        session.apply(Link(1, 4, together=True))
        assert session.question is not None


def test_a_data_frame_in_a_file(folder, blobs):
    frame = pd.DataFrame(blobs, columns=["x", "y"])
    path = folder / "frame.mustlink"
    with Session.from_frame(frame, path=path, n_clusters=3) as session:
        assert session.title == "the data frame"
        session.apply(Link(0, 1, together=False))
    with pytest.raises(OptionError, match="about a data frame"):
        Session.open(path)
    with pytest.raises(OptionError, match="session on another table"):
        Session.from_frame(frame + 1, path=path)
    with Session.from_frame(frame, path=path) as session:
        assert len(session.engine.constraints) == 1


def test_a_data_frame_is_continued_as_it_was_begun(folder, blobs):
    frame = pd.DataFrame(blobs * [1, 9], columns=["x", "y"])
    (folder / "pairs.csv").write_text("a,b\n0,3\n1,4\n")
    path = folder / "frame.mustlink"
    with Session.from_frame(frame, path=path, n_clusters=3, scale=False, edges=folder / "pairs.csv") as session:
        session.apply(Link(0, 1, together=False))
        seen, X = summary(session), session.table.X
    for _ in range(2):
        # Refused, and not left open.
        with pytest.raises(OptionError, match=r"other options of the table \(one_hot, ignore\)"):
            Session.from_frame(frame, path=path, scale=False, one_hot=False, ignore=["x"])
    for options in ({}, {"scale": False}):
        with Session.from_frame(frame, path=path, **options) as session:
            assert summary(session) == seen
            assert (session.table.X == X).all()
            assert session.edges.tolist() == [[0, 3], [1, 4]]
    (folder / "pairs.csv").unlink()
    for _ in range(2):
        with pytest.raises(FileFormatError, match="file of edges"):
            Session.from_frame(frame, path=path)


def test_links_are_by_the_rows_of_the_data_frame(folder, blobs):
    frame = pd.DataFrame(blobs, columns=["x", "y"])
    frame.loc[3, "x"] = np.nan
    links = Constraints(must_link=[(4, 5), (2, 3)], cannot_link=[(0, 29)])
    with Session.from_frame(frame, n_clusters=3, links=links, missing="drop") as session:
        assert session.engine.constraints == Constraints(must_link=[(3, 4)], cannot_link=[(0, 28)])
        assert "1 link is about rows that were left out, and not used." in session.notices


@pytest.mark.parametrize(
    ("message", "ids", "labels"),
    [
        ({"do": "fit", "method": "boost", "final": True}, (0,), b"no"),
        ({"do": "fit", "method": "boost", "final": True}, (0,), zlib.compress(bytes(40))),
        ({"do": "fit", "method": "boost", "final": True}, (), zlib.compress(bytes(120))),
        ({"do": "fit"}, (0,), zlib.compress(bytes(120))),
        ({"do": "dance"}, (0,), None),
    ],
)
def test_entries_that_cannot_be_replayed_are_a_sentence(folder, table, options, message, ids, labels):
    path = folder / "shop.mustlink"
    with begin(table, options, path) as session:
        session._record.append(Entry("2026-03-01T12:00:00+00:00", message, ids, labels))
    with pytest.raises(FileFormatError, match=r"shop.mustlink.*(cannot be replayed|cannot be shown)"):
        Session.open(path)


def test_of_two_sessions_that_begin_at_once_one_has_the_file(folder, table, options, monkeypatch):
    path = folder / "shop.mustlink"
    with begin(table, options, path) as session:
        # As if the file had come into being just after a look.
        monkeypatch.setattr("os.path.lexists", lambda path: False)
        with pytest.raises(OptionError, match="exists already"):
            begin(table, options, path)
        monkeypatch.undo()
        session.apply(Link(0, 1, together=True))
    Session.open(path).close()


def test_names_of_rows_are_safe_to_show(folder):
    (folder / "odd.csv").write_text("who,x\na\u202eb,1\n<b>,2\nc,5\nd,6\n", encoding="utf-8")
    options = TableOptions(folder / "odd.csv", id_column="who")
    with Session.create(load_table(options), options, folder / "odd.mustlink", n_clusters=2) as session:
        change = session.apply(Link(0, 2, together=False))
        assert "\u202e" not in change.text


# ---- questions -------------------------------------------------------------------------------------------------------


def test_questions_follow_the_links(folder, table, options):
    with begin(table, options, folder / "shop.mustlink") as session:
        asked = []
        while (question := session.question) is not None:
            assert tuple(sorted(question)) not in asked
            asked.append(tuple(sorted(question)))
            session.apply(Answer(*question, question.a % 3 == question.b % 3))
            assert len(asked) < 100
        assert session.question_end.startswith("No question is left")
        assert session.engine.constraints.violation_rate(np.arange(30) % 3) == 0
        session.apply(Undo())
        assert session.question_end is None
        assert tuple(sorted(session.question)) == asked[-1]


def test_a_skipped_question_is_not_asked_again(folder, table, options):
    path = folder / "shop.mustlink"
    with begin(table, options, path) as session:
        question = session.question
        session.apply(Answer(*question, None))
        assert session.question != question
        session.apply(Choose(strategy="random"))
        session.apply(Undo())
        assert session.question != question
    with Session.open(path) as session:
        assert session.question != question


def test_questions_without_a_number_of_groups(folder, table, options):
    with begin(table, options, folder / "shop.mustlink", n_clusters=None) as session:
        for _ in range(5):
            question = session.question
            session.apply(Answer(*question, question.a % 3 == question.b % 3))
        assert session.advice is None


def test_links_that_the_number_of_groups_cannot_keep_end_the_questions(folder, table, options):
    with begin(table, options, folder / "shop.mustlink", n_clusters=2) as session:
        for pair in ((0, 1), (0, 2), (1, 2)):
            session.apply(Link(*pair, together=False))
        session.apply(Choose(strategy="npu"))
        assert session.question is None
        assert session.question_end.startswith("No questions are asked now: ")
        session.apply(Choose(n_clusters=3))
        assert session.question is not None


def test_advice_after_many_answers(folder, table, options):
    with begin(table, options, folder / "shop.mustlink") as session:
        assert session.advice is None
        for row in range(27):
            session.apply(Answer(row, row + 3, together=True))
        for a, b in ((0, 1), (1, 2), (0, 2)):
            session.apply(Answer(a, b, together=False))
        assert session.question is None


def test_an_action_does_not_wait_for_a_question(folder, table, options, monkeypatch):
    from mustlink.workflow import Sitting

    started, go_on = threading.Event(), threading.Event()

    def slow(self):
        started.set()
        assert go_on.wait(20)
        return None

    with begin(table, options, folder / "shop.mustlink") as session:
        monkeypatch.setattr(Sitting, "question", property(slow))
        thread = threading.Thread(target=lambda: session.question)
        thread.start()
        assert started.wait(20)
        session.apply(Link(0, 3, together=True))
        session.apply(Undo())
        assert len(session.engine.history) == 0
        go_on.set()
        thread.join(20)
        assert not thread.is_alive()


def test_actions_of_several_threads_are_all_kept(folder, table, options):
    path = folder / "shop.mustlink"
    with begin(table, options, path) as session:

        def answer(first):
            for row in range(first, 27, 3):
                session.apply(Answer(row, row + 3, together=True))

        threads = [threading.Thread(target=answer, args=(first,)) for first in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(session.engine.links) == 27
        seen = summary(session)
    with Session.open(path) as session:
        assert summary(session) == seen
