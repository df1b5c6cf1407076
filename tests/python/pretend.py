"""A stand-in for the engine, for tests of what is around it: finds `User <verb> ...` and knows three verdicts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from sayso.opening import nothing
from sayso.types import Action, Event, Evidence, Finding, Level, Message, Prompt, Stored, Verdict, Write

CLAIM = re.compile(r"User (?:decided|approved|wants|chose)[^\"(\n.]*")
QUOTE = re.compile(r"\"([^\"\n]*)\"")


class PretendJudge:
    """One session of the stand-in."""

    def __init__(self, settings: str, key: str, entries: Iterable[str]) -> None:
        self.enforces = '"provenance":"enforce"' in settings
        self.said: list[tuple[str, Message | Prompt]] = []
        self.stored = list(entries)

    def capture(self, event: Event) -> Stored:
        assert isinstance(event.what, Message | Prompt)
        self.said.append((event.id, event.what))
        return Stored("message", json.dumps({"v": 1, "id": event.id}), event.what.text)

    def check(self, event: Event) -> Verdict:
        assert isinstance(event.what, Write)
        after = event.what.after
        findings = [self._judge(after, found) for found in CLAIM.finditer(after)]
        failed = any(finding.level == "error" for finding in findings)
        action: Action = "refuse" if failed and self.enforces else "allow"
        row = json.dumps({"v": 1, "id": event.id, "action": action})
        return Verdict(action, "quote the user" if failed else "", "", tuple(findings), 0, Stored("write", row, ""))

    def report(self, query: dict[str, Any]) -> dict[str, Any]:
        match query:
            case {"ask": "status"}:
                return {"engine": "0.0.0", "languages": ["en"], "rules": 3}
            case {"ask": "rules"}:
                return {
                    "rules": [{"id": "provenance.no-quote", "guard": "provenance", "level": "error", "reason": "-"}]
                }
            case {"ask": "explain", "rule": "provenance.no-quote"}:
                return {"id": "provenance.no-quote", "guard": "provenance", "reason": "No quote.", "pass": "A quote."}
            case {"ask": "explain", "rule": "en.active"}:
                return {"id": "en.active", "reason": "Active.", "hits": ["User decided."], "misses": ["User decides?"]}
        return {"error": "no such rule"}

    def _judge(self, after: str, found: re.Match[str]) -> Finding:
        start, end = (len(after[:at].encode("utf-8", "surrogatepass")) for at in found.span())
        quote = QUOTE.search(after, found.end())
        evidence: tuple[Evidence, ...] = ()
        word = "no-quote"
        if quote:
            word = "not-found"
            for entry, message in self.said:
                at = message.text.find(quote[1])
                if at >= 0 and message.origin == "human":
                    word = "supported"
                    first = len(message.text[:at].encode())
                    evidence = (Evidence(entry, first, first + len(quote[1].encode()), "the user said so"),)
        level: Level = "info" if word == "supported" else "error"
        facts = json.dumps(
            {"kind": "decision", "polarity": "+", "construction": "en.active", "lang": "en", "quotes": []}
        )
        reason = f"this is {word}"
        suggestion = "" if level == "info" else "quote the user's words"
        return Finding("provenance", f"provenance.{word}", level, start, end, "", reason, evidence, suggestion, facts)


def pretend(document: str, key: str = "", entries: Any = nothing) -> PretendJudge:
    """An opener, as `sayso.opening.opener` gives it."""
    return PretendJudge(document, key, entries())
