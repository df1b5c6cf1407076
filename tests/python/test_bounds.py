"""Hostile notes get a verdict or a clear refusal, cost no more than a call may, and the next call works.

What they cost is counted in the sandbox's instructions, which are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from fuelled import FuelledEngine, fuelled
from sayso.engine import EngineSession
from sayso.types import Event, Message, Write

MIB = 1 << 20
#: Instructions that a quiet machine of 2024 does in a little over a second; the deadline of a call is two.
FUEL_MAX = 10_000_000_000

HONEST = 'User decided not to move it ("do not move it yet").'
SAID = "please keep the cache {0} warm and drop staging; do not move it yet "

TEXTS: dict[str, Callable[[], str]] = {
    "one letter": lambda: "a" * (16 * MIB - 64),
    "words": lambda: "word " * (3 * MIB),
    "the user": lambda: "the user " * (16 * MIB // 9 - 10),
    "claims in one line": lambda: "User decided to drop it. " * (16 * MIB // 25 - 10),
    "100,000 quotes": lambda: "".join(f'"q{n}" ' for n in range(100_000)),
    "100,000 claims with quotes": lambda: "".join(f'- User approved "q{n} go on".\n' for n in range(100_000)),
    "one claim with 100,000 quotes": lambda: "User approved the plan " + " ".join(f'"q{n}"' for n in range(100_000)),
    "open quotes": lambda: '"' * (4 * MIB),
    "deep nesting": lambda: "(" * MIB + "User decided to drop it" + ")" * MIB,
    "deep quotation": lambda: "> " * 500_000 + "User decided to drop it.",
    "cells": lambda: "|".join(["User decided to drop it"] * 200_000),
    "NUL": lambda: "User decided \0 to drop it.\0\0" * 100_000,
    "lone surrogates": lambda: "User decided \ud800 to drop\udfff it.\n" * 100_000,
    "empty lines": lambda: "\n" * (16 * MIB - 64),
    "ideographs": lambda: "用户决定删除" * (16 * MIB // 18 - 10),
    "combining marks": lambda: "e" + "\u0301" * (2 * MIB),
    "right to left": lambda: "\u202e\u2066" * MIB + "User decided to drop it.",
    "60 lines of claims and 1,200 quotes": lambda: (
        "User decided to drop the cache. User approved the plan. User rejected the move.\n" * 60
        + "\n".join(f'"please keep the cache {n} warm"' for n in range(1_200))
    ),
}


@pytest.fixture(scope="module")
def counting(component: bytes) -> Iterator[FuelledEngine]:
    with fuelled(component) as engine:
        yield engine


@pytest.fixture(scope="module")
def session(counting: FuelledEngine) -> EngineSession:
    session = EngineSession(counting, '{"profile":"strict"}', "k" * 32, list)
    for number in range(1_000):
        said = Message("user", "human", SAID.format(number) * 15)
        session.capture(Event(f"m{number}", "s", number, said))
    return session


def note(text: str) -> Event:
    return Event("w", "s", 2_000, Write("memory", "MEMORY.md", "", text))


@pytest.mark.parametrize("name", TEXTS)
def test_a_hostile_note_gets_its_answer(counting: FuelledEngine, session: EngineSession, name: str) -> None:
    text = TEXTS[name]()
    verdict = session.check(note(text))
    assert counting.spent <= FUEL_MAX
    # What claims something is never let through because it is long.
    quiet = {"100,000 quotes", "empty lines"}
    assert verdict.action == ("allow" if name in quiet else "refuse")
    assert len(verdict.findings) <= 64
    size = len(text.encode("utf-8", "surrogatepass"))
    assert all(0 <= found.start <= found.end <= size for found in verdict.findings)
    after = session.check(note(HONEST))
    assert (after.action, [found.rule for found in after.findings]) == ("allow", ["provenance.supported"])


def test_what_is_too_long_is_said_to_be(session: EngineSession) -> None:
    verdict = session.check(note("x" * (17 * MIB)))
    assert (verdict.action, [found.rule for found in verdict.findings]) == ("refuse", ["engine.too-long"])
    assert session.check(note(HONEST)).action == "allow"
