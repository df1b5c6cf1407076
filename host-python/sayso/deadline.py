"""Ends calls into the sandbox that run too long.

The sandbox counts epochs, and a call ends when its count is reached. One daemon thread of the process moves the
count on, and only while calls run: between calls it waits without waking.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from typing import Protocol

from .types import EngineError

TICK_SECONDS = 0.05


class Counting(Protocol):
    """What the ticker moves on: a wasmtime engine."""

    def increment_epoch(self) -> None: ...


def ticks(seconds: float) -> int:
    """The count that lasts at least `seconds`, and at most one tick longer: a call may begin just before a tick."""
    return round(seconds / TICK_SECONDS) + 1


class Ticker:
    """Moves the epoch on for every engine with a running call. `with ticker.running(engine):` surrounds a call."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._changed = threading.Condition(threading.Lock())
        self._running: Counter[Counting] = Counter()
        self._thread: threading.Thread | None = None
        self._waiting = False
        #: How often the count was moved on, for the tests.
        self.ticked = 0

    def running(self, engine: Counting) -> _Running:
        return _Running(self, engine)

    def begin(self, engine: Counting) -> None:
        if self._pid != os.getpid():  # The thread, and whoever held the lock, stayed behind in the parent.
            self._reset()
        with self._changed:
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="sayso-ticker", daemon=True)
                try:
                    thread.start()
                except RuntimeError as error:  # Python is going down, or the system allows no more threads.
                    raise EngineError("broken", "no thread can be started to end calls that run too long") from error
                self._thread = thread
            self._running[engine] += 1
            if self._waiting:
                self._changed.notify()

    def end(self, engine: Counting) -> None:
        with self._changed:
            self._running[engine] -= 1
            if self._running[engine] <= 0:
                del self._running[engine]

    def _run(self) -> None:
        changed = self._changed
        with changed:
            while True:
                if not self._running:
                    self._waiting = True
                    changed.wait_for(lambda: bool(self._running))
                    self._waiting = False
                changed.wait(TICK_SECONDS)
                for engine in self._running:
                    engine.increment_epoch()
                self.ticked += 1


class _Running:
    """One call. Not a generator, because it stands on the way of every call."""

    __slots__ = ("_engine", "_ticker")

    def __init__(self, ticker: Ticker, engine: Counting) -> None:
        self._ticker = ticker
        self._engine = engine

    def __enter__(self) -> None:
        self._ticker.begin(self._engine)

    def __exit__(self, *_: object) -> None:
        self._ticker.end(self._engine)


#: One thread is enough for all engines of a process.
TICKER = Ticker()
