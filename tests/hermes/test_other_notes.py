"""Notes that are written by other tools than `memory`: skills, files, commands, programs."""

from __future__ import annotations

from typing import Any

from harness import VERSION, Home
from model import Step, call, text

LIE = "User decided to drop the staging database."
SAID = "Please keep the staging database, we still need it for the demo."
HONEST = 'User decided to keep the staging database ("keep the staging database").'
HEAD = "---\nname: staging\ndescription: Use when the staging database is touched.\n---\n\n# Staging\n\n"


def skill(**operation: Any) -> Step:
    """A call of `skill_manage` in the shape of this version."""
    if VERSION.startswith("0.19"):
        return {"tool_calls": [{"name": "skill_manage", "arguments": operation}]}
    return call("skill_manage", operations=[operation])


def test_a_skill_is_judged_like_a_memory(home: Home) -> None:
    home.settings = {"modes": {"provenance": "enforce"}}
    home.model.says(
        skill(action="create", name="staging", content=f"{HEAD}{LIE}\n"),
        skill(action="create", name="staging", content=f"{HEAD}{HONEST}\n"),
        skill(action="patch", name="staging", old_string="# Staging", new_string=f"# Staging\n\n{LIE}"),
        text("Noted."),
    )
    home.drive(SAID)
    written = home.path / "skills" / "staging" / "SKILL.md"
    assert written.read_text() == f"{HEAD}{HONEST}\n"
    assert home.rules() == [["provenance.no-quote"], ["provenance.supported"], ["provenance.no-quote"]]
    assert [entry["row"]["surface"] for entry in home.entries("write")] == ["skill"] * 3
    assert {entry["row"]["reference"] for entry in home.entries("write")} == {"skills/staging/SKILL.md"}


def test_every_tool_that_reaches_the_memory_file_is_judged(home: Home) -> None:
    home.settings = {"modes": {"provenance": "enforce"}}
    home.memory.parent.mkdir()
    home.memory.write_text("The build takes four minutes.\n")
    home.model.says(
        call("write_file", path=str(home.memory), content=LIE),
        call("write_file", path=str(home.path / "notes.txt"), content=LIE),
        call("patch", mode="replace", path=str(home.memory), old_string="The build", new_string=f"{LIE}\nThe build"),
        call("terminal", command=f"echo '{LIE}' >> '{home.memory}'"),
        call("terminal", command=f"cat '{home.memory}'"),
        text("Noted."),
    )
    home.drive(SAID)
    assert home.note() == "The build takes four minutes.\n"
    assert (home.path / "notes.txt").read_text() == LIE
    assert home.rules() == [["provenance.no-quote"]] * 3
    assert "four minutes" in home.model.results()[-1]


def test_a_program_that_hides_what_it_writes_is_found_out(home: Home) -> None:
    home.settings = {"modes": {"provenance": "enforce"}}
    home.memory.parent.mkdir()
    home.memory.write_text("The build takes four minutes.\n")
    code = (
        "from hermes_tools import terminal\n"
        "words = 'User ' + 'decided to drop ' + 'the staging database.'\n"
        f"print(terminal(\"echo '\" + words + \"' >> '{home.memory}'\"))\n"
    )
    hidden = f"cd '{home.path}/mem'*; printf '%s dec%s\\n' User 'ided to drop the staging database.' >> M*"
    home.model.says(call("execute_code", code=code), call("terminal", command=hidden), text("Noted."))
    run = home.drive(SAID)
    nested, after = [entry for entry in home.entries("write") if entry["row"].get("findings")]
    # The program's own call comes without a session; it belongs to the one of its task.
    assert nested["session"] == after["session"] == run.session
    assert nested["row"]["action"] == "refuse"
    assert home.rules()[-1] == ["provenance.no-quote"]
    # What no words gave away stands in the file by now, and the person is told.
    assert home.note() == f"The build takes four minutes.\n{LIE}\n"
    assert "[sayso] terminal wrote a claim to memories/MEMORY.md" in run.answers[0]
