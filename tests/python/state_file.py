"""Writes a `state.db` as Hermes keeps it: the tables of schema 22 (Hermes 0.19) and 31 (0.22), column by column."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

SESSIONS_22 = """\
id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, session_key TEXT, chat_id TEXT, chat_type TEXT, thread_id TEXT,
display_name TEXT, origin_json TEXT, expiry_finalized INTEGER DEFAULT 0, model TEXT, model_config TEXT,
system_prompt TEXT, parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0,
output_tokens INTEGER DEFAULT 0, cache_read_tokens INTEGER DEFAULT 0, cache_write_tokens INTEGER DEFAULT 0,
reasoning_tokens INTEGER DEFAULT 0, cwd TEXT, git_branch TEXT, git_repo_root TEXT, billing_provider TEXT,
billing_base_url TEXT, billing_mode TEXT, estimated_cost_usd REAL, actual_cost_usd REAL, cost_status TEXT,
cost_source TEXT, pricing_version TEXT, title TEXT, api_call_count INTEGER DEFAULT 0, handoff_state TEXT,
handoff_platform TEXT, handoff_error TEXT, compression_failure_cooldown_until REAL, compression_failure_error TEXT,
compression_fallback_streak INTEGER NOT NULL DEFAULT 0, profile_name TEXT, rewind_count INTEGER NOT NULL DEFAULT 0,
archived INTEGER NOT NULL DEFAULT 0"""
SESSIONS_31 = (
    SESSIONS_22
    + """,
created_source TEXT, system_prompt_hash TEXT, git_metadata_generation INTEGER, title_source TEXT, last_activity_at REAL,
transport_profile TEXT, auto_archived INTEGER NOT NULL DEFAULT 0, pinned INTEGER NOT NULL DEFAULT 0,
hidden INTEGER NOT NULL DEFAULT 0, last_read_at REAL, tool_names TEXT"""
)
MESSAGES_22 = """\
id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL,
content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, effect_disposition TEXT, timestamp REAL NOT NULL,
token_count INTEGER, finish_reason TEXT, reasoning TEXT, reasoning_content TEXT, reasoning_details TEXT,
codex_reasoning_items TEXT, codex_message_items TEXT, platform_message_id TEXT, observed INTEGER DEFAULT 0,
active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0, api_content TEXT"""
MESSAGES_31 = (
    MESSAGES_22
    + """,
_compressed_summary INTEGER NOT NULL DEFAULT 0, display_kind TEXT, display_metadata TEXT, display_identity BLOB,
display_order INTEGER, message_uid TEXT, absorbed_message_uids TEXT, tool_call_uids TEXT, tool_call_uid TEXT"""
)
TABLES = {22: (SESSIONS_22, MESSAGES_22), 31: (SESSIONS_31, MESSAGES_31)}
FIRST = 1_790_000_000.0
"""When the first message is said, in seconds since 1970; each later one a minute after the one before."""


class StateFile:
    """One home of Hermes with a `state.db` in it. Every method writes at once and lets the file go."""

    def __init__(self, home: Path, schema: int = 31, journal: str = "wal") -> None:
        self.home = home
        self.path = home / "state.db"
        self.schema = schema
        self.said = 0
        home.mkdir(parents=True, exist_ok=True)
        sessions, messages = TABLES[schema]
        with self.writing() as file:
            file.execute(f"PRAGMA journal_mode = {journal}")
            file.execute("CREATE TABLE schema_version (version INTEGER NOT NULL)")
            file.execute("INSERT INTO schema_version VALUES (?)", (schema,))
            file.execute(f"CREATE TABLE sessions ({sessions})")
            file.execute(f"CREATE TABLE messages ({messages})")

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection whose changes are committed at the end."""
        with contextlib.closing(sqlite3.connect(self.path)) as file, file:
            yield file

    def session(self, name: str = "s1", source: str = "cli", **columns: object) -> str:
        """Adds a session and gives its name."""
        self._insert("sessions", {"id": name, "source": source, "started_at": FIRST, **columns})
        return name

    def say(self, text: object, session: str = "s1", role: str = "user", **columns: object) -> None:
        """Adds a message; a list is stored as Hermes stores parts."""
        content = "\x00json:" + json.dumps(text) if isinstance(text, list) else text
        self.said += 1
        at = FIRST + 60 * self.said
        self._insert(
            "messages",
            {
                "session_id": session,
                "role": role,
                "content": content,
                "timestamp": at,
                **columns,
            },
        )

    def note(self, name: str, text: str) -> Path:
        """Writes a note, by its path in the home."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def _insert(self, table: str, columns: dict[str, object]) -> None:
        marks = ", ".join("?" * len(columns))
        with self.writing() as file:
            query = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608
            file.execute(query, list(columns.values()))
