"""The encoder of a table, kept to be applied to other tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, Literal, Self

import numpy as np
import pandas as pd

from mustlink._magnitude import largest_number
from mustlink._spelling import count
from mustlink._types import Array
from mustlink.errors import FileFormatError, join_problems
from mustlink.tables._dates import DATE, DATE_TIME, HOURS
from mustlink.tables._encode import EMPTY_CATEGORY, EncodedTable, Feature, check_size, handle_missing
from mustlink.tables._judge import shorten
from mustlink.tables._options import check_options
from mustlink.tables._table import Table, is_text

__all__ = ["ColumnEncoder", "TableEncoder"]

Missing = Literal["error", "drop", "mean"]


@dataclass(frozen=True)
class ColumnEncoder:
    """How one column of a table becomes features.

    Parameters
    ----------
    name : str
        The name of the column.
    categories : tuple of str or None, default=None
        The categories, each of which is a feature of 0 and 1; None for a column of numbers.
    center, scale : float, default=0.0 and 1.0
        A number is encoded as ``(number - center) / scale``.
    fill : float, default=0.0
        The number that an empty cell gets where empty cells are filled.
    low, high : float, default=0.0 and 0.0
        The smallest and the largest number of the column.
    unit : str, default=""
        What the numbers stand for, as in :attr:`Table.units`: a date, hours, a percentage or a currency.

    Examples
    --------
    >>> from mustlink.tables import ColumnEncoder
    >>> [feature.name for feature in ColumnEncoder("plan", categories=("basic", "pro")).features]
    ['plan = basic', 'plan = pro']
    """

    name: str
    categories: tuple[str, ...] | None = None
    center: float = 0.0
    scale: float = 1.0
    fill: float = 0.0
    low: float = 0.0
    high: float = 0.0
    unit: str = ""

    @property
    def features(self) -> list[Feature]:
        """The features of the column."""
        if self.categories is None:
            return [Feature(self.name, center=self.center, scale=self.scale, unit=self.unit)]
        return [Feature(self.name, category) for category in self.categories]

    def apply(self, column: pd.Series, dtype: Any) -> tuple[Array, str]:
        """Encode the cells of a column.

        Parameters
        ----------
        column : pandas.Series
            A column of a :class:`Table`, of the same kind.
        dtype : dtype
            The type of the features.

        Returns
        -------
        encoded : ndarray of shape (n_rows, n_features)
            The features.
        notice : str
            What a person should know of the cells, or nothing.
        """
        return self._encode_numbers(column, dtype) if self.categories is None else self._encode_text(column, dtype)

    def _encode_numbers(self, column: pd.Series, dtype: Any) -> tuple[Array, str]:
        """Center and scale numbers, and fill empty cells."""
        values = column.to_numpy(dtype=np.float64)
        reach = self.high - self.low
        n_far = int(np.count_nonzero((values < self.low - reach) | (values > self.high + reach)))
        notice = ""
        if n_far:
            low, high = self.features[0].spell([self.low, self.high])
            notice = (
                f"Column {self.name!r} has {count(n_far, 'number')} far outside the range of the table that the model "
                f"was made from, {low} to {high}."
            )
        # In this precision and order, as the columns of the fit were encoded.
        encoded = np.where(np.isnan(values), self.fill, values).astype(dtype)
        encoded -= np.asarray(self.center, dtype=dtype)
        encoded /= np.asarray(self.scale, dtype=dtype)
        return encoded[:, np.newaxis], notice

    def _encode_text(self, column: pd.Series, dtype: Any) -> tuple[Array, str]:
        """Mark the category of each cell; one that is not known has none."""
        assert self.categories is not None
        place = {category: place for place, category in reversed(list(enumerate(self.categories)))}
        texts = [*column.cat.categories, EMPTY_CATEGORY]
        places = np.array([place.get(text, -1) for text in texts])[column.cat.codes.to_numpy()]
        unknown = np.flatnonzero(places < 0)
        notice = ""
        if unknown.size:
            example = shorten(texts[column.cat.codes.iloc[unknown[0]]])
            counts = "it counts" if unknown.size == 1 else "they count"
            notice = (
                f"Column {self.name!r} has {count(unknown.size, 'cell')} with a category that the model does not "
                f"know, such as {example}; {counts} as no category."
            )
        encoded = (places[:, np.newaxis] == np.arange(len(self.categories))).astype(dtype)
        return encoded, notice


@dataclass(frozen=True)
class TableEncoder:
    """How the columns of a table became features, to encode the rows of other tables in the same way.

    Parameters
    ----------
    columns : tuple of ColumnEncoder
        The columns, in the order of their features.
    missing : {"error", "drop", "mean"}, default="error"
        What to do with empty cells: refuse them, leave out their rows, or fill them.
    dtype : {"float64", "float32"}, default="float64"
        The type of the features.

    See Also
    --------
    encode : Encodes a table to cluster.

    Examples
    --------
    >>> import pandas as pd
    >>> from mustlink.tables import Table, TableEncoder, encode
    >>> encoder = TableEncoder.of(encode(pd.DataFrame({"age": [20, 40, 20, 40], "plan": ["a", "a", "b", "b"]})))
    >>> encoder.apply(Table.from_frame(pd.DataFrame({"plan": ["b"], "age": [50]}))).X
    array([[2., 0., 1.]])
    """

    columns: tuple[ColumnEncoder, ...]
    missing: Missing = "error"
    dtype: Literal["float64", "float32"] = "float64"

    @classmethod
    def of(cls, encoded: EncodedTable, missing: Missing = "error") -> Self:
        """Return the encoder of a table that is encoded already.

        Parameters
        ----------
        encoded : EncodedTable
            What :func:`encode` returned.
        missing : {"error", "drop", "mean"}, default="error"
            What to do with empty cells of other tables.

        Returns
        -------
        TableEncoder
        """
        check_options(missing=missing)
        columns = []
        places = iter(encoded.X.T)
        for name, group in groupby(encoded.features, key=lambda feature: feature.column):
            features = list(group)
            values = [next(places) for _ in features]
            first = features[0]
            if first.category is not None:
                columns.append(ColumnEncoder(name, tuple(str(feature.category) for feature in features)))
                continue
            low, high, mean = (
                float(value) * first.scale + first.center
                for value in (values[0].min(), values[0].max(), values[0].mean(dtype=np.float64))
            )
            # A centered column is filled with its center, exactly.
            fill = first.center if first.center else mean
            columns.append(ColumnEncoder(name, None, first.center, first.scale, fill, low, high, first.unit))
        return cls(tuple(columns), missing, "float32" if encoded.X.dtype == np.float32 else "float64")

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features of all columns."""
        return tuple(feature for column in self.columns for feature in column.features)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns that a table must have."""
        return tuple(column.name for column in self.columns)

    @property
    def text(self) -> tuple[str, ...]:
        """The names of the columns of categories."""
        return tuple(column.name for column in self.columns if column.categories is not None)

    def apply(self, table: Table) -> EncodedTable:
        """Encode the rows of another table.

        Parameters
        ----------
        table : Table
            A table with the columns of the encoder, in any order, and perhaps others; columns of categories are text.

        Returns
        -------
        EncodedTable

        Raises
        ------
        FileFormatError
            If a column is not of its kind, has numbers that are too large, or has empty cells that are not allowed.
        """
        if table.problems:
            # How its columns are used is settled.
            problems = [problem.without_remedies("ignore_column", "mark_categorical") for problem in table.problems]
            raise join_problems(table.source, problems)
        if not table.n_rows:
            raise FileFormatError(f"{table.source} has no data rows; at least one is needed.")
        notices: list[str] = []
        frame = _columns_of_kind(table, self.columns, notices)
        kept, rows = handle_missing(table, frame, self.missing, notices, min_rows=1)
        self._check_size(table, kept, rows)
        blocks = []
        for column in self.columns:
            block, notice = column.apply(kept[column.name], np.dtype(self.dtype))
            blocks.append(block)
            notices += [notice] if notice else []
        return EncodedTable(np.ascontiguousarray(np.hstack(blocks)), rows, self.features, tuple(notices))

    def _check_size(self, table: Table, columns: Mapping[str, pd.Series], rows: Array) -> None:
        """Refuse numbers whose squares overflow once they are encoded."""
        limit = largest_number(self.dtype, len(rows) * len(self.features))
        problems = []
        for column in self.columns:
            if column.categories is None:
                # The center is small beside a number that is too large, and is left out.
                largest = min(limit * column.scale, float(np.finfo(self.dtype).max))
                problems += check_size(table, columns[column.name], rows, largest, ["missing_marker"])
        if problems:
            raise join_problems(table.source, problems)

    def as_json(self) -> dict[str, Any]:
        """Return the encoder in the types of JSON.

        Returns
        -------
        dict
        """
        return {**asdict(self), "columns": [asdict(column) for column in self.columns]}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Return the encoder that :meth:`as_json` returned.

        Parameters
        ----------
        values : mapping
            What JSON holds.

        Returns
        -------
        TableEncoder

        Raises
        ------
        ValueError, TypeError, KeyError
            If it is something else.
        """
        columns = []
        for column in values["columns"]:
            names = column["categories"]
            categories = None if names is None else tuple(map(str, names))
            numbers = {name: float(column[name]) for name in ("center", "scale", "fill", "low", "high")}
            columns.append(ColumnEncoder(str(column["name"]), categories, **numbers, unit=str(column.get("unit", ""))))
        check_options(missing=values["missing"])
        if values["dtype"] not in ("float64", "float32"):
            raise ValueError(f"no type of features: {values['dtype']!r}")
        return cls(tuple(columns), values["missing"], values["dtype"])


def _columns_of_kind(table: Table, columns: Sequence[ColumnEncoder], notices: list[str]) -> dict[str, pd.Series]:
    """Return the columns of a table, or refuse all that hold another kind of values; note those without a unit."""
    found, problems = {}, []
    for column in columns:
        cells = table.column(column.name)
        if column.categories is None and is_text(cells) and not len(cells.cat.categories):
            cells = pd.Series(np.full(len(cells), np.nan), name=column.name)
        found[column.name] = cells
        held = _kind(column.categories is not None, column.unit)
        holds = _kind(is_text(cells), table.units.get(column.name, ""))
        # Empty cells are of any kind.
        if held == holds or cells.isna().all():
            continue
        if {held, holds} & {"text", "dates", "times"} or "numbers" not in (held, holds):
            example = f", such as {shorten(str(cells.cat.categories[0]))}" if is_text(cells) else ""
            problems.append(f"the column {column.name!r} holds {holds}{example}, and held {held}")
        else:
            notices.append(f"Column {column.name!r} holds {holds}, and held {held} in the table of the model.")
    if problems:
        raise FileFormatError(f"{table.source}: {'; '.join(problems)} in the table that the model was made from.")
    return found


def _kind(holds_text: bool, unit: str) -> str:
    """Word what a column holds."""
    if holds_text:
        return "text"
    kinds = {"": "numbers", DATE: "dates", DATE_TIME: "dates", HOURS: "times", "%": "percentages"}
    return kinds.get(unit, f"amounts in {unit}")
