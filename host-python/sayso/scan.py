"""`sayso scan`: what already stands in memory and skills, held against everything that the user ever said to Hermes.

Only reads: notes and `state.db` stay as they are, and nothing goes to the ledger.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from .documents import InputError
from .opening import Opener
from .scan_claims import OUTCOMES, Audit, Claim, proofs
from .scan_history import History, Row
from .scan_notes import Notes
from .scan_page import GENERATOR, page
from .screen import Screen, Style
from .settings import Settings
from .showing import facts_of, show_finding

STYLES: dict[str, Style] = {"quoted": "good", "traceable": "good", "contradicted": "bad", "no trace": "warn"}


@dataclass(slots=True)
class Heard:
    """How much was read: all rows, those of people, and the first and the last of these."""

    rows: int = 0
    human: int = 0
    first: str = ""
    last: str = ""

    def count(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Passes rows on and counts them."""
        for row in rows:
            self.rows += 1
            if row.is_human:
                self.human += 1
                self.first = self.first or row.when
                self.last = row.when or self.last
            yield row


@dataclass(slots=True)
class Scan:
    """What was found. `newest` is how many sessions were asked for, 0 for all."""

    home: Path
    notes: Notes
    claims: list[Claim]
    heard: Heard
    schema: int
    sessions: int
    sessions_in_all: int
    untold: int

    @property
    def counts(self) -> dict[str, int]:
        """Claims by outcome, the best first."""
        found = Counter(claim.outcome for claim in self.claims)
        return {outcome: found[outcome] for outcome in reversed(OUTCOMES)}

    @property
    def coverage(self) -> float | None:
        """Percent of the claims that the history supports; nothing where there are no claims."""
        if not self.claims:
            return None
        return round(100 * sum(claim.passes for claim in self.claims) / len(self.claims), 1)

    @property
    def clean(self) -> bool:
        """Whether every claim was judged and is supported."""
        return not self.untold and all(claim.passes for claim in self.claims)

    @property
    def sentences(self) -> list[str]:
        """What was read and found, for a person."""
        heard, sessions = self.heard, f"{self.sessions} of {self.sessions_in_all}"
        span = f", {heard.first} to {heard.last}" if heard.first else ""
        counted = ", ".join(f"{count} {outcome}" for outcome, count in self.counts.items())
        told = [f"Read: {heard.human} messages of the user in {sessions} sessions{span}."]
        if self.notes.shipped:
            told.append(f"Left out: {self.notes.shipped} skills that came with Hermes and are as they came.")
        if self.untold:
            told.append(f"Not judged: {self.untold} claims beyond the first 64 of one line.")
        if not self.claims:
            return [*told, f"No claims about the user in {len(self.notes.notes)} notes."]
        told.append(f"{len(self.claims)} claims in {len(self.notes.notes)} notes: {counted}.")
        return [*told, f"Coverage: {self.coverage} % of the claims are supported by what the user said."]


def scan(home: str, as_json: bool, html: str, newest: int, judge: Opener, mine: Settings, out: Screen) -> int:
    """Checks the notes of a home. 0 when every claim is supported, 1 when one is not. Raises `InputError` for a home
    without a history, `EngineError`."""
    folder = Path(home).expanduser() if home else mine.home
    if not folder.is_dir():
        raise InputError(f"{folder}: is no folder; --home names the one in which Hermes keeps state.db")
    found = look(folder, newest, judge, mine, out)
    for problem in found.notes.problems:
        out.talk(f"sayso: {problem}")
    if html:
        _write(Path(html), page(found.home, found.sentences, found.coverage, found.counts, found.claims))
    if as_json:
        out.json(document(found))
    else:
        show(found, out)
        if html:
            out.talk(f"The page is in {html}.")
    return 0 if found.clean else 1


def look(home: Path, newest: int, judge: Opener, mine: Settings, out: Screen) -> Scan:
    """Reads notes and history of a home and holds them against each other."""
    # Who asks wants an answer, whatever is switched off in the host; and a claim that passes here must not vouch for
    # the same words in the next note.
    asked = replace(mine, modes={**mine.modes, "provenance": "enforce"}, claims={})
    history = History(home, newest, mine.principals)
    try:
        notes = Notes.read(home)
        audit = Audit(notes.notes, judge, asked.to_engine_json())
        heard = Heard()
        with out.progress(len(history), "messages") as advance:
            audit.hear(heard.count(history.rows(advance)))
        return Scan(
            home, notes, audit.claims, heard, history.schema, history.sessions, history.sessions_in_all, audit.untold
        )
    finally:
        history.close()


def document(found: Scan) -> dict[str, object]:
    """What `--json` prints. Spans are half-open byte offsets into the UTF-8 of the note, or of the message."""
    return {
        "home": str(found.home),
        "history": {
            "schema": found.schema,
            "sessions": found.sessions,
            "sessions_in_all": found.sessions_in_all,
            **asdict(found.heard),
        },
        "notes": [{"note": note.name, "surface": note.surface} for note in found.notes.notes],
        "shipped": found.notes.shipped,
        "problems": found.notes.problems,
        "claims": [_claim(claim) for claim in found.claims],
        "untold": found.untold,
        "counts": found.counts,
        "coverage": found.coverage,
        "clean": found.clean,
    }


def _claim(claim: Claim) -> dict[str, object]:
    facts = facts_of(claim.finding)
    evidence = [
        {
            "message": row.entry,
            "session": row.session,
            "at": row.at,
            "role": row.role,
            "origin": row.origin,
            "start": proof.start,
            "end": proof.end,
            "text": row.text.encode("utf-8")[proof.start : proof.end].decode("utf-8", "replace"),
            "note": proof.note,
        }
        for row, proof in proofs(claim)
    ]
    return {
        "note": claim.note.name,
        "line": claim.note.line(claim.start),
        "start": claim.start,
        "end": claim.end,
        "claim": claim.text,
        "outcome": claim.outcome,
        "rule": claim.finding.rule,
        **{name: facts.get(name) for name in ("kind", "polarity", "lang", "construction")},
        "reason": claim.finding.reason,
        "suggestion": claim.finding.suggestion,
        "evidence": evidence,
    }


def show(found: Scan, out: Screen) -> None:
    """The claims as a table, those that are not supported as blocks with evidence, and the figures."""
    if found.claims:
        out.title("claims in memory and skills")
        rows = [
            (
                f"{claim.note.name}:{claim.note.line(claim.start)}",
                claim.outcome,
                claim.verdict,
                str(facts_of(claim.finding).get("kind", "")),
                " ".join(claim.text.split()),
            )
            for claim in found.claims
        ]
        out.table(("note", "outcome", "finding", "kind", "claim"), rows)
    for claim in found.claims:
        if not claim.passes:
            heading = f"{claim.note.name}:{claim.note.line(claim.start)}: {claim.outcome}"
            with out.card(heading, STYLES[claim.outcome]):
                shelf = {entry: (row.label, row.text) for entry, row in claim.rows.items()}
                show_finding(out, claim.finding, claim.note.text, shelf)
    out.line()
    for sentence in found.sentences[:-1]:
        out.line(sentence)
    out.line(found.sentences[-1], "good" if found.clean else "bad")


def _write(path: Path, text: str) -> None:
    """Writes the page, readable by its owner only: it holds what the user said. Replaces an older page, and no other
    file: a command can also come from a chat."""
    try:
        with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
            head = file.read(1024)
            if head and GENERATOR.encode() not in head:
                raise InputError(f"{path}: is there already and is no page of a scan; --html takes another name")
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(opened, "w", encoding="utf-8") as written:
            written.write(text)
    except OSError as error:
        raise InputError(f"{path}: can't be written: {error.strerror}") from None
    except ValueError:
        raise InputError("--html: is no file name") from None
