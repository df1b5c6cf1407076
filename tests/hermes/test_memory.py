"""Memory writes in a real Hermes: a claim that nobody made is caught, an honest one passes."""

from __future__ import annotations

import pytest
from harness import VERSION, Home
from model import call, text

LIE = "User decided to drop the staging database."
SAID = "Please keep the staging database, we still need it for the demo."
HONEST = 'User decided to keep the staging database ("keep the staging database").'


def test_a_fabricated_decision_is_recorded_and_passes_when_balanced(home: Home) -> None:
    home.model.says(call("memory", action="add", target="memory", content=LIE), text("Noted."))
    run = home.drive(SAID)
    assert run.answers == ["Noted."]
    assert LIE in home.note()
    (entry,) = home.entries("write")
    assert entry["session"] == run.session
    assert home.rules() == [["provenance.no-quote"]]


def test_a_fabricated_decision_is_refused_in_enforce_mode(home: Home) -> None:
    home.settings = {"modes": {"provenance": "enforce"}}
    home.model.says(call("memory", action="add", target="memory", content=LIE), text("I could not note it."))
    home.drive(SAID)
    assert home.note() == ""
    assert home.rules() == [["provenance.no-quote"]]
    (seen,) = home.model.results()
    assert "quote" in seen
    assert '"success": true' not in seen


def test_an_honest_write_passes_and_is_written(home: Home) -> None:
    home.settings = {"modes": {"provenance": "enforce"}}
    home.model.says(call("memory", action="add", target="memory", content=HONEST), text("Noted."))
    home.drive(SAID)
    assert home.note() == HONEST
    assert home.rules() == [["provenance.supported"]]


def test_every_operation_of_a_batch_is_judged(home: Home) -> None:
    home.settings = {"modes": {"provenance": "enforce"}}
    batch = [{"action": "add", "content": "The build takes four minutes."}, {"action": "add", "content": LIE}]
    home.model.says(
        call("memory", target="memory", operations=batch),
        call("memory", target="memory", operations=batch[:1]),
        text("Noted."),
    )
    home.drive(SAID)
    assert home.note() == "The build takes four minutes."
    assert home.rules() == [["provenance.no-quote"], []]


def test_an_edit_of_an_entry_is_judged_as_the_note_would_stand(home: Home) -> None:
    home.settings = {"modes": {"provenance": "enforce"}}
    home.memory.parent.mkdir()
    home.memory.write_text("The staging database is called st-1.")
    edit = "replace" if VERSION.startswith("0.19") else "patch"
    old = "The staging database is called st-1."
    home.model.says(
        call("memory", action=edit, target="memory", old_text=old, content=LIE),
        call("memory", action=edit, target="memory", old_text=old, content="The staging database is called st-2."),
        text("Noted."),
    )
    home.drive(SAID)
    assert home.note() == "The staging database is called st-2."
    assert home.rules() == [["provenance.no-quote"], []]


def test_a_refusal_through_the_command_line_of_hermes(home: Home) -> None:
    home.settings = {"profile": "strict"}
    home.model.says(
        call("memory", action="add", target="user", content=LIE),
        call("memory", action="add", target="user", content=HONEST),
        text("Noted."),
    )
    run = home.hermes("chat", "-q", SAID, "-Q")
    assert run.code == 0, run.errors
    assert "Noted." in run.output
    assert home.note("USER.md") == HONEST
    assert home.rules() == [["provenance.no-quote"], ["provenance.supported"]]


@pytest.mark.parametrize(("answer", "written"), [("once", True), ("deny", False)])
def test_ask_leaves_the_decision_to_a_person(home: Home, answer: str, written: bool) -> None:
    home.settings = {"modes": {"provenance": "ask"}}
    home.model.says(call("memory", action="add", target="memory", content=LIE), text("Well."))
    run = home.drive(SAID, answer=answer)
    assert len(run.asked) == 1
    assert (LIE in home.note()) is written


def test_ask_refuses_where_nobody_would_see_the_question(home: Home) -> None:
    home.settings = {"modes": {"provenance": "ask"}}
    home.environment = {"HERMES_YOLO_MODE": "1"}
    home.model.says(call("memory", action="add", target="memory", content=LIE), text("Well."))
    run = home.drive(SAID, answer="once")
    assert run.asked == []
    assert home.note() == ""
