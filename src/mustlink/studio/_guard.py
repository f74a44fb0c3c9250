"""Access to the server: only for the page that it served itself, opened with its token.

Other programs and other users of the machine do not know the token, unless the person opens a page of their server on
the same host: browsers send cookies to all ports of a host. Pages of other origins, open in the same browser, are kept
out by the cookie (``SameSite=Strict``), by ``Origin``, and, if their name was made to resolve to this machine
(DNS rebinding), by ``Host``.
"""

from __future__ import annotations

import hmac
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, NamedTuple
from urllib.parse import parse_qs

__all__ = ["Guard", "allowed_host", "is_loopback"]

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "worker-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Answer(NamedTuple):
    """What the guard answers by itself."""

    status: int
    text: str
    headers: Mapping[str, str] = {}


class Guard:
    """An ASGI application around another one, which lets in only requests that belong to the studio.

    Parameters
    ----------
    app : ASGI application
        The server of the page.
    token : str
        The secret of this server.
    host : str
        The address that the server is bound to.
    port : int
        Its port.
    """

    def __init__(self, app: App, token: str, host: str, port: int) -> None:
        self._app = app
        self._token = token.encode("ascii")
        self._host = host
        self._port = port
        # Cookies know no ports: two studios in one browser must not share one.
        self.cookie = f"mustlink-studio-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or let the request through."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            if self._refuse(scope) is None:
                await self._app(scope, receive, send)
            else:
                # Before it is accepted, a closed WebSocket is a response with status 403.
                await send({"type": "websocket.close", "code": 1008})
        else:
            answer = self._refuse_origin(scope) or self._take_token(scope) or self._refuse(scope)
            if answer is None:
                await self._app(scope, receive, _with_headers(send))
            else:
                await _answer(answer, _with_headers(send))

    def _refuse(self, scope: Scope) -> Answer | None:
        """Refuse requests from elsewhere and without the cookie."""
        refused = self._refuse_origin(scope)
        if refused is not None:
            return refused
        if self._is_token(_cookie(_header(scope, b"cookie"), self.cookie)):
            return None
        return Answer(403, "Open the address that mustlink studio printed in the terminal, with its token.")

    def _refuse_origin(self, scope: Scope) -> Answer | None:
        """Refuse a name that is not this server's, and pages that this server did not serve."""
        host = _header(scope, b"host")
        if host is None or not allowed_host(host, self._host, self._port):
            return Answer(403, "This server has another address; open the one that mustlink studio printed.")
        origin = _header(scope, b"origin")
        needs_origin = scope["type"] == "websocket"
        if (origin is None and needs_origin) or (origin is not None and origin != f"http://{host}"):
            return Answer(403, "Pages of other origins are refused.")
        is_page = scope["type"] == "http" and scope["path"] == "/"
        if not is_page and _header(scope, b"sec-fetch-site") not in (None, "same-origin", "none"):
            return Answer(403, "Pages of other origins are refused.")
        return None

    def _take_token(self, scope: Scope) -> Answer | None:
        """Put the token of the address into a cookie, so that it leaves the address bar and the history."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        if scope["path"] != "/" or given is None:
            return None
        if not self._is_token(given[0]):
            return Answer(403, "The token is wrong; open the address that mustlink studio printed in the terminal.")
        cookie = f"{self.cookie}={self._token.decode()}; HttpOnly; SameSite=Strict; Path=/"
        return Answer(303, "", {"location": "/", "set-cookie": cookie})

    def _is_token(self, given: str | None) -> bool:
        """Compare in constant time."""
        return given is not None and hmac.compare_digest(given.encode("utf-8", "replace"), self._token)


def allowed_host(header: str, host: str, port: int) -> bool:
    """Return whether a ``Host`` header names this server.

    A server on loopback is called by its address or ``localhost``. One on all interfaces is called by any address, or
    by the name of the machine: a page that misuses DNS comes with a name of its own.
    """
    name, given_port = _split_host(header.strip().lower())
    if given_port != port:
        return False
    if name == host.lower() or (name == "localhost" and (is_loopback(host) or _is_any(host))):
        return True
    if is_loopback(host):
        return name in ("127.0.0.1", "::1")
    return _is_any(host) and (_is_address(name) or name == socket.gethostname().lower())


def is_loopback(host: str) -> bool:
    """Return whether an address is reached from this machine alone."""
    if host.lower() == "localhost":
        return True
    return _is_address(host) and ipaddress.ip_address(host).is_loopback


def _is_any(host: str) -> bool:
    """Return whether an address stands for all interfaces."""
    return _is_address(host) and ipaddress.ip_address(host).is_unspecified


def _is_address(host: str) -> bool:
    """Return whether this is an IP address and no name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _split_host(header: str) -> tuple[str, int]:
    """Take the name and the port of a ``Host`` header apart; -1 is no port."""
    if header.startswith("["):
        name, _, port = header[1:].partition("]:")
    else:
        name, _, port = header.partition(":")
        if not port and ":" not in header:
            port = "80"
    return name, int(port) if port.isascii() and port.isdigit() and len(port) <= 5 else -1


def _header(scope: Scope, name: bytes) -> str | None:
    """Return a header; one that is given twice counts as a wrong one."""
    found = [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]
    return None if not found else found[0] if len(found) == 1 else "\0"


def _cookie(header: str | None, name: str) -> str | None:
    """Return a cookie of a ``Cookie`` header, whatever other servers of this address have put beside it."""
    pairs = (part.strip().partition("=") for part in (header or "").split(";"))
    return next((value for key, _, value in pairs if key == name), None)


def _with_headers(send: Send) -> Send:
    """Add the headers that keep a browser from trusting or keeping more than it must."""

    async def send_with_headers(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            added = [(name.encode("ascii"), value.encode("ascii")) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", ()), *added]}
        await send(message)

    return send_with_headers


async def _answer(answer: Answer, send: Send) -> None:
    """Send a short text."""
    body = answer.text.encode("utf-8")
    headers = {"content-type": "text/plain; charset=utf-8", "content-length": str(len(body)), **answer.headers}
    encoded = [(name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})
