"""The plugin as Hermes sees it: its commands, what Hermes' own checks say, and what stays when it is removed."""

from __future__ import annotations

import json

from harness import VERSION, Home
from model import call, text

LIE = "User decided to drop the staging database."


def test_hermes_knows_the_plugin_and_its_commands(home: Home) -> None:
    listed = home.hermes("plugins", "list", "--json")
    (row,) = [one for one in json.loads(listed.output) if one["name"] == "sayso"]
    assert row["status"] == "enabled"
    status = home.hermes("sayso", "status")
    assert status.code == 0, status.errors
    assert "provenance" in status.output


def test_uninstalling_leaves_nothing_behind_but_the_data_folder(home: Home) -> None:
    home.settings = {"modes": {"provenance": "enforce"}}
    home.model.says(call("memory", action="add", target="memory", content=LIE), text("No."))
    home.drive("Hello.")
    assert home.note() == ""
    removed = home.hermes("plugins", "remove", "sayso")
    assert removed.code == 0, removed.output + removed.errors
    named = [path for path in home.path.rglob("*sayso*") if home.data not in (path, *path.parents)]
    assert named == []
    assert {path.name for path in home.data.iterdir()} >= {"ledger.db", "key"}
    assert all(path.stat().st_mode & 0o077 == 0 for path in [home.data, *home.data.rglob("*")])
    home.model.says(call("memory", action="add", target="memory", content=LIE), text("Noted."))
    home.drive("Hello.")
    assert home.note() == LIE, "without the plugin nothing is guarded"


if VERSION.startswith("0.22"):

    def test_hermes_own_checks_find_no_error(home: Home) -> None:
        run = home.hermes("plugins", "validate", str(home.plugin), "--json")
        report = json.loads(run.output[run.output.index("{") :])
        assert [check for check in report["checks"] if not check["ok"]] == []
        assert report["ok"]
        assert run.code == 0
        # The one warning that the README explains: what tells a review from a conversation is no public name.
        assert [one.partition(" (")[0] for one in report["warnings"]] == ["private core imports"]
        doctor = home.hermes("plugins", "doctor", str(home.plugin), "--ci")
        assert doctor.code == 0, doctor.output + doctor.errors
