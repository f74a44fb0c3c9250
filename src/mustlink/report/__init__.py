"""What a clustering turned out to be: for the terminal as data, and for the eye as one HTML file."""

from __future__ import annotations

from mustlink.report._page import headline, render_report, suspicion
from mustlink.report._picture import Picture, make_picture
from mustlink.report._summary import BrokenLink, ClusterSummary, RowNames, Summary, Trait, summarise
from mustlink.report._suspects import SuspectLink
from mustlink.report._write import write_report

__all__ = [
    "BrokenLink",
    "ClusterSummary",
    "Picture",
    "RowNames",
    "Summary",
    "SuspectLink",
    "Trait",
    "headline",
    "make_picture",
    "render_report",
    "summarise",
    "suspicion",
    "write_report",
]
