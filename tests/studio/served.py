"""A studio that is served to tests: the real server on a free port, and small clients for it."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from websockets.frames import Frame, Opcode
from websockets.sync.client import ClientConnection, connect

from mustlink.datasets import sample_paths
from mustlink.studio import Session
from mustlink.studio._server import StudioServer
from mustlink.workflow import TableOptions, load_table

KINDS = {1: ("positions", "<f4"), 2: ("labels", "<u2"), 3: ("confidence", "u1"), 4: ("edges", "<u4")}


def make_session(folder: Path, n_clusters: int | None = None, **options: Any) -> Session:
    """Begin a session on the sample, or on another table."""
    table = options.pop("table", None)
    given = (
        TableOptions(sample_paths().table, id_column="customer") if table is None else TableOptions(table, **options)
    )
    return Session.create(load_table(given), given, folder / "s.mustlink", n_clusters=n_clusters)


class Served:
    """A server that runs on a thread."""

    def __init__(self, session: Session, **options: Any) -> None:
        self.server = StudioServer(session, **options)
        self.host = f"127.0.0.1:{self.server.port}"
        self.cookie = f"mustlink-studio-{self.server.port}={self.server.token}"
        self._thread = threading.Thread(target=self.server.run, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The address with the token."""
        return self.server.url

    def get(self, path: str, method: str = "GET", **headers: str) -> http.client.HTTPResponse:
        """Send a request just as it is written; a header of None is left out, `_` stands for `-`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=10)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": self.host, **headers}.items():
            if value is not None:
                connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        response = connection.getresponse()
        response.body = response.read()  # type: ignore[attr-defined]
        connection.close()
        return response

    def connect(self, **headers: str) -> Tab:
        """Open a WebSocket as a tab of this studio does."""
        return Tab(self._connect(**headers))

    def _connect(self, **headers: str) -> ClientConnection:
        given = {"Cookie": self.cookie, "Host": self.host, **headers}
        origin = given.pop("Origin", f"http://{self.host}")
        host = given.pop("Host")
        # Whatever the name in the URL is, the connection is made to this server.
        sock = socket.create_connection(("127.0.0.1", self.server.port), timeout=10)
        try:
            manager = connect(
                f"ws://{host}/ws",
                sock=sock,
                origin=origin,
                additional_headers={name: value for name, value in given.items() if value is not None},
                max_size=None,
                compression=None,
                proxy=None,
            )
            return manager.__enter__()
        except BaseException:
            sock.close()
            raise

    def connect_raw(self) -> Stuck:
        """Open a WebSocket that will not be read."""
        return Stuck(self)

    def close(self) -> None:
        self.server.stop()
        self._thread.join(120)
        assert not self._thread.is_alive()


class Stuck:
    """A client that sends and does not read."""

    def __init__(self, served: Served) -> None:
        self._socket = socket.create_connection(("127.0.0.1", served.server.port), timeout=10)
        lines = [
            "GET /ws HTTP/1.1",
            f"Host: {served.host}",
            f"Origin: http://{served.host}",
            f"Cookie: {served.cookie}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
            "Sec-WebSocket-Version: 13",
        ]
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode("ascii"))
        assert self._socket.recv(12) == b"HTTP/1.1 101"
        self._socket.settimeout(0.2)

    def ask(self, messages: list[dict[str, Any]]) -> None:
        """Send messages, unless the server has closed the connection, or takes no more."""
        with suppress(OSError):
            for message in messages:
                frame = Frame(Opcode.TEXT, json.dumps(message).encode())
                self._socket.sendall(frame.serialize(mask=True))

    def is_closed(self) -> bool:
        """Return whether the server has closed the connection, found by sending and not by reading."""
        try:
            self._socket.sendall(Frame(Opcode.PING, b"").serialize(mask=True))
        except ConnectionError:
            return True
        except OSError:
            return False
        return False

    def close(self) -> None:
        self._socket.close()


class Tab:
    """A client that keeps what it was told."""

    def __init__(self, connection: ClientConnection) -> None:
        self.socket = connection
        self.told: dict[str, Any] = {}
        self._id = 0

    def receive(self, timeout: float = 60) -> dict[str, Any]:
        """Return the next message; an array is one with its name as type."""
        data = self.socket.recv(timeout=timeout)
        if isinstance(data, str):
            message = json.loads(data)
        else:
            kind, revision, view, count = np.frombuffer(data, "<u4", 4).tolist()
            name, dtype = KINDS[kind]
            values = np.frombuffer(data, dtype, offset=16)
            assert len(values) == count * (2 if name in ("positions", "edges") else 1)
            message = {"type": name, "revision": revision, "view": view, "values": values}
        self.told[message["type"]] = message
        return message

    def wait(self, *types: str, where: Callable[[dict[str, Any]], bool] = lambda _: True) -> dict[str, Any]:
        """Return the next message of one of these types."""
        while True:
            message = self.receive()
            if message["type"] in types and where(message):
                return message

    def send(self, do: str, **fields: Any) -> int:
        self._id += 1
        self.socket.send(json.dumps({"id": self._id, "do": do, **fields}))
        return self._id

    def read_all(self) -> None:
        """Read until the connection is closed."""
        while True:
            self.receive()

    def ask(self, do: str, **fields: Any) -> dict[str, Any]:
        """Send a message and return its answer."""
        number = self.send(do, **fields)
        while True:
            message = self.receive()
            if message.get("id") == number:
                return message

    def close(self) -> None:
        self.socket.close()
