"""Turns the component into machine code, and keeps that code for the next process.

Compiling takes about 0.1 s, reading compiled code back about 1 ms. But wasmtime runs compiled code as it finds it, so
a cache is as good as code: it is only read from a folder and a file that belong to this user alone and are no
symbolic links, and only when the authentication code over name and content is right. Without a `secret` that code is
a plain digest: it finds damage and torn writes, not forgery. With one (the ledger's key, kept elsewhere) it also
stops whoever can write this folder and can't read the secret. Nothing here stops someone who can do both: they can
change the program itself.
"""

from __future__ import annotations

import gc
import hashlib
import hmac
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from .types import EngineError

if TYPE_CHECKING:
    import wasmtime
    from wasmtime import component as wasmtime_component

#: The one version that compiled code, and the private parts that `sayso.shapes` uses, belong to.
WASMTIME = "50.0.1"

#: The machine stack one call may use. Threads that call the engine need twice this (512 KiB).
STACK_BYTES_MAX = 256 * 1024

_MAGIC = b"sayso code 1\n"
_MAC_BYTES = 32
_ENTRY_BYTES_MAX = 64 * 1024 * 1024
#: Entries kept: two versions of sayso, each with two ways to reserve memory.
_ENTRIES_MAX = 4
_SUFFIX = ".code"
_HAS_OWNERS = hasattr(os, "geteuid") and os.open in os.supports_dir_fd


def configuration() -> dict[str, object]:
    """The settings of the sandbox. Part of the name of cached code.

    Where the address space is limited (`ulimit -v`), a store must not reserve the usual 4 GiB: scanning is then up to
    twice as slow, but works.
    """
    settings: dict[str, object] = {
        "epoch_interruption": True,
        "max_wasm_stack": STACK_BYTES_MAX,
        # A forked child has no compiler threads: compiling there would wait for ever.
        "parallel_compilation": False,
        "wasm_threads": False,
    }
    if _address_space_is_limited():
        settings |= {
            "memory_reservation": 64 << 20,
            "memory_guard_size": 64 << 10,
            "memory_reservation_for_growth": 1 << 20,
        }
    if sys.platform == "darwin":
        # Mach ports don't reach a forked child, signals do.
        settings["macos_use_mach_ports"] = False
    return settings


def _address_space_is_limited() -> bool:
    try:
        import resource
    except ImportError:  # Windows
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def sandbox(settings: dict[str, object]) -> wasmtime.Engine:
    """A wasmtime engine with these settings. Raises `EngineError("missing")` when wasmtime can't be used."""
    # wasmtime makes thousands of objects that stay; looking for garbage among them takes a fifth of the import.
    collecting = gc.isenabled()
    gc.disable()
    try:
        import wasmtime
        import wasmtime.component
    except (ImportError, OSError, RuntimeError) as error:
        raise EngineError("missing", _mend("wasmtime can't be loaded")) from error
    finally:
        if collecting:
            gc.enable()
    found = _version(Path(wasmtime.__file__).parent.parent)
    if found != WASMTIME:
        raise EngineError("missing", _mend(f"wasmtime {found} is installed, which this version can't use"))
    config = wasmtime.Config()
    for name, value in settings.items():
        setattr(config, name, value)
    return wasmtime.Engine(config)


def _version(site: Path) -> str:
    # The module does not say its own version, and `importlib.metadata` alone would cost half of a warm start.
    if (site / f"wasmtime-{WASMTIME}.dist-info").is_dir():
        return WASMTIME
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("wasmtime")
    except PackageNotFoundError:
        return "of unknown version"


def _mend(what: str) -> str:
    return f'{what}; this mends it: "{sys.executable}" -m pip install wasmtime=={WASMTIME}'


class CodeCache:
    """Compiled code in one private folder. A cache that can't be trusted is not used, and `problem` says why."""

    def __init__(self, folder: Path, secret: bytes = b"") -> None:
        self.folder = folder
        self.problem = ""
        self._secret = secret

    def read(self, name: str) -> bytes | None:
        """The code stored under `name`, or `None` when there is none that can be trusted."""
        with suppress(OSError):
            folder = self._open_folder()
            if folder is None:
                return None
            try:
                content = self._read_private(folder, name + _SUFFIX)
            finally:
                os.close(folder)
            head = len(_MAGIC) + _MAC_BYTES
            code = content[head:]
            if content[: len(_MAGIC)] == _MAGIC and hmac.compare_digest(
                content[len(_MAGIC) : head], self._mac(name, code)
            ):
                return code
        return None

    def write(self, name: str, code: bytes) -> None:
        """Stores `code`, all of it or nothing. A failure is noted in `problem`: the next process compiles again."""
        temporary = f".{os.urandom(8).hex()}.new"
        try:
            folder = self._open_folder()
            if folder is None:
                return
            try:
                self._write_private(folder, temporary, _MAGIC + self._mac(name, code) + code)
                os.replace(temporary, name + _SUFFIX, src_dir_fd=folder, dst_dir_fd=folder)
                os.fsync(folder)
                self._drop_old(folder)
            finally:
                with suppress(OSError):
                    os.unlink(temporary, dir_fd=folder)
                os.close(folder)
        except OSError as error:
            self.problem = f"compiled code can't be stored in {self.folder}: {error.strerror}"

    def _mac(self, name: str, code: bytes) -> bytes:
        mac = hmac.new(self._secret, name.encode() + b"\0", "sha256")
        mac.update(code)
        return mac.digest()

    def _open_folder(self) -> int | None:
        """A descriptor of the folder, made when it is missing, or `None` with `problem` set."""
        if not _HAS_OWNERS:
            self.problem = "compiled code is not kept: this platform can't tell whether a folder is private"
            return None
        for missing in reversed([path for path in (self.folder, *self.folder.parents) if not path.exists()]):
            with suppress(FileExistsError):
                missing.mkdir(mode=0o700)
        try:
            folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            self.problem = f"compiled code is not kept: {self.folder} is not a plain folder ({error.strerror})"
            return None
        if not _is_private(os.fstat(folder)):
            os.close(folder)
            self.problem = (
                f"compiled code is not kept: {self.folder} is open to other users or belongs to one; remove it"
            )
            return None
        return folder

    @staticmethod
    def _read_private(folder: int, name: str) -> bytes:
        # O_NONBLOCK: opening a pipe that someone left here must not wait.
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        with os.fdopen(file, "rb") as reader:
            about = os.fstat(file)
            plain = stat.S_ISREG(about.st_mode) and about.st_nlink == 1 and about.st_size <= _ENTRY_BYTES_MAX
            return reader.read(about.st_size) if plain and _is_private(about) else b""

    @staticmethod
    def _write_private(folder: int, name: str, content: bytes) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(name, flags, 0o600, dir_fd=folder), "wb") as writer:
            writer.write(content)
            writer.flush()
            os.fsync(writer.fileno())

    @staticmethod
    def _drop_old(folder: int) -> None:
        """Removes all but the newest entries, and what a stopped process left half written long ago."""
        ages = []
        for name in os.listdir(folder):
            if name.endswith((_SUFFIX, ".new")):
                with suppress(FileNotFoundError):  # Another process may be doing the same.
                    ages.append((os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime_ns, name))
        for _, name in sorted(ages, reverse=True)[_ENTRIES_MAX:]:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)


def _is_private(about: os.stat_result) -> bool:
    return about.st_uid == os.geteuid() and not about.st_mode & 0o077


def compiled(
    component: bytes, digest: str, engine: wasmtime.Engine, settings: dict[str, object], cache: CodeCache | None
) -> tuple[wasmtime_component.Component, bool]:
    """The component, whose SHA-256 is `digest`, as code that can run, and whether it came from the cache.

    Raises `EngineError("broken")` when `component` is not a component.
    """
    from wasmtime import WasmtimeError
    from wasmtime.component import Component

    machine = os.uname().machine if hasattr(os, "uname") else "unknown"
    key = [digest, WASMTIME, sys.platform, machine, repr(sorted(settings.items()))]
    name = hashlib.sha256("\n".join(key).encode()).hexdigest()
    code = cache.read(name) if cache else None
    if code is not None:
        # Refused when it was made for a processor that can do more than this one: then it is compiled again.
        with suppress(WasmtimeError):
            return Component.deserialize(engine, code), True
    try:
        made = Component(engine, component)
    except WasmtimeError as error:
        raise EngineError("broken", "the engine's component can't be compiled: reinstall sayso") from error
    if cache:
        cache.write(name, bytes(made.serialize()))
    return made, False
