"""Where a ledger lies: opens its file, or makes it, with several processes that want the same at once."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from .head import HeadFile
from .keys import Key, private_folder
from .store import Store
from .types import LedgerError


def identity(path: Path) -> tuple[int, int]:
    """Tells the file at `path` from another one that was put in its place; (0, 0) where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino


def open_store(path: Path, key: Key, head: HeadFile, make: bool) -> tuple[Store, str]:
    """Opens the ledger at `path`; with `make`, makes what is missing.

    Gives the store, and a sentence for the person when a ledger was gone that the head file still knows. Raises
    LedgerError.
    """
    sentence = ""
    try:
        if make:
            private_folder(path.parent)
        if not os.path.lexists(path):
            if not make:
                raise LedgerError(f"There is no ledger at {path}. It is made at the first event.")
            sentence = _make(path, key, head)
        return Store.open(path, key), sentence
    except OSError as error:
        raise LedgerError(f"The ledger {path} can't be opened: {error.strerror}.") from None


def _make(path: Path, key: Key, head: HeadFile) -> str:
    """Makes a new ledger. Of several processes one makes it; it names the ledger whose file is gone, if any."""
    lock = os.open(path.with_name("lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.lexists(path):
            return ""
        old = head.read().checkpoint
        predecessor = "" if old is None or old.size == 0 else old.text()
        Store.create(path, predecessor)
        store = Store.open(path, key)
        try:
            head.start(store.checkpoint())
        finally:
            store.close()
        return f"The ledger {path} with {old.size} entries was gone; a new one follows it." if old and old.size else ""
    finally:
        os.close(lock)
