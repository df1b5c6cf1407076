"""`sayso audit`, `reset` and `clear`: the ledger that people read, and the two commands that change what it counts.

What is shown of an entry is its row (`wit/schema/row.json`): who, when, how large, how long, what was decided. There is
no text in it.
"""

from __future__ import annotations

import json
import secrets
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from .documents import InputError
from .keys import Key
from .ledger import Found, Ledger
from .opening import opener
from .report import opened_ledger, since_ms, when
from .screen import Screen
from .settings import Settings, from_hermes
from .types import Event, LedgerError, Mark, MarkKind

FOLLOW_SECONDS = 0.5
"""How long `--follow` waits before it looks again."""

HEADS = ("when", "session", "event", "what", "outcome", "bytes", "ms", "findings")


def audit(session: str, since: str, until: str, guard: str, tool: str, follow: bool, as_json: bool, out: Screen) -> int:
    """Lists what happened, oldest first. Always 0: it tells, and does not judge."""
    if follow and out.out is not sys.stdout:
        raise InputError("--follow works on a command line only")
    now = datetime.now(UTC)
    start = since_ms(since, now) if since else None
    end = since_ms(until, now) if until else None
    settings, _ = from_hermes()
    with opened_ledger(settings) as (ledger, _key):
        if ledger is None:
            out.json({"entries": []}) if as_json else out.line(f"Nothing recorded yet in {settings.folder}.")
            return 0
        last = 0
        while True:
            new = [one for one in ledger.found(session=session or None, since=start, until=end) if one.seq > last]
            last = max([last, *(one.seq for one in new)])
            shown = [one for one in map(_entry, new) if _wanted(one, guard, tool)]
            if as_json and follow:
                for one in shown:
                    out.line(json.dumps(one, ensure_ascii=False))
            elif as_json:
                out.json({"entries": shown})
            elif shown:
                out.table(HEADS, [_line(one) for one in shown], right=(5, 6))
            elif not follow:
                out.line("Nothing of that kind is recorded.")
            if not follow:
                return 0
            out.out.flush()
            time.sleep(FOLLOW_SECONDS)


def reset(session: str, out: Screen) -> int:
    """Starts the count of equal calls again, for one session or for all. Running agents notice at their next call."""
    for ledger, key, settings in _writable(out):
        _, row = _mark(key, settings, session, "reset")
        ledger.append(*row, "")
        whose = f"session {session}" if session else "every session"
        out.line(f"The count of equal calls starts again in {whose}.")
    return 0


def clear(sure: bool, out: Screen) -> int:
    """Removes every text that the ledger keeps, and forgets what was said, passed and counted. The chain goes on."""
    if not sure:
        raise InputError("this removes every text that sayso keeps, for all sessions; say --yes to do it")
    for ledger, key, settings in _writable(out):
        at, (event_id, _, _, _, row) = _mark(key, settings, "", "clear")
        dropped = ledger.clear(event_id, at, row)
        out.line(f"{dropped} texts were removed. The chain goes on: entry {ledger.size()} says so.")
    return 0


def _writable(out: Screen) -> Iterator[tuple[Ledger, Key, Settings]]:
    settings, _ = from_hermes()
    with opened_ledger(settings) as (ledger, key):
        if ledger is None or key is None:
            out.line(f"Nothing recorded yet in {settings.folder}.")
            return
        yield ledger, key, settings
        if ledger.state != "file":
            raise LedgerError(f"The ledger could not be written: {ledger.trouble}")


def _mark(key: Key, settings: Settings, session: str, kind: MarkKind) -> tuple[int, tuple[str, str, str, int, str]]:
    """The time, and what `Ledger.append` takes of a mark that the engine wrote."""
    at = int(time.time() * 1000)
    event = Event(secrets.token_hex(8), session, at, Mark(kind))
    stored = opener(settings)("", key.hex()).capture(event)
    return at, (event.id, session, stored.kind, at, stored.row)


def _entry(found: Found) -> dict[str, Any]:
    """What is shown of an entry. A row that can't be read shows what the host knows."""
    try:
        row = json.loads(found.row)
    except ValueError:
        row = {}
    findings = [one for one in row.get("findings", []) if isinstance(one, dict)]
    return {
        "entry": found.seq,
        "at": found.at,
        "when": when(found.at),
        "session": found.session,
        "event": found.kind,
        "what": _what(row),
        "tool": row.get("tool") or None,
        "outcome": row.get("status") if row.get("action") in (None, "allow") else row.get("action"),
        "action": row.get("action"),
        "size": row.get("size"),
        "ms": row.get("ms"),
        "guards": sorted({str(one.get("guard", "")) for one in findings}),
        "rules": [str(one.get("rule", "")) for one in findings],
    }


def _what(row: dict[str, Any]) -> str:
    for name in ("tool", "reference", "mark", "origin", "surface"):
        if row.get(name):
            return str(row[name])
    return ""


def _wanted(one: dict[str, Any], guard: str, tool: str) -> bool:
    return (not guard or guard in one["guards"]) and (not tool or tool == one["tool"])


def _line(one: dict[str, Any]) -> tuple[str, ...]:
    number = [str(one[name]) if one[name] is not None else "" for name in ("size", "ms")]
    outcome = str(one["outcome"] or one["action"] or "")
    shown = one["when"][:19].replace("T", " ")
    return (shown, one["session"], one["event"], one["what"], outcome, *number, ", ".join(one["rules"]))
