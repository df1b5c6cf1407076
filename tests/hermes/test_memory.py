"""Memory writes in a real Hermes: a claim that nobody made is caught, an honest one passes."""

from __future__ import annotations

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


def test_in_enforce_mode_a_claim_needs_the_users_words(home: Home) -> None:
    home.settings = {"modes": {"provenance": "enforce"}}
    home.memory.parent.mkdir()
    home.memory.write_text("The staging database is called st-1.")
    edit = {"action": "replace" if VERSION.startswith("0.19") else "patch", "old_text": "called st-1."}
    kept = edit["action"] == "patch"
    facts = ["called st-2.", "The staging database is called st-2."]
    batch = [{"action": "add", "content": "The build takes four minutes."}, {"action": "add", "content": LIE}]
    home.model.says(
        call("memory", action="add", target="memory", content=LIE),
        call("memory", action="add", target="memory", content=HONEST),
        call("memory", target="memory", operations=batch),
        call("memory", target="memory", operations=batch[:1]),
        call("memory", target="memory", content=LIE, **edit),
        call("memory", target="memory", content=facts[not kept], **edit),
        text("Noted."),
    )
    home.drive(SAID)
    assert home.note().split("\n§\n") == [facts[1], HONEST, "The build takes four minutes."]
    assert home.rules() == [
        ["provenance.no-quote"],
        ["provenance.supported"],
        ["provenance.no-quote"],
        [],
        ["provenance.no-quote"],
        [],
    ]
    answers = home.model.results()
    assert ["quote" in answer for answer in answers] == [True, False, True, False, True, False]
    assert ['"success": true' in answer for answer in answers] == [False, True, False, True, False, True]


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


def test_ask_leaves_the_decision_to_a_person(home: Home) -> None:
    home.settings = {"modes": {"provenance": "ask"}}
    other = "User decided to rename the build server."
    home.model.says(
        call("memory", action="add", target="memory", content=LIE),
        call("memory", action="add", target="memory", content=other),
        text("Well."),
    )
    run = home.drive(SAID, answers=["deny", "always"])
    assert home.note() == other
    assert [LIE[16:24] in run.asked[0]["description"], other[16:24] in run.asked[1]["description"]] == [True, True]
    # An "always" covers this write and no other.
    home.model.says(call("memory", action="add", target="memory", content=LIE), text("Well."))
    assert len(home.drive(SAID, answers=["deny"]).asked) == 1
    assert home.note() == other


def test_ask_refuses_where_nobody_would_see_the_question(home: Home) -> None:
    home.settings = {"modes": {"provenance": "ask"}}
    home.environment = {"HERMES_YOLO_MODE": "1"}
    home.model.says(call("memory", action="add", target="memory", content=LIE), text("Well."))
    run = home.drive(SAID, answers=["once"])
    assert run.asked == []
    assert home.note() == ""
