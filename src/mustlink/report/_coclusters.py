"""What is shown of co-clusters, groups of rows with groups of columns, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from mustlink._spelling import count
from mustlink._types import Array, Ints
from mustlink.constraints import Constraints
from mustlink.metrics import goodman_kruskal_tau
from mustlink.report._summary import RowNames, printable

__all__ = [
    "Cocluster",
    "CoclusterColumn",
    "CoclusterRow",
    "CoclusterSummary",
    "SideLinks",
    "summarize_coclusters",
]

MAX_COLUMNS = 20
MAX_ROWS = 5
MAX_UNCOVERED = 12
MAX_BROKEN = 50


class CoclusterColumn(NamedTuple):
    """A column of a co-cluster.

    Parameters
    ----------
    name : str
        Its name.
    inside, overall : float
        The fraction of ones in the rows of the co-cluster, and in all rows.

    Examples
    --------
    >>> from mustlink.report import CoclusterColumn
    >>> str(CoclusterColumn("milk", 1.0, 0.41))
    'milk 100% (41% overall)'
    """

    name: str
    inside: float
    overall: float

    def __str__(self) -> str:
        return f"{self.name} {self.inside:.0%} ({self.overall:.0%} overall)"


class CoclusterRow(NamedTuple):
    """A row of a co-cluster, shown as an example of it.

    Parameters
    ----------
    name : str
        Its id or its number.
    n_inside, n_outside : int
        The number of its ones in the columns of the co-cluster, and in other columns.

    Examples
    --------
    >>> from mustlink.report import CoclusterRow
    >>> CoclusterRow("bear", 5, 1).n_inside
    5
    """

    name: str
    n_inside: int
    n_outside: int


@dataclass(frozen=True)
class Cocluster:
    """One co-cluster.

    Parameters
    ----------
    label : int
        Its number.
    n_rows, n_columns : int
        The numbers of its rows and columns.
    density : float
        The fraction of ones in its rows and columns; NaN if it has no rows or no columns.
    columns : tuple of CoclusterColumn
        Its columns, those first in which its rows differ most from all rows; at most 20.
    rows : tuple of CoclusterRow
        Rows with most ones inside and fewest outside; at most 5.

    Examples
    --------
    See :func:`summarize_coclusters`.
    """

    label: int
    n_rows: int
    n_columns: int
    density: float
    columns: tuple[CoclusterColumn, ...]
    rows: tuple[CoclusterRow, ...]

    @property
    def density_words(self) -> str:
        """The fraction of ones in words."""
        return "none" if np.isnan(self.density) else f"{self.density:.0%}"


class SideLinks(NamedTuple):
    """The links of rows, of columns, or between them, and how many hold.

    Parameters
    ----------
    what : str
        What is linked.
    n_must, n_must_kept, n_cannot, n_cannot_kept : int
        The number of links of each kind, and how many of them hold.

    Examples
    --------
    >>> from mustlink.report import SideLinks
    >>> str(SideLinks("rows", 3, 3, 1, 0))
    'rows: 3 of 3 must, 0 of 1 cannot'
    """

    what: str
    n_must: int
    n_must_kept: int
    n_cannot: int
    n_cannot_kept: int

    def __str__(self) -> str:
        kinds = ("must", self.n_must_kept, self.n_must), ("cannot", self.n_cannot_kept, self.n_cannot)
        return f"{self.what}: " + ", ".join(f"{n_kept:,} of {n_all:,} {kind}" for kind, n_kept, n_all in kinds if n_all)


@dataclass(frozen=True)
class CoclusterSummary:
    """What is shown of co-clusters.

    Parameters
    ----------
    n_rows, n_columns, n_ones : int
        The size of the matrix, and the number of its ones.
    clusters : tuple of Cocluster
        The co-clusters with rows or columns, in the order of their numbers.
    n_inside : int
        The number of ones in co-clusters.
    density_outside : float
        The fraction of ones outside all co-clusters; NaN if nothing is outside.
    tau : float
        How well the groups of rows and of columns predict each other, see
        :func:`mustlink.metrics.goodman_kruskal_tau`.
    links : tuple of SideLinks
        The links that were given, of rows, of columns and between them.
    broken : tuple of str
        Links that do not hold, as sentences; at most 50.
    n_broken : int
        The number of all these.
    uncovered_rows, uncovered_columns : tuple of str
        The first rows and columns in no co-cluster.
    n_uncovered_rows, n_uncovered_columns : int
        The numbers of all these.
    notices : tuple of str
        What a person should know, as sentences.

    Examples
    --------
    See :func:`summarize_coclusters`.
    """

    n_rows: int
    n_columns: int
    n_ones: int
    clusters: tuple[Cocluster, ...]
    n_inside: int
    density_outside: float
    tau: float
    links: tuple[SideLinks, ...]
    broken: tuple[str, ...]
    n_broken: int
    uncovered_rows: tuple[str, ...]
    uncovered_columns: tuple[str, ...]
    n_uncovered_rows: int
    n_uncovered_columns: int
    notices: tuple[str, ...]

    @property
    def headline(self) -> str:
        """The result in a sentence or two."""
        text = (
            f"{count(self.n_rows, 'row')} and {count(self.n_columns, 'column')} in "
            f"{count(len(self.clusters), 'co-cluster')}."
        )
        n_links = sum(side.n_must + side.n_cannot for side in self.links)
        if n_links and not self.n_broken:
            return f"{text} " + (f"All {count(n_links, 'link')} hold." if n_links > 1 else "The link holds.")
        if n_links:
            n_kept = n_links - self.n_broken
            hold, do = "holds" if n_kept == 1 else "hold", "does" if self.n_broken == 1 else "do"
            return f"{text} {n_kept:,} of {count(n_links, 'link')} {hold}, {self.n_broken:,} {do} not."
        return text

    @property
    def fit(self) -> str:
        """How well the co-clusters describe the ones, in sentences."""
        inside = f"{self.n_inside / max(self.n_ones, 1):.0%} of {count(self.n_ones, 'one')}"
        outside = "" if np.isnan(self.density_outside) else f"; outside, {self.density_outside:.0%} of the cells are 1"
        return (
            f"{inside} are in co-clusters{outside}. Goodman and Kruskal's tau is {self.tau:.2f}: 0 if the groups of "
            "rows and of columns say nothing about each other, 1 if each gives the other."
        )

    @property
    def uncovered_notes(self) -> list[str]:
        """Which rows and columns are in no co-cluster, as sentences."""
        return [
            f"{count(n_all, f'{noun} is', f'{noun}s are')} in no co-cluster, as no bi-set that keeps to the "
            f"constraints has {'it' if n_all == 1 else 'them'}: {_listed(names, n_all)}."
            for noun, names, n_all in (
                ("row", self.uncovered_rows, self.n_uncovered_rows),
                ("column", self.uncovered_columns, self.n_uncovered_columns),
            )
            if n_all
        ]


def _listed(names: Sequence[str], n_all: int) -> str:
    """List the first names."""
    return ", ".join(names) + (f" and {n_all - len(names):,} more" if n_all > len(names) else "")


def summarize_coclusters(
    X: Any,
    row_labels: Any,
    column_labels: Any,
    *,
    row_names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    row_constraints: Constraints | None = None,
    column_constraints: Constraints | None = None,
    mixed_constraints: Constraints | None = None,
    notices: Sequence[str] = (),
) -> CoclusterSummary:
    """Summarize co-clusters of a 0/1 matrix.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        The matrix of 0 and 1.
    row_labels : array-like of int, shape (n_rows,)
        The co-cluster of each row; -1 is none.
    column_labels : array-like of int, shape (n_columns,)
        The co-cluster of each column; -1 is none.
    row_names : sequence of str or None, default=None
        The names of the rows; their numbers by default.
    column_names : sequence of str or None, default=None
        The names of the columns; x0, x1, ... by default.
    row_constraints, column_constraints : Constraints or None, default=None
        The links of rows, and of columns.
    mixed_constraints : Constraints or None, default=None
        The links of rows and columns, of which the columns are counted after all rows.
    notices : sequence of str, default=()
        Notes to show, as sentences.

    Returns
    -------
    CoclusterSummary

    Examples
    --------
    >>> from mustlink.report import summarize_coclusters
    >>> found = summarize_coclusters([[1, 1, 0], [1, 1, 0], [0, 0, 1]], [0, 0, 1], [0, 0, 1], column_names=list("abc"))
    >>> print(found.headline)
    3 rows and 3 columns in 2 co-clusters.
    >>> [(part.n_rows, part.n_columns, part.density, str(part.columns[0])) for part in found.clusters]
    [(2, 2, 1.0, 'a 100% (67% overall)'), (1, 1, 1.0, 'c 100% (33% overall)')]
    """
    X = sparse.csr_array(X, dtype=np.int64)
    rows, columns = np.asarray(row_labels), np.asarray(column_labels)
    if X.shape != (len(rows), len(columns)):
        raise ValueError(
            f"One label per row and column is expected: the matrix has the shape {X.shape}, and there are "
            f"{len(rows):,} labels of rows and {len(columns):,} of columns."
        )
    called = [f"x{place}" for place in range(len(columns))] if column_names is None else column_names
    named = RowNames(row_names), [printable(str(name)) for name in called]
    n_clusters = int(max(rows.max(initial=-1), columns.max(initial=-1))) + 1
    present = np.intersect1d(np.arange(n_clusters), np.concatenate([rows, columns])).tolist()
    clusters = tuple(_describe(X, rows, columns, label, *named) for label in present)
    n_inside = int(sum(_block(X, rows, columns, label).sum() for label in present))
    n_cells = sum(part.n_rows * part.n_columns for part in clusters)
    n_outside = X.shape[0] * X.shape[1] - n_cells
    is_free = np.flatnonzero(rows < 0), np.flatnonzero(columns < 0)
    links, broken = _check_links(rows, columns, named, (row_constraints, column_constraints, mixed_constraints))
    return CoclusterSummary(
        n_rows=len(rows),
        n_columns=len(columns),
        n_ones=int(X.sum()),
        clusters=clusters,
        n_inside=n_inside,
        density_outside=(int(X.sum()) - n_inside) / n_outside if n_outside else float("nan"),
        tau=float(goodman_kruskal_tau(X, rows, columns)),
        links=links,
        broken=tuple(broken[:MAX_BROKEN]),
        n_broken=len(broken),
        uncovered_rows=tuple(named[0][row] for row in is_free[0][:MAX_UNCOVERED].tolist()),
        uncovered_columns=tuple(named[1][place] for place in is_free[1][:MAX_UNCOVERED].tolist()),
        n_uncovered_rows=len(is_free[0]),
        n_uncovered_columns=len(is_free[1]),
        notices=tuple(notices),
    )


def _block(X: Any, rows: Ints, columns: Ints, label: int) -> Any:
    """Return the part of the matrix in a co-cluster."""
    return X[np.flatnonzero(rows == label)][:, np.flatnonzero(columns == label)]


def _describe(X: Any, rows: Ints, columns: Ints, label: int, names: RowNames, called: Sequence[str]) -> Cocluster:
    """Describe a co-cluster by its columns and its rows."""
    own_rows, own_columns = np.flatnonzero(rows == label), np.flatnonzero(columns == label)
    block = _block(X, rows, columns, label)
    n_cells = len(own_rows) * len(own_columns)
    overall = np.asarray(X[:, own_columns].mean(axis=0)).ravel()
    inside = np.asarray(block.sum(axis=0)).ravel() / max(len(own_rows), 1)
    order = np.argsort(-(inside - overall), kind="stable")[:MAX_COLUMNS].tolist()
    n_inside = np.asarray(block.sum(axis=1)).ravel()
    n_outside = np.asarray(X[own_rows].sum(axis=1)).ravel() - n_inside
    examples = np.lexsort((n_outside, -n_inside))[:MAX_ROWS].tolist()
    return Cocluster(
        label,
        len(own_rows),
        len(own_columns),
        float(block.sum() / n_cells) if n_cells else float("nan"),
        tuple(CoclusterColumn(called[own_columns[at]], float(inside[at]), float(overall[at])) for at in order),
        tuple(CoclusterRow(names[int(own_rows[at])], int(n_inside[at]), int(n_outside[at])) for at in examples),
    )


def _check_links(
    rows: Ints, columns: Ints, names: tuple[RowNames, Sequence[str]], given: Sequence[Constraints | None]
) -> tuple[tuple[SideLinks, ...], list[str]]:
    """Count the links that hold, and word those that do not."""
    both = np.concatenate([rows, columns])
    sides: list[tuple[str, Array]] = [("rows", rows), ("columns", columns), ("rows with columns", both)]
    counts, broken = [], []
    for (what, labels), links in zip(sides, given, strict=True):
        if links is None or links.is_empty:
            continue
        failed = links.violations(labels)
        n_must, n_cannot = links.n_must_links, links.n_cannot_links
        counts.append(SideLinks(what, n_must, n_must - failed.n_must_links, n_cannot, n_cannot - failed.n_cannot_links))
        for kind, pairs in (("must", failed.must_link), ("cannot", failed.cannot_link)):
            for a, b in pairs.tolist():
                ends = [_name(what, end, len(rows), names) for end in (a, b)]
                where = [_place(int(labels[end])) for end in (a, b)]
                are = f"both in {where[0]}" if where[0] == where[1] else f"in {where[0]} and {where[1]}"
                broken.append(f"{ends[0]} and {ends[1]} {kind} be together, and are {are}")
    return tuple(counts), broken


def _name(what: str, end: int, n_rows: int, names: tuple[RowNames, Sequence[str]]) -> str:
    """Name a row or a column, which are counted together in links between them."""
    if what == "rows" or (what != "columns" and end < n_rows):
        return f"row {names[0][end]}"
    return f"column {names[1][end if what == 'columns' else end - n_rows]}"


def _place(label: int) -> str:
    """Word where a row or a column is."""
    return "no co-cluster" if label < 0 else f"co-cluster {label}"
