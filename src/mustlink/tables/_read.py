"""Reading a table from a file: the suffix decides how."""

from __future__ import annotations

import errno
import importlib
import io
import warnings
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mustlink.errors import FileFormatError
from mustlink.tables._dialect import WESTERN, separator_named
from mustlink.tables._options import check_options
from mustlink.tables._table import (
    MISSING,
    Table,
    as_number,
    check_finite,
    columns_left_out,
    judge_column,
    text_column,
    tidy_frame,
)
from mustlink.tables._text import HEADER_AND_ROWS, TextFile

__all__ = ["read_table"]

SEPARATOR = {".csv": None, ".tsv": "\t", ".tab": "\t", ".txt": None}
EXCEL = (".xlsx", ".xlsm")
PARQUET = (".parquet", ".pq")
# The records from which the types of the columns are guessed; a wrong guess costs time only.
N_GUESSED_RECORDS = 20
# From pandas 3.1 on, floats are always read exactly.
EXACT_FLOATS = {} if pd.__version__ >= "3.1" else {"float_precision": "round_trip"}


def read_table(
    path: str | PathLike[str],
    *,
    text: Collection[str] = (),
    ignore: Collection[str] = (),
    columns: Collection[str] | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
) -> Table:
    """Read a table from CSV, TSV, Excel, Parquet or ``.npy``.

    Parameters
    ----------
    path : str or path-like
        ``.csv``, ``.tsv``, ``.tab`` or ``.txt`` (each also with ``.gz`` after it), ``.xlsx`` (the first sheet; needs
        the extra ``excel``), ``.parquet`` (needs the extra ``parquet``), or ``.npy`` with rows and columns of numbers.
    text : collection of str, default=()
        Columns whose cells are text however they look: ids, labels, codes.
    ignore : collection of str, default=()
        Columns to leave out.
    columns : collection of str or None, default=None
        The columns to read, in any order; None reads all.
    header : bool or None, default=None
        Whether the first line of a text file or sheet holds the names of the columns. None expects names and
        refuses a first line of only numbers.
    encoding : str or None, default=None
        The encoding of a text file, by a name that Python knows. None finds UTF-8, and UTF-16 with a byte order mark;
        other text is read as cp1252, with a notice.
    delimiter : str or None, default=None
        The character that separates the cells of a text file, or "tab". None finds comma, semicolon, tab and pipe from
        the first lines; ``.tsv`` and ``.tab`` have tabs.

    Returns
    -------
    Table
        Cells that are empty, ``NA``, ``N/A``, ``NaN``, ``null`` or ``?`` count as missing.

    Raises
    ------
    FileFormatError
        If the file is not such a table; the message names the line where there is one.
    OSError
        If the file cannot be opened.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mustlink.tables import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "people.csv")
    ...     _ = path.write_text("who;age;plan\\n007;31,5;pro\\n008;40;basic\\n")
    ...     table = read_table(path, text=["who"])
    >>> print(table.frame)
       who   age   plan
    0  007  31.5    pro
    1  008  40.0  basic
    """
    check_options(encoding=encoding, delimiter=delimiter)
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "Is a directory", str(path))
    suffix = path.suffix.lower()
    inner = Path(path.stem).suffix.lower() if suffix == ".gz" else suffix
    if inner in SEPARATOR:
        separator = delimiter and separator_named(delimiter)
        remedy = ("save_utf8", "choose_encoding")
        file = TextFile(path, separator, suggested=SEPARATOR[inner], encoding=encoding, remedy=remedy)
        table = _read_text(file, text, ignore, columns, header)
        if encoding is None and file.encoding == WESTERN:
            note = f"{path} is not in UTF-8 and was read as {WESTERN}; the option encoding chooses another encoding."
            table = replace(table, notices=(note, *table.notices))
        return table
    if suffix in EXCEL:
        return _read_excel(path, text, ignore, columns, header)
    if suffix in PARQUET:
        return Table.from_frame(read_parquet(path), source=str(path), text=text, ignore=ignore, columns=columns)
    if suffix == ".npy":
        return Table.from_frame(read_npy(path), source=str(path), text=text, ignore=ignore, columns=columns)
    raise FileFormatError(
        f"{path}: a table is read from .csv, .tsv, .txt (each also .gz), .xlsx, .parquet or .npy, "
        f"and {suffix or 'a file without a suffix'} is none of them."
    )


def _read_text(
    file: TextFile,
    text: Collection[str],
    ignore: Collection[str],
    wanted: Collection[str] | None,
    header: bool | None,
) -> Table:
    """Read a delimited text file; the messages about its cells name the line."""
    line, cells = file.first
    has_header = _has_header(cells, header, f"{file.source}, line {line}")
    names = [cell.strip() or f"unnamed_{place}" for place, cell in enumerate(cells)]
    if not has_header:
        names = [f"x{place}" for place in range(len(cells))]
    ignore = columns_left_out(file.source, names, text, ignore, wanted)

    def where(row: int) -> str:
        return f"line {file.record(row + has_header)[0]}"

    def cell(place: int, row: int) -> str:
        return file.record(row + has_header)[1][place]

    cells_read, commas = _read_cells(file, has_header, {names.index(name) for name in (*text, *ignore)})
    columns: dict[str, Any] = {}
    for place, (name, column) in enumerate(zip(names, cells_read, strict=True)):
        if name in ignore:
            continue
        if isinstance(column, pd.Categorical) and name not in text:
            column, with_comma = judge_column(file.source, name, column, where, file.separator == ";")
            commas |= {place} if with_comma else set()
        check_finite(file.source, name, column, where, partial(cell, place))
        columns[name] = column
    notices = [f"Column {names[place]!r} was read with the comma as the decimal sign." for place in sorted(commas)]
    frame = pd.DataFrame(columns, index=pd.RangeIndex(len(cells_read[0])), copy=False)
    dialect = replace(file.dialect, decimal="," if commas else ".")
    return Table(file.source, frame, tuple(notices), where, dialect, tuple(ignore))


def _has_header(cells: Sequence[Any], header: bool | None, place: str) -> bool:
    """Return whether the first record holds names; raise if it is not known and it holds only numbers."""
    filled = [str(cell).strip() for cell in cells if str(cell).strip() not in MISSING]
    if header is None and filled and all(as_number(cell) is not None for cell in filled):
        raise FileFormatError(f"{place}: the first line holds only numbers", remedy=("no_header", "header"))
    return header is not False


def _read_cells(file: TextFile, has_header: bool, as_text: Collection[int]) -> tuple[list[Any], set[int]]:
    """Read the columns as floats or categories, and return which of the floats had a decimal comma.

    The categories may still spell numbers, except in the columns that are text however they look.
    """
    width = len(file.first[1])
    # One column only: pandas skips blank lines, which may be empty cells.
    found = _read_fast(file, has_header, width, as_text) if width > 1 else None
    if found is not None:
        return found
    rows = (cells for _, cells in islice(file.records(), has_header, None))
    columns = list(zip(*rows, strict=True)) or [()] * width
    return [text_column(*pd.factorize(np.array(column, dtype=object))) for column in columns], set()


def _read_fast(
    file: TextFile, has_header: bool, width: int, as_text: Collection[int]
) -> tuple[list[Any], set[int]] | None:
    """Read the columns by pandas; None if that fails or is not certain to be right."""
    first = list(zip(*(cells for _, cells in islice(file.records(), has_header, N_GUESSED_RECORDS)), strict=True))
    n_separators, has_quotes, has_nul = _scan(file)
    if not first or has_nul or not file.separator.isascii():
        return None
    guessed = [[cell.strip() for cell in cells if cell.strip() not in MISSING] for cells in first]
    decimal = "," if file.separator == ";" and any(map(_has_decimal_comma, guessed)) else "."
    texts = {
        place
        for place, cells in enumerate(guessed)
        if place in as_text or any(as_number(cell.replace(decimal, ".")) is None for cell in cells)
    }
    options: dict[str, Any] = {
        "sep": file.separator,
        "header": 0 if has_header else None,
        "names": range(width),
        "index_col": False,
        # It costs time, and without quotation marks the blanks around a cell do no harm.
        "skipinitialspace": has_quotes,
        "na_values": list(MISSING),
        "keep_default_na": False,
        "encoding": "utf-8-sig",
        "skiprows": file.n_skipped,
        "decimal": decimal,
        **EXACT_FLOATS,
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pd.errors.DtypeWarning)
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(_source(file), dtype=dict.fromkeys(texts, object), **options)
            # Columns that only later cells show to be no numbers are read again as they are written.
            late = [place for place in frame if place not in texts and not _holds_numbers(frame[place])]
            if late:
                frame[late] = pd.read_csv(_source(file), dtype=object, usecols=late, **options)
    except (ValueError, OverflowError, pd.errors.ParserWarning):
        return None
    # pandas fills short records with empty cells and does not mind a quotation mark in the middle of a cell.
    n_records = len(frame) + has_header
    if n_records != sum(1 for _ in file.records()) if has_quotes else n_separators != n_records * (width - 1):
        return None
    columns: list[Any] = []
    commas = set()
    for place in range(width):
        column = frame[place]
        if not _holds_numbers(column):
            columns.append(text_column(*pd.factorize(column)))
            continue
        values = column.to_numpy(dtype=np.float64)
        if decimal == "," and (
            _has_decimal_comma(guessed[place]) or (np.mod(values[np.isfinite(values)], 1) > 0).any()
        ):
            commas.add(place)
        columns.append(values)
    return columns, commas


def _scan(file: TextFile) -> tuple[int, bool, bool]:
    """Return the number of separators in a file, and whether it has quotation marks and NUL bytes."""
    n_separators = -file.skipped.count(file.separator)
    has_quotes = False
    for block in file.blocks():
        if b"\0" in block:
            return 0, False, True
        has_quotes = has_quotes or b'"' in block
        n_separators += int(np.count_nonzero(np.frombuffer(block, dtype=np.uint8) == ord(file.separator)))
    return n_separators, has_quotes, False


def _source(file: TextFile) -> Any:
    """Return what pandas reads: the path, which it may read in parallel, or what is unpacked in memory."""
    return file.path if file.content is None else io.BytesIO(file.content)


def _holds_numbers(column: pd.Series) -> bool:
    """Return whether pandas found numbers, and not truth values."""
    return pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)


def _has_decimal_comma(cells: Sequence[str]) -> bool:
    """Return whether a cell spells a number with a decimal comma."""
    return any("," in cell and as_number(cell.replace(",", ".")) is not None for cell in cells)


def _read_excel(
    path: Path,
    text: Collection[str],
    ignore: Collection[str],
    columns: Collection[str] | None,
    header: bool | None,
) -> Table:
    """Read the first sheet of a workbook; the messages about its cells name the row of the sheet."""
    sheet = read_sheet(path)
    first = sheet.iloc[0].tolist()
    has_header = _has_header(first, header, f"{path}, sheet row {sheet.index[0] + 1}")
    names = first if has_header else [f"x{place}" for place in range(len(first))]
    frame = sheet.iloc[int(has_header) :].set_axis(names, axis=1)

    def where(row: int) -> str:
        return f"sheet row {frame.index[row] + 1}"

    read, left_out = tidy_frame(str(path), frame, text=text, ignore=ignore, columns=columns, typed=False, where=where)
    return Table(str(path), read, where=where, left_out=left_out)


def read_sheet(path: Path, expected: str = HEADER_AND_ROWS) -> pd.DataFrame:
    """Read the cells of the first sheet of a workbook, without its blank rows; empty cells are ""."""
    require("openpyxl", path, "reading Excel files", "excel")
    with path.open("rb") as stream:
        try:
            sheet = pd.read_excel(stream, header=None, dtype=object, engine="openpyxl", na_filter=False)
        except MemoryError:
            raise
        except Exception as error:  # openpyxl fails with errors of many libraries, zip and XML among them
            raise FileFormatError(f"{path} is not a readable Excel file ({_one_line(error)}).") from None
    sheet = sheet[(sheet != "").any(axis=1)]
    if sheet.empty:
        raise FileFormatError(f"{path} is empty; {expected} are expected.")
    return sheet


def read_parquet(path: Path) -> pd.DataFrame:
    """Read a Parquet file."""
    require("pyarrow", path, "reading Parquet", "parquet")
    import pyarrow

    with path.open("rb") as stream:
        try:
            frame = pd.read_parquet(stream, engine="pyarrow", dtype_backend="numpy_nullable")
        except (pyarrow.ArrowException, ValueError, OSError) as error:
            raise FileFormatError(f"{path} is not a readable Parquet file ({_one_line(error)}).") from None
    return frame if isinstance(frame.index, pd.RangeIndex) else frame.reset_index()


def read_npy(path: Path) -> pd.DataFrame:
    """Read an array of rows and columns of numbers; the columns are called x0, x1 and so on."""
    try:
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError):
        # What numpy says is for Python: how to load objects from a file that one trusts.
        raise FileFormatError(
            f"{path} is not an .npy file of numbers, or not a whole one; an array of rows and columns of numbers, "
            "written by numpy.save, is expected."
        ) from None
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise FileFormatError(
            f"{path}: an array of rows and columns of real numbers is expected, "
            f"and this one has the shape {values.shape} and the type {values.dtype}."
        )
    dtype = np.float32 if values.dtype == np.float32 else np.float64
    return pd.DataFrame(values.astype(dtype), columns=[f"x{place}" for place in range(values.shape[1])])


def require(package: str, path: str | PathLike[str], what: str, extra: str) -> None:
    """Raise if an optional package is not installed.

    Parameters
    ----------
    package : str
        The name of the package.
    path : str or path-like
        The file for which it is needed.
    what : str
        What needs it, as the subject of a sentence.
    extra : str
        The extra of mustlink that installs it.

    Raises
    ------
    FileFormatError
        With the extra to install.

    Examples
    --------
    >>> from mustlink.tables import require
    >>> require("no_such_package", "a.xyz", "reading such files", "xyz")
    Traceback (most recent call last):
        ...
    mustlink.errors.FileFormatError: a.xyz: reading such files needs no_such_package; install it with: ...
    """
    try:
        importlib.import_module(package)
    except ModuleNotFoundError:
        raise FileFormatError(f"{path}: {what} needs {package}", remedy="install_extra", extra=extra) from None


def _one_line(error: BaseException) -> str:
    """Put the message of another library on one line."""
    return " ".join(str(error).split()).rstrip(".")
