"""What crosses the boundary: every event as it was meant, nothing that the contract does not allow."""

from __future__ import annotations

import re
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sayso import types
from sayso.engine import Engine, EngineSession
from sayso.shapes import Case, Count, Fields, Name, Row, Shape, Text
from sayso.types import Call, EngineError, Event, Mark, Message, Outcome, Prompt, Request, Source, Write

CASES = (Prompt, Message, Source, Write, Call, Outcome, Request, Mark)
WIT_NAMES = ("prompt", "message", "source", "write", "call", "result", "request", "mark")

# The field that the hostile component gives back as the body, where it is not `text`.
TEXT_OF = {Write: "after", Call: "arguments", Mark: "reference"}
# One guest for all examples of a property.
SESSIONS: dict[Engine, EngineSession] = {}

# All of Unicode, halves of surrogate pairs and NUL with it.
texts = st.text(st.characters(exclude_categories=()), max_size=40)
occasions = st.one_of(
    [
        st.builds(
            case,
            **{
                field: st.sampled_from(get_args(hint)) if get_origin(hint) is Literal else texts
                for field, hint in get_type_hints(case).items()
            },
        )
        for case in CASES
    ]
)
events = st.builds(
    Event,
    # Letters would ask the hostile component for an attack.
    id=texts.map(lambda text: "x" + text),
    session=texts,
    at=st.integers(0, 2**64 - 1),
    what=occasions,
)


def repaired(text: str) -> str:
    """What the browser makes of halves of surrogate pairs: pairs joined, single ones replaced."""

    def join(pair: re.Match[str]) -> str:
        high, low = (ord(half) for half in pair[0])
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))

    return re.sub("[\ud800-\udfff]", "\ufffd", re.sub("[\ud800-\udbff][\udc00-\udfff]", join, text))


def slots(what: Any) -> list[int | None]:
    """The payload as the component gets it: enums as numbers, text as pointer (not compared) and length in bytes."""
    flat: list[int | None] = []
    hints = get_type_hints(type(what))
    order = list(what._fields)
    if isinstance(what, Message | Prompt):
        order = ["role", "origin", "author", "text"]
    for field in order:
        value = getattr(what, field)
        if get_origin(hints[field]) is Literal:
            flat.append(get_args(hints[field]).index(value))
        else:
            flat += [None, len(repaired(value).encode())]
    return flat + [0] * (9 - len(flat))


@given(event=events)
def test_every_event_crosses_as_it_was_meant(hostile_engine: Engine, event: Event) -> None:
    session = SESSIONS.setdefault(hostile_engine, EngineSession(hostile_engine, "", "k", list))
    what = event.what
    verdict = session.check(event)
    assert verdict.message == repaired(event.session)
    for stored in (session.capture(event), verdict.store):
        letters = stored.kind.translate(str.maketrans("abcdefghijklmnop", "0123456789abcdef"))
        numbers = [int(letters[at : at + 16], 16) for at in range(0, 176, 16)]
        assert numbers[:2] == [event.at, CASES.index(type(what))]
        expected = slots(what)
        assert [None if wanted is None else got for wanted, got in zip(expected, numbers[2:], strict=True)] == expected
        assert stored.row == repaired(event.id)
        text = getattr(what, TEXT_OF.get(type(what), "text"))
        assert stored.body == repaired(text)


def spoil(event: Event, field: str, value: object) -> Event:
    """The event with one field that the contract does not allow, in it or in its payload."""
    target: Any = event if field in ("id", "session", "at", "what") else event.what
    spoiled: Any = target._replace(**{field: value})
    return spoiled if target is event else event._replace(what=spoiled)


@given(event=events, data=st.data())
def test_nothing_else_crosses_and_the_guest_lives_on(hostile_engine: Engine, event: Event, data: st.DataObject) -> None:
    asked: list[int] = []

    def entries() -> list[str]:
        asked.append(1)
        return []

    session = EngineSession(hostile_engine, "", "k", entries)
    assert session.capture(event).row == repaired(event.id)
    field = data.draw(st.sampled_from(["id", "session", "at", "what", *get_type_hints(type(event.what))]))
    no_text: st.SearchStrategy[object] = st.sampled_from([None, 1, b"bytes", ["text"]])
    wrong: dict[str, st.SearchStrategy[object]] = {
        "at": st.sampled_from([-1, 2**64, True, 1.0, "1", None]),
        "what": st.sampled_from([None, "prompt", {}, Event("a", "b", 1, Mark("start"))]),
    }
    hint = get_type_hints(type(event.what)).get(field)
    if get_origin(hint) is Literal:
        wrong[field] = st.one_of(texts.filter(lambda text: text not in get_args(hint)), no_text)
    spoiled = spoil(event, field, data.draw(wrong.get(field, no_text)))
    for call in (session.check, session.capture):
        with pytest.raises(EngineError) as caught:
            call(spoiled)
        assert caught.value.cause == "input"
    assert session.capture(event).row == repaired(event.id)
    assert len(asked) == 1


def test_what_is_no_event_never_crosses(hostile: EngineSession) -> None:
    wrong: Any
    for wrong in (None, {}, "event", Mark("start")):
        with pytest.raises(EngineError) as caught:
            hostile.check(wrong)
        assert caught.value.cause == "input"


def described(shape: Shape) -> Any:
    """A shape of the component, in terms that `declared` uses too."""
    match shape:
        case Text():
            return "text"
        case Count():
            return shape.slot
        case Name():
            return shape.names
        case Row():
            return [described(shape.element)]
        case Fields():
            return {name: described(field) for name, (_, field) in zip(shape.names, shape.fields, strict=True)}
        case Case():
            return {"case": {name: described(payload) for name, payload in shape.cases.items()}}
    raise AssertionError(shape)


def declared(hint: Any, field: str = "") -> Any:
    """A type of `sayso.types`, as the contract should have it."""
    if hint is str:
        return "text"
    if hint is int:
        return "u64" if field == "at" else "u32"
    if get_origin(hint) is Literal:
        return get_args(hint)
    if get_origin(hint) is tuple:
        return [declared(get_args(hint)[0])]
    if hint is Request:
        return "text"
    if hasattr(hint, "_fields"):
        hints = get_type_hints(hint)
        names = hint._fields
        return {name.replace("_", "-"): declared(hints[name], name) for name in names}
    return {"case": {name: declared(case) for name, case in zip(WIT_NAMES, CASES, strict=True)}}


@pytest.mark.parametrize("which", ["engine", "hostile_engine"])
def test_the_component_and_types_py_have_the_same_contract(which: str, request: pytest.FixtureRequest) -> None:
    engine: Engine = request.getfixturevalue(which)
    guest = engine.start("", "k" * 32)
    event, verdict, stored = (declared(types.Event), declared(types.Verdict), declared(types.Stored))
    wanted = {
        "load": (["text"], "text"),
        "capture": ([event], stored),
        "check": ([event], verdict),
        "report": (["text"], "text"),
    }
    for name in wanted:
        method = guest.method(name)
        assert ([described(shape) for shape in method.parameters], described(method.result)) == wanted[name]
        # Tuples cross, so the order counts.
        assert repr(described(method.result)) == repr(wanted[name][1]) or name in ("load", "report")
