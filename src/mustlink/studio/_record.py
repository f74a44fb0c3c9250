"""The file of a session: an SQLite database to which entries are added, and which never loses one."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from mustlink._atomic import check_writable
from mustlink.errors import FileFormatError, OptionError

__all__ = ["IN_MEMORY", "Entry", "Record"]

IN_MEMORY = ":memory:"
# "mstl" in ASCII, in the header of the file, by which the file is told from those of other programs.
APPLICATION_ID = 0x6D73746C
FORMAT_VERSION = 1
TABLES = {
    "about": "key TEXT PRIMARY KEY, value TEXT NOT NULL",
    "entry": "n INTEGER PRIMARY KEY, time TEXT NOT NULL, message TEXT NOT NULL, ids TEXT NOT NULL, "
    "labels BLOB, confidence BLOB",
    "computed": "name TEXT PRIMARY KEY, value BLOB NOT NULL",
}


class Entry(NamedTuple):
    """One entry of a record: an action, or a result of the background with its labels.

    Parameters
    ----------
    when : str
        The time, in ISO 8601.
    message : dict
        The action, or the method of the result.
    ids : tuple of int
        The ids of the groups afterwards.
    labels, confidence : bytes or None
        Those of a result, compressed.
    """

    when: str
    message: dict[str, Any]
    ids: tuple[int, ...]
    labels: bytes | None = None
    confidence: bytes | None = None


class Record:
    """Entries on the disk. Each is there when :meth:`append` returns; none is ever changed or removed.

    The file is held exclusively while it is open. Between commits, entries may be in a second file with the ending
    ``-wal``, from which SQLite takes them if the process was killed.
    """

    def __init__(self, path: str | os.PathLike[str], connection: sqlite3.Connection) -> None:
        self.path = None if path == IN_MEMORY else Path(path).resolve()
        self._connection = connection
        self.about: dict[str, Any] = {
            key: json.loads(value) for key, value in connection.execute("SELECT key, value FROM about")
        }

    @classmethod
    def create(cls, path: str | os.PathLike[str], about: Mapping[str, Any]) -> Record:
        """Make a new file that tells what the entries are about; refuse to overwrite one."""
        if path != IN_MEMORY:
            check_writable(path)
            try:
                # Exclusively, so that of two sessions which begin at the same time only one has the file.
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            except FileExistsError:
                raise OptionError(f"{path} exists already; open it, or choose another name for the session.") from None
        connection = _connect(path, "rw")
        try:
            with _transaction(connection):
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
                for name, columns in TABLES.items():
                    connection.execute(f"CREATE TABLE {name} ({columns})")
                    for change in ("UPDATE", "DELETE"):
                        connection.execute(
                            f"CREATE TRIGGER keep_{name}_{change.lower()} BEFORE {change} ON {name} "
                            f"BEGIN SELECT RAISE(ABORT, 'entries are never changed or removed'); END"
                        )
                connection.executemany(
                    "INSERT INTO about VALUES (?, ?)", [(key, json.dumps(value)) for key, value in about.items()]
                )
            # The header is in the file itself from now on, also if the process is killed.
            _hold(connection)
            return cls(path, connection)
        except BaseException:
            connection.close()
            if path != IN_MEMORY:
                Path(path).unlink(missing_ok=True)
            raise

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Record:
        """Open a file that :meth:`create` made."""
        if not os.path.isfile(path):
            raise FileNotFoundError(f"There is no file {path}.")
        check_writable(path)
        connection = _connect(path, "rw")
        try:
            _check_header(path, connection)
            _hold(connection)
            return cls(path, connection)
        except sqlite3.Error as error:
            connection.close()
            if "locked" in str(error):
                raise OptionError(f"{path} is open in another studio; close it there first.") from None
            if "not a database" in str(error):
                raise FileFormatError(f"{path} is not a session of the studio.") from None
            raise FileFormatError(f"{path} is damaged and cannot be opened: {error}.") from None
        except BaseException:
            connection.close()
            raise

    def append(self, entry: Entry) -> None:
        """Add an entry; it is on the disk when this returns."""
        with _transaction(self._connection):
            self._connection.execute(
                "INSERT INTO entry (time, message, ids, labels, confidence) VALUES (?, ?, ?, ?, ?)",
                (entry.when, json.dumps(entry.message), json.dumps(entry.ids), entry.labels, entry.confidence),
            )

    def entries(self) -> Iterator[Entry]:
        """Yield all entries in order."""
        for when, message, ids, *fit in self._connection.execute(
            "SELECT time, message, ids, labels, confidence FROM entry ORDER BY n"
        ):
            yield Entry(when, json.loads(message), tuple(json.loads(ids)), *fit)

    def keep(self, name: str, value: bytes) -> None:
        """Keep what takes long to compute from the table."""
        with _transaction(self._connection):
            self._connection.execute("INSERT OR IGNORE INTO computed VALUES (?, ?)", (name, value))

    def kept(self, name: str) -> bytes | None:
        """Return what was kept under a name; None if nothing was."""
        found = self._connection.execute("SELECT value FROM computed WHERE name = ?", (name,)).fetchone()
        return None if found is None else bytes(found[0])

    def close(self) -> None:
        """Close the file; nothing more can be added."""
        self._connection.close()


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Do what is done inside as a whole, on the disk at the end, or not at all."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _connect(path: str | os.PathLike[str], mode: str) -> sqlite3.Connection:
    """Open a database that no other connection may use at the same time."""
    where = IN_MEMORY if path == IN_MEMORY else f"{Path(path).resolve().as_uri()}?mode={mode}"
    # Calls come from several threads, one at a time.
    connection = sqlite3.connect(where, uri=path != IN_MEMORY, isolation_level=None, timeout=0, check_same_thread=False)
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    return connection


def _hold(connection: sqlite3.Connection) -> None:
    """Take the file for this process, and let every commit wait until it is on the disk."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    with _transaction(connection):
        # The lock of a first, empty transaction is kept.
        pass


def _check_header(path: str | os.PathLike[str], connection: sqlite3.Connection) -> None:
    """Refuse a file of another program or of a later version, before anything is written to it."""
    ((application,),) = connection.execute("PRAGMA application_id")
    if application != APPLICATION_ID:
        raise FileFormatError(f"{path} is not a session of the studio, but a database of another program.")
    ((version,),) = connection.execute("PRAGMA user_version")
    if version > FORMAT_VERSION:
        raise FileFormatError(
            f"{path} has the format version {version}, and this mustlink reads up to {FORMAT_VERSION}; "
            "it was made by a later version, which can be installed with: pip install -U mustlink."
        )
