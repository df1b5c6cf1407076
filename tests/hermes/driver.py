"""Runs Hermes' own agent in a process of its own: `python driver.py SPEC`, with HERMES_HOME set.

SPEC is JSON: `port`, `turns` (what the person says, in order), `session` (its id, to go on with one), `platform`,
`answers` (what the person says to questions: once, session, always, deny; absent: nobody is there), `toolsets`,
`review` (wait for the background review), `without` (modules that can't be imported). Prints one JSON object a turn,
and a last one with what the person was asked.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

spec: dict[str, Any] = json.loads(sys.argv[1])
sys.modules.update(dict.fromkeys(spec.get("without", [])))
if spec.get("answers"):
    os.environ["HERMES_INTERACTIVE"] = "1"

from hermes_state import SessionDB  # noqa: E402
from run_agent import AIAgent  # noqa: E402

asked: list[dict[str, str]] = []


def answer(command: str, description: str, **_: Any) -> str:
    asked.append({"command": command, "description": description})
    return str(spec["answers"].pop(0))


if spec.get("answers"):
    from tools.terminal_tool import set_approval_callback

    set_approval_callback(answer)

home = Path(os.environ["HERMES_HOME"])
database = SessionDB(db_path=home / "state.db")
options: dict[str, Any] = {}
if spec.get("session"):
    options["session_id"] = spec["session"]
if spec.get("toolsets"):
    options["enabled_toolsets"] = spec["toolsets"]
agent = AIAgent(
    base_url=f"http://127.0.0.1:{spec['port']}/v1",
    api_key="dummy",
    provider="custom",
    model="scripted-1",
    quiet_mode=True,
    platform=spec.get("platform", "cli"),
    session_db=database,
    max_iterations=20,
    skip_context_files=True,
    **options,
)
history: list[dict[str, Any]] = []
if spec.get("session"):
    history = database.get_messages_as_conversation(spec["session"])
for said in spec["turns"]:
    result = agent.run_conversation(said, conversation_history=history)
    history = result["messages"]
    print(json.dumps({"answer": result["final_response"], "session": agent.session_id}), flush=True)
deadline = time.monotonic() + 20
while spec.get("review") and time.monotonic() < deadline:
    if not any(thread.name.startswith("bg-review") for thread in threading.enumerate()):
        break
    time.sleep(0.05)
print(json.dumps({"asked": asked}), flush=True)
