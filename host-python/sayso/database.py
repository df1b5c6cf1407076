"""The database file: how it is made, checked and opened, and what its errors are called.

The file is only ever opened through SQLite: closing any other handle on it would end the locks that SQLite holds for
this process.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from .keys import quoted
from .types import LedgerError

SCHEMA_VERSION = 1
APPLICATION = 0x53617973  # "Says"
#: How long a write waits for other processes, in seconds.
PATIENCE = 5.0
#: Pages of the write-ahead log after which a commit itself moves them; `head.py` does it earlier, off the hot path.
WAL_PAGES = 8_000
_TROUBLES = {
    sqlite3.SQLITE_BUSY: "is locked by another process",
    sqlite3.SQLITE_LOCKED: "is locked by another process",
    sqlite3.SQLITE_FULL: "can't grow, the disk is full",
    sqlite3.SQLITE_READONLY: "can't be written, it is read-only",
    sqlite3.SQLITE_PERM: "can't be written, its rights forbid it",
    sqlite3.SQLITE_CANTOPEN: "can't be opened",
    sqlite3.SQLITE_IOERR: "can't be read or written, the disk gives errors or is full",
    sqlite3.SQLITE_CORRUPT: "is damaged; keep a copy, then move it away to begin a new one",
    sqlite3.SQLITE_NOTADB: "is no SQLite database; move it away to begin a new one",
}


class DuplicateError(LedgerError):
    """An entry with this event id is already stored."""


def memory() -> sqlite3.Connection:
    """A new database that ends with the process."""
    with translated("in memory"):
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        _make_tables(connection, "")
        return connection


def create(path: Path, predecessor: str) -> None:
    """Makes the file, complete when it appears. The caller holds the lock of the folder and saw no file there."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
        with translated(str(path)):
            connection = sqlite3.connect(draft, isolation_level=None)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                _make_tables(connection, predecessor)
            finally:
                connection.close()
        for leftover in ("-wal", "-shm"):  # Of a deleted database: SQLite would replay them into the new one.
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{path}{leftover}")
        os.rename(draft, path)
    except OSError as error:
        raise LedgerError(f"The ledger {path} can't be made: {error.strerror}.") from None
    finally:
        for leftover in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                os.unlink(f"{draft}{leftover}")


def connect(path: Path) -> sqlite3.Connection:
    """Opens an existing file. One of a newer sayso, or of another program, is not touched."""
    _check_file(path)
    with translated(str(path)):
        connection = _connect(path, "mode=rw")
        try:
            # Once more: what a newer sayso changed may still stand in the write-ahead log.
            _check_version(path, _number(connection, "user_version"))
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}")
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
        except BaseException:
            connection.close()
            raise
        return connection


@contextlib.contextmanager
def translated(name: str) -> Iterator[None]:
    """Makes one LedgerError of anything that SQLite raises. Never repeats values of a statement."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_CONSTRAINT_UNIQUE:
            raise DuplicateError("An entry with this event id is already in the ledger.") from None
        raise LedgerError(f"The ledger {name} refused an entry: {error}.") from None
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        raise LedgerError(f"The ledger {name} {_TROUBLES.get(code, f'failed: {error}')}.") from None
    except (OverflowError, ValueError) as error:
        raise LedgerError(f"The ledger {name} can't hold a value: {error}.") from None


def _make_tables(connection: sqlite3.Connection, predecessor: str) -> None:
    script = Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")
    connection.executescript(f"BEGIN;\n{script}\nCOMMIT;")
    origin = f"sayso-ledger/{secrets.token_hex(16)}"
    connection.executemany("INSERT INTO meta VALUES (?, ?)", [("origin", origin), ("predecessor", predecessor)])
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _connect(path: Path, how: str) -> sqlite3.Connection:
    address = f"file:{quote(str(path.absolute()))}?{how}"
    return sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False)


def _check_file(path: Path) -> None:
    try:
        found = os.lstat(path)
        if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) & 0o077:
            os.chmod(path, 0o600)
    except OSError as error:
        raise LedgerError(f"The ledger {path} can't be opened: {error.strerror}.") from None
    if not stat.S_ISREG(found.st_mode):
        raise LedgerError(f"The ledger {path} is a link or a folder. Put the file itself there.")
    with translated(str(path)):
        # `immutable` makes SQLite read nothing but this file, and write nothing at all.
        connection = _connect(path, "immutable=1")
        try:
            application, version = _number(connection, "application_id"), _number(connection, "user_version")
        finally:
            connection.close()
    if application != APPLICATION:
        raise LedgerError(f"{path} is no ledger of sayso. Move it away: `mv {quoted(path)} {quoted(path)}.other`")
    _check_version(path, version)


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def _check_version(path: Path, version: int) -> None:
    if version > SCHEMA_VERSION:
        raise LedgerError(
            f"The ledger {path} has version {version}, made by a newer sayso; this one knows {SCHEMA_VERSION}. "
            "Install the newer sayso. Nothing was written."
        )
