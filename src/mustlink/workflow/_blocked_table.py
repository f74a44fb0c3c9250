"""A table that is larger than memory, ready to cluster: its rows in blocks, its links and its known labels."""

from __future__ import annotations

import os
import tempfile
import threading
import uuid
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from mustlink._progress import progress
from mustlink._spelling import count
from mustlink._types import Array, Floats, Indices, Ints
from mustlink.blocks import BlockedRows, FileRows
from mustlink.blocks.core import LocalRows, write_scratch
from mustlink.constraints import Constraints
from mustlink.errors import FileFormatError, OptionError
from mustlink.report import KnownCodes
from mustlink.tables import (
    Feature,
    StreamEncoding,
    TableStream,
    UnknownIds,
    encode_stream,
    find_linked_ids,
    open_stream,
)
from mustlink.workflow._loading import (
    Contradictions,
    TableOptions,
    check_uses,
    known_labels,
    note_on_labels,
    read_link_file,
    refuse_other_reading,
    suggest_ids,
)

__all__ = ["BlockedTable", "load_blocked"]


class BlockedTable:
    """A table that is read in blocks, with the same answers as :class:`LoadedTable`.

    Parameters
    ----------
    options : TableOptions
        How its columns are used.
    encoding : StreamEncoding
        The table, and how its columns become features.
    known : KnownCodes or None
        The known labels of the kept rows.
    verbose : bool, default=False
        Whether to show progress bars.
    """

    # What a table in memory may have, and this one never has.
    rules = Constraints()
    rule_columns: dict[str, Any] = {}  # noqa: RUF012  (empty for all)
    kept_labels = None

    def __init__(
        self, options: TableOptions, encoding: StreamEncoding, known: KnownCodes | None, *, verbose: bool = False
    ) -> None:
        self.options, self.encoding, self.known, self._verbose = options, encoding, known, verbose
        self.source: TableStream = encoding.stream
        self.features: tuple[Feature, ...] = encoding.encoder.features
        self.encoder = encoding.encoder
        about_labels = [note_on_labels(options.label_column)] if self.is_labeled else []
        self.notices = (*encoding.notices, *about_labels)
        self._labels = Path(tempfile.gettempdir(), f"mustlink-{uuid.uuid4().hex}.npy")
        self._removal = weakref.finalize(self, self._labels.unlink, missing_ok=True)
        self._base, self.X = self._open()
        self._ids: dict[str, int] = {}

    @property
    def is_labeled(self) -> bool:
        """Whether every kept row has a known label."""
        return self.known is not None and bool((self.known.codes >= 0).all())

    @property
    def partial_labels(self) -> Ints | None:
        """The known labels of the kept rows as numbers, -1 where unknown; None if no row or every row has a label."""
        return None if self.known is None or self.is_labeled else self.known.codes

    @cached_property
    def row_names(self) -> StreamNames:
        """The names of the kept rows, read when they are asked for."""
        return StreamNames(self)

    def _open(self) -> tuple[LocalRows, BlockedRows]:
        """Return rows in blocks: those of an array as they are, others decoded once into a scratch file."""
        encoding, stream = self.encoding, self.source
        shape = encoding.n_rows, len(self.features)
        if stream.array is not None and is_plain(stream.array) and not len(encoding.dropped):
            rows = FileRows(stream.array, labels=self._labels)
            function = Standardize.of(encoding, stream)
            return rows, rows.transform(function, shape[1], encoding.dtype)
        with self.bar("Reading", stream.n_rows) as watch:
            array = write_scratch(encoding.parts(watch), shape, encoding.dtype, None, stream.source)
        rows = FileRows(array, labels=self._labels)
        return rows, rows

    @contextmanager
    def bar(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        """Show a progress bar of rows, and yield the function that moves it to a number."""
        shown = f"{what} {self.source.path.name}"
        with progress(total, shown, shown=self._verbose, stderr=True) as advance:
            yield lambda n_done: advance(n_done)

    @contextmanager
    def passes(self) -> Iterator[None]:
        """Show a progress bar of the passes that a fit makes over the blocks."""
        n_blocks = self._base.n_blocks
        with progress(n_blocks, f"Clustering {self.source.path.name}", shown=self._verbose, stderr=True) as advance:
            self._base.watch = PassCounter(n_blocks, advance)
            try:
                yield
            finally:
                self._base.watch = None

    def take_labels(self, labels: Array) -> Array:
        """Number the clusters of a fit from 0 without gaps, and let go of the file that has them."""
        if os.name != "nt":
            # The map stays, and nothing is left behind whatever happens.
            self._labels.unlink(missing_ok=True)
        used = np.zeros(0, dtype=bool)
        for start, stop in pairwise(self._base.bounds.tolist()):
            counts = np.bincount(labels[start:stop][labels[start:stop] >= 0], minlength=len(used))
            used = np.pad(used, (0, len(counts) - len(used))) | (counts > 0)
        if used.all():
            return labels
        place = np.append(np.cumsum(used) - 1, -1).astype(labels.dtype)
        return place[labels]

    def read_links(
        self, path: str | os.PathLike[str], contradictions: Contradictions = "raise", unknown_ids: UnknownIds = "raise"
    ) -> tuple[Constraints, list[str]]:
        """Read links between rows of this table, as :meth:`LoadedTable.read_links`; only linked ids are kept."""
        name = self.options.id_column
        if name is not None:
            with self.bar("Finding the linked rows of", self.source.n_rows) as watch:
                column = watched(self.source.strings(name), watch)
                self._ids = find_linked_ids(path, column, name, self.source.source)
        links, notices = read_link_file(
            path,
            contradictions,
            ids=None if name is None else self._ids,
            n_rows=self.source.n_rows,
            unknown_ids=unknown_ids,
        )
        kept = self._between_kept(links)
        n_lost = len(links) - len(kept)
        if n_lost:
            lost = count(n_lost, "link names", "links name")
            notices.append(f"{lost} rows that were left out; {len(kept):,} of {len(links):,} are used.")
        return kept, notices

    def check_ids(self) -> None:
        """Refuse a row without an id; reading links does this by itself."""
        name = self.options.id_column
        for start, ids in () if name is None else self.source.strings(name):
            if "" in ids:
                raise FileFormatError(
                    f"{self.source.source}, row {start + ids.index('')}: the id column {name!r} is empty; every row "
                    "needs an id."
                )

    def _between_kept(self, links: Constraints) -> Constraints:
        """Return the links between kept rows, by their position among these."""
        dropped = self.encoding.dropped
        if not len(dropped):
            return links
        is_kept = ~np.isin(links.pairs, dropped).any(axis=1)
        pairs = links.pairs[is_kept]
        pairs = pairs - np.searchsorted(dropped, pairs)
        return Constraints.from_pairs(pairs, links.sign[is_kept], links.weight[is_kept], contradictions="keep")

    def add_rules(self, links: Constraints, contradictions: Contradictions = "raise") -> Constraints:
        """Return the links: there are no columns of groups."""
        return links

    def describe_broken_rules(self, labels: Array) -> list[str]:
        """Return no sentences: there are no columns of groups."""
        return []

    def rows_of(self, kept: Indices) -> Indices:
        """Return which rows of the table kept rows are."""
        dropped = self.encoding.dropped
        return kept + np.searchsorted(dropped - np.arange(len(dropped)), kept, side="right")

    def names_of(self, kept: Sequence[int]) -> list[str]:
        """Return the names of kept rows, read at once."""
        rows = self.rows_of(np.asarray(kept, dtype=np.intp))
        if self.options.id_column is None:
            return [str(row) for row in rows.tolist()]
        numbers, place = np.unique(rows, return_inverse=True)
        found = self.source.strings_at(self.options.id_column, numbers)
        return [found[i] for i in place.tolist()]

    def linked_names(self) -> dict[int, str]:
        """Return the names of the linked rows, by their numbers in the table."""
        return {row: name for name, row in self._ids.items()}

    def of_all_rows(self, values: Array, start: int, stop: int) -> Array:
        """Return what kept rows have for the rows of the table from one number to another, -1 for rows left out."""
        dropped = self.encoding.dropped
        first, last = np.searchsorted(dropped, [start, stop])
        found = np.full(stop - start, -1, dtype=np.int64)
        is_kept = np.ones(stop - start, dtype=bool)
        is_kept[dropped[first:last] - start] = False
        found[is_kept] = values[start - first : stop - last]
        return found


class StreamNames(Sequence[str]):
    """The names of the kept rows of a table that is read in blocks; those that are asked for are read."""

    def __init__(self, table: BlockedTable) -> None:
        self._table, self._known = table, table.linked_names()

    def __len__(self) -> int:
        return self._table.X.n_rows

    def __getitem__(self, row: Any) -> Any:
        number = int(self._table.rows_of(np.array([row]))[0])
        if number not in self._known:
            self._known[number] = self._table.names_of([row])[0]
        return self._known[number]


@dataclass
class PassCounter:
    """Moves a progress bar: how many blocks of a pass are done, and which pass it is."""

    n_blocks: int
    advance: Any
    n_done: int = 0
    lock: Any = field(default_factory=threading.Lock)

    def __call__(self, number: int) -> None:
        with self.lock:
            done, self.n_done = self.n_done, self.n_done + 1
        self.advance(done % self.n_blocks + 1, f"pass {done // self.n_blocks + 1}")


@dataclass(frozen=True)
class Standardize:
    """Encodes the numbers of a block as a table in memory is encoded: in the same precision and order."""

    columns: tuple[int, ...]
    dtype: Any
    fill: Floats
    center: Array
    scale: Array

    @classmethod
    def of(cls, encoding: StreamEncoding, stream: TableStream) -> Standardize:
        """Return how the columns of an array are encoded."""
        encoders, dtype = encoding.encoder.columns, encoding.dtype
        return cls(
            tuple(stream.names.index(one.name) for one in encoders),
            dtype,
            np.array([one.fill for one in encoders]),
            np.array([one.center for one in encoders]).astype(dtype),
            np.array([one.scale for one in encoders]).astype(dtype),
        )

    def __call__(self, block: Array) -> Array:
        numbers = block[:, self.columns]
        is_empty = np.isnan(numbers)
        if is_empty.any():
            numbers = np.where(is_empty, self.fill, numbers)
        numbers = numbers.astype(self.dtype)
        numbers -= self.center
        numbers /= self.scale
        return numbers


def is_plain(array: Array) -> bool:
    """Return whether an array can be read in blocks as it is."""
    return array.dtype in (np.float32, np.float64) and bool(array.flags.c_contiguous)


def watched(parts: Iterator[tuple[int, list[str]]], watch: Callable[[int], None]) -> Iterator[tuple[int, list[str]]]:
    """Yield parts of a column, and tell how many rows have been read."""
    for start, cells in parts:
        yield start, cells
        watch(start + len(cells))


def load_blocked(options: TableOptions, *, verbose: bool = False) -> BlockedTable:
    """Open a table that is read in blocks, as :func:`load_table` reads one into memory."""
    no_features = check_uses(options)
    refuse_other_reading(options)
    stream = open_stream(options.table)
    stream.check_columns([*no_features, *options.categorical, *options.ignore])
    known = None if options.label_column is None else read_known(stream, options.label_column)
    name = stream.path.name
    try:
        with progress(stream.n_rows, f"Looking through {name}", shown=verbose, stderr=True) as advance:
            encoding = encode_stream(
                stream,
                ignore=[*no_features, *options.ignore],
                categorical=options.categorical,
                scale=options.scale,
                one_hot=options.one_hot,
                missing=options.missing,
                watch=lambda n_done: advance(n_done),
            )
    except FileFormatError as error:
        raise suggest_ids(error, stream.n_rows) if options.id_column is None else error from None
    if known is not None and len(encoding.dropped):
        known = KnownCodes(np.delete(known.codes, encoding.dropped), known.names)
    return BlockedTable(options, encoding, known, verbose=verbose)


def read_known(stream: TableStream, name: str) -> KnownCodes:
    """Read the known labels of all rows as numbers, in the order of their names; 4 bytes per row."""
    codes = np.full(stream.n_rows, -1, dtype=np.int32)
    numbers: dict[str, int] = {}
    for start, cells in stream.strings(name):
        for row, label in enumerate(known_labels(cells), start):
            if label:
                codes[row] = numbers.setdefault(label, len(numbers))
    if not numbers:
        raise OptionError(f"{stream.source}: the label column {name!r} is empty throughout.")
    names = sorted(numbers)
    place = np.array([*(names.index(label) for label in numbers), -1], dtype=np.int32)
    return KnownCodes(place[codes], names)
