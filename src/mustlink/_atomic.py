"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write beside the target, then rename, so that no half-written file is ever seen under its name.

    Parameters
    ----------
    path : path-like
        The file to write; one that is there is replaced only when the new one is complete.
    data : bytes
        The whole content.
    """
    path = Path(os.path.realpath(path))  # through a symbolic link, so that the link itself stays one
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file to write.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to write {path.name} into.")
    handle, beside = tempfile.mkstemp(prefix=".mustlink-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, _permissions(path))
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise


def _permissions(path: Path) -> int:
    """Return the permissions of a file that is there, or those that any new file would have."""
    with contextlib.suppress(FileNotFoundError):
        return stat.S_IMODE(path.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
