"""What crosses the boundary to the engine, as named tuples: the same words as `wit/types.wit`.

Knows nothing about wasmtime, files or Hermes. Offsets are half-open byte offsets into the UTF-8 of the text
they belong to; `at` is milliseconds since 1970-01-01 UTC. Tuples, because a frozen dataclass takes five times as long
to define, and these are defined at each start of a process that somebody waits for.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Role = Literal["user", "assistant", "tool", "system"]
Origin = Literal["human", "model", "tool", "harness", "cron", "subagent", "review", "injected"]
Surface = Literal["memory", "skill"]
SourceKind = Literal["page", "file", "tool", "user"]
Status = Literal["ok", "error", "blocked", "cancelled"]
MarkKind = Literal["start", "end", "reset", "clear", "compaction", "outside"]
Action = Literal["allow", "ask", "refuse", "rewrite"]
Level = Literal["info", "warning", "error"]
Guard = Literal["engine", "provenance", "repetition", "loops", "credentials", "tamper", "bounds", "lineage"]


class SaysoError(Exception):
    """Base of every error that sayso raises on purpose. The message says what to do next and holds no secret."""


class EngineError(SaysoError):
    """The engine could not answer. `cause` tells why; the session it came from is rebuilt at its next call."""

    Cause = Literal["missing", "trap", "deadline", "memory", "stack", "input", "broken"]

    def __init__(self, cause: EngineError.Cause, message: str) -> None:
        super().__init__(message)
        self.cause: EngineError.Cause = cause


class LedgerError(SaysoError):
    """The ledger can't be opened, read or written."""


class SettingsError(SaysoError):
    """A setting is wrong; the message names key, value and what is allowed."""


class Message(NamedTuple):
    role: Role
    origin: Origin
    text: str
    author: str = ""


class Prompt(NamedTuple):
    """A new user message before the model sees it. When allowed, its entry is the message."""

    role: Role
    origin: Origin
    text: str
    author: str = ""


class Source(NamedTuple):
    kind: SourceKind
    reference: str
    text: str


class Write(NamedTuple):
    surface: Surface
    reference: str
    before: str
    after: str


class Call(NamedTuple):
    call_id: str
    tool: str
    arguments: str


class Outcome(NamedTuple):
    call_id: str
    tool: str
    arguments: str
    status: Status
    text: str


class Request(NamedTuple):
    """A whole outgoing request to the model, as JSON text."""

    text: str


class Mark(NamedTuple):
    kind: MarkKind
    parent: str = ""
    reference: str = ""


Occasion = Prompt | Message | Source | Write | Call | Outcome | Request | Mark


class Event(NamedTuple):
    id: str
    session: str
    at: int
    what: Occasion


class Evidence(NamedTuple):
    entry: str
    start: int
    end: int
    note: str


class Finding(NamedTuple):
    guard: Guard
    rule: str
    level: Level
    start: int
    end: int
    path: str
    reason: str
    evidence: tuple[Evidence, ...]
    suggestion: str
    facts: str


class Stored(NamedTuple):
    kind: str
    row: str
    body: str


class Verdict(NamedTuple):
    action: Action
    message: str
    text: str
    findings: tuple[Finding, ...]
    more: int
    store: Stored
