"""The messages of one tab or one notebook cell, whatever carries them."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from mustlink.errors import MustlinkError, OptionError
from mustlink.studio._actions import as_action
from mustlink.studio._conflicts import ActionRefused
from mustlink.studio._room import Room

__all__ = ["MAX_MESSAGE_BYTES", "Conversation"]

logger = logging.getLogger("mustlink.studio")

MAX_MESSAGE_BYTES = 4 * 2**20
MAX_ID = 2**53
# The fields of each request that is no action.
REQUESTS: Mapping[str, Mapping[str, type]] = {
    "row": {"row": int},
    "compare": {"a": int, "b": int},
    "view": {"name": str},
    "image": {"row": int, "column": str},
    "export": {"what": str},
    "ping": {},
}


class Conversation:
    """Messages of one client about the session of a room.

    Parameters
    ----------
    room : Room
        The session, and who else looks at it.
    send_json : callable
        Called with each message to the client, from any thread; it must not wait for the client.
    send_bytes : callable
        Called with each array, likewise.
    """

    def __init__(
        self, room: Room, send_json: Callable[[Mapping[str, Any]], None], send_bytes: Callable[[bytes], None]
    ) -> None:
        self._room = room
        self.send_json = send_json
        self.send_bytes = send_bytes
        # The view that the client looks at: its positions are sent again when they change.
        self.view = room.first_view
        self._has_left = False

    def open(self) -> None:
        """Send what there is to show, and then all that changes."""
        self._room.join(self)
        if self._has_left:
            # It left while it was being told.
            self._room.leave(self)

    def close(self) -> None:
        """Send nothing more."""
        self._has_left = True
        self._room.leave(self)

    def receive_text(self, text: str | bytes) -> None:
        """Answer a message that is still a text; one that is no JSON is answered with an error."""
        try:
            message = _parse(text)
        except OptionError as error:
            self.send_json({"type": "error", "id": None, "message": str(error)})
            return
        self.receive(message)

    def receive(self, message: Any) -> None:
        """Answer a message; whatever it is, the session is not harmed."""
        number = message.get("id") if isinstance(message, dict) else None
        if not _is_whole(number):
            number = None
        try:
            self._answer(number, message)
        except ActionRefused as refused:
            self.send_json(self._room.describe_refusal(refused, number))
        except (MustlinkError, OSError) as error:
            self.send_json({"type": "error", "id": number, "message": str(error)})
        except RecursionError:
            self.send_json({"type": "error", "id": number, "message": "The message is nested too deeply."})
        except Exception as error:
            logger.exception("A message to the studio failed.")
            text = f"The studio failed at this ({type(error).__name__}: {error}). Reload the page to see what is saved."
            self.send_json({"type": "error", "id": number, "message": text})

    def _answer(self, number: int | None, message: Any) -> None:
        """Do what a message asks for."""
        if not isinstance(message, dict):
            raise OptionError('A message is an object such as {"id": 1, "do": "ping"}.')
        if number is None:
            raise OptionError(f"The id of a message is a whole number from 0; got {message.get('id')!r:.60}.")
        content = {key: value for key, value in message.items() if key != "id"}
        kind = content.get("do")
        if isinstance(kind, str) and kind in REQUESTS:
            self._answer_request(number, kind, _fields(kind, content))
        else:
            self._room.apply(as_action(content), self, number)

    def _answer_request(self, number: int, kind: str, given: Mapping[str, Any]) -> None:
        """Answer a request, which changes nothing."""
        room = self._room
        if kind == "ping":
            self.send_json({"type": "pong", "id": number})
        elif kind == "row":
            self.send_json({"type": "row", "id": number, **room.describe_row(given["row"])})
        elif kind == "compare":
            self.send_json({"type": "compared", "id": number, "question": room.compare(given["a"], given["b"])})
        elif kind == "image":
            url = room.read_image(given["row"], given["column"])
            self.send_json({"type": "image", "id": number, "row": given["row"], "column": given["column"], "url": url})
        elif kind == "view":
            room.show_view(given["name"], self, number)
        else:
            room.export(given["what"], self, number)


def _parse(text: str | bytes) -> Any:
    """Read JSON as JavaScript writes it: without NaN and infinite numbers."""
    if isinstance(text, bytes):
        raise OptionError("A message is a text with JSON; got bytes.")
    if len(text) > MAX_MESSAGE_BYTES:
        raise OptionError(f"A message has at most {MAX_MESSAGE_BYTES:,} characters; got {len(text):,}.")
    try:
        return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except RecursionError:
        raise OptionError("The message is nested too deeply.") from None
    except ValueError as error:
        raise OptionError(f"The message is not JSON: {error!s:.200}.") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text:.30} is too large")
    return number


def _is_whole(value: Any) -> bool:
    """Return whether this is a whole number that JavaScript has exactly, from 0."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MAX_ID


def _fields(kind: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a request, and refuse those that are missing, unknown or of another type."""
    expected = REQUESTS[kind]
    given = {key: value for key, value in content.items() if key != "do"}
    for name in given:
        if name not in expected:
            raise OptionError(f"The request {kind!r} has no field {str(name)!r:.60}.")
    for name, type_ in expected.items():
        if name not in given:
            raise OptionError(f"The request {kind!r} needs the field {name!r}.")
        is_right = _is_whole(given[name]) if type_ is int else isinstance(given[name], type_)
        if not is_right:
            what = "a whole number from 0" if type_ is int else "a text"
            raise OptionError(f"The field {name!r} of {kind!r} must be {what}; got {given[name]!r:.60}.")
    return given
