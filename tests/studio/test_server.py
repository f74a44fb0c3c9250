"""The server: files of the page, one socket for each tab, a clean end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

import numpy as np
import pytest
from typer.testing import CliRunner
from websockets.exceptions import ConnectionClosed

from mustlink import Constraints
from mustlink.cli import app
from mustlink.datasets import sample_paths
from mustlink.errors import OptionError
from mustlink.studio import Session, Studio
from mustlink.studio._server import StudioServer
from studio.served import Served, make_session

RUN = [sys.executable, "-m", "mustlink", "studio"]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    studio = Served(make_session(tmp_path_factory.mktemp("studio"), 3))
    yield studio
    studio.close()


def test_the_files_of_the_page_have_their_types(served):
    for name, media in (("", "text/html"), ("studio.js", "text/javascript"), ("studio.css", "text/css")):
        response = served.get(f"/{name}", Cookie=served.cookie)
        assert response.status == 200
        assert response.getheader("content-type") == f"{media}; charset=utf-8"
    assert served.get("/", "HEAD", Cookie=served.cookie).body == b""
    assert served.get("/", "POST", Cookie=served.cookie).status == 405


def test_a_session_over_the_socket(served):
    tab = served.connect()
    state = tab.wait("state", where=lambda state: state["shown"]["status"] == "final")
    assert sum(group["size"] for group in state["groups"]) == 240
    question = tab.told.get("question") or tab.wait("question")
    pair = {"a": question["question"]["a"], "b": question["question"]["b"]}
    done = tab.ask("answer", **pair, together=False)
    assert done["type"] == "done"
    state = tab.wait("state", where=lambda state: state["revision"] >= done["revision"])
    assert state["counts"]["apart"] == 1
    assert tab.told["labels"]["values"].shape == (240,)
    tab.close()


def test_everything_is_there_after_the_server_was_stopped(tmp_path):
    served = Served(make_session(tmp_path))
    tab = served.connect()
    tab.wait("state")
    tab.ask("link", a=0, b=5, together=False)
    before = tab.wait("state")
    served.server.stop()
    message = tab.wait("closed")["message"]
    assert message.startswith("The studio was closed; everything is saved. To continue, run: mustlink studio ")
    assert message.endswith("s.mustlink")
    with pytest.raises(ConnectionClosed):
        tab.receive()
    served.close()
    again = Served(Session.open(tmp_path / "s.mustlink"))
    assert again.server.token != served.server.token
    tab = again.connect()
    state = tab.wait("state")
    for name in ("links", "groups", "history", "can_undo"):
        assert state[name] == before[name]
    tab.close()
    again.close()


def test_the_server_ends_its_worker_and_its_threads(tmp_path):
    before = set(threading.enumerate())
    served = Served(make_session(tmp_path, 3))
    background = served.server.room._background
    deadline = time.monotonic() + 120
    while background.pid is None and time.monotonic() < deadline:
        time.sleep(0.01)
    pid = background.pid
    served.close()
    deadline = time.monotonic() + 120
    while os.path.exists(f"/proc/{pid}") and time.monotonic() < deadline:
        time.sleep(0.01)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    names = {thread.name for thread in set(threading.enumerate()) - before}
    assert not names & {"mustlink-studio-slow", "mustlink-background"}


def test_a_server_that_is_stopped_while_it_starts_ends_without_a_word(tmp_path, capfd):
    server = StudioServer(make_session(tmp_path))
    server.stop()
    server.run()
    assert capfd.readouterr() == ("", "")


def test_two_studios_do_not_share_a_file(tmp_path):
    session = make_session(tmp_path)
    with pytest.raises(OptionError, match="open in another"):
        Session.open(tmp_path / "s.mustlink")
    session.close()


def test_a_port_in_use_is_an_error(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with make_session(tmp_path) as session, pytest.raises(OptionError, match="port is in use"):
            StudioServer(session, port=taken.getsockname()[1])


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 70_000), ("127.0.0.1", -1), ("no such host", 0)])
def test_an_address_that_cannot_be_is_an_error(tmp_path, host, port):
    with make_session(tmp_path) as session, pytest.raises(OptionError):
        StudioServer(session, host, port)


def test_a_missing_package_names_the_extra(tmp_path, monkeypatch):
    for package in ("fastapi", "uvicorn"):
        folder = tmp_path / package
        folder.mkdir()
        with monkeypatch.context() as patch, make_session(folder) as session:
            patch.setitem(sys.modules, package, None)
            with pytest.raises(ModuleNotFoundError, match=r'pip install "mustlink\[studio\]"'):
                StudioServer(session)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "anywidget", None)
        with pytest.raises(ModuleNotFoundError, match=r'pip install "mustlink\[notebook\]"'):
            Studio({"x": [1.0, 2.0]})


def test_the_page_is_part_of_the_package(tmp_path, monkeypatch):
    nowhere = type("Nowhere", (), {"files": lambda package: tmp_path})
    monkeypatch.setattr("mustlink.studio._server.resources", nowhere)
    with make_session(tmp_path) as session, pytest.raises(OptionError, match="make page"):
        StudioServer(session)


# ---- the command ---------------------------------------------------------------------------------------------------


class Command:
    """``mustlink studio`` as a process."""

    def __init__(self, folder, *words):
        self.process = subprocess.Popen(
            [*RUN, *words, "--no-browser"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        self.lines = []
        for line in self.process.stdout:
            self.lines.append(line)
            if "token=" in line:
                break
        self.url = next((word for line in self.lines for word in line.split() if "token=" in word), None)

    def connect(self):
        parts = urllib.parse.urlsplit(self.url)
        client = Served.__new__(Served)
        client.host = parts.netloc
        client.server = type("Address", (), {"port": parts.port})
        client.cookie = f"mustlink-studio-{parts.port}={urllib.parse.parse_qs(parts.query)['token'][0]}"
        return client.connect()

    def end(self, number):
        self.process.send_signal(number)
        rest, _ = self.process.communicate(timeout=120)
        return self.process.returncode, rest


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "customers.csv").write_bytes(sample_paths().table.read_bytes())
    return tmp_path


def test_the_command_is_stopped_and_continued(folder, monkeypatch):
    command = Command(folder, "customers.csv", "--id", "customer", "-k", "3")
    assert sum("token=" in line for line in command.lines) == 1
    tab = command.connect()
    tab.wait("question")
    tab.ask("link", a=0, b=5, together=False)
    monkeypatch.chdir(folder)
    refused = CliRunner().invoke(app, ["studio", "customers.csv", "--id", "customer", "--no-browser"])
    assert refused.exit_code == 2
    assert "open in another" in refused.output
    code, rest = command.end(signal.SIGINT)
    assert code == 0
    assert tab.wait("closed")["message"].endswith("To continue, run: mustlink studio customers.mustlink")
    assert "customers.mustlink" in rest
    assert "mustlink studio customers.mustlink" in rest
    assert "Traceback" not in rest
    # What was acknowledged is there.
    command = Command(folder, "customers.csv", "--id", "customer", "-k", "3")
    assert any("Continuing customers.mustlink after 1 step" in line for line in command.lines)
    tab = command.connect()
    tab.wait("state")
    assert tab.ask("link", a=1, b=5, together=True)["type"] == "done"
    code, rest = command.end(signal.SIGTERM)
    assert code == 0
    assert "2 links" in rest


# ---- the notebook --------------------------------------------------------------------------------------------------


class FakeWidget:
    """What the studio uses of a widget."""

    def __init__(self, **options):
        self.options, self.sent = options, []

    def send(self, content, buffers=None):
        self.sent.append((content, buffers))

    def on_msg(self, handler):
        self.page_sends = lambda content: handler(self, content, [])

    def close(self):
        pass


@pytest.fixture
def studio(monkeypatch):
    import pandas as pd

    widget = []
    make = lambda **options: widget.append(FakeWidget(**options)) or widget[0]  # noqa: E731
    monkeypatch.setattr("anywidget.AnyWidget", make)
    with Studio(pd.DataFrame({"x": [0.0, 0.1, 5.0, 5.1]})) as studio:
        yield studio, widget[0]


def test_the_widget_speaks_the_same_messages(studio):
    studio, widget = studio
    assert "export" in widget.options["_esm"]
    widget.page_sends({"do": "open"})
    assert [content["type"] for content, _ in widget.sent[:5]] == ["hello", "bytes", "bytes", "bytes", "state"]
    assert np.frombuffer(widget.sent[2][1][0], "<u2", offset=16).tolist() == [65535] * 4
    widget.page_sends({"id": 1, "do": "link", "a": 0, "b": 2, "together": False})
    assert any(content["type"] == "done" for content, _ in widget.sent)
    assert studio.labels_.tolist() == [0, 0, 1, 1]
    assert len(studio.constraints_) == 1
    assert studio.groups_["size"].tolist() == [2, 2]
    widget.page_sends({"id": 2, "do": "link", "a": 0})
    assert widget.sent[-1][0]["type"] == "error" or any(content["type"] == "error" for content, _ in widget.sent)


def test_columns_that_are_left_out_of_the_distances_are_shown_in_a_notebook(monkeypatch):
    import pandas as pd

    monkeypatch.setattr("anywidget.AnyWidget", FakeWidget)
    frame = pd.DataFrame({"x": [0.0, 0.1, 5.0, 5.1], "note": ["a", "b", "c", "d"]})
    with Studio(frame, ignore=["note"]) as studio:
        widget = studio._widget
        widget.page_sends({"do": "open"})
        assert [column["name"] for column in widget.sent[0][0]["columns"]] == ["x", "note"]
        widget.page_sends({"id": 1, "do": "row", "row": 2})
        row = next(content for content, _ in widget.sent if content["type"] == "row")
        assert {"column": "note", "text": "c", "kind": "category"} in row["cells"]
        assert repr(studio) == "<Studio: 4 rows, 0 links, 0 groups>"


def test_results_in_a_notebook_are_by_the_rows_of_the_data_frame(monkeypatch):
    import pandas as pd

    monkeypatch.setattr("anywidget.AnyWidget", FakeWidget)
    frame = pd.DataFrame({"x": [0.0, np.nan, 0.1, 5.0, 5.1]})
    with Studio(frame, links=Constraints([(0, 2)], [(0, 4)]), missing="drop") as studio:
        assert studio.labels_.tolist() == [0, -1, 0, 1, 1]
        assert studio.constraints_ == Constraints([(0, 2)], [(0, 4)])


def test_a_widget_that_is_shown_twice_is_told_once(studio):
    studio, widget = studio
    widget.page_sends({"do": "open"})
    widget.page_sends({"do": "open"})
    widget.sent.clear()
    widget.page_sends({"id": 1, "do": "link", "a": 0, "b": 2, "together": False})
    assert [content["type"] for content, _ in widget.sent].count("done") == 1
