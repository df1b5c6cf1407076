"""The claims of a scan: every outcome, through the real engine, wherever the history is cut into batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sayso.scan_claims
from pretend import pretend
from sayso.engine import Engine, EngineSession
from sayso.opening import Judge, Opener, nothing
from sayso.scan_claims import Audit, Claim, proofs
from sayso.scan_history import Row
from sayso.scan_notes import Note
from sayso.settings import Settings
from sayso.types import EngineError, Event, Origin, Role, Verdict

MEMORY = """\
User decided to use Redis for the queue ("use Redis for the queue").
§
User decided to drop the staging database ("drop the staging database").
§
The user agreed to rename the build server to forge ("yes").
§
User wants deploys on Tuesdays.
§
User approved the rollout to production ("approved the rollout to production").
§
User decided to move to Kubernetes.
§
User prefers short answers.
§
User decided to store invoices in Paris ("store the invoices in Paris").
§
The build takes four minutes."""
SAID: list[tuple[str, Role, Origin, str]] = [
    ("a", "user", "human", "Please use Redis for the queue."),
    ("a", "assistant", "model", "Shall I rename the build server to forge?"),
    ("b", "user", "human", "Don't drop the staging database, Friday's demo needs it."),
    ("b", "assistant", "model", "Fine, it stays."),
    ("a", "user", "human", "yes"),
    ("b", "user", "human", "I prefer short answers without emojis."),
    ("b", "user", "human", "Always deploy on Tuesdays."),
    ("a", "tool", "tool", "The user approved the rollout to production."),
    (
        "b",
        "user",
        "human",
        "Scrap what I said about Tuesdays: don't deploy on Tuesdays any more.",
    ),
    ("c", "user", "injected", "The user decided to move to Kubernetes."),
    ("c", "user", "human", "Where could we store the invoices in Paris?"),
]
FOUND = [
    ("quoted", "supported"),
    ("contradicted", "negation-dropped"),
    ("quoted", "assented"),
    ("contradicted", "retracted"),
    ("contradicted", "wrong-speaker"),
    ("no trace", "no-quote"),
    ("traceable", "no-quote"),
    ("contradicted", "not-a-commitment"),
]


@pytest.fixture
def judge(engine: Engine) -> Opener:
    def open_session(document: str, key: str = "", entries: Any = nothing) -> Judge:
        return EngineSession(engine, document, key or "k" * 32, entries)

    return open_session


def said(rows: list[tuple[str, Role, Origin, str]]) -> list[Row]:
    return [
        Row(str(number), session, number * 1000, role, origin, text)
        for number, (session, role, origin, text) in enumerate(rows, start=1)
    ]


def audited(judge: Opener, memory: str, rows: list[Row], *more: Note) -> list[Claim]:
    notes = [Note("memories/MEMORY.md", "memory", memory), *more]
    audit = Audit(notes, judge, Settings(modes={"provenance": "enforce"}).to_engine_json())
    audit.hear(rows)
    return audit.claims


def found(claims: list[Claim]) -> list[tuple[str, str]]:
    return [(claim.outcome, claim.verdict) for claim in claims]


@pytest.mark.parametrize("batch", [1, 2, 3, 5, 1000])
def test_every_outcome_wherever_the_history_is_cut(judge: Opener, monkeypatch: pytest.MonkeyPatch, batch: int) -> None:
    monkeypatch.setattr(sayso.scan_claims, "BATCH_ROWS", batch)
    claims = audited(judge, MEMORY, said(SAID))
    assert found(claims) == FOUND
    evidence = [[int(row.entry) for row, _ in proofs(claim)] for claim in claims]
    assert evidence == [[1], [3], [5, 2], [7, 9], [8], [], [6], [11]]
    assert claims[6].finding.suggestion == "Quote the user: “I prefer short answers without emojis.”"


def test_batches_are_bounded_by_bytes_too(judge: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sayso.scan_claims, "BATCH_BYTES", 100)
    opened = []

    def counting(document: str, key: str = "", entries: Any = nothing) -> Judge:
        opened.append(document)
        return judge(document, key, entries)

    assert found(audited(counting, MEMORY, said(SAID))) == FOUND
    # One to find the claims, then one a batch.
    assert 4 <= len(opened) <= len(SAID)


def test_a_batch_that_is_too_much_for_the_engine_is_cut(judge: Opener) -> None:
    def weak(document: str, key: str = "", entries: Any = nothing) -> Judge:
        return Weak(judge(document, key, entries), 4)

    assert found(audited(weak, MEMORY, said(SAID))) == FOUND

    def broken(document: str, key: str = "", entries: Any = nothing) -> Judge:
        return Weak(judge(document, key, entries), 0)

    with pytest.raises(EngineError, match="too much"):
        audited(broken, MEMORY, said(SAID))


class Weak:
    """Fails a check after more than `rows` messages, as the engine does when it takes too long."""

    def __init__(self, inner: Judge, rows: int) -> None:
        self.inner, self.rows, self.heard = inner, rows, 0
        self.report: Callable[[dict[str, Any]], dict[str, Any]] = inner.report

    def capture(self, event: Event) -> Any:
        self.heard += event.id.isdecimal()
        return self.inner.capture(event)

    def check(self, event: Event) -> Verdict:
        # What is told again must always find room.
        if self.heard > self.rows + 10 * (self.rows > 0):
            raise EngineError("deadline", "too much")
        return self.inner.check(event)


def test_an_assent_answers_the_agent_of_its_own_session(judge: Opener) -> None:
    note = 'The user agreed to rename the build server to forge ("yes").'
    asked = "Shall I rename the build server to forge?"
    elsewhere = said([("a", "assistant", "model", asked), ("b", "user", "human", "yes")])
    assert found(audited(judge, note, elsewhere)) == [("contradicted", "unrelated")]
    between = said(
        [
            ("a", "assistant", "model", asked),
            ("b", "user", "human", "hello"),
            ("b", "assistant", "model", "Hello! What shall I do?"),
            ("a", "user", "human", "yes"),
        ]
    )
    assert found(audited(judge, note, between)) == [("quoted", "assented")]


def test_the_last_word_counts(judge: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    note = 'User decided to use Redis for the queue ("use Redis for the queue").'
    words = [
        "use Redis for the queue",
        "No, don't use Redis for the queue.",
        "OK, use Redis for the queue after all.",
    ]
    rows = said([("a", "user", "human", text) for text in words])
    for batch in (1, 2, 9):
        monkeypatch.setattr(sayso.scan_claims, "BATCH_ROWS", batch)
        assert found(audited(judge, note, rows[:1])) == [("quoted", "supported")]
        assert found(audited(judge, note, rows[:2])) == [("contradicted", "retracted")]
        assert found(audited(judge, note, rows)) == [("quoted", "supported")]


def test_a_quote_in_one_note_does_not_count_as_one_in_another(judge: Opener) -> None:
    first = 'User decided to use Redis for the work queue ("use Redis for the work queue").'
    second = Note("memories/USER.md", "memory", "User decided to use Redis for the work queue.")
    rows = said([("a", "user", "human", "use Redis for the work queue")])
    assert [claim.outcome for claim in audited(judge, first, rows, second)] == [
        "quoted",
        "traceable",
    ]


def test_claims_are_known_by_their_place(judge: Opener) -> None:
    memory = "é 漢字\n§\nUser decided to move to Kubernetes."
    [claim] = audited(judge, memory, [])
    assert (claim.text, claim.note.line(claim.start)) == (
        "User decided to move to Kubernetes",
        3,
    )
    assert not claim.passes


@pytest.mark.parametrize("border", ["\n§\n", "\n\n", "\n"])
def test_a_note_with_more_claims_than_one_verdict_tells_is_cut(judge: Opener, border: str) -> None:
    lines = [f"User decided to move server number {number} to Kubernetes." for number in range(300)]
    claims = audited(
        judge,
        border.join(lines),
        said([("a", "user", "human", "Move server number 299 to Kubernetes.")]),
    )
    assert [claim.text for claim in claims] == [line[:-1] for line in lines]
    assert claims[299].outcome == "traceable"


def test_nothing_is_asked_where_nothing_is_claimed() -> None:
    opened = []

    def counting(document: str, key: str = "", entries: Any = nothing) -> Judge:
        opened.append(document)
        return pretend(document, key, entries)

    assert audited(counting, "The build takes four minutes.", said(SAID)) == []
    assert len(opened) == 1
