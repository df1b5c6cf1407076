"""What the README says of the command line is what the command line does."""

from __future__ import annotations

import argparse
import io
import json
import re
from pathlib import Path

import pytest
from sayso.cli import add_arguments, main
from sayso.labels import VERDICTS
from sayso.settings import KEYS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def commands() -> list[str]:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    [choices] = [action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return list(choices)


def test_every_command_stands_in_the_table() -> None:
    told = re.findall(r"^\| `sayso ([a-z-]+)", README, re.MULTILINE)
    assert sorted(told) == sorted(commands())


def test_every_setting_and_every_verdict_stands_in_a_table() -> None:
    told = set(re.findall(r"^\| `([a-z_-]+)` \|", README, re.MULTILINE))
    assert set(KEYS) <= told
    assert set(VERDICTS) <= told


def test_every_folder_of_the_code_map_is_there() -> None:
    folders = re.findall(
        r"^\| `([a-z/-]+/)` \|", README.split("**Code map**")[1].split("**Invariants.**")[0], re.MULTILINE
    )
    assert len(folders) > 10
    assert [folder for folder in folders if not (ROOT / folder).is_dir()] == []


def test_the_first_example_is_what_sayso_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The README's words from the user, its note and its verdict: the same as the engine gives now."""
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))
    example = README.split("<!-- check:begin -->")[1].split("<!-- check:end -->")[0]
    note, answer = re.findall(r"```text\n(.*?)```", example, re.DOTALL)
    [said] = re.findall(r"^The user wrote: \*\"(.*)\"\*", README, re.MULTILINE)
    (tmp_path / "session").write_text(json.dumps({"role": "user", "text": said}), "utf-8")
    (tmp_path / "note").write_text(note, "utf-8")
    out = io.StringIO()
    assert main(["check", "--session", str(tmp_path / "session"), "--write", str(tmp_path / "note")], out) == 1
    # Where the engine's words have changed, what it says now belongs into the README.
    assert out.getvalue().split("\n\n")[0].rstrip() == answer.rstrip()
