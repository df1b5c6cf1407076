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
#: Rules named to somebody who asks for one that does not exist; there are hundreds.
RULES_TOLD_MAX = 12


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


def _unknown(rule: str, names: list[str]) -> str:
    """What is said of a rule that does not exist: the rules of its guard, or those whose names come nearest."""
    guard = rule.partition(".")[0] + "."
    for told in (names, [name for name in names if name.startswith(guard)]):
        if 0 < len(told) <= RULES_TOLD_MAX:
            return f"there is no rule {rule!r}; the rules are {', '.join(told)}"
    from difflib import get_close_matches  # Only a wrong name needs it.

    near = get_close_matches(rule, names, RULES_TOLD_MAX, 0.5)
    nearest = f"; the nearest are {', '.join(near)}" if near else ""
    return f"there is no rule {rule!r} among {len(names)}{nearest}"


def explain(rule: str, judge: Opener, out: Screen) -> int:
    """Tells what a rule or a construction means, with its examples."""
    session = judge("")
    answer = session.report({"ask": "explain", "rule": rule})
    if "error" in answer:
        known = session.report({"ask": "rules"}).get("rules", [])
        raise InputError(_unknown(rule[:60], [str(one.get("id")) for one in known if isinstance(one, dict)]))
    out.title(str(answer.get("id", rule)))
    for label, name in (("guard", "guard"), ("means", "reason"), ("passes", "pass")):
        if answer.get(name):
            out.pair(label, str(answer[name]))
    for label, name in (("hit", "hits"), ("miss", "misses")):
        examples = answer.get(name)
        for example in examples if isinstance(examples, list) else []:
            out.pair(label, str(example), "bad" if name == "hits" else "good")
    return 0
