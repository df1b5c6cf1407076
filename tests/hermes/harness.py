"""A throwaway home for a real Hermes, with sayso's folder copied into its plugins, and ways to run Hermes in it."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from model import Model

TOP = Path(__file__).resolve().parents[2]
PLUGIN = TOP / "host-python"
VERSION = os.environ.get("SAYSO_HERMES", "")
SECONDS_MAX = 90
"""A Hermes that is not done by then hangs."""


@dataclass
class Run:
    """What a process of Hermes left behind."""

    code: int
    output: str
    errors: str
    answers: list[str] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)
    asked: list[dict[str, str]] = field(default_factory=list)

    @property
    def session(self) -> str:
        return self.sessions[-1]


@dataclass
class Home:
    """One HERMES_HOME with the plugin in it."""

    path: Path
    model: Model
    settings: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def plugin(self) -> Path:
        return self.path / "plugins" / "sayso"

    @property
    def data(self) -> Path:
        return self.path / "plugin-data" / "sayso"

    @property
    def memory(self) -> Path:
        return self.path / "memories" / "MEMORY.md"

    def note(self, name: str = "MEMORY.md") -> str:
        """The text of a memory file, "" where there is none."""
        path = self.path / "memories" / name
        return path.read_text() if path.exists() else ""

    def drive(self, *turns: str, **spec: Any) -> Run:
        """Runs turns through Hermes' own agent (see `driver.py`) and waits for the end."""
        run = self.run(*self.driver(*turns, **spec))
        return _read(run) if run.code == 0 else pytest.fail(f"driver failed\n{run.output}\n{run.errors}")

    def driver(self, *turns: str, **spec: Any) -> list[str]:
        self.write_config()
        document = json.dumps({"port": self.model.port, "turns": list(turns), **spec})
        return [sys.executable, str(Path(__file__).with_name("driver.py")), document]

    def hermes(self, *words: str) -> Run:
        """Runs the command line of Hermes."""
        self.write_config()
        return self.run(str(Path(sys.executable).with_name("hermes")), *words)

    def run(self, *command: str) -> Run:
        done = subprocess.run(
            command,
            env=self.env(),
            cwd=self.path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )
        return Run(done.returncode, done.stdout, done.stderr)

    def env(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
        own = {"HERMES_HOME": str(self.path), "HOME": str(self.path.parent), "PYTHONUTF8": "1"}
        return {**kept, **own, **self.environment}

    def write_config(self) -> None:
        model = {
            "default": "scripted-1",
            "provider": "custom",
            "base_url": f"http://127.0.0.1:{self.model.port}/v1",
            "api_key": "dummy",
            "context_length": 131072,
        }
        document: dict[str, Any] = {
            "model": model,
            "agent": {"environment_probe": False},  # a probe of the machine's Pythons: seconds, and not ours
            "plugins": {"enabled": ["sayso"], "entries": {"sayso": {"settings": self.settings}}},
            "memory": {"memory_enabled": True, "user_profile_enabled": True, "nudge_interval": 0},
            "skills": {"creation_nudge_interval": 0},
            "security": {"tirith_enabled": False},
        }
        for name, value in self.extra.items():
            document[name] = {**document.get(name, {}), **value}
        (self.path / "config.yaml").write_text(json.dumps(document))  # JSON is YAML too

    def entries(self, kind: str = "") -> list[dict[str, Any]]:
        """The rows of the ledger, oldest first: the host's columns, and the row as a document."""
        path = self.data / "ledger.db"
        if not path.exists():
            return []
        file = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
        try:
            found = file.execute("SELECT session, kind, row, at FROM entries ORDER BY seq").fetchall()
        finally:
            file.close()
        rows = [{"session": one[0], "kind": one[1], "row": json.loads(one[2]), "at": one[3]} for one in found]
        return [row for row in rows if not kind or row["kind"] == kind]

    def rules(self) -> list[list[str]]:
        """The rules found in each recorded write, oldest first."""
        return [rules_of(entry["row"]) for entry in self.entries("write")]


def rules_of(row: dict[str, Any]) -> list[str]:
    return [str(finding["rule"]) for finding in row.get("findings", [])]


def _read(run: Run) -> Run:
    for line in run.output.splitlines():
        if not line.startswith("{"):
            continue
        document = json.loads(line)
        if "asked" in document:
            run.asked = document["asked"]
        else:
            run.answers.append(document["answer"])
            run.sessions.append(document["session"])
    return run
