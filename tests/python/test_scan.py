"""`sayso scan`: words, exit codes, the JSON document and the page."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import sayso.opening
from sayso.cli import main
from sayso.engine import Engine, EngineSession
from sayso.opening import Judge, nothing
from state_file import StateFile

Scan = Callable[..., tuple[int, str, str]]

TRUE = 'User decided to use Redis for the queue ("use Redis for the queue").'
REVERSED = 'User decided to drop the staging database ("drop the staging database").'
TRACED = "User prefers short answers."
MADE_UP = "The user approved <script>alert(1)</script> & hot fixes on Fridays."
HOSTILE = "Never drop the staging database <img src=x onerror=alert(1)> \u202e please."


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: Engine) -> StateFile:
    """A home with a history, and the engine that all tests share."""

    def open_session(document: str, key: str = "", entries: Any = nothing) -> Judge:
        return EngineSession(engine, document, key or "k" * 32, entries)

    monkeypatch.setattr(sayso.opening, "opener", lambda settings: open_session)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PROVENANCE_GATE_MODE", raising=False)
    state = StateFile(tmp_path / "home")
    state.session()
    state.say("Please use Redis for the queue.")
    state.say("I prefer short answers without emojis.")
    state.say(HOSTILE)
    return state


def call(*argv: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = main(("scan", *argv), out, err)
    return code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize("schema", [22, 31])
def test_a_clean_home(state: StateFile, tmp_path: Path, schema: int) -> None:
    other = StateFile(tmp_path / "other", schema)
    other.session()
    other.say("Please use Redis for the queue.")
    other.note("memories/MEMORY.md", TRUE)
    code, out, err = call("--home", str(other.home))
    assert (code, err) == (0, "")
    assert "memories/MEMORY.md:1  quoted   supported  decision  User decided to use Redis for the queue\n" in out
    assert "Read: 1 messages of the user in 1 of 1 sessions" in out
    assert "1 claims in 1 notes: 1 quoted, 0 traceable, 0 contradicted, 0 no trace." in out
    assert "Coverage: 100.0 % of the claims are supported by what the user said." in out


def test_a_claim_that_would_pass_with_a_quote_is_supported(state: StateFile) -> None:
    state.note("memories/USER.md", TRACED)
    code, out, _ = call()
    assert code == 0
    assert "memories/USER.md:1  traceable  no-quote  preference  User prefers short answers\n" in out


def test_what_is_not_supported_is_shown_with_its_evidence(state: StateFile) -> None:
    state.note("memories/MEMORY.md", f"{TRUE}\n§\n{REVERSED}")
    state.note("skills/ops/deploy/SKILL.md", f"# Deploy\n\n{MADE_UP}\n")
    code, out, _ = call()
    assert code == 1
    assert "memories/MEMORY.md:3: contradicted\nFAIL      provenance.negation-dropped\n" in out
    assert "user, 2026-09-21 " in out
    assert "skills/ops/deploy/SKILL.md:3: no trace\nFAIL      provenance.no-quote\n" in out
    assert "3 claims in 2 notes: 1 quoted, 0 traceable, 1 contradicted, 1 no trace." in out
    assert "Coverage: 33.3 %" in out
    assert "\u202e" not in out


def test_a_home_without_claims_is_clean(state: StateFile) -> None:
    code, out, _ = call()
    assert code == 0
    assert "No claims about the user in 0 notes." in out


def test_json(state: StateFile) -> None:
    state.note("memories/MEMORY.md", f"é\n§\n{REVERSED}")
    code, out, err = call("--json")
    told = json.loads(out)
    assert (code, err) == (1, "")
    assert told["home"] == str(state.home)
    assert told["history"]["schema"] == 31
    assert told["history"]["human"] == 3
    assert told["counts"] == {"quoted": 0, "traceable": 0, "contradicted": 1, "no trace": 0}
    assert (told["coverage"], told["clean"]) == (0.0, False)
    [claim] = told["claims"]
    assert (claim["note"], claim["line"], claim["start"]) == ("memories/MEMORY.md", 3, 6)
    assert claim["claim"] == "User decided to drop the staging database"
    assert (claim["outcome"], claim["rule"], claim["kind"]) == (
        "contradicted",
        "provenance.negation-dropped",
        "decision",
    )
    [proof] = claim["evidence"]
    assert (proof["message"], proof["session"], proof["origin"]) == ("3", "s1", "human")
    assert proof["text"] == "drop the staging database"


@pytest.mark.parametrize("wrong", [("--home", "no such folder"), ("--session-limit", "-1"), ("--html",), ("more",)])
def test_wrong_usage(state: StateFile, wrong: tuple[str, ...]) -> None:
    code, out, err = call(*wrong)
    assert (code, out) == (2, "")
    assert "sayso" in err


def test_a_home_without_a_history_is_wrong_usage(state: StateFile, tmp_path: Path) -> None:
    code, out, err = call("--home", str(tmp_path))
    assert (code, out) == (2, "")
    assert "state.db: there is no such file; --home names the folder" in err
    assert len(err.splitlines()) == 1


def test_the_newest_sessions_alone(state: StateFile) -> None:
    state.note("memories/MEMORY.md", TRUE)
    state.session("s2")
    state.say("hello", "s2")
    code, out, _ = call("--session-limit", "1")
    assert code == 1
    assert "Read: 1 messages of the user in 1 of 2 sessions" in out


def test_nothing_is_written_but_the_page(state: StateFile, tmp_path: Path) -> None:
    state.note("memories/MEMORY.md", TRUE)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    page = tmp_path / "page.html"
    assert call("--html", str(page))[0] == 0
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and path != page}
    assert after == before
    assert page.stat().st_mode & 0o777 == 0o600


def test_a_page_that_can_not_be_written_is_wrong_usage(state: StateFile, tmp_path: Path) -> None:
    code, _, err = call("--html", str(tmp_path))
    assert code == 2
    assert "can't be written: Is a directory" in err


def test_the_page_replaces_an_older_one_and_nothing_else(state: StateFile, tmp_path: Path) -> None:
    state.note("memories/MEMORY.md", TRUE)
    page = tmp_path / "page.html"
    page.write_text("<!doctype html>\n<p>mine</p>\n")
    code, out, err = call("--html", str(page))
    assert (code, out) == (2, "")
    assert "page.html: is there already and is no page of a scan" in err
    assert page.read_text() == "<!doctype html>\n<p>mine</p>\n"
    page.write_text("")
    assert call("--html", str(page))[0] == 0
    state.note("memories/MEMORY.md", "User decided to move to Kubernetes.")
    assert call("--html", str(page))[0] == 1
    assert "Kubernetes" in page.read_text("utf-8")


class Elements(HTMLParser):
    """The elements of a page, whether they are closed, and its text."""

    EMPTY = frozenset(("meta", "br"))

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.attributes: set[str] = set()
        self.marked: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes.update(name for name, _ in attrs)
        if tag == "mark":
            self.marked.append("")
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "mark":
            self.marked[-1] += data
        if "style" not in self.open:
            self.text += data


def test_the_page_stands_alone_and_runs_nothing(state: StateFile, tmp_path: Path) -> None:
    state.note("memories/MEMORY.md", f"{TRUE}\n§\n{REVERSED}\n§\n{MADE_UP}")
    state.note("skills/<b>&/SKILL.md", TRACED)
    assert call("--html", str(tmp_path / "page.html"))[0] == 1
    content = (tmp_path / "page.html").read_text("utf-8")
    page = Elements()
    page.feed(content)
    page.close()
    assert page.open == []
    assert not page.seen & {"script", "img", "link", "a", "iframe", "b", "svg", "form"}
    assert not any(name.startswith("on") or name in ("src", "href") for name in page.attributes)
    assert "default-src 'none'" in content
    assert "prefers-color-scheme: dark" in content
    assert "url(" not in content
    assert "://" not in content
    assert "\u202e" not in content
    assert "skills/<b>&/SKILL.md" in page.text
    assert "<img src=x onerror=alert(1)>" in page.text
    assert "50.0 %" in page.text
    assert page.marked == [
        "User decided to use Redis for the queue",
        "use Redis for the queue",
        "User decided to drop the staging database",
        "drop the staging database",
        "The user approved <script>alert(1)</script> & hot fixes on Fridays",
        "User prefers short answers",
        "I prefer short answers without emojis.",
    ]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_is_shown_on_a_terminal_only(state: StateFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out, err = io.StringIO(), Terminal()
    assert main(("scan",), out, err) == 0
    assert "messages" in err.getvalue()
    assert "3/3" in err.getvalue()
    assert "\x1b" not in out.getvalue()


def test_memory_does_not_grow_with_the_history(state: StateFile, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more rows are alive at once than a page, a batch and what the verdicts rest on."""
    import gc

    import sayso.scan_claims
    import sayso.scan_history
    from sayso.scan_history import Row

    monkeypatch.setattr(sayso.scan_claims, "BATCH_ROWS", 50)
    monkeypatch.setattr(sayso.scan_history, "PAGE_ROWS", 50)
    state.note("memories/MEMORY.md", TRUE)
    with state.writing() as file:
        file.executemany(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s1', 'user', ?, 1)",
            [(f"message number {number}",) for number in range(2_000)],
        )
    most = 0
    weigh = sayso.scan_claims.Audit._weigh

    def counting(audit: sayso.scan_claims.Audit, batch: list[Row]) -> None:
        nonlocal most
        most = max(most, sum(isinstance(one, Row) for one in gc.get_objects()))
        weigh(audit, batch)

    monkeypatch.setattr(sayso.scan_claims.Audit, "_weigh", counting)
    assert call()[0] == 0
    assert 50 <= most <= 200


def test_the_home_in_use_is_the_default(state: StateFile, tmp_path: Path) -> None:
    state.note("memories/MEMORY.md", MADE_UP)
    assert call()[0] == 1
    os.environ["HERMES_HOME"] = str(tmp_path / "none")
    assert call()[0] == 2
