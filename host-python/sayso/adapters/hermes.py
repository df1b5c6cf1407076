"""Hermes Agent: its hooks turned into events, and verdicts turned into its directives, in the words of 0.19 and 0.22.2.

Entry point: `register(ctx)`. Every callback takes `**kwargs`, catches everything, and never holds on to Hermes'
objects: a callback that raises blocks every tool in 0.22.2 and lets the call through in 0.19.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..gate import Gate
from ..types import Call, Mark, Message, Origin, Prompt, Verdict, Write
from . import kept, origins, presence, sessions, writes
from .assembly import Assembly
from .requests import MIDDLEWARE, Requests
from .results import Results, dumped

log = logging.getLogger("sayso.hermes")

Directive = dict[str, str]
HOOKS = (
    "on_session_start",
    "pre_gateway_dispatch",
    "pre_llm_call",
    "post_api_request",
    "pre_tool_call",
    "post_tool_call",
    "transform_tool_result",
    "transform_llm_output",
    "post_llm_call",
    "on_session_finalize",
    "on_session_reset",
)

MESSAGE_MAX = 1_200
"""Characters of a directive's message: Hermes cuts longer questions, and what matters stands first."""

CALLS_MAX = 256
"""Program calls under way whose notes are compared afterwards."""


def register(ctx: Any) -> None:
    """Called once by Hermes: registers the hooks, `hermes sayso …` and `/sayso …`."""
    plugin = Plugin(Assembly(ctx))
    for name in HOOKS:
        ctx.register_hook(name, _caught(name, getattr(plugin, name)))
    middleware = getattr(ctx, "register_middleware", None)
    if callable(middleware):
        for name in MIDDLEWARE:
            middleware(name, getattr(plugin, name))
    tool = getattr(ctx, "register_tool", None)
    if callable(tool):
        tool(kept.NAME, "sayso", kept.SCHEMA, plugin.read_result, description=kept.SCHEMA["description"])
    from .hermes_commands import add_commands

    add_commands(ctx)
    unload = getattr(ctx, "on_unload", None)
    if callable(unload):
        unload(plugin.unload)


def _caught(name: str, callback: Callable[..., Any]) -> Callable[..., Any]:
    """The callback with the last net under it. What is caught here is a bug; a write is then refused if it may be."""

    def hook(**kwargs: Any) -> Any:
        try:
            return callback(**kwargs)
        except Exception as error:
            log.error("%s failed: %s", name, type(error).__name__)
            if (
                name == "pre_tool_call"
                and _enforced(callback)
                and kwargs.get("tool_name") in ("memory", "skill_manage")
            ):
                return {
                    "action": "block",
                    "message": f"sayso could not read this write ({type(error).__name__}). Run `hermes sayso doctor`.",
                }
            return None

    hook.__name__ = f"sayso_{name}"
    return hook


def _enforced(callback: Callable[..., Any]) -> bool:
    plugin = getattr(callback, "__self__", None)
    try:
        return isinstance(plugin, Plugin) and plugin.assembly.current().modes().get("provenance") in ("ask", "enforce")
    except Exception:
        return False


@dataclass(frozen=True, slots=True)
class _Running:
    """A program under way: the notes as they stood before it, and the words of it that were judged already."""

    notes: dict[Path, str]
    judged: str


class Plugin:
    """What one registration keeps between hooks. One for each loaded plugin; profiles share it and differ by home."""

    def __init__(self, assembly: Assembly) -> None:
        self.assembly = assembly
        self.inbox = origins.Inbox()
        self.sessions = sessions.Sessions()
        self.requests = Requests()
        self.results = Results()
        self._lock = threading.Lock()
        self._running: OrderedDict[str, _Running] = OrderedDict()
        self._refusals: OrderedDict[str, int] = OrderedDict()

    # Sessions.

    def on_session_start(self, session_id: str = "", **_: Any) -> None:
        gate = self.assembly.gate()
        session = self._session(gate, session_id=session_id)
        gate.capture(session, Mark("start"))

    def on_session_finalize(self, session_id: str = "", **_: Any) -> None:
        self._close(session_id, Mark("end"))

    def on_session_reset(self, session_id: str = "", **_: Any) -> None:
        self._close(session_id, Mark("reset"))

    def _close(self, session: str | None, mark: Mark) -> None:
        if session:
            gate = self.assembly.gate()
            gate.capture(session, mark)
            gate.close(session)
            self.results.kept.forget(session)
            self.assembly.current().tidy()

    def unload(self) -> None:
        """Gives back files and memory when Hermes unloads the plugin."""
        self.assembly.close()

    # Words.

    def pre_gateway_dispatch(self, event: Any = None, **_: Any) -> None:
        self.inbox.hear(event)

    def pre_llm_call(
        self,
        session_id: str = "",
        task_id: str = "",
        user_message: Any = "",
        platform: str = "",
        parent_session_id: str = "",
        turn_id: str = "",
        **_: Any,
    ) -> Directive | None:
        gate = self.assembly.gate()
        session = self._session(gate, session_id, task_id, parent_session_id, platform)
        said = origins.utterances(
            origins.text_of(user_message),
            platform=platform or "",
            task=task_id or "",
            review=origins.in_review(),
            inbox=self.inbox,
            chat=origins.session_value("HERMES_SESSION_CHAT_ID"),
            child=self.sessions.is_child(session),
        )
        self.sessions.turn(session)
        for one in said:
            if one.origin != "human":
                gate.capture(session, Message("user", one.origin, one.text))
                continue
            verdict = gate.check(session, Prompt("user", "human", one.text, one.author))
            if verdict.action in ("ask", "refuse"):
                # Nobody can be asked before a turn. 0.19 and 0.22.2 run it all the same: its request is answered here.
                self.requests.refuse(session, turn_id or "", f"[sayso] {_short(verdict.message)}")
                # Honoured by later versions only; harmless where it is not known.
                return {"action": "block", "message": _short(verdict.message)}
        return None

    def llm_request(
        self, request: Any = None, session_id: str = "", task_id: str = "", platform: str = "", **_: Any
    ) -> dict[str, Any] | None:
        """Takes credentials out of a request, whatever of the history they came with."""
        try:
            gate = self.assembly.gate()
            session = self._session(gate, session_id, task_id, platform=platform)
            clean = self.requests.redacted(gate, session, request)
        except Exception as error:
            log.error("llm_request failed: %s", type(error).__name__)
            return None
        return None if clean is None else {"request": clean}

    def llm_execution(
        self,
        request: Any = None,
        next_call: Any = None,
        session_id: str = "",
        task_id: str = "",
        turn_id: str = "",
        api_mode: str = "",
        **_: Any,
    ) -> Any:
        """Answers the request of a refused turn in the model's place."""
        session = self.sessions.name(session_id or "", task_id or "", "")[0]
        return self.requests.answered(session, turn_id or "", request, next_call, api_mode or "")

    def post_api_request(
        self, session_id: str = "", task_id: str = "", assistant_message: Any = None, platform: str = "", **_: Any
    ) -> None:
        self._assistant(session_id, task_id, platform, origins.text_of(getattr(assistant_message, "content", "")))

    def post_llm_call(
        self, session_id: str = "", task_id: str = "", assistant_response: Any = "", platform: str = "", **_: Any
    ) -> None:
        self._assistant(session_id, task_id, platform, origins.text_of(assistant_response))

    def _assistant(self, session_id: str, task_id: str, platform: str, text: str) -> None:
        """Keeps what the agent said: the whole turn's text comes a second time with `post_llm_call`."""
        if not text.strip():
            return
        gate = self.assembly.gate()
        session = self._session(gate, session_id, task_id, platform=platform)
        origin: Origin = "review" if origins.in_review() else "model"
        if self.sessions.is_new_answer(session, text):
            gate.capture(session, Message("assistant", origin, text))

    def transform_llm_output(self, response_text: Any = "", session_id: str = "", **_: Any) -> str | None:
        """Tells the person, at most once a session, what is not guarded or not recorded."""
        if not isinstance(response_text, str) or not session_id or origins.in_review():
            return None
        if self.sessions.is_child(session_id):
            return None
        current = self.assembly.current()
        lines = [line for line in (self.assembly.gate().notice(session_id), *current.problems()) if line]
        if current.notify():
            lines += self.sessions.found(session_id)
        if not lines:
            return None
        told = f"{response_text}\n\n" + "\n".join(f"[sayso] {line}" for line in lines)
        # `post_llm_call` gets this text next; what sayso says is not what the agent said.
        self.sessions.is_new_answer(session_id, told)
        return told

    # Tools.

    def pre_tool_call(
        self,
        tool_name: str = "",
        args: Any = None,
        session_id: str = "",
        task_id: str = "",
        tool_call_id: str = "",
        **_: Any,
    ) -> Directive | None:
        gate = self.assembly.gate()
        session = self._session(gate, session_id, task_id)
        arguments = args if isinstance(args, Mapping) else {}
        key = _call_key(task_id, tool_call_id, tool_name, arguments)
        self.results.begin(key)
        verdicts: list[Verdict] = []
        if tool_name in writes.WRITERS:
            folders = self.assembly.folders()
            found = writes.writes_of(tool_name, arguments, folders)
            if tool_name in writes.PROGRAMS:
                judged = "".join(f"\n{write.after}" for write in found)
                notes = writes.snapshot(folders, writes.named_notes(tool_name, arguments, folders))
                self._remember(key, _Running(notes, judged))
            verdicts = [self._judge(gate, session, write) for write in found]
        if all(verdict.action != "refuse" for verdict in verdicts):
            # A refused write says more about itself than the call around it.
            verdict = gate.check(session, Call(tool_call_id or "", tool_name, dumped(args)))
            self.sessions.find(session, tool_name, verdict)
            verdicts.append(verdict)
        return self._directive(session, tool_name, arguments, verdicts)

    def post_tool_call(
        self,
        tool_name: str = "",
        args: Any = None,
        result: Any = "",
        session_id: str = "",
        task_id: str = "",
        tool_call_id: str = "",
        status: str = "ok",
        **_: Any,
    ) -> None:
        gate = self.assembly.gate()
        session = self._session(gate, session_id, task_id)
        arguments = args if isinstance(args, Mapping) else {}
        if tool_name in writes.PROGRAMS:
            self._compare(gate, session, tool_name, _call_key(task_id, tool_call_id, tool_name, arguments))
        # What a refused call answers is sayso's own text.
        if status in ("blocked", "cancelled"):
            return
        self.results.judge(
            gate,
            session,
            _call_key(task_id, tool_call_id, tool_name, arguments),
            tool_name,
            args,
            result,
            tool_call_id,
            status,
        )
        # What these two answer is the note itself.
        if tool_name in ("memory", "skill_manage") or not isinstance(result, str):
            return
        text = _said(result)
        if text.strip():
            gate.capture(session, Message("tool", "tool", text))

    def transform_tool_result(
        self,
        tool_name: str = "",
        args: Any = None,
        result: Any = "",
        session_id: str = "",
        task_id: str = "",
        tool_call_id: str = "",
        status: str = "ok",
        **_: Any,
    ) -> str | None:
        """The text that the agent reads instead of a result. 0.19 asks after `post_tool_call`, 0.22.2 often before."""
        if status in ("blocked", "cancelled"):
            return None
        gate = self.assembly.gate()
        session = self._session(gate, session_id, task_id)
        key = _call_key(task_id, tool_call_id, tool_name, args if isinstance(args, Mapping) else {})
        return self.results.judge(gate, session, key, tool_name, args, result, tool_call_id, status)

    def read_result(self, arguments: Any = None, **_: Any) -> str:
        """The tool by which the agent reads what was left out of a result."""
        return self.results.kept.read(arguments)

    def _judge(self, gate: Gate, session: str, write: Write) -> Verdict:
        verdict = gate.check(session, write)
        self.sessions.find(session, write.reference, verdict)
        return verdict

    def _directive(self, session: str, tool: str, args: Mapping[str, Any], verdicts: list[Verdict]) -> Directive | None:
        """The strictest verdict as a directive, with what every verdict of that call has to say."""
        actions = {verdict.action for verdict in verdicts}
        if not actions & {"ask", "refuse", "rewrite"}:
            return None
        message = "\n".join(dict.fromkeys(verdict.message for verdict in verdicts if verdict.message))
        message = _short(message) or f"sayso refused this call of {tool}."
        key = hashlib.sha256(json.dumps([tool, args, message], sort_keys=True, default=str).encode()).hexdigest()
        current = self.assembly.current()
        child = self.sessions.is_child(session)
        answers = presence.somebody_answers(self.sessions.platform(session), origins.in_review(), child)
        if "refuse" in actions or "rewrite" in actions:
            if not (answers and self._refused_often(f"{session}:{key}", current.ask_after())):
                return {"action": "block", "message": message}
        elif not answers:
            if current.lets_unattended_through():
                return None
            return {"action": "block", "message": message}
        # A key of its own for each content, so that one "always" never covers another write.
        return {"action": "approve", "message": message, "rule_key": f"sayso:{key[:32]}"}

    def _refused_often(self, key: str, limit: int) -> bool:
        """Counts a refusal of that write; whether it was refused `limit` times before."""
        if limit <= 0:
            return False
        with self._lock:
            count = self._refusals[key] = self._refusals.get(key, 0) + 1
            while len(self._refusals) > CALLS_MAX:
                self._refusals.popitem(last=False)
        return count > limit

    def _remember(self, key: str, running: _Running) -> None:
        with self._lock:
            self._running[key] = running
            while len(self._running) > CALLS_MAX:
                self._running.popitem(last=False)

    def _compare(self, gate: Gate, session: str, tool: str, key: str) -> None:
        """Judges what a program has really written. It stands in the file by now, so the person is told."""
        with self._lock:
            running = self._running.pop(key, None)
        if running is None:
            return
        for write in writes.changed(running.notes, self.assembly.folders()):
            # Lines that stood in the command were judged before it ran.
            verdict = self._judge(gate, session, write._replace(before=write.before + running.judged))
            if verdict.action in ("ask", "refuse"):
                gate.tell(
                    session, f"{tool} wrote a claim to {write.reference} that nothing supports: {verdict.message}"
                )

    def _session(
        self, gate: Gate, session_id: str = "", task_id: str = "", parent: str = "", platform: str = ""
    ) -> str:
        """The session of a hook; links it to the one that it continues when it is seen for the first time."""
        session, is_new = self.sessions.name(session_id or "", task_id or "", platform or "")
        if is_new:
            known = sessions.Stored.read(self.assembly.folders().home, session)
            self.sessions.describe(session, known.source)
            gate.follow(session, parent or known.parent)
        return session


def _call_key(task: str, call: str, tool: str, args: Mapping[str, Any]) -> str:
    """A name that `pre_tool_call` and `post_tool_call` of one call share; nested calls have no id."""
    if call:
        return f"{task}:{call}"
    return f"{task}:{hashlib.sha256(json.dumps([tool, args], sort_keys=True, default=str).encode()).hexdigest()}"


def _said(result: str) -> str:
    """The words of a tool's result. Most tools wrap them in JSON, whose escapes would keep a quote from matching."""
    try:
        value = json.loads(result)
    except ValueError:
        return result
    if not isinstance(value, dict | list):
        return result
    found: list[str] = []
    waiting: list[Any] = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, dict):
            waiting.extend(reversed(list(one.values())))
        elif isinstance(one, list):
            waiting.extend(reversed(one))
    return "\n".join(found)


def _short(message: str) -> str:
    return message if len(message) <= MESSAGE_MAX else message[: MESSAGE_MAX - 1] + "…"
