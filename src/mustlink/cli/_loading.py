"""From the files on the command line to numbers and links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from mustlink.constraints import Constraints
    from mustlink.tables import EncodedTable, Table

__all__ = ["LoadedTable", "TableChoices", "load_table"]


@dataclass(frozen=True)
class TableChoices:
    """What the user said about the table."""

    path: Path
    id_column: str | None = None
    label_column: str | None = None
    ignore: Sequence[str] = ()
    categorical: Sequence[str] = ()
    scale: bool = True
    one_hot: bool = True
    missing: Literal["error", "drop", "mean"] = "error"
    header: bool | None = None


@dataclass(frozen=True)
class LoadedTable:
    """A table ready to cluster.

    Parameters
    ----------
    table : Table
        As it was read.
    encoded : EncodedTable
        As numbers, with the rows that were kept.
    ids : list of str or None
        The ids of all rows, where a column holds them.
    known : list of str or None
        The known labels of all rows, empty where there is none, where a column holds them.
    """

    table: Table
    encoded: EncodedTable
    ids: list[str] | None
    known: list[str] | None

    @property
    def notices(self) -> list[str]:
        """What was decided on the way."""
        return [*self.table.notices, *self.encoded.notices]

    @property
    def row_names(self) -> list[str]:
        """What the kept rows are called: their ids, or their numbers in the table."""
        rows = self.encoded.rows.tolist()
        return [str(row) for row in rows] if self.ids is None else [self.ids[row] for row in rows]

    @property
    def kept_labels(self) -> list[str] | None:
        """The known labels of the kept rows."""
        return None if self.known is None else [self.known[row] for row in self.encoded.rows.tolist()]

    def partial_labels(self) -> Any:
        """Give the known labels as numbers, -1 where there is none."""
        import numpy as np

        labels = self.kept_labels
        if labels is None:
            return None
        number = {label: place for place, label in enumerate(sorted(set(labels) - {""}))}
        return np.array([number.get(label, -1) for label in labels])

    def read_links(self, path: Path, contradictions: Literal["raise", "majority"]) -> tuple[Constraints, list[str]]:
        """Read links about this table, and say which fell out with their rows."""
        from mustlink.constraints import Constraints

        links = Constraints.read(path, ids=self.ids, contradictions=contradictions)
        links.check_rows(self.table.n_rows)
        kept = links.on(self.table.n_rows)[self.encoded.rows].constraints
        lost = len(links) - len(kept)
        notices = [f"{lost} of {len(links)} links name rows that were left out."] if lost else []
        return kept, notices


def load_table(choices: TableChoices) -> LoadedTable:
    """Read and encode a table."""
    from mustlink.tables import encode, read_table

    if choices.id_column is not None and choices.id_column == choices.label_column:
        raise ValueError(f"The column {choices.id_column!r} cannot hold both the ids and the labels.")
    no_features = [name for name in (choices.id_column, choices.label_column) if name is not None]
    for name in (*no_features, *choices.categorical):
        if name in choices.ignore:
            raise ValueError(f"The column {name!r} is both used and ignored; say one of the two.")
    table = read_table(
        choices.path,
        text=[*no_features, *choices.categorical],
        ignore=choices.ignore,
        header=choices.header,
    )
    ids = None if choices.id_column is None else table.row_ids(choices.id_column)
    known = None if choices.label_column is None else table.column(choices.label_column).strings()
    if known is not None and not any(known):
        raise ValueError(f"{choices.path}: the label column {choices.label_column!r} is empty throughout.")
    encoded = encode(
        table,
        leave_out=no_features,
        categorical=choices.categorical,
        scale=choices.scale,
        one_hot=choices.one_hot,
        missing=choices.missing,
    )
    return LoadedTable(table, encoded, ids, known)
