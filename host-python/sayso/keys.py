"""The key of one installation: made at first use, kept in a file that only its owner can read, never printed."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import hmac
import os
import secrets
import shlex
import stat
import time
from pathlib import Path

from .types import LedgerError

SIZE = 32
#: How long to wait for another process that is just writing the file, in seconds.
PATIENCE = 1.0


class Key:
    """32 secret bytes. Only `hex` and `subkey` give anything away, and `repr` does not."""

    __slots__ = ("_secret", "id")

    def __init__(self, secret: bytes) -> None:
        if len(secret) != SIZE:
            raise LedgerError(f"A key has {SIZE} bytes.")
        self._secret = secret
        #: Tells keys apart without telling the key: 8 bytes.
        self.id = self.subkey("id")[:8]

    def __repr__(self) -> str:
        return "Key(hidden)"

    def __reduce__(self) -> str:
        raise TypeError("a key is not copied into a pickle")

    def hex(self) -> str:
        """The key as 64 hexadecimal digits, for the engine's constructor."""
        return self._secret.hex()

    def subkey(self, purpose: str) -> bytes:
        """A key of its own for one purpose, 32 bytes."""
        return hmac.digest(self._secret, b"sayso subkey v1\n" + purpose.encode(), hashlib.sha256)

    @classmethod
    def temporary(cls) -> Key:
        """A key that ends with the process, for guards that have to go on without a key file."""
        return cls(secrets.token_bytes(SIZE))

    @classmethod
    def load_or_make(cls, path: Path) -> Key:
        """Reads the key file, or makes it. Of several processes that make it at once, all get the same key.

        Raises LedgerError, with the line that mends it, for a file that others could have read or written.
        """
        try:
            return cls._load(path)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise LedgerError(f"The key file {path} can't be read: {error.strerror}.") from None
        try:
            private_folder(path.parent)
            cls._make(path)
            return cls._load(path)
        except OSError as error:
            raise LedgerError(f"The key file {path} can't be made: {error.strerror}.") from None

    @staticmethod
    def _make(path: Path) -> None:
        text = secrets.token_bytes(SIZE).hex().encode() + b"\n"
        draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        try:
            _write_new(draft, text)
            # A link never replaces a file, and the file is complete when it appears.
            os.link(draft, path)
        except FileExistsError:
            return
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
                raise
            with contextlib.suppress(FileExistsError):  # A file system without links: others wait for the whole text.
                _write_new(path, text)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(draft)

    @classmethod
    def _load(cls, path: Path) -> Key:
        deadline = time.monotonic() + PATIENCE
        while True:
            text = _read_private(path)
            if len(text) >= 2 * SIZE or time.monotonic() > deadline:
                break
            time.sleep(0.01)
        try:
            return cls(bytes.fromhex(text.decode("ascii").strip()))
        except (ValueError, LedgerError):
            mend = (
                f"Put back a copy, or move it away with `mv {quoted(path)} {quoted(path)}.bad` to start with a new key."
            )
            raise LedgerError(f"The key file {path} does not hold 64 hexadecimal digits. {mend}") from None


def private_folder(path: Path) -> None:
    """Makes a folder that only its owner can enter, and takes the rights of others from one that exists.

    Raises LedgerError when it belongs to somebody else, OSError when it can't be made.
    """
    missing = []
    step = path
    while not step.exists():
        missing.append(step)
        step = step.parent
    for folder in reversed(missing):
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
    found = os.stat(path)
    if found.st_uid != os.geteuid():
        raise LedgerError(f"The folder {path} belongs to another user. Mend it: `chown {os.geteuid()} {quoted(path)}`")
    if stat.S_IMODE(found.st_mode) & 0o077:
        os.chmod(path, 0o700)


def quoted(path: Path) -> str:
    """The path as one word of a shell line that a person may copy."""
    return shlex.quote(str(path))


def _write_new(path: Path, text: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(handle, text)
        os.fsync(handle)
    finally:
        os.close(handle)


def _read_private(path: Path) -> bytes:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise LedgerError(f"The key file {path} is a link. Put the file itself there.") from None
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise LedgerError(f"The key file {path} is no regular file. Move it away.")
        if found.st_uid != os.geteuid():
            owner = f"chown {os.geteuid()} {quoted(path)}"
            raise LedgerError(f"The key file {path} belongs to another user. Mend it: `{owner}`")
        if stat.S_IMODE(found.st_mode) & 0o077:
            raise LedgerError(f"Others can read the key file {path}. Mend it: `chmod 600 {quoted(path)}`")
        return os.read(handle, 4 * SIZE)
    finally:
        os.close(handle)
