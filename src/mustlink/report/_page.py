"""The page: one HTML file that needs nothing from outside, in light and dark, on paper and on a phone."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from mustlink._version import __version__
from mustlink.report._picture import Picture
from mustlink.report._style import STYLE
from mustlink.report._summary import NOISE, BrokenLink, ClusterSummary, Summary, Trait
from mustlink.report._svg import curve, link_swatch, scatter, swatch

__all__ = ["headline", "render_report", "suspicion"]


def render_report(
    summary: Summary, picture: Picture, *, title: str = "Clusters", run: Mapping[str, str] | None = None
) -> str:
    """Lay out the report as HTML.

    Parameters
    ----------
    summary : Summary
        What :func:`summarise` gave.
    picture : Picture
        The points and links to draw.
    title : str, default='Clusters'
        The heading.
    run : mapping of str to str, default=None
        How the clustering was made, shown at the end in this order; the version is added.

    Returns
    -------
    str
        A whole HTML document. All text is escaped.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.report import make_picture, render_report, summarise
    >>> X, labels, links = np.array([[0.0], [1.0], [9.0]]), np.array([0, 0, 1]), Constraints()
    >>> page = render_report(summarise(X, labels, links), make_picture(X, labels, links), title="A & B")
    >>> "<h1>A &amp; B</h1>" in page
    True
    """
    sections = [
        _picture_section(summary, picture),
        _clusters_section(summary),
        _links_section(summary),
        _suspects_section(summary),
        _conflicts_section(summary),
        _rounds_section(summary),
        _notices_section(summary),
        _run_section(run or {}),
    ]
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            # The page promises to load nothing; the browser holds it to that.
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            f"<title>{escape(title)}</title>",
            f"<style>{STYLE}</style></head><body><main>",
            f"<h1>{escape(title)}</h1>",
            f'<p class="lead">{escape(headline(summary))}</p>',
            *filter(None, sections),
            "</main></body></html>\n",
        ]
    )


def headline(summary: Summary) -> str:
    """Say the result of a clustering in a sentence or two.

    Parameters
    ----------
    summary : Summary
        What :func:`summarise` gave.

    Returns
    -------
    str

    Examples
    --------
    >>> from mustlink import Constraints
    >>> from mustlink.report import headline, summarise
    >>> headline(summarise([[0.0], [1.0], [9.0]], [0, 0, 1], Constraints(must_link=[(0, 1), (1, 2)])))
    '3 rows in 2 clusters. 1 of 2 links kept, 1 broken.'
    """
    text = f"{_count(summary.n_rows, 'row')} in {_count(len(summary.clusters), 'cluster')}"
    if summary.n_noise:
        text += f", {summary.n_noise:,} of them in none"
    text += "."
    if summary.n_links and summary.n_broken:
        text += f" {summary.n_kept:,} of {_count(summary.n_links, 'link')} kept, {summary.n_broken:,} broken."
    elif summary.n_links:
        text += f" All {_count(summary.n_links, 'link')} kept." if summary.n_links > 1 else " The link is kept."
    if summary.n_known and summary.known_kept == summary.known_kept:
        text += (
            f" Of the pairs among {_count(summary.n_known, 'row')} with a known label, {summary.known_kept:.1%} "
            "are together or apart as the labels say."
        )
    return text


def _count(number: int, noun: str) -> str:
    """Word a number of things."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _picture_section(summary: Summary, picture: Picture) -> str:
    """Draw the scatter with its legend."""
    marks = [
        f"<li>{swatch(cluster.label)} cluster {cluster.label} <span>({_count(cluster.size, 'row')})</span></li>"
        for cluster in summary.clusters
    ]
    if summary.n_noise:
        marks.append(f"<li>{swatch(NOISE)} no cluster <span>({_count(summary.n_noise, 'row')})</span></li>")
    kinds = {
        (is_must, is_kept) for is_must, is_kept in zip(picture.is_must.tolist(), picture.is_kept.tolist(), strict=True)
    }
    lines = [
        f"<li>{link_swatch(is_must=is_must, is_kept=is_kept)} {'must' if is_must else 'cannot'}-link, "
        f"{'kept' if is_kept else 'broken'}</li>"
        for is_must, is_kept in sorted(kinds, reverse=True)
    ]
    return (
        f"<figure>{scatter(picture)}\n"
        f'<ul class="legend">{"".join(marks)}</ul>'
        + (f'<ul class="legend">{"".join(lines)}</ul>' if lines else "")
        + f"<figcaption>{escape(picture.caption)}</figcaption></figure>"
    )


def _clusters_section(summary: Summary) -> str:
    """Lay out the table of clusters."""
    with_known = summary.n_known > 0
    headings = ["Cluster", "Rows", "Share", "Nearest row", "What sets it apart"]
    if with_known:
        headings.append("Known labels")
    head = "".join(f'<th scope="col">{heading}</th>' for heading in headings)
    body = "\n".join(_cluster_row(cluster, with_known) for cluster in summary.clusters)
    return (
        "<section><h2>Clusters</h2>"
        f'<div class="scroll"><table class="clusters"><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div>"
        '<p class="note">The nearest row is the one closest to the mean of its cluster. A column sets a cluster apart '
        "when the mean inside differs from the mean of all rows, measured in standard deviations (sd) of all rows."
        "</p></section>"
    )


def _cluster_row(cluster: ClusterSummary, with_known: bool) -> str:
    """Lay out one cluster."""
    traits = "".join(f"<li>{_trait(trait)}</li>" for trait in cluster.traits)
    cells = [
        f'<th scope="row">{swatch(cluster.label)} {cluster.label}</th>',
        f'<td class="number" data-name="Rows">{cluster.size:,}</td>',
        f'<td class="number" data-name="Share">{cluster.share:.1%}</td>',
        f'<td data-name="Nearest row">{escape(cluster.nearest_name)}</td>',
        f'<td data-name="What sets it apart"><ul class="traits">{traits or "<li>close to the average</li>"}</ul></td>',
    ]
    if with_known:
        known = ", ".join(f"{escape(label)} ({count:,})" for label, count in cluster.known)
        cells.append(f'<td data-name="Known labels">{known or "none"}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def _trait(trait: Trait) -> str:
    """Word a trait, with the means in the units of the table."""
    if trait.is_category:
        return f"<b>{escape(trait.feature)}</b>: {trait.inside:.0%} <span>({trait.overall:.0%} overall)</span>"
    side = "high" if trait.difference > 0 else "low"
    return (
        f"<b>{escape(trait.feature)}</b> {side}: {trait.inside:,.3g} "
        f"<span>({trait.overall:,.3g} overall, {trait.difference:+.1f} sd)</span>"
    )


def _links_section(summary: Summary) -> str:
    """Lay out how the links fared, the broken ones one by one."""
    if not summary.n_links:
        return ""
    counts = "".join(
        f'<tr><th scope="row">{kind}</th><td class="number">{given:,}</td><td class="number">{kept:,}</td>'
        f'<td class="number">{given - kept:,}</td></tr>'
        for kind, given, kept in (
            ("must-links", summary.n_must, summary.n_must_kept),
            ("cannot-links", summary.n_cannot, summary.n_cannot_kept),
        )
    )
    text = (
        '<section><h2>Links</h2><table class="counts"><thead><tr><th></th><th scope="col">Given</th>'
        f'<th scope="col">Kept</th><th scope="col">Broken</th></tr></thead><tbody>{counts}</tbody></table>'
    )
    if summary.broken:
        rows = "\n".join(map(_broken_row, summary.broken))
        text += (
            '<h3>Broken links</h3><div class="scroll"><table class="broken"><thead><tr><th scope="col">Link</th>'
            '<th scope="col">Row</th><th scope="col">Cluster</th><th scope="col">Row</th>'
            f'<th scope="col">Cluster</th></tr></thead>\n<tbody>{rows}</tbody></table></div>'
        )
        text += _and_more(summary.n_broken - len(summary.broken), "broken link")
    return text + "</section>"


def _broken_row(link: BrokenLink) -> str:
    """Lay out one broken link."""
    cells = "".join(
        f"<td>{escape(name)}</td><td>{'none' if label == NOISE else f'{swatch(label)} {label}'}</td>"
        for name, label in zip(link.names, link.clusters, strict=True)
    )
    return f'<tr><th scope="row">{link.kind}</th>{cells}</tr>'


def _and_more(number: int, noun: str) -> str:
    """Say how many are not listed."""
    return f'<p class="note">And {_count(number, "more " + noun)}.</p>' if number else ""


def _suspects_section(summary: Summary) -> str:
    """List the links that look wrong, so that a person looks at them again."""
    if not summary.suspects:
        return ""
    rows = "\n".join(
        f'<tr><th scope="row">{link.kind}</th><td>{escape(link.names[0])}</td><td>{escape(link.names[1])}</td>'
        f'<td class="number">{link.trust:.0%}</td></tr>'
        for link in summary.suspects
    )
    return (
        f"<section><h2>Links to check</h2><p>{escape(suspicion(summary))}</p>"
        '<div class="scroll"><table class="broken"><thead><tr><th scope="col">Link</th><th scope="col">Row</th>'
        f'<th scope="col">Row</th><th scope="col">Probably right</th></tr></thead>\n<tbody>{rows}</tbody></table></div>'
        f"{_and_more(summary.n_suspects - len(summary.suspects), 'link to check')}</section>"
    )


def suspicion(summary: Summary) -> str:
    """Say how many links look wrong.

    Parameters
    ----------
    summary : Summary
        With at least one suspect.

    Returns
    -------
    str
        A sentence.
    """
    if summary.n_suspects == 1:
        return "This link looks wrong: check it."
    return f"These {summary.n_suspects:,} links look wrong: check them."


def _rounds_section(summary: Summary) -> str:
    """Draw how the objective fell."""
    if len(summary.objective) < 2:
        return ""
    first, last = summary.objective[0], summary.objective[-1]
    return (
        f"<section><h2>Rounds</h2><figure>{curve(summary.objective)}"
        f"<figcaption>The objective after each of {len(summary.objective)} rounds, from {first:.3g} to {last:.3g}. "
        "The lower, the better the clusters fit. Where it rises, the method has weighed the links or the columns anew."
        "</figcaption></figure></section>"
    )


def _conflicts_section(summary: Summary) -> str:
    """List the contradictions among the links themselves."""
    if not summary.n_conflicts:
        return ""
    items = "\n".join(f"<li>{escape(sentence)}</li>" for sentence in summary.conflicts)
    return (
        "<section><h2>Conflicts</h2><p>These links contradict each other, so no clustering can keep them all.</p>"
        f"<ul>{items}</ul>{_and_more(summary.n_conflicts - len(summary.conflicts), 'conflict')}</section>"
    )


def _notices_section(summary: Summary) -> str:
    """List what the reader of the table decided."""
    if not summary.notices:
        return ""
    items = "\n".join(f"<li>{escape(notice)}</li>" for notice in summary.notices)
    return f"<section><h2>Notes</h2><ul>{items}</ul></section>"


def _run_section(run: Mapping[str, str]) -> str:
    """Say how the clustering was made."""
    items = "\n".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in {**run, "mustlink": __version__}.items()
    )
    return f'<section><h2>How it was made</h2><dl class="run">{items}</dl></section>'
