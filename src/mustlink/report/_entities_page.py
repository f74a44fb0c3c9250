"""The report of entities: the decisions that were least sure first, then the entities and their sizes."""

from __future__ import annotations

from collections.abc import Mapping

from mustlink._version import __version__
from mustlink.report._entities import EntitySummary
from mustlink.report._page import load_template

__all__ = ["render_entities"]


def render_entities(
    summary: EntitySummary, *, title: str = "Entities", run: Mapping[str, str] | None = None, questions: str = ""
) -> str:
    """Lay out the report of entities as HTML.

    Parameters
    ----------
    summary : EntitySummary
        The result of :func:`summarize_entities`.
    title : str, default='Entities'
        The heading.
    run : mapping of str to str, default=None
        How it was made, shown at the end in this order; the version is added.
    questions : str, default=''
        The command that asks about the decisions, shown with them.

    Returns
    -------
    str
        A complete HTML document that needs nothing from outside and runs no script. All text is escaped.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink.report import render_entities, summarize_entities
    >>> summary = summarize_entities(np.array([0, 0, 1]), ["A. Smith", "Ann Smith", "Bo Li"], threshold=0.7)
    >>> page = render_entities(summary, title="A & B")
    >>> "<h1>A &amp; B</h1>" in page, "Ann Smith" in page
    (True, True)
    """
    return load_template("entities.html").render(
        summary=summary, title=title, questions=questions, run={**(run or {}), "mustlink": __version__}
    )
