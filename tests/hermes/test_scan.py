"""`sayso scan` on what a real Hermes left behind: its own `state.db`, its own notes."""

from __future__ import annotations

import io
import json

import pytest
from harness import VERSION, Home
from model import call, text
from sayso.cli import main

SAID = "Please keep the staging database, we still need it for the demo. And I prefer short answers."
HONEST = 'User decided to keep the staging database ("keep the staging database").'
TRACED = "User prefers short answers."
LIE = "User decided to move to Kubernetes."


def test_the_notes_of_a_session_are_held_against_it(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = ((HONEST, "memory"), (LIE, "memory"), (TRACED, "user"))
    writes = [call("memory", action="add", target=target, content=note) for note, target in notes]
    home.model.says(*writes, text("User decided to move to Kubernetes. Noted."))
    run = home.drive(SAID)
    before = sorted(path.name for path in home.path.iterdir())
    monkeypatch.setenv("HERMES_HOME", str(home.path))
    out = io.StringIO()
    assert main(("scan", "--json"), out, io.StringIO()) == 1
    told = json.loads(out.getvalue())
    assert told["history"]["schema"] == (22 if VERSION.startswith("0.19") else 31)
    assert (told["history"]["human"], told["history"]["sessions"]) == (1, 1)
    outcomes = {one["claim"]: one["outcome"] for one in told["claims"] if one["note"].startswith("memories/")}
    assert outcomes == {
        "User decided to keep the staging database": "quoted",
        "User decided to move to Kubernetes": "no trace",
        "User prefers short answers": "traceable",
    }
    [proof] = next(one for one in told["claims"] if one["outcome"] == "quoted")["evidence"]
    assert (proof["session"], proof["text"]) == (run.session, "keep the staging database")
    assert sorted(path.name for path in home.path.iterdir()) == before
