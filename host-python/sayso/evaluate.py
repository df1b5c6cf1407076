"""`sayso eval`: how good the guards are, measured on labelled rows through the same engine that guards.

Each row is judged by itself, with default settings: a claims row as a write into a session without messages, a verdicts
row as its session and then its write.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from .labels import CLAIM_KINDS, OTHER_KINDS, VERDICTS, ClaimRow, Expected, VerdictRow, claim_rows, utf8, verdict_rows
from .measure import Detection, Judgement, matched
from .opening import Opener
from .screen import Advance, Screen
from .types import Event, Finding, Message, Origin, Role, Surface, Write

KINDS = ("claims", "verdicts", "calls", "credentials", "repetition")
_SAID_BY: dict[str, tuple[Role, Origin]] = {
    "user": ("user", "human"),
    "assistant": ("assistant", "model"),
    "tool": ("tool", "tool"),
}


@dataclass(frozen=True, slots=True)
class Found:
    """One claim that the engine found: its verdict, its span in the text, and by which construction."""

    verdict: str
    start: int
    end: int
    text: str
    reason: str
    by: str

    def __str__(self) -> str:
        return f"{self.verdict}: {self.text}  [{self.by}] {self.reason}"


@dataclass(slots=True)
class Wrong:
    """A row that went wrong, and what a person needs to see why."""

    id: str
    head: str
    text: str
    expected: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)


@dataclass(slots=True)
class ClaimsResult:
    """What was measured on `claims` rows."""

    whole: Detection = field(default_factory=Detection)
    by_lang: dict[str, Detection] = field(default_factory=dict)
    by_kind: dict[str, Detection] = field(default_factory=dict)
    wrong: list[Wrong] = field(default_factory=list)

    def document(self) -> dict[str, object]:
        """As `--json` prints it."""
        return {
            "kind": "claims",
            **self.whole.document(),
            "by": {
                "lang": {name: part.document() for name, part in self.by_lang.items()},
                "kind": {name: part.document() for name, part in self.by_kind.items()},
            },
            "wrong": [row.id for row in self.wrong],
        }


@dataclass(slots=True)
class VerdictsResult:
    """What was measured on `verdicts` rows."""

    rows: int = 0
    whole: Judgement = field(default_factory=Judgement)
    by_verdict: dict[str, Judgement] = field(default_factory=dict)
    by_lang: dict[str, Judgement] = field(default_factory=dict)
    confusions: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: list[Wrong] = field(default_factory=list)

    def document(self) -> dict[str, object]:
        """As `--json` prints it."""
        return {
            "kind": "verdicts",
            "rows": self.rows,
            **self.whole.document(),
            "by": {
                "verdict": {name: part.document() for name, part in self.by_verdict.items()},
                "lang": {name: part.document() for name, part in self.by_lang.items()},
            },
            "wrong": [row.id for row in self.wrong],
        }


def evaluate(kind: str, files: Sequence[str], judge: Opener, screen: Screen, as_json: bool, show_wrong: int) -> int:
    """Measures, prints and returns the exit code 0. Raises `InputError` for a malformed row, `EngineError`."""
    result: ClaimsResult | VerdictsResult
    if kind == "calls":
        from .evaluate_calls import evaluate_calls

        return evaluate_calls(list(files), judge, screen, as_json, show_wrong)
    if kind == "credentials":
        from .evaluate_credentials import evaluate_credentials

        return evaluate_credentials(list(files), judge, screen, as_json, show_wrong)
    if kind == "repetition":
        from .evaluate_repetition import evaluate_repetition

        return evaluate_repetition(list(files), judge, screen, as_json, show_wrong)
    if kind == "claims":
        claims = claim_rows(list(files))
        with screen.progress(len(claims), "claims") as advance:
            result = measure_claims(claims, judge, advance)
    else:
        verdicts = verdict_rows(list(files))
        with screen.progress(len(verdicts), "verdicts") as advance:
            result = measure_verdicts(verdicts, judge, advance)
    if as_json:
        screen.json(result.document())
        for row in result.wrong[:show_wrong]:
            screen.talk(json.dumps({"id": row.id, "text": row.text, "expected": row.expected, "found": row.found}))
        return 0
    if isinstance(result, ClaimsResult):
        _show_claims(result, screen)
    else:
        _show_verdicts(result, screen)
    _show_wrong(result.wrong, show_wrong, screen)
    return 0


def measure_claims(rows: Sequence[ClaimRow], judge: Opener, advance: Advance = lambda: None) -> ClaimsResult:
    """Finds claims in each row. A row counts as found when any finding of the provenance guard stands."""
    result = ClaimsResult()
    # Nothing said, so nothing of one row can count for another: all rows share one session.
    session = judge("")
    for number, row in enumerate(rows):
        found = _found(session.check(_write(f"w{number}", "eval", row.surface, row.text)).findings, row.text)
        result.whole.add(row.positive, bool(found))
        result.by_lang.setdefault(row.lang, Detection()).add(row.positive, bool(found))
        result.by_kind.setdefault(row.kind, Detection()).add(row.positive, bool(found))
        if row.positive != bool(found):
            head = "missed" if row.positive else "false alarm"
            expected = [f"a claim ({row.kind})" if row.positive else f"no claim ({row.kind})"]
            result.wrong.append(Wrong(row.id, head, row.text, expected, [str(one) for one in found]))
        advance()
    result.by_lang = dict(sorted(result.by_lang.items()))
    result.by_kind = {kind: result.by_kind[kind] for kind in CLAIM_KINDS + OTHER_KINDS if kind in result.by_kind}
    return result


def measure_verdicts(rows: Sequence[VerdictRow], judge: Opener, advance: Advance = lambda: None) -> VerdictsResult:
    """Judges the write of each row after its session. Every row has a session of its own."""
    result = VerdictsResult(rows=len(rows))
    for row in rows:
        session = judge("")
        for number, (role, text) in enumerate(row.rows):
            said, origin = _SAID_BY[role]
            session.capture(Event(f"m{number}", row.id, number, Message(said, origin, text)))
        verdict = session.check(_write("w", row.id, row.surface, row.text, len(row.rows)))
        _count(row, _found(verdict.findings, row.text), result)
        advance()
    result.by_lang = dict(sorted(result.by_lang.items()))
    order = (*VERDICTS, "invented")
    result.by_verdict = {name: result.by_verdict[name] for name in order if name in result.by_verdict}
    return result


def _count(row: VerdictRow, found: list[Found], result: VerdictsResult) -> None:
    """Counts the claims of one row. An invented claim stands under its own name, because no verdict was expected."""
    pairs = matched([(one.start, one.end) for one in row.expect], [(one.start, one.end) for one in found])
    all_right = True
    for left, right in pairs:
        expected = row.expect[left].verdict if left is not None else None
        got = found[right].verdict if right is not None else None
        all_right &= result.whole.add(expected, got)
        result.by_lang.setdefault(row.lang, Judgement()).add(expected, got)
        result.by_verdict.setdefault(expected or "invented", Judgement()).add(expected, got)
        if expected != got:
            result.confusions[expected or "(no claim)", got or "(not found)"] += 1
    # A row without claims in which none is found still counts for its language.
    result.by_lang.setdefault(row.lang, Judgement())
    if not all_right:
        said = [f"{role}: {text}" for role, text in row.rows]
        wrong = Wrong(row.id, "wrong", "\n".join([*said, f"write: {row.text}"]))
        wrong.expected = [_expectation(one) for one in row.expect] or ["no claim"]
        wrong.found = [str(one) for one in found] or ["no claim"]
        result.wrong.append(wrong)


def _expectation(expected: Expected) -> str:
    return f"{expected.verdict}: {expected.claim}"


def _write(event: str, session: str, surface: str, text: str, at: int = 0) -> Event:
    kind: Surface = "skill" if surface == "skill" else "memory"
    return Event(event, session, at, Write(kind, "eval", "", text))


def _found(findings: Sequence[Finding], text: str) -> list[Found]:
    """The claims among the findings, in the order in which they stand in the text."""
    claims = []
    content = utf8(text)
    for finding in findings:
        if finding.guard != "provenance":
            continue
        try:
            facts = json.loads(finding.facts or "{}")
        except ValueError:
            facts = {}
        claims.append(
            Found(
                verdict=finding.rule.removeprefix("provenance."),
                start=finding.start,
                end=finding.end,
                text=content[finding.start : finding.end].decode("utf-8", "replace"),
                reason=finding.reason,
                by=" ".join(str(facts.get(name, "?")) for name in ("construction", "kind", "polarity")),
            )
        )
    return sorted(claims, key=lambda one: (one.start, one.end))


def _show_claims(result: ClaimsResult, screen: Screen) -> None:
    heads = ("", "rows", "precision", "95 %", "recall", "95 %", "F1", "found", "false alarms", "missed", "quiet")
    for title, parts in (("claims", {"all": result.whole, **result.by_lang}), ("by kind", result.by_kind)):
        screen.title(title)
        rows = []
        for name, part in parts.items():
            precision, recall = part.intervals()
            # A kind is all claims or all near misses, so that its precision says nothing.
            shown = (_number(part.precision), _interval(precision, part.tp + part.fp))
            if parts is result.by_kind:
                shown = ("-", "-")
            rows.append(
                (
                    name,
                    str(part.rows),
                    *shown,
                    _number(part.recall),
                    _interval(recall, part.tp + part.fn),
                    "-" if parts is result.by_kind else _number(part.f1),
                    *(str(count) for count in (part.tp, part.fp, part.fn, part.tn)),
                )
            )
        screen.table(heads, rows, right=range(1, len(heads)))


def _show_verdicts(result: VerdictsResult, screen: Screen) -> None:
    heads = ("", "claims", "right", "accuracy", "95 %", "false pass", "false fail", "missed", "invented")
    for title, parts in (("verdicts", {"all": result.whole, **result.by_lang}), ("by verdict", result.by_verdict)):
        screen.title(title)
        rows = [
            (
                name,
                str(part.claims),
                str(part.right),
                _number(part.accuracy),
                _interval(part.interval(), part.claims + part.invented),
                *(str(count) for count in (part.false_pass, part.false_fail, part.missed, part.invented)),
            )
            for name, part in parts.items()
        ]
        screen.table(heads, rows, right=range(1, len(heads)))
    if result.confusions:
        screen.title("taken for another")
        confused = sorted(result.confusions.items(), key=lambda pair: (-pair[1], pair[0]))
        screen.table(("expected", "found", "claims"), [(*pair, str(count)) for pair, count in confused], right=(2,))


def _show_wrong(wrong: Sequence[Wrong], show: int, screen: Screen) -> None:
    screen.line()
    if not wrong:
        screen.line("No row is wrong.")
        return
    screen.line(f"{len(wrong)} {'row is' if len(wrong) == 1 else 'rows are'} wrong.")
    if not show:
        screen.line("--show-wrong N shows the first N.", "dim")
    for row in wrong[:show]:
        screen.title(f"{row.id}: {row.head}")
        for line in row.text.split("\n"):
            screen.line(line)
        for line in row.expected:
            screen.pair("expected", line, "good")
        for line in row.found:
            screen.pair("found", line, "bad")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _interval(interval: tuple[float, float], of: int) -> str:
    return f"{interval[0]:.3f} to {interval[1]:.3f}" if of else "-"
