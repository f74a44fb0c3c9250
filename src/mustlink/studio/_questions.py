"""Questions of a session, chosen by a sitting that follows the links in force."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from mustlink.active import Question
from mustlink.constraints import Constraints
from mustlink.errors import MustlinkError
from mustlink.studio._actions import Action, Answer, Choose, Link, Redo, Replace, Restore, Undo
from mustlink.studio._changes import Change
from mustlink.studio._engine import Engine
from mustlink.studio._state import Pair
from mustlink.workflow import LoadedTable, Sitting

__all__ = ["Questions"]

# The strategy that needs no number of groups.
WITHOUT_NUMBER = "cobras"


@dataclass(frozen=True)
class _Request:
    """What a new sitting begins with."""

    links: Constraints
    skipped: frozenset[Pair]
    n_clusters: int | None
    n_groups: int
    strategy: str


class Questions:
    """Questions about pairs of rows.

    Answers and drawn links are told to the sitting; after anything else that changes links a new one begins. Both
    happen when the next question is asked for, so that :meth:`note` is quick, and may be called while another thread
    waits for a question.
    """

    def __init__(self, table: LoadedTable, random_state: int) -> None:
        self._table = table
        self._random_state = random_state
        # Held while a question is chosen, and never by note.
        self._choosing = threading.Lock()
        self._noting = threading.Lock()
        self._request: _Request | None = None
        self._told: list[tuple[int, int, bool | None]] = []
        self._sitting: Sitting | None = None
        self._end: str | None = None
        self._advice: str | None = None

    def begin(self, engine: Engine) -> None:
        """Let the next question follow from the links in force alone."""
        state = engine.state
        with self._noting:
            self._request = _Request(
                engine.constraints, state.skipped, state.n_clusters, len(engine.groups), state.strategy
            )
            self._told.clear()

    def note(self, action: Action, change: Change, engine: Engine) -> None:
        """Take an action into account."""
        if isinstance(action, Answer | Link):
            with self._noting:
                self._told.append((action.a, action.b, action.together))
        elif change.links_changed or isinstance(action, Undo | Redo | Restore | Replace | Choose):
            self.begin(engine)

    @property
    def question(self) -> Question | None:
        """The next question; None if there is none."""
        with self._choosing:
            self._catch_up()
            return None if self._sitting is None else self._sitting.question

    @property
    def end(self) -> str | None:
        """Why there is no question, as a sentence."""
        with self._choosing:
            self._catch_up()
            return self._end if self._sitting is None else self._sitting.end

    @property
    def advice(self) -> str | None:
        """Whether further questions are worth asking, as a sentence; None if they are."""
        with self._choosing:
            self._catch_up()
            if self._sitting is not None:
                advice = self._sitting.advise()
                if advice is not None:
                    self._advice = str(advice) if advice.is_settled else None
            return self._advice

    def _catch_up(self) -> None:
        """Begin a new sitting if one is needed, and tell it what was said since."""
        with self._noting:
            request, self._request = self._request, None
            told, self._told = self._told, []
        if request is not None:
            self._advice = None
            self._sitting = self._start(request)
        if self._sitting is not None:
            for answer in told:
                self._sitting.tell(*answer)

    def _start(self, request: _Request) -> Sitting | None:
        """Begin a sitting; none if no clustering can keep the links."""
        is_numbered = request.n_clusters is not None
        try:
            sitting = Sitting(
                self._table,
                known=request.links,
                n_clusters=request.n_clusters or min(max(2, request.n_groups), len(self._table.X)),
                strategy=request.strategy if is_numbered else WITHOUT_NUMBER,
                contradictions="keep",
                random_state=self._random_state,
            )
        except MustlinkError as error:
            self._end = f"No questions are asked now: {error}"
            return None
        for a, b in sorted(request.skipped):
            sitting.tell(a, b, None)
        return sitting
