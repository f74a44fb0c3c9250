"""From files of texts to counts of words."""

from __future__ import annotations

import gzip
import hashlib
import os
from dataclasses import KW_ONLY, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from mustlink._spelling import count
from mustlink._types import Indices
from mustlink.errors import FileFormatError, OptionError
from mustlink.tables import Dialect, check_options, read_table

__all__ = ["LoadedTexts", "TextOptions", "load_texts"]

# The column of texts, if none is named.
TEXT_COLUMN = "text"
# Files with one text in each line.
LINE_SUFFIXES = (".txt", ".text", "")
# Words of at least two letters.
WORD = r"(?u)\b[^\W\d_]{2,}\b"
MAX_TITLE = 200


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

    @cached_property
    def digest(self) -> str:
        """A short number that other texts or other counts do not have."""
        content = hashlib.sha256()
        for part in (self.counts.indptr, self.counts.indices, self.counts.data):
            content.update(np.ascontiguousarray(part, dtype=np.int64).tobytes())
        content.update("\n".join([*self.names, *self.terms]).encode("utf-8", "surrogatepass"))
        return content.hexdigest()[:16]


def load_texts(options: TextOptions) -> LoadedTexts:
    """Read texts and count their words.

    Parameters
    ----------
    options : TextOptions
        Where the texts are, and which words count.

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
    path = Path(options.texts)
    if path.is_dir():
        read = _read_folder(path, options)
    elif options.text_column is None and Path(path.name.removesuffix(".gz")).suffix.lower() in LINE_SUFFIXES:
        read = _read_lines(path, options)
    else:
        read = _read_table(path, options)
    texts, names, titles, name_title, dialect, notices = read
    counts, rows, terms = _count_words(str(options.texts), texts, options)
    if len(rows) < len(texts):
        n_empty = len(texts) - len(rows)
        verb = "has" if n_empty == 1 else "have"
        notices += (f"{count(n_empty, 'text')} {verb} no word that counts, and no cluster.",)
    titles = [title[:MAX_TITLE] for title in titles]
    return LoadedTexts(str(options.texts), texts, names, titles, counts, rows, terms, name_title, dialect, notices)


Read = tuple[list[str], list[str], list[str], str, Dialect | None, tuple[str, ...]]


def _read_table(path: Path, options: TextOptions) -> Read:
    """Read the texts of a column."""
    reading = {name: getattr(options, name) for name in ("header", "encoding", "delimiter", "sheet")}
    column = options.text_column or _find_text_column(path, reading)
    wanted = [name for name in (column, options.title_column, options.id_column) if name is not None]
    table = read_table(path, text=wanted, columns=wanted, problems="keep", **reading)
    texts = table.strings(column)
    ids = None if options.id_column is None else table.row_ids(options.id_column)
    titles = _beginnings(texts) if options.title_column is None else table.strings(options.title_column)
    titles = [title or beginning for title, beginning in zip(titles, _beginnings(texts), strict=True)]
    name_title = options.id_column or "row"
    return texts, ids or _numbers(texts), titles, name_title, table.dialect, tuple(table.notices)


def _find_text_column(path: Path, reading: dict[str, Any]) -> str:
    """Return the column called "text", or the only one."""
    names = read_table(path, problems="keep", **reading).names
    found = [name for name in names if name.strip().lower() == TEXT_COLUMN] or (names if len(names) == 1 else ())
    if len(found) != 1:
        raise FileFormatError(
            f"{path} has no column {TEXT_COLUMN!r}; its columns are {', '.join(names)}", remedy="give_text_column"
        )
    return found[0]


def _read_lines(path: Path, options: TextOptions) -> Read:
    """Read a text from every line that is not blank."""
    _refuse_columns(path, options, "has one text in each line")
    content = gzip.decompress(path.read_bytes()) if path.suffix.lower() == ".gz" else path.read_bytes()
    lines = [line.strip() for line in _decoded(content, path, options.encoding).splitlines()]
    texts = [line for line in lines if line]
    return texts, _numbers(texts), _beginnings(texts), "row", None, ()


def _read_folder(path: Path, options: TextOptions) -> Read:
    """Read a text from every file of a folder."""
    _refuse_columns(path, options, "is a folder of texts")
    files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
    texts = [_decoded(file.read_bytes(), file, options.encoding) for file in files]
    return texts, [file.name for file in files], _beginnings(texts), "file", None, ()


def _refuse_columns(path: Path, options: TextOptions, why: str) -> None:
    """Refuse columns of what is no table."""
    for name in (options.text_column, options.title_column, options.id_column):
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


def _count_words(source: str, texts: list[str], options: TextOptions) -> tuple[Any, Indices, Any]:
    """Count the words of texts; return the texts that have any, and the words."""
    from sklearn.feature_extraction.text import CountVectorizer

    if not any(text.strip() for text in texts):
        raise FileFormatError(f"{source} has no texts.")
    stop_words = "english" if options.stop_words == "english" else None
    try:
        vectorizer = CountVectorizer(stop_words=stop_words, min_df=options.min_df, token_pattern=WORD)
        counts = vectorizer.fit_transform(texts)
    except ValueError:
        # Raised by scikit-learn if no word is left, or if fewer texts are there than a word should occur in.
        raise FileFormatError(
            f"{source}: no word occurs in {count(options.min_df, 'text')} or more", remedy="lower_min_df"
        ) from None
    rows = np.flatnonzero(np.diff(counts.indptr))
    return counts[rows], rows, vectorizer.get_feature_names_out()
