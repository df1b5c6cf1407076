"""`sayso eval credentials`, and what becomes of requests to the model."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sayso.adapters.requests import Requests
from sayso.documents import InputError
from sayso.evaluate_credentials import measure_credentials
from sayso.gate import Gate
from sayso.labels import CredentialRow, credential_rows
from sayso.types import Event, Outcome, Request, Stored, Verdict

KEPT = Stored("", "", "")


class Redactor:
    """Takes the word `sesame` out of results and requests."""

    def __init__(self) -> None:
        self.seen: list[Event] = []

    def check(self, event: Event) -> Verdict:
        self.seen.append(event)
        assert isinstance(event.what, Outcome | Request)
        text = event.what.text
        clean = text.replace("sesame", "[redacted]")
        return Verdict("allow" if clean == text else "rewrite", "", clean if clean != text else "", (), 0, KEPT)

    def capture(self, event: Event) -> Stored:
        return KEPT

    def load(self, lines: Iterable[str]) -> object:
        return None

    def report(self, query: dict[str, Any]) -> dict[str, Any]:
        return {}


def test_rows_are_joined_and_counted(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    rows = [
        {"id": "a", "parts": ["open ses", "ame"], "label": "secret", "kind": "x", "secret": "sesame"},
        {"id": "b", "text": "open barley", "label": "secret", "kind": "x", "secret": "barley"},
        {"id": "c", "text": "sesame bread", "label": "clean", "kind": "y", "secret": None},
        {"id": "d", "text": "rye bread", "label": "clean", "kind": "y", "secret": None},
    ]
    file.write_text("\n".join(json.dumps(row) for row in rows))
    read = credential_rows([str(file)])
    assert read[0] == CredentialRow("a", "open sesame", "x", "sesame")
    document = measure_credentials(read, lambda *_: Redactor()).document()
    assert [document[name] for name in ("kind", "rows", "tp", "fp", "fn", "tn")] == ["credentials", 4, 1, 1, 1, 1]
    assert document["wrong"] == ["b", "c"]


def test_a_secret_must_stand_in_its_text(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({"id": "a", "text": "rye", "label": "secret", "kind": "x", "secret": "wheat"}))
    with pytest.raises(InputError, match="must stand in the text"):
        credential_rows([str(file)])


def gate() -> Gate:
    judge = Redactor()
    return Gate(lambda session: judge, dict, None)


def test_requests_are_redacted_in_their_words_only() -> None:
    timeout = object()
    request = {"messages": [{"role": "user", "content": "sesame"}], "timeout": timeout, "model": "sesame-1"}
    clean = Requests().redacted(gate(), "s", request)
    assert clean is not None
    assert clean["messages"] == [{"role": "user", "content": "[redacted]"}]
    assert (clean["timeout"], clean["model"]) == (timeout, "sesame-1")
    assert Requests().redacted(gate(), "s", {"messages": [{"role": "user", "content": "rye"}]}) is None
    assert Requests().redacted(gate(), "s", {"messages": [object()]}) is None


def test_a_refused_turn_is_answered_without_a_request() -> None:
    requests = Requests()
    requests.refuse("s", "t1", "Not with this key.")
    asked: list[object] = []

    def model(request: object) -> object:
        asked.append(request)
        return SimpleNamespace()

    answer = requests.answered("s", "t1", {"model": "m"}, model, "chat_completions")
    assert (answer.choices[0].message.content, asked) == ("Not with this key.", [])
    requests.answered("s", "t2", {}, model, "chat_completions")
    requests.answered("s", "t1", {}, model, "anthropic_messages")
    assert len(asked) == 2
