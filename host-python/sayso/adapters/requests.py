"""Requests to the model on their way out: credentials are taken out of each, and a refused message ends its turn here.

Hermes' `llm_request` middleware may change a request, its `llm_execution` middleware may answer in the model's
place. Both see the main loop, review forks and subagents; titles, summaries and other auxiliary calls pass neither.
"""

from __future__ import annotations

import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from ..gate import Gate
from ..types import Request

log = logging.getLogger("sayso.hermes")

MIDDLEWARE = ("llm_request", "llm_execution")

SPOKEN = ("messages", "input", "system", "instructions", "prompt", "contents", "tools")
"""The parts of a request that hold words, in the protocols that Hermes speaks."""

TURNS_MAX = 256
"""Refused turns that are remembered until their request comes."""


class Requests:
    """The turns that were refused, and the requests that go out. Safe for several threads."""

    def __init__(self) -> None:
        self._refused: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._lock = threading.Lock()

    def refuse(self, session: str, turn: str, message: str) -> None:
        """Remembers that the message of that turn must not reach the model, and what the person is told."""
        with self._lock:
            self._refused[session, turn] = message
            while len(self._refused) > TURNS_MAX:
                self._refused.popitem(last=False)

    def redacted(self, gate: Gate, session: str, request: Any) -> dict[str, Any] | None:
        """The request without credentials, its history included; `None` when it stays as it is."""
        if not isinstance(request, dict):
            return None
        spoken = {name: request[name] for name in SPOKEN if name in request}
        try:
            text = json.dumps(spoken, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError) as error:
            gate.tell(session, f"sayso can't read the requests of this provider ({type(error).__name__}).")
            return None
        verdict = gate.check(session, Request(text))
        if verdict.action != "rewrite":
            return None
        return {**request, **json.loads(verdict.text)}

    def answered(self, session: str, turn: str, request: Any, next_call: Callable[[Any], Any], mode: str) -> Any:
        """What the model answers; for a refused turn what the person is told, and no request goes out."""
        with self._lock:
            message = self._refused.get((session, turn))
        # The shape of an answer depends on the protocol. Elsewhere the request goes out, without its credentials.
        if message is None or mode not in ("", "chat_completions"):
            return next_call(request)
        model = request.get("model", "") if isinstance(request, dict) else ""
        return _answer(message, str(model))


def _answer(text: str, model: str) -> SimpleNamespace:
    """A complete answer of the chat completions protocol that nobody had to ask a model for."""
    message = SimpleNamespace(role="assistant", content=text, tool_calls=None, refusal=None, reasoning_content=None)
    choice = SimpleNamespace(index=0, message=message, finish_reason="stop")
    usage = SimpleNamespace(prompt_tokens=0, completion_tokens=0, total_tokens=0)
    return SimpleNamespace(id="sayso", object="chat.completion", model=model, choices=[choice], usage=usage)
