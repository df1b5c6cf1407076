"""What crosses the boundary to the engine, as frozen dataclasses: the same words as `wit/types.wit`.

Knows nothing about wasmtime, files or Hermes. Offsets are half-open byte offsets into the UTF-8 of the text
they belong to; `at` is milliseconds since 1970-01-01 UTC.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    origin: Origin
    text: str
    author: str = ""


@dataclass(frozen=True, slots=True)
class Prompt(Message):
    """A new user message before the model sees it. When allowed, its entry is the message."""


@dataclass(frozen=True, slots=True)
class Source:
    kind: SourceKind
    reference: str
    text: str


@dataclass(frozen=True, slots=True)
class Write:
    surface: Surface
    reference: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Call:
    call_id: str
    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Outcome:
    call_id: str
    tool: str
    arguments: str
    status: Status
    text: str


@dataclass(frozen=True, slots=True)
class Request:
    """A whole outgoing request to the model, as JSON text."""

    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    kind: MarkKind
    parent: str = ""
    reference: str = ""


Occasion = Prompt | Message | Source | Write | Call | Outcome | Request | Mark


@dataclass(frozen=True, slots=True)
class Event:
    id: str
    session: str
    at: int
    what: Occasion


@dataclass(frozen=True, slots=True)
class Evidence:
    entry: str
    start: int
    end: int
    note: str


@dataclass(frozen=True, slots=True)
class Finding:
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


@dataclass(frozen=True, slots=True)
class Stored:
    kind: str
    row: str
    body: str


@dataclass(frozen=True, slots=True)
class Verdict:
    action: Action
    message: str
    text: str
    findings: tuple[Finding, ...]
    more: int
    store: Stored
