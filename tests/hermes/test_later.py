"""What was said and passed before still counts later: in another session, after a restart, after a compaction."""

from __future__ import annotations

import sqlite3
import time

from harness import Home
from model import call, text

SAID = "Please keep the staging database, we still need it for the demo."
HONEST = 'User decided to keep the staging database ("keep the staging database").'


def test_a_rewrite_in_a_later_session_keeps_a_claim_that_passed(home: Home) -> None:
    home.settings = {"modes": {"provenance": "enforce"}}
    home.model.says(call("memory", action="add", target="memory", content=HONEST), text("Noted."))
    first = home.drive(SAID)
    later = f"{HONEST} Its name is st-1."
    home.model.says(
        call("memory", action="remove", target="memory", old_text="staging"),
        call("memory", action="add", target="memory", content=later),
        text("Tidied."),
    )
    second = home.drive("Tidy up your notes.")
    assert first.session != second.session
    assert home.note() == later
    (_, removed, added) = home.entries("write")
    assert removed["row"].get("findings", []) == []
    assert [finding["level"] for finding in added["row"]["findings"]] == ["info"]


def test_an_honest_yes_counts_after_a_restart_and_a_compaction(home: Home) -> None:
    home.settings = {"modes": {"provenance": "enforce"}}
    home.model.says(text("Shall I drop the staging database?"))
    run = home.drive("We are short of disk space.")
    home.model.says(
        call("memory", action="add", target="memory", content='User decided to drop the staging database ("yes").'),
        text("Dropped."),
    )
    again = home.drive("yes", session=run.session)
    assert again.session == run.session
    assert "decided to drop" in home.note()
    assert home.rules() == [["provenance.assented"]]
    compact(home, run.session, "20300101_000000_abcdef")
    words = 'User decided to free some disk space ("We are short of disk space").'
    home.model.says(call("memory", action="add", target="user", content=words), text("Noted."))
    home.drive("Go on.", session="20300101_000000_abcdef")
    assert home.note("USER.md") == words
    assert home.rules()[1:] == [["provenance.supported"]]


def compact(home: Home, parent: str, child: str) -> None:
    """Puts a session into Hermes' database that continues another one, as its compaction does."""
    file = sqlite3.connect(home.path / "state.db")
    with file:
        file.execute(
            "INSERT INTO sessions (id, source, parent_session_id, started_at) VALUES (?, 'cli', ?, ?)",
            (child, parent, time.time()),
        )
    file.close()
