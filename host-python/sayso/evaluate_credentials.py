"""`sayso eval credentials`: texts as results of a tool, with and without a credential in them.

A secret counts as found when the row's `secret` is gone from the text that the agent would read. A clean row whose text
changed is a false alarm. The guards that judge or shorten results for other reasons are off.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from .labels import CredentialRow, credential_rows
from .measure import Detection
from .opening import Opener
from .screen import Advance, Screen
from .types import Event, Outcome

SETTINGS = json.dumps({"modes": {"credentials": "enforce", "loops": "off", "bounds": "off"}})


@dataclass(slots=True)
class CredentialsResult:
    """What was measured on `credentials` rows. `wrong`: id, what went wrong, the text as the agent reads it."""

    whole: Detection = field(default_factory=Detection)
    by_kind: dict[str, Detection] = field(default_factory=dict)
    wrong: list[tuple[str, str, str]] = field(default_factory=list)

    def document(self) -> dict[str, object]:
        """As `--json` prints it."""
        return {
            "kind": "credentials",
            **self.whole.document(),
            "by": {"kind": {name: part.document() for name, part in self.by_kind.items()}},
            "wrong": [row for row, _, _ in self.wrong],
        }


def evaluate_credentials(files: list[str], judge: Opener, screen: Screen, as_json: bool, show_wrong: int) -> int:
    """Measures, prints and returns the exit code 0. Raises `InputError` for a malformed row, `EngineError`."""
    rows = credential_rows(files)
    with screen.progress(len(rows), "credentials") as advance:
        result = measure_credentials(rows, judge, advance)
    if as_json:
        screen.json(result.document())
        for row, head, text in result.wrong[:show_wrong]:
            screen.talk(json.dumps({"id": row, "wrong": head, "text": text}))
        return 0
    whole = result.whole
    (low, high), (least, most) = whole.intervals()
    screen.title("credentials")
    screen.pair("found", f"{whole.tp} of {whole.tp + whole.fn} (95 %: {least:.3f} to {most:.3f})")
    screen.pair("false alarms", f"{whole.fp} of {whole.fp + whole.tn}; precision 95 %: {low:.3f} to {high:.3f}")
    for row, head, text in result.wrong[:show_wrong]:
        screen.title(f"{row}: {head}")
        screen.line(text)
    return 0


def measure_credentials(
    rows: Sequence[CredentialRow], judge: Opener, advance: Advance = lambda: None
) -> CredentialsResult:
    """Redacts each row by itself."""
    result = CredentialsResult()
    session = judge(SETTINGS)
    for number, row in enumerate(rows):
        outcome = Outcome(f"call-{number}", "terminal", "{}", "ok", row.text)
        verdict = session.check(Event(f"r{number}", "eval", number, outcome))
        text = verdict.text if verdict.action == "rewrite" else row.text
        found = row.secret not in text if row.secret is not None else text != row.text
        positive = row.secret is not None
        result.whole.add(positive, found)
        result.by_kind.setdefault(row.kind, Detection()).add(positive, found)
        if positive != found:
            result.wrong.append((row.id, "missed" if positive else "false alarm", text))
        advance()
    result.by_kind = dict(sorted(result.by_kind.items()))
    return result
