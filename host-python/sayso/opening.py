"""Opens what a command needs: the engine, and a session in it. Makes no file where there was none.

Compiled code is cached where the key of an installation exists already, because the key guards the cache.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
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

    def __call__(self, settings: str, key: str = "", entries: Entries = ...) -> Judge: ...


def nothing() -> Iterable[str]:
    """No stored entries."""
    return ()


def opener(settings: Settings) -> Opener:
    """An opener on the packaged engine. Raises `EngineError` when that can't be loaded."""
    from .engine import Engine, EngineSession

    cache, secret = None, b""
    if settings.cache and (settings.folder / "key").exists():
        from .keys import Key

        try:
            secret = Key.load_or_make(settings.folder / "key").subkey("code cache")
            cache = settings.folder / "cache"
        except LedgerError:
            cache = None  # `doctor` tells about the key; without it the code is compiled again, which takes 0.1 s.
    engine = Engine.shared(cache, secret=secret)

    def open_session(settings: str, key: str = "", entries: Entries = nothing) -> Judge:
        return EngineSession(engine, settings, key or secrets.token_hex(32), entries)

    return open_session
