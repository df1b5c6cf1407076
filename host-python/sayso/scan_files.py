"""`sayso scan-files`: which text files look as if a model got stuck in them.

Every file is judged by itself, as the argument of a call, by the engine that guards. Binary files and files that the
engine does not take are counted, never opened further. One file is held at a time. Links are not followed.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .documents import InputError
from .evaluate_repetition import SETTINGS
from .opening import Judge, Opener
from .screen import Screen
from .types import Call, Event, Finding

FILE_MAX_BYTES = 8 * 1024 * 1024
"""Larger files are counted as skipped: escaped as JSON they may be more than one event may hold."""

LOOKED_AT = 8192
"""Bytes at the beginning in which a zero byte tells a binary file."""


@dataclass(slots=True)
class Counts:
    """What became of the files."""

    files: int = 0
    bytes: int = 0
    binary: int = 0
    large: int = 0
    unreadable: int = 0
    flagged: int = 0
    seconds: float = 0.0

    def document(self) -> dict[str, object]:
        """As `--json` prints it."""
        share = round(self.flagged / self.files, 6) if self.files else None
        return {
            "files": self.files,
            "bytes": self.bytes,
            "skipped": {"binary": self.binary, "large": self.large, "unreadable": self.unreadable},
            "flagged": self.flagged,
            "share": share,
            "seconds": round(self.seconds, 3),
        }


def scan_files(names: Sequence[str], judge: Opener, screen: Screen, as_json: bool, half: str = "") -> int:
    """Judges all files under `names`, prints, and returns 1 when something is found. With `half` only files whose
    content hashes to the calibration half, or to the other (`check`). Raises `InputError`, `EngineError`."""
    for name in names:
        if not os.path.lexists(name):
            raise InputError(f"{name}: there is no such file or folder")
    counts = Counts()
    session = judge(SETTINGS)
    begun = time.monotonic()
    # The number is not known before the end: counting would read every folder twice.
    with screen.progress(0, "files") as advance:
        for path in walked(names):
            text = text_of(path, counts)
            if text is None or (half and half_of(text) != half):
                continue
            counts.files += 1
            counts.bytes += len(text)
            found = _loops(session, text, counts.files)
            if found:
                counts.flagged += 1
                _show(path, found, screen, as_json)
            advance()
    counts.seconds = time.monotonic() - begun
    _sum_up(counts, screen, as_json)
    return 1 if counts.flagged else 0


def half_of(content: bytes) -> str:
    """The half that a file belongs to, by its content: `calibrate` or `check`. The same on every machine."""
    import hashlib

    return "check" if hashlib.sha256(content).digest()[0] & 1 else "calibrate"


def walked(names: Sequence[str]) -> Iterator[Path]:
    """Regular files, by name, folders first opened when they come up."""
    for name in names:
        path = Path(name)
        if path.is_dir():
            for folder, folders, files in os.walk(path):
                folders[:] = sorted(f for f in folders if f != ".git")
                yield from (Path(folder, file) for file in sorted(files))
        else:
            yield path


def text_of(path: Path, counts: Counts) -> bytes | None:
    """The content of a text file; `None`, counted, for any other."""
    try:
        if path.is_symlink() or not path.is_file():
            return None
        if path.stat().st_size > FILE_MAX_BYTES:
            counts.large += 1
            return None
        content = path.read_bytes()
    except OSError:
        counts.unreadable += 1
        return None
    if b"\0" not in content[:LOOKED_AT]:
        try:
            content.decode("utf-8")
            return content
        except UnicodeDecodeError:
            pass
    counts.binary += 1
    return None


def _loops(session: Judge, content: bytes, number: int) -> list[Finding]:
    arguments = json.dumps({"content": content.decode("utf-8")}, ensure_ascii=False)
    verdict = session.check(Event(f"f{number}", "scan-files", number, Call(f"{number}", "write_file", arguments)))
    return [one for one in verdict.findings if one.level == "error"]


def _show(path: Path, found: list[Finding], screen: Screen, as_json: bool) -> None:
    if as_json:
        findings = [
            {"rule": f.rule, "start": f.start, "end": f.end, "reason": f.reason, "facts": json.loads(f.facts or "{}")}
            for f in found
        ]
        screen.json({"file": str(path), "findings": findings})
        return
    screen.title(str(path))
    for finding in found:
        screen.pair(finding.rule.removeprefix("repetition."), finding.reason, "bad", width=20)


def _sum_up(counts: Counts, screen: Screen, as_json: bool) -> None:
    if as_json:
        screen.json({"summary": counts.document()})
        return
    screen.line()
    speed = counts.bytes / counts.seconds / 1e6 if counts.seconds else 0.0
    screen.line(
        f"{counts.flagged} of {counts.files} text files look like a loop"
        f" ({counts.bytes / 1e6:.1f} MB in {counts.seconds:.1f} s, {speed:.1f} MB/s)."
    )
    screen.line(
        f"Left out: {counts.binary} binary, {counts.large} larger than {FILE_MAX_BYTES >> 20} MiB,"
        f" {counts.unreadable} unreadable.",
        "dim",
    )
