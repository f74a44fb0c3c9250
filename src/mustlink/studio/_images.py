"""Images that the cells of a table name: files in the table's folder, or ``data:`` URLs."""

from __future__ import annotations

import base64
import binascii
import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path, PurePosixPath, PureWindowsPath

from mustlink.errors import MustlinkError

__all__ = ["MAX_IMAGE_BYTES", "ImageError", "ImageFolder", "names_image"]

MAX_IMAGE_BYTES = 8 * 2**20

# How a file of each kind begins. SVG is left out: it is a document, not an image alone.
SIGNATURES = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
}
SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
DATA_URL = re.compile(r"data:(image/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/=\s]+)")


class ImageError(MustlinkError, ValueError):
    """A cell that names no image which may be shown."""


class ImageFolder:
    """The folder of a table, of which images inside are shown and nothing else.

    Parameters
    ----------
    folder : Path or None
        The folder; None if the table is in no file, so that cells can only be ``data:`` URLs.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else folder.resolve()

    def data_url(self, cell: str) -> str:
        """Return the image that a cell names or holds as a ``data:`` URL; refuse everything else with a sentence."""
        if cell.startswith("data:"):
            return _checked_data_url(cell)
        return _as_data_url(self._read(cell), repr(cell))

    def _read(self, name: str) -> bytes:
        """Read a file inside the folder."""
        if self._folder is None:
            raise ImageError("Images in files are shown only for a table in a file, next to which they are.")
        path = self._inside(name)
        try:
            # Not blocked by a pipe that has this name.
            descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
        except (OSError, ValueError) as error:
            raise ImageError(f"There is no image {name!r} in the folder of the table.") from error
        # Not opened in Python before it is known to be a file: a folder is none.
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            os.close(descriptor)
            raise ImageError(f"{name!r} in the folder of the table is not a file.")
        with os.fdopen(descriptor, "rb") as file:
            _check_size(about.st_size, repr(name))
            return file.read(MAX_IMAGE_BYTES + 1)

    def _inside(self, name: str) -> Path:
        """Return where a file of the folder is; names that lead outside, also by a symbolic link, are refused."""
        assert self._folder is not None
        parts = (*PurePosixPath(name).parts, *PureWindowsPath(name).parts)
        is_absolute = PurePosixPath(name).is_absolute() or bool(PureWindowsPath(name).anchor)
        if is_absolute or ".." in parts or "\0" in name:
            raise ImageError(f"{name!r} is outside the folder of the table, and is not shown.")
        try:
            path = (self._folder / PurePosixPath(name.replace("\\", "/"))).resolve(strict=True)
        except (OSError, ValueError, RuntimeError) as error:
            raise ImageError(f"There is no image {name!r} in the folder of the table.") from error
        if not path.is_relative_to(self._folder):
            raise ImageError(f"{name!r} leads outside the folder of the table, and is not shown.")
        return path


def names_image(cells: Iterable[str]) -> bool:
    """Return whether the cells of a column, empty ones left out, all name or hold images."""
    found = False
    for cell in cells:
        if not cell.strip():
            continue
        if not (cell.lower().endswith(SUFFIXES) or cell.startswith("data:image/")):
            return False
        found = True
    return found


def _checked_data_url(cell: str) -> str:
    """Take a ``data:`` URL apart and put it together again, so that it holds an image and nothing else."""
    match = DATA_URL.fullmatch(cell)
    if match is None:
        raise ImageError("The cell is no data: URL of a PNG, JPEG, GIF or WebP image in base64.")
    _check_size(len(match[2]) * 3 // 4, "The image in the cell")
    try:
        content = base64.b64decode("".join(match[2].split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ImageError("The cell is no data: URL of an image: its base64 is broken.") from error
    return _as_data_url(content, "The cell")


def _check_size(n_bytes: int, name: str) -> None:
    """Refuse images that are too large to send."""
    if n_bytes > MAX_IMAGE_BYTES:
        raise ImageError(f"{name} has {n_bytes:,} bytes; images are shown up to {MAX_IMAGE_BYTES:,} bytes.")


def _as_data_url(content: bytes, name: str) -> str:
    """Make a ``data:`` URL of an image, whose kind is told by its first bytes and not by its name."""
    _check_size(len(content), name)
    for media, signature in SIGNATURES.items():
        if signature.match(content):
            return f"data:{media};base64,{base64.b64encode(content).decode('ascii')}"
    raise ImageError(f"{name} is not a PNG, JPEG, GIF or WebP image.")
