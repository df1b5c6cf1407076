"""The history of a scan: who said what in a `state.db` of either schema, and that reading it leaves no trace."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
import sayso.scan_history
from sayso.documents import InputError
from sayso.scan_history import History, Row
from state_file import FIRST, StateFile

both = pytest.mark.parametrize("schema", [22, 31])


def rows(home: Path, newest: int = 0, principals: tuple[str, ...] = ()) -> list[Row]:
    history = History(home, newest, principals)
    try:
        return list(history.rows())
    finally:
        history.close()


def human(home: Path) -> list[str]:
    return [row.text for row in rows(home) if row.is_human]


def names(home: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in home.iterdir()}


@both
def test_only_what_people_typed_is_human(tmp_path: Path, schema: int) -> None:
    state = StateFile(tmp_path, schema)
    for name, source in (
        ("s1", "cli"),
        ("chat", "telegram"),
        ("job", "cron"),
        ("child", "subagent"),
    ):
        state.session(name, source)
    state.say("use Redis")
    state.say(
        [
            {"type": "text", "text": "keep this"},
            {"type": "image_url", "image_url": {"url": "data:,"}},
        ]
    )
    state.say("[Dana] ship it", "chat")
    state.say("drop the table", "job")
    state.say("find all bugs", "child")
    state.say("Review the conversation above and update the notes: the user wants tabs")
    state.say("[IMPORTANT: Background process 3 has ended]")
    state.say("[CONTEXT COMPACTION — REFERENCE ONLY] The user wants tabs")
    state.say("use spaces\n\n[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]\nThe user wants tabs")
    state.say("overheard", "chat", observed=1)
    state.say("taken back", active=0)
    state.say("archived", active=0, compacted=1)
    state.say("said by the agent", role="assistant")
    state.say(None, role="assistant", tool_calls="[]")
    state.say("User decided so", role="tool", tool_name="memory")
    state.say("a page", role="tool", tool_name="browser")
    assert human(tmp_path) == [
        "use Redis",
        "keep this",
        "ship it",
        "use spaces",
        "archived",
    ]
    others = {row.text: (row.role, row.origin) for row in rows(tmp_path) if not row.is_human}
    assert "taken back" not in others
    assert "User decided so" not in others
    assert others["drop the table"] == ("user", "cron")
    assert others["find all bugs"] == ("user", "subagent")
    assert others["overheard"] == ("user", "injected")
    assert others["said by the agent"] == ("assistant", "model")
    assert others["a page"] == ("tool", "tool")


def test_the_marks_of_the_newer_schema_count(tmp_path: Path) -> None:
    state = StateFile(tmp_path, 31)
    state.session()
    state.say("the user wants tabs", display_kind="hidden")
    state.say("The user wants tabs.", _compressed_summary=1)
    state.say(
        "[OUT-OF-BAND USER MESSAGE — once]\nuse spaces\n[/OUT-OF-BAND USER MESSAGE]",
        display_kind="steer",
    )
    state.say("typed", display_kind="")
    assert human(tmp_path) == ["use spaces", "typed"]


@both
def test_a_copy_made_by_a_compaction_is_not_said_again(tmp_path: Path, schema: int) -> None:
    state = StateFile(tmp_path, schema)
    state.session("s1")
    state.session("s2", parent_session_id="s1")
    state.session("other")
    state.say("use Redis")
    state.say("no, scrap Redis")
    state.say("use Redis", "other")
    later = FIRST + 1_000
    state.say("use Redis", "s2", timestamp=later)
    state.say("[CONTEXT COMPACTION — REFERENCE ONLY] …", "s2", timestamp=later + 0.00001)
    state.say("no, scrap Redis", "s2", timestamp=FIRST + 120)
    state.say("use Redis", "s2", timestamp=later + 600)
    said = [(row.session, row.text) for row in rows(tmp_path) if row.is_human]
    assert said == [
        ("s1", "use Redis"),
        ("s1", "no, scrap Redis"),
        ("other", "use Redis"),
        ("s2", "use Redis"),
    ]


@both
@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_reading_leaves_no_trace(tmp_path: Path, schema: int, journal: str) -> None:
    state = StateFile(tmp_path, schema, journal)
    state.session()
    state.say("use Redis")
    before = names(tmp_path)
    assert human(tmp_path) == ["use Redis"]
    assert names(tmp_path) == before
    assert list(before) == ["state.db"]


def test_what_a_running_hermes_has_not_moved_yet_is_read(tmp_path: Path) -> None:
    state = StateFile(tmp_path)
    state.session()
    running = sqlite3.connect(state.path)
    try:
        running.execute("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s1', 'user', 'hi', 1)")
        running.commit()
        assert (tmp_path / "state.db-wal").exists()
        assert human(tmp_path) == ["hi"]
    finally:
        running.close()


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_a_hermes_that_starts_meanwhile_neither_waits_nor_disturbs(
    tmp_path: Path, journal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sayso.scan_history, "PAGE_ROWS", 2)
    state = StateFile(tmp_path, journal=journal)
    state.session()
    for number in range(9):
        state.say(f"message {number}")
    history = History(tmp_path)
    said = []
    for number, row in enumerate(history.rows()):
        said.append(row.text)
        # Every write opens and closes the file, so that its journal comes and goes.
        if number < 3:
            state.say(f"later {number}")
    history.close()
    assert said == [
        *(f"message {number}" for number in range(9)),
        *(f"later {number}" for number in range(3)),
    ]


def test_rows_come_in_the_order_in_which_they_were_said(tmp_path: Path) -> None:
    state = StateFile(tmp_path)
    state.session("a")
    state.session("b")
    for session in ("a", "b", "a"):
        state.say(f"in {session}", session)
    steps: list[int] = []
    history = History(tmp_path)
    said = [(row.entry, row.session, row.at) for row in history.rows(lambda: steps.append(1))]
    assert said == [(str(n), s, int(FIRST + 60 * n) * 1000) for n, s in ((1, "a"), (2, "b"), (3, "a"))]
    assert len(steps) == len(history) == 3
    assert history.schema == 31


def test_the_newest_sessions_alone_can_be_read(tmp_path: Path) -> None:
    state = StateFile(tmp_path)
    for session in ("a", "b", "c"):
        state.session(session)
    for session in ("a", "b", "c", "a"):
        state.say(f"in {session}", session)
    assert [row.session for row in rows(tmp_path, 2)] == ["a", "c", "a"]
    history = History(tmp_path, 2)
    assert (len(history), history.sessions, history.sessions_in_all) == (3, 2, 3)


def test_authors_are_known_where_one_person_writes(tmp_path: Path) -> None:
    state = StateFile(tmp_path)
    state.session("local")
    state.session("direct", "telegram", user_id="42", chat_type="dm")
    state.session("group", "telegram", user_id="42", chat_type="group")
    for session in ("local", "direct", "group"):
        state.say("use Redis", session)
    assert [row.author for row in rows(tmp_path, principals=("7", "42"))] == [
        "7",
        "42",
        "",
    ]
    assert [row.author for row in rows(tmp_path)] == ["", "", ""]


def test_a_table_with_fewer_columns_is_read_too(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "state.db") as file:
        file.execute("CREATE TABLE sessions (id TEXT)")
        file.execute("CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT)")
        file.execute("INSERT INTO messages VALUES (1, 's', 'user', 'use Redis'), (2, 's', 'user', x'ff61')")
    file.close()
    assert [(row.text, row.at, row.when) for row in rows(tmp_path)] == [
        ("use Redis", 0, ""),
        ("\ufffda", 0, ""),
    ]
    assert History(tmp_path).schema == 0


def test_what_is_no_history_of_hermes_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        History(tmp_path)
    path = tmp_path / "state.db"
    path.write_text("no database at all, but long enough to be taken for one" * 20)
    with pytest.raises(InputError, match="can't be read"):
        History(tmp_path)
    path.unlink()
    sqlite3.connect(path).execute("CREATE TABLE messages (id INTEGER)").connection.close()
    with pytest.raises(InputError, match="is no state"):
        History(tmp_path)
