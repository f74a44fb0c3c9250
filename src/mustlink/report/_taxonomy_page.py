"""The report of a taxonomy: what became of the given categories, the final ones, and the documents that moved."""

from __future__ import annotations

from collections.abc import Mapping

from mustlink._version import __version__
from mustlink.report._page import load_template
from mustlink.report._taxonomy import TaxonomySummary

__all__ = ["render_taxonomy"]


def render_taxonomy(
    summary: TaxonomySummary, *, title: str = "Categories", run: Mapping[str, str] | None = None
) -> str:
    """Lay out the report of a taxonomy as HTML.

    Parameters
    ----------
    summary : TaxonomySummary
        The result of :func:`summarize_taxonomy`.
    title : str, default='Categories'
        The heading.
    run : mapping of str to str, default=None
        How it was made, shown at the end in this order; the version is added.

    Returns
    -------
    str
        A complete HTML document that needs nothing from outside and runs no script. All text is escaped.

    Examples
    --------
    >>> from mustlink.report import render_taxonomy, summarize_taxonomy
    >>> from mustlink.text import TaxonomyClusterer
    >>> X, y = [[9, 1, 0], [8, 2, 0], [0, 2, 9], [0, 3, 7]], ["music", "music", "sport", "sport"]
    >>> model = TaxonomyClusterer(min_df=1, words_init=2, words_final=2, min_cluster_size=1, gini_drop=0).fit(X, y)
    >>> page = render_taxonomy(summarize_taxonomy(model, X, y, terms=["jazz", "the", "goal"]), title="A & B")
    >>> "<h1>A &amp; B</h1>" in page, "goal" in page
    (True, True)
    """
    return load_template("taxonomy.html").render(
        summary=summary, title=title, run={**(run or {}), "mustlink": __version__}
    )
