"""The server of the page: a few files, and one WebSocket on which each tab talks."""

from __future__ import annotations

import asyncio
import errno
import secrets
import signal
import socket
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import resources
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from mustlink.errors import OptionError
from mustlink.studio._conversation import MAX_MESSAGE_BYTES, Conversation
from mustlink.studio._guard import Guard, is_loopback
from mustlink.studio._outbox import Outbox
from mustlink.studio._room import Room

if TYPE_CHECKING:
    from fastapi import FastAPI, WebSocket

    from mustlink.studio._session import Session

__all__ = ["StudioServer", "make_app", "serve"]

MAX_TABS = 50
# How many seconds connections have to end: all when the server stops, and one that is closed for not keeping up.
GRACE = 2
MEDIA = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}


def make_app(room: Room, token: str, host: str, port: int) -> Any:
    """Make the ASGI application of a studio, guarded by its token.

    Parameters
    ----------
    room : Room
        The session that all tabs share.
    token : str
        The secret that the address has to hold once.
    host : str
        The address that the server is bound to.
    port : int
        Its port; both must be in the ``Host`` of every request.

    Returns
    -------
    ASGI application
        A FastAPI application inside a guard.
    """
    fastapi = _import_fastapi()
    app: FastAPI = fastapi.FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    files = _read_page()

    async def page_file(name: str = "") -> Any:
        found = files.get(name or "index.html")
        if found is None:
            return fastapi.Response("There is no such page.", 404, media_type="text/plain")
        content, media = found
        return fastapi.Response(content, media_type=media)

    async def talk(websocket: WebSocket) -> None:
        await _talk(room, websocket)

    # Names are those of a dictionary; no path reaches the disk.
    app.add_api_route("/{name:path}", page_file, methods=["GET", "HEAD"])
    # Annotations are texts here, in which FastAPI cannot find a name that is imported inside a function.
    talk.__annotations__ = {"websocket": fastapi.WebSocket, "return": None}
    app.add_api_websocket_route("/ws", talk)
    return Guard(app, token, host, port)


async def _talk(room: Room, websocket: WebSocket) -> None:
    """Hold the conversation of one tab, until it leaves or does not keep up."""
    await websocket.accept()
    if room.n_listeners >= MAX_TABS:
        await websocket.send_json({"type": "closed", "message": f"The studio is open in {MAX_TABS} tabs already."})
        await websocket.close(1013)
        return
    outbox = Outbox(asyncio.get_running_loop())
    conversation = Conversation(room, outbox.send_json, outbox.send_bytes)
    tasks = [
        asyncio.create_task(outbox.send_all(websocket)),
        asyncio.create_task(_listen(conversation, websocket)),
        asyncio.create_task(outbox.overflowed.wait()),
    ]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        conversation.close()
        for task in tasks:
            task.cancel()
        # A client that has gone is no failure of the server.
        await asyncio.gather(*tasks, return_exceptions=True)


async def _listen(conversation: Conversation, websocket: WebSocket) -> None:
    """Hand over messages one after the other, on a thread, so that work holds up no other tab."""
    await asyncio.to_thread(conversation.open)
    while True:
        received = await websocket.receive()
        if received["type"] == "websocket.disconnect":
            return
        text = received.get("text")
        await asyncio.to_thread(conversation.receive_text, text if text is not None else received.get("bytes", b""))


def _read_page() -> dict[str, tuple[bytes, str]]:
    """Read the files of the page, by their names."""
    folder = resources.files("mustlink.studio") / "page"
    files = {}
    if folder.is_dir():
        for file in folder.iterdir():
            media = MEDIA.get(PurePosixPath(file.name).suffix)
            if media is not None:
                files[file.name] = (file.read_bytes(), media)
    if "index.html" not in files:
        raise OptionError("The page of the studio is not part of this installation; in a checkout, run: make page")
    return files


class StudioServer:
    """A server that is bound to its address, and runs when it is told to.

    Parameters
    ----------
    session : Session
        The session; it is closed with the server.
    host : str
        The address; other machines can reach it unless it is a loopback address.
    port : int
        The port; 0 takes a free one.
    """

    def __init__(self, session: Session, host: str = "127.0.0.1", port: int = 0) -> None:
        uvicorn = _import_uvicorn()
        self._socket = _bind(host, port)
        self.host, self.port = host, int(self._socket.getsockname()[1])
        self.token = secrets.token_urlsafe(32)
        self.room = Room(session)
        try:
            app = make_app(self.room, self.token, host, self.port)
        except BaseException:
            self.close()
            raise
        config = uvicorn.Config(
            app,
            ws=_make_protocol(),
            ws_max_size=MAX_MESSAGE_BYTES,
            ws_per_message_deflate=False,
            # The address in a log would hold the token.
            access_log=False,
            log_level="warning",
            server_header=False,
            # Stopped while it starts, it would be reported as a failure.
            lifespan="off",
            timeout_graceful_shutdown=GRACE,
        )
        self._server = _make_server(uvicorn, config, self.room)

    @property
    def url(self) -> str:
        """The address to open, with the token."""
        return self._url_at("127.0.0.1" if self.host in ("0.0.0.0", "::", "localhost") else self.host)

    @property
    def far_url(self) -> str | None:
        """The address for other machines, if the server listens at all addresses of this one."""
        return self._url_at(socket.gethostname()) if self.host in ("0.0.0.0", "::") else None

    def _url_at(self, name: str) -> str:
        name = f"[{name}]" if ":" in name else name
        return f"http://{name}:{self.port}/?token={self.token}"

    def run(self) -> None:
        """Serve until the process is interrupted or :meth:`stop` is called; then close the session."""
        try:
            with _quiet_signals():
                self._server.run(sockets=[self._socket])
        finally:
            self.close()

    def stop(self) -> None:
        """Let :meth:`run` return; any thread may call it."""
        self._server.should_exit = True

    def close(self) -> None:
        """Close the socket and the session."""
        self._socket.close()
        self.room.close()


def serve(
    session: Session,
    host: str = "127.0.0.1",
    port: int = 0,
    open_browser: bool = True,
    announce: Callable[[str], None] = print,
) -> None:
    """Serve a session to a browser until the process is interrupted.

    Parameters
    ----------
    session : Session
        The session; it is closed at the end.
    host : str, default="127.0.0.1"
        The address to listen at. Other machines can reach the studio unless it is a loopback address.
    port : int, default=0
        The port; 0 takes a free one.
    open_browser : bool, default=True
        Whether the page is opened in a browser.
    announce : callable, default=print
        What is called with each line for the person, such as the address.

    Examples
    --------
    >>> import pandas as pd
    >>> from mustlink.studio import Session, serve
    >>> with Session.from_frame(pd.DataFrame({"visits": [1, 9, 2], "basket": [20, 60, 21]})) as session:
    ...     try:
    ...         serve(session, port=70_000)
    ...     except ValueError as error:
    ...         print(error)
    The port is 70000; a port is from 1 to 65535, or 0 for a free one.
    """
    server = StudioServer(session, host, port)
    if not is_loopback(host):
        announce(
            f"Warning: the studio listens at {host}, where other machines may reach it. Whoever has the address with "
            "the token sees the table and may change the links, and the connection is not encrypted."
        )
    announce(f"The studio is at {server.url}")
    if server.far_url is not None:
        announce(f"From other machines, unless they know this one by another name: {server.far_url}")
    announce("Stop it with Ctrl-C; every answer is saved as it is given.")
    if open_browser:
        # A browser in the terminal, or none at all, must not hold up the server.
        threading.Thread(target=_open_browser, args=(server.url,), daemon=True).start()
    server.run()


def _make_server(uvicorn: Any, config: Any, room: Room) -> Any:
    """Make the server; before it closes the connections, it tells the tabs that it does."""

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            # Starts the threads that messages are handled on, before the first one comes.
            await asyncio.to_thread(bool)
            await super().startup(sockets)

        async def shutdown(self, sockets: Any = None) -> None:
            room.say_closed()
            # A conversation ends when this, its last message, is sent.
            deadline = time.monotonic() + GRACE
            while room.n_listeners and time.monotonic() < deadline:
                await asyncio.sleep(0.01)
            await super().shutdown(sockets)

    return Server(config)


def _make_protocol() -> Any:
    """Make the WebSocket of the server: the one of uvicorn's that waits for a slow client, not filling the memory.

    When a conversation has ended, a client that reads nothing would keep the connection, which has more to send, open.
    """
    from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

    class Protocol(WebSocketsSansIOProtocol):
        async def run_asgi(self) -> None:
            await super().run_asgi()
            self.loop.call_later(GRACE, self.transport.abort)

    return Protocol


def _open_browser(url: str) -> None:
    """Open the page; without a browser, the person has the address."""
    with suppress(webbrowser.Error, OSError):
        webbrowser.open(url)


@contextmanager
def _quiet_signals() -> Iterator[None]:
    """Take Ctrl-C and a request to end as the end of the server, after which the session is still to be closed.

    uvicorn ends the server at a signal, and then raises it again for the handlers from before.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _bind(host: str, port: int) -> socket.socket:
    """Bind a socket and listen, so that a browser that is faster than the server waits for it."""
    if not 0 <= port < 2**16:
        raise OptionError(f"The port is {port}; a port is from 1 to 65535, or 0 for a free one.")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise OptionError(f"The address {host!r} of the studio is not known: {error}.") from error
    family, kind, protocol, _, address = min(found, key=lambda one: one[0] != socket.AF_INET)
    bound = socket.socket(family, kind, protocol)
    try:
        bound.bind(address)
        bound.listen(128)
    except OSError as error:
        bound.close()
        reasons = {errno.EADDRINUSE: "the port is in use", errno.EACCES: "the port needs more rights"}
        why = reasons.get(error.errno or 0, str(error.strerror or error))
        raise OptionError(f"The studio cannot listen at {host}, port {port}: {why}; choose another port.") from error
    return bound


def _import_fastapi() -> Any:
    """Import FastAPI, or name the extra to install."""
    try:
        import fastapi
    except ModuleNotFoundError as error:
        raise _missing(error) from error
    return fastapi


def _import_uvicorn() -> Any:
    """Import the server with its WebSockets, or name the extra to install."""
    try:
        import uvicorn
        import websockets  # noqa: F401  (what uvicorn imports when the first tab comes)
    except ModuleNotFoundError as error:
        raise _missing(error) from error
    return uvicorn


def _missing(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """Name the extra to install."""
    return ModuleNotFoundError(
        f'The studio needs {error.name}, which is not installed; install it with: pip install "mustlink[studio]"',
        name=error.name,
    )
