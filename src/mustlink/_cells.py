"""How a table to publish is read, by its publisher and by the checker: names of columns, and cells as text."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import pandas as pd

from mustlink.errors import OptionError

__all__ = ["cell_texts", "column_names"]

# All missing cells are written alike, as an empty cell.
EMPTY = ""


def column_names(names: str | Collection[str]) -> list[str]:
    """Return the names of columns, each once; one name may stand for itself."""
    if isinstance(names, str):
        return [names]
    if not isinstance(names, Iterable):
        raise OptionError(f"Columns are named by a list of their names, or by one name; got {names!r}.")
    return list(dict.fromkeys(names))


def cell_texts(series: pd.Series) -> list[str]:
    """Return the cells of a column as they are written: 1 and "1" are equal, and so are None, NaN and <NA>."""
    texts = map(str, series)
    return [EMPTY if is_missing else text for text, is_missing in zip(texts, series.isna(), strict=True)]
