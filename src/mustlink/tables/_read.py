"""Reading a table from a file: the suffix decides how."""

from __future__ import annotations

import errno
import importlib
import io
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from mustlink.blocks.core import refuse_archive
from mustlink.errors import REMEDIES, FileFormatError, OptionError, join_problems
from mustlink.tables._dialect import WESTERN, separator_named
from mustlink.tables._judge import judge_columns, listed, shorten
from mustlink.tables._numbers import NumberSpelling, as_number, is_padded, number_spellings, spells_number
from mustlink.tables._options import check_options
from mustlink.tables._table import MISSING, Table, check_finite, columns_left_out, make_frame, text_column, tidy_frame
from mustlink.tables._text import HEADER_AND_ROWS, SEPARATORS, TextFile

__all__ = ["read_table"]

SEPARATOR = {".csv": None, ".tsv": "\t", ".tab": "\t", ".txt": None}
EXCEL = (".xlsx", ".xlsm")
OLD_SPREADSHEETS = (".xls", ".xlsb", ".ods", ".numbers")
PARQUET = (".parquet", ".pq")
# The records from which the types of the columns are guessed; a wrong guess costs time only.
N_GUESSED_RECORDS = 20
# The cells by which it is decided whether most cells of a column differ.
N_COMPARED = 1000
# Signs that separate cells now and then, and are also common in text.
RARE_SEPARATORS = "~^#:/!&* "
# What to do about an error, in the words of read_table.
READING_REMEDIES = {**REMEDIES, "mark_categorical": "use it as categories with text=[{column!r}]"}
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
    decimal: str | None = None,
    sheet: str | None = None,
    problems: Literal["raise", "keep"] = "raise",
) -> Table:
    """Read a table from CSV, TSV, Excel, Parquet or ``.npy``.

    Parameters
    ----------
    path : str or path-like
        ``.csv``, ``.tsv``, ``.tab`` or ``.txt`` (each also with ``.gz`` after it), ``.xlsx`` (needs the extra
        ``excel``), ``.parquet`` (needs the extra ``parquet``), or ``.npy`` with rows and columns of numbers.
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
    decimal : {".", ","} or None, default=None
        The decimal sign in text; the other one may stand between thousands. None finds it from all columns, and
        refuses numbers such as 1.250 if nothing shows what their sign is.
    sheet : str or None, default=None
        The sheet of an Excel file; None reads the first one, with a notice if there are others.
    problems : {"raise", "keep"}, default="raise"
        What to do about columns that cannot be used, such as text among numbers: raise, or keep the problems in the
        table for :func:`encode`, which raises unless the columns are ignored.

    Returns
    -------
    Table
        Cells that are empty, ``NA``, ``N/A``, ``NaN``, ``null`` or ``?`` count as missing. Dates are days since
        1970-01-01, times of day are hours; percent and currency signs are left out.

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
    check_options(encoding=encoding, delimiter=delimiter, decimal=decimal, sheet=sheet, problems=problems)
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "Is a directory", str(path))
    suffix = path.suffix.lower()
    inner = Path(path.stem).suffix.lower() if suffix == ".gz" else suffix
    refuse_reading_options(
        path,
        {"encoding": encoding, "delimiter": delimiter} if inner not in SEPARATOR else {},
        suffix not in EXCEL and sheet,
    )
    if inner in SEPARATOR:
        separator = delimiter and separator_named(delimiter)
        remedy = ("save_utf8", "choose_encoding")
        file = TextFile(path, separator, suggested=SEPARATOR[inner], encoding=encoding, remedy=remedy)
        table = _read_text(file, text, ignore, columns, header, decimal, is_asked=delimiter is not None)
        if encoding is None and file.encoding == WESTERN:
            note = f"{path} is not in UTF-8 and was read as {WESTERN}; if letters look wrong, give its encoding."
            table = replace(table, notices=(note, *table.notices))
    elif suffix in EXCEL:
        table = _read_excel(path, text, ignore, columns, header, decimal, sheet)
    elif suffix in PARQUET:
        table = _from_frame(path, read_parquet(path), text, ignore, columns)
    elif suffix == ".npy":
        table = _from_frame(path, read_npy(path), text, ignore, columns)
    elif suffix in OLD_SPREADSHEETS:
        raise FileFormatError(f"{path}: {suffix} files cannot be read; save it as .xlsx or .csv.")
    else:
        refuse_archive(path)
        raise FileFormatError(
            f"{path}: a table is read from .csv, .tsv, .txt (each also .gz), .xlsx, .parquet or .npy, "
            f"and {suffix or 'a file without a suffix'} is none of them."
        )
    if problems == "raise" and table.problems:
        raise join_problems(table.source, table.problems).with_remedies(READING_REMEDIES)
    return table


def refuse_reading_options(path: Path, of_text: Mapping[str, str | None], sheet: Any = None) -> None:
    """Refuse options of text files and of Excel for a file that is neither.

    Parameters
    ----------
    path : Path
        The file.
    of_text : mapping of str to str
        The options of text files that are given.
    sheet : str, default=None
        The sheet of Excel that is given.

    Examples
    --------
    >>> from pathlib import Path
    >>> from mustlink.tables import refuse_reading_options
    >>> refuse_reading_options(Path("rows.npy"), {"encoding": "utf-8"})
    Traceback (most recent call last):
        ...
    mustlink.errors.OptionError: rows.npy is not a file of text, so that the encoding 'utf-8' cannot be used.
    """
    for name, value in {**of_text, "sheet": sheet or None}.items():
        if value is not None:
            kind = "Excel" if name == "sheet" else "text"
            raise OptionError(f"{path} is not a file of {kind}, so that the {name} {value!r} cannot be used.")


def _read_text(
    file: TextFile,
    text: Collection[str],
    ignore: Collection[str],
    wanted: Collection[str] | None,
    header: bool | None,
    decimal: str | None,
    *,
    is_asked: bool,
) -> Table:
    """Read a delimited text file, with a separator that was asked for or found; messages about cells name the line."""
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

    as_text = {names.index(name) for name in (*text, *ignore)}
    read = _read_cells(file, has_header, as_text, decimal)
    kept = {name: column for name, column in zip(names, read.columns, strict=True) if name not in ignore}
    judged = judge_columns(
        file.source,
        {name: kept[name] for name in kept if name not in text and isinstance(kept[name], pd.Categorical)},
        where,
        decimal=decimal,
        separator=file.separator,
        evidence={spelling.decimal for spelling in read.spellings.values() if spelling.shows_decimal},
    )
    columns = kept | judged.columns
    for place, name in enumerate(names):
        if name in columns:
            judged.problems += check_finite(file.source, name, columns[name], where, partial(cell, place))
    judged.problems += _other_separator(file, columns, is_asked=is_asked)
    for place, spelling in read.spellings.items():
        if names[place] in columns:
            judged.note_spelling(names[place], spelling)
    sign = decimal or ("," if "," in judged.decimals else ".")
    return Table(
        file.source,
        make_frame(columns, len(read.columns[0])),
        tuple(judged.notices(names)),
        where,
        replace(file.dialect, decimal=sign),
        tuple(ignore),
        units=judged.units,
        problems=tuple(judged.problems),
    )


def _other_separator(file: TextFile, columns: Mapping[str, Any], *, is_asked: bool) -> list[FileFormatError]:
    """Return the problem of a file of one column that another sign cuts into equally many parts in each line."""
    if len(file.first[1]) > 1 or not columns:
        return []
    # Cut at a comma, two numbers look like one; a common separator would have been found if none was asked for.
    holds_text = any(isinstance(column, pd.Categorical) for column in columns.values())
    signs = (*(SEPARATORS if is_asked else ()), *(RARE_SEPARATORS if holds_text else ()))
    lines = [cells[0] for _, cells in islice(file.records(), N_GUESSED_RECORDS)]
    sign = next((sign for sign in signs if len({line.count(sign) for line in lines} - {0}) == 1), None)
    if sign is None or sign not in lines[0] or not all(sign in line for line in lines):
        return []
    name = next(iter(columns))
    problem = f"{file.source} has one column, {shorten(name)}"
    options = {"column": name, "n_cells": len(columns[name]), "delimiter": "tab" if sign == "\t" else sign}
    return [FileFormatError(problem, remedy="choose_delimiter", **options)]


def _has_header(cells: Sequence[Any], header: bool | None, place: str) -> bool:
    """Return whether the first record holds names; raise if it is not known and it holds only numbers."""
    filled = [str(cell).strip() for cell in cells if str(cell).strip() not in MISSING]
    if header is None and filled and all(map(spells_number, filled)):
        raise FileFormatError(f"{place}: the first line holds only numbers", remedy=("no_header", "header"))
    return header is not False


class _Cells(NamedTuple):
    """The columns of a text file as floats or categories; the categories may still spell numbers.

    `spellings` tells how columns of floats show to be written.
    """

    columns: list[Any]
    spellings: Mapping[int, NumberSpelling] = {}


def _read_cells(file: TextFile, has_header: bool, as_text: Collection[int], decimal: str | None) -> _Cells:
    """Read the columns; those that are text however they look stay categories."""
    width = len(file.first[1])
    # One column only: pandas skips blank lines, which may be empty cells.
    found = _read_fast(file, has_header, width, as_text, decimal) if width > 1 else None
    if found is not None:
        return found
    rows = (cells for _, cells in islice(file.records(), has_header, None))
    columns = list(zip(*rows, strict=True)) or [()] * width
    return _Cells([text_column(*pd.factorize(np.array(column, dtype=object))) for column in columns])


def _read_fast(
    file: TextFile, has_header: bool, width: int, as_text: Collection[int], decimal: str | None
) -> _Cells | None:
    """Read the columns by pandas; None if that fails or is not certain to be right."""
    first = list(zip(*(cells for _, cells in islice(file.records(), has_header, N_GUESSED_RECORDS)), strict=True))
    n_separators, has_quotes, has_nul = _scan(file)
    if not first or has_nul or not file.separator.isascii():
        return None
    guessed = [[cell.strip() for cell in cells if cell.strip() not in MISSING] for cells in first]
    sign = decimal or _guess_decimal(guessed)
    # Beside a separating comma, numbers with a decimal comma are quoted, and read as text first.
    sign = "." if file.separator == "," else sign
    texts = {
        place
        for place, cells in enumerate(guessed)
        if place in as_text or any(as_number(cell.replace(sign, ".")) is None for cell in cells)
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
        "decimal": sign,
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
            spellings = {
                place: spelling
                for place in {*texts, *late} - {*as_text}
                if (spelling := _only_spelling(frame[place], decimal))
            }
            columns = [_column(frame[place], spellings.get(place)) for place in range(width)]
            shown = {place: _shows_decimals(frame[place]) for place in frame if _holds_numbers(frame[place])}
            # So are those whose decimal sign may stand between thousands, if anything suggests it.
            doubtful = [place for place, shows in shown.items() if shows is None] if decimal is None else []
            open_texts = [columns[place] for place in {*texts, *late}.difference(as_text, spellings)]
            has_comma = any(spelling.decimal == "," for spelling in spellings.values())
            if doubtful and (
                file.separator == ";" or sign == "," or has_comma or any(map(_may_have_comma, open_texts))
            ):
                again = pd.read_csv(_source(file), dtype=object, usecols=doubtful, **options)
                columns = [_column(again[place]) if place in doubtful else columns[place] for place in range(width)]
    except (ValueError, OverflowError, pd.errors.ParserWarning):
        return None
    # pandas fills short records with empty cells and does not mind a quotation mark in the middle of a cell.
    n_records = len(frame) + has_header
    if n_records != sum(1 for _ in file.records()) if has_quotes else n_separators != n_records * (width - 1):
        return None
    with_sign, padded = NumberSpelling(sign, has_decimals=True), NumberSpelling(sign, is_padded=True)
    spellings |= {place: with_sign for place, shows in shown.items() if shows}
    spellings |= {place: padded for place, shows in shown.items() if not shows and is_padded(guessed[place])}
    return _Cells(columns, spellings)


def _only_spelling(column: pd.Series, decimal: str | None) -> NumberSpelling | None:
    """Return the spelling of a column of many different numbers that can be read in one way only.

    Such a column need not be coded as categories first.
    """
    first = column.iloc[:N_COMPARED]
    if 2 * first.nunique() < len(first):
        return None
    spellings = number_spellings(column.dropna().tolist())
    spelling = next(iter(spellings.values()), None)
    is_sure = spelling is not None and len(spellings) == len(spelling.units) == 1
    return spelling if is_sure and (decimal is None or decimal in spellings) else None


def _column(column: pd.Series, spelling: NumberSpelling | None = None) -> Any:
    """Return a column that pandas read as floats or categories."""
    if spelling is not None:
        values = np.full(len(column), np.nan)
        filled = column.notna().to_numpy()
        values[filled] = spelling.numbers(column[filled].tolist())
        return values
    if _holds_numbers(column):
        return column.to_numpy(dtype=np.float64)
    return text_column(*pd.factorize(column))


def _may_have_comma(column: pd.Categorical) -> bool:
    """Return whether a column of text holds numbers that may have a decimal comma."""
    return "," in number_spellings(list(column.categories))


def _guess_decimal(columns: Sequence[Sequence[str]]) -> str:
    """Guess the decimal sign from some cells of each column; a wrong guess costs time only."""
    spelled = [number_spellings(cells) for cells in columns if cells]
    return "," if any(list(spellings) == [","] for spellings in spelled) else "."


def _shows_decimals(column: pd.Series) -> bool | None:
    """Return whether numbers have a decimal sign; None if it may be a sign between thousands, as in 1.250."""
    if pd.api.types.is_integer_dtype(column.dtype):
        return False
    values = np.abs(column.to_numpy(dtype=np.float64))
    # Nearly always some of the first cells show it.
    if len(values) > N_COMPARED and _shows_decimals(column.iloc[:N_COMPARED]):
        return True
    broken = values[np.mod(values, 1, where=np.isfinite(values), out=np.zeros_like(values)) > 0]
    if ((broken < 1) | (broken > 1000)).any() or (np.abs(np.mod(broken * 1000 + 0.5, 1) - 0.5) > 1e-6).any():
        return True
    return None


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


def _from_frame(
    path: Path,
    frame: pd.DataFrame,
    text: Collection[str],
    ignore: Collection[str],
    columns: Collection[str] | None,
) -> Table:
    """Make a table of a frame, with its problems."""
    judged = tidy_frame(str(path), frame, text=text, ignore=ignore, columns=columns)
    return Table.from_judged(str(path), judged, len(frame))


def _read_excel(
    path: Path,
    text: Collection[str],
    ignore: Collection[str],
    columns: Collection[str] | None,
    header: bool | None,
    decimal: str | None,
    name: str | None,
) -> Table:
    """Read a sheet of a workbook; the messages about its cells name the row of the sheet."""
    sheet, name, others = _open_sheet(path, HEADER_AND_ROWS, name)
    first = sheet.iloc[0].tolist()
    place = f"{path}, sheet row {sheet.index[0] + 1}"
    has_header = _has_header(first, header, place)
    if header is None and _is_title(sheet):
        raise FileFormatError(
            f"{place}: the row has names for {sum(cell != '' for cell in first)} of {len(first)} columns, and the next "
            "one seems to hold the names; delete the rows above the names.",
        )
    names = first if has_header else [f"x{place}" for place in range(len(first))]
    frame = sheet.iloc[int(has_header) :].set_axis(names, axis=1)

    def where(row: int) -> str:
        return f"sheet row {frame.index[row] + 1}"

    judged = tidy_frame(
        str(path), frame, text=text, ignore=ignore, columns=columns, typed=False, where=where, decimal=decimal
    )
    table = replace(Table.from_judged(str(path), judged, len(frame)), where=where, sheet=name)
    if not others:
        return table
    note = f"The sheet {name!r} was read; {path} also has {listed(others)}."
    return replace(table, notices=(note, *table.notices))


def _is_title(sheet: pd.DataFrame) -> bool:
    """Return whether the names of the columns seem to be in the second row, below a title or merged cells."""
    if len(sheet) < 3 or sheet.shape[1] < 2:
        return False
    first, second, third = (sheet.iloc[row].tolist() for row in range(3))
    has_gaps = "" in first and "" not in second
    return (
        has_gaps and all(isinstance(cell, str) for cell in second) and not all(isinstance(cell, str) for cell in third)
    )


def read_sheet(path: Path, expected: str = HEADER_AND_ROWS, name: str | None = None) -> pd.DataFrame:
    """Read the cells of a sheet of a workbook, by default the first one; empty cells are "".

    Blank rows are left out, and blank columns behind the last one that is none.
    """
    return _open_sheet(path, expected, name)[0]


def _open_sheet(path: Path, expected: str, name: str | None) -> tuple[pd.DataFrame, str, list[str]]:
    """Return the cells of a sheet, its name, and the names of the other sheets."""
    require("openpyxl", path, "reading Excel files", "excel")
    with path.open("rb") as stream:
        try:
            book = pd.ExcelFile(stream, engine="openpyxl")
            names = [str(each) for each in book.sheet_names]
            found = names[0] if name is None else name
            options: dict[str, Any] = {"header": None, "dtype": object, "na_filter": False}
            sheet = pd.read_excel(book, sheet_name=found, **options) if found in names else None
        except MemoryError:
            raise
        except Exception as error:  # openpyxl fails with errors of many libraries, zip and XML among them
            raise FileFormatError(f"{path} is not a readable Excel file ({_one_line(error)}).") from None
    if sheet is None:
        raise FileFormatError(f"{path} has no sheet {found!r}; its sheets are {listed(names)}.")
    filled = sheet != ""
    sheet = sheet.loc[filled.any(axis=1), : filled.any(axis=0)[::-1].idxmax() if sheet.size else None]
    if sheet.empty:
        raise FileFormatError(f"{path} is empty; {expected} are expected.")
    return sheet, found, [each for each in names if each != found]


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
    values = map_npy(path)
    dtype = np.float32 if values.dtype == np.float32 else np.float64
    return pd.DataFrame(values.astype(dtype), columns=[f"x{place}" for place in range(values.shape[1])])


def map_npy(path: Path) -> Any:
    """Map an array of rows and columns of numbers into memory."""
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
    return values


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
