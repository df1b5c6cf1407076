"""What people said to Hermes: its `state.db`, read from the first message to the last without leaving a trace.

The file is Hermes' own. Its columns are asked for, not assumed, and it is read in short pages, so that a Hermes which
runs meanwhile never waits. Memory does not grow with the number of messages.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, cast

from .adapters.origins import LOCAL, Inbox, text_of, utterances
from .documents import InputError
from .types import Event, Message, Origin, Role

PAGE_ROWS = 200
"""Rows that are read at once."""

TOOL_CHARS = 16_000
"""Characters of a tool's output that are looked at: a quote that stands there only shows whose words it really is."""

TEXT_CHARS = 1_000_000
"""Characters of one message that are looked at."""

COPIED_SECONDS = 1.0
"""A compaction writes the copies of earlier messages beside its summary within this time."""

# Hermes' own marks on a user row (`display_kind`, 0.22) that a person may still have typed.
TYPED = frozenset({"", "steer", "skill_invocation"})
# How a message that a person typed into a running turn is wrapped (agent/prompt_builder.py).
STEERED = re.compile(r"\[OUT-OF-BAND[^\n]*\]\n(.*?)\n?\[/OUT-OF-BAND[^\n]*\]\s*", re.DOTALL)
# Where a summary begins that was merged into the last message (agent/context_compressor.py, both versions).
SUMMARY = re.compile(r"\[END OF PRIOR CONTEXT|\[CONTEXT COMPACTION|\[CONTEXT SUMMARY\]")
# What the tools for notes give back is the notes, which can't prove themselves.
NOTE_TOOLS = frozenset({"memory", "skill_manage", "skill_view", "skills_list"})
_JSON = "\x00json:"

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that was said. `entry` is what evidence calls it, `at` is milliseconds since 1970."""

    entry: str
    session: str
    at: int
    role: Role
    origin: Origin
    text: str
    author: str = ""

    @property
    def is_human(self) -> bool:
        """Whether a person typed it."""
        return self.role == "user" and self.origin == "human"

    @property
    def when(self) -> str:
        """Its time, to the minute, in the local time zone; "" where Hermes noted none."""
        if self.at <= 0:
            return ""
        with contextlib.suppress(ValueError, OverflowError, OSError):
            return datetime.fromtimestamp(self.at / 1000, UTC).astimezone().isoformat(" ", "minutes")[:16]
        return ""

    @property
    def who(self) -> str:
        """Who said it, for a person."""
        return "user" if self.is_human else {"assistant": "agent", "tool": "tool"}.get(self.role, self.origin)

    @property
    def label(self) -> str:
        """Who said it, when and in which session."""
        return ", ".join(part for part in (self.who, self.when, self.session) if part)

    def event(self) -> Event:
        """It as an event for the engine."""
        return Event(self.entry, self.session, max(self.at, 0), Message(self.role, self.origin, self.text, self.author))


@dataclass(slots=True)
class _Session:
    """What the table of sessions says of one, and the times of the summaries that compactions put into it."""

    source: str = ""
    user: str = ""
    shared: bool = False
    parent: str = ""
    summaries: list[float] = field(default_factory=list)


class History:
    """All that was said in the sessions of one Hermes home. Raises `InputError` where the file is none of Hermes'."""

    def __init__(self, home: Path, newest: int = 0, principals: tuple[str, ...] = ()) -> None:
        """`newest`: only that many sessions, those with the latest messages; 0 is all of them. `principals`: whose
        words count in shared chats, as the settings name them."""
        self.path = home / "state.db"
        if not self.path.is_file():
            raise InputError(f"{self.path}: there is no such file; --home names the folder in which Hermes keeps it")
        self._file = _File(self.path)
        self._principals = principals
        self._messages = self._columns("messages", {"id", "session_id", "role", "content"})
        self._known = self._columns("sessions", {"id"})
        counted = self._file.ask(
            f"SELECT session_id, count(*), max(id) FROM messages WHERE {self._standing()} GROUP BY session_id",  # noqa: S608
            (),
            lambda row: (str(row[0]), int(row[1]), int(row[2])),
        )
        counted.sort(key=lambda one: -one[2])
        #: Sessions that exist, and those that are read.
        self.sessions_in_all = len(counted)
        self._chosen = {name: count for name, count, _ in (counted[:newest] if newest else counted)}
        self._sessions: dict[str, _Session] = {}
        self._seen: dict[str, dict[bytes, set[float]]] = {}

    @property
    def sessions(self) -> int:
        """How many sessions are read."""
        return len(self._chosen)

    def __len__(self) -> int:
        """How many stored messages there are in them."""
        return sum(self._chosen.values())

    @property
    def schema(self) -> int:
        """The version that Hermes gives its schema; 0 where it gives none."""
        with contextlib.suppress(InputError):
            for version in self._file.ask("SELECT version FROM schema_version", (), lambda row: int(row[0])):
                return version
        return 0

    def rows(self, advance: Callable[[], None] = lambda: None) -> Iterator[Row]:
        """Everything said, in the order in which it was said. Calls `advance` for each stored message."""
        self._read_sessions()
        columns = ", ".join(
            [
                "id",
                "session_id",
                "role",
                f"CASE WHEN role = 'tool' THEN substr(content, 1, {TOOL_CHARS}) ELSE content END",
                *(
                    name if name in self._messages else "NULL"
                    for name in ("tool_name", "timestamp", "display_kind", "_compressed_summary", "observed")
                ),
            ]
        )
        query = (
            f"SELECT {columns} FROM messages WHERE id > ? AND {self._standing()} "  # noqa: S608
            f"ORDER BY id LIMIT {PAGE_ROWS}"
        )
        last = -1
        # What is kept of a stored row is decoded at once: a page of pictures would be large.
        while page := self._file.ask(query, (last,), lambda row: (*row[:3], _decoded(row[3]), *row[4:])):
            for row in page:
                last = int(row[0])
                if str(row[1]) in self._chosen:
                    yield from self._read(row)
                    advance()

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _columns(self, table: str, needed: set[str]) -> set[str]:
        found = set(self._file.ask(f"PRAGMA table_info({table})", (), lambda row: str(row[1])))
        if not needed <= found:
            raise InputError(f"{self.path}: is no state.db of Hermes (table {table})")
        return found

    def _standing(self) -> str:
        """What tells rows that stand from those that the person took back by an undo. Rows that a compaction archived
        were not taken back."""
        if "active" not in self._messages:
            return "role IN ('user', 'assistant', 'tool')"
        archived = " OR compacted = 1" if "compacted" in self._messages else ""
        return f"role IN ('user', 'assistant', 'tool') AND (active = 1{archived})"

    def _read_sessions(self) -> None:
        self._sessions.clear()
        self._seen.clear()
        names = ("source", "user_id", "chat_type", "parent_session_id")
        columns = ", ".join(["id", *(name if name in self._known else "NULL" for name in names)])

        def keep(row: tuple[Any, ...]) -> None:
            name, source, user, kind, parent = (str(value or "") for value in row)
            self._sessions[name] = _Session(source, user, kind not in ("", "dm"), parent)

        self._file.ask(f"SELECT {columns} FROM sessions", (), keep)  # noqa: S608
        flag = " OR _compressed_summary = 1" if "_compressed_summary" in self._messages else ""
        time = "timestamp" if "timestamp" in self._messages else "0"
        summaries = self._file.ask(
            f"SELECT session_id, {time} FROM messages WHERE {self._standing()} AND role <> 'tool' AND "  # noqa: S608
            f"(substr(content, 1, 9) = '[CONTEXT ' OR substr(content, 1, 14) = '[PRIOR CONTEXT'{flag})",
            (),
            lambda row: (str(row[0]), _seconds(row[1])),
        )
        for name, at in summaries:
            self._sessions.setdefault(name, _Session()).summaries.append(at)
            self._seen.setdefault(self._root(name), {})

    def _root(self, session: str) -> str:
        """The first of the sessions that this one continues."""
        passed = {session}
        while (known := self._sessions.get(session)) and known.parent and known.parent not in passed:
            session = known.parent
            passed.add(session)
        return session

    def _read(self, row: tuple[Any, ...]) -> list[Row]:
        """What was said in one stored message."""
        number, name, role, text, tool, timestamp, kind, summary, observed = row
        session, at = str(name), _seconds(timestamp)
        known = self._sessions.get(session, _Session())
        if not text.strip() or (role == "tool" and str(tool or "") in NOTE_TOOLS):
            return []
        if self._is_copy(session, role, text, at):
            return []
        head = (session, int(at * 1000))
        if role != "user":
            return [Row(str(number), *head, cast("Role", role), "model" if role == "assistant" else "tool", text)]
        if summary or observed or str(kind or "") not in TYPED:
            # Written by Hermes, or overheard in a group from whoever was there.
            return [Row(str(number), *head, "user", "injected", text)]
        said = []
        for place, (origin, words) in enumerate(_spoken(text, str(kind or ""), known)):
            entry = f"{number}.{place}" if place else str(number)
            author = self._author(known) if origin == "human" else ""
            said.append(Row(entry, *head, "user", origin, words, author))
        return said

    def _author(self, session: _Session) -> str:
        """Who wrote a person's message, where that can be told: not in a shared chat, whose rows name nobody."""
        if session.shared or not self._principals:
            return ""
        return self._principals[0] if session.source in LOCAL else session.user

    def _is_copy(self, session: str, role: str, text: str, at: float) -> bool:
        """Whether a compaction wrote this message a second time. A copy would look like the user's last word."""
        seen = self._seen.get(self._root(session))
        if seen is None:
            return False
        mark = hashlib.blake2b(f"{role}\n{text}".encode("utf-8", "replace"), digest_size=16).digest()
        times = seen.setdefault(mark, set())
        beside = any(abs(at - one) <= COPIED_SECONDS for one in self._sessions[session].summaries)
        copied = bool(times) and (at in times or beside)
        times.add(at)
        return copied


class _File:
    """A connection to somebody else's database, for reading only.

    Even `mode=ro` leaves the files `-wal` and `-shm` behind beside a database in WAL mode that nobody has open. Such
    a file is read as one that does not change, and read again in the ordinary way if it did change meanwhile.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open: sqlite3.Connection | None = None
        self._as_it_was: tuple[object, ...] | None = None

    def ask(self, query: str, values: tuple[object, ...], keep: Callable[[tuple[Any, ...]], _T]) -> list[_T]:
        """The rows of an answer, each turned by `keep` as it is read. Raises `InputError`."""
        try:
            if self._as_it_was is not None and self._as_it_was != self._state():
                self.close()
            connection = self._open or self._connect()
            try:
                found = [keep(row) for row in connection.execute(query, values)]
            except sqlite3.DatabaseError:
                if self._as_it_was is None or self._as_it_was == self._state():
                    raise
                found = []
            if self._as_it_was is None or self._as_it_was == self._state():
                return found
            self.close()
            return [keep(row) for row in self._connect().execute(query, values)]
        except sqlite3.Error as error:
            raise InputError(f"{self._path}: can't be read ({error})") from None
        except OSError as error:
            raise InputError(f"{self._path}: can't be read: {error.strerror}") from None

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
        self._open, self._as_it_was = None, None

    def _connect(self) -> sqlite3.Connection:
        still = not self._beside().exists() and self._is_wal()
        self._as_it_was = self._state() if still else None
        uri = f"{self._path.absolute().as_uri()}?mode=ro{'&immutable=1' if still else ''}"
        connection = sqlite3.connect(uri, uri=True, timeout=5)
        connection.text_factory = lambda held: held.decode("utf-8", "replace")
        connection.execute("PRAGMA query_only = 1")
        self._open = connection
        return connection

    def _beside(self) -> Path:
        return self._path.with_name(f"{self._path.name}-wal")

    def _is_wal(self) -> bool:
        """Whether the header of the file says so (bytes 18 and 19 are the write and the read version)."""
        with self._path.open("rb") as file:
            return b"\x02" in file.read(20)[18:]

    def _state(self) -> tuple[object, ...]:
        found = self._path.stat()
        return self._beside().exists(), found.st_mtime_ns, found.st_size, found.st_ino


def _spoken(text: str, kind: str, session: _Session) -> list[tuple[Origin, str]]:
    """A user row told apart into what a person said and what was put around it."""
    if kind == "steer" and (steered := STEERED.fullmatch(text.strip())):
        text = steered[1]
    said: list[tuple[Origin, str]] = []
    summary = SUMMARY.search(text)
    if summary:
        # A summary is the model's telling of what was said.
        said.append(("injected", text[summary.start() :]))
        text = text[: summary.start()]
    found = utterances(text, platform=session.source, task="", review=False, inbox=Inbox()) if text.strip() else []
    return [*((one.origin, one.text) for one in found), *said]


def _decoded(content: Any) -> str:
    """The text of a stored content: text, or JSON behind a mark where images stand beside the words."""
    if isinstance(content, bytes):
        content = content.decode("utf-8", "replace")
    if not isinstance(content, str):
        return ""
    if content.startswith(_JSON):
        try:
            content = text_of(json.loads(content[len(_JSON) :]))
        except (ValueError, RecursionError):
            return ""
    # Half a surrogate pair, which JSON can hold, is no text.
    return str(content[:TEXT_CHARS].encode("utf-8", "replace").decode("utf-8"))


def _seconds(timestamp: Any) -> float:
    try:
        seconds = float(timestamp)
    except (TypeError, ValueError):
        return 0.0
    return seconds if 0 <= seconds < 1e11 else 0.0
