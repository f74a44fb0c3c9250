"""The report of alternative clusterings: what each tells of the known splits, and what sets its clusters apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mustlink._version import __version__
from mustlink.report._alternative import AlternativeSummary
from mustlink.report._page import load_template
from mustlink.report._picture import Picture

__all__ = ["render_alternatives"]


def render_alternatives(
    alternatives: Sequence[AlternativeSummary],
    pictures: Sequence[Picture],
    known_pictures: Sequence[Picture] = (),
    *,
    title: str = "Another clustering",
    run: Mapping[str, str] | None = None,
) -> str:
    """Lay out the report of alternative clusterings as HTML.

    Parameters
    ----------
    alternatives : sequence of AlternativeSummary
        The results of :func:`summarize_alternative`, one after another.
    pictures : sequence of Picture
        The rows of each, colored by its clusters.
    known_pictures : sequence of Picture, default=()
        The rows colored by each split that was known at first.
    title : str, default='Another clustering'
        The heading.
    run : mapping of str to str, default=None
        How it was made, shown at the end in this order; the version is added.

    Returns
    -------
    str
        A complete HTML document that needs nothing from outside and runs no script. All text is escaped.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.report import make_picture, render_alternatives, summarize_alternative
    >>> X, labels = np.array([[0, 0], [0, 5], [9, 0], [9, 5.0]]), np.array([0, 1, 0, 1])
    >>> found = summarize_alternative(X, labels, [["l", "l", "r", "r"]], [0, 0, 1, 1], known_names=["side"])
    >>> page = render_alternatives([found], [make_picture(X, labels, Constraints())], title="A & B")
    >>> "<h1>A &amp; B</h1>" in page, "side" in page
    (True, True)
    """
    return load_template("alternatives.html").render(
        alternatives=alternatives,
        pictures=pictures,
        known_pictures=known_pictures,
        title=title,
        run={**(run or {}), "mustlink": __version__},
    )
