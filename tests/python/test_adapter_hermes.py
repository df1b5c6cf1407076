"""The hooks of Hermes as callbacks: what goes into the gate, and which directive comes back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from sayso.adapters import presence
from sayso.adapters.assembly import Assembly, Current
from sayso.adapters.hermes import HOOKS, Plugin, register
from sayso.adapters.sessions import Stored as StoredSession
from sayso.adapters.writes import Folders
from sayso.gate import Gate, Judge
from sayso.types import Action, Event, Finding, Message, Prompt, Stored, Verdict, Write


class Parts:
    """An assembly whose engine refuses, asks or allows every write that says "decided", and keeps what it was given."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.action: Action = "refuse"
        self.events: list[Event] = []
        self.settings = SimpleNamespace(notify="off", ask_after=0, unattended="refuse", modes={"provenance": "enforce"})
        self.links: list[tuple[str, str]] = []
        self.made = Gate(self.open, self.modes, self)

    def open(self, _: str) -> Judge:
        return self

    def check(self, event: Event) -> Verdict:
        self.events.append(event)
        found = ()
        if isinstance(event.what, Write):
            new = set(event.what.after.split("\n")) - set(event.what.before.split("\n"))
            if any("decided" in line for line in new):
                finding = Finding("provenance", "provenance.no-quote", "error", 0, 0, "", "why", (), "", "{}")
                message = f"quote the user: {event.what.reference}"
                return Verdict(self.action, message, "", (finding,), 0, Stored("write", "{}", ""))
        return Verdict("allow", "", "", found, 0, Stored("", "", ""))

    def capture(self, event: Event) -> Stored:
        self.events.append(event)
        return Stored("", "", "")

    def append(self, *_: Any) -> int:
        return 1

    def link(self, session: str, parent: str) -> None:
        self.links.append((session, parent))

    def size(self) -> int:
        return 0

    def changes_since(self, seq: int, session: str) -> Iterable[tuple[int, str]]:
        return ()

    def load(self, lines: Iterable[str]) -> None:
        raise AssertionError("no other process wrote anything")

    # What the adapter asks of an assembly.

    def gate(self) -> Gate:
        return self.made

    def folders(self) -> Folders:
        return Folders(self.home, self.home)

    def current(self) -> Parts:
        return self

    def modes(self) -> Mapping[str, str]:
        return cast(Mapping[str, str], self.settings.modes)

    def problems(self) -> list[str]:
        return []

    def notify(self) -> bool:
        return bool(self.settings.notify == "line")

    def ask_after(self) -> int:
        return int(self.settings.ask_after)

    def lets_unattended_through(self) -> bool:
        return bool(self.settings.unattended == "allow")

    def tidy(self) -> None:
        return

    def close(self) -> None:
        return

    def said(self) -> list[tuple[str, str, str, str]]:
        return [
            (event.session, event.what.role, event.what.origin, event.what.text)
            for event in self.events
            if isinstance(event.what, Message | Prompt)
        ]


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    (tmp_path / "memories").mkdir()
    return Parts(tmp_path)


@pytest.fixture
def plugin(parts: Parts) -> Plugin:
    return Plugin(cast(Assembly, parts))


@pytest.fixture
def somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "somebody_answers", lambda *_: True)


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "somebody_answers", lambda *_: False)


def lie(**more: Any) -> dict[str, Any]:
    arguments = {"action": "add", "target": "memory", "content": "User decided it."}
    return {"tool_name": "memory", "args": arguments, "session_id": "s", "task_id": "t", **more}


def test_a_refusal_is_a_block_with_the_engines_words(plugin: Plugin) -> None:
    assert plugin.pre_tool_call(**lie()) == {"action": "block", "message": "quote the user: memories/MEMORY.md"}
    assert plugin.pre_tool_call(tool_name="memory", args={"action": "add", "content": "The sky is blue."}) is None
    assert plugin.pre_tool_call(tool_name="read_file", args={"path": "x"}) is None
    assert plugin.pre_tool_call(tool_name="memory", args="no object") is None


@pytest.mark.usefixtures("somebody")
def test_ask_is_an_approval_with_a_key_of_its_own(plugin: Plugin, parts: Parts) -> None:
    parts.action = "ask"
    first, again = plugin.pre_tool_call(**lie()), plugin.pre_tool_call(**lie())
    other = plugin.pre_tool_call(**lie(args={"action": "add", "content": "User decided something else."}))
    assert first is not None
    assert other is not None
    assert first == again
    assert first["action"] == "approve"
    assert first["rule_key"] != other["rule_key"]


@pytest.mark.usefixtures("nobody")
def test_ask_is_a_block_where_nobody_answers(plugin: Plugin, parts: Parts) -> None:
    parts.action = "ask"
    directive = plugin.pre_tool_call(**lie())
    assert directive is not None
    assert directive["action"] == "block"
    parts.settings.unattended = "allow"
    assert plugin.pre_tool_call(**lie()) is None


@pytest.mark.usefixtures("somebody")
def test_after_enough_refusals_of_the_same_write_a_person_is_asked(plugin: Plugin, parts: Parts) -> None:
    parts.settings.ask_after = 2
    actions = [(plugin.pre_tool_call(**lie()) or {}).get("action") for _ in range(3)]
    assert actions == ["block", "block", "approve"]


def test_the_strictest_of_several_writes_decides(plugin: Plugin, parts: Parts) -> None:
    good = {"action": "create", "name": "a", "content": "fine"}
    bad = {"action": "create", "name": "b", "content": "User decided it."}
    directive = plugin.pre_tool_call(tool_name="skill_manage", args={"operations": [good, bad]}, session_id="s")
    assert directive == {"action": "block", "message": "quote the user: skills/b/SKILL.md"}
    assert len(parts.events) == 2


def test_a_nested_call_belongs_to_the_session_of_its_task(plugin: Plugin, parts: Parts) -> None:
    plugin.pre_llm_call(session_id="s", task_id="t", user_message="hello", platform="cli")
    plugin.pre_tool_call(**lie(session_id="", tool_call_id=""))
    plugin.pre_tool_call(**lie(session_id="", task_id="unknown"))
    assert [event.session for event in parts.events] == ["s", "s", "task:unknown"]


def test_the_words_of_a_turn(plugin: Plugin, parts: Parts) -> None:
    plugin.pre_llm_call(session_id="s", task_id="t", user_message="[System note: x]\n\nkeep it", platform="cli")
    answer = SimpleNamespace(content="Kept.")
    plugin.post_api_request(session_id="s", task_id="t", assistant_message=answer)
    plugin.post_tool_call(tool_name="read_file", args={}, result='{"content": "a\\nb", "n": 1}', session_id="s")
    plugin.post_tool_call(tool_name="read_file", args={}, result="blocked", session_id="s", status="blocked")
    plugin.post_llm_call(session_id="s", task_id="t", assistant_response="Kept.")
    plugin.pre_llm_call(session_id="s", task_id="t", user_message=[{"type": "text", "text": "and now?"}])
    plugin.post_llm_call(session_id="s", task_id="t", assistant_response="Kept.")
    assert parts.said() == [
        ("s", "user", "injected", "[System note: x]"),
        ("s", "user", "human", "keep it"),
        ("s", "assistant", "model", "Kept."),
        ("s", "tool", "tool", "a\nb"),
        ("s", "user", "human", "and now?"),
        ("s", "assistant", "model", "Kept."),
    ]


def test_a_subagents_goal_is_not_the_users_word(plugin: Plugin, parts: Parts) -> None:
    plugin.pre_llm_call(session_id="c", task_id="sa-1", user_message="do it", parent_session_id="s")
    assert parts.said() == [("c", "user", "subagent", "do it")]
    assert parts.links == [("c", "s")]


def test_a_program_is_compared_with_what_it_left(plugin: Plugin, parts: Parts) -> None:
    call: dict[str, Any] = {
        "tool_name": "terminal",
        "args": {"command": "make notes"},
        "session_id": "s",
        "tool_call_id": "c",
    }
    assert plugin.pre_tool_call(**call) is None
    (parts.home / "memories" / "MEMORY.md").write_text("User decided it.")
    plugin.post_tool_call(**call, result="done")
    assert "nothing supports" in parts.made.notice("s")
    # What stood in the command was judged with the command.
    parts.action = "allow"
    call["args"] = {"command": "echo 'User decided more.' >> memories/MEMORY.md"}
    plugin.pre_tool_call(**call)
    (parts.home / "memories" / "MEMORY.md").write_text("User decided it.\nUser decided more.")
    parts.action = "refuse"
    plugin.post_tool_call(**call, result="done")
    last = next(one.what for one in reversed(parts.events) if isinstance(one.what, Write))
    assert "User decided more." in last.before


def test_the_person_is_told_at_the_end_of_a_turn(plugin: Plugin, parts: Parts) -> None:
    parts.made.tell("s", "not checking")
    parts.settings.notify = "line"
    plugin.pre_tool_call(**lie())
    told = plugin.transform_llm_output(response_text="Done.", session_id="s")
    assert told == ("Done.\n\n[sayso] not checking\n[sayso] refuse memories/MEMORY.md: provenance.no-quote")
    assert plugin.transform_llm_output(response_text="Done.", session_id="s") is None
    plugin.pre_llm_call(session_id="c", task_id="sa-1", user_message="do it")
    parts.made.tell("c", "line")
    assert plugin.transform_llm_output(response_text="Done.", session_id="c") is None


def test_every_hook_is_registered_and_none_ever_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    hooks: dict[str, Any] = {}
    commands: list[str] = []
    ctx = SimpleNamespace(
        register_hook=hooks.__setitem__,
        register_cli_command=lambda name, *_, **__: commands.append(name),
        register_command=lambda name, *_, **__: commands.append(f"/{name}"),
    )
    register(ctx)
    assert tuple(hooks) == HOOKS
    assert commands == ["sayso", "/sayso"]

    def broken(self: object) -> Current:
        raise ValueError("secret")

    monkeypatch.setattr("sayso.adapters.assembly.Assembly.current", broken)
    for name, hook in hooks.items():
        answer = hook(**lie(), response_text="x", user_message="x", event=None, reason="x", later_field=1)
        assert answer is None, name


def test_a_bug_refuses_a_write_in_enforce_mode_only(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    hooks: dict[str, Any] = {}
    ctx = SimpleNamespace(
        register_hook=hooks.__setitem__, register_cli_command=lambda *_, **__: 0, register_command=lambda *_, **__: 0
    )
    monkeypatch.setattr("sayso.adapters.hermes.Assembly", lambda _: parts)
    register(ctx)

    def bug(*_: Any) -> list[Write]:
        raise KeyError("secret")

    monkeypatch.setattr("sayso.adapters.writes.writes_of", bug)
    answer = hooks["pre_tool_call"](**lie())
    assert answer["action"] == "block"
    assert "secret" not in answer["message"]
    parts.settings.modes = {"provenance": "observe"}
    assert hooks["pre_tool_call"](**lie()) is None


def test_the_state_database_is_only_looked_at(tmp_path: Path) -> None:
    assert StoredSession.read(tmp_path, "s") == StoredSession()
    (tmp_path / "state.db").write_text("no database")
    assert StoredSession.read(tmp_path, "s") == StoredSession()
    assert (tmp_path / "state.db").read_text() == "no database"


@pytest.mark.parametrize(
    ("variables", "platform", "answers"),
    [
        ({"HERMES_INTERACTIVE": "1"}, "cli", True),
        ({}, "cli", False),
        ({"HERMES_INTERACTIVE": "1", "HERMES_YOLO_MODE": "1"}, "cli", False),
        ({"HERMES_INTERACTIVE": "1", "HERMES_CRON_SESSION": "1"}, "cli", False),
        ({"HERMES_INTERACTIVE": "1"}, "cron", False),
        ({"HERMES_GATEWAY_SESSION": "1"}, "telegram", True),
        ({"HERMES_GATEWAY_SESSION": "1"}, "webhook", False),
    ],
)
def test_who_can_be_asked(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], platform: str, answers: bool
) -> None:
    for name in ("INTERACTIVE", "YOLO_MODE", "CRON_SESSION", "GATEWAY_SESSION", "EXEC_ASK"):
        monkeypatch.delenv(f"HERMES_{name}", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.argv", ["hermes"])
    assert presence.somebody_answers(platform, review=False, child=False) is answers
    assert not presence.somebody_answers(platform, review=True, child=False)
    assert not presence.somebody_answers(platform, review=False, child=True)
    monkeypatch.setattr("sys.argv", ["hermes", "chat", "-q", "x"])
    assert not presence.somebody_answers(platform, review=False, child=False)


def test_the_messages_of_directives_are_short_enough_to_be_read(plugin: Plugin, parts: Parts) -> None:
    operations = [{"action": "create", "name": f"n{i}" * 9, "content": "User decided it."} for i in range(60)]
    directive = plugin.pre_tool_call(tool_name="skill_manage", args={"operations": operations}, session_id="s")
    assert directive is not None
    assert len(directive["message"]) <= 1200
    assert json.dumps(directive)
