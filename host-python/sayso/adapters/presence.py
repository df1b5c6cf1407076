"""Whether a question to a person would reach one: Hermes' approval gate answers some of them by itself.

`-z`, yolo and (in 0.22.2) `approvals.mode: off` approve without anybody seeing the question, `chat -q` on 0.19 waits
a minute for nobody, and cron, subagents and reviews deny. Only a refusal holds everywhere, so `ask` becomes one there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from .origins import session_value

_ON = frozenset({"1", "true", "yes", "on"})


def somebody_answers(platform: str, review: bool, child: bool) -> bool:
    """Whether a person would see the question and could say no. In doubt: nobody."""
    if review or child or platform in ("cron", "subagent"):
        return False
    if _on("HERMES_CRON_SESSION") or approves_by_itself() or _single_query():
        return False
    if _gateway():
        return platform not in ("api_server", "webhook", "msgraph_webhook")
    return _interactive()


def approves_by_itself() -> bool:
    """Whether Hermes would say yes to every question without showing it."""
    if _on("HERMES_YOLO_MODE"):
        return True
    approval = _approval()
    if bool(getattr(approval, "_YOLO_MODE_FROZEN", False)):
        return True
    try:
        if approval is not None and approval.is_current_session_yolo_enabled():
            return True
    except Exception:
        return True
    return _approvals_mode() == "off"


def _single_query() -> bool:
    if session_value("HERMES_SINGLE_QUERY_SESSION") == "1":
        return True
    # 0.19 leaves no mark but its command line.
    words = sys.argv[1:]
    return any(word in ("-q", "--query", "-z", "--oneshot") or word.startswith("--query=") for word in words)


def _gateway() -> bool:
    return _on("HERMES_GATEWAY_SESSION") or _on("HERMES_EXEC_ASK") or bool(session_value("HERMES_SESSION_PLATFORM"))


def _interactive() -> bool:
    approval = _approval()
    ask = getattr(approval, "_is_interactive_cli", None)
    try:
        return bool(ask()) if callable(ask) else _on("HERMES_INTERACTIVE")
    except Exception:
        return False


def _approvals_mode() -> str:
    try:
        from hermes_cli.config import load_config

        config: Any = load_config()
        approvals = config.get("approvals") if isinstance(config, Mapping) else None
        mode = approvals.get("mode") if isinstance(approvals, Mapping) else ""
    except Exception:
        return ""
    # YAML reads a bare `off` as false.
    return "off" if mode is False else str(mode or "").strip().lower()


def _approval() -> Any:
    """Hermes' approval module, or `None`. Looked up where it is loaded already; sayso never loads it."""
    return sys.modules.get("tools.approval")


def _on(name: str) -> bool:
    return os.environ.get(name, "").strip().lower() in _ON
