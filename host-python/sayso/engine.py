"""The engine: one sandbox a process, one guest a session.

A guest's memory is a cache. Whatever goes wrong in a call (a trap, a limit, a deadline) ends the guest, becomes one
`EngineError` with a cause, and the next call starts a new guest and gives it the stored entries again. Knows nothing
about the ledger, the settings or Hermes.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from . import crossing
from .compiled import CodeCache, compiled, configuration, sandbox
from .crossing import Loaded, TooLongError, utf8
from .deadline import TICKER, ticks
from .types import EngineError, Event, Stored, Verdict

if TYPE_CHECKING:
    from wasmtime import Store
    from wasmtime.component import Func

    from .shapes import Method

_Answer = TypeVar("_Answer")

CALL_SECONDS_MAX = 2.0
MEMORY_BYTES_MAX = 256 * 1024 * 1024
#: Entries are loaded in pieces, so that the deadline of a call does not limit how many there may be.
LOAD_BYTES = 1024 * 1024

_GUARD = "sayso:engine/guard@0.1.0"
_CONSTRUCTOR = "[constructor]session"
_METHODS = ("load", "capture", "check", "report")
#: The guests of a parent process. They may have been in the middle of a call when this one was forked, so they are
#: neither used nor freed before the process ends.
_abandoned: list[object] = []


class Engine:
    """The sandbox with the compiled component. Threads and sessions share it; a forked child may go on using it."""

    _shared: Engine | None = None
    _sharing = (os.getpid(), threading.Lock())

    def __init__(self, component: bytes | Path, cache: Path | None = None, *, secret: bytes = b"") -> None:
        """Compiles `component`, or finds its code in the folder `cache` (`None`: never look, never store).

        `secret` makes the cache's digest one that only its holder can make (see `sayso.compiled`). Raises
        `EngineError`: `missing` without wasmtime, `broken` for a component that can't be read or compiled or does not
        keep the contract.
        """
        content = _read(component) if isinstance(component, Path) else component
        settings = configuration()
        self._sandbox = sandbox(settings)
        store = CodeCache(cache, secret) if cache is not None else None
        #: SHA-256 of the component, in hexadecimal.
        self.digest = hashlib.sha256(content).hexdigest()
        self._component, self.from_cache = compiled(content, self.digest, self._sandbox, settings, store)
        #: Why compiled code could not be kept, for a person, or "".
        self.cache_problem = store.problem if store else ""
        guard = self._component.get_export_index(_GUARD)
        names = [_CONSTRUCTOR, *(f"[method]session.{name}" for name in _METHODS)]
        self._exports = [self._component.get_export_index(name, guard) for name in names] if guard else [None]
        if None in self._exports:
            raise EngineError("broken", f"the engine's component does not export {_GUARD}: reinstall sayso")
        self._methods: dict[str, Method] = {}

    def imports(self) -> list[str]:
        """What the component asks of its host: nothing, for one that sayso ships."""
        return sorted(self._component.type.imports(self._sandbox))

    @classmethod
    def shared(cls, cache: Path | None = None, *, secret: bytes = b"") -> Engine:
        """The engine of this process, made from the packaged component at the first call."""
        pid, lock = cls._sharing
        if pid != os.getpid():  # The lock may have been held by a thread that a fork left behind.
            cls._sharing = (os.getpid(), threading.Lock())
            lock = cls._sharing[1]
        with lock:
            if cls._shared is None:
                cls._shared = cls(packaged(), cache, secret=secret)
            return cls._shared

    def start(self, settings: str, key: str) -> Guest:
        """A new guest with nothing loaded. Raises `EngineError`."""
        from wasmtime import Store
        from wasmtime.component import Linker

        given = utf8(settings, "settings").decode(), utf8(key, "key").decode()
        store = Store(self._sandbox)
        store.set_limits(memory_size=MEMORY_BYTES_MAX, table_elements=100_000, instances=100, tables=100, memories=10)
        instance = self.call(store, lambda: Linker(self._sandbox).instantiate(store, self._component))
        functions = [instance.get_func(store, index) for index in self._exports if index is not None]
        construct, *methods = [function for function in functions if function is not None]
        handle = self.call(store, lambda: construct(store, *given))
        return Guest(self, store, handle, dict(zip(_METHODS, methods, strict=True)))

    def method(self, name: str, function: Func, store: Store) -> Method:
        """How to call a method of the contract: learnt from the component once, which takes about 1 ms."""
        known = self._methods.get(name)
        if known is None:
            from .shapes import Method

            known = self._methods[name] = Method(function, store)
        return known

    def call(self, guest_store: Store, call: Callable[[], _Answer]) -> _Answer:
        """Runs `call`, which enters the sandbox, for `CALL_SECONDS_MAX` at most. Raises `EngineError`."""
        from wasmtime import WasmtimeError

        guest_store.set_epoch_deadline(ticks(CALL_SECONDS_MAX))
        try:
            with TICKER.running(self._sandbox):
                return call()
        except WasmtimeError as error:
            raise failure(str(error)) from error
        except (TypeError, UnicodeDecodeError) as error:
            raise _other_contract() from error


def packaged() -> Path:
    """The component that came with this package."""
    return Path(__file__).with_name("engine.wasm")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise EngineError(
            "broken", f"the engine's component can't be read ({error.strerror}): reinstall sayso"
        ) from error


class Guest:
    """One instance of the component, with its memory and the session resource in it. Not for two threads at once."""

    def __init__(self, engine: Engine, store: Store, handle: Any, functions: dict[str, Func]) -> None:
        self._engine = engine
        self._store = store
        self._handle = handle
        self._functions = functions

    def call(self, name: str, value: Any, read: Callable[[Any], _Answer]) -> _Answer:
        """Calls one method and reads its answer. Raises `EngineError`, after which this guest is dead."""
        method, function = self.method(name), self._functions[name]
        answer = self._engine.call(self._store, lambda: method.call(function, self._store, self._handle, value))
        try:
            return read(answer)
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise _other_contract() from error

    def method(self, name: str) -> Method:
        """How one method is called. Raises `EngineError`."""
        try:
            return self._engine.method(name, self._functions[name], self._store)
        except TypeError as error:
            raise _other_contract() from error

    def load(self, lines: Iterable[str]) -> Loaded:
        """Loads entries in pieces of about `LOAD_BYTES`."""
        loaded, before = 0, 0
        wrong: list[tuple[int, str]] = []
        for piece in _pieces(lines):
            answer = self.call("load", b"\n".join(piece), _loaded)
            loaded += answer.loaded
            wrong += [(before + line, why) for line, why in answer.wrong]
            before += len(piece)
        return Loaded(loaded, tuple(wrong))


def _other_contract() -> EngineError:
    return EngineError("broken", "the engine's component keeps another contract: reinstall sayso")


def _pieces(lines: Iterable[str]) -> Iterator[list[bytes]]:
    piece: list[bytes] = []
    size = 0
    for line in lines:
        encoded = utf8(line, "an entry")
        if piece and size + len(encoded) > LOAD_BYTES:
            yield piece
            piece, size = [], 0
        piece.append(encoded)
        size += len(encoded)
    if piece:
        yield piece


def _document(text: str) -> dict[str, Any]:
    answer = json.loads(text)
    if not isinstance(answer, dict):
        raise ValueError("not an object")
    return answer


def _loaded(text: str) -> Loaded:
    answer = _document(text)
    return Loaded(int(answer["loaded"]), tuple((int(each["line"]), str(each["why"])) for each in answer["wrong"]))


class EngineSession:
    """One session in the engine. Starts its guest at the first call, and again after anything went wrong.

    Safe to share between threads (one call at a time) and to use in a forked child, which gets a guest of its own.
    """

    def __init__(self, engine: Engine, settings: str, key: str, entries: Callable[[], Iterable[str]]) -> None:
        """`settings` and `key` as in `wit/guard.wit`. `entries` gives the stored entries, oldest first, one JSON
        object a line; it is asked whenever a guest is started, and must not call this session."""
        self._engine = engine
        self._settings = settings
        self._key = key
        self._entries = entries
        self._guest: Guest | None = None
        self._lock = threading.Lock()
        self._pid = os.getpid()
        #: What became of the stored entries when the guest was last started; `None` before.
        self.restored: Loaded | None = None

    def check(self, event: Event) -> Verdict:
        """Judges something that is about to happen. An event that is too long to cross is refused here
        (`engine.too-long`). Raises `EngineError`."""
        try:
            value = crossing.lower(event)
        except TooLongError:
            return crossing.too_long()
        return self._run(lambda guest: guest.call("check", value, crossing.lift_verdict))

    def capture(self, event: Event) -> Stored:
        """Remembers something that needs no decision. What is too long to cross is not remembered: there is then
        nothing to store. Raises `EngineError`."""
        try:
            value = crossing.lower(event)
        except TooLongError:
            return Stored("", "", "")
        return self._run(lambda guest: guest.call("capture", value, crossing.lift_stored))

    def report(self, query: dict[str, Any]) -> dict[str, Any]:
        """Answers a question about the engine and the loaded rows. Raises `EngineError`."""
        try:
            asked = utf8(json.dumps(query, ensure_ascii=False, allow_nan=False), "the query")
        except (TypeError, ValueError, RecursionError) as error:
            raise EngineError("input", "the query is not a JSON document") from error
        if len(asked) > crossing.EVENT_BYTES_MAX:
            raise TooLongError
        return self._run(lambda guest: guest.call("report", asked, _document))

    def load(self, lines: Iterable[str]) -> Loaded:
        """Adds entries to what `entries` gave. They are gone when the guest has to be started again. Raises
        `EngineError`."""
        return self._run(lambda guest: guest.load(lines))

    def close(self) -> None:
        """Frees the guest. A later call starts a new one."""
        self._leave_parent()
        with self._lock:
            self._guest = None

    def _run(self, call: Callable[[Guest], _Answer]) -> _Answer:
        self._leave_parent()
        with self._lock:
            try:
                if self._guest is None:
                    guest = self._engine.start(self._settings, self._key)
                    self.restored = guest.load(self._entries())
                    self._guest = guest
                return call(self._guest)
            except BaseException:
                # Also for an interrupt by the person: nobody knows how far the call got.
                self._guest = None
                raise

    def _leave_parent(self) -> None:
        if self._pid != os.getpid():
            _abandoned.append(self._guest)
            self._guest = None
            self._lock = threading.Lock()
            self._pid = os.getpid()


def failure(text: str) -> EngineError:
    """What wasmtime says about a call that failed, as an error with a cause. Its text names functions, never data."""
    end = "; the session is started again at the next call"
    if "wasm trap: interrupt" in text:
        return EngineError("deadline", f"the engine did not answer within {CALL_SECONDS_MAX:.0f} s{end}")
    if "call stack exhausted" in text:
        return EngineError("stack", f"the engine recursed too deeply{end}")
    started = "wasm backtrace" in text
    if not started and any(word in text for word in ("mmap", "reserve", "memory limit", "allocate memory")):
        return EngineError("memory", f"there is no memory for the engine (it needs up to 256 MiB){end}")
    if "sealed wasi:cli/stderr" in text:
        return EngineError("trap", f"the engine panicked, or used more than its 256 MiB{end}")
    reasons = [line.split("wasm trap:")[-1].strip() for line in text.splitlines() if line.strip()]
    reason = reasons[-1] if reasons else "no reason given"
    return EngineError("trap", f"the engine stopped ({reason[:200]}){end}")
