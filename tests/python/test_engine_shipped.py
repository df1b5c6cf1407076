"""The shipped component: hostile text through the whole way, and what a guest remembers."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import sayso
from sayso import bench, compiled
from sayso.crossing import EVENT_BYTES_MAX
from sayso.engine import Engine, EngineSession, packaged
from sayso.types import Call, EngineError, Event, Message, Occasion, Outcome, Prompt, Request, Source, Verdict, Write

Written = Callable[..., Event]


@pytest.fixture
def session(engine: Engine) -> EngineSession:
    return EngineSession(engine, "", "k" * 32, list)


def fill(text: str, size: int = EVENT_BYTES_MAX) -> str:
    return text * (size // len(text.encode("utf-8", "surrogatepass")))


LONG = EVENT_BYTES_MAX - 1000
HOSTILE = {
    "16 MB of one letter": fill("a", LONG),
    "16 MB of words": fill("the user decided to use it. ", LONG),
    "16 MB of lines": fill("- User decided: drop it\n", LONG),
    "16 MB of Chinese": fill("用户决定删除数据库。", LONG),
    "16 MB of combining marks": "a" + fill("\u0301", LONG),
    "100,000 quotes": fill('User said "yes" ', 1_600_000),
    "100,000 opening quotes": "User said " + "“" * 100_000,
    "100,000 nested quotes": "User said " + "“" * 50_000 + "yes" + "”" * 50_000,
    "100,000 claims": fill("- User decided to drop database number one.\n", 4_400_000),
    "lone surrogates": "User decided \ud800 to \udfff drop \udbff\ud800 it",
    "NUL": "User decided\0 to drop\0 the database",
    "controls": "".join(map(chr, range(0x20))) + "User decided \u202e to drop it \ufeff \u2028 x",
    "deep nesting": "[" * 100_000 + "]" * 100_000,
    "deep objects": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "nothing": "",
    "only blanks": " \n\t" * 10_000,
}
OCCASIONS: dict[str, Callable[[str], Occasion]] = {
    "write": lambda text: Write("memory", "MEMORY.md", "", text),
    "skill": lambda text: Write("skill", text[:1000], text[: len(text) // 2], text[: len(text) // 2]),
    "prompt": lambda text: Prompt("user", "human", text),
    "call": lambda text: Call("c1", "memory", text),
    "result": lambda text: Outcome("c1", "memory", "{}", "ok", text),
    "source": lambda text: Source("page", "https://example.org/", text),
    "request": Request,
}


@pytest.mark.parametrize("occasion", OCCASIONS)
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_gets_a_verdict_or_a_clear_end_and_the_next_call_works(
    engine: Engine, session: EngineSession, written: Written, text: str, occasion: str
) -> None:
    session.capture(Event("m1", "session", 1, Message("user", "human", "Please drop the staging database.")))
    event = Event("hostile", "session", 2, OCCASIONS[occasion](HOSTILE[text]))
    # A trap would be a bug of the engine.
    cause = ""
    try:
        verdict = session.check(event)
        assert isinstance(verdict, Verdict)
        assert len(verdict.findings) <= 64
        json.loads(verdict.store.row or "{}")
    except EngineError as error:
        cause = error.cause
    assert cause in ("", "deadline", "memory")
    next_verdict = session.check(written("- The server runs Linux.", id="next"))
    assert next_verdict.action in ("allow", "ask", "refuse", "rewrite")
    assert next_verdict.store.kind == "write"


def test_two_guests_answer_with_the_same_bytes(engine: Engine, written: Written) -> None:
    answers = []
    for _ in range(2):
        session = EngineSession(engine, "", "k" * 32, list)
        said = Event("m1", "session", 1, Message("user", "human", "Let us keep the staging database, please."))
        stored = session.capture(said)
        answers.append((stored, session.check(written("- User decided to drop the staging database.", id="w"))))
    assert answers[0] == answers[1]


def test_what_was_stored_gives_a_new_guest_the_same_memory(engine: Engine, written: Written) -> None:
    stored: list[str] = []
    session = EngineSession(engine, "", "k" * 32, lambda: stored)
    said = session.capture(
        Event("m1", "session", 1, Message("user", "human", "We decided to drop the staging database."))
    )
    write = written('- User decided to drop the database ("drop the staging database").', id="w")
    first = session.check(write)
    stored.append(json.dumps({"row": json.loads(said.row), "body": said.body}))
    session.close()
    again = session.check(write)
    assert session.restored is not None
    assert (session.restored.loaded, session.restored.wrong) == (1, ())
    assert again == first
    assert any(piece.entry == "m1" for finding in again.findings for piece in finding.evidence)


def test_the_pins_agree() -> None:
    root = Path(__file__).parents[2]
    project = tomllib.loads((root / "host-python" / "pyproject.toml").read_text("utf-8"))["project"]
    assert f"wasmtime=={compiled.WASMTIME}" in project["dependencies"]
    assert project["version"] == sayso.__version__
    assert packaged().parent == root / "host-python" / "sayso"


def test_the_bench_measures_the_shipped_component(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["--json", "--messages", "3", "5", "--rounds", "10"]) == 0
    measured = json.loads(capsys.readouterr().out)
    assert [call["messages"] for call in measured["hook_call"]] == [3, 5]
    assert all(0 < call["p50_ms"] <= call["p99_ms"] for call in measured["hook_call"])
    assert set(measured["start"]) == {"python_ms", "wasmtime_ms", "warm_ms", "cold_ms"}
    assert measured["throughput"]["write_mb_per_s"] > 0


def test_the_bench_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["--component", str(tmp_path / "none.wasm")]) == 3
    assert "can't be read" in capsys.readouterr().err
