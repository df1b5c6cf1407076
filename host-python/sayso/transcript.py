"""Transcripts: a session as a file, `{"role","text","origin"?}` as a JSON array or as JSON Lines, oldest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast, get_args

from .documents import Fields, json_items, read_text
from .types import Event, Message, Origin, Role

ROLES: tuple[str, ...] = get_args(Role)
ORIGINS: tuple[str, ...] = get_args(Origin)
ORIGIN_OF: dict[str, Origin] = {"user": "human", "assistant": "model", "tool": "tool", "system": "harness"}
"""Who wrote a row that does not say: the one who usually speaks in that role."""


@dataclass(frozen=True, slots=True)
class Said:
    """One row of a session. `id` is what evidence calls it; `number` counts from 1."""

    id: str
    number: int
    role: Role
    origin: Origin
    text: str

    @property
    def label(self) -> str:
        """What a person reads: who spoke, and in which row."""
        return f"{self.role}, row {self.number}"

    def event(self, session: str) -> Event:
        """The message as an event; a file tells no time, so rows are a millisecond apart."""
        return Event(self.id, session, self.number, Message(self.role, self.origin, self.text))


def said(number: int, role: Role, text: str, origin: Origin | None = None) -> Said:
    """A row, from the one who usually speaks in that role unless `origin` says otherwise."""
    return Said(f"row-{number}", number, role, origin or ORIGIN_OF[role], text)


def read_session(name: str) -> list[Said]:
    """Reads a session file, or standard input for `-`. Raises `InputError`."""
    rows: list[Said] = []
    for place, value in json_items(name, read_text(name)):
        fields = Fields(value, place)
        role = cast("Role", fields.choice("role", ROLES))
        origin = cast("Origin", fields.choice("origin", ORIGINS)) if fields.has("origin") else None
        rows.append(said(len(rows) + 1, role, fields.text("text"), origin))
    return rows
