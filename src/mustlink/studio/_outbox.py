"""Messages that wait to be sent to one client, so that a slow one holds up nobody else."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Protocol

__all__ = ["Outbox"]

# What may wait for one client: enough for the arrays of 100,000 rows and many changes after them.
MAX_WAITING_BYTES = 64 * 2**20
MAX_WAITING_MESSAGES = 5_000
# How many seconds a client may take none of them.
MAX_SECONDS = 60


class Sender(Protocol):
    """What sends, such as a WebSocket."""

    async def send_text(self, data: str) -> None:
        """Send a text."""

    async def send_bytes(self, data: bytes) -> None:
        """Send bytes."""


class Outbox:
    """A bounded queue that any thread fills and one task of the event loop empties.

    Parameters
    ----------
    loop : asyncio.AbstractEventLoop
        The loop of that task.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        # None is the end: nothing is sent after it.
        self._waiting: deque[str | bytes | None] = deque()
        self._n_bytes = 0
        self._has_more = asyncio.Event()
        # Set when the client does not keep up; it gets nothing more and is to be closed.
        self.overflowed = asyncio.Event()

    def send_json(self, message: Mapping[str, Any]) -> None:
        """Send a message as JSON, in ASCII, so that no text of a table can break it; "closed" is the last one."""
        self._put(json.dumps(message, allow_nan=False, separators=(",", ":")))
        if message["type"] == "closed":
            self._put(None)

    def send_bytes(self, data: bytes) -> None:
        """Send a binary message."""
        self._put(data)

    def _put(self, item: str | bytes | None) -> None:
        # After the loop has ended nothing can be sent.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._append, item)

    def _append(self, item: str | bytes | None) -> None:
        if self.overflowed.is_set():
            return
        self._waiting.append(item)
        self._n_bytes += len(item or "")
        self._has_more.set()
        if self._n_bytes > MAX_WAITING_BYTES or len(self._waiting) > MAX_WAITING_MESSAGES:
            self._waiting.clear()
            self.overflowed.set()

    async def send_all(self, client: Sender) -> None:
        """Send what waits and what will come, until the last message, or the client takes nothing for long."""
        while True:
            await self._has_more.wait()
            self._has_more.clear()
            while self._waiting:
                item = self._waiting.popleft()
                if item is None:
                    return
                self._n_bytes -= len(item)
                async with asyncio.timeout(MAX_SECONDS):
                    if isinstance(item, str):
                        await client.send_text(item)
                    else:
                        await client.send_bytes(item)
