"""The conversation without a server: what a client is told, and what slow work does not hold up."""

from __future__ import annotations

import json
import threading
import time

import numpy as np
import pytest

from mustlink.constraints import Constraints
from mustlink.errors import OptionError
from mustlink.studio import Link, Session
from mustlink.studio._adapter import Fit
from mustlink.studio._background import Background
from mustlink.studio._buffers import pack_confidence, pack_labels
from mustlink.studio._cards import RowCards
from mustlink.studio._conversation import Conversation
from mustlink.studio._instant import InstantClusterer
from mustlink.studio._room import Room
from mustlink.studio._slow_work import SlowWork
from mustlink.workflow import RowComparison, TableOptions, load_table
from studio.served import make_session


class Client:
    """Keeps what it is told, in order."""

    def __init__(self, room):
        self.told = []
        self._condition = threading.Condition()
        self.talk = Conversation(room, self.take, lambda data: self.take(data))

    def take(self, message):
        if not isinstance(message, bytes):
            json.dumps(message, allow_nan=False)
        with self._condition:
            self.told.append(message)
            self._condition.notify_all()

    def types(self):
        return [f"bytes {message[0]}" if isinstance(message, bytes) else message["type"] for message in self.told]

    def last(self, kind):
        return next(one for one in reversed(self.told) if not isinstance(one, bytes) and one["type"] == kind)

    def wait(self, kind, where=lambda message: True):
        def found():
            return [one for one in self.told if not isinstance(one, bytes) and one["type"] == kind and where(one)]

        with self._condition:
            assert self._condition.wait_for(found, 90), self.types()
            return found()[-1]


@pytest.fixture
def room(tmp_path):
    room = Room(make_session(tmp_path, None))
    yield room
    room.close()


@pytest.fixture
def client(room):
    client = Client(room)
    client.talk.open()
    client.wait("question")
    return client


def test_the_greeting_comes_in_order(room):
    assert room.wait(30)
    client = Client(room)
    client.talk.open()
    assert client.types() == ["hello", "bytes 1", "bytes 2", "bytes 3", "state", "question", "panels"]
    hello = client.told[0]
    assert hello["version"] == 1
    assert hello["n_rows"] == 240
    assert [view["name"] for view in hello["views"]] == ["pca", "learned", "umap", "spring"]
    assert {column["kind"] for column in hello["columns"]} == {"number", "category"}
    assert {"auto", "instant", "boost"} <= {method["name"] for method in hello["methods"]}


def test_an_action_is_acknowledged_before_anything_else(client):
    n_told = len(client.told)
    client.talk.receive({"id": 7, "do": "link", "a": 0, "b": 5, "together": False})
    kinds = client.types()[n_told:]
    assert kinds[0] == "done"
    assert client.told[n_told]["id"] == 7
    assert kinds[1] == "bytes 2"
    assert "state" in kinds
    state = client.last("state")
    assert state["links"][0]["a_name"] == "C001"
    assert state["links"][0]["kept"]
    assert state["history"][-1]["text"].startswith("Linked C001 and C006")
    assert state["revision"] == client.told[n_told]["revision"]


def test_arrays_that_have_not_changed_are_not_sent(client):
    client.talk.receive({"id": 1, "do": "link", "a": 0, "b": 5, "together": False})
    n_told = len(client.told)
    client.talk.receive({"id": 2, "do": "snapshot", "name": "x"})
    assert not any(isinstance(message, bytes) for message in client.told[n_told:])


def test_a_conflict_is_refused_with_its_chain_and_removed_by_one_message(client):
    for number, (a, b, together) in enumerate([(0, 1, True), (1, 2, True)]):
        client.talk.receive({"id": number, "do": "link", "a": a, "b": b, "together": together})
    client.talk.receive({"id": 9, "do": "link", "a": 0, "b": 2, "together": False})
    refused = client.last("refused")
    assert refused["id"] == 9
    assert len(refused["chain"]) == 3
    weakest = refused["chain"][refused["weakest"]]
    client.talk.receive({"id": 10, "do": "replace", "remove": [weakest["a"], weakest["b"]], "then": refused["then"]})
    assert client.last("done")["id"] == 10
    assert client.last("state")["counts"] == {"together": 1, "apart": 1, "skipped": 0}


def test_requests_are_answered(client):
    client.talk.receive({"id": 1, "do": "row", "row": 3})
    row = client.last("row")
    assert row["name"] == "C004"
    assert row["group"] is None
    assert not row["pinned"]
    client.talk.receive({"id": 2, "do": "compare", "a": 0, "b": 1})
    compared = client.last("compared")["question"]
    assert compared["a_name"] == "C001"
    assert any(column["marked"] for column in compared["columns"])
    client.talk.receive({"id": 3, "do": "move", "rows": [3], "x": 0.5, "y": 0.5, "onto": None})
    client.talk.receive({"id": 4, "do": "row", "row": 3})
    assert client.last("row")["pinned"]
    for number, what in enumerate(["labels", "links", "report", "python", "log"], start=5):
        client.talk.receive({"id": number, "do": "export", "what": what})
        assert client.wait("file", lambda file, number=number: file["id"] == number)["text"]


def test_a_view_is_sent_with_its_number_and_again_when_it_changes(tmp_path):
    room = Room(make_session(tmp_path, 3))
    client = Client(room)
    client.talk.open()
    client.talk.receive({"id": 1, "do": "view", "name": "learned"})
    client.wait("done")
    client.wait("state", lambda state: state["shown"]["status"] == "final")
    client.wait("question")

    def learned():
        return [one for one in client.told if isinstance(one, bytes) and one[0] == 1 and one[8] == 1]

    n_before = len(learned())
    question = client.last("question")["question"]
    client.talk.receive({"id": 2, "do": "answer", "a": question["a"], "b": question["b"], "together": False})
    revision = client.last("done")["revision"]
    client.wait("state", lambda state: state["shown"]["status"] == "final" and state["revision"] > revision)
    deadline = time.monotonic() + 120
    while len(learned()) == n_before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(learned()) > n_before
    room.close()


def test_a_fit_that_fails_is_told(room, client):
    client.talk.receive({"id": 1, "do": "choose", "n_clusters": 3})
    room._take_fit(Fit(room._fit_revision, "auto", error="The method failed."))
    state = client.wait("state", lambda state: "The method failed." in state["notices"])
    assert state["shown"]["status"] == "failed"
    client.talk.receive({"id": 2, "do": "link", "a": 0, "b": 5, "together": False})
    assert client.last("state")["shown"]["status"] == "working"


def test_links_that_are_wanted_again_after_an_undo_are_fitted_again(tmp_path):
    room = Room(make_session(tmp_path, 3))
    client = Client(room)
    client.talk.open()
    client.wait("state", lambda state: state["shown"]["status"] == "final")
    # The step after the link comes before the fit, so that an undo leads to a state without one.
    client.talk.receive({"id": 1, "do": "link", "a": 0, "b": 5, "together": False})
    client.talk.receive({"id": 2, "do": "rename", "group": 0, "name": "x"})
    assert client.last("state")["shown"]["status"] == "working"
    revision = client.last("state")["revision"]
    client.wait("state", lambda state: state["shown"]["status"] == "final" and state["revision"] > revision)
    client.talk.receive({"id": 3, "do": "undo"})
    revision = client.last("state")["revision"]
    client.wait("state", lambda state: state["shown"]["status"] == "final" and state["revision"] >= revision)
    room.close()


def test_a_slow_question_holds_up_nobody(tmp_path, monkeypatch):
    go = threading.Event()
    ask = Session.question

    def slowly(session):
        assert go.wait(30)
        return ask.fget(session)

    monkeypatch.setattr(Session, "question", property(slowly))
    room = Room(make_session(tmp_path))
    client = Client(room)
    client.talk.open()
    client.talk.receive({"id": 1, "do": "rename", "group": 0, "name": "x"})
    client.talk.receive({"id": 2, "do": "link", "a": 0, "b": 5, "together": False})
    assert client.last("done")["id"] == 2
    assert "question" not in client.types()
    go.set()
    client.wait("question")
    room.close()


def test_an_action_does_not_wait_for_the_tree_of_a_large_table(tmp_path, monkeypatch):
    go_on, prepare = threading.Event(), InstantClusterer.prepare

    def slow(self):
        assert len(self._X) < 240 or go_on.wait(30)
        prepare(self)

    monkeypatch.setattr("mustlink.studio._session.MIN_KEPT_ROWS", 240)
    monkeypatch.setattr(InstantClusterer, "prepare", slow)
    room = Room(make_session(tmp_path, None))
    try:
        client = Client(room)
        client.talk.open()
        client.talk.receive({"id": 1, "do": "link", "a": 0, "b": 5, "together": False})
        assert client.last("done")["id"] == 1
        shown = client.last("state")["shown"]
        assert (shown["status"], shown["n_changed"]) == ("working", 0)
        assert "being prepared" in shown["text"]
        assert not room._background.is_working
        go_on.set()
        state = client.wait("state", lambda state: state["shown"]["n_changed"] == 240)
        assert state["shown"]["status"] == "instant"
        assert len(state["groups"]) == 2
        client.wait("panels", lambda panels: len(panels["groups"]) == 2)
    finally:
        go_on.set()
        room.close()


def test_an_answer_to_a_question_that_was_replaced_is_refused(client):
    question = client.last("question")["question"]
    pair = {"a": question["a"], "b": question["b"]}
    client.talk.receive({"id": 1, "do": "answer", **pair, "together": None})
    assert client.last("state")["counts"]["skipped"] == 1
    client.talk.receive({"id": 2, "do": "answer", **pair, "together": True})
    assert "no longer open" in client.last("error")["message"]
    assert client.last("state")["counts"] == {"together": 0, "apart": 0, "skipped": 1}


def test_other_tabs_are_told_that_a_question_is_answered(tmp_path, monkeypatch):
    go = threading.Event()
    go.set()
    ask = Session.question
    monkeypatch.setattr(Session, "question", property(lambda session: go.wait(60) and ask.fget(session)))
    room = Room(make_session(tmp_path))
    first, second = Client(room), Client(room)
    first.talk.open()
    second.talk.open()
    question = first.wait("question")["question"]
    second.wait("question")
    go.clear()
    first.talk.receive({"id": 1, "do": "answer", "a": question["a"], "b": question["b"], "together": False})
    assert first.last("question")["question"] == question
    assert second.last("question") == {"type": "question", "question": None, "end": None, "advice": None}
    third = Client(room)
    third.talk.open()
    assert "question" not in third.types()
    go.set()
    assert third.wait("question")["question"]["number"] == 2
    room.close()


def test_links_of_pins_are_not_counted_as_said(client):
    client.talk.receive({"id": 1, "do": "move", "rows": [1, 2, 3], "x": 0.5, "y": 0.5, "onto": None})
    client.talk.receive({"id": 2, "do": "link", "a": 0, "b": 1, "together": False})
    state = client.last("state")
    assert state["n_links"] == 3
    assert state["counts"] == {"together": 0, "apart": 1, "skipped": 0}


def test_a_slow_view_holds_up_nobody(tmp_path, monkeypatch):
    go, begun = threading.Event(), threading.Event()

    def slowly(X):
        begun.set()
        assert go.wait(60)
        return np.zeros((len(X), 2), dtype=np.float32)

    monkeypatch.setattr("mustlink.studio._map.has_umap", lambda: True)
    monkeypatch.setattr("mustlink.studio._map.umap_view", slowly)
    room = Room(make_session(tmp_path))
    client = Client(room)
    client.talk.open()
    client.talk.receive({"id": 1, "do": "view", "name": "umap"})
    assert begun.wait(60)
    other = Client(room)
    other.talk.open()
    other.talk.receive({"id": 2, "do": "link", "a": 0, "b": 5, "together": False})
    assert other.last("done")["id"] == 2
    other.wait("question")
    assert not go.is_set()
    go.set()
    client.wait("done", lambda done: done["id"] == 1)
    room.close()


def test_a_slow_export_holds_up_nobody_and_is_of_the_state_when_it_began(client, monkeypatch):
    go, begun = threading.Event(), threading.Event()
    write = Constraints.write

    def slowly(*given, **options):
        begun.set()
        assert go.wait(60)
        write(*given, **options)

    client.talk.receive({"id": 1, "do": "link", "a": 0, "b": 5, "together": False})
    monkeypatch.setattr(Constraints, "write", slowly)
    client.talk.receive({"id": 2, "do": "export", "what": "links"})
    assert begun.wait(60)
    # On a thread: with the lock held, this would wait for ever.
    thread = threading.Thread(target=client.talk.receive, args=({"id": 3, "do": "undo"},))
    thread.start()
    client.wait("done", lambda done: done["id"] == 3)
    go.set()
    assert len(client.wait("file")["text"].splitlines()) == 2
    thread.join(60)


def test_the_learned_view_follows_the_groups_without_a_background(client):
    def learned():
        return [one for one in client.told if isinstance(one, bytes) and one[0] == 1 and one[8] == 1]

    client.talk.receive({"id": 1, "do": "view", "name": "learned"})
    client.wait("done", lambda done: done["id"] == 1)
    client.talk.receive({"id": 2, "do": "link", "a": 0, "b": 5, "together": False})
    deadline = time.monotonic() + 60
    while len(learned()) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert learned()[0][16:] != learned()[1][16:]
    client.talk.receive({"id": 3, "do": "view", "name": "learned"})
    client.wait("done", lambda done: done["id"] == 3)
    assert learned()[2][16:] == learned()[1][16:]


def test_what_a_fit_says_of_links_is_shown_with_its_own_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(Background, "submit", lambda *given, **options: None)
    room = Room(make_session(tmp_path, 3))
    client = Client(room)
    client.talk.open()
    for number, pair in enumerate([(0, 5), (1, 6)]):
        client.talk.receive({"id": number, "do": "link", "a": pair[0], "b": pair[1], "together": False})
        labels = np.arange(240) % 3
        room._take_fit(Fit(room._fit_revision, "boost", labels, np.ones(240), suspects={pair: 0.9}))
        suspicion = {(link["a"], link["b"]): link["suspicion"] for link in client.last("state")["links"]}
        assert suspicion[pair] == 0.9
    client.talk.receive({"id": 3, "do": "undo"})
    assert [link["suspicion"] for link in client.last("state")["links"]] == [0.9]
    room.close()


def test_a_session_that_is_continued_knows_again_what_the_fit_said_of_links(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(Background, "submit", lambda self, revision, *given, **options: asked.append(revision))
    session = make_session(tmp_path, 3)
    session.apply(Link(0, 5, together=False))
    labels = np.arange(240) % 3
    session.offer(labels, session.engine.revision, method="boost", confidence=np.ones(240))
    session.close()
    room = Room(Session.open(tmp_path / "s.mustlink"))
    client = Client(room)
    client.talk.open()
    (revision,) = asked
    n_entries = len(room._session.log())
    room._take_fit(Fit(revision, "boost", (labels + 1) % 3, np.ones(240), suspects={(0, 5): 0.9}))
    assert client.last("state")["links"][0]["suspicion"] == 0.9
    assert len(room._session.log()) == n_entries
    # One that finds other groups says nothing of those that are shown.
    room._take_fit(Fit(revision, "boost", np.arange(240) // 80, np.ones(240), suspects={(0, 5): 0.1}))
    assert client.last("state")["links"][0]["suspicion"] == 0.9
    room.close()


def test_one_who_has_left_is_told_nothing(room, client):
    other = Client(room)
    other.talk.open()
    client.talk.close()
    n_told = len(client.told)
    other.talk.receive({"id": 1, "do": "link", "a": 0, "b": 5, "together": False})
    assert len(client.told) == n_told


def test_a_closed_room_says_so(room):
    room.close()
    client = Client(room)
    client.talk.open()
    assert client.types() == ["closed"]
    client.talk.receive({"id": 1, "do": "undo"})
    assert client.types()[1] in ("refused", "error")


def test_a_failure_inside_is_an_error_and_the_session_goes_on(room, client, monkeypatch, caplog):
    monkeypatch.setattr(room, "describe_row", lambda row: 1 / 0)
    client.talk.receive({"id": 1, "do": "row", "row": 1})
    assert "Reload the page" in client.last("error")["message"]
    client.talk.receive({"id": 2, "do": "ping"})
    assert client.last("pong")["id"] == 2


def test_texts_and_images_are_shown_as_such_and_columns_that_are_left_out_too(tmp_path):
    import base64

    png = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(20)).decode()
    (tmp_path / "a.png").write_bytes(base64.b64decode(png))
    story = "A long text of several words, with\na second line, that a person reads."
    lines = [f'{row * row},"{story}","{"a.png" if row else f"data:image/png;base64,{png}"}"' for row in range(4)]
    table = tmp_path / "t.csv"
    table.write_text("x,story,photo\n" + "\n".join(lines), encoding="utf-8")
    room = Room(make_session(tmp_path, table=table, ignore=["story", "photo"]))
    client = Client(room)
    client.talk.open()
    kinds = {column["name"]: column["kind"] for column in client.told[0]["columns"]}
    assert kinds == {"x": "number", "story": "text", "photo": "image"}
    compared = room.compare(0, 1)["columns"]
    assert compared[1]["first"] == story
    for row in (0, 1):
        client.talk.receive({"id": row, "do": "image", "row": row, "column": "photo"})
        assert client.last("image")["url"] == f"data:image/png;base64,{png}"
    room.close()


def test_long_cells_are_cut(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"x,note\n1,{'y' * 50_000}\n2,z\n", encoding="utf-8")
    options = TableOptions(path, ignore=["note"])
    cards = RowCards(RowComparison(options, load_table(options), ["x", "note"]), None)
    assert len(cards.row(0)[1]["text"]) == 20_001
    with pytest.raises(ValueError, match="names no images"):
        cards.image(0, "note")


def test_arrays_are_packed_within_their_types():
    labels = np.frombuffer(pack_labels(np.array([-1, 0, 7, 70_000]), 3), "<u2", offset=16)
    assert labels.tolist() == [65535, 0, 7, 65535]
    data = pack_confidence(np.array([0.0, 0.5, 1.0, 2.0, np.nan]), 3)
    assert np.frombuffer(data, "<u4", 4).tolist() == [3, 3, 0, 5]
    assert list(data[16:]) == [0, 128, 255, 255, 0]


def test_of_jobs_with_one_key_only_the_newest_is_done(caplog):
    work, go, done = SlowWork(), threading.Event(), []
    work.submit("first", lambda: go.wait(10))
    for number in range(5):
        work.submit("same", lambda number=number: done.append(number))
    work.submit("fails", lambda: 1 / 0)
    work.submit("last", lambda: done.append("last"))
    go.set()
    assert work.wait(10)
    assert done == [4, "last"]
    assert "fails" in caplog.text
    work.close()


def test_unknown_views_and_those_without_edges_are_refused(room):
    for name in ("spring", "map"):
        with pytest.raises(OptionError):
            room._map.check(name)
