"""A session of the studio: a table, the engine, a file that keeps every action, and questions."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import numpy as np

from mustlink._spelling import count
from mustlink._types import FilePath, Ints
from mustlink.active import Question
from mustlink.base import collect_links
from mustlink.constraints import Constraints
from mustlink.errors import FileFormatError, OptionError
from mustlink.studio._actions import Action, as_action, as_message
from mustlink.studio._changes import Change
from mustlink.studio._conflicts import ActionRefused
from mustlink.studio._engine import Engine
from mustlink.studio._fits import PackedFit
from mustlink.studio._questions import Questions
from mustlink.studio._record import IN_MEMORY, Entry, Record
from mustlink.workflow import (
    LoadedTable,
    RowComparison,
    TableOptions,
    check_n_clusters,
    check_seed,
    load_table,
)

__all__ = ["SUFFIX", "Session"]

# The ending of the names of sessions.
SUFFIX = ".mustlink"
# The tree of fewer rows is computed in less time than a person notices; that of more is kept in the file, and no action
# waits for it.
MIN_KEPT_ROWS = 2_000
TREE = "tree"
# What a data frame is called in messages.
FRAME = "the data frame"


class Session:
    """A table with the engine of the studio, in a file that keeps every action.

    Made by :meth:`create`, :meth:`open` or :meth:`from_frame`. An action is on the disk when :meth:`apply` returns.
    The file is append-only: an undo is a further entry. Opened again, the session is in the same state.

    Parameters
    ----------
    table : LoadedTable
        The table.
    options : TableOptions
        How it was read.
    record : Record
        The file.
    edges : ndarray of shape (n_edges, 2) or None, default=None
        Edges between rows, which are drawn.

    Attributes
    ----------
    table : LoadedTable
        The table.
    options : TableOptions
        How it was read.
    engine : Engine
        The engine. What changes it goes through :meth:`apply` and :meth:`offer` of the session, which save it.
    edges : ndarray of shape (n_edges, 2) or None
        The edges between rows.
    comparison : RowComparison
        Two rows side by side.
    path : Path or None
        The file; None if it is in memory.
    random_state : int
        The seed.
    notices : list of str
        What the person should know of the table and the files, as sentences.

    Notes
    -----
    :meth:`apply` and :meth:`offer` wait for each other. Choosing a question may take seconds on a large table: it is
    done when :attr:`question` is read, which may happen in another thread, and does not keep :meth:`apply` waiting;
    the question is one for the links at the time when it was asked for.

    No action waits for the minimum spanning tree of a table with 2,000 rows or more, which may take a minute: instant
    groups are there after :meth:`prepare`, which may be called in another thread.

    Examples
    --------
    >>> import pandas as pd
    >>> from mustlink.studio import Link, Session
    >>> frame = pd.DataFrame({"visits": [1, 2, 1, 9, 8], "basket": [20.5, 21.0, 19.0, 64.0, 60.5]})
    >>> with Session.from_frame(frame, n_clusters=2) as session:
    ...     change = session.apply(Link(0, 3, together=False))
    ...     print(session.engine.labels, session.question is None)
    [0 0 0 1 1] False
    """

    def __init__(self, table: LoadedTable, options: TableOptions, record: Record, *, edges: Ints | None = None) -> None:
        about = record.about
        self.table, self.options, self.edges = table, options, edges
        self.path, self.random_state = record.path, int(about["random_state"])
        self.notices = [*table.notices, *about["notices"]]
        self.comparison = RowComparison(options, table)
        self._record = record
        self._lock = threading.RLock()
        self._is_open = True
        self.engine = Engine(
            table.X,
            n_clusters=about["n_clusters"],
            known=Constraints.from_pairs(*_link_arrays(about["links"]), contradictions="keep"),
            fixed=collect_links(table.rules, table.partial_labels, table.X),
            strategy=about["strategy"],
            random_state=about["random_state"],
            row_names=self.comparison.names,
            tree=record.kept(TREE),
            waits_for_tree=len(table.X) < MIN_KEPT_ROWS,
        )
        self._is_tree_kept = record.kept(TREE) is not None
        self._replay()
        if self._is_tree_kept:
            self.prepare()
        self._questions = Questions(table, about["random_state"])
        self._questions.begin(self.engine)

    @classmethod
    def create(
        cls,
        table: LoadedTable,
        options: TableOptions,
        path: FilePath,
        *,
        n_clusters: int | None = None,
        links: FilePath | Constraints | None = None,
        edges: FilePath | None = None,
        strategy: str = "minmax",
        random_state: int = 0,
    ) -> Self:
        """Begin a session.

        Parameters
        ----------
        table : LoadedTable
            The table.
        options : TableOptions
            How it was read.
        path : str or path-like
            The file of the session, which must not exist, or ":memory:".
        n_clusters : int or None, default=None
            The number of groups; None for as many as the person builds.
        links : str, path-like, Constraints or None, default=None
            Links that are known before, in a file or by the rows of the table. The file is read once, and not changed.
        edges : str, path-like or None, default=None
            A file of edges between rows, which are drawn.
        strategy : str, default="minmax"
            How questions are chosen, a key of :data:`mustlink.workflow.STRATEGIES`.
        random_state : int, default=0
            The seed.

        Returns
        -------
        Session

        Raises
        ------
        OptionError
            If the file exists, or an option cannot be used.
        """
        return cls._begin(
            table,
            options,
            path,
            {"table": _describe_file(options.table, path)},
            n_clusters=n_clusters,
            links=links,
            edges=edges,
            strategy=strategy,
            random_state=random_state,
        )

    @classmethod
    def _begin(
        cls,
        table: LoadedTable,
        options: TableOptions,
        path: FilePath,
        source: Mapping[str, Any],
        *,
        n_clusters: int | None,
        links: FilePath | Constraints | None,
        edges: FilePath | None,
        strategy: str,
        random_state: int,
    ) -> Self:
        """Check all that is given, and write it into a new file."""
        if n_clusters is not None:
            check_n_clusters(n_clusters, table)
        check_seed(random_state)
        known, notices = _read_known(table, links)
        drawn = None
        if edges is not None:
            drawn, about_edges = _read_edges(table, edges)
            notices += about_edges
        # Refuses what cannot be used, before a file is made.
        Engine(table.X[:1], method="instant", strategy=strategy)
        about = {
            **source,
            "options": {one.name: getattr(options, one.name) for one in fields(options) if one.name != "table"},
            "n_clusters": None if n_clusters is None else int(n_clusters),
            "strategy": strategy,
            "random_state": int(random_state),
            "links": [[int(a), int(b), int(sign), float(weight)] for (a, b), sign, weight in _listed(known)],
            "edges": None if edges is None else _describe_file(edges, path),
            "notices": notices,
        }
        record = Record.create(path, json.loads(json.dumps(about, default=list)))
        try:
            return cls(table, options, record, edges=drawn)
        except BaseException:
            record.close()
            if record.path is not None:
                record.path.unlink(missing_ok=True)
            raise

    @classmethod
    def open(cls, path: FilePath) -> Self:
        """Continue a session.

        Parameters
        ----------
        path : str or path-like
            The file of the session. Its table is where it was, or in the same place relative to the file.

        Returns
        -------
        Session

        Raises
        ------
        FileFormatError
            If it is not the file of a session, or one of a later version, or the table has changed or is missing.
        OptionError
            If it is open in another studio.
        """
        record = Record.open(path)
        try:
            about = record.about
            if about["table"] is None:
                raise OptionError(f"{path} is about a data frame; give the data frame and this file to Studio.")
            options = TableOptions(_find_file(about["table"], path, "table"), **about["options"])
            table = load_table(options)
            return cls(table, options, record, edges=_edges_again(table, about, path))
        except BaseException:
            record.close()
            raise

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        path: FilePath = IN_MEMORY,
        n_clusters: int | None = None,
        links: FilePath | Constraints | None = None,
        edges: FilePath | None = None,
        strategy: str = "minmax",
        random_state: int = 0,
        **options: Any,
    ) -> Self:
        """Begin or continue a session on a data frame.

        Parameters
        ----------
        frame : pandas or polars DataFrame
            The table.
        path : str or path-like, default=":memory:"
            The file of the session. One that exists is continued, if it is about an equal data frame.
        n_clusters, links, edges, strategy, random_state : object
            As in :meth:`create`; not used if a session is continued.
        **options : object
            Options of :class:`~mustlink.workflow.TableOptions`, such as `id_column`. If a session is continued, those
            of the session are used, and others are refused.

        Returns
        -------
        Session
        """
        given = TableOptions(FRAME, **options)
        if path == IN_MEMORY or not os.path.lexists(path):
            table = load_table(given, frame)
            return cls._begin(
                table,
                given,
                path,
                {"table": None, "frame": _hash_frame(table)},
                n_clusters=n_clusters,
                links=links,
                edges=edges,
                strategy=strategy,
                random_state=random_state,
            )
        record = Record.open(path)
        try:
            about = record.about
            begun = TableOptions(FRAME, **about["options"])
            refusal = OptionError(f"{path} is a session on another table; give the same data frame, or another file.")
            if about["table"] is not None:
                raise refusal
            table = load_table(begun, frame)
            if about["frame"] != _hash_frame(table):
                raise refusal
            other = [name for name in options if _plain(options[name]) != _plain(getattr(begun, name))]
            if other:
                raise OptionError(
                    f"{path} was begun with other options of the table ({', '.join(other)}); leave them out to "
                    "continue it, or give another file."
                )
            return cls(table, begun, record, edges=_edges_again(table, about, path))
        except BaseException:
            record.close()
            raise

    # ---- what is done ------------------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """What the table is called."""
        return os.path.basename(self.options.table)

    @property
    def folder(self) -> Path | None:
        """The folder of the table; None for a data frame."""
        return None if self._record.about["table"] is None else Path(self.options.table).resolve().parent

    def apply(self, action: Action) -> Change:
        """Do what a person asks for, and save it.

        Parameters
        ----------
        action : Action
            The action.

        Returns
        -------
        Change
            What has changed. The action is on the disk.

        Raises
        ------
        ActionRefused
            If the action cannot be done or saved; nothing has changed then.
        """
        with self._lock:
            self._check_open()
            before, when = self.engine._remember(), _now()
            change = self.engine.apply(action, when=when)
            self._save(Entry(when, as_message(action), self.engine.state.ids), before, action)
            self._questions.note(action, change, self.engine)
            return change

    def offer(self, labels: Any, revision: int, *, method: str, confidence: Any = None) -> Change | None:
        """Show the result of a clusterer that ran in the background, and save it.

        Parameters
        ----------
        labels : array-like of shape (n_samples,)
            The cluster of every row, -1 for none.
        revision : int
            The revision of the engine when the links were taken.
        method : str
            The name of the clusterer.
        confidence : array-like of shape (n_samples,), default=None
            How certain the label of every row is, from 0 to 1.

        Returns
        -------
        Change or None
            What has changed; None if it is refused, see :meth:`Engine.offer`.
        """
        with self._lock:
            self._check_open()
            before = self.engine._remember()
            change = self.engine.offer(labels, revision, method=method, confidence=confidence)
            state, fit = self.engine.state, self.engine.state.fit
            if change is not None and fit is not None:
                message, ids = {"do": "fit", "method": fit.method, "final": state.is_final}, state.ids
                self._save(Entry(_now(), message, ids, fit.packed_labels, fit.packed_confidence), before, None)
            return change

    def prepare(self) -> Change | None:
        """Compute what the instant groups of a large table need, show them if they are due, and save this.

        Returns
        -------
        Change or None
            What has changed; None if instant groups are shown already, or the session is closed.
        """
        self.engine.prepare()
        with self._lock:
            if not self._is_open:
                return None
            before = self.engine._remember()
            change = self.engine.show_tree()
            if change is not None:
                self._keep_tree()
                self._save(Entry(_now(), {"do": TREE}, self.engine.state.ids), before, None)
            return change

    def _save(self, entry: Entry, before: dict[str, Any], action: Action | None) -> None:
        """Write an entry; if this fails, what is not on the disk has not happened."""
        try:
            self._record.append(entry)
        except sqlite3.Error as error:
            self.engine._restore(before)
            raise ActionRefused(
                f"This could not be saved in {self.path}, and was not done: {error}.", action
            ) from error
        except BaseException:
            self.engine._restore(before)
            raise

    def _keep_tree(self) -> None:
        """Save the tree of a large table once; without it, opening the file takes longer, and that is all."""
        if self._is_tree_kept or len(self.table.X) < MIN_KEPT_ROWS:
            return
        tree = self.engine.tree
        if tree is not None:
            self._is_tree_kept = True
            with suppress(sqlite3.Error):
                self._record.keep(TREE, tree)

    def _replay(self) -> None:
        """Do again what the file holds."""
        for number, entry in enumerate(self._record.entries(), start=1):
            try:
                if entry.message["do"] == TREE:
                    self.engine._replay_tree(entry.ids)
                elif entry.labels is not None:
                    n_rows = len(self.table.X)
                    fit = PackedFit(entry.message["method"], n_rows, entry.labels, entry.confidence or b"")
                    if len(fit.labels()) != n_rows or len(fit.confidence()) != n_rows:
                        raise ValueError(f"a result of another number of rows than {n_rows:,}")
                    self.engine._replay_fit(fit, entry.message["final"], entry.ids)
                else:
                    self.engine._replay(as_action(entry.message), entry.when, entry.ids)
            except (ActionRefused, OptionError) as error:
                raise FileFormatError(f"{self.path}: entry {number:,} cannot be replayed: {error}") from None
            except (KeyError, IndexError, TypeError, ValueError, zlib.error) as error:
                raise FileFormatError(
                    f"{self.path} is damaged, or of another version: entry {number:,} cannot be replayed ({error!r})."
                ) from None
        try:
            self.engine._refresh()
        except (IndexError, ValueError, zlib.error) as error:
            raise FileFormatError(
                f"{self.path} is damaged, or of another version: its last groups cannot be shown ({error!r})."
            ) from None

    def log(self) -> list[dict[str, Any]]:
        """Return all actions and results of the background so far, in order, undone ones too.

        Returns
        -------
        list of dict
            The messages of the actions with their times (`when`); of a result, the method.
        """
        with self._lock:
            self._check_open()
            return [{"when": entry.when, **entry.message} for entry in self._record.entries()]

    def _check_open(self) -> None:
        if not self._is_open:
            raise ActionRefused("The session is closed; open it again to continue.")

    # ---- questions ---------------------------------------------------------------------------------------------------

    @property
    def question(self) -> Question | None:
        """The question to ask next, by the rows of `X`; None if there is none. May take a while."""
        return self._questions.question

    @property
    def question_end(self) -> str | None:
        """Why there is no question, as a sentence; None as long as there is one."""
        return self._questions.end

    @property
    def advice(self) -> str | None:
        """Whether further questions are worth asking, as a sentence; None if they are. May take a while."""
        return self._questions.advice

    def close(self) -> None:
        """Close the file; it can be opened again."""
        with self._lock:
            if self._is_open:
                self._keep_tree()
                self._is_open = False
                self._record.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _listed(links: Constraints) -> Any:
    return zip(links.pairs.tolist(), links.sign.tolist(), links.weight.tolist(), strict=True)


def _link_arrays(links: Sequence[Sequence[float]]) -> tuple[Ints, Ints, Any]:
    """Return the pairs, signs and weights of the links in a file."""
    table = np.array(links, dtype=np.float64).reshape(-1, 4)
    return table[:, :2].astype(np.int64), table[:, 2].astype(np.int64), table[:, 3]


def _read_known(table: LoadedTable, links: FilePath | Constraints | None) -> tuple[Constraints, list[str]]:
    """Return the links that are known before, and notes on them; refuse those against the rules of the table."""
    known: Constraints = Constraints()
    notices: list[str] = []
    if isinstance(links, Constraints):
        links.check_rows(table.source.n_rows)
        given = links.expand()
        known = given.on(table.source.n_rows)[table.rows].constraints
        if len(known) < len(given):
            notices.append(
                f"{count(len(given) - len(known), 'link is', 'links are')} about rows that were left out, and not used."
            )
    elif links is not None:
        known, notices = table.read_links(links)
    n_conflicts = len(known.conflicts())
    if n_conflicts:
        first = known.conflicts()[0]
        rows = " - ".join(table.row_names[row] for row in first.chain)
        a, b = (table.row_names[row] for row in first.cannot_link)
        contradicts = "1 of the links contradicts" if n_conflicts == 1 else f"{n_conflicts:,} of the links contradict"
        notices.append(
            f"{contradicts} others: {a} and {b} are to be different, and the same through {rows}. Remove one of these "
            "links, in the list of links."
        )
    table.add_rules(known)
    return known, notices


def _read_edges(table: LoadedTable, path: FilePath) -> tuple[Ints, list[str]]:
    """Return the edges between kept rows, each once, and notes on those that were left out."""
    graph, _, left_out = table.read_graph(path)
    upper = graph.tocoo()
    is_upper = upper.row < upper.col
    return np.column_stack([upper.row[is_upper], upper.col[is_upper]]).astype(np.int64), left_out


def _edges_again(table: LoadedTable, about: Mapping[str, Any], session: FilePath) -> Ints | None:
    """Read the edges of a session again; None if it has none."""
    if about["edges"] is None:
        return None
    return _read_edges(table, _find_file(about["edges"], session, "file of edges"))[0]


def _plain(value: object) -> object:
    """Return a value that compares equal however a sequence was written."""
    return list(value) if isinstance(value, list | tuple) else value


def _describe_file(path: FilePath, session: FilePath) -> dict[str, Any]:
    """Return where a file is, also relative to the session, and a hash of its content."""
    absolute = os.path.abspath(path)
    try:
        relative = (
            None if session == IN_MEMORY else os.path.relpath(absolute, os.path.dirname(os.path.abspath(session)))
        )
    except ValueError:
        # On another drive.
        relative = None
    return {"path": absolute, "relative": relative, "sha256": _hash_file(absolute)}


def _find_file(about: Mapping[str, Any], session: FilePath, what: str) -> str:
    """Return where a file is now; refuse one that is missing or has changed."""
    beside = (
        None
        if about["relative"] is None
        else os.path.join(os.path.dirname(os.path.abspath(session)), about["relative"])
    )
    places = [os.path.normpath(place) for place in (about["path"], beside) if place is not None]
    found = [place for place in dict.fromkeys(places) if os.path.isfile(place)]
    for place in found:
        if _hash_file(place) == about["sha256"]:
            return place
    if found:
        raise FileFormatError(
            f"The {what} {found[0]} has changed since the session {session} began, and its rows may be others now; "
            "restore the file, or begin a new session."
        )
    raise FileFormatError(
        f"The {what} {places[0]} of the session {session} is missing; put it there, or beside the session as before."
    )


def _hash_file(path: FilePath) -> str:
    """Return a hash of the content of a file."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _hash_frame(table: LoadedTable) -> str:
    """Return a hash of the columns of a data frame as they were read."""
    from pandas.util import hash_pandas_object

    frame = table.source.frame
    content = hashlib.sha256(repr([str(name) for name in frame.columns]).encode())
    content.update(np.ascontiguousarray(hash_pandas_object(frame, index=False).to_numpy()).tobytes())
    return content.hexdigest()
