"""The repetition guard through the component: calls, `sayso eval repetition` and `sayso scan-files`."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from fuelled import fuelled
from sayso.cli import main
from sayso.documents import InputError
from sayso.engine import Engine, EngineSession
from sayso.evaluate_repetition import repetition_rows
from sayso.types import Call, Event

LOOP = "Let me check the file again. " * 60
PROSE = "The tide gauge was read twice before noon, and both figures went into the log by hand.\n"


def judged(component: bytes, text: str, settings: str = "") -> Any:
    session = EngineSession(Engine(component), settings, "key", lambda: ())
    arguments = json.dumps({"path": "a.md", "content": text})
    return session.check(Event("c1", "s", 0, Call("1", "write_file", arguments)))


def test_a_looping_argument_is_asked_about(component: bytes) -> None:
    verdict = judged(component, LOOP)
    assert verdict.action == "ask"
    finding = next(one for one in verdict.findings if one.guard == "repetition")
    assert (finding.rule, finding.path, finding.start, finding.end) == ("repetition.exact", "$.content", 0, len(LOOP))
    assert json.loads(finding.facts)["copies"] == 60
    assert judged(component, LOOP, '{"profile": "strict"}').action == "refuse"


def test_an_ordinary_argument_passes(component: bytes) -> None:
    assert not [one for one in judged(component, PROSE).findings if one.guard == "repetition"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["fibonacci", "equal", "near"])
def test_twice_the_text_takes_little_more_than_twice_the_work(component: bytes, kind: str) -> None:
    spent = []
    with fuelled(component) as engine:
        modes = {"modes": {"loops": "off", "credentials": "off", "tamper": "off"}}
        session = EngineSession(engine, json.dumps(modes), "key", lambda: ())
        for size in (1 << 20, 1 << 21):
            arguments = json.dumps({"content": hard(kind, size)})
            session.check(Event(f"c{size}", "s", 0, Call("1", "write_file", arguments)))
            spent.append(engine.spent)
    assert spent[1] <= 2.3 * spent[0], spent


def hard(kind: str, size: int) -> str:
    if kind == "equal":
        return "a" * size
    if kind == "fibonacci":
        before, word = "a", "ab"
        while len(word) < size:
            before, word = word, word + before
        return word[:size]
    unit = "".join(chr(97 + i * i * 7919 % 23) for i in range(5000))
    copies = (f"{unit[: i % 4000]}{chr(65 + i % 26)}{unit[i % 4000 :]}" for i in range(size // 5000 + 1))
    return "".join(copies)[:size]


def rows(tmp_path: Path, *given: dict[str, Any]) -> str:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in given), "utf-8")
    return str(path)


def test_eval_counts_loops(tmp_path: Path) -> None:
    generate = [{"text": "I will try it again. ", "repeat": 90, "vary": "none"}]
    loop = {"id": "r1", "surface": "stream.text", "generate": generate, "label": "loop", "kind": "sentence", "why": "-"}
    data = {"id": "r2", "surface": "write_file.content", "text": PROSE, "label": "data", "kind": "prose", "why": "-"}
    out = io.StringIO()
    assert main(["eval", "repetition", rows(tmp_path, loop, data), "--json"], out, io.StringIO()) == 0
    document = json.loads(out.getvalue())
    assert (document["kind"], document["tp"], document["tn"], document["wrong"]) == ("repetition", 1, 1, [])
    assert set(document["by"]) == {"kind", "surface"}


def test_generated_texts_are_written_out(tmp_path: Path) -> None:
    def text(vary: str, unit: str) -> str:
        row = {"id": "r", "label": "loop", "generate": [{"text": unit, "repeat": 3, "vary": vary}]}
        return repetition_rows([rows(tmp_path, row)])[0].text

    assert text("counter", "{i};") == "1;2;3;"
    assert text("case", "a ") == "a A a "
    assert text("space", "a") == "a a  a"
    assert text("drift", "a b\n") == "b b\na a\nb b\n"


@pytest.mark.parametrize("wrong", [{"repeat": 0}, {"repeat": "9"}, {"repeat": 10**9}, {"vary": "upside-down"}])
def test_wrong_rows_are_named(tmp_path: Path, wrong: dict[str, Any]) -> None:
    row = {"id": "r", "label": "loop", "generate": [{"text": "a", "repeat": 3, "vary": "none", **wrong}]}
    with pytest.raises(InputError, match=r"rows\.jsonl"):
        repetition_rows([rows(tmp_path, row)])


def test_scan_files_names_what_it_finds(tmp_path: Path) -> None:
    (tmp_path / "fine.md").write_text(PROSE, "utf-8")
    (tmp_path / "picture.bin").write_bytes(b"\0" * 4000)
    (tmp_path / "link.md").symlink_to(tmp_path / "fine.md")
    out = io.StringIO()
    assert main(["scan-files", str(tmp_path), "--json"], out, io.StringIO()) == 0
    (tmp_path / "stuck.md").write_text("# Notes\n" + LOOP, "utf-8")
    out = io.StringIO()
    assert main(["scan-files", str(tmp_path), "--json"], out, io.StringIO()) == 1
    found, summary = (json.loads(line) for line in out.getvalue().splitlines())
    assert found["file"].endswith("stuck.md")
    assert found["findings"][0]["rule"] == "repetition.exact"
    counts = summary["summary"]
    assert (counts["files"], counts["flagged"], counts["skipped"]["binary"]) == (2, 1, 1)


def test_scan_files_needs_a_folder(tmp_path: Path) -> None:
    err = io.StringIO()
    assert main(["scan-files", str(tmp_path / "none")], io.StringIO(), err) == 2
    assert "no such file" in err.getvalue()
