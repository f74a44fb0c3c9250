"""How a text file is written: its encoding, its separator, its decimal sign and the end of its lines."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Dialect", "find_encoding", "has_codec", "is_separator", "separator_named"]

BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
WESTERN = "cp1252"
# Bytes that mean nothing in cp1252, or that no text holds.
NOT_WESTERN = re.compile(rb"[\0\x81\x8d\x8f\x90\x9d]")
# A letter of several bytes in UTF-8; next to bytes that are not UTF-8 it shows a damaged file, not another encoding.
UTF8_LETTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
SEPARATOR_NAMES = {"\\t": "\t", "tab": "\t"}


@dataclass(frozen=True)
class Dialect:
    """How a delimited text file is written.

    Parameters
    ----------
    separator : str, default=","
        The character between cells.
    encoding : str, default="utf-8"
        A codec of Python: "utf-8", "utf-8-sig" (with a byte order mark), "utf-16", "cp1252" or another one.
    decimal : {".", ","}, default="."
        The decimal sign.
    line_end : {"\\\\n", "\\\\r\\\\n"}, default="\\\\n"
        What ends a line.

    See Also
    --------
    Table : Holds the dialect of the file it was read from.

    Examples
    --------
    >>> from mustlink.tables import Dialect
    >>> Dialect(separator=";", encoding="utf-8-sig", decimal=",", line_end="\\r\\n").separator
    ';'
    """

    separator: str = ","
    encoding: str = "utf-8"
    decimal: str = "."
    line_end: str = "\n"


def find_encoding(blocks: Iterable[bytes]) -> str:
    """Return the encoding of a text: by its byte order mark, else UTF-8, else cp1252 if it can be that.

    Text that is neither is called UTF-8, so that whoever decodes it finds the line of the first wrong byte.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    is_utf8, has_letters = True, False
    for number, block in enumerate(blocks):
        if number == 0:
            for mark, encoding in BYTE_ORDER_MARKS.items():
                if block.startswith(mark):
                    return encoding
        if is_utf8 and (not block.isascii() or decoder.getstate()[0]):
            try:
                decoder.decode(block)
            except UnicodeDecodeError:
                is_utf8 = False
            else:
                has_letters = has_letters or not block.isascii()
        if not is_utf8 and (has_letters or UTF8_LETTER.search(block) or NOT_WESTERN.search(block)):
            return "utf-8"
    # A file may end in the middle of a letter.
    return "utf-8" if is_utf8 and (has_letters or not decoder.getstate()[0]) else WESTERN


def has_codec(encoding: str) -> bool:
    """Return whether Python knows an encoding of text by this name."""
    try:
        "".encode(encoding)
    except (LookupError, ValueError):
        return False
    return True


def separator_named(delimiter: str) -> str:
    """Return the separator that a user means: a tab can be written \\t or tab."""
    return SEPARATOR_NAMES.get(delimiter, delimiter)


def is_separator(delimiter: str) -> bool:
    """Return whether cells can be separated by this."""
    separator = separator_named(delimiter)
    return len(separator) == 1 and not separator.isalnum() and separator not in '".+-_\r\n\0'
