"""The claims that stand in notes, and what a history of any length says about each.

The engine remembers about 48 MB of text, so the history comes to it in batches. What a claim's verdict rests on is
told to the next batch again, so that the last word counts wherever a batch ends.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from .opening import Judge, Opener
from .scan_history import Row
from .scan_notes import Note
from .types import EngineError, Event, Evidence, Finding, Verdict, Write

Outcome = Literal["quoted", "traceable", "contradicted", "no trace"]
OUTCOMES: tuple[Outcome, ...] = ("no trace", "contradicted", "traceable", "quoted")
"""From the worst to the best."""

# The verdicts of the engine (`corpus/LABELS.md` section 2), in the order in which a later one says more.
VERDICTS = (
    "no-quote",
    "not-found",
    "wrong-speaker",
    "quoted-material",
    "unrelated",
    "negation-dropped",
    "not-a-commitment",
    "retracted",
    "assented",
    "supported",
)
SUPPORTED = frozenset(("assented", "supported"))
# Where the history holds nothing against the claim; evidence of these is a message that would support it.
OPEN = frozenset(("no-quote", "not-found"))
# What a message that would support a claim can turn out to be, once the engine reads it as its quote.
DISPROVED = frozenset(("negation-dropped", "not-a-commitment", "retracted"))

BATCH_BYTES = 16_000_000
"""Bytes of text (UTF-8) in one batch. The engine takes about three times as much memory for it."""

BATCH_ROWS = 50_000

SPEAKERS_MAX = 256
"""Sessions whose last word of the agent is remembered, for a "yes" that follows when the session goes on."""

TRIED_AT_ONCE = 16
"""Claims that are tried with a quote in one check. Others may stand in the same lines, and a verdict tells 64."""

QUOTED_BYTES_MAX = 2_000
"""The longest sentence that is tried as a quote."""

MARKS = (("\N{LEFT DOUBLE QUOTATION MARK}", "\N{RIGHT DOUBLE QUOTATION MARK}"), ('"', '"'), ("«", "»"), ("「", "」"))


@dataclass(slots=True)
class Claim:
    """One claim of a note: its span in bytes of the note's UTF-8, what was found last, and the rows that speak for or
    against it by the names that the finding's evidence gives them."""

    note: Note
    start: int
    end: int
    finding: Finding
    outcome: Outcome = "no trace"
    rows: dict[str, Row] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """The engine's word for it."""
        return self.finding.rule.removeprefix("provenance.")

    @property
    def text(self) -> str:
        """Its words."""
        return _cut(self.note.text, self.start, self.end)

    @property
    def passes(self) -> bool:
        """Whether the history supports it."""
        return self.outcome in ("quoted", "traceable")


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a note with as many claims as one verdict can tell. `start` is a byte of the note."""

    note: Note
    start: int
    text: str

    def event(self, number: int) -> Event:
        return Event(f"write-{number}", "scan", 0, Write(self.note.surface, self.note.name, "", self.text))


class Audit:
    """All claims of some notes, held against a history. Every method may raise `EngineError`."""

    def __init__(self, notes: Sequence[Note], judge: Opener, document: str) -> None:
        """Looks for the claims. `document` is the engine's settings."""
        self._judge = judge
        self._document = document
        self._claims: dict[tuple[str, int, int], Claim] = {}
        self._pieces: list[_Piece] = []
        self._floor: OrderedDict[str, Row] = OrderedDict()
        self._speaker = ""
        #: Claims of one line beyond those that the engine tells.
        self.untold = 0
        session = judge(document)
        for note in notes:
            self._find(session, _Piece(note, 0, note.text))

    @property
    def claims(self) -> list[Claim]:
        """The claims, in the order of the notes."""
        return list(self._claims.values())

    def hear(self, rows: Iterable[Row]) -> None:
        """Holds the claims against everything said, in batches."""
        batch: list[Row] = []
        size = 0
        for row in rows:
            batch.append(row)
            size += len(row.text.encode("utf-8"))
            if size >= BATCH_BYTES or len(batch) >= BATCH_ROWS:
                self._weigh(batch)
                batch, size = [], 0
        if batch:
            self._weigh(batch)

    def _find(self, session: Judge, piece: _Piece) -> None:
        """Cuts a note into pieces and keeps those with claims in them."""
        try:
            verdict = session.check(piece.event(0))
            cut = _middle(piece.text) if verdict.more else 0
        except EngineError:
            verdict, cut = None, _middle(piece.text)
            if not cut:
                raise
        if cut or verdict is None:
            self._find(session, replace(piece, text=piece.text[:cut]))
            after = piece.start + len(piece.text[:cut].encode("utf-8"))
            self._find(session, _Piece(piece.note, after, piece.text[cut:]))
            return
        found = _told(verdict)
        self.untold += verdict.more
        if found:
            self._pieces.append(piece)
        for finding in sorted(found, key=lambda one: (one.start, one.end)):
            here = _moved(finding, piece.start)
            self._claims[piece.note.name, here.start, here.end] = Claim(piece.note, here.start, here.end, here)

    def _weigh(self, batch: list[Row]) -> None:
        """Judges every claim after one batch. A batch that is too much for the engine is cut in two."""
        if not self._claims:
            return
        floor, speaker = self._floor.copy(), self._speaker
        try:
            self._weigh_at_once(batch)
        except EngineError:
            if len(batch) < 2:
                raise
            self._floor, self._speaker = floor, speaker
            self._weigh(batch[: len(batch) // 2])
            self._weigh(batch[len(batch) // 2 :])

    def _weigh_at_once(self, batch: list[Row]) -> None:
        session = self._judge(self._document)
        heard: dict[str, Row] = {}
        for row in (*self._again(), *self._in_turn(batch)):
            session.capture(row.event())
            heard[row.entry] = row
        for number, piece in enumerate(self._pieces):
            for finding in _told(session.check(piece.event(number))):
                here = _moved(finding, piece.start)
                claim = self._claims.get((piece.note.name, here.start, here.end))
                if claim is not None:
                    _settle(claim, here, heard)
        traceable = [claim for claim in self._claims.values() if claim.outcome == "traceable"]
        for first in range(0, len(traceable), TRIED_AT_ONCE):
            _try_as_quotes(traceable[first : first + TRIED_AT_ONCE], session, heard)

    def _again(self) -> Iterator[Row]:
        """What the verdicts rest on so far, oldest first."""
        rows = {row.entry: row for claim in self._claims.values() for row in claim.rows.values()}
        session = ""
        for row in sorted(rows.values(), key=lambda row: _order(row.entry)):
            if row.session != session:
                session = row.session
                yield _pause(session)
            yield row
        self._speaker = ""

    def _in_turn(self, batch: list[Row]) -> Iterator[Row]:
        """The rows as the engine should hear them. Sessions may alternate: a "yes" answers the agent of its own
        session, and the first word of a session answers nothing."""
        for row in batch:
            if row.session != self._speaker:
                self._speaker = row.session
                yield _pause(row.session)
                if row.session in self._floor:
                    yield self._floor[row.session]
            yield row
            if row.role == "assistant":
                self._floor[row.session] = row
                self._floor.move_to_end(row.session)
                while len(self._floor) > SPEAKERS_MAX:
                    self._floor.popitem(last=False)


def _pause(session: str) -> Row:
    """A row of nobody's. What follows answers nothing that stands before it."""
    return Row("pause", session, 0, "system", "harness", "")


def _told(verdict: Verdict) -> list[Finding]:
    """The claims among the findings."""
    return [one for one in verdict.findings if one.guard == "provenance" and one.end > one.start]


def _outcome(finding: Finding) -> Outcome:
    word = finding.rule.removeprefix("provenance.")
    if word in SUPPORTED:
        # Without evidence the same claim passed in another note, where its quote stands.
        return "quoted" if finding.evidence else "traceable"
    if word in OPEN:
        return "traceable" if finding.evidence else "no trace"
    return "contradicted"


def _rank(outcome: Outcome, finding: Finding) -> tuple[int, int]:
    word = finding.rule.removeprefix("provenance.")
    return OUTCOMES.index(outcome), VERDICTS.index(word) if word in VERDICTS else 0


def _settle(claim: Claim, finding: Finding, heard: dict[str, Row]) -> None:
    """Takes over what a batch says where it says more than those before. That something was taken back always counts:
    the engine has heard again what the claim rested on."""
    outcome = _outcome(finding)
    better = _rank(outcome, finding) >= _rank(claim.outcome, claim.finding)
    if better or finding.rule == "provenance.retracted":
        claim.finding, claim.outcome = finding, outcome
        claim.rows = {one.entry: heard[one.entry] for one in finding.evidence if one.entry in heard}


def _try_as_quotes(claims: list[Claim], session: Judge, heard: dict[str, Row]) -> None:
    """Lets the engine read the messages that would support claims as their quotes: one may have been taken back, or
    hang on a condition."""
    text = ""
    places: dict[tuple[int, int], tuple[Claim, int]] = {}
    for claim in claims:
        words = _would_pass(claim)
        if words:
            first, line = _line(claim)
            shift = len(text.encode("utf-8")) - first
            places[claim.start + shift, claim.end + shift] = claim, shift
            text += f"{line} ({words})\n\n"
    if not text:
        return
    for finding in _told(session.check(Event("tried", "scan", 0, Write("memory", "scan", "", text)))):
        place = (finding.start, finding.end)
        if place in places and finding.rule.removeprefix("provenance.") in DISPROVED:
            claim, shift = places[place]
            claim.finding, claim.outcome = _moved(finding, -shift), "contradicted"
            claim.rows = {one.entry: heard[one.entry] for one in finding.evidence if one.entry in heard}


def _line(claim: Claim) -> tuple[int, str]:
    """The line of its note in which a claim stands, and the byte at which that begins."""
    content = claim.note.text.encode("utf-8")
    first = content.rfind(b"\n", 0, claim.start) + 1
    after = content.find(b"\n", claim.end)
    return first, content[first : len(content) if after < 0 else after].decode("utf-8", "replace")


def _would_pass(claim: Claim) -> str:
    """The words of the message that would support a claim, in quotation marks that they don't hold themselves."""
    for proof in claim.finding.evidence:
        row = claim.rows.get(proof.entry)
        if row is None or not row.is_human or not 0 < proof.end - proof.start <= QUOTED_BYTES_MAX:
            continue
        words = " ".join(_cut(row.text, proof.start, proof.end).split())
        for left, right in MARKS:
            if left not in words and right not in words:
                return f"{left}{words}{right}"
    return ""


def proofs(claim: Claim) -> Iterator[tuple[Row, Evidence]]:
    """What speaks for or against a claim: each row with the place in it."""
    for proof in claim.finding.evidence:
        if proof.entry in claim.rows:
            yield claim.rows[proof.entry], proof


def _moved(finding: Finding, by: int) -> Finding:
    return finding._replace(start=finding.start + by, end=finding.end + by)


def _cut(text: str, start: int, end: int) -> str:
    return text.encode("utf-8")[start:end].decode("utf-8", "replace")


def _order(entry: str) -> tuple[int, int]:
    """The place of an entry in the history: the number of the stored message, and of the part of it."""
    number, _, part = entry.partition(".")
    return int(number), int(part or 0)


def _middle(text: str) -> int:
    """Where to cut a text in two, in characters: at the empty line or entry nearest the middle, else at a line. 0 where
    there is nothing to cut."""
    half = len(text) // 2
    for border in ("\n§\n", "\n\n", "\n"):
        places = (text.rfind(border, 0, half), text.find(border, half))
        found = [at + len(border) for at in places if at >= 0]
        found = [at for at in found if 0 < at < len(text)]
        if found:
            return min(found, key=lambda at: abs(at - half))
    return 0
