"""The files that the page offers to save, by their names in messages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mustlink.errors import OptionError
from mustlink.studio._export import ExportedFile, ShownModel, export_labels, export_links, export_report

if TYPE_CHECKING:
    from mustlink.studio._adapter import Fit
    from mustlink.studio._session import Session

__all__ = ["FILES", "make_file"]

FILES = ("labels", "links", "report", "python", "log")


def make_file(session: Session, fit: Fit | None, what: str) -> ExportedFile:
    """Make one of the files of what is shown now."""
    if what not in FILES:
        raise OptionError(f"There is no file {what!r:.60} to export; the files are {', '.join(FILES)}.")
    engine, table, options = session.engine, session.table, session.options
    names = {group.id: group.name for group in engine.groups}
    stem = session.title.partition(".")[0] or "studio"
    if what == "labels":
        columns = {"id_column": options.id_column, "label_column": options.label_column}
        return export_labels(table, engine.labels, names, **columns, stem=stem)
    if what == "links":
        return export_links(engine.constraints, table.row_names, stem=stem)
    if what == "log":
        lines = [json.dumps({"when": entry.when, **entry.message}) for entry in session.entries()]
        return ExportedFile(f"{stem}.log.jsonl", "application/jsonl", "".join(f"{line}\n" for line in lines))
    model = ShownModel(engine.shown.text)
    if fit is not None and engine.shown.status == "final":
        model = ShownModel(engine.shown.text, fit.column_weights, fit.suspects)
    return export_report(table, engine.labels, engine.constraints, names, model, stem=stem)
