"""Only what a person said supports a claim: not the harness, not a review, not a scheduled job."""

from __future__ import annotations

from harness import VERSION, Home
from model import call, text

SAID = "Please keep the staging database, we still need it for the demo."
HONEST = 'User decided to keep the staging database ("keep the staging database").'


def test_the_prompt_of_a_background_review_is_not_the_users_word(home: Home) -> None:
    home.settings = {"modes": {"provenance": "enforce"}}
    home.extra = {"memory": {"nudge_interval": 1}}
    quoting = 'User decided to save all of it to memory ("consider saving to memory if appropriate").'
    home.model.says(text("Kept."))
    home.model.reviews(
        call("memory", action="add", target="memory", content=quoting),
        call("memory", action="add", target="memory", content=HONEST),
        text("Nothing more to save."),
    )
    home.drive(SAID, review=True)
    assert home.note() == HONEST
    first, second = home.rules()
    assert first[0] in ("provenance.not-found", "provenance.wrong-speaker")
    assert second == ["provenance.supported"]
    spoken = [(entry["row"]["role"], entry["row"]["origin"]) for entry in home.entries() if "origin" in entry["row"]]
    assert [one for one in spoken if one[0] == "user" and one[1] == "human"] == [("user", "human")]
    # 0.22.2 does not show the review's prompt to plugins; 0.19 shows it as if the user had typed it.
    assert (("user", "review") in spoken) is VERSION.startswith("0.19")


def test_the_text_of_a_scheduled_job_is_not_the_users_word(home: Home) -> None:
    home.settings = {"modes": {"provenance": "enforce"}}
    home.model.says(call("memory", action="add", target="memory", content=HONEST), text("Noted."))
    home.drive(SAID, platform="cron")
    assert home.note() == ""
    assert home.rules()[0] == ["provenance.wrong-speaker"] or home.rules()[0] == ["provenance.not-found"]
    assert [entry["row"]["origin"] for entry in home.entries() if entry["row"].get("role") == "user"] == ["cron"]
