"""What was found of the entities of records, before it is shown and written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mustlink._types import Ints
from mustlink.base import refuse_contradictions
from mustlink.constraints import Constraints
from mustlink.errors import ConstraintError, InfeasibleError, OptionError
from mustlink.report import CellPair, Decision, RowNames, compare_cells
from mustlink.tables import UnknownIds
from mustlink.workflow._loading import Contradictions, LoadedTable, known_labels

if TYPE_CHECKING:
    from mustlink.workflow._dedupe import DedupeJob

__all__ = ["SOFT_REMEDIES", "Resolution", "compare_records", "known_entities", "read_kept_links"]

# Links are kept here, and no other method is at hand.
SOFT_REMEDIES = ("relax", "soft_method")
# The most columns of two records that are shown side by side.
MAX_COLUMNS = 12


@dataclass(frozen=True)
class Resolution:
    """Entities, how they were found, and the decisions that were least sure."""

    table: LoadedTable | None
    names: list[str]
    spellings: Sequence[str]
    labels: Ints
    estimator: Any
    decisions: list[Decision]
    threshold: float
    threshold_note: str
    unit: str
    notices: list[str]
    blocking_note: str = ""
    id_name: str = "id"
    run: Mapping[str, str] = field(default_factory=dict)


def compare_records(table: LoadedTable, columns: Sequence[str], a: int, b: int) -> tuple[CellPair, ...]:
    """Put the cells of two rows side by side, the named columns first; columns empty in both are left out."""
    ordered = [*columns, *(name for name in table.source.names if name not in columns)]
    pairs = []
    for name in ordered:
        column = table.source.column(name)
        first, second = ("" if cell != cell else str(cell) for cell in (column.iloc[a], column.iloc[b]))
        if first or second:
            pairs.append(compare_cells(name, first, second))
    return tuple(pairs[:MAX_COLUMNS])


def known_entities(job: DedupeJob, table: LoadedTable) -> Any:
    """Return the known entity of every row, None where it is unknown; None if no column has them."""
    if job.truth_column is None:
        return None
    known = np.array([label or None for label in known_labels(table.source.strings(job.truth_column))], dtype=object)
    if not known.astype(bool).any():
        raise OptionError(f"{job.table}: the column {job.truth_column!r} is empty throughout.")
    return known


def read_kept_links(
    table: LoadedTable, path: Any, contradictions: Contradictions, unknown_ids: UnknownIds
) -> tuple[Constraints, list[str]]:
    """Read links that are all kept; of two opposite ones, both cannot be."""
    try:
        links, notices = table.read_links(path, contradictions, unknown_ids)
        refuse_contradictions(links, RowNames(table.row_names))
    except ConstraintError as error:
        if "majority" not in (error.remedy or ()):
            raise
        raise error.without_remedies("majority").with_remedies(error.remedies, "majority_only") from None
    except InfeasibleError as error:
        raise error.without_remedies(*SOFT_REMEDIES) from None
    return links, notices
