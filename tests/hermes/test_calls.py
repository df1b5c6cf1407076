"""Calls in a real Hermes: the third identical one with the same result is refused, and a poll that moves runs on."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from harness import VERSION, Home, rules_of
from model import call, text


def ran(home: Home) -> int:
    """How often the handler ran: each run of the command leaves a line."""
    path = home.path / "ran.txt"
    return len(path.read_text().splitlines()) if path.exists() else 0


def looking(home: Home, shown: str) -> dict[str, Any]:
    return {"command": f"echo ran >> '{home.path}/ran.txt'; {shown}"}


def test_the_third_identical_call_is_refused_and_its_handler_not_run(home: Home) -> None:
    command = looking(home, "echo queued")
    home.model.says(*[call("terminal", **command)] * 4, text("It hangs."))
    run = home.drive("How far is the job?")
    assert run.answers == ["It hangs."]
    assert ran(home) == 2
    answers = home.model.results()
    assert ["queued" in answer and "in a row" not in answer for answer in answers] == [True, True, False, False]
    assert all("call 3 in a row of terminal" in answer for answer in answers[2:])
    calls = [entry["row"] for entry in home.entries("call")]
    assert [row["action"] for row in calls] == ["allow", "allow", "refuse", "refuse"]
    assert [rules_of(row) for row in calls] == [[], [], ["loops.identical"], ["loops.identical"]]
    results = [entry["row"] for entry in home.entries("result")]
    assert [row["status"] for row in results] == ["ok", "ok"]
    assert all("ms" in row and row["size"] > 0 for row in results)
    assert "queued" not in json.dumps([calls, results])


def test_a_poll_that_moves_runs_on(home: Home) -> None:
    home.model.says(*[call("terminal", **looking(home, f"wc -l < '{home.path}/ran.txt'"))] * 6, text("It moves."))
    home.drive("How far is the job?")
    assert ran(home) == 6
    assert {entry["row"]["action"] for entry in home.entries("call")} == {"allow"}


def test_a_new_message_and_another_process_start_the_count_again(home: Home) -> None:
    command = looking(home, "echo queued")
    home.model.says(
        *[call("terminal", **command)] * 2, text("Queued."), *[call("terminal", **command)] * 3, text("Still.")
    )
    run = home.drive("How far is the job?", "And now?")
    assert ran(home) == 4
    # The same session in a second process knows of the two calls, but the person has spoken again.
    home.model.says(
        call("terminal", **command), call("terminal", **command), call("terminal", **command), text("Still.")
    )
    home.drive("Look once more.", session=run.session)
    assert ran(home) == 6


def test_a_named_poller_has_its_budget(home: Home) -> None:
    home.settings = {"pollers": {"terminal": 3}}
    home.model.says(*[call("terminal", **looking(home, "echo queued"))] * 5, text("Enough."))
    home.drive("Wait for the job.")
    assert ran(home) == 3


def test_a_long_result_arrives_short_and_the_rest_can_be_read(home: Home) -> None:
    home.extra = {"tool_output": {"max_bytes": 400_000, "max_lines": 50_000}}
    program = (
        "for n in range(9000): print(f'row {n:05d} of an ordinary build log')\nprint('Error: tide gate 7 is stuck')"
    )
    (home.path / "build.py").write_text(program)
    home.model.says(call("terminal", command=f"'{sys.executable}' '{home.path}/build.py'"), text("It is stuck."))
    home.drive("Build it.")
    (short,) = home.model.results()
    assert len(short) <= 16_000
    assert "row 00000 of" in short
    assert "Error: tide gate 7 is stuck" in short
    assert "row 04500 of" not in short
    result = home.entries("result")[0]["row"]
    assert (result["action"], rules_of(result)) == ("rewrite", ["bounds.long"])
    assert result["size"] > 300_000


def test_the_tool_brings_back_what_was_left_out(home: Home) -> None:
    home.extra = {"tool_output": {"max_bytes": 400_000, "max_lines": 50_000}}
    (home.path / "build.py").write_text("for n in range(9000): print(f'row {n:05d} of an ordinary build log')")
    command = call("terminal", command=f"'{sys.executable}' '{home.path}/build.py'")

    def reads(request: dict[str, Any]) -> dict[str, Any]:
        shown = re.search(
            r'sayso_result\(id=\\*"(\w+)\\*", path=\\*"([^"\\]+)', str(request["messages"][-1]["content"])
        )
        assert shown, request["messages"][-1]
        asked = {"id": shown[1], "path": shown[2], "offset": 35 * 4500, "length": 200}
        if VERSION.startswith("0.19"):
            return call("sayso_result", **asked)
        # 0.22.2 puts rare tools behind one that calls them.
        return call("tool_call", calls=[{"name": "sayso_result", "arguments": asked}])

    home.model.says(command, reads, text("Done."))
    home.drive("Build it.")
    part = home.model.results()[1]
    assert "row 04500 of an ordinary build log" in part
    assert re.search(r'of\\*": 31\d{4}', part), part
