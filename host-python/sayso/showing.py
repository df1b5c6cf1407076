"""Showing findings: the claim lit up in its line, the evidence lit up in its row, and what would pass."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .labels import utf8
from .screen import Lit, Screen, Style
from .types import Finding, Verdict

AROUND = 240
"""Characters of a line that are shown on either side of what is lit up."""

Shelf = Mapping[str, tuple[str, str]]
"""Entries that evidence may name: a label for a person, and the text."""

VERDICT_STYLES: Mapping[str, tuple[str, Style, Style]] = {
    "info": ("PASS", "good", "lit-good"),
    "warning": ("LOOK", "warn", "lit"),
    "error": ("FAIL", "bad", "lit-bad"),
}
ACTIONS: Mapping[str, tuple[str, Style]] = {
    "allow": ("allowed", "good"),
    "ask": ("a person is asked", "warn"),
    "refuse": ("refused", "bad"),
    "rewrite": ("rewritten", "warn"),
}


def is_clean(findings: Sequence[Finding]) -> bool:
    """Whether nothing was found that fails or is worth a look."""
    return all(finding.level == "info" for finding in findings)


def facts_of(finding: Finding) -> dict[str, Any]:
    """The facts of a finding; empty where they are no JSON object."""
    try:
        facts = json.loads(finding.facts or "{}")
    except ValueError:
        return {}
    return facts if isinstance(facts, dict) else {}


def verdict_document(verdict: Verdict) -> dict[str, object]:
    """A verdict as `--json` prints it: what the engine said, without the row for the ledger."""
    findings = [
        {
            **finding._asdict(),
            "evidence": [proof._asdict() for proof in finding.evidence],
            "facts": facts_of(finding),
        }
        for finding in verdict.findings
    ]
    return {
        "action": verdict.action,
        "message": verdict.message,
        "text": verdict.text,
        "findings": findings,
        "more": verdict.more,
    }


def show_finding(screen: Screen, finding: Finding, judged: str, shelf: Shelf, label: str = "claim") -> None:
    """One finding as a block of labelled lines. `label` stands before the line with the claim in it."""
    word, style, lit = VERDICT_STYLES[finding.level]
    screen.pair(word, finding.rule, style)
    if finding.end > finding.start:
        start, end = chars(judged, finding.start, finding.end)
        text, marks = _line(judged, start, end, lit)
        screen.pair(label, text, lit=marks)
    screen.pair("why", finding.reason)
    for proof in finding.evidence:
        if proof.entry not in shelf:
            screen.pair("evidence", f"entry {proof.entry}: {proof.note}")
            continue
        who, text = shelf[proof.entry]
        start, end = chars(text, proof.start, proof.end)
        line, marks = _line(text, start, end, "lit-good" if finding.level == "info" else "lit")
        lead = f"{who}: "
        moved: list[Lit] = [(first + len(lead), last + len(lead), how) for first, last, how in marks]
        screen.pair("evidence", lead + line, lit=moved)
        if proof.note:
            screen.pair("", f"({proof.note})", "dim")
    if finding.suggestion:
        screen.pair("passes", finding.suggestion, "code")


def chars(text: str, start: int, end: int) -> tuple[int, int]:
    """A span in bytes of the UTF-8 of `text` as a span in characters. What is out of bounds is cut."""
    content = utf8(text)
    first = len(content[: max(start, 0)].decode("utf-8", "replace"))
    return first, first + len(content[max(start, 0) : max(end, 0)].decode("utf-8", "replace"))


def _line(text: str, start: int, end: int, style: Style) -> tuple[str, list[Lit]]:
    """The lines that a span touches, cut to what stands near it, and the span in them."""
    first = text.rfind("\n", 0, start) + 1
    after = text.find("\n", end)
    last = len(text) if after < 0 else after
    first = max(first, start - AROUND)
    last = min(last, end + AROUND)
    lead = "" if first == 0 or text[first - 1] == "\n" else "…"
    tail = "" if last == len(text) or text[last] == "\n" else "…"
    shift = len(lead) - first
    return f"{lead}{text[first:last]}{tail}", [(start + shift, end + shift, style)]
