"""The columns of a DataFrame of Spark: which are features, and how they are named and converted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["LABEL", "Layout", "find_columns", "quote"]

# The column of the clusters in every DataFrame that is returned.
LABEL = "label"
MAX_SHOWN = 8

# Types of Spark by the name in a schema, without what is in parentheses.
IDS = {"tinyint", "smallint", "int", "bigint", "string"}
EXACT_IN_FLOAT32 = {"boolean", "tinyint", "smallint", "float"}
NUMBERS = {*EXACT_IN_FLOAT32, "int", "bigint", "double", "decimal"}


@dataclass(frozen=True)
class Layout:
    """The id column and the feature columns of a DataFrame."""

    id: str
    id_type: Any  # of Spark
    columns: list[str]
    dtype: np.dtype[Any]

    @property
    def row_bytes(self) -> int:
        """The size of the features of a row."""
        return len(self.columns) * self.dtype.itemsize

    def select(self, df: Any) -> Any:
        """Return the id and the features of a DataFrame, called id, x0, x1 and so on."""
        from pyspark.sql import functions

        number = "float" if self.dtype == np.float32 else "double"
        features = [
            functions.col(quote(name)).cast(number).alias(f"x{place}") for place, name in enumerate(self.columns)
        ]
        return df.select(functions.col(quote(self.id)).alias("id"), *features)


def quote(name: str) -> str:
    """Write the name of a column such that its dots are part of the name."""
    return "`" + name.replace("`", "``") + "`"


def find_columns(df: Any, id: str, columns: Sequence[str] | None = None) -> Layout:
    """Check the columns of a DataFrame: the ids, and the features, by default all others."""
    type_of = {field.name: field.dataType for field in df.schema.fields}
    names = list(df.columns)
    twice = [name for name in type_of if names.count(name) > 1]
    if twice:
        raise ValueError(f"df has more than one column {twice[0]!r}; every column needs its own name.")
    if isinstance(columns, str):
        raise TypeError(f"columns must be a list of names, and this is the text {columns!r}; pass [{columns!r}].")
    features = [name for name in names if name != id] if columns is None else list(columns)
    missing = [name for name in (id, *features) if name not in type_of]
    if missing:
        what = "column of ids" if missing[0] == id else "column"
        raise ValueError(f"df has no {what} {missing[0]!r}; its columns are {_shown(names)}.")
    if id in features:
        raise ValueError(f"The column {id!r} holds the ids and cannot be a feature, too; leave it out of columns.")
    if len(set(features)) < len(features):
        raise ValueError(f"columns names a column twice: {_shown(features)}.")
    _check_id(id, type_of[id])
    if not features:
        raise ValueError(f"df has no columns but the ids {id!r}; at least one column of numbers is needed.")
    _check_numbers({name: type_of[name] for name in features}, is_chosen=columns is not None)
    exact = all(_kind(type_of[name]) in EXACT_IN_FLOAT32 for name in features)
    return Layout(id, type_of[id], features, np.dtype(np.float32 if exact else np.float64))


def _check_id(name: str, kind: Any) -> None:
    """Refuse ids that are neither whole numbers nor texts, which links could not name for certain."""
    if _kind(kind) not in IDS:
        raise ValueError(
            f"The column of ids {name!r} is of type {kind.simpleString()}; ids are whole numbers or strings. Cast it "
            "to a string first."
        )
    if name == LABEL:
        raise ValueError(f"The column of ids is called {LABEL!r}, as the column of the clusters; rename it first.")


def _check_numbers(type_of: dict[str, Any], *, is_chosen: bool) -> None:
    """Refuse columns that do not hold numbers."""
    others = [f"{name!r} ({kind.simpleString()})" for name, kind in type_of.items() if _kind(kind) not in NUMBERS]
    if others:
        remedy = "cast them to numbers" if is_chosen else "cast them to numbers, or name the features with columns"
        raise ValueError(
            f"{len(others)} of {len(type_of)} columns of df do not hold numbers: {_shown(others)}; {remedy}."
        )


def _kind(kind: Any) -> str:
    """Return the name of a type of Spark without its parameters."""
    name: str = kind.simpleString()
    return name.partition("(")[0].partition("<")[0]


def _shown(names: Sequence[str]) -> str:
    """List the first names, and say how many more there are."""
    more = f" and {len(names) - MAX_SHOWN} more" if len(names) > MAX_SHOWN else ""
    return ", ".join(names[:MAX_SHOWN]) + more
