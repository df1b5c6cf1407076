"""Opens what a command needs: the engine, and a session in it. Makes no file where there was none.

Compiled code is cached where the key of an installation exists already, because the key guards the cache.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

from .settings import Settings
from .types import Event, LedgerError, Stored, Verdict

Entries = Callable[[], Iterable[str]]


class Judge(Protocol):
    """One session of the engine, as `engine.EngineSession` gives it. Every method may raise `EngineError`."""

    def check(self, event: Event) -> Verdict: ...

    def capture(self, event: Event) -> Stored: ...

    def report(self, query: dict[str, Any]) -> dict[str, Any]: ...


class Opener(Protocol):
    """Opens a session with the engine's settings document ("" for the defaults), a key and stored entries."""

    def __call__(self, document: str, key: str = "", entries: Entries = ...) -> Judge: ...


def nothing() -> Iterable[str]:
    """No stored entries."""
    return ()


def opener(settings: Settings) -> Opener:
    """An opener on the packaged engine, which is loaded when the first session is opened. That raises `EngineError`."""

    def open_session(document: str, key: str = "", entries: Entries = nothing) -> Judge:
        from .engine import Engine, EngineSession

        cache, secret = code_cache(settings)
        engine = Engine.shared(cache, secret=secret)
        return EngineSession(engine, document, key or secrets.token_hex(32), entries)

    return open_session


def code_cache(settings: Settings) -> tuple[Path | None, bytes]:
    """The folder of compiled code and what seals it; no folder where the settings or the lack of a key forbid it."""
    key_file = settings.folder / "key"
    if not settings.cache or not key_file.exists():
        return None, b""
    from .keys import Key

    try:
        return settings.folder / "cache", Key.load_or_make(key_file).subkey("code cache")
    except LedgerError:
        # `doctor` tells about the key; without it the code is compiled again, which takes 0.1 s.
        return None, b""
