"""One session shared by several tabs: changes are sent to all of them, and slow work is done on other threads."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock, RLock, Thread
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mustlink._types import Array
from mustlink.constraints import Constraints
from mustlink.errors import MustlinkError, OptionError
from mustlink.studio import _messages as messages
from mustlink.studio._actions import Action, Answer, Link, Move, Replace
from mustlink.studio._adapter import list_methods
from mustlink.studio._background import Background
from mustlink.studio._buffers import pack_confidence, pack_edges, pack_labels, pack_positions
from mustlink.studio._cards import RowCards
from mustlink.studio._conflicts import ActionRefused
from mustlink.studio._engine import Engine
from mustlink.studio._export import plan_export
from mustlink.studio._fits import PackedFit
from mustlink.studio._map import Map
from mustlink.studio._panels import column_panel, group_panels
from mustlink.studio._slow_work import SlowWork
from mustlink.workflow import RowComparison

if TYPE_CHECKING:
    from mustlink.studio._adapter import Fit
    from mustlink.studio._session import Session

__all__ = ["Listener", "Room"]

# So many rows are clustered to have everything compiled.
N_TINY_ROWS = 5
# So many results of the background are kept with what they say of links and columns, for steps back to their groups.
MAX_FITS = 30


class Listener(Protocol):
    """A client, such as a tab, to which changes are sent."""

    view: str

    def send_json(self, message: Mapping[str, Any], /) -> None:
        """Send a message; must not wait for the one who gets it."""

    def send_bytes(self, data: bytes, /) -> None:
        """Send an array, likewise."""


class Room:
    """A session, its listeners, and the work in the background.

    Every method may be called from any thread. Whatever changes the session holds the lock, so that all listeners get
    the same changes in the same order. Fits are done in another process; questions, panels, and what one listener asks
    for, such as a view or an export, each on a thread, none of which holds the lock while it computes.
    :meth:`leave` and :meth:`say_closed` never wait for a step.

    Parameters
    ----------
    session : Session
        The session; it is closed with the room.
    frame : pandas or polars DataFrame, default=None
        The table of a session on a data frame, of which columns that are left out of the distances are shown.
    """

    def __init__(self, session: Session, frame: Any = None) -> None:
        self._session = session
        self._lock = RLock()
        # Replaced as a whole under a lock of its own, so that one can leave while a step is being done.
        self._listeners: tuple[Listener, ...] = ()
        self._membership = Lock()
        self._farewell: str | None = None
        self._is_closed = False
        self._cards = RowCards(_all_columns(session, frame), session.folder)
        self._map = Map(session)
        self._titles = {method.name: method.title for method in list_methods()}
        # What was sent last, so that arrays that have not changed are not sent again.
        self._sent: dict[str, Array] = {}
        # The links and options that are being fitted, until there is a result; and the last results.
        self._fitted: tuple[Constraints, int | None, str] | None = None
        self._fit_revision = -1
        self._fits: list[tuple[PackedFit, Fit]] = []
        # The pair that is asked about, how many steps there were, and what was said last of questions and groups.
        self._asked: frozenset[int] | None = None
        self._n_steps = 0
        self._question: Mapping[str, Any] | None = None
        self._panels: Mapping[str, Any] | None = None
        self._notices = list(session.notices)
        self._failure: str | None = None
        # A slow one of these must not hold up the next question.
        self._asking, self._describing, self._serving = SlowWork(), SlowWork(), SlowWork()
        self._background = Background(session.table.X, self._take_fit, row_names=session.table.row_names)
        # On a thread of its own: with many rows it takes longer than the first question.
        Thread(target=self._prepare, name="mustlink-studio-prepare", daemon=True).start()
        # The fit of a session that is continued: its labels are in the file, what it says of links and columns is not.
        self._known_revision = -1
        self._request_fit()
        self._repeat_fit()
        self._schedule()

    @property
    def first_view(self) -> str:
        """The view that is shown first."""
        return self._map.first

    @property
    def n_listeners(self) -> int:
        """The number of listeners."""
        return len(self._listeners)

    # ---- listeners ---------------------------------------------------------------------------------------------------

    def join(self, listener: Listener) -> None:
        """Send all that there is to show, and from now on what changes."""
        session, engine = self._session, self._session.engine
        if self._is_closed:
            listener.send_json({"type": "closed", "message": _farewell(session)})
            return
        positions = self._map.positions(listener.view)
        with self._lock:
            listener.send_json(messages.describe_session(session, self._cards, self._map))
            self._send_view(listener, listener.view, positions)
            listener.send_bytes(pack_labels(engine.labels, engine.revision))
            listener.send_bytes(pack_confidence(engine.confidence, engine.revision))
            if session.edges is not None:
                listener.send_bytes(pack_edges(session.edges, engine.revision))
            listener.send_json(self._state())
            for known in (self._question, self._panels):
                if known is not None:
                    listener.send_json(known)
            with self._membership:
                if self._farewell is None:
                    self._listeners = (*self._listeners, listener)
                else:
                    listener.send_json({"type": "closed", "message": self._farewell})

    def leave(self, listener: Listener) -> None:
        """Send a listener nothing more."""
        with self._membership:
            self._listeners = tuple(one for one in self._listeners if one is not listener)

    def say_closed(self) -> None:
        """Tell everybody that the session is over, and how it is continued."""
        with self._membership:
            self._farewell = _farewell(self._session)
            self._tell({"type": "closed", "message": self._farewell})

    def close(self) -> None:
        """End the work behind the session, and close it."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
        with self._membership:
            self._listeners = ()
            self._farewell = _farewell(self._session)
        # Not under the lock, which a result that is being delivered waits for.
        self._background.close()
        for work in self._works:
            work.close()
        with self._lock:
            self._session.close()

    def wait(self, seconds: float) -> bool:
        """Wait until the slow work is done; return whether that came about."""
        deadline = time.monotonic() + seconds
        return all(work.wait(max(0.0, deadline - time.monotonic())) for work in self._works)

    @property
    def _works(self) -> tuple[SlowWork, ...]:
        return self._asking, self._describing, self._serving

    # ---- what changes it ---------------------------------------------------------------------------------------------

    def apply(self, action: Action, listener: Listener, number: int) -> None:
        """Do what a person asks for, acknowledge it, and tell everybody what has changed."""
        started = time.perf_counter()
        with self._lock:
            if isinstance(action, Answer):
                self._check_open(action)
            change = self._session.apply(action)
            self._n_steps += 1
            if isinstance(action, Answer) or (isinstance(action, Replace) and isinstance(action.then, Answer)):
                self._settle_question(listener)
            self._notices = list(change.notices)
            ms = round(1000 * (time.perf_counter() - started), 1)
            listener.send_json({"type": "done", "id": number, "revision": change.revision, "ms": ms})
            if change.links_changed:
                self._failure = None
            self._tell_change()
            self._request_fit()
            self._schedule()

    def _check_open(self, answer: Answer) -> None:
        """Refuse the answer to a question that an answer, also in another tab, or another action has settled."""
        if frozenset((answer.a, answer.b)) != self._asked:
            raise OptionError(
                "This question is no longer open: it is answered, or something else that was done has changed what to "
                "ask. Nothing has changed; the next question follows."
            )

    def _settle_question(self, answering: Listener) -> None:
        """Note that the question is answered, and tell the other tabs; the next one comes later."""
        advice = None if self._question is None else self._question["advice"]
        self._asked, self._question = None, None
        for listener in self._listeners:
            # The one who answers knows, and keeps the buttons that have the focus.
            if listener is not answering:
                listener.send_json({"type": "question", "question": None, "end": None, "advice": advice})

    def _request_fit(self) -> None:
        """Have the background fit the links, if another result than the one shown is expected."""
        engine = self._session.engine
        if not engine.expects_fit:
            self._fitted = None
            return
        wanted = (engine.constraints, engine.state.n_clusters, engine.state.method)
        if wanted == self._fitted:
            return
        self._fitted, self._fit_revision = wanted, engine.revision
        self._background.submit(engine.revision, *wanted, seed=self._session.random_state)

    def _repeat_fit(self) -> None:
        """Have the result that is shown computed again, for what it says of links and columns."""
        engine = self._session.engine
        if self._fitted is None and engine.state.fit is not None and engine.shown.status == "final":
            self._known_revision = engine.revision
            state, seed = engine.state, self._session.random_state
            self._background.submit(engine.revision, engine.constraints, state.n_clusters, state.method, seed=seed)

    def _take_known_fit(self, fit: Fit) -> None:
        """Take what a repeated fit says of links and columns, if its groups are those of the file."""
        packed = self._session.engine.state.fit
        if fit.labels is None or packed is None:
            return
        if PackedFit.pack(fit.method, fit.labels, None).packed_labels != packed.packed_labels:
            return
        self._show_fit(packed, fit)

    def _take_fit(self, fit: Fit) -> None:
        """Show the result of the background, unless links or options have changed since."""
        with self._lock:
            if self._is_closed:
                return
            if fit.revision == self._known_revision:
                self._take_known_fit(fit)
                return
            is_newest = fit.revision == self._fit_revision
            if is_newest:
                # Whatever comes of it: the same links, wanted again after an undo, are fitted again.
                self._fitted = None
            if fit.labels is None:
                if is_newest:
                    self._failure = fit.error
                    self._tell_change()
                return
            change = self._session.offer(fit.labels, fit.revision, method=fit.method, confidence=fit.confidence)
            # A result that does not settle what is wanted now, such as one for earlier links, is followed by another.
            self._request_fit()
            if change is None:
                return
            self._failure = None
            self._notices += change.notices
            packed = self._session.engine.state.fit
            assert packed is not None
            self._show_fit(packed, fit)

    def _show_fit(self, packed: PackedFit, fit: Fit) -> None:
        """Keep a result beside the labels of the state, and show all that it says."""
        self._fits = [*self._fits[1 - MAX_FITS :], (packed, fit)]
        self._tell_change()
        if fit.learned_positions is not None:
            self._map.set_learned(fit.learned_positions)
            self._send_learned(fit.learned_positions)
        self._describing.submit("panels", self._describe_panels)

    @property
    def _shown_fit(self) -> Fit | None:
        """The result of the background that the groups shown are from; None if it is from before the room was made."""
        packed = self._session.engine.state.fit
        return next((fit for kept, fit in reversed(self._fits) if kept is packed), None)

    def _tell(self, message: Mapping[str, Any]) -> None:
        for listener in self._listeners:
            listener.send_json(message)

    def _tell_bytes(self, data: bytes) -> None:
        for listener in self._listeners:
            listener.send_bytes(data)

    def _is_new(self, name: str, values: Array) -> bool:
        """Return whether an array is another than the one that was sent last under this name."""
        before = self._sent.get(name)
        self._sent[name] = values
        return before is None or not np.array_equal(before, values)

    def _tell_change(self) -> None:
        """Send the labels and confidences that have changed, and then the state."""
        engine = self._session.engine
        if self._is_new("labels", engine.labels):
            self._tell_bytes(pack_labels(engine.labels, engine.revision))
        if self._is_new("confidence", engine.confidence):
            self._tell_bytes(pack_confidence(engine.confidence, engine.revision))
        self._tell(self._state())

    def _state(self) -> dict[str, Any]:
        notices = [*self._notices, *([self._failure] if self._failure else [])]
        state = messages.describe_state(self._session, self._cards, self._shown_fit, self._titles, notices)
        if self._failure and state["shown"]["status"] == "working":
            # Nothing is being computed, until the next step.
            state["shown"]["status"] = "failed"
        return state

    # ---- what takes longer -------------------------------------------------------------------------------------------

    def _schedule(self) -> None:
        """Choose the next question and describe the groups, aside."""
        self._asking.submit("question", self._choose_question)
        self._describing.submit("panels", self._describe_panels)
        if any(listener.view == "learned" for listener in self._listeners) and not self._map.has("learned"):
            self._describing.submit("learned", self._learn_view)

    def _prepare(self) -> None:
        """Compute and compile what the first step needs, so that it is answered as fast as the others."""
        engine = self._session.engine
        tiny = Engine(self._session.table.X[: min(len(engine.labels), N_TINY_ROWS)], n_clusters=2)
        with suppress(ActionRefused):
            tiny.apply(Link(0, 1, together=False))
            tiny.offer(np.zeros(len(tiny.labels)), tiny.revision, method="boost")
            tiny.apply(Move((1,), 0.5, 0.5))
        # Not under the lock, since it takes up to a minute.
        engine.prepare()
        with self._lock:
            if self._is_closed:
                return
            try:
                change = self._session.prepare()
            except ActionRefused as refused:
                self._failure = str(refused)
                self._tell_change()
                return
            if change is not None:
                self._tell_change()
                self._describing.submit("panels", self._describe_panels)

    def _choose_question(self) -> None:
        """Choose the next question without the lock, and ask it; then see whether it is worth asking."""
        n_steps = self._n_steps
        advice = None if self._question is None else self._question["advice"]
        self._ask(messages.describe_question(self._session, self._cards, advice), n_steps)
        new_advice = self._session.advice
        if new_advice != advice and self._question is not None:
            self._ask({**self._question, "advice": new_advice}, n_steps)

    def _ask(self, message: Mapping[str, Any], n_steps: int) -> None:
        """Ask a question, unless a step was made meanwhile, which has a question of its own coming."""
        with self._lock:
            if self._is_closed or self._n_steps != n_steps:
                return
            shown = message["question"]
            self._asked = None if shown is None else frozenset((shown["a"], shown["b"]))
            self._question = message
            self._tell(message)

    def _describe_panels(self) -> None:
        """Describe the groups that are shown, and tell it."""
        table, engine, fit = self._session.table, self._session.engine, self._shown_fit
        revision = engine.revision
        groups = group_panels(table.X, engine.labels, table.features)
        columns = column_panel(None if fit is None else fit.column_weights, table.features)
        message = messages.describe_panels(revision, groups, columns, self._cards)
        with self._lock:
            if self._is_closed:
                return
            self._panels = message
            self._tell(message)

    def _learn_view(self) -> None:
        """Show the learned view of the groups that are shown now."""
        positions = self._map.positions("learned")
        with self._lock:
            self._send_learned(positions)

    def _send_learned(self, positions: Array) -> None:
        for listener in self._listeners:
            if listener.view == "learned":
                self._send_view(listener, "learned", positions)

    def _aside(self, job: Callable[[], None], listener: Listener, number: int) -> None:
        """Do a job for one listener on the thread for slow work, and tell if it fails."""

        def run() -> None:
            try:
                job()
            except Exception as error:
                text = str(error) if isinstance(error, MustlinkError) else f"This failed: {error}"
                listener.send_json({"type": "error", "id": number, "message": text})
                if not isinstance(error, MustlinkError):
                    raise

        self._serving.submit((id(listener), number), run)

    # ---- requests, which change nothing ------------------------------------------------------------------------------

    def show_view(self, name: str, listener: Listener, number: int) -> None:
        """Send where the rows are in a view, and again whenever that changes."""
        self._map.check(name)
        started = time.perf_counter()

        def show() -> None:
            positions = self._map.positions(name)
            with self._lock:
                listener.view = name
                self._send_view(listener, name, positions)
                ms = round(1000 * (time.perf_counter() - started), 1)
                revision = self._session.engine.revision
                listener.send_json({"type": "done", "id": number, "revision": revision, "ms": ms})

        if self._map.has(name):
            show()
        else:
            self._aside(show, listener, number)

    def _send_view(self, listener: Listener, name: str, positions: Array) -> None:
        revision = self._session.engine.revision
        listener.send_bytes(pack_positions(positions, revision, self._map.number(name)))

    def export(self, what: str, listener: Listener, number: int) -> None:
        """Send a file to save."""

        def send() -> None:
            with self._lock:
                write = plan_export(self._session, what, self._shown_fit)
            file = write()
            listener.send_json(
                {"type": "file", "id": number, "name": file.name, "media": file.media, "text": file.text}
            )

        self._aside(send, listener, number)

    def describe_row(self, row: int) -> dict[str, Any]:
        """Return the cells of a row, its group, and whether it is pinned."""
        self._check_row(row)
        engine = self._session.engine
        group = int(engine.labels[row])
        return {
            "row": row,
            "name": self._cards.name(row),
            "group": None if group < 0 else group,
            "cells": self._cards.row(row),
            "pinned": row in engine.pins,
        }

    def compare(self, a: int, b: int) -> dict[str, Any]:
        """Return two rows side by side."""
        self._check_row(a)
        self._check_row(b)
        return self._cards.compare(a, b)

    def read_image(self, row: int, column: str) -> str:
        """Return the image of a cell, as a ``data:`` URL."""
        self._check_row(row)
        return self._cards.image(row, column)

    def describe_refusal(self, refused: ActionRefused, number: int | None) -> dict[str, Any]:
        """Return why an action is refused, and what would have to be removed for it."""
        return messages.describe_refusal(refused, number, self._session, self._cards)

    def _check_row(self, row: int) -> None:
        n_rows = len(self._session.engine.labels)
        if row >= n_rows:
            raise OptionError(f"There is no row {row}; the table has the rows 0 to {n_rows - 1}.")


def _all_columns(session: Session, frame: Any) -> RowComparison:
    """Return the rows with the columns that are left out of the distances, too: texts and images are mostly such."""
    ignored = session.options.ignore
    if not ignored or (session.folder is None and frame is None):
        return session.comparison
    return RowComparison(session.options, session.table, [*session.comparison.column_names, *ignored], frame)


def _farewell(session: Session) -> str:
    """Return the last message to the tabs: how the session is continued."""
    if session.path is None:
        return "The studio was closed."
    here, path = Path.cwd(), session.path
    name = str(path.relative_to(here) if path.is_relative_to(here) else path)
    command = shlex.join(["mustlink", "studio", name])
    return f"The studio was closed; everything is saved. To continue, run: {command}"
