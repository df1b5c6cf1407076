"""Results that were shortened, whole, for as long as the process lasts: what the tool `sayso_result` gives back.

Only in memory, a few at most, and after credentials were taken out: nothing of a result is written to disk for it.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from typing import Any

CHARACTERS_MAX = 32 * 1024 * 1024
"""Characters of all texts together. The oldest is dropped first."""

LENGTH = 12_000
"""Characters that one call of the tool gives when it does not say how many, and the most that it gives."""

NAME = "sayso_result"
SCHEMA: dict[str, Any] = {
    "name": NAME,
    "description": (
        "Reads a part of a tool result that sayso shortened. The line in the result that says what was left out names "
        "the id, the path (for JSON) and the offset."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "As the line names it."},
            "offset": {"type": "integer", "description": "Characters to pass over. Negative: from the end."},
            "length": {"type": "integer", "minimum": 1, "maximum": LENGTH, "description": f"Default {LENGTH}."},
            "path": {"type": "string", "description": "Where the text stands in a JSON result, as in /output."},
        },
        "required": ["id"],
    },
}


class Kept:
    """The whole texts by id. Safe for several threads."""

    def __init__(self) -> None:
        self._texts: OrderedDict[str, tuple[str, str]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def keep(self, name: str, session: str, text: str) -> None:
        """Keeps the text of a result of that session."""
        with self._lock:
            self._drop(name)
            self._texts[name] = (session, text)
            self._size += len(text)
            while self._size > CHARACTERS_MAX:
                self._drop(next(iter(self._texts)))

    def forget(self, session: str) -> None:
        """Drops what a session kept."""
        with self._lock:
            for name in [name for name, (of, _) in self._texts.items() if of == session]:
                self._drop(name)

    def read(self, arguments: object) -> str:
        """What the tool answers: a JSON document with the part, or with what is wrong."""
        asked = arguments if isinstance(arguments, dict) else {}
        with self._lock:
            held = self._texts.get(str(asked.get("id", "")))
        if held is None:
            return json.dumps(
                {"error": "No result of that id is kept any more. Run the tool again, and ask it for less."}
            )
        text = _at(held[1], str(asked.get("path") or ""))
        if text is None:
            return json.dumps({"error": "There is no text at that path of the result."})
        offset = _number(asked.get("offset"), 0)
        start = min(offset, len(text)) if offset >= 0 else max(len(text) + offset, 0)
        end = min(start + max(1, min(_number(asked.get("length"), LENGTH), LENGTH)), len(text))
        part = {"text": text[start:end], "offset": start, "end": end, "of": len(text)}
        return json.dumps(part, ensure_ascii=False)

    def _drop(self, name: str) -> None:
        _, text = self._texts.pop(name, ("", ""))
        self._size -= len(text)


def _number(value: object, default: int) -> int:
    try:
        return int(str(value)) if value is not None else default
    except ValueError:
        return default


def _at(text: str, path: str) -> str | None:
    """The text at a path of a JSON document; the document itself without a path."""
    if not path:
        return text
    try:
        value: Any = json.loads(text)
        for name in path.strip("/").split("/"):
            value = value[int(name)] if isinstance(value, list) else value[name]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
