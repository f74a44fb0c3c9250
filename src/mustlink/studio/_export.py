"""The files that a studio exports: labels and links, a report, the actions, and Python that gives the groups again."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mustlink._atomic import StagedFiles
from mustlink._types import Floats, Ints
from mustlink.boosting import Suspect
from mustlink.constraints import Constraints
from mustlink.errors import OptionError
from mustlink.report import write_report
from mustlink.studio._adapter import INSTANT, Fit
from mustlink.studio._script import ShownLabels, write_script
from mustlink.studio._session import Session
from mustlink.tables import Dialect, stage_clusters
from mustlink.workflow import LoadedTable

__all__ = [
    "EXPORTS",
    "ExportedFile",
    "ShownModel",
    "export_file",
    "export_labels",
    "export_links",
    "export_report",
    "plan_export",
]

# What can be exported.
EXPORTS = ("labels", "links", "report", "python", "log")
# Links that are more likely wrong than right are listed in the report.
SUSPECT_ABOVE = 0.5


class ExportedFile(NamedTuple):
    """A file to save: its name, its media type and its content."""

    name: str
    media: str
    text: str


def export_file(session: Session, what: str, fit: Fit | None = None) -> ExportedFile:
    """Export something of a session.

    Parameters
    ----------
    session : Session
        The session.
    what : {"labels", "links", "report", "python", "log"}
        The groups as they are seen, the links of the person and of pins and locks, the report, the script that gives
        the groups again, or all actions as JSON.
    fit : Fit, default=None
        The result of the background that the groups are from, whose suspects and columns the report shows.

    Returns
    -------
    ExportedFile

    Raises
    ------
    OptionError
        For anything else.
    """
    return plan_export(session, what, fit)()


def plan_export(session: Session, what: str, fit: Fit | None = None) -> Callable[[], ExportedFile]:
    """Take what an export needs from a session, quickly; the function that is returned writes it.

    The session may change in the meantime: what is exported is its state now. For the parameters see
    :func:`export_file`.
    """
    if what not in EXPORTS:
        raise OptionError(f"There is no export {what!r:.60}; the exports are {', '.join(EXPORTS)}.")
    engine, table, options = session.engine, session.table, session.options
    names = {group.id: group.name for group in engine.groups}
    labels, stem = engine.labels, "table" if session.folder is None else Path(session.title).name.split(".")[0]
    if what == "labels":
        columns = {"id_column": options.id_column, "label_column": options.label_column}
        return partial(export_labels, table, labels, names, **columns, stem=stem)
    if what == "links":
        return partial(export_links, engine.given_constraints, table.row_names, stem=stem)
    if what == "report":
        model, notices = _shown_model(session, fit), list(session.notices)
        return partial(export_report, table, labels, engine.constraints, names, model, notices=notices, stem=stem)
    if what == "python":
        links, shown, is_frame = engine.constraints, shown_labels(session), session.folder is None
        write = partial(write_script, options, table.row_names, links, shown, is_frame=is_frame)
        return lambda: ExportedFile(f"{stem}.py", "text/x-python", write())
    log = session.log()
    return lambda: ExportedFile(f"{stem}.log.json", "application/json", json.dumps(log, indent=1))


def shown_labels(session: Session) -> ShownLabels:
    """Return the groups that are shown, and how they came about."""
    engine, state = session.engine, session.engine.state
    is_instant = engine.shown.method == INSTANT
    linked = set(engine.constraints.constrained_rows().tolist())
    return ShownLabels(
        labels=engine.labels,
        names={group.id: group.name for group in engine.groups},
        method=engine.shown.method,
        n_clusters=engine.n_instant_clusters if is_instant else state.n_clusters,
        seed=session.random_state,
        found=None if is_instant or state.fit is None else state.fit.labels(),
        lone_pins=[row for row in state.pins if row not in linked],
        is_reduced=engine.is_reduced,
        is_final=is_instant or engine.shown.status == "final",
    )


def _shown_model(session: Session, fit: Fit | None) -> ShownModel:
    """Return what the report tells about the clusterer."""
    shown = shown_labels(session)
    if shown.is_instant or fit is None:
        return ShownModel(repr(shown.clusterer))
    return ShownModel(repr(shown.clusterer), fit.column_weights, fit.suspects)


@dataclass(frozen=True)
class ShownModel:
    """What the report tells about the clusterer that ran in another process.

    Parameters
    ----------
    title : str
        How it was made.
    column_weights : ndarray or None
        As in :class:`Fit`.
    suspects : mapping of (int, int) to float
        As in :class:`Fit`.
    """

    title: str
    column_weights: Floats | None = None
    suspects: Mapping[tuple[int, int], float] | None = None

    def as_estimator(self, links: Constraints) -> _Estimator:
        """Return it in the form of a fitted clusterer."""
        signs = dict(zip(map(tuple, links.pairs.tolist()), links.sign.tolist(), strict=True))
        wrong = sorted(((value, pair) for pair, value in (self.suspects or {}).items()), reverse=True)
        suspects = [
            Suspect(*pair, "must" if signs[pair] > 0 else "cannot", trust=1 - value, weight=1.0)
            for value, pair in wrong
            if value > SUSPECT_ABOVE and pair in signs
        ]
        weights = np.ones(0) if self.column_weights is None else self.column_weights
        return _Estimator(self.title, weights, suspects)


class _Estimator:
    """The attributes of a fitted clusterer that the report shows."""

    def __init__(self, title: str, column_weights: Floats, suspects: list[Suspect]) -> None:
        self._title = title
        self.column_weights_, self.suspects_ = column_weights, suspects

    def __repr__(self) -> str:
        return self._title


def export_labels(
    table: LoadedTable,
    labels: Ints,
    names: Mapping[int, str],
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    stem: str = "studio",
) -> ExportedFile:
    """Export the groups as they are seen: a line for each row of the table, as ``mustlink cluster`` writes it.

    Parameters
    ----------
    table : LoadedTable
        The table.
    labels : ndarray of int, shape (n_kept,)
        The group of each kept row; -1, and rows that are not kept, have empty cells.
    names : mapping of int to str
        The names of the groups, a column of their own.
    id_column, label_column : str or None, default=None
        The columns of the table that name the rows, and that hold known labels.
    stem : str, default="studio"
        What the name of the file begins with.

    Returns
    -------
    ExportedFile
    """
    every = np.full(table.source.n_rows, -1)
    every[table.rows] = labels
    # The page saves text as UTF-8, and so any name of a group can be written.
    dialect = replace(table.source.dialect or Dialect(), encoding="utf-8")

    def write(path: Path) -> None:
        with StagedFiles() as files:
            stage_clusters(
                files,
                path,
                every,
                ids=table.ids,
                id_name=id_column or "row",
                known=table.labels,
                known_name=label_column or "label",
                dialect=dialect,
                cluster_names=names,
            )

    return ExportedFile(f"{stem}.clusters.csv", "text/csv", _text_of(write, "clusters.csv"))


def export_links(links: Constraints, row_names: Sequence[str], *, stem: str = "studio") -> ExportedFile:
    """Export links as a file that :meth:`Constraints.read` and all commands read.

    Parameters
    ----------
    links : Constraints
        The links, by rows of X.
    row_names : sequence of str
        The ids of the rows of X, or their numbers in the table.
    stem : str, default="studio"
        What the name of the file begins with.

    Returns
    -------
    ExportedFile
    """
    text = _text_of(lambda path: links.write(path, ids=row_names), "links.csv")
    return ExportedFile(f"{stem}.links.csv", "text/csv", text)


def export_report(
    table: LoadedTable,
    labels: Ints,
    links: Constraints,
    names: Mapping[int, str],
    model: ShownModel,
    *,
    notices: Sequence[str] = (),
    stem: str = "studio",
) -> ExportedFile:
    """Export the groups as the report of ``mustlink cluster``, one HTML file.

    Parameters
    ----------
    table : LoadedTable
        The table.
    labels : ndarray of int, shape (n_kept,)
        The group of each kept row; -1 is none.
    links : Constraints
        All links in force.
    names : mapping of int to str
        The names of the groups.
    model : ShownModel
        What is known of the clusterer.
    notices : sequence of str, default=()
        Notes to show, as sentences.
    stem : str, default="studio"
        What the name of the file begins with.

    Returns
    -------
    ExportedFile
    """
    n_ids = int(labels.max(initial=-1)) + 1
    text = _text_of(
        lambda path: write_report(
            path,
            table.X,
            labels,
            links,
            features=table.features,
            row_names=table.row_names,
            known_labels=table.kept_labels,
            notices=[*notices, *table.describe_broken_rules(labels)],
            estimator=model.as_estimator(links),
            title=f"{Path(table.source.source).name} in the studio",
            cluster_names=[names.get(group, str(group)) for group in range(n_ids)],
        ),
        "report.html",
    )
    return ExportedFile(f"{stem}.html", "text/html", text)


def _text_of(write: Callable[[Path], Any], name: str) -> str:
    """Return the text of a file that a function writes."""
    with tempfile.TemporaryDirectory(prefix="mustlink-") as folder:
        path = Path(folder, name)
        write(path)
        return path.read_bytes().decode("utf-8")
