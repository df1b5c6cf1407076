"""Sessions of Hermes: which one a hook belongs to, which one it continues, and what its turn has shown so far.

`state.db` is Hermes' own file and is only ever read, with its columns asked for and not assumed.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

from ..types import Verdict

SESSIONS_MAX = 512
"""Sessions remembered; an older one is looked up again."""

TASKS_MAX = 1024


@dataclass(frozen=True, slots=True)
class Stored:
    """What `state.db` says of a session: the one that it continues, and where it came from (`cli`, `subagent`, …)."""

    parent: str = ""
    source: str = ""

    @classmethod
    def read(cls, home: Path, session: str) -> Stored:
        """Reads it; empty where the file, the row or the columns are not there."""
        path = home / "state.db"
        if not session or not path.is_file():
            return cls()
        try:
            uri = f"{path.absolute().as_uri()}?mode=ro"
            with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=0.2)) as file:
                columns = {row[1] for row in file.execute("PRAGMA table_info(sessions)")}
                if not {"id", "parent_session_id", "source"} <= columns:
                    return cls()
                row = file.execute("SELECT parent_session_id, source FROM sessions WHERE id = ?", (session,)).fetchone()
        except (sqlite3.Error, ValueError):
            return cls()
        return cls(str(row[0] or ""), str(row[1] or "")) if row else cls()


@dataclass(slots=True)
class _Known:
    """One session. `answers` are fingerprints of the agent's texts of this turn, `findings` lines for the person."""

    platform: str = ""
    child: bool = False
    answers: set[bytes] = field(default_factory=set)
    findings: list[str] = field(default_factory=list)


class Sessions:
    """What is known about the sessions of this process. Safe for several threads."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._tasks: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    def name(self, session: str, task: str, platform: str) -> tuple[str, bool]:
        """The session of a hook, and whether it is new here. A nested call has no session but that of its task."""
        with self._lock:
            if session and task:
                self._tasks[task] = session
                self._tasks.move_to_end(task)
                while len(self._tasks) > TASKS_MAX:
                    self._tasks.popitem(last=False)
            name = session or self._tasks.get(task, "") or f"task:{task}"
            is_new = name not in self._known
            known = self._one(name)
            known.platform = platform or known.platform
            known.child = known.child or known.platform == "subagent" or task.startswith("sa-")
            return name, is_new

    def describe(self, session: str, source: str) -> None:
        """Adds what `state.db` knows, where no hook has said it."""
        with self._lock:
            known = self._one(session)
            known.platform = known.platform or source
            known.child = known.child or source == "subagent"

    def is_child(self, session: str) -> bool:
        """Whether it is a subagent's, so that its "user" is the agent that started it."""
        with self._lock:
            return self._one(session).child

    def platform(self, session: str) -> str:
        with self._lock:
            return self._one(session).platform

    def turn(self, session: str) -> None:
        """A new turn begins: the same answer may be given again."""
        with self._lock:
            known = self._one(session)
            known.answers.clear()
            known.findings.clear()

    def is_new_answer(self, session: str, text: str) -> bool:
        """Whether this turn has not seen that text of the agent yet."""
        mark = hashlib.blake2b(text.strip().encode("utf-8", "replace"), digest_size=16).digest()
        with self._lock:
            answers = self._one(session).answers
            if mark in answers:
                return False
            answers.add(mark)
            return True

    def find(self, session: str, reference: str, verdict: Verdict) -> None:
        """Keeps a line about a write that had findings, for the end of the turn."""
        rules = dict.fromkeys(finding.rule for finding in verdict.findings if finding.level != "info")
        if rules:
            with self._lock:
                self._one(session).findings.append(f"{verdict.action} {reference}: {', '.join(rules)}")

    def found(self, session: str) -> list[str]:
        """The lines of this turn, each once."""
        with self._lock:
            known = self._one(session)
            lines, known.findings = list(dict.fromkeys(known.findings)), []
            return lines

    def _one(self, session: str) -> _Known:
        known = self._known.get(session)
        if known is None:
            known = self._known[session] = _Known()
            while len(self._known) > SESSIONS_MAX:
                self._known.popitem(last=False)
        self._known.move_to_end(session)
        return known
