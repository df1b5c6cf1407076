"""The order of steps, and what happens when a step fails."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from sayso.gate import NOTICES_MAX, SESSIONS_MAX, Gate, Judge
from sayso.types import (
    Action,
    EngineError,
    Event,
    Finding,
    LedgerError,
    Mark,
    Message,
    Occasion,
    Prompt,
    Stored,
    Verdict,
    Write,
)

WRITE = Write("memory", "memories/MEMORY.md", "", "User decided it.")


class Steps:
    """An engine and a ledger that note what was done, in order, and fail when told to."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.rows: list[tuple[str, str, dict[str, Any], str]] = []
        self.engine_error: Exception | None = None
        self.open_error: Exception | None = None
        self.ledger_error: Exception | None = None
        self.action: Action = "allow"
        self.findings: tuple[Finding, ...] = ()
        self.links: list[tuple[str, str]] = []
        self.news: list[tuple[int, str]] = []
        self.read_error: Exception | None = None

    def size(self) -> int:
        if self.read_error:
            raise self.read_error
        return max([len(self.rows), *(number for number, _ in self.news)])

    def changes_since(self, seq: int, session: str) -> list[tuple[int, str]]:
        if self.read_error:
            raise self.read_error
        return [(number, line) for number, line in self.news if number > seq]

    def load(self, lines: Iterable[str]) -> None:
        self.done.append("load " + " ".join(lines))

    def open(self, session: str) -> Judge:
        if self.open_error:
            raise self.open_error
        self.done.append(f"open {session}")
        return self

    def check(self, event: Event) -> Verdict:
        if self.engine_error:
            raise self.engine_error
        self.done.append("check")
        stored = Stored("write", json.dumps({"v": 1, "id": event.id}), "body")
        return Verdict(self.action, "why", "", self.findings, 0, stored)

    def capture(self, event: Event) -> Stored:
        if self.engine_error:
            raise self.engine_error
        self.done.append("capture")
        return Stored("message", json.dumps({"v": 1, "id": event.id}), "body")

    def append(self, event_id: str, session: str, kind: str, at: int, row: str, body: str, parent: str = "") -> int:
        if self.ledger_error:
            raise self.ledger_error
        self.done.append("append")
        self.rows.append((session, kind, json.loads(row), parent))
        return len(self.rows)

    def link(self, session: str, parent: str) -> None:
        if self.ledger_error:
            raise self.ledger_error
        self.links.append((session, parent))


@pytest.fixture
def steps() -> Steps:
    return Steps()


def gate(steps: Steps, **modes: str) -> Gate:
    known: Mapping[str, str] = {"provenance": "enforce", **modes}
    return Gate(steps.open, lambda: known, steps, clock=lambda: 7)


def test_the_row_is_committed_before_the_answer_leaves(steps: Steps) -> None:
    steps.action = "refuse"
    assert gate(steps).check("s", WRITE).action == "refuse"
    assert steps.done == ["open s", "check", "append"]
    assert steps.rows[0][:2] == ("s", "write")


def test_a_session_is_opened_once_and_again_after_it_was_closed(steps: Steps) -> None:
    one = gate(steps)
    one.capture("s", Message("user", "human", "hello"))
    one.check("s", WRITE)
    one.close("s")
    one.check("s", WRITE)
    assert [step for step in steps.done if step.startswith("open")] == ["open s", "open s"]


def test_the_oldest_sessions_are_dropped(steps: Steps) -> None:
    one = gate(steps)
    for number in range(SESSIONS_MAX + 1):
        one.capture(str(number), Mark("start"))
    one.capture("0", Mark("end"))
    assert steps.done.count("open 0") == 2
    assert steps.done.count("open 1") == 1


@pytest.mark.parametrize(
    ("mode", "action"), [("off", "allow"), ("observe", "allow"), ("ask", "ask"), ("enforce", "refuse")]
)
@pytest.mark.parametrize("broken", ["open", "call", "unforeseen"])
def test_without_an_engine_the_mode_decides(steps: Steps, mode: str, action: str, broken: str) -> None:
    error = EngineError("missing", "no wasmtime; mend: pip install it")
    if broken == "open":
        steps.open_error = error
    else:
        steps.engine_error = error if broken == "call" else ValueError("the secret text of the event")
    verdict = gate(steps, provenance=mode).check("s", WRITE)
    assert verdict.action == action
    assert bool(verdict.message) is (action != "allow")
    assert [finding.rule for finding in verdict.findings] == ["engine.failed"]
    ((session, kind, row, _),) = steps.rows
    assert (session, kind, row["action"], row["reference"]) == ("s", "write", action, WRITE.reference)
    assert row["findings"][0]["rule"] == "engine.failed"
    assert "secret" not in f"{verdict}{steps.rows}"


@pytest.mark.parametrize("what", [Prompt("user", "human", "hello"), Mark("start"), Message("tool", "tool", "x")])
def test_what_is_only_remembered_is_allowed_without_an_engine(steps: Steps, what: Occasion) -> None:
    steps.open_error = EngineError("missing", "no wasmtime")
    one = gate(steps)
    assert one.check("s", what).action == "allow"
    one.capture("s", what)
    assert steps.rows == []
    assert "no wasmtime" in one.notice("s")


def test_an_unforeseen_error_drops_the_session(steps: Steps) -> None:
    steps.engine_error = ValueError("x")
    one = gate(steps)
    one.check("s", WRITE)
    steps.engine_error = None
    assert one.check("s", WRITE).action == "allow"
    assert steps.done.count("open s") == 2


def test_an_event_that_the_engine_could_not_judge_follows_the_mode(steps: Steps) -> None:
    steps.findings = (Finding("engine", "engine.too-long", "error", 0, 0, "", "Too long.", (), "Write less.", "{}"),)
    verdict = gate(steps).check("s", WRITE)
    assert (verdict.action, verdict.message) == ("refuse", "Too long. Write less.")
    assert steps.rows[-1][2]["action"] == "refuse"
    assert gate(steps, provenance="observe").check("s", WRITE).action == "allow"


@pytest.mark.parametrize("error", [LedgerError("the disk is full"), OSError("secret detail")])
def test_a_ledger_that_fails_stops_no_guard(steps: Steps, error: Exception) -> None:
    steps.ledger_error = error
    steps.action = "refuse"
    one = gate(steps)
    assert one.check("s", WRITE).action == "refuse"
    one.follow("s", "before")
    told = one.notice("s")
    assert "not recorded" in told
    assert ("disk is full" in told) is isinstance(error, LedgerError)
    assert "secret" not in told


def test_no_ledger_at_all_stops_no_guard(steps: Steps) -> None:
    steps.action = "refuse"
    one = Gate(steps.open, dict, None)
    assert one.check("s", WRITE).action == "refuse"
    one.follow("s", "before")
    assert steps.done == ["open s", "check"]


def test_settings_that_fail_count_as_observe(steps: Steps) -> None:
    steps.open_error = EngineError("broken", "corrupt")

    def modes() -> Mapping[str, str]:
        raise ValueError

    assert Gate(steps.open, modes, steps).check("s", WRITE).action == "allow"


def test_the_person_is_told_once_a_session(steps: Steps) -> None:
    one = gate(steps)
    one.tell("s", "first")
    one.tell("s", "second")
    assert [one.notice("s"), one.notice("s"), one.notice("other")] == ["first", "", ""]
    one.tell("s", "third")
    assert one.notice("s") == ""
    for number in range(NOTICES_MAX):
        one.tell(str(number), "line")
    one.tell("s", "forgotten by now")
    assert one.notice("s") == "forgotten by now"


def test_a_session_that_follows_another_is_linked_and_loaded_again(steps: Steps) -> None:
    one = gate(steps)
    one.capture("child", Mark("start"))
    one.follow("child", "parent")
    one.follow("child", "")
    one.follow("child", "child")
    one.capture("child", Mark("compaction", parent="parent"))
    assert steps.links == [("child", "parent")]
    assert steps.done.count("open child") == 2
    assert steps.rows[-1][3] == "parent"


def test_what_other_processes_wrote_counts_before_a_write_is_judged(steps: Steps) -> None:
    one = gate(steps)
    one.check("s", WRITE)
    steps.news.append((7, "theirs"))
    steps.done.clear()
    one.check("s", WRITE)
    one.check("s", WRITE)
    assert steps.done == ["load theirs", "check", "append", "check", "append"]


def test_a_ledger_that_cannot_be_read_stops_no_guard(steps: Steps) -> None:
    one = gate(steps)
    steps.read_error = LedgerError("it is locked")
    assert one.check("s", WRITE).action == "allow"
    assert "it is locked" in one.notice("s")
