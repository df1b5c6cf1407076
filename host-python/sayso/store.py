"""One SQLite database with the ledger's tables: the only file that knows SQL.

Every failure of SQLite leaves here as a LedgerError. Which database is used, and what happens when it fails, is
decided in `ledger.py`.

Durability: WAL with `synchronous=NORMAL`. A commit is whole after a kill of the process, and after a power failure
the database is sound but may lack the last commits; `head.py` brings them to disk a moment later.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import secrets
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from . import database
from .chain import Checkpoint, Peaks, commitment, entry_hash, genesis, leaf_hash, node_hash, peaks_at
from .database import translated
from .keys import Key
from .types import LedgerError

_CHUNK = 256
_JOINED = """SELECT e.seq, e.event_id, e.session, e.kind, e.at, e.row, e.commitment, e.prev_hash, e.hash, e.seal,
  b.salt, b.body FROM entries e LEFT JOIN bodies b ON b.seq = e.seq"""
#: Calls and results that are loaded into an engine at most: more than a loop can be long.
CALLS = 128
#: The session and all that it continues, also where somebody wrote a circle; marks without a session are everybody's.
_FAMILY = """WITH RECURSIVE family (session) AS (
  VALUES (?1), ('') UNION SELECT s.parent FROM sessions s JOIN family f ON s.session = f.session) """


class Entry(NamedTuple):
    """One entry as it is stored. `salt` and `body` are None when the body was dropped or never was."""

    seq: int
    event_id: str
    session: str
    kind: str
    at: int
    row: str
    commitment: bytes
    prev_hash: bytes
    hash: bytes
    seal: bytes
    salt: bytes | None
    body: str | None


class Store:
    """An open database. Not safe for threads: the owner holds a lock around each call."""

    def __init__(self, connection: sqlite3.Connection, key: Key, name: str) -> None:
        self._connection = connection
        self._name = name
        self._key_id = key.id
        self._seal_key = key.subkey("seal")
        with self._translated():
            meta = dict(connection.execute("SELECT name, value FROM meta").fetchall())
        self.origin: str = meta.get("origin", "")
        #: The checkpoint of the ledger that this one replaced when its file was gone, or "".
        self.predecessor: str = meta.get("predecessor", "")
        self.genesis = genesis(self.origin, self.predecessor)

    @classmethod
    def memory(cls, key: Key) -> Store:
        """A new database that ends with the process."""
        return cls(database.memory(), key, "in memory")

    @staticmethod
    def create(path: Path, predecessor: str) -> None:
        """Makes the file, complete when it appears. The caller holds the lock of the folder and saw no file there."""
        database.create(path, predecessor)

    @classmethod
    def open(cls, path: Path, key: Key) -> Store:
        """Opens an existing file. One of a newer sayso, or of another program, is not touched."""
        return cls(database.connect(path), key, str(path))

    def close(self) -> None:
        with self._translated():
            self._connection.close()

    @property
    def connection(self) -> sqlite3.Connection:
        """For `ledger.py`, which must not let a child process close what its parent has opened."""
        return self._connection

    def append(
        self, event_id: str, session: str, kind: str, at: int, row: str, body: str, parent: str
    ) -> tuple[int, bytes]:
        """Adds one entry in one transaction; gives its number and its hash."""
        with self._translated(), self._transaction("IMMEDIATE"):
            seq, digest = self._insert(event_id, session, kind, at, row, body)
            if parent:
                self._link(session, parent)
        return seq, digest

    def clear(self, event_id: str, at: int, row: str) -> tuple[int, bytes, int]:
        """Removes every body and salt and adds the entry that says so, in one transaction; gives its number, its hash
        and how many bodies there were."""
        with self._translated():
            self._connection.execute("PRAGMA secure_delete = ON")
            try:
                with self._transaction("IMMEDIATE"):
                    dropped = self._connection.execute("DELETE FROM bodies").rowcount
                    until = max(at + 1, self.dropped_before() or 0)
                    self._connection.execute("INSERT OR REPLACE INTO meta VALUES ('dropped_before', ?)", (str(until),))
                    seq, digest = self._insert(event_id, "", "mark", at, row, "")
            finally:
                self._connection.execute("PRAGMA secure_delete = OFF")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return seq, digest, int(dropped)

    def _insert(self, event_id: str, session: str, kind: str, at: int, row: str, body: str) -> tuple[int, bytes]:
        salt = secrets.token_bytes(32) if body else b""
        committed = commitment(salt, body) if body else b""
        seq, previous = self.head()
        seq += 1
        digest = entry_hash(seq, previous, event_id, session, kind, at, row, committed)
        values = (seq, event_id, session, kind, at, row, committed, previous, digest, self.seal(digest))
        self._connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
        if body:
            self._connection.execute("INSERT INTO bodies VALUES (?, ?, ?)", (seq, salt, body))
        self._add_nodes(seq - 1, leaf_hash(previous), leaf_hash(digest))
        return seq, digest

    def link(self, session: str, parent: str) -> None:
        """Notes that `session` continues `parent`."""
        with self._translated(), self._transaction("IMMEDIATE"):
            self._link(session, parent)

    def head(self) -> tuple[int, bytes]:
        """The number and the hash of the last entry; 0 and the hash that the first one will name as previous."""
        found = self._connection.execute("SELECT seq, hash FROM entries ORDER BY seq DESC LIMIT 1").fetchone()
        return (found[0], found[1]) if found else (0, self.genesis)

    def size(self) -> int:
        """How many entries there are."""
        with self._translated():
            return self.head()[0]

    def seal(self, digest: bytes) -> bytes:
        """What only a holder of the key can make of a hash, behind the name of the key."""
        return self._key_id + hmac.digest(self._seal_key, digest, hashlib.sha256)

    def node(self, level: int, number: int) -> bytes:
        """The hash of a complete subtree. Raises LedgerError where the table lacks it."""
        with self._translated():
            if level == 0:
                found = self._connection.execute("SELECT hash FROM entries WHERE seq = ?", (number + 1,)).fetchone()
            else:
                query = "SELECT hash FROM nodes WHERE level = ? AND number = ?"
                found = self._connection.execute(query, (level, number)).fetchone()
        if found is None:
            raise LedgerError(f"The ledger {self._name} lacks a part of its tree. Run `sayso verify`.")
        return leaf_hash(found[0]) if level == 0 else bytes(found[0])

    def root(self, size: int) -> bytes:
        """The root of the tree of the first `size` entries."""
        return peaks_at(size, self.node).root()

    def checkpoint(self) -> Checkpoint:
        """The present head as it can be noted elsewhere."""
        size = self.size()
        return Checkpoint(self.origin, size, self.root(size) if size else Peaks().root())

    def family(self, session: str) -> list[str]:
        """`session` and all the sessions that it continues."""
        with self._translated():
            query = f"{_FAMILY} SELECT session FROM family"  # noqa: S608 - two constants
            return [name for (name,) in self._connection.execute(query, (session,))]

    def of_session(self, session: str, after: int, most: int) -> tuple[list[int], list[int]]:
        """The newest entries of the family of `session`, and the newest writes of all others; ascending. Of its calls
        only the last few: they are many, and must not crowd out what the user said."""
        mine = "SELECT seq FROM entries WHERE session IN (SELECT session FROM family) AND seq > ?2 AND kind"
        own = f"{mine} NOT IN ('call', 'result')"
        calls = f"{mine} IN ('call', 'result')"
        other = (
            "SELECT seq FROM entries WHERE kind = 'write' AND session NOT IN (SELECT session FROM family) AND seq > ?2"
        )
        found = []
        with self._translated():
            for query, limit in ((own, most), (other, most), (calls, CALLS)):
                rows = self._connection.execute(f"{_FAMILY}{query} ORDER BY seq DESC LIMIT ?3", (session, after, limit))
                found.append([seq for (seq,) in rows][::-1])
        return sorted(found[0] + found[2]), found[1]

    def numbered(self, numbers: list[int]) -> Iterator[Entry]:
        """The entries with these numbers, in the order of the list; ones that are gone are left out."""
        for start in range(0, len(numbers), _CHUNK):
            part = numbers[start : start + _CHUNK]
            marks = ", ".join("?" * len(part))
            with self._translated():
                rows = self._connection.execute(f"{_JOINED} WHERE e.seq IN ({marks})", part).fetchall()
            by_number = {row[0]: Entry(*row) for row in rows}
            yield from (by_number[seq] for seq in part if seq in by_number)

    def after(self, seq: int, most: int) -> list[Entry]:
        """At most `most` entries with larger numbers than `seq`, ascending."""
        with self._translated():
            rows = self._connection.execute(f"{_JOINED} WHERE e.seq > ? ORDER BY e.seq LIMIT ?", (seq, most)).fetchall()
        return [Entry(*row) for row in rows]

    def look_up(self, column: str, value: bytes) -> Entry | None:
        """The first entry with this `hash` or `prev_hash`; reads the whole table, for the diagnosis of a fault."""
        query = {"hash": f"{_JOINED} WHERE e.hash = ? LIMIT 1", "prev_hash": f"{_JOINED} WHERE e.prev_hash = ? LIMIT 1"}
        with self._translated():
            row = self._connection.execute(query[column], (value,)).fetchone()
        return None if row is None else Entry(*row)

    def nodes(self) -> Iterator[tuple[int, int, bytes]]:
        """All inner nodes in the order in which appending completes them."""
        with self._translated():
            yield from self._connection.execute(
                "SELECT level, number, hash FROM nodes ORDER BY (number + 1) << level, level"
            )

    def stray_body(self) -> int:
        """The number of a body that belongs to no entry, or 0."""
        query = "SELECT min(seq) FROM bodies WHERE seq NOT IN (SELECT seq FROM entries)"
        with self._translated():
            return int(self._connection.execute(query).fetchone()[0] or 0)

    def damage(self) -> str:
        """What SQLite itself finds wrong with the file, such as an index that hides entries, or ""."""
        with self._translated():
            found = str(self._connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
        return "" if found == "ok" else found

    def links(self) -> list[tuple[str, str, bytes]]:
        """All (session, parent, seal)."""
        with self._translated():
            return self._connection.execute("SELECT session, parent, seal FROM sessions").fetchall()

    def seal_of_link(self, session: str, parent: str) -> bytes:
        """The seal of a link between sessions."""
        return self.seal(genesis(session, parent))

    def drop_bodies(self, before_at: int) -> int:
        """Removes bodies and salts of entries before `before_at` (milliseconds), also from the file's free space."""
        with self._translated():
            self._connection.execute("PRAGMA secure_delete = ON")
            try:
                with self._transaction("IMMEDIATE"):
                    dropped = self._connection.execute(
                        "DELETE FROM bodies WHERE (SELECT e.at FROM entries e WHERE e.seq = bodies.seq) < ?",
                        (before_at,),
                    ).rowcount
                    until = max(before_at, self.dropped_before() or before_at)
                    self._connection.execute("INSERT OR REPLACE INTO meta VALUES ('dropped_before', ?)", (str(until),))
            finally:
                self._connection.execute("PRAGMA secure_delete = OFF")
            if dropped:
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return int(dropped)

    def dropped_before(self) -> int | None:
        """Bodies of entries older than this time (milliseconds) were dropped on purpose."""
        found = self._connection.execute("SELECT value FROM meta WHERE name = 'dropped_before'").fetchone()
        return int(found[0]) if found and found[0].lstrip("-").isdigit() else None

    def shrink_wal(self) -> None:
        """Moves finished pages from the write-ahead log into the database, without making anyone wait."""
        with self._translated():
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Everything read inside comes from one moment."""
        with self._translated(), self._transaction("DEFERRED"):
            yield

    def _link(self, session: str, parent: str) -> None:
        values = (session, parent, self.seal_of_link(session, parent))
        self._connection.execute("INSERT OR REPLACE INTO sessions VALUES (?, ?, ?)", values)

    def _add_nodes(self, index: int, left: bytes, right: bytes) -> None:
        """Stores what the leaf `index` completes; `left` is the leaf before it."""
        level, number = 0, index
        while number & 1:
            right = node_hash(left if level == 0 else self.node(level, number - 1), right)
            level, number = level + 1, number >> 1
            self._connection.execute("INSERT INTO nodes VALUES (?, ?, ?)", (level, number, right))

    @contextlib.contextmanager
    def _transaction(self, kind: str) -> Iterator[None]:
        self._connection.execute(f"BEGIN {kind}")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise

    def _translated(self) -> contextlib.AbstractContextManager[None]:
        return translated(self._name)


def checked_row(row: str) -> str:
    """`row` on one line. Raises LedgerError unless it is a JSON object."""
    try:
        whole = isinstance(json.loads(row), dict)
    except (ValueError, RecursionError):
        whole = False
    if not whole:
        raise LedgerError("A row of the ledger is a JSON object.")
    # Raw line breaks only stand between tokens in JSON; as a space they mean the same.
    return clean(row.replace("\r", " ").replace("\n", " "))


def clean(text: str) -> str:
    """`text` as it can be stored: a lone surrogate, which no UTF-8 can hold, becomes U+FFFD."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
