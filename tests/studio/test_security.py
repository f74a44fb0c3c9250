"""Who is let in, and that nothing that comes in does harm."""

from __future__ import annotations

import json
import os
import socket
import time
from contextlib import suppress

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from mustlink.studio._guard import HEADERS, allowed_host, is_loopback
from mustlink.studio._images import MAX_IMAGE_BYTES, ImageError, ImageFolder
from mustlink.studio._server import StudioServer, serve
from studio.served import Served, make_session

PNG = b"\x89PNG\r\n\x1a\n" + bytes(30)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    studio = Served(make_session(tmp_path_factory.mktemp("studio")))
    yield studio
    studio.close()


@pytest.fixture
def tab(served):
    tab = served.connect()
    tab.wait("question")
    yield tab
    tab.close()


def wait_until(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_alive(served):
    """Whether another tab is still served, and the session is as it was."""
    other = served.connect()
    state = other.wait("state")
    assert other.ask("ping")["type"] == "pong"
    other.close()
    return state["revision"] >= 0


# ---- the token ---------------------------------------------------------------------------------------------------


def test_the_token_becomes_a_cookie_and_leaves_the_address(served):
    response = served.get(f"/?token={served.server.token}")
    assert response.status == 303
    assert response.getheader("location") == "/"
    cookie = response.getheader("set-cookie")
    assert cookie.startswith(f"{served.cookie};")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert served.get("/", Cookie=served.cookie).status == 200


def test_a_token_has_32_random_bytes(served, tmp_path):
    import base64

    other = StudioServer(make_session(tmp_path))
    try:
        assert len(base64.urlsafe_b64decode(served.server.token + "=")) == 32
        assert other.token != served.server.token
    finally:
        other.close()


@pytest.mark.parametrize(
    "path", ["/", "/studio.js", "/studio.css", "/nothing", "/ws", "/?token=", "/?token=wrong", "/docs"]
)
def test_without_the_token_nothing_is_served(served, path):
    assert served.get(path).status == 403
    assert served.get(path, Cookie=served.cookie[:-1]).status == 403
    assert served.get(path, Cookie="mustlink-studio=x; a").status == 403


def test_the_token_in_the_address_opens_the_page_alone(served):
    assert served.get(f"/studio.js?token={served.server.token}").status == 403


def test_the_cookie_is_found_beside_those_of_other_servers(served):
    assert served.get("/", Cookie=f'a="x; b=\x01; {served.cookie}; c').status == 200


@pytest.mark.parametrize("headers", [{"Cookie": None}, {"Cookie": "mustlink-studio-1=x"}])
def test_a_socket_needs_the_cookie(served, headers):
    with pytest.raises(InvalidStatus) as refused:
        served.connect(**headers)
    assert refused.value.response.status_code == 403


# ---- other pages ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "origin",
    [None, "null", "http://evil.example", "http://127.0.0.1:1", "https://{host}", "http://{host}.evil.example"],
)
def test_a_socket_of_another_origin_is_refused(served, origin):
    with pytest.raises(InvalidStatus) as refused:
        served.connect(Origin=origin and origin.format(host=served.host))
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.2:{port}"]
)
def test_another_name_of_this_machine_is_refused(served, host):
    # The page of a name that was made to resolve to this machine has this name as its Host and its Origin.
    host = host.format(port=served.server.port)
    assert served.get("/", Host=host, Cookie=served.cookie).status == 403
    with pytest.raises(InvalidStatus):
        served.connect(Host=host, Origin=f"http://{host}")


def test_localhost_is_a_name_of_this_machine(served):
    host = f"localhost:{served.server.port}"
    assert served.get("/", Host=host, Cookie=served.cookie).status == 200
    served.connect(Host=host, Origin=f"http://{host}").close()


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS", "PUT"])
def test_a_request_of_another_origin_is_refused_without_cors(served, method):
    response = served.get("/studio.js", method, Origin="http://127.0.0.1:9", Cookie=served.cookie)
    assert response.status == 403
    assert not [name for name, _ in response.getheaders() if name.lower().startswith("access-control")]


def test_a_page_of_this_site_that_the_studio_did_not_serve_is_refused(served):
    # Another server of this machine, on another port, is of the same site: the cookie comes along.
    for site in ("same-site", "cross-site"):
        assert served.get("/studio.js", Sec_Fetch_Site=site, Cookie=served.cookie).status == 403
    assert served.get("/studio.js", Sec_Fetch_Site="same-origin", Cookie=served.cookie).status == 200


@pytest.mark.parametrize("path", ["/", "/studio.js", "/nothing"])
def test_every_answer_has_the_headers(served, path):
    for cookie in (served.cookie, "none"):
        headers = {name.lower(): value for name, value in served.get(path, Cookie=cookie).getheaders()}
        assert HEADERS.items() <= headers.items()
    assert "default-src 'none'" in HEADERS["content-security-policy"]
    assert "unsafe-inline" not in HEADERS["content-security-policy"].partition("style-src")[0]


def test_the_page_loads_nothing_from_elsewhere_and_has_no_script_inside(served):
    page = served.get("/", Cookie=served.cookie).body.decode()
    assert "http" not in page.replace("http-equiv", "")
    assert page.count("<script") == page.count('<script type="module"') == page.count('src="./studio.js"') == 1


@pytest.mark.parametrize(
    ("header", "host", "is_allowed"),
    [
        ("127.0.0.1:80", "127.0.0.1", True),
        ("127.0.0.1", "127.0.0.1", True),
        ("LOCALHOST:80", "127.0.0.1", True),
        ("[::1]:80", "::1", True),
        ("[::1]", "::1", False),
        ("localhost:81", "127.0.0.1", False),
        ("localhost.evil.example:80", "127.0.0.1", False),
        ("evil.example:80", "0.0.0.0", False),
        ("192.168.1.7:80", "0.0.0.0", True),
        ("192.168.1.7:80", "127.0.0.1", False),
        ("box:80", "box", True),
        ("localhost:80", "box", False),
        ("localhost:80:80", "127.0.0.1", False),
        ("localhost:٨٠", "127.0.0.1", False),
        ("", "127.0.0.1", False),
    ],
)
def test_hosts(header, host, is_allowed):
    assert allowed_host(header, host, 80) == is_allowed


# ---- where it listens ----------------------------------------------------------------------------------------------


def test_it_listens_at_loopback_unless_asked(served, tmp_path, monkeypatch):
    assert served.server._socket.getsockname()[0] == "127.0.0.1"
    assert all(map(is_loopback, ("127.0.0.1", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "192.168.1.7", "box", "localhost.evil.example")))
    monkeypatch.setattr(StudioServer, "run", StudioServer.close)
    for host, is_warned in (("127.0.0.1", False), ("0.0.0.0", True)):
        folder, said = tmp_path / host, []
        folder.mkdir()
        serve(make_session(folder), host, open_browser=False, announce=said.append)
        assert any("Warning" in line and host in line for line in said) == is_warned
        assert sum("//127.0.0.1:" in line and "token=" in line for line in said) == 1
        assert sum(f"//{socket.gethostname()}:" in line for line in said) == is_warned


# ---- paths ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/../pyproject.toml",
        "/..%2f..%2fetc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..\\..\\etc\\passwd",
        "//etc/passwd",
        "/page/../index.html",
        "/./index.html",
        "/index.html%00.js",
        "/%00",
        "/sources.sha256",
        "/_server.py",
        "/../_server.py",
        "/C:/Windows/win.ini",
        "/studio.js/",
    ],
)
def test_path_tricks_find_nothing(served, path):
    response = served.get(path, Cookie=served.cookie)
    assert response.status == 404
    assert b"root:" not in response.body


@pytest.mark.parametrize(
    "name",
    [
        *(
            "../secret.png",
            "a/../../secret.png",
            "..\\secret.png",
            "{outside}",
            "C:\\secret.png",
            "\\\\host\\share\\x.png",
        ),
        *("link.png", "folder/secret.png", "a\0.png", "missing.png", "pipe.png", "sub", "text.png", ""),
        "x" * 5_000 + ".png",
    ],
)
def test_images_outside_the_folder_are_not_read(tmp_path, name):
    (tmp_path / "secret.png").write_bytes(PNG)
    folder = tmp_path / "table"
    (folder / "sub").mkdir(parents=True)
    (folder / "text.png").write_text("root:x:0:0")
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    (folder / "folder").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.png")
    with pytest.raises(ImageError):
        ImageFolder(folder).data_url(name.format(outside=tmp_path / "secret.png"))


def test_images_inside_the_folder_are_read(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.png").write_bytes(PNG)
    (tmp_path / "b.png").symlink_to(tmp_path / "sub" / "a.png")
    images = ImageFolder(tmp_path)
    url = images.data_url("sub/a.png")
    assert url.startswith("data:image/png;base64,iVBOR")
    assert images.data_url("sub\\a.png") == images.data_url("b.png") == images.data_url(url) == url


@pytest.mark.parametrize(
    "cell",
    [
        "data:text/html;base64,PHNjcmlwdD4=",
        "data:image/svg+xml;base64,PHN2Zz4=",
        "data:image/png,<svg onload=alert(1)>",
        "data:image/png;base64,!!!!",
        "data:image/png;base64,PHN2Zz4=",
        'data:image/png;base64,iVBORw0KGgo=" onerror="alert(1)',
    ],
)
def test_data_urls_hold_images_alone(cell):
    with pytest.raises(ImageError):
        ImageFolder(None).data_url(cell)


def test_large_images_are_refused(tmp_path):
    with open(tmp_path / "a.png", "wb") as file:
        file.write(PNG)
        file.truncate(MAX_IMAGE_BYTES + 1)
    with pytest.raises(ImageError, match="are shown up to"):
        ImageFolder(tmp_path).data_url("a.png")


# ---- messages ------------------------------------------------------------------------------------------------------

MALFORMED = {
    "no_json": "{",
    "empty": "",
    "text": '"link"',
    "number": "7",
    "list": "[1, 2]",
    "null": "null",
    "no_kind": '{"id": 1}',
    "no_id": '{"do": "ping"}',
    "id_text": '{"id": "1", "do": "ping"}',
    "id_true": '{"id": true, "do": "ping"}',
    "id_huge": '{"id": 9007199254740993, "do": "ping"}',
    "unknown": '{"id": 1, "do": "drop table"}',
    "kind_list": '{"id": 1, "do": ["link"]}',
    "fields": '{"id": 1, "do": "undo", "and": 2}',
    "query_fields": '{"id": 1, "do": "ping", "and": 2}',
    "missing": '{"id": 1, "do": "link", "a": 1}',
    "row_text": '{"id": 1, "do": "row", "row": "1"}',
    "row_float": '{"id": 1, "do": "row", "row": 1.5}',
    "row_negative": '{"id": 1, "do": "row", "row": -1}',
    "row_outside": '{"id": 1, "do": "row", "row": 240}',
    "link_outside": '{"id": 1, "do": "link", "a": 0, "b": 99999, "together": true}',
    "link_itself": '{"id": 1, "do": "link", "a": 3, "b": 3, "together": true}',
    "nan": '{"id": 1, "do": "move", "rows": [1], "x": NaN, "y": 0, "onto": null}',
    "infinite": '{"id": 1, "do": "move", "rows": [1], "x": 1e999, "y": 0, "onto": null}',
    "far": '{"id": 1, "do": "move", "rows": [1], "x": 1e300, "y": 0, "onto": null}',
    "huge_int": '{"id": 1, "do": "row", "row": 1' + "0" * 5_000 + "}",
    "large_int": '{"id": 1, "do": "row", "row": 1' + "0" * 400 + "}",
    "deep": '{"id": 1, "do": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "deep_replace": '{"id": 1, ' + '"do": "replace", "remove": [0, 1], "then": {' * 700 + '"do": "undo"' + "}" * 701,
    "no_group": '{"id": 1, "do": "rename", "group": 77, "name": "x"}',
    "long_name": '{"id": 1, "do": "snapshot", "name": "' + "x" * 100_000 + '"}',
    "many_rows": '{"id": 1, "do": "unpin", "rows": [' + ",".join(["7"] * 200_000) + "]}",
    "method": '{"id": 1, "do": "choose", "method": "os.system"}',
    "no_choice": '{"id": 1, "do": "choose"}',
    "clusters": '{"id": 1, "do": "choose", "n_clusters": 100000}',
    "eps": '{"id": 1, "do": "choose", "eps": -1}',
    "view": '{"id": 1, "do": "view", "name": "../x"}',
    "export": '{"id": 1, "do": "export", "what": "../../etc/passwd"}',
    "image": '{"id": 1, "do": "image", "row": 0, "column": "__class__"}',
    "image_number": '{"id": 1, "do": "image", "row": 0, "column": "basket_eur"}',
    "answer": '{"id": 1, "do": "answer", "a": 0, "b": 1, "together": true}',
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_message_is_answered_with_a_sentence(served, tab, name):
    before = tab.told["state"]["revision"]
    tab.socket.send(MALFORMED[name])
    answer = tab.wait("error", "refused", "done", "pong", "file", "image")
    assert answer["type"] in ("error", "refused")
    assert answer["message"].endswith(".")
    assert "Traceback" not in answer["message"]
    assert len(answer["message"]) < 1_000
    assert "failed" not in answer["message"]
    state = served.connect()
    assert state.wait("state")["history"] == tab.told["state"]["history"]
    state.close()
    assert tab.told["state"]["revision"] == before


def test_bytes_are_answered_with_a_sentence(served, tab):
    tab.socket.send(b"\x00" * 100)
    assert "bytes" in tab.wait("error")["message"]
    assert is_alive(served)


def test_a_message_above_4_mib_closes_the_connection(served, tab):
    # Where the connection is reset while the rest of the message is sent, sending fails already.
    with suppress(ConnectionClosed):
        tab.socket.send(json.dumps({"id": 1, "do": "snapshot", "name": "x" * (4 * 2**20)}))
    with pytest.raises(ConnectionClosed) as closed:
        tab.read_all()
    # Then the code is lost, too.
    assert closed.value.rcvd is None or closed.value.rcvd.code == 1009
    assert is_alive(served)


def test_a_message_of_four_million_characters_is_answered(served, tab):
    tab.socket.send(json.dumps({"id": 1, "do": "snapshot", "name": "x" * 4_000_000}))
    assert len(tab.wait("error")["message"]) < 1_000


def test_text_that_is_no_utf_8_closes_the_connection(served, tab):
    with tab.socket.send_context():
        tab.socket.protocol.send_text(b"\xff\xfe")
    with pytest.raises(ConnectionClosed):
        tab.read_all()
    assert is_alive(served)


# ---- tables of strangers -------------------------------------------------------------------------------------------

SCRIPT = "<script>alert(1)</script>"
HOSTILE = f"""id,{SCRIPT},x,note
{SCRIPT},1,2,=1+1
"</script><img src=x onerror=alert(1)>",2,1,@SUM(A1)
c,9,8,+1
d,8,9,-1
"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    path = folder / f"{SCRIPT.replace('/', '')}.csv"
    path.write_text(HOSTILE, encoding="utf-8")
    studio = Served(make_session(folder, table=path, id_column="id", ignore=["note"]))
    yield studio
    studio.close()


def test_scripts_in_a_table_stay_text(hostile):
    tab = hostile.connect()
    assert tab.wait("hello")["columns"][0]["name"] == SCRIPT
    assert tab.ask("row", row=0)["name"] == SCRIPT
    # What arrives is JSON, which the page puts into text nodes; the page itself never holds it.
    assert b"alert" not in hostile.get("/", Cookie=hostile.cookie).body
    assert tab.ask("link", a=0, b=2, together=False)["type"] == "done"
    tab.wait("state", where=lambda state: len(state["groups"]) == 2)
    group = tab.told["state"]["groups"][0]["id"]
    assert tab.ask("rename", group=group, name=SCRIPT)["type"] == "done"
    report = tab.ask("export", what="report")
    assert report["media"] == "text/html"
    assert "<script>alert" not in report["text"]
    assert "&lt;script&gt;alert" in report["text"]
    assert "<img" not in report["text"]
    tab.close()


def test_cells_are_exported_as_mustlink_cluster_writes_them(tmp_path):
    import pandas as pd
    from typer.testing import CliRunner

    from mustlink.cli import app

    path = tmp_path / "t.csv"
    path.write_text("id,x\n=1+1,0\n@a,1\n+b,8\n-c,9\n", encoding="utf-8")
    served = Served(make_session(tmp_path, table=path, id_column="id"))
    tab = served.connect()
    tab.wait("state")
    tab.ask("link", a=0, b=2, together=False)
    text = tab.ask("export", what="labels")["text"]
    tab.close()
    served.close()
    done = CliRunner().invoke(app, ["cluster", str(path), "-k", "2", "--id", "id", "-o", str(tmp_path / "out.csv")])
    assert done.exit_code == 0, done.output
    written = pd.read_csv(tmp_path / "out.csv", dtype=str)
    assert [line.split(",")[0] for line in text.splitlines()[1:]] == written["id"].tolist()


# ---- several tabs --------------------------------------------------------------------------------------------------


def test_a_second_tab_sees_the_same_and_cannot_answer_twice(tmp_path):
    served = Served(make_session(tmp_path))
    first, second = served.connect(), served.connect()
    question = first.wait("question")["question"]
    assert second.wait("question")["question"] == question
    pair = {"a": question["a"], "b": question["b"]}
    assert first.ask("answer", **pair, together=False)["type"] == "done"
    state = second.wait("state", where=lambda state: state["counts"]["apart"] == 1)
    assert state["links"][0]["source"] == "answer"
    refused = second.ask("answer", **pair, together=True)
    assert refused["type"] == "error"
    assert "no longer open" in refused["message"]
    # Until the next question is chosen, there may be none.
    if second.told["question"]["question"] in (None, question):
        second.wait("question", where=lambda message: message["question"] not in (None, question))
    assert second.told["question"]["question"]["number"] == 2
    first.close()
    assert second.ask("undo")["type"] == "done"
    second.close()
    served.close()


def test_a_client_that_does_not_read_holds_up_nobody(tmp_path, monkeypatch):
    monkeypatch.setattr("mustlink.studio._outbox.MAX_WAITING_BYTES", 200_000)
    served = Served(make_session(tmp_path))
    other = served.connect()
    other.wait("state")
    stuck = served.connect_raw()
    wait_until(lambda: served.server.room.n_listeners == 2)
    # It sends requests and reads no answers, until the buffers on the way are full, and then its outbox.
    asks = [{"id": 1, "do": "export", "what": "report"}, {"id": 2, "do": "row", "row": 1}]
    deadline = time.monotonic() + 120
    while served.server.room.n_listeners > 1 and time.monotonic() < deadline:
        stuck.ask(asks)
        # Answered although the other one reads nothing: else this waits until its time is over.
        assert other.ask("link", a=0, b=1, together=False)["type"] in ("done", "refused")
    assert served.server.room.n_listeners == 1
    assert other.ask("ping")["type"] == "pong"
    wait_until(stuck.is_closed)
    other.close()
    stuck.close()
    served.close()
