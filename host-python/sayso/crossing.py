"""What crosses the boundary to the engine: checks an event before it crosses, and reads what comes back.

The sandbox takes wrong integers silently and dies of an unknown name, so everything is checked here first.
Knows the order of fields in `wit/types.wit`, and nothing about wasmtime.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

from .types import (
    Action,
    Call,
    EngineError,
    Event,
    Evidence,
    Finding,
    Mark,
    MarkKind,
    Message,
    Origin,
    Outcome,
    Prompt,
    Request,
    Role,
    Source,
    SourceKind,
    Status,
    Stored,
    Surface,
    Verdict,
    Write,
)

#: All text of one event together, as UTF-8.
EVENT_BYTES_MAX = 16 * 1024 * 1024

_ROLES = frozenset(get_args(Role))
_ORIGINS = frozenset(get_args(Origin))
_SURFACES = frozenset(get_args(Surface))
_SOURCE_KINDS = frozenset(get_args(SourceKind))
_STATUSES = frozenset(get_args(Status))
_MARK_KINDS = frozenset(get_args(MarkKind))

#: A record as a tuple of its fields in the order of the contract; text is UTF-8.
Lowered = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Loaded:
    """What became of stored entries: how many were taken, and line and reason of those that were not."""

    loaded: int
    wrong: tuple[tuple[int, str], ...]


class TooLongError(EngineError):
    """The text of an event is longer than `EVENT_BYTES_MAX`. It never crosses."""

    def __init__(self) -> None:
        super().__init__("input", f"more than {EVENT_BYTES_MAX >> 20} MiB of text in one event")


def utf8(text: str, name: str) -> bytes:
    """`text` as UTF-8. Halves of a surrogate pair are joined, or become U+FFFD where one stands alone."""
    if not isinstance(text, str):
        raise EngineError("input", f"{name} must be text, not {type(text).__name__}")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode("utf-8")


def lower(event: Event) -> Lowered:
    """The event as it crosses. Raises `TooLongError`, and `EngineError("input")` for what the contract refuses."""
    if not isinstance(event, Event):
        raise EngineError("input", f"an event was expected, not {type(event).__name__}")
    at = event.at
    if isinstance(at, bool) or not isinstance(at, int) or not 0 <= at < 1 << 64:
        raise EngineError("input", "at must be milliseconds since 1970 as a whole number from 0 to 2^64 - 1")
    budget = _Budget()
    return (budget.text(event.id, "id"), budget.text(event.session, "session"), at, _lower_occasion(event.what, budget))


class _Budget:
    """Turns text into UTF-8 until the event is too long. Counts characters first: encoding 1 GiB takes a second."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = EVENT_BYTES_MAX

    def text(self, text: str, name: str) -> bytes:
        if isinstance(text, str) and len(text) > self.left:
            raise TooLongError
        encoded = utf8(text, name)
        self.left -= len(encoded)
        if self.left < 0:
            raise TooLongError
        return encoded


def _name(value: str, allowed: frozenset[str], field: str) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise EngineError("input", f"{field} must be one of {', '.join(sorted(allowed))}")
    return value


def _lower_occasion(what: object, budget: _Budget) -> tuple[str, Any]:
    text = budget.text
    match what:
        case Message() | Prompt():
            message = (
                _name(what.role, _ROLES, "role"),
                _name(what.origin, _ORIGINS, "origin"),
                text(what.author, "author"),
                text(what.text, "text"),
            )
            return ("prompt" if isinstance(what, Prompt) else "message"), message
        case Source():
            kind = _name(what.kind, _SOURCE_KINDS, "kind")
            return "source", (kind, text(what.reference, "reference"), text(what.text, "text"))
        case Write():
            surface = _name(what.surface, _SURFACES, "surface")
            before, after = text(what.before, "before"), text(what.after, "after")
            return "write", (surface, text(what.reference, "reference"), before, after)
        case Call():
            return "call", (text(what.call_id, "call_id"), text(what.tool, "tool"), text(what.arguments, "arguments"))
        case Outcome():
            call = (text(what.call_id, "call_id"), text(what.tool, "tool"), text(what.arguments, "arguments"))
            return "result", (*call, _name(what.status, _STATUSES, "status"), text(what.text, "text"))
        case Request():
            return "request", text(what.text, "text")
        case Mark():
            kind = _name(what.kind, _MARK_KINDS, "kind")
            return "mark", (kind, text(what.parent, "parent"), text(what.reference, "reference"))
    raise EngineError("input", f"nothing happens that is called {type(what).__name__}")


def lift_stored(fields: tuple[str, str, str]) -> Stored:
    return Stored(*fields)


def lift_verdict(fields: tuple[Any, ...]) -> Verdict:
    action, message, text, findings, more, stored = fields
    return Verdict(action, message, text, tuple(map(_lift_finding, findings)), more, Stored(*stored))


def _lift_finding(fields: tuple[Any, ...]) -> Finding:
    guard, rule, level, start, end, path, reason, evidence, suggestion, facts = fields
    shown = tuple(Evidence(*each) for each in evidence)
    return Finding(guard, rule, level, start, end, path, reason, shown, suggestion, facts)


def too_long(action: Action = "refuse") -> Verdict:
    """The host's own answer to an event that is too long to cross; `action` is for the guard's failure rule to say.

    There is no row in it: the engine has not seen the event.
    """
    limit = f"{EVENT_BYTES_MAX >> 20} MiB"
    finding = Finding(
        guard="engine",
        rule="engine.too-long",
        level="error",
        start=0,
        end=0,
        path="",
        reason=f"This is longer than the {limit} that can be judged at once.",
        evidence=(),
        suggestion=f"The same in pieces under {limit}.",
        facts="{}",
    )
    message = f"{finding.reason} What would pass: {finding.suggestion}"
    return Verdict(action, message, "", (finding,), 0, Stored("", "", ""))
