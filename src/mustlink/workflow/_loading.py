"""From the files of a person to numbers, links and known labels."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from mustlink import errors
from mustlink._spelling import count, spell_whole
from mustlink._types import Indices, Ints
from mustlink.constraints import Constraints, known_rows
from mustlink.errors import ColumnsError, ConstraintError, FileFormatError, MustlinkError, OptionError
from mustlink.tables import (
    EncodedTable,
    LinkList,
    Table,
    UnknownIds,
    check_options,
    encode,
    read_edges,
    read_links,
    read_table,
    refuse_reading_options,
)
from mustlink.workflow._naming import with_row_names

if TYPE_CHECKING:
    from mustlink.workflow._blocked_table import BlockedTable

__all__ = ["LoadedTable", "TableOptions", "check_n_clusters", "check_seed", "load_table", "read_link_file"]

Contradictions = Literal["raise", "majority", "keep"]

# The options that tell how a file is written.
READING_OPTIONS = ("header", "encoding", "delimiter", "decimal", "sheet")
# The most groups that a note names.
MAX_NAMED_GROUPS = 5
# What to do about an error, in the words of a job.
REMEDIES = {
    **errors.REMEDIES,
    "apart_rules": 'remove the link, or pass within_groups="always" or a larger at_most',
    "certain_method": 'use method="boost", or a method that always keeps all links, such as "cop"',
    "drop_empty": "leave out such {side} with drop_empty=True",
    "estimate_trust": 'pass links_are="estimated"',
    "fewer_neighbors": 'use another method, such as method="boost"',
    "give_categories": "give at least two categories of several texts each",
    "give_ids": "name the column of the ids with id_column",
    "in_memory": "pass in_blocks=False",
    "give_graph": "pass a file of edges as graph",
    "graph_method": 'use a method that takes a graph, such as method="connected-kmeans"',
    "groups_method": 'use method="cop" or "pck", which take groups without a list of their pairs, or smaller groups',
    "keep_more_terms": "reduce min_df or gini_drop",
    "linked_method": 'use a method that takes links, such as method="boost"',
    "look_ahead": 'use a method that looks ahead, such as method="linkage"',
    "majority_of_sum": errors.REMEDIES["majority"],
    "relax": "pass relax=True",
    # The summary lists the broken links.
    "see_history": "",
    "see_violations": "",
    "more_space": "free some space, or set TMPDIR to a folder on a larger disk",
    "space_for_labels": "free some space, or set TMPDIR to a folder on a larger disk",
    "missing_marker": "clear the cell if it marks a missing value",
    "scale": "pass scale=True",
    "sized_method": 'use method="sizes"',
    "soft_method": 'use a method that may break links, such as method="boost"',
    "soft_mixture": 'use a mixture that may break links, method="penalized"',
}


@contextmanager
def job_remedies() -> Iterator[None]:
    """Word the remedies of errors for a job; also a decorator."""
    try:
        yield
    except MustlinkError as error:
        raise error.with_remedies(REMEDIES) from None


@dataclass(frozen=True)
class TableOptions:
    """A table in a file, and how its columns are used.

    Parameters
    ----------
    table : str or path-like
        The file, in a format that :func:`mustlink.tables.read_table` reads.
    id_column : str or None, default=None
        The column that names the rows. Links then name ids; without it, they name rows by number from 0.
    label_column : str or None, default=None
        A column with the labels of some rows, empty or -1 where unknown. It is used as supervision, not as a feature.
        If every row has a label, the clusters are compared with the labels, and no links are made of them.
    never_together, always_together : sequence of str, default=()
        Columns of groups: rows with the same entry in one of these columns are never, or always, in one cluster. Empty
        cells and -1 are no group. They are used for this rule and not as features, unless they are also among
        `categorical`.
    ignore : sequence of str, default=()
        Columns to leave out.
    categorical : sequence of str, default=()
        Columns to use as categories, even if they hold numbers or very many different texts.
    scale : bool, default=True
        Whether numeric columns are standardized.
    one_hot : bool, default=True
        Whether each category of a text column becomes a column of 0 and 1; otherwise text columns are left out.
    missing : {"error", "drop", "mean"}, default="error"
        What to do with empty cells: refuse them, leave out their rows, or fill them with the mean of the column (in
        text columns, with a category of their own).
    header : bool or None, default=None
        Whether the first line of a text file names the columns; None decides by its cells.
    encoding, delimiter, decimal : str or None, default=None
        The encoding, the separator and the decimal sign of a text file; None finds them. See
        :func:`mustlink.tables.read_table`.
    sheet : str or None, default=None
        The sheet of an Excel file; None reads the first one.

    Examples
    --------
    >>> from mustlink.workflow import TableOptions
    >>> TableOptions("customers.csv", id_column="customer").missing
    'error'
    """

    table: str | os.PathLike[str]
    _: KW_ONLY
    id_column: str | None = None
    label_column: str | None = None
    never_together: Sequence[str] = ()
    always_together: Sequence[str] = ()
    ignore: Sequence[str] = ()
    categorical: Sequence[str] = ()
    scale: bool = True
    one_hot: bool = True
    missing: Literal["error", "drop", "mean"] = "error"
    header: bool | None = None
    encoding: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        check_options(**{one.name: getattr(self, one.name) for one in fields(self)})

    @property
    def reading(self) -> dict[str, Any]:
        """The options of :func:`mustlink.tables.read_table` that tell how the file is written."""
        return {name: getattr(self, name) for name in READING_OPTIONS}


@dataclass(frozen=True)
class LoadedTable(EncodedTable):
    """A table ready to cluster.

    Has the fields of :class:`mustlink.tables.EncodedTable` (`X`, `rows`, `features`, `notices`) and those below.

    Parameters
    ----------
    source : Table
        The table as it was read, with all rows and the columns that are not ignored.
    ids : list of str or None
        The ids of all rows, if a column holds them.
    labels : list of str or None
        The known labels of all rows, empty where unknown, if a column holds them. Cells that are empty or -1 are
        unknown.
    rules : Constraints
        The links of the columns `never_together` and `always_together`, between the kept rows.
    rule_columns : mapping of str to {"cannot", "must"}
        These columns, and the links that they make.

    Examples
    --------
    >>> from mustlink.datasets import sample_paths
    >>> from mustlink.workflow import TableOptions, load_table
    >>> table = load_table(TableOptions(sample_paths()[0], id_column="customer"))
    >>> table.X.shape, table.row_names[:2]
    ((240, 7), ['C001', 'C002'])
    """

    source: Table
    ids: list[str] | None
    labels: list[str] | None
    rules: Constraints = Constraints()  # noqa: RUF009  (an immutable value)
    rule_columns: Mapping[str, Literal["cannot", "must"]] = field(default_factory=dict)

    @cached_property
    def row_names(self) -> list[str]:
        """The names of the kept rows: their ids, or their numbers in the table."""
        rows = self.rows.tolist()
        return [str(row) for row in rows] if self.ids is None else [self.ids[row] for row in rows]

    @cached_property
    def kept_labels(self) -> list[str] | None:
        """The known labels of the kept rows."""
        return None if self.labels is None else [self.labels[row] for row in self.rows.tolist()]

    @cached_property
    def is_labeled(self) -> bool:
        """Whether every kept row has a known label."""
        return self.kept_labels is not None and all(self.kept_labels)

    @cached_property
    def partial_labels(self) -> Ints | None:
        """The known labels of the kept rows as numbers, -1 where unknown; None if no row or every row has a label.

        As in ``fit`` of every clusterer, labels for all rows are the truth to compare with, and no source of links.
        """
        if self.kept_labels is None or self.is_labeled:
            return None
        number = {label: place for place, label in enumerate(sorted(set(self.kept_labels) - {""}))}
        return np.array([number.get(label, -1) for label in self.kept_labels])

    def read_links(
        self,
        path: str | os.PathLike[str],
        contradictions: Contradictions = "raise",
        unknown_ids: UnknownIds = "raise",
    ) -> tuple[Constraints, list[str]]:
        """Read links between rows of this table.

        Parameters
        ----------
        path : str or path-like
            The file of links.
        contradictions : {"raise", "majority", "keep"}, default="raise"
            What to do with a pair linked both ways: refuse it, keep the heavier side, or keep both as a conflict.
        unknown_ids : {"raise", "skip"}, default="raise"
            What to do with a link that names an id which the table does not have: refuse it, or skip it.

        Returns
        -------
        links : Constraints
            The links between kept rows, by their position in `X`.
        notices : list of str
            What was left out, as sentences.
        """
        try:
            links, notices = read_link_file(
                path, contradictions, ids=self.ids, n_rows=self.source.n_rows, unknown_ids=unknown_ids
            )
        except ConstraintError as error:
            raise self._suggest_id_column(error, "links") from None
        column = self._id_like_column(links.constrained_rows().tolist()) if self.ids is None else None
        if column is not None:
            notices.append(
                f"The links are read as row numbers, from 0; the column {column!r} holds the same numbers in other "
                "rows. Name it as the id column if they are ids."
            )
        kept = links.on(self.source.n_rows)[self.rows].constraints
        n_lost = len(links) - len(kept)
        if n_lost:
            name = count(n_lost, "link names", "links name")
            notices.append(f"{name} rows that were left out; {len(kept):,} of {len(links):,} are used.")
        return kept, notices

    def add_rules(self, links: Constraints, contradictions: Contradictions = "raise") -> Constraints:
        """Return links together with those of the columns of groups.

        Parameters
        ----------
        links : Constraints
            Links between kept rows, by their position in `X`.
        contradictions : {"raise", "majority", "keep"}, default="raise"
            What to do with a pair that both link, but not alike: refuse it, keep the heavier side, or keep both as a
            conflict.

        Returns
        -------
        Constraints
            All links.
        """
        try:
            return links.add(self.rules, contradictions=contradictions)
        except ConstraintError as error:
            problem = f"The links and the columns of groups together: {error.problem}"
            raise with_row_names(error.with_problem(problem), self.row_names).with_remedies(REMEDIES) from None

    def describe_broken_rules(self, labels: Ints) -> list[str]:
        """Describe how often clusters break the rule of each column of groups.

        Parameters
        ----------
        labels : ndarray of int, shape (n_kept,)
            The cluster of each kept row; -1 is no cluster.

        Returns
        -------
        list of str
            A sentence for each rule that is broken.
        """
        sentences = []
        for column, link in self.rule_columns.items():
            groups = _group_names(self.source, column, self.rows)
            links = Constraints.from_groups(groups, link)
            broken = links.violations(labels)
            if broken.is_empty:
                continue
            names = list(dict.fromkeys(groups[broken.constrained_rows()]))
            n_groups = len(set(groups[links.constrained_rows()]))
            more = f" and {len(names) - MAX_NAMED_GROUPS:,} more" if len(names) > MAX_NAMED_GROUPS else ""
            sentences.append(
                f"{'Never' if link == 'cannot' else 'Always'} together by {column!r}: {len(broken):,} of "
                f"{count(len(links), 'link')} broken, in {len(names):,} of {count(n_groups, 'group')}: "
                f"{', '.join(names[:MAX_NAMED_GROUPS])}{more}."
            )
        return sentences

    def read_graph(
        self, path: str | os.PathLike[str], unknown_ids: UnknownIds = "raise"
    ) -> tuple[sparse.csr_array, list[str], list[str]]:
        """Read edges between rows of this table.

        Parameters
        ----------
        path : str or path-like
            The file of edges, as :func:`mustlink.tables.read_edges` reads it.
        unknown_ids : {"raise", "skip"}, default="raise"
            What to do with an edge that names an id which the table does not have: refuse it, or skip it.

        Returns
        -------
        graph : sparse array of shape (n_kept, n_kept)
            Symmetric; one where two kept rows are adjacent.
        notices : list of str
            What is not used, and the number of connected parts, as sentences.
        left_out : list of str
            Those of the notices that are about edges which were left out.
        """
        n_rows = self.source.n_rows
        try:
            edges = read_edges(path, self.ids, n_rows=n_rows, unknown_ids=unknown_ids)
        except ConstraintError as error:
            raise self._suggest_id_column(error, "edges") from None
        pairs = np.unique(np.sort(edges.pairs, axis=1), axis=0)
        left_out = []
        if edges.n_skipped:
            left_out.append(
                f"{count(edges.n_skipped, 'edge names an id', 'edges name ids')} not in the table and "
                f"{'was' if edges.n_skipped == 1 else 'were'} skipped."
            )
        place = np.full(n_rows, -1)
        place[self.rows] = np.arange(len(self.rows))
        kept = place[pairs][(place[pairs] >= 0).all(axis=1)]
        if len(kept) < len(pairs):
            names = count(len(pairs) - len(kept), "edge names", "edges name")
            left_out.append(f"{names} rows that were left out; {len(kept):,} of {len(pairs):,} are used.")
        half = sparse.coo_array((np.ones(len(kept)), tuple(kept.T)), shape=(len(self.rows), len(self.rows)))
        graph = sparse.csr_array(half + half.T)
        n_parts = connected_components(graph, directed=False)[0]
        about_weights = ["The weights of the edges are not used."] if edges.has_weights else []
        about_parts = (
            f"The graph has {count(len(kept), 'edge')} and {count(int(n_parts), 'connected part')}; every cluster is "
            "connected in it."
        )
        return graph, [*about_weights, *left_out, about_parts], left_out

    def _suggest_id_column(self, error: ConstraintError, what: str) -> ConstraintError:
        """Suggest to take a column as ids that holds the numbers of rows which the table does not have."""
        column = self._id_like_column(error.fields.get("rows", ()))
        if column is None:
            return error
        problem = f"{error.problem} The column {column!r} holds the numbers that the {what} name"
        return ConstraintError(problem, error.pairs, remedy="mark_id", column=column).with_remedies(REMEDIES)

    def _id_like_column(self, numbers: Collection[int]) -> str | None:
        """Return a column of different numbers that has all of these, but not just as its row numbers."""
        if not numbers:
            return None
        wanted = np.array(sorted(numbers), dtype=np.float64)
        for name in self.source.names:
            values = self.source.column(name).to_numpy()
            if values.dtype.kind != "f" or np.unique(values).size < values.size or not np.isin(wanted, values).all():
                continue
            if wanted[-1] >= values.size or (values[wanted.astype(np.intp)] != wanted).any():
                return name
        return None

    def kmeans_labels(self, n_clusters: int, random_state: int | None = 0) -> Ints:
        """Cluster with scikit-learn's k-means, which uses no links, for comparison.

        Parameters
        ----------
        n_clusters : int
            The number of clusters.
        random_state : int or None, default=0
            The seed.

        Returns
        -------
        ndarray of int, shape (n_kept,)
            The cluster of each kept row.
        """
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning

        with warnings.catch_warnings():
            # Fewer distinct rows than clusters.
            warnings.simplefilter("ignore", ConvergenceWarning)
            labels: Ints = KMeans(n_clusters, n_init=10, random_state=random_state).fit_predict(self.X)
        return labels


def load_table(options: TableOptions, frame: Any = None) -> LoadedTable:
    """Read a table and turn its columns into numbers.

    Parameters
    ----------
    options : TableOptions
        The file, and how its columns are used; a :class:`Job` is one as well.
    frame : pandas or polars DataFrame, default=None
        A data frame to take instead of the file; `options` then names it in messages.

    Returns
    -------
    LoadedTable
        The table.

    Examples
    --------
    >>> from mustlink.datasets import sample_paths
    >>> from mustlink.workflow import TableOptions, load_table
    >>> load_table(TableOptions(sample_paths()[0], ignore=["customer"])).row_names[:3]
    ['0', '1', '2']
    """
    if not isinstance(options, TableOptions):
        raise TypeError(f"A table is loaded by TableOptions or a Job, such as TableOptions({str(options)!r}).")
    no_features = check_uses(options)
    # Problems are raised by encode, together with those that only show there.
    uses: dict[str, Any] = {
        "text": [*no_features, *options.categorical],
        "ignore": options.ignore,
        "problems": "keep",
    }
    if frame is None:
        source = read_table(options.table, **uses, **options.reading)
    else:
        source = Table.from_frame(frame, source=str(options.table), **uses)
    ids = None if options.id_column is None else source.row_ids(options.id_column)
    labels = None if options.label_column is None else known_labels(source.strings(options.label_column))
    if labels is not None and not any(labels):
        raise OptionError(f"{options.table}: the label column {options.label_column!r} is empty throughout.")
    try:
        encoded = encode(
            source,
            ignore=no_features,
            categorical=options.categorical,
            scale=options.scale,
            one_hot=options.one_hot,
            missing=options.missing,
        )
    except FileFormatError as error:
        raise suggest_ids(error, source.n_rows) if options.id_column is None else error from None
    links_of_columns = list_rules(options)
    rules, about_rules = read_rules(source, encoded.rows, links_of_columns)
    notices = (*source.notices, *encoded.notices, *about_rules)
    table = LoadedTable(
        encoded.X, encoded.rows, encoded.features, notices, source, ids, labels, rules, links_of_columns
    )
    if not table.is_labeled:
        return table
    return replace(table, notices=(*notices, note_on_labels(options.label_column)))


def check_uses(options: TableOptions) -> list[str]:
    """Refuse columns with two uses, and return those that are no features."""
    if options.id_column is not None and options.id_column == options.label_column:
        raise OptionError(f"The column {options.id_column!r} cannot hold both the ids and the labels.")
    no_features = [name for name in (options.id_column, options.label_column) if name is not None]
    rule_columns = [*options.never_together, *options.always_together]
    for name in rule_columns:
        if name in no_features or rule_columns.count(name) > 1:
            raise OptionError(f"The column {name!r} of groups has two uses; choose one of the two.")
    no_features += [name for name in rule_columns if name not in options.categorical]
    for name in (*no_features, *options.categorical):
        if name in options.ignore:
            raise OptionError(f"The column {name!r} is both used and ignored; choose one of the two.")
    return no_features


def refuse_other_reading(options: TableOptions) -> None:
    """Refuse options of text files and of Excel, for a table that is neither."""
    refuse_reading_options(
        Path(options.table), {"encoding": options.encoding, "delimiter": options.delimiter}, options.sheet
    )


def list_rules(options: TableOptions) -> dict[str, Literal["cannot", "must"]]:
    """Return the columns of groups, and the links that they make."""
    return {**dict.fromkeys(options.never_together, "cannot"), **dict.fromkeys(options.always_together, "must")}


def read_rules(
    source: Table, kept: Indices, columns: Mapping[str, Literal["cannot", "must"]]
) -> tuple[Constraints, list[str]]:
    """Return the links of columns of groups between the kept rows, and notes on rows and columns without effect."""
    rules, notices = Constraints(), []
    for name, link in columns.items():
        groups = _group_names(source, name, kept)
        found = Constraints.from_groups(groups, link)
        n_without = int(np.count_nonzero(groups == ""))
        if found.is_empty:
            notices.append(f"No two rows have the same entry in the column {name!r}, so its rule has no effect.")
        elif n_without:
            rows_are = f"{n_without:,} of {count(len(groups), 'row')} {'is' if n_without == 1 else 'are'}"
            notices.append(f"{rows_are} in no group of the column {name!r}: empty cells and -1 are none.")
        # An error names a group with its column.
        named = [
            replace(one, names=np.array([f"{name}={group}" for group in one.names], dtype=object))
            for one in found.cannot_link_groups
        ]
        rules = rules.add(found.with_groups(named), contradictions="keep")
    return rules, notices


def _group_names(source: Table, column: str, kept: Indices) -> NDArray[np.object_]:
    """Return the group of each kept row by the entries of a column, empty for none."""
    return np.array(known_labels(source.strings(column)), dtype=object)[kept]


def known_labels(cells: list[str]) -> list[str]:
    """Return the labels of a column: unknown ones are empty, and whole numbers are written without a decimal point."""
    known = set(known_rows(cells)[0].tolist())
    return [spell_whole(cell) if row in known else "" for row, cell in enumerate(cells)]


def note_on_labels(column: str | None) -> str:
    """Say that labels for every row make no links."""
    return (
        f"Every row has a label in the column {column!r}, so the labels are not used as links; the clusters are "
        "compared with them. Leave some cells empty to use the others as links."
    )


def suggest_ids(error: FileFormatError, n_rows: int) -> FileFormatError:
    """Suggest to take a column of as many different texts as there are rows as ids."""
    if isinstance(error, ColumnsError):
        return error.with_problems([suggest_ids(problem, n_rows) for problem in error.problems])
    is_distinct = error.fields.get("n_categories") == n_rows
    return error.with_remedies(REMEDIES, "mark_id") if is_distinct else error


@job_remedies()
def read_link_file(
    path: str | os.PathLike[str],
    contradictions: Contradictions = "raise",
    *,
    ids: Sequence[str] | Mapping[str, int] | None = None,
    n_rows: int | None = None,
    unknown_ids: UnknownIds = "raise",
) -> tuple[Constraints, list[str]]:
    """Read links, and note what a person should know of the file.

    Parameters
    ----------
    path : str or path-like
        The file of links.
    contradictions : {"raise", "majority", "keep"}, default="raise"
        What to do with a pair linked both ways: refuse it; keep the heavier side, and neither if both weigh the
        same; or keep both as a conflict.
    ids : sequence of str, mapping of str to int or None, default=None
        The id of every row of the table, if the links name ids, or the rows of the ids that they name.
    n_rows : int or None, default=None
        The number of rows of the table, if it is known.
    unknown_ids : {"raise", "skip"}, default="raise"
        What to do with a link that names an id which is not among `ids`: refuse it, or skip it.

    Returns
    -------
    links : Constraints
        The links, by the rows of the table.
    notices : list of str
        Whether the file is empty and what was left out, as sentences.

    Examples
    --------
    >>> from mustlink.datasets import sample_paths
    >>> from mustlink.workflow import TableOptions, load_table, read_link_file
    >>> table, links = sample_paths()
    >>> read_link_file(links, ids=load_table(TableOptions(table, id_column="customer")).ids)
    (Constraints(24 must-links, 16 cannot-links), [])
    """
    links = read_links(path, ids, unknown_ids=unknown_ids)
    for link in links:
        if n_rows is not None and max(link.a, link.b) >= n_rows:
            raise ConstraintError(
                f"{link.place}: a {'must' if link.is_must else 'cannot'}-link names the rows {link.a} and {link.b}, "
                f"but the table has {count(n_rows, 'row')}, numbered 0 to {n_rows - 1}.",
                [(link.a, link.b)],
                rows={row for link in links for row in (link.a, link.b)},
            )
    names = {row: name for name, row in ids.items()} if isinstance(ids, Mapping) else ids
    return links_of_file(path, links, contradictions, names)


def links_of_file(
    path: str | os.PathLike[str], links: LinkList, contradictions: Contradictions, names: Any
) -> tuple[Constraints, list[str]]:
    """Make constraints of the links of a file, and note whether it is empty and what was left out."""
    known = Constraints._from_links(links, contradictions, names)
    notices = [links.skipped_notice] if links.n_skipped else [] if links else [f"{path} has no links."]
    if contradictions == "majority":
        n_ties = len({frozenset((link.a, link.b)) for link in links}) - len(known)
        if n_ties:
            pairs_are = count(n_ties, "pair is", "pairs are")
            notices.append(f"{pairs_are} linked both ways with equal weight in {path}; neither link is used.")
    if contradictions == "keep":
        try:
            Constraints._from_links(links, "raise", names)
        except ConstraintError as error:
            notices.append(f"{error.problem}.")
    return known, notices


def check_seed(random_state: int | None) -> None:
    """Refuse a seed that random numbers cannot start from.

    Parameters
    ----------
    random_state : int or None
        The seed; None is any.

    Examples
    --------
    >>> from mustlink.workflow import check_seed
    >>> check_seed(-1)
    Traceback (most recent call last):
        ...
    mustlink.errors.OptionError: The seed is -1; random_state must be from 0 to 4294967295.
    """
    if random_state is not None and not 0 <= random_state < 2**32:
        raise OptionError(f"The seed is {random_state}", remedy="random_state_range")


def check_n_clusters(n_clusters: int, table: LoadedTable | BlockedTable | None = None) -> None:
    """Refuse a number of clusters below 1 or above the number of rows.

    Parameters
    ----------
    n_clusters : int
        The number of clusters.
    table : LoadedTable, BlockedTable or None, default=None
        The table, if it is loaded already.

    Examples
    --------
    >>> from mustlink.workflow import check_n_clusters
    >>> check_n_clusters(0)
    Traceback (most recent call last):
        ...
    mustlink.errors.OptionError: The number of clusters is 0; n_clusters must be at least 1.
    """
    check_options(n_clusters=n_clusters)
    if n_clusters < 1:
        raise OptionError(f"The number of clusters is {n_clusters}", remedy="n_clusters_from_1")
    if table is not None and n_clusters > len(table.X):
        raise OptionError(
            f"{n_clusters:,} clusters cannot be made of the {count(len(table.X), 'row')} of {table.source.source}",
            remedy="fewer_clusters",
        )
