"""The command line with a stand-in for the engine: words, exit codes, what goes to which stream."""

from __future__ import annotations

import argparse
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import sayso.opening
from pretend import pretend
from sayso import __version__
from sayso.checking import RULES_TOLD_MAX, _unknown
from sayso.cli import add_arguments, main, run
from sayso.screen import Screen
from sayso.types import EngineError

COMMANDS = (
    "demo",
    "status",
    "check",
    "report",
    "audit",
    "reset",
    "clear",
    "scan",
    "verify",
    "eval",
    "doctor",
    "explain",
    "help",
)
SESSION = [
    {"role": "user", "text": "Don't drop the staging database.\nuse Redis for the queue"},
    {"role": "assistant", "text": "I'd drop it."},
    {"role": "user", "text": "wants tabs", "origin": "injected"},
]

Sayso = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty Hermes home, and the stand-in instead of the engine."""
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PROVENANCE_GATE_MODE", raising=False)
    monkeypatch.setattr(sayso.opening, "opener", lambda settings: pretend)
    return tmp_path


def call(*argv: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = main(argv, out, err)
    return code, out.getvalue(), err.getvalue()


@pytest.fixture
def session(home: Path) -> str:
    path = home / "session.json"
    path.write_text(json.dumps(SESSION, indent=2), "utf-8")
    return str(path)


@pytest.fixture
def note(home: Path) -> Callable[[str], str]:
    def write(text: str) -> str:
        path = home / "note.md"
        path.write_text(text, "utf-8")
        return str(path)

    return write


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str) -> None:
    code, out, err = call(command, "--help")
    assert (code, err) == (0, "")
    assert f"sayso {command}" in out
    assert "example:" in out
    assert call("help", command) == (code, out, err)


def test_help_names_every_command_and_the_exit_codes() -> None:
    code, out, _ = call("--help")
    assert code == 0
    assert all(f"    {command} " in out for command in COMMANDS)
    assert "exit codes: 0 clean, 1 findings, 2 wrong usage or input, 3 sayso itself failed" in out
    assert call("help")[1] == out


def test_version() -> None:
    assert call("--version") == (0, f"sayso {__version__}\n", "")


@pytest.mark.parametrize(
    "argv",
    [
        (),
        ("guess",),
        ("check",),
        ("check", "--session", "x"),
        ("eval", "claims"),
        ("eval", "repetitions", "x"),
        ("eval", "claims", "x", "--show-wrong", "-1"),
        ("help", "guess"),
        ("demo", "more"),
    ],
)
def test_wrong_usage_is_told_on_the_standard_error(argv: tuple[str, ...]) -> None:
    code, out, err = call(*argv)
    assert (code, out) == (2, "")
    assert err.startswith("usage: sayso")
    assert err.rstrip().splitlines()[-1].startswith("sayso")


def test_with_one_stream_everything_goes_there() -> None:
    out = io.StringIO()
    assert main(["guess"], out) == 2
    assert "usage: sayso" in out.getvalue()


def test_the_parser_serves_other_programs_too(session: str, note: Callable[[str], str]) -> None:
    parser = argparse.ArgumentParser("hermes sayso")
    add_arguments(parser)
    out = io.StringIO()
    arguments = parser.parse_args(["check", "--session", session, "--write", note("User decided to go.")])
    assert run(arguments, Screen(out, out)) == 1
    assert "provenance.no-quote" in out.getvalue()


def test_check_shows_claim_evidence_and_what_would_pass(session: str, note: Callable[[str], str]) -> None:
    code, out, err = call("check", "--session", session, "--write", note("A line.\nUser decided to drop it."))
    assert (code, err) == (1, "")
    assert "FAIL      provenance.no-quote" in out
    assert "claim     User decided to drop it.\n          ^^^^^^^^^^^^^^^^^^^^^^^\n" in out
    assert "passes    quote the user's words" in out
    assert "the settings observe" in " ".join(out.split())
    code, out, _ = call("check", "--session", session, "--write", note('User chose Redis ("use Redis")'))
    assert code == 0
    assert "evidence  user, row 1: use Redis for the queue\n                       ^^^^^^^^^\n" in out


def test_check_knows_who_spoke(session: str, note: Callable[[str], str]) -> None:
    assert call("check", "--session", session, "--write", note('User wants tabs ("wants tabs")'))[0] == 1
    assert call("check", "--session", session, "--write", note('User decided so ("drop it")'))[0] == 1


def test_check_finds_nothing_in_a_plain_note(session: str, note: Callable[[str], str]) -> None:
    code, out, _ = call("check", "--session", session, "--write", note("The build takes four minutes."))
    assert code == 0
    assert "No claims about the user." in out


def test_check_as_json(session: str, note: Callable[[str], str]) -> None:
    code, out, _ = call(
        "check", "--session", session, "--write", note("é User decided."), "--json", "--surface", "skill"
    )
    told = json.loads(out)
    assert code == 1
    assert set(told) == {"action", "message", "text", "findings", "more"}
    [finding] = told["findings"]
    assert (finding["rule"], finding["start"], finding["end"]) == ("provenance.no-quote", 3, 15)
    assert finding["facts"]["construction"] == "en.active"


def test_check_takes_json_lines_from_the_standard_input(
    note: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "\ufeff" + "\n\n".join(json.dumps(row) for row in SESSION)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
    assert call("check", "--session", "-", "--write", note('User chose it ("use Redis")'))[0] == 0


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("{", ":1: is not JSON"),
        ('{"role": "user", "text": "a"}\n{"role": "human", "text": "b"}', ':2: "role" must be one of user'),
        ('[\n  {"role": "user", "text": "a"},\n  {"role": "user"}\n]', ':3: "text" is missing'),
        ('[\n  {"role": "user", "text": "a"}\n  {"role": "user"}\n]', ':3: is not JSON: expected "," or "]"'),
        ('[{"role": "user", "text": "a"}', ':1: is not JSON: expected "," or "]"'),
        ('[{"role": "user", "text": "a"},]', ":1: is not JSON"),
        ("[]\n[]", ":2: is not JSON: text after the closing bracket"),
        ('[{"role": "user", "text": "a", "origin": "me"}]', ':1: "origin" must be one of human'),
        ("[" * 100_000, ":1: is not JSON: nested too deeply"),
    ],
)
def test_a_wrong_session_is_named_with_its_line(home: Path, note: Callable[[str], str], text: str, wrong: str) -> None:
    path = home / "session.json"
    path.write_text(text, "utf-8")
    code, out, err = call("check", "--session", str(path), "--write", note("x"))
    assert (code, out) == (2, "")
    assert f"session.json{wrong}" in err
    assert len(err.splitlines()) == 1


def test_an_empty_session_is_a_session(home: Path, note: Callable[[str], str]) -> None:
    for text in ("[]", " [ ] ", "", "\n"):
        (home / "session.json").write_text(text, "utf-8")
        assert call("check", "--session", str(home / "session.json"), "--write", note("x"))[0] == 0


def test_standard_input_is_read_once() -> None:
    code, _, err = call("check", "--session", "-", "--write", "-")
    assert code == 2
    assert "can't both be standard input" in err


def test_explain_tells_rules_and_constructions() -> None:
    code, out, _ = call("explain", "provenance.no-quote")
    assert code == 0
    assert "means     No quote." in out
    assert "hit       User decided." in call("explain", "en.active")[1]
    code, out, err = call("explain", "guess")
    assert (code, out) == (2, "")
    assert "the rules are provenance.no-quote" in err


def test_a_wrong_rule_is_answered_with_a_few_right_ones() -> None:
    names = [f"credentials.vendor{number}-key" for number in range(400)] + ["loops.cycle", "loops.moving"]
    assert _unknown("loops.nope", names) == "there is no rule 'loops.nope'; the rules are loops.cycle, loops.moving"
    near = _unknown("credentials.vendor39-kye", names)
    assert near.startswith(
        "there is no rule 'credentials.vendor39-kye' among 402; the nearest are credentials.vendor39-key"
    )
    assert near.count(",") < RULES_TOLD_MAX
    assert _unknown("?", names) == "there is no rule '?' among 402"


def test_eval_reads_its_files_before_it_needs_the_engine(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(settings: object) -> object:
        def open_session(*_: object) -> object:
            raise EngineError("missing", "wasmtime can't be loaded")

        return open_session

    monkeypatch.setattr(sayso.opening, "opener", broken)
    path = home / "rows.jsonl"
    path.write_text("{}\n", "utf-8")
    assert call("eval", "claims", str(path)) == (2, "", f'sayso: {path}:1: "id" is missing\n')
    row = {"id": "1", "lang": "en", "surface": "memory", "text": "x", "label": "not", "kind": "plain"}
    path.write_text(json.dumps(row), "utf-8")
    assert call("eval", "claims", str(path)) == (3, "", "sayso: wasmtime can't be loaded\n")


def test_an_unforeseen_error_tells_its_place_and_not_its_text(
    session: str, note: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(settings: object) -> object:
        raise RuntimeError("holds what the user said")

    monkeypatch.setattr(sayso.opening, "opener", fails)
    code, out, err = call("check", "--session", session, "--write", note("x"))
    assert (code, out) == (3, "")
    assert "RuntimeError in cli.py, line" in err
    assert "holds what the user said" not in err


def test_interrupt_and_closed_pipe(session: str, note: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    for raised, code in ((KeyboardInterrupt, 130), (BrokenPipeError, 0)):

        def stops(settings: object, raised: type[BaseException] = raised) -> object:
            raise raised

        monkeypatch.setattr(sayso.opening, "opener", stops)
        assert call("check", "--session", session, "--write", note("x"))[0] == code


def test_looking_makes_no_file(home: Path) -> None:
    for command in ("report", "verify"):
        code, out, _ = call(command)
        assert code == 0
        assert "Nothing recorded yet" in out
    assert call("report", "--since", "yesterday")[0] == 2
    assert not (home / "home").exists()
