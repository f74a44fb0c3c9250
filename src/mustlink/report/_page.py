"""The report as one HTML file that needs nothing from outside, in light and dark, on paper and on a phone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from mustlink._html import HtmlList, HtmlTable, render_html
from mustlink._spelling import count
from mustlink._version import __version__
from mustlink.report import _curve, _matrix, _svg
from mustlink.report._picture import Picture
from mustlink.report._summary import NOISE, Summary

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["headline", "render_report", "suspicion"]

# The most links, conflicts and notes that a notebook shows.
MAX_IN_NOTEBOOK = 5


def render_report(
    summary: Summary,
    picture: Picture,
    *,
    learned: Picture | None = None,
    title: str = "Clusters",
    run: Mapping[str, str] | None = None,
) -> str:
    """Lay out the report as HTML.

    Parameters
    ----------
    summary : Summary
        The result of :func:`summarize`.
    picture : Picture
        The points and links to draw.
    learned : Picture, default=None
        The same in the view that the clusterer has learned, shown first.
    title : str, default='Clusters'
        The heading.
    run : mapping of str to str, default=None
        How the clustering was made, shown at the end in this order; the version is added.

    Returns
    -------
    str
        A complete HTML document. All text is escaped.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.report import make_picture, render_report, summarize
    >>> X, labels, links = np.array([[0.0], [1.0], [9.0]]), np.array([0, 0, 1]), Constraints()
    >>> page = render_report(summarize(X, labels, links), make_picture(X, labels, links), title="A & B")
    >>> "<h1>A &amp; B</h1>" in page
    True
    """
    kinds = set(zip(picture.is_must.tolist(), picture.is_kept.tolist(), strict=True))
    return load_template("report.html").render(
        summary=summary,
        pictures=[picture] if learned is None else [learned, picture],
        title=title,
        headline=headline(summary),
        suspicion=suspicion(summary),
        link_kinds=sorted(kinds, reverse=True),
        run={**(run or {}), "mustlink": __version__},
    )


@cache
def load_template(name: str) -> Template:
    """Load a page; what it draws is SVG made here, in which all text is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def drawn(draw: Callable[..., str]) -> Callable[..., Markup]:
        return lambda *args, **options: Markup(draw(*args, **options))

    environment = Environment(
        loader=PackageLoader("mustlink.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        {name: drawn(getattr(_svg, name)) for name in ("bar", "link_swatch", "scatter", "swatch")},
        curve=drawn(_curve.curve),
        draw_matrix=drawn(_matrix.draw_matrix),
        NOISE=NOISE,
        count=count,
        ends=_curve.ends,
        number="{:,}".format,
        pairs=zip,
        percent="{:.0%}".format,
        share="{:.1%}".format,
    )
    return environment.get_template(name)


def headline(summary: Summary) -> str:
    """Word the result of a clustering in a sentence or two.

    Parameters
    ----------
    summary : Summary
        The result of :func:`summarize`.

    Returns
    -------
    str
        How many rows, clusters, and links kept and broken.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> from mustlink.report import headline, summarize
    >>> headline(summarize([[0.0], [1.0], [9.0]], [0, 0, 1], Constraints(must_link=[(0, 1), (1, 2)])))
    '3 rows in 2 clusters. 1 of 2 links kept, 1 broken.'
    """
    text = f"{count(summary.n_rows, 'row')} in {count(len(summary.clusters), 'cluster')}"
    if summary.n_noise:
        text += f"; {count(summary.n_noise, 'row is', 'rows are')} in no cluster"
    text += "."
    if summary.n_links and summary.n_broken:
        text += f" {summary.n_kept:,} of {count(summary.n_links, 'link')} kept, {summary.n_broken:,} broken."
    elif summary.n_links:
        text += f" All {count(summary.n_links, 'link')} kept." if summary.n_links > 1 else " The link is kept."
    if summary.n_known and summary.known_kept == summary.known_kept:
        text += (
            f" {summary.known_kept:.1%} of the pairs among the {count(summary.n_known, 'row')} with a known label are "
            "together or apart as in the labels."
        )
    return text


def summary_html(summary: Summary) -> str:
    """Lay out a clustering for a notebook: the clusters, the broken links, the conflicts and the notes."""
    names = ["cluster", "rows", "share", "nearest row", "differs from all rows in"]
    rows = [
        [
            cluster.name,
            f"{cluster.size:,}",
            f"{cluster.share:.1%}",
            cluster.nearest_name,
            "\n".join(map(str, cluster.traits)) or "close to the average",
        ]
        for cluster in summary.clusters
    ]
    if summary.n_noise:
        rows.append(["none", f"{summary.n_noise:,}", f"{summary.n_noise / summary.n_rows:.1%}", "", ""])
    lists = [
        HtmlList(f"{heading}:", [str(line) for line in lines[:MAX_IN_NOTEBOOK]], total, noun)
        for heading, lines, total, noun in (
            ("Columns", [str(summary.columns)] if summary.columns else [], int(summary.columns is not None), "note"),
            ("Sizes", summary.size_notes, len(summary.size_notes), "note"),
            ("Broken links", summary.broken, summary.n_broken, "link"),
            ("Links that may be wrong", summary.suspects, summary.n_suspects, "link"),
            ("Conflicts", summary.conflicts, summary.n_conflicts, "conflict"),
            ("Notes", summary.notices, len(summary.notices), "note"),
        )
    ]
    return render_html(headline(summary), "", HtmlTable(names, ">>><<", rows, len(rows)), *lists)


def suspicion(summary: Summary) -> str:
    """Word how many links may be wrong.

    Parameters
    ----------
    summary : Summary
        The result of :func:`summarize`.

    Returns
    -------
    str
        A sentence.

    Examples
    --------
    >>> from mustlink.report import summarize, suspicion
    >>> suspicion(summarize([[0.0], [1.0]], [0, 1]))
    'No link is suspected to be wrong.'
    """
    if not summary.n_suspects:
        return "No link is suspected to be wrong."
    # Without a probability it is only known that the links were hard to keep.
    guess = "may be wrong" if summary.suspects[0].trust is not None else "{} hard to keep and may be wrong"
    if summary.n_suspects == 1:
        return f"This link {guess.format('was')}; please check it."
    return f"These {summary.n_suspects:,} links {guess.format('were')}; please check them."
