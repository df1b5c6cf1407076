"""The one place with the order of steps: event, engine, ledger row committed, answer.

Knows nothing about any agent runtime; an adapter brings the words, the engine judges, the ledger keeps. Two rules
hold whatever breaks: nothing is refused without a record where a record can be made, and a guard that can't
ask the engine falls back to its mode (observe allows, ask asks, enforce refuses) instead of to silence.
"""

from __future__ import annotations

import json
import logging
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from .types import (
    Action,
    Call,
    EngineError,
    Event,
    Finding,
    Guard,
    LedgerError,
    Mark,
    Message,
    Occasion,
    Outcome,
    Prompt,
    Request,
    Source,
    Stored,
    Verdict,
    Write,
)

log = logging.getLogger("sayso.gate")

PLUGIN = "sayso"
"""What stands in every path and command of sayso's own."""

SESSIONS_MAX = 32
"""Engine sessions kept open at once. The oldest is dropped and loaded again from the ledger when it is needed."""

NOTICES_MAX = 1024
"""Sessions whose person was told already; beyond that the oldest may be told a second time."""

# The guards that judge each kind of event, and so the ones whose mode decides when the engine can't answer.
# Credentials in the arguments of a call are observed unless the profile is strict, where other guards refuse anyway.
JUDGES: dict[type[Occasion], tuple[Guard, ...]] = {
    Write: ("provenance",),
    Call: ("repetition", "loops", "tamper"),
    Outcome: ("loops", "bounds"),
}

# Guards that let through what they can't judge: a loop or a long text costs less than a tool that doesn't work.
LENIENT: frozenset[Guard] = frozenset({"loops", "bounds", "lineage"})

# Characters of arguments below which nobody would call them a repetition.
REPETITION_MIN = 512

# Kinds of event that depend on what other processes wrote into the ledger.
SHARED = (Write, Call)

# From lenient to strict.
ACTIONS: tuple[Action, ...] = ("allow", "rewrite", "ask", "refuse")

# Mode to action when the engine can't answer. Anything else, `off` included, allows.
FAILED: Mapping[str, Action] = {"ask": "ask", "enforce": "refuse"}

KINDS: Mapping[type[Occasion], str] = {
    Prompt: "prompt",
    Message: "message",
    Source: "source",
    Write: "write",
    Call: "call",
    Outcome: "result",
    Request: "request",
    Mark: "mark",
}


class Judge(Protocol):
    """One session of the engine, as `engine.EngineSession` gives it. Every method may raise `EngineError`."""

    def check(self, event: Event) -> Verdict: ...

    def capture(self, event: Event) -> Stored: ...

    def load(self, lines: Iterable[str]) -> object: ...


class Book(Protocol):
    """What the gate needs of `ledger.Ledger`."""

    def append(
        self, event_id: str, session: str, kind: str, at: int, row: str, body: str, parent: str = ""
    ) -> object: ...

    def link(self, session: str, parent: str) -> object: ...

    def size(self) -> int: ...

    def changes_since(self, seq: int, session: str) -> Iterable[tuple[int, str]]: ...


@dataclass(slots=True)
class _Open:
    """One open session: its judge, and a lock that keeps the order of rows equal to the order of verdicts."""

    judge: Judge | None = None
    #: The last entry of the ledger that the judge knows of.
    seq: int = 0
    lock: threading.RLock = field(default_factory=threading.RLock)


class Gate:
    """Carries events through engine and ledger. Safe to call from several threads; never raises.

    `judge` opens the engine's session of that name (loading its rows from the ledger) and may raise `EngineError`;
    `modes` gives the mode of every guard by name. Both are asked again whenever a session is opened, so a changed
    setting counts from the next session on. `book` is the ledger, or `None` where there is none.
    """

    def __init__(
        self,
        judge: Callable[[str], Judge],
        modes: Callable[[], Mapping[str, str]],
        book: Book | None,
        clock: Callable[[], int] = lambda: int(time.time() * 1000),
    ) -> None:
        self._judge = judge
        self._modes = modes
        self._book = book
        self._clock = clock
        self._lock = threading.Lock()
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._notices: OrderedDict[str, str] = OrderedDict()

    def check(self, session: str, what: Occasion) -> Verdict:
        """Judges `what`, stores the row, and gives the verdict, in this order."""
        event = self._event(session, what)
        opened = self._session(session)
        with opened.lock:
            try:
                judge = self._engine(opened, session)
                if isinstance(what, SHARED):
                    self._catch_up(opened, judge, session)
                verdict = judge.check(event)
            except Exception as error:
                return self._failed(opened, event, error)
            unjudged = next((one for one in verdict.findings if one.guard == "engine" and one.level == "error"), None)
            if unjudged is not None:
                # Too long, or not well formed: the engine is whole, but it has not judged this event.
                return self._unjudged(event, unjudged, "allow" if isinstance(what, Outcome) else verdict.action)
            self._store(event, _without_text(event, verdict.store), opened)
        return verdict

    def capture(self, session: str, what: Occasion) -> None:
        """Remembers `what`. A failure here costs evidence, never a call."""
        event = self._event(session, what)
        opened = self._session(session)
        with opened.lock:
            try:
                stored = self._engine(opened, session).capture(event)
            except Exception as error:
                self._failed(opened, event, error)
                return
            self._store(event, _without_text(event, stored), opened)

    def follow(self, session: str, parent: str) -> None:
        """Says that `session` continues `parent` (a compaction, a resumed branch), so that the parent's rows count."""
        if not parent or parent == session:
            return
        if self._book is not None:
            try:
                self._book.link(session, parent)
            except Exception as error:
                self._unstored(session, error)
        self.close(session)

    def close(self, session: str) -> None:
        """Drops the engine's session. It is loaded again from the ledger when the name comes back."""
        with self._lock:
            self._open.pop(session, None)

    def tell(self, session: str, text: str) -> None:
        """Keeps a line for the person of that session. The first one of a session stands; later ones are dropped."""
        with self._lock:
            if session in self._notices:
                return
            self._notices[session] = text
            while len(self._notices) > NOTICES_MAX:
                self._notices.popitem(last=False)
        log.warning("%s", text)

    def notice(self, session: str) -> str:
        """The line that the person of that session has not been shown yet, or "". Asking counts as shown."""
        with self._lock:
            text = self._notices.get(session, "")
            if text:
                self._notices[session] = ""
            return text

    def _event(self, session: str, what: Occasion) -> Event:
        return Event(id=secrets.token_hex(8), session=session, at=self._clock(), what=what)

    def _session(self, session: str) -> _Open:
        with self._lock:
            opened = self._open.get(session)
            if opened is None:
                opened = self._open[session] = _Open()
            self._open.move_to_end(session)
            while len(self._open) > SESSIONS_MAX:
                self._open.popitem(last=False)
            return opened

    def _engine(self, opened: _Open, session: str) -> Judge:
        if opened.judge is None:
            # Before the judge reads the ledger: what comes in between is read twice, and counted once by the engine.
            opened.seq = self._size(session)
            opened.judge = self._judge(session)
        return opened.judge

    def _size(self, session: str) -> int:
        try:
            return self._book.size() if self._book is not None else 0
        except Exception as error:
            self._unread(session, error)
            return 0

    def _catch_up(self, opened: _Open, judge: Judge, session: str) -> None:
        """Gives the judge what other processes wrote into the ledger for this session since it last looked."""
        if self._book is None:
            return
        try:
            size = self._book.size()
            if size == opened.seq:
                return
            news = list(self._book.changes_since(opened.seq, session))
        except Exception as error:
            self._unread(session, error)
            return
        if news:
            judge.load([line for _, line in news])
        opened.seq = max([size, *(seq for seq, _ in news)])

    def _unread(self, session: str, error: Exception) -> None:
        detail = str(error) if isinstance(error, LedgerError) else type(error).__name__
        self.tell(session, f"sayso can't read its ledger, so the words of other processes don't count: {detail}")

    def _store(self, event: Event, stored: Stored, opened: _Open | None = None) -> None:
        """Commits the row before the answer leaves. A ledger that can't be written stops no guard."""
        if not stored.kind or self._book is None:
            return
        parent = event.what.parent if isinstance(event.what, Mark) else ""
        try:
            seq = self._book.append(event.id, event.session, stored.kind, event.at, stored.row, stored.body, parent)
        except Exception as error:
            self._unstored(event.session, error)
            return
        if opened is not None and isinstance(seq, int) and seq == opened.seq + 1:
            # Nobody else wrote in between, so that there is nothing to catch up with.
            opened.seq = seq

    def _unstored(self, session: str, error: Exception) -> None:
        detail = str(error) if isinstance(error, LedgerError) else type(error).__name__
        self.tell(session, f"sayso can't write its ledger, so this session is guarded but not recorded: {detail}")

    def _failed(self, opened: _Open, event: Event, error: Exception) -> Verdict:
        """The failure rule: the strictest mode among the guards that would have judged this event decides."""
        known = isinstance(error, EngineError)
        cause = error.cause if isinstance(error, EngineError) else "broken"
        # The text of an unforeseen exception may hold what was judged, so only its type is passed on.
        detail = str(error) if known else f"{type(error).__name__} in the engine's host; run `sayso doctor`"
        if not known:
            log.error("unforeseen %s while handling a %s", type(error).__name__, KINDS[type(event.what)])
            opened.judge = None
        kind = KINDS[type(event.what)]
        self.tell(event.session, f"sayso is not checking this session ({cause}): {detail}")
        finding = Finding(
            guard="engine",
            rule="engine.failed",
            level="error",
            start=0,
            end=0,
            path="",
            reason=f"sayso could not check this {kind}: {detail}",
            evidence=(),
            suggestion="",
            facts=json.dumps({"cause": cause}),
        )
        return self._unjudged(event, finding, "allow")

    def _unjudged(self, event: Event, finding: Finding, least: Action) -> Verdict:
        """The answer for an event that was not judged: `least`, or what the guards' modes make of it."""
        action = max(least, self._action(event.what), key=ACTIONS.index)
        # A row for each event that should have been judged; for what is only remembered the notice is enough.
        stored = Stored("", "", "")
        if type(event.what) in JUDGES:
            stored = Stored(KINDS[type(event.what)], json.dumps(_row(event, finding, action)), "")
            self._store(event, stored)
        message = "" if action == "allow" else f"{finding.reason} {finding.suggestion}".strip()
        return Verdict(action=action, message=message, text="", findings=(finding,), more=0, store=stored)

    def _action(self, what: Occasion) -> Action:
        try:
            modes = self._modes()
        except Exception as error:
            log.error("settings can't be read: %s", type(error).__name__)
            modes = {}
        guards = (guard for guard in JUDGES.get(type(what), ()) if guard not in LENIENT and _would_judge(guard, what))
        actions = (FAILED.get(modes.get(guard, "observe"), "allow") for guard in guards)
        return max(actions, key=ACTIONS.index, default="allow")


def _without_text(event: Event, stored: Stored) -> Stored:
    """What of an event goes to the ledger: the text of a result is the caller's to keep, in memory."""
    return Stored(stored.kind, stored.row, "") if isinstance(event.what, Outcome) else stored


def _would_judge(guard: Guard, what: Occasion) -> bool:
    """Whether a guard would have looked twice at this. Without it a missing engine would ask about every call."""
    if not isinstance(what, Call):
        return True
    if guard == "tamper":
        return PLUGIN in what.arguments.lower() or PLUGIN in what.tool.lower()
    return len(what.arguments) >= REPETITION_MIN


def _row(event: Event, finding: Finding, action: Action) -> dict[str, object]:
    """A row as the engine would have written it (`wit/schema/row.json`): without any text of the event."""
    short = {"guard": finding.guard, "rule": finding.rule, "level": finding.level, "start": 0, "end": 0, "body": [0, 0]}
    row: dict[str, object] = {
        "v": 1,
        "id": event.id,
        "session": event.session,
        "at": event.at,
        "kind": KINDS[type(event.what)],
        "action": action,
        "findings": [{**short, "facts": json.loads(finding.facts)}],
    }
    if isinstance(event.what, Write):
        row |= {"surface": event.what.surface, "reference": event.what.reference}
    elif isinstance(event.what, (Call, Outcome)):
        row |= {"tool": event.what.tool[:200], "call": event.what.call_id[:200]}
    return row
