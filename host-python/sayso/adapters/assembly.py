"""Puts the parts together for a running Hermes: settings, key, ledger, engine and gate, once for each home folder.

The home is asked for at every use: profiles and multiplexed gateways swap it while the process runs. Whatever can't be
had (no key file, no ledger, no wasmtime) is left out, said once, and the rest goes on.
"""

from __future__ import annotations

import logging
import os
import secrets
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..engine import Engine, EngineSession
from ..gate import Gate, Judge
from ..keys import Key
from ..ledger import Ledger
from ..settings import MODES, Settings, from_hermes, hermes_home
from ..types import LedgerError
from .writes import Folders

log = logging.getLogger("sayso.hermes")

DAY_MS = 86_400_000
TIDY_SECONDS = 86_400.0


class Current:
    """The parts for one home. Settings are read again whenever a session is opened."""

    def __init__(self, ctx: Any) -> None:
        self._ctx = ctx
        self._lines: list[str] = []
        self._told: set[str] = set()
        self.settings = self._read()
        self._key = self._load_key()
        self.ledger = self._open_ledger()
        self.gate = Gate(self._judge, self.modes, self.ledger)
        self._tidied = 0.0
        self.tidy()

    def modes(self) -> Mapping[str, str]:
        """The mode of each guard. For a kind of claim that has one of its own the strictest counts: without the engine
        nobody knows which kind a line holds."""
        modes: dict[str, str] = dict(self.settings.modes)
        if modes["provenance"] != "off":
            modes["provenance"] = max([modes["provenance"], *self.settings.claims.values()], key=_strictness)
        return modes

    def problems(self) -> list[str]:
        """Lines for the person that nobody has been shown yet."""
        if self.ledger is not None and self.ledger.trouble:
            self._say(self.ledger.trouble)
        lines, self._lines = self._lines, []
        return lines

    def notify(self) -> bool:
        """Whether the person wants a line at the end of a turn that had findings."""
        return self.settings.notify == "line"

    def ask_after(self) -> int:
        return self.settings.ask_after

    def lets_unattended_through(self) -> bool:
        return self.settings.unattended == "allow"

    def tidy(self) -> None:
        """Drops bodies that are older than the person wants them kept; looked for once a day in a long process."""
        now = time.time()
        if self.ledger is None or now - self._tidied < TIDY_SECONDS:
            return
        self._tidied = now
        try:
            self.ledger.drop_bodies(int(now * 1000) - self.settings.retention_days * DAY_MS)
        except LedgerError as error:
            self._say(f"sayso can't drop old texts from its ledger: {error}")

    def close(self) -> None:
        if self.ledger is not None:
            self.ledger.close()

    def _read(self) -> Settings:
        settings, wrong = from_hermes(self._ctx)
        for problem in wrong:
            self._say(str(problem))
        return settings

    def _say(self, line: str) -> None:
        if line not in self._told:
            self._told.add(line)
            self._lines.append(line)
            log.warning("%s", line)

    def _load_key(self) -> Key:
        try:
            return Key.load_or_make(self.settings.folder / "key")
        except LedgerError as error:
            self._say(f"{error} Until then a key that lasts as long as this process is used.")
            return Key(secrets.token_bytes(32))

    def _open_ledger(self) -> Ledger | None:
        try:
            return Ledger.open(self.settings.folder / "ledger.db", self._key)
        except LedgerError as error:
            self._say(f"sayso can't open its ledger: {error}")
            return None

    def _judge(self, session: str) -> Judge:
        self.settings = self._read()
        cache = self.settings.folder / "cache" if self.settings.cache else None
        engine = Engine.shared(cache, secret=self._key.subkey("code cache"))
        return EngineSession(engine, self.settings.to_engine_json(), self._key.hex(), lambda: self._entries(session))

    def _entries(self, session: str) -> Iterable[str]:
        try:
            return self.ledger.entries(session) if self.ledger is not None else ()
        except LedgerError as error:
            self._say(f"sayso can't read its ledger, so older words don't count: {error}")
            return ()


class Assembly:
    """The parts for the home that is active in this context."""

    def __init__(self, ctx: Any) -> None:
        self._ctx = ctx
        self._currents: dict[Path, Current] = {}
        self._lock = threading.Lock()

    def current(self) -> Current:
        home = hermes_home()
        with self._lock:
            current = self._currents.get(home)
            if current is None:
                current = self._currents[home] = Current(self._ctx)
            return current

    def gate(self) -> Gate:
        return self.current().gate

    def folders(self) -> Folders:
        """Where notes stand now. Hermes' tools start from `TERMINAL_CWD` where it is set."""
        return Folders(hermes_home(), Path(os.environ.get("TERMINAL_CWD") or os.getcwd()))

    def close(self) -> None:
        with self._lock:
            for current in self._currents.values():
                current.close()
            self._currents.clear()


def _strictness(mode: str) -> int:
    return MODES.index(mode) if mode in MODES else 0
