"""Labelled rows: the corpus format (`corpus/README.md`) as dataclasses, read strictly.

A row that breaks the format raises `InputError` with file, line and what is wrong; blank lines, a byte order mark and
fields beyond the format are allowed. Spans are half-open byte offsets into the UTF-8 of the text they belong to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from .documents import Fields, Place, json_lines, read_text, shortened

CLAIM_KINDS = ("decision", "approval", "instruction", "preference", "rejection", "agreement")
OTHER_KINDS = (
    "open",
    "negated-act",
    "hypothetical",
    "question",
    "generic-user",
    "other-actor",
    "fact",
    "code",
    "meta",
    "agentless",
    "plain",
)
PASSING = ("supported", "assented")
FAILING = (
    "no-quote",
    "not-found",
    "wrong-speaker",
    "unrelated",
    "negation-dropped",
    "not-a-commitment",
    "quoted-material",
    "retracted",
)
VERDICTS = PASSING + FAILING
SURFACES = ("memory", "skill")
ROLES = ("user", "assistant", "tool")
_TAG = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """One line of a note, and whether it holds a claim about the user."""

    id: str
    lang: str
    surface: str
    text: str
    positive: bool
    kind: str


@dataclass(frozen=True, slots=True)
class Expected:
    """One claim that a write holds, where it stands in it, and the verdict it deserves."""

    claim: str
    verdict: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """A session, oldest row first as `(role, text)`, a write after it, and what should be found in the write."""

    id: str
    lang: str
    rows: tuple[tuple[str, str], ...]
    surface: str
    text: str
    expect: tuple[Expected, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One element of a sequence: a call with its result, or a reset of every count."""

    session: str = ""
    tool: str = ""
    arguments: str = ""
    result: str = ""
    reset: bool = False


@dataclass(frozen=True, slots=True)
class CallsRow:
    """A sequence of calls, and the indexes of those that should be stopped."""

    id: str
    steps: tuple[Step, ...]
    stopped: frozenset[int]


@dataclass(frozen=True, slots=True)
class CredentialRow:
    """A text, and the part of it that must not survive; `None` where nothing may change."""

    id: str
    text: str
    kind: str
    secret: str | None


def utf8(text: str) -> bytes:
    """The UTF-8 of `text`. A lone surrogate counts its three bytes, as many as the character that replaces it."""
    return text.encode("utf-8", "surrogatepass")


def claim_rows(names: list[str]) -> list[ClaimRow]:
    """The rows of `claims` files, in order."""
    return [_claim_row(fields) for name in names for fields in _rows(name)]


def verdict_rows(names: list[str]) -> list[VerdictRow]:
    """The rows of `verdicts` files, in order."""
    return [_verdict_row(fields) for name in names for fields in _rows(name)]


def calls_rows(names: list[str]) -> list[CallsRow]:
    """The rows of `calls` files, in order."""
    return [_calls_row(fields) for name in names for fields in _rows(name, tagged=False)]


def credential_rows(names: list[str]) -> list[CredentialRow]:
    """The rows of `credentials` files, in order."""
    return [_credential_row(fields) for name in names for fields in _rows(name, tagged=False)]


def labelled_rows(name: str) -> Iterator[Fields]:
    """The objects of one file whose rows have no language."""
    return _rows(name, tagged=False)


def _rows(name: str, tagged: bool = True) -> Iterator[Fields]:
    """The objects of one file, each with an id that no earlier row of the file has."""
    lines: dict[str, int] = {}
    place = Place(name)
    for place, value in json_lines(name, read_text(name)):
        fields = Fields(value, place)
        row_id = fields.text("id", empty=False)
        if row_id in lines:
            place.wrong(f'"id" {row_id} stands in line {lines[row_id]} already')
        lines[row_id] = place.line
        tag = fields.text("lang", empty=False) if tagged else "en"
        if not _TAG.fullmatch(tag):
            place.wrong(f'"lang" must be a language tag such as en or zh-Hant, not {tag[:40]!r}')
        yield fields
    if not lines:
        place.wrong("holds no rows")


def _claim_row(fields: Fields) -> ClaimRow:
    label = fields.choice("label", ("claim", "not"))
    # Near misses "carry a kind too" where they are easily mistaken; a row without one is plain.
    if label == "claim":
        kind = fields.choice("kind", CLAIM_KINDS)
    else:
        kind = fields.choice("kind", OTHER_KINDS) if fields.has("kind") else "plain"
    return ClaimRow(
        id=fields.text("id"),
        lang=fields.text("lang"),
        surface=fields.choice("surface", SURFACES),
        text=fields.text("text", empty=False),
        positive=label == "claim",
        kind=kind,
    )


def _verdict_row(fields: Fields) -> VerdictRow:
    rows = []
    for item in fields.items("rows"):
        said = Fields(item, fields.place, 'an item of "rows"')
        rows.append((said.choice("role", ROLES), said.text("text")))
    write = fields.inner("write")
    text = write.text("text")
    return VerdictRow(
        id=fields.text("id"),
        lang=fields.text("lang"),
        rows=tuple(rows),
        surface=write.choice("surface", SURFACES),
        text=text,
        expect=tuple(_expected(fields, text)),
    )


def _expected(fields: Fields, text: str) -> Iterator[Expected]:
    """The expected claims, in order: a claim that stands in the write twice is the one after the claim before it."""
    after = 0
    for item in fields.items("expect"):
        wanted = Fields(item, fields.place, 'an item of "expect"')
        claim = wanted.text("claim", empty=False)
        verdict = wanted.choice("verdict", VERDICTS)
        at = text.find(claim, after)
        if at < 0:
            at = text.find(claim)
        if at < 0:
            fields.place.wrong(f'"claim" must stand in the text of "write": {claim[:60]!r}')
        after = at + len(claim)
        start = len(utf8(text[:at]))
        yield Expected(claim, verdict, start, start + len(utf8(claim)))


def _calls_row(fields: Fields) -> CallsRow:
    steps = tuple(_step(Fields(item, fields.place, 'an item of "calls"')) for item in fields.items("calls"))
    stopped = []
    for item in fields.items("expect"):
        wanted = Fields(item, fields.place, 'an item of "expect"')
        index = wanted.value.get("index")
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(steps) or steps[index].reset:
            fields.place.wrong(f'"index" must be that of a call, not {shortened(index)}')
        wanted.choice("action", ("stop",))
        stopped.append(index)
    return CallsRow(fields.text("id"), steps, frozenset(stopped))


def _step(call: Fields) -> Step:
    if call.has("reset"):
        return Step(reset=True)
    arguments = call.value.get("args")
    if not isinstance(arguments, str | dict):
        call.place.wrong(f'"args" must be an object, or a text that holds one, not {shortened(arguments)}')
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    session = call.text("session") if call.has("session") else ""
    result = call.text("result") if call.has("result") else ""
    return Step(session, call.text("tool", empty=False), raw, result)


def _credential_row(fields: Fields) -> CredentialRow:
    if fields.has("parts"):
        parts = fields.items("parts")
        if not all(isinstance(part, str) for part in parts):
            fields.place.wrong('"parts" must hold texts only')
        text = "".join(str(part) for part in parts)
    else:
        text = fields.text("text")
    secret = None
    if fields.choice("label", ("secret", "clean")) == "secret":
        secret = fields.text("secret", empty=False)
        if secret not in text:
            fields.place.wrong('"secret" must stand in the text')
    return CredentialRow(fields.text("id"), text, fields.text("kind"), secret)
