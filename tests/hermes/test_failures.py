"""What is broken is said, and the guards follow their modes: nothing is claimed to be checked that was not."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest
from harness import SECONDS_MAX, Home
from model import Model, call, serving, text
from sayso.keys import Key
from sayso.ledger import Ledger

LIE = "User decided to drop the staging database."
SAID = "Please keep the staging database, we still need it for the demo."
HONEST = 'User decided to keep the staging database ("keep the staging database").'


def corrupt_component(home: Home) -> None:
    """The component of the copied plugin, cut off in its middle as a copy that was interrupted is."""
    path = home.plugin / "sayso" / "engine.wasm"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


@pytest.mark.parametrize(
    ("missing", "mode"), [("component", "enforce"), ("wasmtime", "enforce"), ("wasmtime", "observe")]
)
def test_without_an_engine_the_mode_decides(home: Home, missing: str, mode: str) -> None:
    if missing == "component":
        corrupt_component(home)
    # 0.19 never installs what a plugin depends on, so there wasmtime is missing until somebody installs it.
    without = ["wasmtime"] if missing == "wasmtime" else []
    home.settings = {"modes": {"provenance": mode}}
    home.model.says(call("memory", action="add", target="memory", content=HONEST), text("Noted."))
    run = home.drive(SAID, "And now?", without=without)
    assert home.note() == ("" if mode == "enforce" else HONEST)
    assert home.rules() == [["engine.failed"]]
    assert "[sayso] sayso is not checking this session" in run.answers[0]
    assert ("pip install" in run.answers[0]) is (missing == "wasmtime")
    assert "[sayso]" not in run.answers[1], "the person is told once a session"


def test_a_locked_ledger_stops_no_guard(home: Home) -> None:
    home.settings = {"modes": {"provenance": "enforce"}}
    Ledger.open(home.data / "ledger.db", Key.load_or_make(home.data / "key")).close()
    home.model.says(
        call("memory", action="add", target="memory", content=LIE),
        call("memory", action="add", target="memory", content=HONEST),
        text("Noted."),
    )
    lock = sqlite3.connect(home.data / "ledger.db", isolation_level=None)
    try:
        lock.execute("BEGIN IMMEDIATE")
        run = home.drive(SAID)
    finally:
        lock.close()
    assert home.note() == HONEST
    assert "[sayso]" in run.answers[0]
    assert "locked" in run.answers[0]


def test_an_unwritable_ledger_stops_no_guard(home: Home) -> None:
    home.settings = {"modes": {"provenance": "enforce"}}
    shutil.rmtree(home.data.parent)
    home.data.parent.write_text("a file where the folder should be")
    home.model.says(
        call("memory", action="add", target="memory", content=LIE),
        call("memory", action="add", target="memory", content=HONEST),
        text("Noted."),
    )
    run = home.drive(SAID)
    assert home.note() == HONEST
    assert "[sayso]" in run.answers[0]


def test_two_processes_share_one_ledger(home: Home, model: Model) -> None:
    home.settings = {"modes": {"provenance": "enforce"}}
    with serving() as other:
        model.says(call("memory", action="add", target="memory", content=HONEST), text("Noted."))
        other.says(call("memory", action="add", target="user", content=HONEST), text("Noted."))
        commands = [home.driver(SAID), home.driver(SAID, port=other.port)]
        running = [subprocess.Popen(one, env=home.env(), cwd=home.path, stdout=subprocess.DEVNULL) for one in commands]
        assert [one.wait(SECONDS_MAX) for one in running] == [0, 0]
    assert len({entry["session"] for entry in home.entries("write")}) == 2
    assert home.rules() == [["provenance.supported"]] * 2
    assert verified(home.data)


def verified(folder: Path) -> bool:
    with Ledger.open(folder / "ledger.db", Key.load_or_make(folder / "key"), strict=True) as ledger:
        return ledger.verify().ok
