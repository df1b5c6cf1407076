"""The corpus through the shipped component: the answers are those that the engine gives natively, byte for byte.

`tests/rust/corpus.rs` writes the native answers to `answers-native.jsonl` in cargo's target folder whenever
`cargo test` runs, which `cargo xtask test` does first. No toolchain is needed here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sayso.engine import Engine, EngineSession, packaged
from sayso.types import Event, Message, Origin, Role, Write

ROOT = Path(__file__).parents[2]
CASES = ROOT / "corpus" / "cases"
ANSWERS = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "answers-native.jsonl"
USUAL: dict[Role, Origin] = {"user": "human", "assistant": "model", "tool": "tool", "system": "harness"}


def files() -> list[Path]:
    """The labelled claims and verdicts, in the order in which the native test reads them."""
    return sorted(path for kind in ("claims", "verdicts") for path in CASES.glob(f"{kind}*.jsonl"))


def rows(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text("utf-8").split("\n"):
        if line.strip():
            yield json.loads(line)


@pytest.fixture(scope="module")
def native() -> dict[tuple[str, str], bytes]:
    """The native answers by file and id."""
    mend = "run `cargo test -p sayso-engine --test corpus` (`cargo xtask test` does)"
    if not ANSWERS.is_file():
        pytest.fail(f"{ANSWERS} is missing: {mend}")
    written = ANSWERS.stat().st_mtime
    newer = [path for path in (packaged(), *files()) if path.stat().st_mtime > written]
    if newer:
        pytest.fail(f"{ANSWERS} is older than {newer[0]}: {mend}")
    answers = {}
    for line in ANSWERS.read_bytes().split(b"\n")[:-1]:
        head = json.loads(line)
        answers[head["file"], head["id"]] = line
    return answers


def plain(value: Any) -> Any:
    """Named tuples as objects, whatever they hold."""
    if hasattr(value, "_asdict"):
        return {name: plain(each) for name, each in value._asdict().items()}
    return [plain(each) for each in value] if isinstance(value, tuple | list) else value


def answer(engine: Engine, file: str, row: dict[str, Any]) -> bytes:
    """What the component says of one row in a session of its own, as the native test writes it."""
    session = EngineSession(engine, "", "key", list)
    said = row.get("rows", [])
    write = row.get("write", row)
    kept = []
    for number, message in enumerate(said):
        words = Message(message["role"], USUAL[message["role"]], message["text"])
        kept.append(session.capture(Event(f"m{number}", "corpus", number, words))._asdict())
    note = Write(write["surface"], "notes", "", write["text"])
    verdict = session.check(Event(row["id"], "corpus", len(said), note))
    session.close()
    document = {"file": file, "id": row["id"], "kept": kept, "verdict": plain(verdict)}
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode("utf-8")


@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_component_and_native_engine_give_the_same_bytes(
    engine: Engine, native: dict[tuple[str, str], bytes], path: Path
) -> None:
    differing = []
    judged = 0
    for row in rows(path):
        judged += 1
        got = answer(engine, path.name, row)
        wanted = native.get((path.name, row["id"]), b"no answer")
        if got != wanted:
            differing.append(f"{row['id']}\n  component {got.decode()}\n  native    {wanted.decode()}")
    assert judged, f"{path.name} holds no row"
    assert not differing, (
        f"{len(differing)} of {judged} rows differ; is the component of these sources? (`cargo xtask component`)\n"
        + "\n".join(differing[:3])
    )


def test_the_native_answers_are_those_of_the_corpus(native: dict[tuple[str, str], bytes]) -> None:
    labelled = [(path.name, row["id"]) for path in files() for row in rows(path)]
    assert len(set(labelled)) == len(labelled), "an id stands twice in a file"
    assert set(native) == set(labelled)
