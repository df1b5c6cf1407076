"""The ledger that people read, and the two commands that change what it counts."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from sayso.cli import main
from sayso.gate import Gate
from sayso.keys import Key
from sayso.ledger import Ledger
from sayso.opening import opener
from sayso.settings import Settings
from sayso.types import Call, Message, Outcome, Write

POLL = '{"job": 7}'
NOTE = Write("memory", "MEMORY.md", "", 'User wants tabs ("please use tabs").')


def call(*argv: str) -> tuple[int, str]:
    out = io.StringIO()
    return main(argv, out), out.getvalue()


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    monkeypatch.delenv("PROVENANCE_GATE_MODE", raising=False)
    return Settings(home=tmp_path)


class Agent:
    """A running agent: one gate on the ledger of that home."""

    def __init__(self, settings: Settings) -> None:
        key = Key.load_or_make(settings.folder / "key")
        self.ledger = Ledger.open(settings.folder / "ledger.db", key)
        open_session = opener(settings)
        document = json.dumps({"modes": {"provenance": "enforce"}})
        entries = self.ledger.entries
        self.gate = Gate(lambda session: open_session(document, key.hex(), lambda: entries(session)), dict, self.ledger)

    def poll(self, session: str = "s") -> str:
        action = self.gate.check(session, Call("", "poll", POLL)).action
        if action == "allow":
            self.gate.check(session, Outcome("", "poll", POLL, "ok", "queued"))
        return action


def test_audit_tells_attempts_sizes_and_interventions(settings: Settings) -> None:
    agent = Agent(settings)
    assert [agent.poll() for _ in range(3)] == ["allow", "allow", "refuse"]
    agent.poll("other")
    code, out = call("audit", "--json", "--session", "s")
    entries = json.loads(out)["entries"]
    assert code == 0
    assert [one["event"] for one in entries] == ["call", "result", "call", "result", "call"]
    assert [one["action"] for one in entries] == ["allow"] * 4 + ["refuse"]
    assert entries[1]["size"] == len("queued")
    assert entries[1]["outcome"] == "ok"
    assert entries[1]["ms"] >= 0
    assert "queued" not in out
    stopped = json.loads(call("audit", "--json", "--guard", "loops", "--tool", "poll")[1])["entries"]
    assert [one["rules"] for one in stopped] == [["loops.identical"]]
    assert json.loads(call("audit", "--json", "--tool", "other")[1])["entries"] == []
    assert json.loads(call("audit", "--json", "--until", "2001-01-01")[1])["entries"] == []
    assert "loops.identical" in call("audit")[1]
    assert call("audit", "--follow")[0] == 2


def test_reset_is_noticed_by_a_running_agent(settings: Settings) -> None:
    agent = Agent(settings)
    for whole in ((), ("--session", "s")):
        assert [agent.poll() for _ in range(3)] == ["allow", "allow", "refuse"]
        assert call("reset", *whole)[0] == 0
    assert agent.poll() == "allow"
    assert call("reset", "--session", "other")[0] == 0
    assert [agent.poll(), agent.poll()] == ["allow", "refuse"]


def test_calls_of_another_process_count(settings: Settings) -> None:
    here, there = Agent(settings), Agent(settings)
    assert [here.poll(), there.poll(), here.poll(), there.poll()] == ["allow", "allow", "refuse", "refuse"]


def test_clear_removes_texts_and_the_chain_goes_on(settings: Settings) -> None:
    agent = Agent(settings)
    agent.gate.capture("s", Message("user", "human", "please use tabs"))
    assert agent.gate.check("s", NOTE).action == "allow"
    assert call("clear")[0] == 2
    code, out = call("clear", "--yes")
    assert code == 0
    assert "texts were removed" in out
    assert agent.gate.check("s", NOTE).action == "refuse"
    assert agent.gate.check("new", NOTE).action == "refuse"
    found = agent.ledger.verify()
    assert found.ok, found.fault
    assert not any(one.body for one in agent.ledger.found(until=0) if one.kind == "message")
    assert "mark" in call("audit")[1]


def test_many_calls_do_not_crowd_out_what_was_said(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sayso.ledger.LOADED", 200)
    agent = Agent(settings)
    agent.gate.capture("s", Message("user", "human", "please use tabs"))
    for number in range(300):
        agent.gate.check("s", Call("", "look", json.dumps({"n": str(number)})))
    agent.gate.close("s")
    assert agent.gate.check("s", NOTE).action == "allow"


def test_status_tells_where_things_are(settings: Settings) -> None:
    Agent(settings).poll()
    out = " ".join(call("status")[1].split())
    assert "storage file" in out
    assert "imports none" in out
    assert "bytes" in out
    assert "noted head" in out
    assert "loops enforce" in out


def test_nothing_is_made_where_nothing_was(settings: Settings) -> None:
    assert "Nothing recorded yet" in call("reset")[1]
    assert "Nothing recorded yet" in call("clear", "--yes")[1]
    assert "Nothing recorded yet" in call("audit")[1]
    assert not settings.folder.exists()
