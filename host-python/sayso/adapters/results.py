"""Results of tools on their way to the agent: each is judged once, whichever hook comes first."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from typing import Any, Final, cast, get_args

from ..gate import Gate
from ..types import Outcome, Status
from .kept import Kept

CALLS_MAX = 256
"""Calls whose judged result is remembered until their other hook came."""

_UNTOUCHED: Final = object()


class Results:
    """What became of the results of calls under way. Safe for several threads."""

    def __init__(self) -> None:
        self.kept = Kept()
        self._answers: OrderedDict[str, object] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, key: str) -> None:
        """A call of that name begins: what an earlier one gave back is not its result."""
        with self._lock:
            self._answers.pop(key, None)

    def judge(
        self, gate: Gate, session: str, key: str, tool: str, args: Any, result: Any, call_id: str, status: str
    ) -> str | None:
        """The text to use in place of a result, or `None`. The first hook of a call asks the engine for both."""
        with self._lock:
            answer = self._answers.pop(key, None)
        if answer is None:
            answer = self._ask(gate, session, tool, args, result, call_id, status)
            with self._lock:
                self._answers[key] = answer
                while len(self._answers) > CALLS_MAX:
                    self._answers.popitem(last=False)
        return answer if isinstance(answer, str) else None

    def _ask(self, gate: Gate, session: str, tool: str, args: Any, result: Any, call_id: str, status: str) -> object:
        known = cast(Status, status if status in get_args(Status) else "ok")
        text = result if isinstance(result, str) else dumped(result)
        verdict = gate.check(session, Outcome(call_id or "", tool, dumped(args), known, text))
        if not isinstance(result, str):
            return _UNTOUCHED
        if verdict.action == "rewrite":
            if verdict.store.body:
                self.kept.keep(str(json.loads(verdict.store.row)["id"]), session, verdict.store.body)
            return verdict.text
        return verdict.message if verdict.action in ("ask", "refuse") else _UNTOUCHED


def dumped(value: Any) -> str:
    """Arguments as JSON text; what the model sent when it was no JSON, as it stands."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError):
        return str(type(value).__name__)
