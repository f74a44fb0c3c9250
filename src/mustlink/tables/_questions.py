"""Pairs of rows to ask a person about, from a file and into one."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from mustlink._atomic import StagedFiles, is_stream
from mustlink.errors import ConstraintError, FileFormatError
from mustlink.tables._links import _open, _row, _row_of_id

__all__ = ["check_questions_suffix", "read_questions", "stage_questions"]

ENDS = ("a", "b")
COLUMNS = (*ENDS, "similarity", "together")
WRITTEN = ("", ".csv", ".tsv", ".txt")


def read_questions(path: str | PathLike[str], ids: Sequence[str] | None, n_rows: int) -> list[tuple[int, int]]:
    """Read the pairs of rows to ask about, from a file with the columns a and b.

    Parameters
    ----------
    path : str or path-like
        Text with any separator, ``.xlsx`` or ``.parquet``. Other columns than a and b are ignored.
    ids : sequence of str or None
        The id of every row of the table, if the questions name ids; None means row numbers from 0.
    n_rows : int
        The number of rows of the table.

    Returns
    -------
    list of (int, int)
        Pairs of rows, in the order of the file.

    Raises
    ------
    FileFormatError, ConstraintError
        With the file and the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mustlink.tables import read_questions
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "questions.csv")
    ...     _ = path.write_text("a,b\\nu3,u1\\n")
    ...     read_questions(path, ["u1", "u2", "u3"], 3)
    [(2, 0)]
    """
    opened = _open(path, "the columns a and b")
    names = [str(name).strip().lower() for name in opened.header]
    missing = [name for name in ENDS if name not in names]
    if missing:
        raise FileFormatError(
            f"{opened.what} has the columns {', '.join(map(str, opened.header))}, and {' and '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} missing; questions have a and b, the two rows."
        )
    at = [names.index(name) for name in ENDS]
    row_of = None if ids is None else _row_of_id(ids)
    pairs = []
    for place, cells in opened.records:
        a, b = (_find_row(cells[position], row_of, n_rows, place) for position in at)
        if a == b:
            raise ConstraintError(
                f"{place}: asks about {cells[at[0]]} and itself; a question needs two different rows."
            )
        pairs.append((a, b))
    return pairs


def _find_row(cell: Any, row_of: Mapping[str, int] | None, n_rows: int, place: str) -> int:
    """Return the row that a cell names."""
    row = _row(cell, row_of, place)
    if row is None:
        raise ConstraintError(f"{place}: there is no row with the id {str(cell)!r} in the table.")
    if row >= n_rows:
        raise ConstraintError(f"{place}: there is no row {row} in the table; its rows are 0 to {n_rows - 1}.")
    return row


def check_questions_suffix(path: str | PathLike[str]) -> str:
    """Give the separator of a file of questions, or refuse a suffix that cannot be written.

    Parameters
    ----------
    path : str or path-like
        Where the questions are to be written.

    Returns
    -------
    str
        A tab for ``.tsv``, otherwise a comma.

    Examples
    --------
    >>> from mustlink.tables import check_questions_suffix
    >>> check_questions_suffix("questions.csv")
    ','
    """
    suffix = Path(path).suffix.lower()
    if suffix not in WRITTEN and not is_stream(path):
        raise FileFormatError(f"{path}: questions are written as .csv, .tsv or .txt, and {suffix} is none of them.")
    return "\t" if suffix == ".tsv" else ","


def stage_questions(
    files: StagedFiles, path: str | PathLike[str], questions: Iterable[tuple[str, str, float, bool]]
) -> None:
    """Stage a file of questions.

    Parameters
    ----------
    files : StagedFiles
        Where the file is staged.
    path : str or path-like
        ``.csv``, ``.tsv`` (with tabs) or ``.txt``.
    questions : iterable of (str, str, float, bool)
        Two rows by id or number, how similar they are, and whether they are together now.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mustlink._atomic import StagedFiles
    >>> from mustlink.tables import stage_questions
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "questions.csv")
    ...     with StagedFiles() as files:
    ...         stage_questions(files, path, [("u1", "u3", 0.5, True)])
    ...     print(path.read_text())
    a,b,similarity,together
    u1,u3,0.5000,yes
    """
    out = io.StringIO()
    writer = csv.writer(out, delimiter=check_questions_suffix(path), lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(
        (a, b, f"{similarity:.4f}", "yes" if together else "no") for a, b, similarity, together in questions
    )
    files.stage(path, out.getvalue().encode())
