"""Files that are written whole or not at all: beside the target first, then renamed over it."""

from __future__ import annotations

import errno
import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO

__all__ = ["StagedFiles", "check_writable", "discard_staged", "is_stream", "make_folder", "write_atomically"]


# The staged files of the process that have not yet been renamed or removed.
_parts: set[Path] = set()


def discard_staged() -> None:
    """Remove what is staged anywhere in the process, before it ends without running the ends of contexts."""
    for part in list(_parts):
        part.unlink(missing_ok=True)


def write_atomically(path: str | PathLike[str], content: bytes) -> None:
    """Write one file so that no half-written one is ever seen under its name."""
    with StagedFiles() as files:
        files.stage(path, content)


class StagedFiles:
    """Several files that appear together, or, when something goes wrong, not at all.

    Used as a context: each file is staged, that is written beside its target and forced to the disk; when
    the block ends without an exception they are renamed over their targets, otherwise they are removed.
    """

    def __init__(self) -> None:
        self._staged: list[tuple[Path, Path]] = []
        self._direct: list[tuple[Path, IO[bytes]]] = []

    def __enter__(self) -> StagedFiles:
        return self

    def stage(self, path: str | PathLike[str], content: bytes) -> None:
        """Write a file beside its target; a device or a pipe cannot be replaced and is written to at the end."""
        check_writable(path)
        if is_stream(path):
            self._direct.append((Path(path), io.BytesIO(content)))
            return
        with self._open_part(path) as stream:
            stream.write(content)

    @contextmanager
    def open(self, path: str | PathLike[str]) -> Iterator[IO[bytes]]:
        """Open a file beside its target, to write content that is larger than memory; as :meth:`stage` otherwise."""
        check_writable(path)
        if is_stream(path):
            content = tempfile.TemporaryFile()  # noqa: SIM115  (read when all files are published)
            self._direct.append((Path(path), content))
            yield content
            return
        with self._open_part(path) as stream:
            yield stream

    @contextmanager
    def _open_part(self, path: str | PathLike[str]) -> Iterator[IO[bytes]]:
        """Open a file beside its target, and force it to the disk at the end."""
        # A link is followed, so that the file it points to is replaced and not the link.
        target = Path(os.path.realpath(path))
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        name = ""
        try:
            handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}.", suffix=".part")
            _parts.add(Path(name))
            self._staged.append((Path(name), target))
            with os.fdopen(handle, "w+b") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            os.chmod(name, mode)
        except OSError as error:
            # An error of another file, one that is read meanwhile, has the name of that file.
            if name and (error.errno is None or error.filename not in (None, name)):
                raise
            # The folder exists, so "no such file" means that no file can be created there.
            reason = "The file cannot be written" if error.errno == errno.ENOENT else error.strerror
            raise OSError(error.errno, reason, str(path)) from None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._publish()
        finally:
            for _target, content in self._direct:
                content.close()
            for part, _target in self._staged:
                part.unlink(missing_ok=True)
                _parts.discard(part)

    def _publish(self) -> None:
        """Write to the devices, which can fail, and then rename the rest into place."""
        for target, content in self._direct:
            content.seek(0)
            try:
                with target.open("wb") as device:
                    shutil.copyfileobj(content, device)
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(target)) from None
        for part, target in self._staged:
            os.replace(part, target)


def is_stream(path: str | PathLike[str]) -> bool:
    """Return whether a path is a device or a pipe, also by a name such as /dev/stdout, and cannot be replaced."""
    path = Path(path)
    return path.is_relative_to("/dev") or (path.exists() and not path.is_file() and not path.is_dir())


def _umask() -> int:
    """Return the mask of permissions, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def make_folder(path: str | PathLike[str]) -> None:
    """Make a folder and those above it, or raise OSError in words about the folder."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        in_the_way = next(part for part in (Path(path), *Path(path).parents) if part.exists())
        raise NotADirectoryError(errno.ENOTDIR, "This is a file, and a folder is expected", str(in_the_way)) from None
    except OSError as error:
        raise OSError(error.errno, "The folder cannot be made", str(path)) from None


def check_writable(path: str | PathLike[str]) -> None:
    """Raise OSError if a file cannot be written, before the work for it begins."""
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "Is a directory", str(path))
    folder = target.parent
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, "The folder to write into does not exist", str(folder))
    if not os.access(target if target.exists() else folder, os.W_OK):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))
