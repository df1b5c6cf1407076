"""`sayso eval repetition`: texts judged as the argument of one call, by the repetition guard alone.

A row counts as found when the guard would refuse the call under `enforce`. Texts given by a generator are written out
as `corpus/README.md` says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .documents import Fields, shortened
from .labels import labelled_rows
from .measure import Detection
from .opening import Opener
from .screen import Advance, Screen
from .types import Call, Event, Finding

SETTINGS = json.dumps(
    {"profile": "strict", "modes": {"repetition": "enforce", "loops": "off", "credentials": "off", "tamper": "off"}}
)
VARIATIONS = ("none", "counter", "drift", "case", "space")
TEXT_MAX = 16_000_000
"""Characters of a generated text. More than the engine takes would only cost memory."""


@dataclass(frozen=True, slots=True)
class RepetitionRow:
    """One text, and whether a model got stuck in it."""

    id: str
    surface: str
    text: str
    positive: bool
    kind: str


@dataclass(slots=True)
class RepetitionResult:
    """What was measured on `repetition` rows."""

    whole: Detection = field(default_factory=Detection)
    by_kind: dict[str, Detection] = field(default_factory=dict)
    by_surface: dict[str, Detection] = field(default_factory=dict)
    wrong: list[tuple[RepetitionRow, list[str]]] = field(default_factory=list)

    def document(self) -> dict[str, object]:
        """As `--json` prints it."""
        return {
            "kind": "repetition",
            **self.whole.document(),
            "by": {
                "kind": {name: part.document() for name, part in sorted(self.by_kind.items())},
                "surface": {name: part.document() for name, part in sorted(self.by_surface.items())},
            },
            "wrong": [row.id for row, _ in self.wrong],
        }


def evaluate_repetition(files: list[str], judge: Opener, screen: Screen, as_json: bool, show_wrong: int) -> int:
    """Measures, prints and returns the exit code 0. Raises `InputError` for a malformed row, `EngineError`."""
    rows = repetition_rows(files)
    with screen.progress(len(rows), "texts") as advance:
        result = measure_repetition(rows, judge, advance)
    if as_json:
        screen.json(result.document())
        for row, found in result.wrong[:show_wrong]:
            expected = "loop" if row.positive else "data"
            screen.talk(json.dumps({"id": row.id, "text": row.text[:400], "expected": [expected], "found": found}))
        return 0
    whole = result.whole
    screen.title("repetition")
    heads = ("", "rows", "precision", "recall", "found", "false alarms", "missed", "quiet")
    table = [_line("all", whole), *(_line(name, part) for name, part in sorted(result.by_kind.items()))]
    screen.table(heads, table, right=range(1, len(heads)))
    (low, high), (least, most) = whole.intervals()
    screen.pair("95 %", f"precision {low:.3f} to {high:.3f}, recall {least:.3f} to {most:.3f}", width=10)
    for row, found in result.wrong[:show_wrong]:
        screen.title(f"{row.id}: {'missed' if row.positive else 'false alarm'}")
        screen.line(row.text[:400])
        for line in found:
            screen.pair("found", line, "bad")
    return 0


def _line(name: str, part: Detection) -> tuple[str, ...]:
    ratios = ("-" if value is None else f"{value:.3f}" for value in (part.precision, part.recall))
    return (name, str(part.rows), *ratios, *(str(count) for count in (part.tp, part.fp, part.fn, part.tn)))


def measure_repetition(
    rows: Sequence[RepetitionRow], judge: Opener, advance: Advance = lambda: None
) -> RepetitionResult:
    """Judges each text as an argument of one call."""
    result = RepetitionResult()
    session = judge(SETTINGS)
    for number, row in enumerate(rows):
        arguments = json.dumps({"content": row.text}, ensure_ascii=False)
        verdict = session.check(Event(f"c{number}", "eval", number, Call(f"{number}", "write_file", arguments)))
        findings = [one for one in verdict.findings if one.guard == "repetition"]
        found = verdict.action == "refuse" and any(one.level == "error" for one in findings)
        result.whole.add(row.positive, found)
        result.by_kind.setdefault(row.kind, Detection()).add(row.positive, found)
        result.by_surface.setdefault(row.surface, Detection()).add(row.positive, found)
        if found != row.positive:
            result.wrong.append((row, [_told(one) for one in findings]))
        advance()
    return result


def _told(finding: Finding) -> str:
    return f"{finding.rule}: {finding.reason}"


def repetition_rows(names: list[str]) -> list[RepetitionRow]:
    """The rows of `repetition` files, in order."""
    return [_row(fields) for name in names for fields in labelled_rows(name)]


def _row(fields: Fields) -> RepetitionRow:
    text = "".join(_generated(fields)) if fields.has("generate") else fields.text("text", empty=False)
    return RepetitionRow(
        id=fields.text("id"),
        surface=fields.text("surface") if fields.has("surface") else "",
        text=text,
        positive=fields.choice("label", ("loop", "data")) == "loop",
        kind=fields.text("kind") if fields.has("kind") else "",
    )


def _generated(fields: Fields) -> Iterator[str]:
    made = 0
    for item in fields.items("generate"):
        part = Fields(item, fields.place, 'an item of "generate"')
        text = part.text("text", empty=False)
        repeat = part.value.get("repeat")
        if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 1:
            part.place.wrong(f'"repeat" must be a number from 1, not {shortened(repeat)}')
        made += len(text) * repeat
        if made > TEXT_MAX:
            part.place.wrong(f"makes a text of more than {TEXT_MAX} characters")
        yield from _copies(text, repeat, part.choice("vary", VARIATIONS) if part.has("vary") else "none")


def _copies(text: str, repeat: int, vary: str) -> Iterator[str]:
    words = [match.span() for match in re.finditer(r"\S+", text)]
    for number in range(repeat):
        if vary == "counter":
            yield text.replace("{i}", str(number + 1))
        elif vary == "case" and number % 2:
            yield text.upper()
        elif vary == "space" and number + 1 < repeat:
            yield text + " " * (1 + number % 2)
        elif vary == "drift" and words:
            start, end = words[number % len(words)]
            after = words[(number + 1) % len(words)]
            yield text[:start] + text[slice(*after)] + text[end:]
        else:
            yield text
