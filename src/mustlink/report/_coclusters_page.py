"""The report of co-clusters: the sorted matrix, then each co-cluster with its columns and example rows."""

from __future__ import annotations

from collections.abc import Mapping

from mustlink._version import __version__
from mustlink.report._coclusters import CoclusterSummary
from mustlink.report._matrix import MatrixPicture
from mustlink.report._page import load_template

__all__ = ["render_coclusters"]


def render_coclusters(
    summary: CoclusterSummary,
    picture: MatrixPicture,
    *,
    title: str = "Co-clusters",
    run: Mapping[str, str] | None = None,
) -> str:
    """Lay out the report of co-clusters as HTML.

    Parameters
    ----------
    summary : CoclusterSummary
        The result of :func:`summarize_coclusters`.
    picture : MatrixPicture
        The result of :func:`make_matrix_picture`.
    title : str, default='Co-clusters'
        The heading.
    run : mapping of str to str, default=None
        How it was made, shown at the end in this order; the version is added.

    Returns
    -------
    str
        A complete HTML document that needs nothing from outside and runs no script. All text is escaped.

    Examples
    --------
    >>> from mustlink.report import make_matrix_picture, render_coclusters, summarize_coclusters
    >>> found = [[1, 1, 0], [1, 1, 0], [0, 0, 1]], [0, 0, 1], [0, 0, 1]
    >>> page = render_coclusters(summarize_coclusters(*found), make_matrix_picture(*found), title="A & B")
    >>> "<h1>A &amp; B</h1>" in page, "data:image/png" in page
    (True, True)
    """
    return load_template("coclusters.html").render(
        summary=summary, picture=picture, title=title, run={**(run or {}), "mustlink": __version__}
    )
