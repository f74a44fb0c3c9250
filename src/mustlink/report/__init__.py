"""A clustering as data to print, and as one HTML file to look at."""

from __future__ import annotations

from mustlink.report._columns import ColumnWeights
from mustlink.report._entities import (
    CellPair,
    Decision,
    Entity,
    EntityScores,
    EntitySizes,
    EntitySummary,
    Part,
    compare_cells,
    summarize_entities,
)
from mustlink.report._entities_page import render_entities
from mustlink.report._page import headline, render_report, suspicion
from mustlink.report._picture import Picture, make_picture
from mustlink.report._publication_page import render_publication
from mustlink.report._sizes import SizeBound
from mustlink.report._summary import BrokenLink, ClusterSummary, RowNames, Summary, SuspectLink, Trait, summarize
from mustlink.report._write import write_report

__all__ = [
    "BrokenLink",
    "CellPair",
    "ClusterSummary",
    "ColumnWeights",
    "Decision",
    "Entity",
    "EntityScores",
    "EntitySizes",
    "EntitySummary",
    "Part",
    "Picture",
    "RowNames",
    "SizeBound",
    "Summary",
    "SuspectLink",
    "Trait",
    "compare_cells",
    "headline",
    "make_picture",
    "render_entities",
    "render_publication",
    "render_report",
    "summarize",
    "summarize_entities",
    "suspicion",
    "write_report",
]
