"""`sayso check` and `sayso explain`: one write judged after a session, and one rule told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from .documents import InputError, read_text
from .opening import Opener
from .screen import Screen
from .settings import Settings
from .showing import ACTIONS, is_clean, show_finding, verdict_document
from .transcript import Said, read_session
from .types import Event, Surface, Verdict, Write

SESSION = "check"


def judge_write(rows: Sequence[Said], text: str, surface: Surface, judge: Opener, settings: str) -> Verdict:
    """The verdict on `text` as a new note after `rows`."""
    session = judge(settings)
    for row in rows:
        session.capture(row.event(SESSION))
    return session.check(Event("write", SESSION, len(rows) + 1, Write(surface, "check", "", text)))


def check(session: str, write: str, surface: Surface, as_json: bool, judge: Opener, mine: Settings, out: Screen) -> int:
    """Judges the file `write` after the file `session`. 0 when nothing fails, 1 when something does."""
    if session == "-" and write == "-":
        raise InputError("--session and --write can't both be standard input")
    rows = read_session(session)
    text = read_text(write)
    if mine.modes.get("provenance") == "off":
        # Who asks wants an answer, whatever is switched off in the host.
        mine = replace(mine, modes={**mine.modes, "provenance": "observe"})
    verdict = judge_write(rows, text, surface, judge, mine.to_engine_json())
    if as_json:
        out.json(verdict_document(verdict))
    else:
        show_verdict(out, verdict, text, {row.id: (row.label, row.text) for row in rows})
    return 0 if is_clean(verdict.findings) else 1


def show_verdict(out: Screen, verdict: Verdict, text: str, shelf: Mapping[str, tuple[str, str]]) -> None:
    """Every finding as a block, then what happens to the write."""
    for finding in verdict.findings:
        show_finding(out, finding, text, shelf)
        out.line()
    if verdict.more:
        out.line(f"{verdict.more} findings more.")
    if not verdict.findings:
        out.line("No claims about the user.")
    word, style = ACTIONS[verdict.action]
    note = ""
    if verdict.action == "allow" and not is_clean(verdict.findings):
        note = " (the settings observe: the findings are recorded, and the write goes through)"
    out.line(f"The write is {word}{note}.", style)


def explain(rule: str, judge: Opener, out: Screen) -> int:
    """Tells what a rule or a construction means, with its examples."""
    session = judge("")
    answer = session.report({"ask": "explain", "rule": rule})
    if "error" in answer:
        known = session.report({"ask": "rules"}).get("rules", [])
        names = ", ".join(str(one.get("id")) for one in known if isinstance(one, dict))
        raise InputError(f"there is no rule {rule[:60]!r}; the rules are {names}")
    out.title(str(answer.get("id", rule)))
    for label, name in (("guard", "guard"), ("means", "reason"), ("passes", "pass")):
        if answer.get(name):
            out.pair(label, str(answer[name]))
    for label, name in (("hit", "hits"), ("miss", "misses")):
        examples = answer.get(name)
        for example in examples if isinstance(examples, list) else []:
            out.pair(label, str(example), "bad" if name == "hits" else "good")
    return 0
