"""The report of a published table: what was lost, the sizes of the groups, and what was checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mustlink._types import Ints
from mustlink._version import __version__
from mustlink.report._page import load_template
from mustlink.sizes import NOT_DIFFERENTIAL_PRIVACY, Publication

__all__ = ["render_publication"]

MAX_BARS = 12
N_SHOWN_ROWS = 8


class SizeBar(NamedTuple):
    """The groups whose sizes are in a range; `share` is relative to the longest bar."""

    name: str
    n_groups: int
    n_rows: int
    share: float


def render_publication(
    publication: Publication,
    *,
    title: str = "Published table",
    notices: Sequence[str] | None = None,
    run: Mapping[str, str] | None = None,
) -> str:
    """Lay out the report of a published table as HTML.

    Parameters
    ----------
    publication : Publication
        The result of :func:`mustlink.publish`.
    title : str, default='Published table'
        The heading.
    notices : sequence of str or None, default=None
        What a person should know, as sentences; None takes those of the publication.
    run : mapping of str to str, default=None
        How it was made, shown at the end in this order; the version is added.

    Returns
    -------
    str
        A complete HTML document that needs nothing from outside and runs no script. All text is escaped.

    Examples
    --------
    >>> import pandas as pd
    >>> import mustlink
    >>> from mustlink.report import render_publication
    >>> result = mustlink.publish(pd.DataFrame({"age": [20, 21, 60, 61]}), quasi_identifiers=["age"], k=2)
    >>> page = render_publication(result, title="A & B")
    >>> "<h1>A &amp; B</h1>" in page, "not differential privacy" in page
    (True, True)
    """
    rows = publication.frame.head(N_SHOWN_ROWS).astype(str).values.tolist()
    return load_template("publication.html").render(
        publication=publication,
        title=title,
        caveat=NOT_DIFFERENTIAL_PRIVACY,
        histogram=_count_sizes(publication.sizes),
        verification=str(publication.verification),
        diversity=publication.verification.diversity_words,
        names=list(publication.frame.columns),
        rows=rows,
        notices=publication.notices if notices is None else notices,
        run={**(run or {}), "mustlink": __version__},
    )


def _count_sizes(sizes: Ints) -> list[SizeBar]:
    """Return how many groups have each size, or sizes in ranges of equal width."""
    width = -(-int(np.ptp(sizes) + 1) // MAX_BARS)
    places = (sizes - sizes.min()) // width
    n_groups, n_rows = np.bincount(places), np.bincount(places, sizes).astype(int)
    lows = sizes.min() + width * np.arange(len(n_groups))
    highs = np.minimum(lows + width - 1, sizes.max())
    return [
        SizeBar(f"{low:,}" if low == high else f"{low:,} to {high:,}", groups, held, groups / n_groups.max())
        for low, high, groups, held in zip(
            lows.tolist(), highs.tolist(), n_groups.tolist(), n_rows.tolist(), strict=True
        )
    ]
