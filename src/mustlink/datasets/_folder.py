"""Reading and writing the compressed CSV files of a data folder."""

from __future__ import annotations

import gzip
import os
import re
import warnings
import zlib
from gzip import BadGzipFile
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.utils import Bunch

from mustlink._atomic import write_atomically
from mustlink.datasets._bunch import build_bunch, number_classes, to_array
from mustlink.errors import DataNotFoundError, FileFormatError

DATA_VARIABLE = "MUSTLINK_DATA"
SUFFIX = ".csv.gz"
_LABEL = "label"
_EDGE_HEADER = ["source", "target"]
_DAMAGED = (BadGzipFile, EOFError, zlib.error, UnicodeDecodeError, pd.errors.ParserError, pd.errors.ParserWarning)


def data_folder() -> Path | None:
    """Return the folder that the environment variable names, or None if it is not set."""
    named = os.environ.get(DATA_VARIABLE)
    return Path(named).expanduser().resolve() if named else None


def files_in_folder() -> dict[str, Path]:
    """Return the files of all sets in the data folder by the names of the sets."""
    folder = data_folder()
    found = sorted(folder.glob(f"*{SUFFIX}")) if folder else []
    return {path.name.removesuffix(SUFFIX): path for path in found if path.is_file()}


def where(name: str | None = None) -> str:
    """Return why the file of a set, or of several, was not found, as part of a sentence."""
    folder = data_folder()
    if folder is None:
        return f"the variable {DATA_VARIABLE} is not set"
    return f"{name}{SUFFIX} is not in {folder}" if name else f"the variable {DATA_VARIABLE} names {folder}"


def path_to_save(name: str) -> Path:
    """Return the path of a set that is to be saved; refuse a bad name, and a data folder that is not named."""
    if not isinstance(name, str) or not re.fullmatch(r"\w[\w.-]*", name):
        raise ValueError(f"save_as is {name!r}; expected a name of letters, digits, '_', '.' and '-'.")
    folder = data_folder()
    if folder is None:
        raise DataNotFoundError(
            f"The data set cannot be saved as {name!r}: {where()}. Set the environment variable {DATA_VARIABLE} to the "
            "folder for data sets."
        )
    return folder / f"{name}{SUFFIX}"


def write_bunch(bunch: Bunch, path: Path) -> None:
    """Write a set so that it is read as it is; the folder is made if it does not exist."""
    if issparse(bunch.data):
        raise ValueError(f"The data set {bunch.name!r} is sparse; the data folder holds tables only.")
    frame = pd.DataFrame(bunch.data, columns=bunch.feature_names)
    if bunch.target is not None:
        classes = bunch.target_names
        frame[_LABEL] = classes[bunch.target] if len(classes) else bunch.target
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, gzip.compress(frame.to_csv(index=False).encode("utf-8"), mtime=0))


def read_bunch(path: Path, name: str, description: str) -> Bunch:
    """Read a set from its file."""
    frame = _read(path)
    target = None
    target_names: list[str] = []
    if frame.columns[-1] == _LABEL:
        target, target_names = number_classes(frame.pop(_LABEL).tolist())
    feature_names = list(frame.columns)
    data, text_features = to_array(frame.apply(_parse), missing_text="")
    if feature_names == _EDGE_HEADER:
        data = data.astype(np.int64)  # an edge list holds row numbers
    return build_bunch(
        name,
        description,
        data,
        target,
        feature_names=feature_names,
        target_names=target_names,
        text_features=text_features,
    )


def _read(path: Path) -> pd.DataFrame:
    """Read a file and refuse one that is damaged, empty, or has a row without a class."""
    try:
        with warnings.catch_warnings():
            # With index_col=False, pandas only warns about rows that are longer than the header.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                path, compression="gzip", encoding="utf-8", index_col=False, dtype=object, keep_default_na=False
            )
    except pd.errors.EmptyDataError:
        frame = pd.DataFrame()
    except _DAMAGED as error:
        raise FileFormatError(
            f"{path} cannot be read as gzip-compressed CSV in UTF-8: {str(error).strip()}. Copy the file again."
        ) from error
    header = list(frame.columns)
    if frame.empty or header == [_LABEL]:
        raise FileFormatError(
            f"{path} holds {len(frame)} rows under the header {header}; "
            "expected at least one row and one column beside the label."
        )
    unnamed = frame[_LABEL].eq("") if header[-1] == _LABEL else frame.index < 0
    if unnamed.any():
        raise FileFormatError(
            f"{path}, row {unnamed.argmax() + 1} after the header: the cell under {_LABEL!r} is empty or missing; "
            f"expected the class, after {len(header) - 1} other cells."
        )
    return frame


def _parse(column: pd.Series) -> pd.Series:
    """Return numbers, with NaN for an empty cell, if all other cells are numbers as Python reads them."""
    try:
        return column.replace("", "nan").astype(np.float64)
    except ValueError:
        return column
