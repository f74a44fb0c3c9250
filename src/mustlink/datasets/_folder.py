"""Reading the compressed CSV files of a data folder."""

from __future__ import annotations

import csv
import gzip
import math
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from mustlink.datasets._bunch import build_bunch, numbered_classes, stacked
from mustlink.errors import FileFormatError

__all__ = ["DATA_VARIABLE", "data_folder", "files_in_folder", "path_in_folder", "read_bunch"]

DATA_VARIABLE = "MUSTLINK_DATA"
_DEFAULT_FOLDER = Path("..", "shared", "data")
_SUFFIX = ".csv.gz"
_LABEL = "label"
_EDGE_HEADER = ("source", "target")

# Whole messages and titles stand in one cell; the csv module stops at 128 KB unless told otherwise.
_LONGEST_CELL = 16 * 1024 * 1024


def data_folder() -> Path:
    """Return the data folder: what the environment says, else ``shared/data`` beside the current folder."""
    return Path(os.environ.get(DATA_VARIABLE) or _DEFAULT_FOLDER).expanduser().resolve()


def path_in_folder(name: str) -> Path:
    """Return the path that a set has, or would have, in the data folder."""
    return data_folder() / f"{name}{_SUFFIX}"


def files_in_folder() -> list[str]:
    """Return the names of all sets that lie in the data folder."""
    found = data_folder().glob(f"*{_SUFFIX}")
    return sorted(path.name.removesuffix(_SUFFIX) for path in found if path.is_file())


def read_bunch(path: Path, name: str, description: str) -> Bunch:
    """Read a set from its file."""
    header, columns = _read_columns(path)
    labels = columns.pop() if header[-1] == _LABEL else None
    feature_names = header[: len(columns)]
    values = [_numbers_or_text(column) for column in columns]
    data = stacked(values)
    if tuple(header) == _EDGE_HEADER:
        data = data.astype(np.int64)  # an edge list names rows, and rows are counted, not measured
    target, target_names = (None, []) if labels is None else numbered_classes(labels)
    return build_bunch(
        name,
        description,
        data,
        target,
        feature_names=feature_names,
        target_names=target_names,
        text_features=[f for f, v in zip(feature_names, values, strict=True) if v.dtype == object],
    )


def _read_columns(path: Path) -> tuple[list[str], list[Sequence[str]]]:
    """Read the header and the cells, column by column."""
    previous_limit = csv.field_size_limit(_LONGEST_CELL)
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            reader = csv.reader(file, strict=True)
            header = next(reader, [])
            rows = []
            for row in reader:
                if len(row) != len(header):
                    raise FileFormatError(
                        f"{path}, line {reader.line_num}: found {len(row)} cells, "
                        f"expected {len(header)} as in the header."
                    )
                rows.append(row)
    except (gzip.BadGzipFile, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise FileFormatError(
            f"{path} cannot be read as gzip-compressed CSV in UTF-8: {error}. Copy the file again."
        ) from error
    finally:
        csv.field_size_limit(previous_limit)
    if not rows or header == [_LABEL]:
        raise FileFormatError(
            f"{path} holds {len(rows)} rows under the header {header}; "
            "expected at least one row and one column beside the label."
        )
    return header, list(zip(*rows, strict=True))


def _numbers_or_text(cells: Sequence[str]) -> NDArray[Any]:
    """Turn a column into float64 if all its filled cells are numbers, with NaN for the empty ones."""
    try:
        return np.array([float(cell) if cell else math.nan for cell in cells], dtype=np.float64)
    except ValueError:
        return np.array(cells, dtype=object)
