"""From files of texts to counts of words."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from mustlink._spelling import count
from mustlink._types import Indices
from mustlink.errors import FileFormatError, OptionError
from mustlink.tables import Dialect, Table, check_options, read_table

__all__ = [
    "LoadedTexts",
    "TextOptions",
    "UncountedTexts",
    "load_texts",
    "read_text_table",
    "read_texts",
    "text_columns",
    "word_counter",
]

# The column of texts, if none is named.
TEXT_COLUMN = "text"
# Files with one text in each line.
LINE_SUFFIXES = (".txt", ".text", "")
# Words of at least two letters.
WORD = r"(?u)\b[^\W\d_]{2,}\b"
MAX_TITLE = 200
MAX_WORDS = 5_000_000


@dataclass(frozen=True)
class TextOptions:
    """Texts in a file or a folder, and how their words are counted.

    Parameters
    ----------
    texts : str or path-like
        A table with a column of texts, in a format that :func:`mustlink.tables.read_table` reads; a ``.txt`` file with
        one text in each line; or a folder with one text in each file.
    text_column : str or None, default=None
        The column of the texts; None is the column "text", or the only column. With a column, a ``.txt`` file is a
        table.
    title_column : str or None, default=None
        The column of titles to show; None shows how a text begins.
    id_column : str or None, default=None
        The column that names the texts; None numbers them from 0, and takes the names of files in a folder.
    stop_words : {"english", "none"}, default="english"
        Whether frequent English words are left out.
    min_df : int, default=2
        Words that occur in fewer texts are left out.
    header : bool or None, default=None
        Whether the first line of a text file names the columns; None decides by its cells.
    encoding, delimiter, sheet : str or None, default=None
        How the file is written, as for :class:`TableOptions`.

    Examples
    --------
    >>> from mustlink.workflow import TextOptions
    >>> TextOptions("news.csv", text_column="body").min_df
    2
    """

    texts: str | os.PathLike[str]
    _: KW_ONLY
    text_column: str | None = None
    title_column: str | None = None
    id_column: str | None = None
    stop_words: Literal["english", "none"] = "english"
    min_df: int = 2
    header: bool | None = None
    encoding: str | None = None
    delimiter: str | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        if self.min_df < 1:
            raise OptionError(f"The minimum number of texts with a word is {self.min_df}", remedy="min_df_from_1")
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        check_options(**{name: named[name] for name in ("encoding", "delimiter", "sheet")})


@dataclass(frozen=True, eq=False)
class LoadedTexts:
    """Texts with their counts of words.

    Parameters
    ----------
    source : str
        The file or folder.
    texts : list of str
        All texts.
    names : list of str
        What they are called: ids, names of files, or numbers from 0.
    titles : list of str
        What is shown of them.
    counts : csr_matrix of shape (n_counted, n_terms)
        How often the words occur in the texts with any.
    rows : ndarray of shape (n_counted,)
        Which texts these are.
    terms : ndarray of shape (n_terms,)
        The words.
    name_title : str, default="text"
        The title of the names.
    dialect : Dialect or None, default=None
        How the table is written, if it is a text file.
    notices : tuple of str, default=()
        What the person should know, as sentences.
    more : mapping of str to list of str, default={}
        Further columns of the table, one entry for every text.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mustlink.workflow import TextOptions, load_texts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "notes.txt")
    ...     _ = path.write_text("red apples\\ngreen apples\\nred cars\\n")
    ...     texts = load_texts(TextOptions(path))
    >>> texts.terms.tolist(), texts.counts.shape
    (['apples', 'red'], (3, 2))
    """

    source: str
    texts: list[str]
    names: list[str]
    titles: list[str]
    counts: Any
    rows: Indices
    terms: Any
    name_title: str = "text"
    dialect: Dialect | None = None
    notices: tuple[str, ...] = ()
    more: Mapping[str, list[str]] = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        """A short number that other texts or other counts do not have."""
        content = hashlib.sha256()
        for part in (self.counts.indptr, self.counts.indices, self.counts.data):
            content.update(np.ascontiguousarray(part, dtype=np.int64).tobytes())
        content.update("\n".join([*self.names, *self.terms]).encode("utf-8", "surrogatepass"))
        return content.hexdigest()[:16]


def load_texts(options: TextOptions, more: Sequence[str] = ()) -> LoadedTexts:
    """Read texts and count their words.

    Parameters
    ----------
    options : TextOptions
        Where the texts are, and which words count.
    more : sequence of str, default=()
        Further columns of the table to read, as text.

    Returns
    -------
    LoadedTexts
        The texts.

    Raises
    ------
    FileFormatError
        If there are no texts, or no words to count.

    Examples
    --------
    >>> from mustlink.workflow import TextOptions, load_texts
    >>> load_texts(TextOptions("missing.csv"))
    Traceback (most recent call last):
        ...
    FileNotFoundError: [Errno 2] No such file or directory: 'missing.csv'
    """
    read = read_texts(options, more)
    counts, rows, terms = _count_words(str(options.texts), read.texts, options)
    notices = read.notices
    if len(rows) < len(read.texts):
        n_empty = len(read.texts) - len(rows)
        has, is_ = ("has", "is") if n_empty == 1 else ("have", "are")
        notices += (f"{count(n_empty, 'text')} {has} no word that counts, and {is_} left out.",)
    found = (counts, rows, terms, read.name_title, read.dialect, notices, read.more)
    return LoadedTexts(str(options.texts), read.texts, read.names, read.titles, *found)


def read_texts(options: TextOptions, more: Sequence[str] = ()) -> UncountedTexts:
    """Read texts without counting their words; refuse none."""
    path = Path(options.texts)
    if path.is_dir():
        read = _read_folder(path, options, more)
    elif _has_lines(path, options):
        read = _read_lines(path, options, more)
    else:
        read = _read_table(path, options, more)
    if not any(text.strip() for text in read.texts):
        raise FileFormatError(f"{options.texts} has no texts.")
    return read._replace(titles=[title[:MAX_TITLE] for title in read.titles])


def text_columns(options: TextOptions) -> tuple[str, ...]:
    """Return the columns of the table of the texts; none if they are lines or files of a folder."""
    path = Path(options.texts)
    if path.is_dir() or _has_lines(path, options):
        return ()
    return read_table(path, columns=[], **_reading(options)).left_out


def read_text_table(options: TextOptions) -> list[Table]:
    """Return the table of the texts with all its columns as text; none if they are no table."""
    columns = text_columns(options)
    return [read_table(options.texts, text=columns, columns=columns, **_reading(options))] if columns else []


def _has_lines(path: Path, options: TextOptions) -> bool:
    """Return whether a file has one text in each line."""
    return options.text_column is None and Path(path.name.removesuffix(".gz")).suffix.lower() in LINE_SUFFIXES


def _reading(options: TextOptions) -> dict[str, Any]:
    """Return the options of a table that tell how it is written."""
    return {name: getattr(options, name) for name in ("header", "encoding", "delimiter", "sheet")}


class UncountedTexts(NamedTuple):
    """Texts as they were read: what they are called, what is shown of them, and further columns."""

    texts: list[str]
    names: list[str]
    titles: list[str]
    name_title: str
    dialect: Dialect | None = None
    notices: tuple[str, ...] = ()
    more: Mapping[str, list[str]] = {}


def _read_table(path: Path, options: TextOptions, more: Sequence[str]) -> UncountedTexts:
    """Read the texts of a column."""
    column = options.text_column or _find_text_column(path, options)
    named = (column, options.title_column, options.id_column, *more)
    wanted = list(dict.fromkeys(name for name in named if name is not None))
    table = read_table(path, text=wanted, columns=wanted, problems="keep", **_reading(options))
    texts = table.strings(column)
    ids = None if options.id_column is None else table.row_ids(options.id_column)
    titles = _beginnings(texts) if options.title_column is None else table.strings(options.title_column)
    titles = [title or beginning for title, beginning in zip(titles, _beginnings(texts), strict=True)]
    name_title = options.id_column or "row"
    further = {name: table.strings(name) for name in more}
    return UncountedTexts(
        texts, ids or _numbers(texts), titles, name_title, table.dialect, tuple(table.notices), further
    )


def _find_text_column(path: Path, options: TextOptions) -> str:
    """Return the column called "text", or the only one."""
    names = read_table(path, problems="keep", **_reading(options)).names
    found = [name for name in names if name.strip().lower() == TEXT_COLUMN] or (names if len(names) == 1 else ())
    if len(found) != 1:
        raise FileFormatError(
            f"{path} has no column {TEXT_COLUMN!r}; its columns are {', '.join(names)}", remedy="give_text_column"
        )
    return found[0]


def _read_lines(path: Path, options: TextOptions, more: Sequence[str]) -> UncountedTexts:
    """Read a text from every line that is not blank."""
    _refuse_columns(path, options, more, "has one text in each line")
    content = gzip.decompress(path.read_bytes()) if path.suffix.lower() == ".gz" else path.read_bytes()
    lines = [line.strip() for line in _decoded(content, path, options.encoding).rstrip().splitlines()]
    texts = [line for line in lines if line]
    n_blank = len(lines) - len(texts)
    skipped = count(n_blank, "empty line was", "empty lines were")
    notices = (f"{skipped} skipped; texts are numbered without empty lines.",) if n_blank else ()
    return UncountedTexts(texts, _numbers(texts), _beginnings(texts), "row", notices=notices)


def _read_folder(path: Path, options: TextOptions, more: Sequence[str]) -> UncountedTexts:
    """Read a text from every file of a folder."""
    _refuse_columns(path, options, more, "is a folder of texts")
    files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
    texts = [_decoded(file.read_bytes(), file, options.encoding) for file in files]
    return UncountedTexts(texts, [file.name for file in files], _beginnings(texts), "file")


def _refuse_columns(path: Path, options: TextOptions, more: Sequence[str], why: str) -> None:
    """Refuse columns of what is no table."""
    for name in (options.text_column, options.title_column, options.id_column, *more):
        if name is not None:
            raise OptionError(f"{path} {why}, and has no column {name!r}.")


def _decoded(content: bytes, path: Path, encoding: str | None) -> str:
    """Return the text of a file, in UTF-8 unless told otherwise."""
    if encoding is None and b"\0" in content[:1000] and content[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        raise FileFormatError(f"{path} is no text.")
    guesses = [encoding] if encoding else ["utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"]
    for guess in (*guesses, *(() if encoding else ("cp1252", "latin-1"))):
        try:
            return content.decode(guess)
        except UnicodeDecodeError:
            continue
    raise FileFormatError(f"{path} is not written in {encoding}", remedy="choose_encoding")


def _numbers(texts: list[str]) -> list[str]:
    """Name texts by their numbers."""
    return [str(number) for number in range(len(texts))]


def _beginnings(texts: list[str]) -> list[str]:
    """Return how each text begins, on one line."""
    return [" ".join(text[: 2 * MAX_TITLE].split()) for text in texts]


def word_counter(**options: Any) -> Any:
    """Return scikit-learn's counter of words, with the words of this module."""
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(token_pattern=WORD, **options)


def _count_words(source: str, texts: list[str], options: TextOptions) -> tuple[Any, Indices, Any]:
    """Count the words of texts; return the texts that have any, and the words."""
    stop_words = "english" if options.stop_words == "english" else None
    try:
        vectorizer = word_counter(stop_words=stop_words, min_df=options.min_df)
        counts = vectorizer.fit_transform(texts)
    except ValueError:
        # Raised by scikit-learn if no word is left, or if fewer texts are there than a word should occur in.
        if not any(re.search(WORD, text) for text in texts):
            raise FileFormatError(f"{source}: no text has a word; words have two letters or more.") from None
        raise FileFormatError(
            f"{source}: no word occurs in {count(options.min_df, 'text')} or more", remedy="lower_min_df"
        ) from None
    if counts.shape[1] > MAX_WORDS:
        raise FileFormatError(
            f"{source}: {counts.shape[1]:,} different words occur in {count(options.min_df, 'text')} or more, and at "
            f"most {MAX_WORDS:,} can be used",
            remedy="raise_min_df",
        )
    rows = np.flatnonzero(np.diff(counts.indptr))
    return counts[rows], rows, vectorizer.get_feature_names_out()
