"""Two processes on one session: what the user said to one of them supports a claim in the other."""

from __future__ import annotations

from pathlib import Path

from sayso.engine import Engine, EngineSession
from sayso.gate import Gate
from sayso.keys import Key
from sayso.ledger import Ledger
from sayso.settings import load
from sayso.types import Message, Write

NOTE = Write("memory", "MEMORY.md", "", 'User chose Redis for the queue ("use Redis for the queue").')


def gate(engine: Engine, home: Path) -> Gate:
    key = Key.load_or_make(home / "key")
    ledger = Ledger.open(home / "ledger.db", key)
    settings, _ = load({"modes": {"provenance": "enforce"}}, {})
    return Gate(
        lambda session: EngineSession(engine, settings.to_engine_json(), key.hex(), lambda: ledger.entries(session)),
        lambda: {"provenance": "enforce"},
        ledger,
    )


def test_words_said_to_the_other_process_count(engine: Engine, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    here, there = gate(engine, tmp_path), gate(engine, tmp_path)
    assert here.check("s", NOTE).action == "refuse"
    there.capture("s", Message("user", "human", "Please use Redis for the queue."))
    assert [finding.rule for finding in here.check("s", NOTE).findings] == ["provenance.supported"]


def test_an_assent_is_read_with_what_the_other_process_heard(engine: Engine, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    here, there = gate(engine, tmp_path), gate(engine, tmp_path)
    note = Write("memory", "MEMORY.md", "", 'User approved deleting the old backups ("yes").')
    assert here.check("s", note).action == "refuse"
    there.capture("s", Message("assistant", "model", "Shall I delete the old backups?"))
    there.capture("s", Message("user", "human", "yes"))
    assert [finding.rule for finding in here.check("s", note).findings] == ["provenance.assented"]
