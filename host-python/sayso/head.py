"""The head kept in a file outside of the database, so that a tail cut from the ledger is noticed.

The file is a C2SP checkpoint with a seal that needs the key. It is written after the entries that it names have
reached the disk, hence never knows more than the ledger, also after a power failure. Where it does know more, or
knows another history, it is evidence and is left as it stands.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import hmac
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from .chain import Checkpoint
from .keys import Key, quoted
from .store import Store
from .types import LedgerError

#: How long after an append its head is noted, and how long the thread that does it waits for more, in seconds.
DELAY = 0.1
IDLE = 5.0
#: The write-ahead log is moved into the database when it is longer than this, in bytes.
WAL_BYTES = 4 << 20
_LIMIT = 4_096


class Head(NamedTuple):
    """What the head file says. `other-key`: sealed with a key that is not this one, so that the seal says nothing."""

    checkpoint: Checkpoint | None
    state: Literal["whole", "missing", "unreadable", "other-key", "forged"]


class HeadFile:
    """The file. Processes take turns through a lock on it."""

    def __init__(self, path: Path, key: Key) -> None:
        self.path = path
        self._id = key.id[:4]
        self._key = key.subkey("head")

    def read(self) -> Head:
        """What the file says now."""
        try:
            with self._locked(os.O_RDONLY, fcntl.LOCK_SH) as handle:
                return self._parsed(os.pread(handle, _LIMIT, 0))
        except FileNotFoundError:
            return Head(None, "missing")
        except OSError:
            return Head(None, "unreadable")

    def start(self, checkpoint: Checkpoint) -> None:
        """Writes the head of a new ledger over whatever stands there."""
        with self._locked(os.O_RDWR | os.O_CREAT, fcntl.LOCK_EX) as handle:
            self._write(handle, checkpoint)

    def update(self, store: Store, checkpoint: Checkpoint) -> str:
        """Notes `checkpoint` if it continues what the file says. Gives a sentence if it does not, or ""."""
        with self._locked(os.O_RDWR | os.O_CREAT, fcntl.LOCK_EX) as handle:
            head = self._parsed(os.pread(handle, _LIMIT, 0))
            if head.state in ("unreadable", "forged"):
                return f"The head file {self.path} was changed by someone else. Run `sayso verify`."
            old = head.checkpoint
            if old is not None and old.text() != store.predecessor:
                if old.origin == checkpoint.origin and old.size > checkpoint.size and old.size <= store.size():
                    return ""  # Another process was faster.
                if fault := disagreement(old, checkpoint, store):
                    return f"The head file {self.path} does not agree with the ledger: {fault}. Run `sayso verify`."
                if old.size == checkpoint.size and head.state == "whole":
                    return ""
            self._write(handle, checkpoint)
            return f"The head file {self.path} was gone and is made anew." if head.state == "missing" else ""

    def _write(self, handle: int, checkpoint: Checkpoint) -> None:
        """One write of less than a page: a reader, and a kill, sees the old or the new head."""
        data = self._text(checkpoint)
        os.pwrite(handle, data, 0)
        if os.fstat(handle).st_size != len(data):
            os.ftruncate(handle, len(data))

    def _text(self, checkpoint: Checkpoint) -> bytes:
        body = checkpoint.text()
        seal = self._id + hmac.digest(self._key, body.encode(), hashlib.sha256)
        return f"{body}\n\u2014 sayso-seal {base64.b64encode(seal).decode()}\n".encode()

    def _parsed(self, data: bytes) -> Head:
        if not data:
            return Head(None, "missing")
        try:
            text = data.decode()
            checkpoint = Checkpoint.parse(text)
            seal = base64.b64decode(text.rsplit(" ", 1)[-1], validate=False)
        except ValueError:
            return Head(None, "unreadable")
        if seal[:4] != self._id:
            return Head(checkpoint, "other-key")
        whole = hmac.compare_digest(data, self._text(checkpoint))
        return Head(checkpoint, "whole" if whole else "forged")

    @contextlib.contextmanager
    def _locked(self, flags: int, lock: int) -> Iterator[int]:
        handle = os.open(self.path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, lock)
            yield handle
        finally:
            os.close(handle)


def disagreement(old: Checkpoint, new: Checkpoint, store: Store) -> str:
    """Why the ledger with the head `new` can't be a continuation of `old`, or "" when it is one."""
    if old.origin != new.origin:
        return "it names another ledger"
    if old.size > new.size:
        return f"it knows {old.size} entries and the ledger has {new.size}"
    if store.root(old.size) != old.root:
        return f"the first {old.size} entries were other ones when it was written"
    return ""


class Keeper:
    """Brings appended entries to the disk and notes the head, a moment later and in a thread of its own.

    A commit in the write-ahead log survives the process but not a power failure; waiting for the disk at every
    append would cost milliseconds in every hook.
    """

    def __init__(self, path: Path, key: Key, head: HeadFile, complain: Callable[[str], None]) -> None:
        self._path = path
        self._key = key
        self._head = head
        self._complain = complain
        self._lock = threading.Lock()
        self._working = threading.Lock()
        self._dirty = threading.Event()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def touch(self) -> None:
        """An entry was appended."""
        if self._dirty.is_set():
            return
        with self._lock:
            self._dirty.set()
            if self._thread is None and not self._stopped.is_set():
                self._thread = threading.Thread(target=self._run, name="sayso-head", daemon=True)
                self._thread.start()

    def flush(self) -> None:
        """Does now what is left to do."""
        with self._working:
            if self._dirty.is_set():
                self._dirty.clear()
                self._work()

    def stop(self) -> None:
        """Does what is left to do and ends the thread."""
        self._stopped.set()
        self.flush()

    def _run(self) -> None:
        while True:
            if self._dirty.wait(IDLE):
                self._stopped.wait(DELAY)
                self.flush()
            with self._lock:
                if not self._dirty.is_set():
                    self._thread = None
                    return

    def _work(self) -> None:
        try:
            store = Store.open(self._path, self._key)
        except LedgerError:
            return  # The next append meets the same trouble and tells it.
        try:
            checkpoint = store.checkpoint()
            wal = f"{self._path}-wal"
            handle = os.open(wal, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(handle)
                long = os.fstat(handle).st_size > WAL_BYTES
            finally:
                os.close(handle)
            if complaint := self._head.update(store, checkpoint):
                self._complain(complaint)
            if long:
                store.shrink_wal()
        except (LedgerError, OSError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            self._complain(f"The head file {quoted(self._head.path)} can't be kept: {why}")
        finally:
            with contextlib.suppress(LedgerError):
                store.close()
