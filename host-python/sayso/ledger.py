"""The ledger: what sayso saw and judged, in the order in which it happened, chained so that it can be verified.

Several processes may append to one ledger at once. When the file can't be used, entries go to memory, and where even
that fails nowhere; `state` and `trouble` say so, and the guards go on. Entries kept in memory are added to the file
once it can be written again.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import json
import os
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Literal, NamedTuple

from .chain import Checkpoint, consistency_proof, inclusion_proof
from .database import DuplicateError
from .export import write_export
from .head import HeadFile, Keeper
from .keys import Key
from .place import identity, open_store
from .store import Entry, Store, checked_row, clean
from .types import LedgerError
from .verify import Fault, Verification, verify_store

State = Literal["file", "memory", "none"]
#: How many entries are loaded into an engine at most, and how many of them are kept for writes of other sessions.
LOADED = 10_000
LOADED_WRITES = 2_000
#: After a failure the file is left alone for this long, in seconds.
RETRY = 30.0
#: How many numbers of own entries are remembered for `changes_since`.
_REMEMBERED = 10_000
_CHUNK = 256


class Found(NamedTuple):
    """One entry for a report. `body` is "" when it was dropped or never was."""

    seq: int
    session: str
    kind: str
    at: int
    row: str
    body: str


class Ledger:
    """One ledger, safe for threads and after a fork. Make it with `open`."""

    def __init__(self, path: Path, key: Key) -> None:
        self.path = path
        #: One sentence for the person, or "" while all is well.
        self.trouble = ""
        self._key = key
        self._head = HeadFile(path.with_name("head"), key)
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._file: Store | None = None
        self._identity = (0, 0)
        self._memory: Store | None = None
        self._base = 0
        self._retry_at = 0.0
        self._known = (0, b"")
        self._own: dict[int, str] = {}
        self._keeper = Keeper(self.path, self._key, self._head, self._complain)

    @classmethod
    def open(cls, path: Path, key: Key, *, strict: bool = False) -> Ledger:
        """Opens the ledger, or makes it. Falls back to memory, then to nothing, when it can't be used.

        With `strict`, for commands that show what is stored, nothing is made and a LedgerError says what is wrong.
        """
        ledger = cls(path, key)
        with ledger._lock:
            try:
                ledger._connect(make=not strict)
            except LedgerError as error:
                if strict:
                    raise
                ledger._fall_back(error)
        _opened.add(ledger)
        return ledger

    @property
    def state(self) -> State:
        """Where the next entry goes."""
        with self._ready():
            if self._memory is not None:
                return "memory"
            return "none" if self._file is None else "file"

    @property
    def origin(self) -> str:
        """The name of this ledger in its checkpoints, or "" where there is none."""
        with self._ready():
            store = self._file or self._memory
            return "" if store is None else store.origin

    def append(self, event_id: str, session: str, kind: str, at: int, row: str, body: str, parent: str = "") -> int:
        """Adds an entry, and that `session` continues `parent` if one is given. Returns its number, 0 for nowhere.

        Raises LedgerError only for an entry that no ledger could take: an event id that is stored already, a row that
        is no JSON object, a time out of range.
        """
        if not 0 <= at < 1 << 63:
            raise LedgerError("The time of an entry is in milliseconds since 1970.")
        row = checked_row(row)
        event_id, session, kind, body, parent = map(clean, (event_id, session, kind, body, parent))
        with self._ready():
            if self._usable() and self._file is not None:
                try:
                    seq, digest = self._file.append(event_id, session, kind, at, row, body, parent)
                except DuplicateError:
                    raise
                except LedgerError as error:
                    self._fall_back(error)
                else:
                    self._wrote(seq, digest, session)
                    return seq
            return self._append_in_memory(event_id, session, kind, at, row, body, parent)

    def link(self, session: str, parent: str) -> None:
        """Notes that `session` continues `parent`, whose messages then count for it."""
        session, parent = clean(session), clean(parent)
        with self._ready():
            if self._usable() and self._file is not None:
                try:
                    self._file.link(session, parent)
                    return
                except LedgerError as error:
                    self._fall_back(error)
            if self._memory is not None:
                self._memory.link(session, parent)

    def entries(self, session: str) -> Iterator[str]:
        """What an engine has to load for `session`, oldest first: JSON objects `{"row":…,"body":…}`, one a line.

        These are the entries of the session and of all that it continues, and the writes of every session (without
        their bodies): the newest, 10,000 at most.
        """
        for _, line in self._lines(clean(session), 0):
            yield line

    def changes_since(self, seq: int, session: str) -> Iterator[tuple[int, str]]:
        """The same for entries after `seq` that this ledger object did not itself append for `session`."""
        session = clean(session)
        with self._ready():
            own = {number for number, name in self._own.items() if name == session}
        return ((number, line) for number, line in self._lines(session, seq) if number not in own)

    def found(
        self, *, session: str | None = None, kind: str | None = None, since: int | None = None, until: int | None = None
    ) -> Iterator[Found]:
        """All entries, oldest first, or those of one session, of one kind, from `since` on, before `until` (ms)."""
        for entry, base in self._all():
            if session not in (None, entry.session) or kind not in (None, entry.kind):
                continue
            if (since is None or entry.at >= since) and (until is None or entry.at < until):
                yield Found(entry.seq + base, entry.session, entry.kind, entry.at, entry.row, entry.body or "")

    def size(self) -> int:
        """How many entries the ledger has, which is also the number of the last one."""
        return self._store().size()

    def root(self, size: int) -> bytes:
        """The root of the Merkle tree over the first `size` entries."""
        with self._ready():
            return self._sized(size).root(size)

    def checkpoint(self) -> Checkpoint:
        """The present head, to be noted elsewhere."""
        with self._ready():
            return self._store().checkpoint()

    def inclusion_proof(self, seq: int, size: int) -> list[bytes]:
        """Proves that entry `seq` (from 1; leaf `seq - 1`) is among the first `size`."""
        with self._ready():
            store = self._sized(size)
            if not 1 <= seq <= size:
                raise LedgerError(f"There is no entry {seq} among the first {size}.")
            return inclusion_proof(seq - 1, size, store.node)

    def consistency_proof(self, old: int, new: int) -> list[bytes]:
        """Proves that the first `new` entries begin with the first `old`."""
        with self._ready():
            store = self._sized(new)
            if not 0 <= old <= new:
                raise LedgerError(f"The first {new} entries can't begin with the first {old}.")
            return consistency_proof(old, new, store.node)

    def verify(self, *against: Checkpoint, any_key: bool = False) -> Verification:
        """Walks everything and names the first fault; `against` are heads that were noted elsewhere.

        `any_key` leaves the seals unchecked, for a ledger whose key file was lost.
        """
        with self._ready():
            if self._file is None and not os.path.lexists(self.path):
                return verify_store(self._store(), None, against, (0, b""), any_key)
            known = self._known
            self._keeper.flush()
        head = self._head.read()
        try:
            store = Store.open(self.path, self._key)
        except LedgerError as error:
            return Verification(False, 0, b"", Fault(0, "unreadable", str(error)), "", 0, "")
        try:
            return verify_store(store, head, against, known, any_key)
        finally:
            store.close()

    def drop_bodies(self, before_at: int) -> int:
        """Removes the bodies of entries before `before_at` (ms) and their salts; gives their number. Proofs stay."""
        with self._ready():
            return self._store().drop_bodies(before_at)

    def clear(self, event_id: str, at: int, row: str) -> int:
        """Removes all bodies and adds an entry that says so, at once; gives their number. Other processes notice it."""
        row = checked_row(row)
        with self._ready():
            if not self._usable() or self._file is None:
                raise LedgerError(f"The ledger {self.path} can't be written now: {self.trouble}")
            seq, digest, dropped = self._file.clear(event_id, at, row)
            self._wrote(seq, digest, "")
            return dropped

    def export(self, path: Path) -> int:
        """Writes all entries with their hashes to `path` as JSON Lines (`export.verify_export` checks them)."""
        with self._ready():
            return write_export(self._store(), path)

    def flush(self) -> None:
        """Brings what was appended to the disk and notes the head, which otherwise happens a moment later."""
        with self._ready():
            self._keeper.flush()

    def close(self) -> None:
        """Ends the use of the files. The ledger can't be used afterwards."""
        if self._pid != os.getpid():
            return
        self._keeper.stop()
        with self._lock, contextlib.suppress(LedgerError):
            _opened.discard(self)
            if self._file is not None:
                self._file.close()
            self._file = self._memory = None
            self._retry_at = float("inf")

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextlib.contextmanager
    def _ready(self) -> Iterator[None]:
        """Holds the lock; in a child process after a fork, first opens everything anew."""
        if self._pid != os.getpid():
            # SQLite's connection belongs to the parent. Closing it here, be it by the collector, could harm the
            # parent's files, so that it is kept for ever.
            for store in (self._file, self._memory):
                if store is not None:
                    ctypes.pythonapi.Py_IncRef(ctypes.py_object(store.connection))
            self._begin()
            with self._lock:
                try:
                    self._connect(make=True)
                except LedgerError as error:
                    self._fall_back(error)
        with self._lock:
            yield

    def _connect(self, make: bool) -> None:
        """Opens the file. Raises LedgerError, and then leaves what was open as it is."""
        store, sentence = open_store(self.path, self._key, self._head, make)
        if sentence:
            self._complain(sentence)
        if self._file is not None:
            with contextlib.suppress(LedgerError):
                self._file.close()
        self._file = store
        self._identity = identity(self.path)

    def _usable(self) -> bool:
        """Whether the file may be written now; notices that it was replaced, or that it can be used again."""
        if self._memory is not None or self._file is None:
            return time.monotonic() >= self._retry_at and self._recover()
        if identity(self.path) != self._identity:
            self._complain(f"The ledger {self.path} was removed or replaced while in use.")
            self._known = (0, b"")
            try:
                self._connect(make=True)
            except LedgerError as error:
                self._fall_back(error)
        return self._memory is None and self._file is not None

    def _recover(self) -> bool:
        """Tries the file again, and adds to it what was kept in memory meanwhile."""
        self._retry_at = time.monotonic() + RETRY
        try:
            self._connect(make=True)
            if self._memory is not None and self._file is not None:
                for session, parent, _ in self._memory.links():
                    self._file.link(session, parent)
                self._move(self._memory, self._file)
                self._memory.close()
        except LedgerError as error:
            self._complain(str(error))
            return False
        self._memory = None
        self.trouble = ""
        return True

    def _move(self, memory: Store, file: Store) -> None:
        seq = 0
        while part := memory.after(seq, _CHUNK):
            for entry in part:
                with contextlib.suppress(
                    DuplicateError
                ):  # Of an earlier try, or of a commit that was reported as failed.
                    moved = file.append(*entry[1:6], entry.body or "", "")
                    self._wrote(*moved, entry.session)
            seq = part[-1].seq

    def _fall_back(self, error: LedgerError) -> None:
        """Goes on in memory. The file stays open for reading where it can be read."""
        self._complain(f"{error} Entries are kept in memory for now.")
        self._retry_at = time.monotonic() + RETRY
        self._base = self._known[0]
        with contextlib.suppress(LedgerError):
            self._base = max(self._base, self._file.size() if self._file is not None else 0)
        try:
            self._memory = Store.memory(self._key)
        except LedgerError as worse:
            self._file = None
            self._complain(f"{error} {worse} Nothing is recorded.")

    def _append_in_memory(
        self, event_id: str, session: str, kind: str, at: int, row: str, body: str, parent: str
    ) -> int:
        if self._memory is None:
            return 0
        try:
            seq, _ = self._memory.append(event_id, session, kind, at, row, body, parent)
        except DuplicateError:
            raise
        except LedgerError as error:
            self._complain(f"{error} Nothing is recorded.")
            return 0
        self._remember(seq + self._base, session)
        return seq + self._base

    def _wrote(self, seq: int, digest: bytes, session: str) -> None:
        if seq <= self._known[0]:
            self._complain(f"The ledger {self.path} got shorter while in use. Run `sayso verify`.")
        self._known = (seq, digest)
        self._remember(seq, session)
        self._keeper.touch()

    def _remember(self, seq: int, session: str) -> None:
        self._own[seq] = session
        if len(self._own) > _REMEMBERED:
            del self._own[next(iter(self._own))]

    def _complain(self, sentence: str) -> None:
        self.trouble = sentence

    def _store(self) -> Store:
        """The store to read from: the file where there is one."""
        with self._ready():
            store = self._file or self._memory
            if store is None:
                raise LedgerError(f"There is no ledger: {self.trouble}")
            return store

    def _sized(self, size: int) -> Store:
        store = self._store()
        if not 0 <= size <= store.size():
            raise LedgerError(f"The ledger has {store.size()} entries, not {size}.")
        return store

    def _stores(self) -> list[tuple[Store, int]]:
        """What is read, in order, with what to add to the numbers of each."""
        with self._ready():
            return [(store, base) for store, base in ((self._file, 0), (self._memory, self._base)) if store is not None]

    def _lines(self, session: str, after: int) -> Iterator[tuple[int, str]]:
        for store, base in self._stores():
            try:
                with self._ready():
                    family = set(store.family(session))
                    own, others = store.of_session(session, after - base, LOADED)
                kept = others[len(others) - min(len(others), max(LOADED_WRITES, LOADED - len(own))) :]
                numbers = sorted(own[len(own) - min(len(own), LOADED - len(kept)) :] + kept)
                for start in range(0, len(numbers), _CHUNK):
                    with self._ready():
                        entries = list(store.numbered(numbers[start : start + _CHUNK]))
                    for entry in entries:
                        yield entry.seq + base, _line(entry, family)
            except LedgerError as error:
                with self._ready():
                    if store is self._file and self._memory is None:
                        self._fall_back(error)  # What is appended from now on can be read.

    def _all(self) -> Iterator[tuple[Entry, int]]:
        for store, base in self._stores():
            seq = 0
            while True:
                with self._ready():
                    part = store.after(seq, _CHUNK)
                if not part:
                    break
                yield from ((entry, base) for entry in part)
                seq = part[-1].seq


def _line(entry: Entry, family: set[str]) -> str:
    """An entry for the engine. Of a session that is not continued only the row counts."""
    body = entry.body if entry.body is not None and entry.session in family else ""
    return f'{{"row":{entry.row},"body":{json.dumps(body, ensure_ascii=False)}}}'


_opened: weakref.WeakSet[Ledger] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for ledger in list(_opened):
        with contextlib.suppress(LedgerError):
            ledger.close()
