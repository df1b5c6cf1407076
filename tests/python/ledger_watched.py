"""A ledger that is verified after each step, and the entries that its tests write."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from sayso.keys import Key
from sayso.ledger import Ledger

HOST = Path(__file__).resolve().parents[2] / "host-python"


class Watched(Ledger):
    """Verifies itself after everything that writes."""

    def append(self, event_id: str, session: str, kind: str, at: int, row: str, body: str, parent: str = "") -> int:
        seq = super().append(event_id, session, kind, at, row, body, parent)
        self.must_verify()
        return seq

    def link(self, session: str, parent: str) -> None:
        super().link(session, parent)
        self.must_verify()

    def drop_bodies(self, before_at: int) -> int:
        dropped = super().drop_bodies(before_at)
        self.must_verify()
        return dropped

    def must_verify(self) -> None:
        """Fails the test unless the whole ledger is sound."""
        found = self.verify()
        assert found.ok, found.fault
        assert found.fault is None


def key_in(folder: Path) -> Key:
    return Key.load_or_make(folder / "sayso" / "key")


def ledger_in(folder: Path) -> Watched:
    """The ledger below `folder`, opened or made."""
    ledger = Watched.open(folder / "sayso" / "ledger.db", key_in(folder))
    assert isinstance(ledger, Watched)
    return ledger


def row(number: int) -> str:
    return json.dumps({"v": 1, "id": f"e{number}", "at": number})


def fill(ledger: Ledger, count: int, session: str = "s", kind: str = "message") -> None:
    """Appends `count` entries with bodies; the event id is made of the session and the number."""
    for number in range(1, count + 1):
        ledger.append(f"{session}-{number}", session, kind, number * 1_000, row(number), f"text {number} of {session}")


def edit(ledger: Ledger, *statements: str) -> None:
    """Does what somebody with an SQLite shell could do."""
    connection = sqlite3.connect(ledger.path, isolation_level=None)
    try:
        for statement in statements:
            connection.execute(statement)
    finally:
        connection.close()
