"""Typed cells on the way out: a sheet of Excel, and the texts of a text file."""

from __future__ import annotations

import datetime
import io
from typing import Any

import numpy as np
import pandas as pd

__all__ = ["spelled", "write_sheet"]

MIDNIGHT = datetime.time()


def write_sheet(frame: pd.DataFrame, title: str = "clusters") -> bytes:
    """Return an Excel workbook with one sheet; text that looks like a formula stays text."""
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    book = Workbook(write_only=True)
    sheet = book.create_sheet(title)

    def cell(value: Any) -> Any:
        if isinstance(value, datetime.datetime):
            # Excel knows no time zones.
            value = value.isoformat(sep=" ") if value.tzinfo else value
            is_day = isinstance(value, datetime.datetime) and value.time() == MIDNIGHT
            value = value.date() if is_day else value
        if not isinstance(value, str):
            return value
        text = ILLEGAL_CHARACTERS_RE.sub("\N{REPLACEMENT CHARACTER}", value)
        if not text.startswith("="):
            return text
        found = WriteOnlyCell(sheet, value=text)
        found.data_type = "s"
        return found

    sheet.append([cell(str(name)) for name in frame.columns])
    columns = [_plain(frame.iloc[:, place]) for place in range(frame.shape[1])]
    for row in zip(*columns, strict=True):
        sheet.append([cell(value) for value in row])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _plain(column: pd.Series) -> list[Any]:
    """Return the cells of a column as Python's own values, None where there is none."""
    missing = column.isna().to_numpy()
    values = [value.to_pydatetime() if isinstance(value, pd.Timestamp) else value for value in column.tolist()]
    return [
        None if is_missing or (isinstance(value, str) and not value) else _supported(value)
        for value, is_missing in zip(values, missing.tolist(), strict=True)
    ]


def _supported(value: Any) -> Any:
    """Return a value that a sheet can hold."""
    value = value.item() if isinstance(value, np.generic) else value
    known = (str, bool, int, float, datetime.date, datetime.time, datetime.timedelta)
    return value if isinstance(value, known) else str(value)


def spelled(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a data frame in which days are written without a time of day."""
    spelled = frame.copy(deep=False)
    for place in np.flatnonzero([pd.api.types.is_object_dtype(kind) for kind in frame.dtypes]).tolist():
        values = [_spelled_day(value) for value in frame.iloc[:, place].tolist()]
        spelled.isetitem(place, pd.Series(values, index=frame.index, dtype=object))
    return spelled


def _spelled_day(value: Any) -> Any:
    """Return a day as ISO text, and anything else as it is."""
    is_day = isinstance(value, datetime.datetime) and value.time() == MIDNIGHT and value.tzinfo is None
    return value.date().isoformat() if is_day else value
