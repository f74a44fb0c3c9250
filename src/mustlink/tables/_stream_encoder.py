"""The encoder of a table that is read some rows at a time: its columns are inspected in a pass, and then encoded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from mustlink._types import Array, Indices
from mustlink.errors import FileFormatError, TooLargeError, join_problems
from mustlink.tables._dates import DATE, DATE_TIME
from mustlink.tables._encode import (
    EMPTY_CATEGORY,
    MAX_CATEGORIES,
    ROW_NUMBER_NAME,
    ColumnUse,
    check_categories,
    check_rows,
    empty_cell_problem,
    note_constant,
    note_dropped,
    note_filled,
    note_left_out,
    note_numbered,
    size_limit,
    size_problem,
)
from mustlink.tables._encoder import ColumnEncoder, TableEncoder
from mustlink.tables._judge import Judgement
from mustlink.tables._stream import TableStream

__all__ = ["StreamEncoding", "encode_stream"]

# More categories than this are not collected, even for a column that is named as one of categories.
MAX_COLLECTED = 10_000

Missing = Literal["error", "drop", "mean"]
Watch = Callable[[int], None]


@dataclass(frozen=True)
class StreamEncoding:
    """How the columns of a table become features, found without having the table in memory.

    Parameters
    ----------
    stream : TableStream
        The table.
    encoder : TableEncoder
        How its columns become features.
    text : tuple of str
        The columns whose cells are text however they look.
    dropped : ndarray of int
        The rows that are left out for their empty cells, in ascending order.
    notices : tuple of str
        What was left out or filled in, as sentences.

    See Also
    --------
    encode_stream : Finds it.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> from mustlink.tables import encode_stream, open_stream
    >>> path = os.path.join(tempfile.mkdtemp(), "rows.npy")
    >>> np.save(path, np.array([[1.0], [np.nan], [3.0]]))
    >>> encoding = encode_stream(open_stream(path), missing="drop")
    >>> encoding.n_rows, encoding.dropped
    (2, array([1]))
    """

    stream: TableStream
    encoder: TableEncoder
    text: tuple[str, ...]
    dropped: Indices
    notices: tuple[str, ...]

    @property
    def n_rows(self) -> int:
        """The number of rows that are kept."""
        return self.stream.n_rows - len(self.dropped)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the features."""
        return np.dtype(self.encoder.dtype)

    def parts(self, watch: Watch | None = None) -> Iterator[Array]:
        """Encode the kept rows in order, some at a time.

        Parameters
        ----------
        watch : callable, default=None
            Called with the number of rows that are read.

        Yields
        ------
        ndarray of shape (n, n_features)
        """
        for part in self.stream.parts(self.encoder.names):
            columns = self.stream.judge(part, self.text).columns
            kept = ~rows_between(self.dropped, part.start, part.stop)
            encoded = [self._encode(column, columns[column.name]) for column in self.encoder.columns]
            yield np.hstack(encoded)[kept] if len(kept) else np.empty((0, len(self.encoder.features)), self.dtype)
            if watch is not None:
                watch(part.stop)

    def _encode(self, encoder: ColumnEncoder, cells: Any) -> Array:
        """Encode the cells of a column."""
        if encoder.categories is None:
            cells = as_numbers(cells)
        return encoder.apply(pd.Series(cells), self.dtype)[0]


def encode_stream(
    stream: TableStream,
    *,
    ignore: Collection[str] = (),
    categorical: Collection[str] = (),
    scale: bool = True,
    one_hot: bool = True,
    missing: Missing = "error",
    watch: Watch | None = None,
) -> StreamEncoding:
    """Find how the columns of a table become features, as :func:`encode` does for a table in memory.

    Parameters
    ----------
    stream : TableStream
        The table.
    ignore : collection of str, default=()
        Columns that are not features: ids, labels.
    categorical : collection of str, default=()
        Columns to use as categories, however many different values they have.
    scale, one_hot : bool, default=True
        As in :func:`encode`.
    missing : {'error', 'drop', 'mean'}, default='error'
        As in :func:`encode`.
    watch : callable, default=None
        Called with the number of rows that are read.

    Returns
    -------
    StreamEncoding

    Raises
    ------
    FileFormatError
        As for :func:`encode`.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> from mustlink.tables import encode_stream, open_stream
    >>> path = os.path.join(tempfile.mkdtemp(), "rows.npy")
    >>> np.save(path, np.array([[1.0, 7.0], [3.0, 7.0]]))
    >>> encoding = encode_stream(open_stream(path))
    >>> next(encoding.parts()).ravel(), encoding.notices
    (array([-1.,  1.]), ("Column 'x1' holds one value throughout and was left out.",))
    """
    check_rows(stream.source, stream.n_rows)
    names = [name for name in stream.names if name not in ignore]
    scan = Scan(stream, categorical)
    columns, _ = scan.run(names, watch)
    problems = [fact.problem for fact in columns.values() if fact.problem is not None]
    if columns and len(problems) == len(columns):
        raise join_problems(stream.source, problems)
    uses = {name: ColumnUse(fact.is_empty, fact.is_text, fact.is_counting) for name, fact in columns.items()}
    notices = [*scan.notices(stream.names), *note_left_out(stream.source, uses, one_hot)]
    columns = {
        name: fact for place, (name, fact) in enumerate(columns.items()) if uses[name].is_feature(name, place, one_hot)
    }
    dropped = np.empty(0, dtype=np.intp)
    n_empty = sum(fact.n_empty for fact in columns.values())
    if n_empty and missing == "error":
        problems.append(first_empty_cell(stream, columns, n_empty))
    elif n_empty and missing == "mean":
        notices.append(note_filled(n_empty))
    elif n_empty:
        # What the columns hold is that of the rows which are kept.
        order = {name: list(fact.categories) for name, fact in columns.items()}
        columns, dropped = scan.run(list(columns), watch, drops=True)
        for name, fact in columns.items():
            fact.order_categories(order[name])
        notices.append(note_dropped(stream.source, stream.n_rows - len(dropped), stream.n_rows))
    n_kept = stream.n_rows - len(dropped)
    for name, fact in columns.items():
        if fact.problem is None and not (fact.is_text and name in categorical):
            problems += fact.check_text(stream, n_kept) if fact.is_text else fact.check_size(stream, n_kept, scale)
    if problems:
        raise join_problems(stream.source, problems)
    notices += note_numbered([name for name, fact in columns.items() if fact.is_id_like])
    constant = [name for name, fact in columns.items() if fact.is_constant]
    notices += note_constant(stream.source, constant, len(columns))
    encoders = tuple(fact.encoder(scale, n_kept) for name, fact in columns.items() if name not in constant)
    used = [fact for name, fact in columns.items() if name not in constant and not fact.is_text]
    is_single = bool(used) and all(fact.is_single for fact in used)
    encoder = TableEncoder(encoders, missing, "float32" if is_single else "float64")
    return StreamEncoding(stream, encoder, tuple(categorical), dropped, tuple(notices))


def first_empty_cell(stream: TableStream, columns: Mapping[str, ColumnFacts], n_empty: int) -> FileFormatError:
    """Return the problem of empty cells, with the first one in the order of rows, then of columns."""
    name, fact = min(columns.items(), key=lambda item: item[1].first_empty)
    return empty_cell_problem(f"{stream.source}, row {fact.first_empty}", name, n_empty)


@dataclass
class ColumnFacts:
    """What is known of a column after some of its rows."""

    name: str
    takes_all: bool  # whether all categories are collected
    n_cells: int = 0
    n_empty: int = 0
    first_empty: float = np.inf
    mean: float = 0.0
    squares: float = 0.0
    low: float = np.inf
    high: float = -np.inf
    has_numbers: bool = False
    has_text: bool = False
    is_single: bool = True
    is_counting: bool = True
    is_rising: bool = True
    last: float = np.nan
    categories: dict[str, None] = field(default_factory=dict)
    is_distinct: bool = True
    units: set[str] = field(default_factory=set)
    problem: FileFormatError | None = None

    @property
    def is_text(self) -> bool:
        """Whether the column holds categories rather than numbers."""
        return self.has_text or not self.has_numbers

    @property
    def is_empty(self) -> bool:
        """Whether all cells are empty."""
        return self.n_empty == self.n_cells

    @property
    def is_constant(self) -> bool:
        """Whether all cells are equal once empty ones are filled."""
        return len(self.all_categories) == 1 if self.is_text else self.low == self.high

    @property
    def is_id_like(self) -> bool:
        """Whether a column that is called like ids holds rising whole numbers."""
        return not self.is_text and self.is_rising and self.n_cells > 2 and is_id_name(self.name)

    @property
    def all_categories(self) -> tuple[str, ...]:
        """The categories, with one for empty cells if there are some."""
        return (*self.categories, *((EMPTY_CATEGORY,) if self.n_empty else ()))

    @property
    def unit(self) -> str:
        """What the numbers stand for; dates with a time among dates are dates with a time."""
        units = self.units - {DATE} if DATE_TIME in self.units else self.units
        return min(units) if units else ""

    def add(self, cells: Any, start: int) -> None:
        """Add further rows, from a number on."""
        self.n_cells += len(cells)
        if isinstance(cells, pd.Categorical):
            self._add_text(cells, start)
        else:
            self._add_numbers(cells, start)

    def _add_text(self, cells: pd.Categorical, start: int) -> None:
        used = cells.remove_unused_categories()
        self._add_gaps(cells.codes < 0, start)
        self.has_text = self.has_text or bool(len(used.categories))
        self.is_counting = self.is_rising = self.is_single = False
        self.is_distinct = self.is_distinct and len(used.categories) == len(cells)
        most = MAX_COLLECTED if self.takes_all else MAX_CATEGORIES + 1
        # In the order of their first rows.
        for text in cells.categories[pd.unique(cells.codes[cells.codes >= 0])]:
            if len(self.categories) >= most:
                break
            self.categories.setdefault(str(text))

    def _add_numbers(self, cells: Array, start: int) -> None:
        is_empty = np.isnan(cells)
        self._add_gaps(is_empty, start)
        self.is_single = self.is_single and cells.dtype == np.float32
        values = cells[~is_empty].astype(np.float64)
        self.has_numbers = self.has_numbers or bool(values.size)
        self._follow(cells)
        if not values.size:
            return
        self.low, self.high = min(self.low, float(values.min())), max(self.high, float(values.max()))
        n_known = self.n_cells - self.n_empty - values.size
        # Numbers that are not finite, or too large, are refused afterwards.
        with np.errstate(over="ignore", invalid="ignore"):
            # Shifted first, so that a small spread around a large mean is not lost in rounding.
            mean = values[0] + (values - values[0]).mean()
            share, apart = values.size / (n_known + values.size), mean - self.mean
            self.squares += float(np.square(values - mean).sum() + np.square(apart) * share * n_known)
            self.mean = float(self.mean + apart * share) if n_known else float(mean)

    def _add_gaps(self, is_empty: Array, start: int) -> None:
        n_empty = int(np.count_nonzero(is_empty))
        if n_empty and not np.isfinite(self.first_empty):
            self.first_empty = start + int(np.argmax(is_empty))
        self.n_empty += n_empty

    def _follow(self, cells: Array) -> None:
        """See whether the cells go on counting the rows, or rising."""
        if not len(cells) or not (self.is_counting or self.is_rising):
            return
        with np.errstate(over="ignore", invalid="ignore"):
            self._compare_steps(cells)

    def _compare_steps(self, cells: Array) -> None:
        """See whether the steps between the cells are all one, or all positive."""
        steps = np.diff(cells if np.isnan(self.last) else np.concatenate([[self.last], cells]).astype(cells.dtype))
        begins = not np.isnan(self.last) or cells[0] in (0, 1)
        self.is_counting = self.is_counting and bool(begins and (steps == 1).all())
        self.is_rising = self.is_rising and bool((steps > 0).all() and (np.mod(cells, 1) == 0).all())
        self.last = float(cells[-1])

    def order_categories(self, order: list[str]) -> None:
        """Put the categories in an order, in which those are first that it does not have."""
        place = {category: place for place, category in enumerate(order)}
        self.categories = dict.fromkeys(sorted(self.categories, key=lambda category: place.get(category, -1)))

    def check_text(self, stream: TableStream, n_rows: int) -> list[FileFormatError]:
        """Return the problem of free text."""
        n_categories = len(self.all_categories)
        is_least = len(self.categories) > MAX_CATEGORIES
        problems = check_categories(stream.source, self.name, n_categories, n_rows, is_least=is_least)
        # As in memory, a column of as many different texts as there are rows may name them.
        return [replace_categories(problem, n_rows) if self.is_distinct else problem for problem in problems]

    def check_size(self, stream: TableStream, n_rows: int, scale: bool) -> list[FileFormatError]:
        """Return the problem of numbers whose squares overflow."""
        dtype = np.float32 if self.is_single else np.float64
        limit, remedy = size_limit(dtype, n_rows * len(stream.names), scale)
        if max(-self.low, self.high) <= limit:
            return []
        row, value, n_large = find_large(stream, self.name, limit)
        return [size_problem(f"{stream.source}, row {row}", self.name, value, limit, remedy, n_large)]

    def encoder(self, scale: bool, n_rows: int) -> ColumnEncoder:
        """Return how the column becomes features."""
        if self.is_text:
            if len(self.categories) >= MAX_COLLECTED:
                raise TooLargeError(
                    f"The column {self.name!r} has at least {MAX_COLLECTED:,} different values, each of which would be "
                    "a column of 0 and 1",
                    remedy="ignore_column",
                    column=self.name,
                )
            return ColumnEncoder(self.name, self.all_categories)
        # Empty cells are filled with the mean, and count for the spread.
        spread = float(np.sqrt(self.squares / n_rows)) if scale else 1.0
        center = self.mean if scale else 0.0
        return ColumnEncoder(self.name, None, center, spread, self.mean, self.low, self.high, self.unit)


def replace_categories(problem: FileFormatError, n_rows: int) -> FileFormatError:
    """Note in a problem that all texts of a column differ."""
    return problem.with_fields(n_categories=n_rows)


def is_id_name(name: str) -> bool:
    """Return whether a column is called like one that names the rows."""
    return ROW_NUMBER_NAME.fullmatch(name.strip()) is not None


class Scan:
    """Passes over a table that find out what its columns hold."""

    def __init__(self, stream: TableStream, categorical: Collection[str]) -> None:
        self._stream, self._categorical = stream, categorical
        self._words: dict[str, str] = {}

    def run(
        self, names: Collection[str], watch: Watch | None = None, *, drops: bool = False
    ) -> tuple[dict[str, ColumnFacts], Indices]:
        """Return what columns hold, and the rows with an empty cell in one of them, which may be left out."""
        facts = {name: ColumnFacts(name, name in self._categorical) for name in names}
        dropped: list[Array] = [np.empty(0, dtype=np.intp)]
        for part in self._stream.parts(names) if names else ():
            judged = self._stream.judge(part, self._categorical)
            self._note(judged, facts)
            kept: Any = slice(None)
            if drops:
                gaps = np.logical_or.reduce([is_missing(judged.columns[name]) for name in facts])
                dropped.append(part.start + np.flatnonzero(gaps))
                kept = ~gaps
            for name, fact in facts.items():
                fact.add(judged.columns[name][kept], part.start)
            if watch is not None:
                watch(part.stop)
        for fact in facts.values():
            if fact.has_numbers and fact.has_text and fact.problem is None:
                fact.problem = FileFormatError(
                    f"{self._stream.source}: the column {fact.name!r} holds numbers in some rows and text in others",
                    remedy="ignore_column",
                    column=fact.name,
                    n_cells=fact.n_cells,
                )
        return facts, np.concatenate(dropped).astype(np.intp)

    def notices(self, order: Collection[str]) -> list[str]:
        """Return how columns were read, as sentences."""
        return Judgement(words=self._words).notices(list(order))

    def _note(self, judged: Judgement, facts: Mapping[str, ColumnFacts]) -> None:
        """Keep what is said about the columns of some rows."""
        self._words |= judged.words
        for name, unit in judged.units.items():
            facts[name].units.add(unit)
        for problem in judged.problems:
            fact = facts[problem.fields["column"]]
            fact.problem = fact.problem or problem


def is_missing(cells: Any) -> Array:
    """Return which cells of a column are empty."""
    return np.asarray(cells.codes < 0 if isinstance(cells, pd.Categorical) else np.isnan(cells))


def as_numbers(cells: Any) -> Array:
    """Return numbers; a column of numbers that is empty in some rows may have been taken for text there."""
    return np.full(len(cells), np.nan) if isinstance(cells, pd.Categorical) else np.asarray(cells)


def find_large(stream: TableStream, name: str, limit: float) -> tuple[int, float, int]:
    """Return the first row with a number above a limit, the number, and how many there are."""
    found, n_large = None, 0
    for part in stream.parts([name]):
        values = as_numbers(stream.judge(part).columns[name])
        large = np.flatnonzero(np.abs(values) > limit)
        n_large += len(large)
        if len(large) and found is None:
            found = part.start + int(large[0]), float(values[large[0]])
    assert found is not None
    return *found, n_large


def rows_between(rows: Indices, start: int, stop: int) -> Array:
    """Return which of the rows from one number to another are among some rows, given in ascending order."""
    chosen = np.zeros(stop - start, dtype=bool)
    first, last = np.searchsorted(rows, [start, stop])
    chosen[rows[first:last] - start] = True
    return chosen
