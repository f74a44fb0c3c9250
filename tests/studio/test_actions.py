"""Actions and the messages that carry them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mustlink.errors import OptionError
from mustlink.studio import (
    Answer,
    Choose,
    Link,
    Lock,
    Move,
    Redo,
    Rename,
    Replace,
    Restore,
    Snapshot,
    Undo,
    Unlink,
    Unpin,
    as_action,
    as_message,
)

ACTIONS = [
    Link(1, 2, together=True),
    Unlink(1, 2),
    Answer(1, 2, None),
    Answer(1, 2, together=False),
    Move((1, 2), 0.5, -0.25),
    Move((1,), 0.5, -0.25, onto=(3, 0.5, -0.2)),
    Unpin((1, 2)),
    Rename(0, "regulars"),
    Lock(1, locked=False),
    Choose(n_clusters=None),
    Choose(n_clusters=3, method="boost", strategy="npu", eps=0.1),
    Undo(),
    Redo(),
    Snapshot("one"),
    Restore("one"),
    Replace((1, 2), Move((1,), 0.0, 0.0)),
]


@pytest.mark.parametrize("action", ACTIONS, ids=repr)
def test_a_message_gives_back_its_action(action):
    assert as_action(json.loads(json.dumps(as_message(action)))) == action


def test_numbers_of_numpy_become_plain():
    message = as_message(Move((np.int64(3),), np.float64(0.5), np.float32(0.25)))
    assert json.loads(json.dumps(message)) == {"do": "move", "rows": [3], "x": 0.5, "y": 0.25, "onto": None}


MALFORMED = [
    ("link", "must be an object"),
    ([], "must be an object"),
    ({}, "There is no action None"),
    ({"do": "dance"}, "There is no action 'dance'"),
    ({"do": ["link"]}, "There is no action"),
    ({"do": "link", "a": 1, "b": 2}, "needs the field 'together'"),
    ({"do": "link", "a": 1, "b": 2, "together": None}, "must be true or false"),
    ({"do": "link", "a": 1, "b": 2, "together": 1}, "must be true or false"),
    ({"do": "link", "a": 1.0, "b": 2, "together": True}, "must be a row number"),
    ({"do": "link", "a": True, "b": 2, "together": True}, "must be a row number"),
    ({"do": "link", "a": -1, "b": 2, "together": True}, "must be a row number"),
    ({"do": "link", "a": 10**400, "b": 2, "together": True}, "must be a row number"),
    ({"do": "link", "a": 1, "b": 2, "together": True, "id": 4}, "no field 'id'"),
    ({"do": "answer", "a": 1, "b": 2, "together": "yes"}, "true, false or null"),
    ({"do": "move", "rows": [], "x": 0, "y": 0}, "a list of row numbers"),
    ({"do": "move", "rows": 3, "x": 0, "y": 0}, "a list of row numbers"),
    ({"do": "move", "rows": [1], "x": float("nan"), "y": 0}, "a finite number"),
    ({"do": "move", "rows": [1], "x": "0", "y": 0}, "a finite number"),
    ({"do": "move", "rows": [1], "x": 10**400, "y": 0}, "a finite number"),
    ({"do": "move", "rows": [1], "x": 0, "y": 0, "onto": [1, 2]}, "a row number and two finite numbers"),
    ({"do": "rename", "group": 0, "name": "  "}, "a text of 1 to 200 characters"),
    ({"do": "rename", "group": 0, "name": "x" * 201}, "a text of 1 to 200 characters"),
    ({"do": "choose"}, "needs an option"),
    ({"do": "choose", "n_clusters": 2.5}, "a whole number, or null"),
    ({"do": "replace", "remove": [1], "then": {"do": "undo"}}, "two row numbers"),
    ({"do": "replace", "remove": [1, 2], "then": {"do": "undo"}}, "cannot follow"),
    ({"do": "replace", "remove": [1, 2], "then": "undo"}, "must be an object"),
]


@pytest.mark.parametrize(("message", "words"), MALFORMED, ids=repr)
def test_a_malformed_message_is_refused(message, words):
    with pytest.raises(OptionError, match=words) as caught:
        as_action(message)
    assert len(str(caught.value)) < 400


def test_nested_replacements_are_refused_without_deep_recursion():
    message = {"do": "undo"}
    for _ in range(5000):
        message = {"do": "replace", "remove": [1, 2], "then": message}
    with pytest.raises(OptionError):
        as_action(message)
