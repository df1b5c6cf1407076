"""A live key never reaches the model: not out of a result, not out of a message, not with a later request."""

from __future__ import annotations

import json

from harness import VERSION, Home, rules_of
from model import call, text

KEY = "gh" + "p_" + "fOXlCYRpmu36qqNus38N670WuxkLeFw8NHO1"
MARKER = "[redacted:github-token:"


OTHER = "pul-" + "4be1c09a7d2f83e6" + "5a1b9c0d7e2f4a6b8c3d1e5f"
"""A key that Hermes itself doesn't know."""


def sent(home: Home, tools: bool = True) -> list[str]:
    """Every request that came in, as text; those of the main loop have tools."""
    return [json.dumps(one) for one in home.model.requests if bool(one.get("tools")) is tools]


def test_a_key_in_a_result_never_reaches_the_model(home: Home) -> None:
    command = f"printf '%s%s%s' 'found ' '{OTHER[:20]}' '{OTHER[20:]}'"
    home.model.says(call("terminal", command=command), text("It is set."), text("Yes."))
    home.drive("Which token is set?", "Sure?")
    requests = sent(home)
    assert len(requests) == 3
    assert "[redacted:pulumi-token:" in requests[1]
    assert "[redacted:pulumi-token:" in requests[2]
    assert not [one for one in requests + sent(home, tools=False) if OTHER in one]


def test_a_key_in_a_message_costs_no_request_and_leaves_with_no_later_one(home: Home) -> None:
    home.model.says(text("Hello."), text("Goodbye."))
    run = home.drive(f"Use this token from now on: {KEY}", "Thanks, what is the time?")
    assert "This looks like a live credential" in run.answers[0]
    assert run.answers[1] == "Hello."
    requests = sent(home)
    assert len(requests) == 1, "the refused turn asked the model nothing"
    assert MARKER in requests[0]
    # The call for a title passes no middleware: 0.22 makes it from the first message, refused or not (README, limits).
    titles = sent(home, tools=False) if VERSION.startswith("0.19") else []
    assert not [one for one in requests + titles if KEY in one]
    prompts = home.entries("prompt")
    assert [one["row"].get("action") for one in prompts] == ["refuse", None]
    assert rules_of(prompts[0]["row"]) == ["credentials.github-token"]
    for file in home.data.glob("ledger.db*"):
        assert KEY.encode() not in file.read_bytes()


def test_snippets_and_documentation_keys_pass(home: Home) -> None:
    home.model.says(text("One."), text("Two."), text("Three."))
    run = home.drive(f"Why does this fail?\n```\ncurl -H 'Authorization: Bearer {KEY}'\n```", "Set TOKEN=<your-token>")
    assert run.answers == ["One.", "Two."]
    assert not [one for one in sent(home) if KEY in one]


def test_a_key_in_a_note_is_refused(home: Home) -> None:
    home.model.says(call("memory", action="add", target="memory", content=f"The token is {KEY}."), text("Noted."))
    home.drive("Remember the token.")
    assert home.note() == ""
    assert home.rules() == [["credentials.github-token"]]
