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
from mustlink.report._taxonomy import (
    CategorySummary,
    DocumentRanks,
    DocumentView,
    FlowRow,
    GivenSummary,
    MovedDocument,
    TaxonomySummary,
    rank_documents,
    summarize_taxonomy,
)
from mustlink.report._taxonomy_page import render_taxonomy
from mustlink.report._write import write_report

__all__ = [
    "BrokenLink",
    "CategorySummary",
    "CellPair",
    "ClusterSummary",
    "ColumnWeights",
    "Decision",
    "DocumentRanks",
    "DocumentView",
    "Entity",
    "EntityScores",
    "EntitySizes",
    "EntitySummary",
    "FlowRow",
    "GivenSummary",
    "MovedDocument",
    "Part",
    "Picture",
    "RowNames",
    "SizeBound",
    "Summary",
    "SuspectLink",
    "TaxonomySummary",
    "Trait",
    "compare_cells",
    "headline",
    "make_picture",
    "rank_documents",
    "render_entities",
    "render_publication",
    "render_report",
    "render_taxonomy",
    "summarize",
    "summarize_entities",
    "summarize_taxonomy",
    "suspicion",
    "write_report",
]
