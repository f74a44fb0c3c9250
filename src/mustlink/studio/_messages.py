"""What the page is told, as plain values ready for JSON."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mustlink.studio._actions import as_message
from mustlink.studio._adapter import list_methods
from mustlink.studio._panels import link_panel

if TYPE_CHECKING:
    from mustlink.studio._adapter import Fit
    from mustlink.studio._cards import RowCards
    from mustlink.studio._conflicts import ActionRefused
    from mustlink.studio._map import Map
    from mustlink.studio._panels import ColumnWeight, GroupPanel, LinkLine
    from mustlink.studio._session import Session
    from mustlink.studio._state import StudioLink

__all__ = [
    "VERSION",
    "describe_panels",
    "describe_question",
    "describe_refusal",
    "describe_session",
    "describe_state",
]

VERSION = 1
MAX_STEPS = 200
MAX_TYPICAL_CELLS = 8
STRATEGY_TITLES = {
    "minmax": "Farthest first (minmax)",
    "consolidate": "Random rows (consolidate)",
    "explore": "A row of every group (explore)",
    "npu": "Least certain (npu, slow on large tables)",
    "cobras": "Coarse to fine (cobras)",
    "random": "Random pairs (random)",
}


def describe_session(session: Session, cards: RowCards, views: Map) -> dict[str, Any]:
    """Return the first message: what does not change in a session."""
    engine = session.engine
    methods = list_methods(session.table.X)
    return {
        "type": "hello",
        "version": VERSION,
        "title": session.title,
        "n_rows": len(engine.labels),
        "n_clusters": engine.state.n_clusters,
        "columns": cards.columns(),
        "methods": [
            {"name": one.name, "title": one.title, "available": one.available, "why": one.why} for one in methods
        ],
        "strategies": [{"name": name, "title": title} for name, title in STRATEGY_TITLES.items()],
        "views": views.describe(),
        "has_edges": session.edges is not None,
        "file": None if session.path is None else str(session.path),
    }


def describe_state(
    session: Session, cards: RowCards, fit: Fit | None, titles: Mapping[str, str], notices: Sequence[str]
) -> dict[str, Any]:
    """Return all that a person has said, and which clustering is shown."""
    engine = session.engine
    state, shown, links = engine.state, engine.shown, engine.links
    lines = link_panel(links, engine.labels, None if fit is None else fit.suspects)
    return {
        "type": "state",
        "revision": engine.revision,
        "n_clusters": state.n_clusters,
        "method": state.method,
        "strategy": state.strategy,
        "eps": state.eps,
        "groups": [
            {"id": group.id, "name": group.name, "size": group.size, "locked": group.locked} for group in engine.groups
        ],
        "pins": [[row, x, y] for row, (x, y) in engine.pins.items()],
        "links": [_describe_link(line, cards) for line in lines],
        "n_links": len(links),
        "counts": _count(links, state.skipped),
        "history": [{"n": step.n, "text": step.text, "when": step.when} for step in engine.history[-MAX_STEPS:]],
        "can_undo": engine.can_undo,
        "can_redo": engine.can_redo,
        "snapshots": [{"name": one.name, "when": one.when} for one in engine.snapshots],
        "shown": {
            "method": shown.method,
            "title": titles.get(shown.method, shown.method),
            "status": shown.status,
            "n_changed": shown.n_changed,
            "text": shown.text,
        },
        "notices": list(notices),
    }


def _describe_link(line: LinkLine, cards: RowCards) -> dict[str, Any]:
    """Return a link with the names of its rows."""
    link = line.link
    return {
        "a": link.a,
        "b": link.b,
        "a_name": cards.name(link.a),
        "b_name": cards.name(link.b),
        "together": link.together,
        "source": link.source,
        "when": link.when,
        "suspicion": line.suspicion,
        "kept": line.kept,
    }


def _count(links: Iterable[StudioLink], skipped: Collection[tuple[int, int]]) -> dict[str, int]:
    """Count what the person has said: answers and drawn links, and not what follows from pins, locks and files."""
    together = [link.together for link in links if link.source in ("answer", "drawn")]
    return {"together": together.count(True), "apart": together.count(False), "skipped": len(skipped)}


def describe_refusal(refused: ActionRefused, number: int | None, session: Session, cards: RowCards) -> dict[str, Any]:
    """Return why an action is refused, and what would have to be removed for it."""
    labels = session.engine.labels
    return {
        "type": "refused",
        "id": number,
        "message": str(refused),
        # In the order of the chain, in which link_panel would not leave them.
        "chain": [_describe_link(link_panel([link], labels)[0], cards) for link in refused.chain],
        "weakest": refused.weakest,
        "then": None if refused.action is None else as_message(refused.action),
    }


def describe_question(session: Session, cards: RowCards, advice: str | None) -> dict[str, Any]:
    """Choose the next question, which may take long, and return it."""
    question = session.question
    shown = None
    if question is not None:
        state = session.engine.state
        n_answered = sum(link.source == "answer" for link in state.told.values())
        shown = {**cards.compare(question.a, question.b), "number": n_answered + len(state.skipped) + 1}
    end = session.question_end if question is None else None
    return {"type": "question", "question": shown, "end": end, "advice": advice}


def describe_panels(
    revision: int, groups: Sequence[GroupPanel], columns: Sequence[ColumnWeight], cards: RowCards
) -> dict[str, Any]:
    """Return what is in the groups, and what the columns count."""
    return {
        "type": "panels",
        "revision": revision,
        "groups": [
            {
                "id": group.id,
                "size": group.size,
                "typical": [
                    {
                        "row": row,
                        "name": cards.name(row),
                        "cells": [[cell["column"], cell["text"]] for cell in cards.row(row)[:MAX_TYPICAL_CELLS]],
                    }
                    for row in group.typical
                ],
                "traits": [str(trait) for trait in group.traits],
            }
            for group in groups
        ],
        "columns": [{"name": one.name, "weight": one.weight} for one in columns],
    }
