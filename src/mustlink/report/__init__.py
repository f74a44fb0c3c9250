"""A clustering as data to print, and as one HTML file to look at."""

from __future__ import annotations

from mustlink.report._alternative import AlternativeSummary, CrossTable, KnownAgreement, summarize_alternative
from mustlink.report._alternative_page import render_alternatives
from mustlink.report._blocked_summary import KnownCodes, stage_blocked_report, summarize_blocks
from mustlink.report._coclusters import (
    Cocluster,
    CoclusterColumn,
    CoclusterRow,
    CoclusterSummary,
    SideLinks,
    summarize_coclusters,
)
from mustlink.report._coclusters_page import render_coclusters
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
from mustlink.report._matrix import MatrixPicture, make_matrix_picture
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
from mustlink.report._typical import typical_rows
from mustlink.report._write import write_report

__all__ = [
    "AlternativeSummary",
    "BrokenLink",
    "CategorySummary",
    "CellPair",
    "ClusterSummary",
    "Cocluster",
    "CoclusterColumn",
    "CoclusterRow",
    "CoclusterSummary",
    "ColumnWeights",
    "CrossTable",
    "Decision",
    "DocumentRanks",
    "DocumentView",
    "Entity",
    "EntityScores",
    "EntitySizes",
    "EntitySummary",
    "FlowRow",
    "GivenSummary",
    "KnownAgreement",
    "KnownCodes",
    "MatrixPicture",
    "MovedDocument",
    "Part",
    "Picture",
    "RowNames",
    "SideLinks",
    "SizeBound",
    "Summary",
    "SuspectLink",
    "TaxonomySummary",
    "Trait",
    "compare_cells",
    "headline",
    "make_matrix_picture",
    "make_picture",
    "rank_documents",
    "render_alternatives",
    "render_coclusters",
    "render_entities",
    "render_publication",
    "render_report",
    "render_taxonomy",
    "stage_blocked_report",
    "summarize",
    "summarize_alternative",
    "summarize_blocks",
    "summarize_coclusters",
    "summarize_entities",
    "summarize_taxonomy",
    "suspicion",
    "typical_rows",
    "write_report",
]
