"""No quadratic behaviour: twice the input costs at most 2.3 times the instructions of the sandbox."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from fuelled import FuelledEngine, fuelled
from sayso.engine import EngineSession
from sayso.types import Event, Message, Write

GROWTH_MAX = 2.3
#: Instructions that a quiet machine of 2024 does in a little over a second; the deadline of a call is two.
FUEL_MAX = 10_000_000_000

SAID = "Please keep cache {0} warm, and drop the old staging copy on Friday. Do not move the invoices yet. "

#: Notes of a size that grows with a number.
NOTES: dict[str, Callable[[int], str]] = {
    "prose": lambda n: "The night job writes its report to the shared folder before the office opens. " * (40 * n),
    "claims": lambda n: "- User decided to drop the old staging copy.\n" * (4 * n),
    "claims with quotes": lambda n: "".join(
        f'- User wants cache {i} warm ("keep cache {i} warm").\n' for i in range(4 * n)
    ),
    "quotes that nobody said": lambda n: "".join(f'- User approved "send {i} and go on".\n' for i in range(4 * n)),
    "one line": lambda n: "User approved it and then the report was sent, " * (8 * n),
    "ideographs": lambda n: "用户决定删除旧的备份，然后把报告发给财务。" * (20 * n),
}
SIZES = (16, 32, 64)


@pytest.fixture(scope="module")
def counting(component: bytes) -> Iterator[FuelledEngine]:
    with fuelled(component) as engine:
        yield engine


def session_of(counting: FuelledEngine, messages: int) -> EngineSession:
    session = EngineSession(counting, "", "k" * 32, list)
    for number in range(messages):
        session.capture(Event(f"m{number}", "s", number, Message("user", "human", SAID.format(number) * 10)))
    return session


def fuel(counting: FuelledEngine, session: EngineSession, note: str) -> int:
    """Of the second of two equal calls: the first also opens what every later one finds open."""
    for _ in range(2):
        session.check(Event("w", "s", 1_000_000, Write("memory", "MEMORY.md", "", note)))
    return counting.spent


@pytest.mark.parametrize("name", NOTES)
def test_a_note_of_twice_the_size(counting: FuelledEngine, name: str) -> None:
    session = session_of(counting, 200)
    spent = [fuel(counting, session, NOTES[name](size)) for size in SIZES]
    assert [after / before <= GROWTH_MAX for before, after in pairwise(spent)] == [True, True], spent


@pytest.mark.parametrize("name", NOTES)
def test_a_session_of_twice_the_size(counting: FuelledEngine, name: str) -> None:
    spent = [fuel(counting, session_of(counting, size), NOTES[name](4)) for size in (500, 1_000, 2_000)]
    assert [after / before <= GROWTH_MAX for before, after in pairwise(spent)] == [True, True], spent


def test_a_long_message_costs_what_its_length_says(counting: FuelledEngine) -> None:
    spent = []
    for size in SIZES:
        session = EngineSession(counting, "", "k" * 32, list)
        for _ in range(2):
            session.capture(Event("m", "s", 1, Message("user", "human", SAID.format(1) * (size * 20))))
        spent.append(counting.spent)
    assert [after / before <= GROWTH_MAX for before, after in pairwise(spent)] == [True, True], spent


def test_a_megabyte_against_ten_thousand_messages(counting: FuelledEngine) -> None:
    session = session_of(counting, 10_000)
    line = "The night job writes its report. User decided to drop the old staging copy, and it was done.\n"
    note = line * (1_000_000 // len(line))
    assert fuel(counting, session, note) <= FUEL_MAX
    # All of it was read: what comes beyond the findings is counted, not given up.
    verdict = session.check(Event("w", "s", 1_000_001, Write("memory", "MEMORY.md", "", note)))
    assert "engine.too-much" not in {found.rule for found in verdict.findings}
    assert verdict.more > 10_000
