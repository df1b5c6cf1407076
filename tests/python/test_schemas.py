"""The documents that cross as text: the schemas in `wit/schema` say what the engine really takes and gives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from referencing import Registry, Resource
from sayso import types
from sayso.engine import Engine, EngineSession
from sayso.gate import Gate, Judge
from sayso.settings import PROFILES, Allowed, Settings, modes_of
from sayso.types import EngineError, Event, Mark, Message, Occasion, Prompt, Write

ROOT = Path(__file__).parents[2]
SCHEMAS = {path.stem: json.loads(path.read_text("utf-8")) for path in (ROOT / "wit" / "schema").glob("*.json")}
REGISTRY: Registry[Any] = Registry().with_resources(
    (schema["$id"], Resource.from_contents(schema)) for schema in SCHEMAS.values()
)
KEY = "k" * 32


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(SCHEMAS[name], registry=REGISTRY)


def valid(name: str, document: object) -> None:
    try:
        validator(name).validate(document)
    except ValidationError as error:
        pytest.fail(f"{name}.json: {error.message} at {error.json_path} of {document}")


def session_of(engine: Engine, settings: dict[str, Any] | None = None) -> EngineSession:
    return EngineSession(engine, json.dumps(settings) if settings else "", KEY, list)


def events() -> Iterator[Event]:
    """Something of every kind that is stored, with texts of the corpus."""
    at = 0

    def event(what: Occasion) -> Event:
        return Event(f"e{at}", "session", at, what)

    for path in sorted((ROOT / "corpus" / "cases").glob("verdicts*.jsonl")):
        for line in path.read_text("utf-8").split("\n")[:40]:
            if not line.strip():
                continue
            row = json.loads(line)
            for said in row["rows"]:
                at += 1
                kind = Prompt if said["role"] == "user" and at % 2 else Message
                origin = {"user": "human", "assistant": "model", "tool": "tool"}[said["role"]]
                yield event(kind(said["role"], origin, said["text"], "author" if at % 3 else ""))  # type: ignore[arg-type]
            at += 1
            yield event(Write(row["write"]["surface"], "notes", "", row["write"]["text"]))
    for mark in get_args(types.MarkKind):
        at += 1
        yield event(Mark(mark, "parent" if mark == "compaction" else "", "MEMORY.md" if mark == "outside" else ""))


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_schemas(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])


@pytest.mark.parametrize("profile", PROFILES)
def test_what_the_engine_stores_and_says_of_a_claim_is_described(engine: Engine, profile: str) -> None:
    session = session_of(engine, {"profile": profile})
    kinds: set[str] = set()
    rules: set[str] = set()
    for event in events():
        if isinstance(event.what, (Write, Prompt)):
            verdict = session.check(event)
            kept = verdict.store
            for finding in verdict.findings:
                rules.add(finding.rule)
                valid("finding", json.loads(finding.facts))
        else:
            kept = session.capture(event)
        kinds.add(kept.kind)
        row = json.loads(kept.row)
        valid("row", row)
        assert row["kind"] == kept.kind
    assert kinds == {"prompt", "message", "write", "mark"}
    assert {"provenance.supported", "provenance.no-quote", "provenance.wrong-speaker"} <= rules
    long = session.check(Event("long", "session", 1, Write("memory", "notes", "a" * 9_000_000, "b" * 7_777_216)))
    assert [finding.rule for finding in long.findings] == ["engine.too-long"]
    if long.store.row:  # The host answers by itself what is too long to cross.
        valid("row", json.loads(long.store.row))


class Rows:
    """A ledger that keeps the rows it is given."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    def append(self, event_id: str, session: str, kind: str, at: int, row: str, body: str, parent: str = "") -> int:
        self.kept.append(row)
        return len(self.kept)

    def link(self, session: str, parent: str) -> None:
        raise AssertionError("no session follows another here")

    def size(self) -> int:
        return len(self.kept)

    def changes_since(self, seq: int, session: str) -> list[tuple[int, str]]:
        return []


@pytest.mark.parametrize("cause", get_args(EngineError.Cause))
def test_rows_that_the_host_writes_are_described(cause: EngineError.Cause) -> None:
    def no_engine(session: str) -> Judge:
        raise EngineError(cause, "no answer")

    rows = Rows()
    gate = Gate(no_engine, lambda: modes_of("strict"), rows, clock=lambda: 7)
    for what in (Write("skill", "notes", "", "text"), Prompt("user", "human", "text")):
        gate.check("session", what)
    assert rows.kept
    for row in rows.kept:
        valid("row", json.loads(row))
        assert json.loads(row)["findings"][0]["facts"] == {"cause": cause}


def test_rows_with_texts_and_unknown_parts_are_refused() -> None:
    row: dict[str, Any] = {"v": 1, "id": "e1", "session": "s", "at": 1, "kind": "message"}
    finding = {
        "guard": "provenance",
        "rule": "provenance.no-quote",
        "level": "error",
        "start": 0,
        "end": 1,
        "body": [0, 1],
    }
    wrong: list[dict[str, Any]] = [
        {**row, "v": 2},
        {**row, "text": "words of the user"},
        {**row, "origin": "ghost"},
        {**row, "passed": ["words of the user"]},
        {**row, "findings": [finding] * 65},
        {**row, "findings": [{**finding, "reason": "words of the user"}]},
        {**row, "findings": [{**finding, "facts": {"kind": "decision"}}]},
        {key: value for key, value in row.items() if key != "id"},
    ]
    assert validator("row").is_valid({**row, "findings": [finding] * 64})
    assert [document for document in wrong if validator("row").is_valid(document)] == []


@pytest.mark.parametrize("profile", PROFILES)
def test_the_settings_of_the_host_are_described_and_taken(engine: Engine, profile: Any) -> None:
    settings = Settings(profile=profile, modes=modes_of(profile))
    full = replace(
        settings,
        claims={"approval": "ask"},
        names=("Dana",),
        principals=("U1",),
        accept_assent=False,
        allow=(Allowed("as agreed", "a phrase of the house"),),
    )
    for one in (settings, full):
        document = json.loads(one.to_engine_json())
        valid("settings", document)
        status = session_of(engine, document).report({"ask": "status"})
        assert status["problems"] == []
        assert status["profile"] == profile
        assert status["modes"] == document["modes"]


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """A part of the settings' schema, without the detour over its `$ref`."""
    reference = schema.get("$ref")
    return SCHEMAS["settings"]["$defs"][reference.removeprefix("#/$defs/")] if reference else schema


def settings_by_word() -> Iterator[dict[str, Any]]:
    """For every word that the settings' schema allows, settings with nothing but it."""
    for key, described in SCHEMAS["settings"]["properties"].items():
        part = resolved(described)
        yield from ({key: word} for word in part.get("enum", [part["const"]] if "const" in part else []))
        yield from ({key: [word]} for word in resolved(part.get("items", {})).get("enum", []))
        names = resolved(part.get("propertyNames", {})).get("enum", [])
        inner = dict.fromkeys(names, part.get("additionalProperties", {})) or part.get("properties", {})
        for name, value in inner.items():
            yield from ({key: {name: word}} for word in resolved(value).get("enum", []))


def test_each_word_of_the_settings_is_taken_and_each_other_named(engine: Engine) -> None:
    parts = list(settings_by_word())
    assert {next(iter(part)) for part in parts} == {"version", "profile", "modes", "claims", "traceable", "languages"}
    empty: list[dict[str, Any]] = [{"modes": {}}, {"languages": []}, {"names": []}, {"allow": []}, {"bounds": {}}]
    parts += [*empty, {"accept_assent": False}, {"allow": [{"phrase": "as agreed", "reason": "a phrase of the house"}]}]
    for part in parts:
        valid("settings", part)
        assert session_of(engine, part).report({"ask": "status"})["problems"] == [], part
    wrong: list[dict[str, Any]] = [
        {"version": 2},
        {"colour": 1},
        {"profile": "loud"},
        {"modes": {"provenance": "maybe"}},
        {"modes": {"nobody": "ask"}},
        {"claims": {"wish": "ask"}},
        {"traceable": {"decision": "ask"}},
        {"languages": ["tlh"]},
        {"names": "Dana"},
        {"accept_assent": "yes"},
        {"allow": ["as agreed"]},
    ]
    for part in wrong:
        assert not validator("settings").is_valid(part), part
        assert len(session_of(engine, part).report({"ask": "status"})["problems"]) == 1, part


def test_each_question_is_known_and_each_other_refused(engine: Engine) -> None:
    session = session_of(engine)
    asks = SCHEMAS["query"]["properties"]["ask"]["enum"]
    for ask in asks:
        query = {"ask": ask} | ({"rule": "provenance.no-quote"} if ask == "explain" else {})
        valid("query", query)
        assert "error" not in session.report(query), ask
    narrow = {"ask": "findings", "guard": "provenance", "session": "s", "since": 1, "until": 9, "limit": 3}
    valid("query", narrow)
    assert session.report(narrow) == {"findings": []}
    for wrong in ({}, {"ask": "engine"}, {"ask": "explain"}, {"ask": "rule", "rule": "provenance.no-quote"}):
        assert not validator("query").is_valid(wrong), wrong
        assert "error" in session.report(wrong), wrong
    refused = session.report({"ask": "?"})["error"]
    assert all(ask in refused for ask in asks)


def test_the_rules_are_words_of_the_schemas(engine: Engine) -> None:
    finding = SCHEMAS["row"]["$defs"]["finding"]["properties"]
    assert finding["guard"]["enum"] == list(get_args(types.Guard))
    assert finding["level"]["enum"] == list(get_args(types.Level))
    for name, words_of in (("role", types.Role), ("origin", types.Origin), ("surface", types.Surface)):
        assert SCHEMAS["row"]["properties"][name]["enum"] == list(get_args(words_of))
    rules = session_of(engine).report({"ask": "rules"})["rules"]
    assert rules
    for rule in rules:
        part = {
            "guard": rule["guard"],
            "rule": rule["id"],
            "level": rule["level"],
            "start": 0,
            "end": 0,
            "body": [0, 0],
        }
        valid("row", {"v": 1, "id": "e", "session": "s", "at": 0, "kind": "write", "findings": [part]})
