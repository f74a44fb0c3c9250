"""Teach a clustering by hand, in a browser or a notebook."""

from __future__ import annotations

from mustlink.studio._actions import (
    KEEP,
    Action,
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
from mustlink.studio._changes import Change, Group, Shown
from mustlink.studio._conflicts import ActionRefused
from mustlink.studio._engine import Engine
from mustlink.studio._history import Step
from mustlink.studio._server import serve
from mustlink.studio._session import Session
from mustlink.studio._state import StudioLink
from mustlink.studio._widget import Studio

__all__ = [
    "KEEP",
    "Action",
    "ActionRefused",
    "Answer",
    "Change",
    "Choose",
    "Engine",
    "Group",
    "Link",
    "Lock",
    "Move",
    "Redo",
    "Rename",
    "Replace",
    "Restore",
    "Session",
    "Shown",
    "Snapshot",
    "Step",
    "Studio",
    "StudioLink",
    "Undo",
    "Unlink",
    "Unpin",
    "as_action",
    "as_message",
    "serve",
]
