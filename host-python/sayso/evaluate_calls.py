"""`sayso eval calls`: sequences of calls, judged by the loops guard under the strict profile.

The other guards of calls are off: a sequence may hold what another guard stops. A sequence is right when exactly the
expected calls are stopped. What a stopped call gave back is not captured, as in a real session.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from .labels import CallsRow, calls_rows
from .measure import ratio, rounded, wilson
from .opening import Opener
from .screen import Advance, Screen
from .types import Call, Event, Mark, Occasion, Outcome

SETTINGS = json.dumps(
    {"profile": "strict", "modes": {"repetition": "off", "credentials": "off", "tamper": "off", "bounds": "off"}}
)


@dataclass(slots=True)
class CallsResult:
    """What was measured on `calls` rows. `stopped`, `missed` and `extra` count calls."""

    rows: int = 0
    right: int = 0
    stopped: int = 0
    missed: int = 0
    extra: int = 0
    wrong: list[tuple[str, list[int], list[int]]] = field(default_factory=list)

    def document(self) -> dict[str, object]:
        """As `--json` prints it."""
        return {
            "kind": "calls",
            "rows": self.rows,
            "right": self.right,
            "accuracy": ratio(self.right, self.rows),
            "stopped": self.stopped,
            "missed": self.missed,
            "extra": self.extra,
            "wilson": {"accuracy": rounded(wilson(self.right, self.rows))},
            "wrong": [row for row, _, _ in self.wrong],
        }


def evaluate_calls(files: list[str], judge: Opener, screen: Screen, as_json: bool, show_wrong: int) -> int:
    """Measures, prints and returns the exit code 0. Raises `InputError` for a malformed row, `EngineError`."""
    rows = calls_rows(files)
    with screen.progress(len(rows), "calls") as advance:
        result = measure_calls(rows, judge, advance)
    if as_json:
        screen.json(result.document())
        for row, expected, found in result.wrong[:show_wrong]:
            screen.talk(json.dumps({"id": row, "expected": expected, "found": found}))
        return 0
    low, high = wilson(result.right, result.rows)
    screen.title("calls")
    screen.pair("sequences right", f"{result.right} of {result.rows} (95 %: {low:.3f} to {high:.3f})")
    screen.pair("calls stopped", f"{result.stopped} rightly, {result.missed} missed, {result.extra} that should run")
    for row, expected, found in result.wrong[:show_wrong]:
        screen.title(row)
        screen.pair("expected", str(expected), "good")
        screen.pair("found", str(found), "bad")
    return 0


def measure_calls(rows: Sequence[CallsRow], judge: Opener, advance: Advance) -> CallsResult:
    """Plays each sequence into a session of its own."""
    result = CallsResult()
    for row in rows:
        found = stopped(row, judge)
        result.rows += 1
        result.right += found == row.stopped
        result.stopped += len(found & row.stopped)
        result.missed += len(row.stopped - found)
        result.extra += len(found - row.stopped)
        if found != row.stopped:
            result.wrong.append((row.id, sorted(row.stopped), sorted(found)))
        advance()
    return result


def stopped(row: CallsRow, judge: Opener) -> frozenset[int]:
    """The indexes of the calls that are stopped."""
    session = judge(SETTINGS)
    found = set()
    for index, step in enumerate(row.steps):

        def event(what: Occasion, name: str, at: int = index, of: str = step.session) -> Event:
            return Event(f"{name}{at}", of, at, what)

        if step.reset:
            # Without a session it is a reset of all.
            session.capture(Event(f"k{index}", "", index, Mark("reset")))
            continue
        call_id = f"call-{index}"
        if session.check(event(Call(call_id, step.tool, step.arguments), "c")).action == "refuse":
            found.add(index)
            continue
        session.check(event(Outcome(call_id, step.tool, step.arguments, "ok", step.result), "r"))
    return frozenset(found)
