"""One session that several tabs look at: what changes is told to all of them, and slow work is done aside."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mustlink._types import Array
from mustlink.errors import OptionError
from mustlink.studio import _messages as messages
from mustlink.studio._actions import Action, Answer
from mustlink.studio._background import Background
from mustlink.studio._buffers import pack_confidence, pack_edges, pack_labels, pack_positions
from mustlink.studio._slow_work import SlowWork

if TYPE_CHECKING:
    from mustlink.studio._adapter import Fit
    from mustlink.studio._session import Session

__all__ = ["Listener", "Room"]

logger = logging.getLogger("mustlink.studio")


class Listener(Protocol):
    """One who is told what changes, such as a tab."""

    view: str

    def send_json(self, message: Mapping[str, Any]) -> None:
        """Send a message."""

    def send_bytes(self, data: bytes) -> None:
        """Send an array."""


class Room:
    """A session, those who look at it, and the work that goes on behind it.

    Every method may be called from any thread. Whatever changes the session holds the lock, so that all listeners get
    the same changes in the same order.

    Parameters
    ----------
    session : Session
        The session; it is closed with the room.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock = RLock()
        self._listeners: list[Listener] = []
        self._is_closed = False
        self._fit: Fit | None = None
        self._sent: dict[str, Array] = {}
        # The pair that is asked about, and what was said last of questions and groups.
        self._asked: frozenset[int] | None = None
        self._question: Mapping[str, Any] | None = None
        self._panels: Mapping[str, Any] | None = None
        self._notices: list[str] = []
        self._cards = RowCards(session.comparison, session.folder)
        self._map = Views(session)
        self.first_view = self._map.first
        self._slow = SlowWork()
        self._background = Background(session.table.X, self._take_fit)
        self._request_fit()
        self._schedule()

    @property
    def n_conversations(self) -> int:
        """How many look at the session."""
        return len(self._listeners)

    def join(self, listener: Listener) -> None:
        """Send all that there is to show, and from now on what changes."""
        session, engine = self._session, self._session.engine
        with self._lock:
            if self._is_closed:
                listener.send_json({"type": "closed", "message": "The studio was closed; everything is saved."})
                return
            listener.send_json(messages.describe_session(session, self._cards, self._map))
            revision = engine.revision
            self._send_view(listener, self.first_view)
            listener.send_bytes(pack_labels(engine.labels, revision))
            listener.send_bytes(pack_confidence(engine.confidence, revision))
            if session.edges is not None:
                listener.send_bytes(pack_edges(session.edges, revision))
            listener.send_json(self._state())
            for known in (self._question, self._panels):
                if known is not None:
                    listener.send_json(known)
            self._listeners.append(listener)

    def leave(self, listener: Listener) -> None:
        """Send a listener nothing more."""
        with self._lock:
            if listener in self._listeners:
                self._listeners.remove(listener)

    def say_closed(self, text: str) -> None:
        """Tell everybody that the session is over."""
        with self._lock:
            self._tell({"type": "closed", "message": text})

    def close(self) -> None:
        """End the work behind the session, and close it."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            self._listeners.clear()
        self._background.close()
        self._slow.close()
        with self._lock:
            self._session.close()

    def apply(self, action: Action, listener: Listener, number: int) -> None:
        """Do what a person asks for, acknowledge it, and tell everybody what has changed."""
        started = time.perf_counter()
        with self._lock:
            if isinstance(action, Answer):
                self._check_open(action)
            self._session.apply(action)
            if isinstance(action, Answer):
                # The next question comes later; until then, this one is not answered twice.
                self._asked = None
            ms = round(1000 * (time.perf_counter() - started), 1)
            listener.send_json({"type": "done", "id": number, "revision": self._session.engine.revision, "ms": ms})
            self._tell_change()
            self._request_fit()
            self._schedule()

    def _check_open(self, answer: Answer) -> None:
        """Refuse the answer to a question that another tab, or another action, has settled."""
        if frozenset((answer.a, answer.b)) != self._asked:
            raise OptionError(
                "This question is no longer open: it was answered in another tab, or what you did since has changed what "
                "to ask. Nothing has changed; the next question follows."
            )

    def _tell(self, message: Mapping[str, Any]) -> None:
        for listener in self._listeners:
            listener.send_json(message)

    def _tell_change(self) -> None:
        """Send the labels and confidences that have changed, and the state."""
        engine = self._session.engine
        for name, values, pack in (
            ("labels", engine.labels, pack_labels),
            ("confidence", engine.confidence, pack_confidence),
        ):
            before = self._sent.get(name)
            if before is values or (before is not None and np.array_equal(before, values)):
                continue
            self._sent[name] = values
            data = pack(values, engine.revision)
            for listener in self._listeners:
                listener.send_bytes(data)
        self._tell(self._state())

    def _state(self) -> dict[str, Any]:
        return messages.describe_state(self._session, self._cards, self._fit, self._notices)
