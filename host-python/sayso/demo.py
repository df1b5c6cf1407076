"""`sayso demo`: the product on one screen. A short session, five notes, their verdicts, and the ledger.

Runs in a folder that is removed at the end. Needs no model, no network, no key and no Hermes; the verdicts are the
engine's own, nothing on the screen is prepared but the session and the notes.
"""

from __future__ import annotations

import base64
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from .keys import Key
from .ledger import Ledger
from .opening import Judge, Opener
from .screen import Screen
from .settings import Settings, modes_of
from .showing import ACTIONS, is_clean, show_finding
from .transcript import Said, said
from .types import Event, Stored, Write

SESSION = "demo"
MINUTE = 60_000
SHORT = 64
"""Characters of an entry's text in the demo's table."""

ROWS: tuple[Said, ...] = (
    said(1, "user", "The staging database is slow. Don't drop the staging database, Friday's demo needs it."),
    said(2, "assistant", "Understood, I'll leave it alone. Shall I add an index on the orders table tonight?"),
    said(3, "user", "Yes, go ahead."),
    said(4, "assistant", "Done, the orders page loads in 80 ms now."),
    said(5, "user", "Nice. Should we move the job queue to Redis?"),
    said(6, "assistant", "Redis would work. Postgres would be one thing less to run."),
    said(7, "user", "Then keep the job queue in Postgres."),
)


@dataclass(frozen=True, slots=True)
class Note:
    """A note that the agent wants to keep, and what it shows."""

    shows: str
    text: str


NOTES: tuple[Note, ...] = (
    Note("A decision that nobody made.", "User decided to drop the staging database."),
    Note(
        "The same, with a quote cut out of its opposite.",
        'User decided to drop the staging database ("drop the staging database").',
    ),
    Note("A question, kept as a decision.", 'User chose Redis for the job queue ("move the job queue to Redis").'),
    Note(
        "An honest note, in the user's own words.",
        'User wants the job queue kept in Postgres ("keep the job queue in Postgres").',
    ),
    Note(
        'An honest "yes", read together with what it answers.',
        'User approved the index on the orders table ("Yes, go ahead").',
    ),
)

FORGED_FROM = b"Don't drop the staging database"
FORGED_TO = b"Let's drop the staging database"
"""What the demo's forger writes over the user's words: as long as they are, so that the file stays readable."""


def demo(judge: Opener, out: Screen) -> int:
    """Plays the demo and returns 0. Raises `EngineError` or `LedgerError` when sayso does not work here."""
    with tempfile.TemporaryDirectory(prefix="sayso-demo-") as folder:
        path = Path(folder) / "ledger.db"
        key = Key.load_or_make(Path(folder) / "key")
        settings = Settings(modes=modes_of("strict")).to_engine_json()
        ledger = Ledger.open(path, key)
        try:
            session = judge(settings, key.hex())
            _introduce(out)
            told = _play(session, ledger, out)
            _show_ledger(ledger, told, out)
        finally:
            ledger.close()
        _forge(path, key, out)
    _what_next(out)
    return 0


def _introduce(out: Screen) -> None:
    out.title("sayso: on whose say-so?")
    out.line(
        "An AI agent keeps notes for its next session, and the next session believes them. sayso stands between the "
        "agent and its notes: who writes that the user decided, approved or wants something must quote the user."
    )
    out.line()
    out.line(
        "Below, an agent talks with its user, then writes five notes. The verdicts are the engine's own. All of it "
        "happens in a folder that is removed at the end.",
        "dim",
    )
    out.title("1  What was said")
    for row in ROWS:
        out.pair(f"{row.number} {'user' if row.role == 'user' else 'agent'}", row.text)


def _play(session: Judge, ledger: Ledger, out: Screen) -> list[str]:
    """Has the session and its notes judged and recorded; tells each entry that was made, in order."""
    start = int(time.time() * 1000) - 20 * MINUTE
    told: list[str] = []

    def keep(event: Event, stored: Stored, what: str) -> None:
        if stored.kind:
            ledger.append(event.id, event.session, stored.kind, event.at, stored.row, stored.body)
            told.append(what)

    for row in ROWS:
        heard = Event(row.id, SESSION, start + row.number * MINUTE, row.event(SESSION).what)
        keep(heard, session.capture(heard), f"{row.label}: {row.text}")
    out.title("2  What the agent writes down")
    shelf = {row.id: (row.label, row.text) for row in ROWS}
    refused = kept = 0
    for number, note in enumerate(NOTES, start=1):
        written = Event(
            f"note-{number}",
            SESSION,
            start + (len(ROWS) + number) * MINUTE,
            Write("memory", "MEMORY.md", "", note.text),
        )
        verdict = session.check(written)
        word, style = ACTIONS[verdict.action]
        keep(written, verdict.store, f"note {number} {word}: {note.text}")
        with out.card(f"note {number}, {word}: {note.shows}", style):
            for finding in verdict.findings:
                show_finding(out, finding, note.text, shelf, "writes")
            if not verdict.findings:
                out.pair("writes", note.text)
                out.pair("why", "No claim about the user.")
        refused += verdict.action == "refuse"
        kept += bool(verdict.findings) and verdict.action == "allow" and is_clean(verdict.findings)
    out.line()
    out.line(f"{refused} of {len(NOTES)} notes were refused. {kept} stand on the user's own words.")
    return told


def _show_ledger(ledger: Ledger, told: list[str], out: Screen) -> None:
    out.title("3  What the ledger holds")
    out.line(
        "Every message and every verdict is an entry, chained to the one before. Evidence can't be changed afterwards "
        "without showing."
    )
    out.line()
    rows = [
        (str(entry.seq), time.strftime("%H:%M", time.localtime(entry.at / 1000)), entry.kind, _short(what))
        for entry, what in zip(ledger.found(), told, strict=False)
    ]
    out.table(("entry", "time", "kind", "what"), rows, right=(0,))
    _show_verification(ledger, out)


def _forge(path: Path, key: Key, out: Screen) -> None:
    """Somebody rewrites history in the ledger's file; verification finds it."""
    out.line()
    out.line('Now somebody opens the file and makes the user\'s "Don\'t drop" a "Let\'s drop":')
    for file in (path, path.with_name(path.name + "-wal")):
        if file.exists():
            file.write_bytes(file.read_bytes().replace(FORGED_FROM, FORGED_TO))
    with Ledger.open(path, key, strict=True) as forged:
        _show_verification(forged, out)


def _show_verification(ledger: Ledger, out: Screen) -> None:
    found = ledger.verify()
    if found.ok:
        out.pair("verify", f"{found.size} entries, whole; the head is {base64.b64encode(found.root).decode()}", "good")
    elif found.fault is not None:
        out.pair("verify", f"broken: {found.fault.what}", "bad")


def _what_next(out: Screen) -> None:
    out.title("4  On your own notes")
    out.pair("any text", "sayso check --session session.jsonl --write note.md", "code")
    out.pair("a rule", "sayso explain provenance.negation-dropped", "code")
    out.pair("Hermes", "sayso doctor", "code")


def _short(text: str) -> str:
    return text if len(text) <= SHORT else text[: SHORT - 1] + "…"
