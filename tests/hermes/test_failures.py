"""What is broken is said, and the guards follow their modes: nothing is claimed to be checked that was not."""

from __future__ import annotations

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
    """The component of the copied plugin with its middle overwritten."""
    path = home.plugin / "sayso" / "engine.wasm"
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 4096] = b"\xff" * 4096
    path.write_bytes(content)


def hide_wasmtime(home: Home) -> None:
    """What 0.19 leaves behind when a plugin's dependencies are not installed."""
    shadow = home.path.parent / "shadow"
    shadow.mkdir()
    (shadow / "wasmtime.py").write_text("raise ImportError('not installed')\n")
    home.environment["PYTHONPATH"] = str(shadow)


@pytest.mark.parametrize("breaks", [corrupt_component, hide_wasmtime])
@pytest.mark.parametrize(("mode", "written"), [("observe", True), ("enforce", False)])
def test_without_an_engine_the_mode_decides(home: Home, breaks, mode: str, written: bool) -> None:
    breaks(home)
    home.settings = {"modes": {"provenance": mode}}
    home.model.says(call("memory", action="add", target="memory", content=HONEST), text("Noted."))
    run = home.drive(SAID, "And now?")
    assert (home.note() == HONEST) is written
    assert home.rules() == [["engine.failed"]]
    assert "[sayso] sayso is not checking this session" in run.answers[0]
    assert ("pip install" in run.answers[0]) is (breaks is hide_wasmtime)
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
    steps = [call("memory", action="add", target="user", content=HONEST), text("Noted.")]
    with serving() as other:
        model.says(*steps)
        other.says(*steps)
        commands = [home.driver(SAID), home.driver(SAID, port=other.port)]
        running = [subprocess.Popen(one, env=home.env(), cwd=home.path, stdout=subprocess.DEVNULL) for one in commands]
        assert [one.wait(SECONDS_MAX) for one in running] == [0, 0]
    assert len({entry["session"] for entry in home.entries("write")}) == 2
    assert home.rules() == [["provenance.supported"]] * 2
    assert verified(home.data)


def verified(folder: Path) -> bool:
    with Ledger.open(folder / "ledger.db", Key.load_or_make(folder / "key"), strict=True) as ledger:
        return not ledger.verify().faults
