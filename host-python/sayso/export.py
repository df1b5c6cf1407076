"""Exports: a ledger as JSON Lines that anyone can verify without sayso's key, and the check of such a file.

The first line names the ledger, then comes one line an entry, and the last line is the checkpoint, so that a missing
end is noticed. Hashes are hexadecimal; `row` is the text that was hashed.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from pathlib import Path
from typing import Any

from .chain import HASH, Checkpoint, Peaks, genesis
from .store import Entry, Store
from .types import LedgerError
from .verify import Fault, Verification, Walk

FORMAT = "sayso-ledger"
VERSION = 1
_CHUNK = 500
_TEXTS = ("event_id", "session", "kind", "row")
_HASHES = ("commitment", "prev_hash", "hash", "seal")
_FIELDS = {"seq", "at", *_TEXTS, *_HASHES}


def write_export(store: Store, path: Path) -> int:
    """Writes all entries of `store` to `path`, which only its owner can read; gives their number."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    peaks = Peaks()
    try:
        with open(
            os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8", newline="\n"
        ) as file:
            with store.reading():
                dropped = store.dropped_before()
                first = {
                    "format": FORMAT,
                    "version": VERSION,
                    "origin": store.origin,
                    "predecessor": store.predecessor,
                    "dropped_before": dropped,
                }
                file.write(_line(first))
                seq = 0
                while part := store.after(seq, _CHUNK):
                    for entry in part:
                        file.write(_line(_object(entry)))
                    seq = part[-1].seq
                peaks.size, root = seq, store.root(seq) if seq else peaks.root()
            file.write(_line({"checkpoint": Checkpoint(store.origin, seq, root).text()}))
        os.rename(draft, path)
    except OSError as error:
        raise LedgerError(f"The export {path} can't be written: {error.strerror}.") from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(draft)
    return seq


def verify_export(path: Path) -> Verification:
    """Checks a file that `write_export` made. Seals need the key and are not checked.

    Raises LedgerError when the file can't be read at all.
    """
    check = _Check()
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                if fault := check.line(number, line):
                    return check.result(fault)
    except OSError as error:
        raise LedgerError(f"The export {path} can't be read: {error.strerror}.") from None
    return check.result(check.end())


class _Check:
    def __init__(self) -> None:
        self._walk = Walk(b"", None, None)
        self._header: dict[str, Any] = {"origin": "", "predecessor": ""}
        self._ended = False
        self._lines = 0

    def line(self, number: int, line: bytes) -> Fault | None:
        self._lines = number
        fault = _json_fault(line) or self._accept(number, json.loads(line))
        return None if fault is None else Fault(fault.seq or self._walk.peaks.size + 1, fault.kind, fault.what, number)

    def end(self) -> Fault | None:
        if self._ended:
            return None
        return Fault(self._walk.peaks.size + 1, "cut", "the export ends before its checkpoint", self._lines + 1)

    def result(self, fault: Fault | None) -> Verification:
        peaks = self._walk.peaks
        origin, predecessor = self._header["origin"], self._header["predecessor"]
        return Verification(fault is None, peaks.size, peaks.root(), fault, origin, self._walk.dropped, predecessor)

    def _accept(self, number: int, found: dict[str, Any]) -> Fault | None:
        if number == 1:
            return self._begin(found)
        if self._ended:
            return Fault(0, "inserted", "there is a line behind the checkpoint")
        if "checkpoint" in found:
            return self._finish(found["checkpoint"])
        entry = _entry(found)
        if entry is None:
            return Fault(0, "malformed", "the line is no entry of a ledger")
        if fault := self._walk.wrong(entry):
            return fault
        for _ in self._walk.add(entry):
            pass
        return None

    def _begin(self, found: dict[str, Any]) -> Fault | None:
        origin, predecessor, dropped = (found.get(name) for name in ("origin", "predecessor", "dropped_before"))
        if found.get("format") != FORMAT:
            return Fault(0, "malformed", "the first line does not name a ledger of sayso")
        if found.get("version") != VERSION:
            return Fault(0, "malformed", f"the version of the export is not {VERSION}")
        if (
            not isinstance(origin, str)
            or not isinstance(predecessor, str)
            or not (dropped is None or type(dropped) is int)
        ):
            return Fault(0, "malformed", "the first line is incomplete")
        self._header = found
        self._walk = Walk(genesis(origin, predecessor), None, dropped)
        return None

    def _finish(self, text: object) -> Fault | None:
        self._ended = True
        try:
            checkpoint = Checkpoint.parse(text if isinstance(text, str) else "")
        except ValueError as error:
            return Fault(0, "malformed", str(error))
        peaks = self._walk.peaks
        if checkpoint.size > peaks.size:
            what = f"the checkpoint knows {checkpoint.size} entries and {peaks.size} are there"
            return Fault(peaks.size + 1, "cut", what)
        if checkpoint != Checkpoint(self._header["origin"], peaks.size, peaks.root()):
            return Fault(peaks.size, "rewritten", "the checkpoint belongs to other entries")
        return None


def _json_fault(line: bytes) -> Fault | None:
    whole = line.endswith(b"\n")
    try:
        text = line.decode()
        found, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return Fault(0, "torn", "the line is torn: it holds a part of an entry only")
    if text[end:].strip():
        return Fault(0, "joined", "two lines are joined to one")
    if not whole:
        return Fault(0, "torn", "the line has no end")
    return None if isinstance(found, dict) else Fault(0, "malformed", "the line is no JSON object")


def _line(found: dict[str, Any]) -> str:
    return json.dumps(found, ensure_ascii=False, separators=(",", ":")) + "\n"


def _object(entry: Entry) -> dict[str, Any]:
    found: dict[str, Any] = {"seq": entry.seq, "at": entry.at}
    found.update({name: getattr(entry, name) for name in _TEXTS})
    found.update({name: getattr(entry, name).hex() for name in _HASHES})
    if entry.body is not None and entry.salt is not None:
        found.update(salt=entry.salt.hex(), body=entry.body)
    return found


def _entry(found: dict[str, Any]) -> Entry | None:
    """The entry in a line, or None where a field is missing, unknown or of a wrong type."""
    extra = set(found) - _FIELDS
    texts = [found.get(name) for name in _TEXTS]
    numbers = [found.get("seq"), found.get("at")]
    if set(found) - extra != _FIELDS or extra not in (set(), {"salt", "body"}):
        return None
    if not all(isinstance(text, str) for text in texts) or not all(type(number) is int for number in numbers):
        return None
    if not all(-(1 << 63) <= number < 1 << 63 for number in numbers if number is not None):
        return None
    try:
        hashes = [bytes.fromhex(found[name]) for name in _HASHES]
        salt = bytes.fromhex(found["salt"]) if extra else None
        "".join([*map(str, texts), str(found.get("body", ""))]).encode()
    except (TypeError, ValueError):
        return None
    if any(len(one) != HASH for one in hashes[1:3]) or (extra and not isinstance(found["body"], str)):
        return None
    columns = (found["seq"], *texts[:3], found["at"], texts[3], *hashes, salt, found.get("body"))
    return Entry._make(columns)
