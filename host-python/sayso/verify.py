"""Verification: walks a whole ledger and names the first fault.

It finds what was changed, removed, inserted, reordered or cut by somebody without the key, or after a head was noted
elsewhere. Whoever has key and ledger can write a new history that only a noted head betrays.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from .chain import Checkpoint, Peaks, commitment, entry_hash, leaf_hash
from .head import Head
from .store import Entry, Store
from .types import LedgerError

FaultKind = Literal[
    "changed",
    "body",
    "removed",
    "inserted",
    "reordered",
    "seal",
    "key",
    "tree",
    "link",
    "cut",
    "rewritten",
    "head",
    "other-ledger",
    "damaged",
    "unreadable",
    "torn",
    "joined",
    "malformed",
]
#: How far back an entry is looked for that was removed together with its number.
_NEAR = 1_000
_CHUNK = 1_000


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong first. `seq` is 0 where no entry can be named, `line` is 0 outside of exports."""

    seq: int
    kind: FaultKind
    what: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Verification:
    """What a verification found. `size` and `root` are those of the part that is sound."""

    ok: bool
    size: int
    root: bytes
    fault: Fault | None
    origin: str
    #: Entries whose body is no longer kept.
    dropped: int
    #: The checkpoint of the ledger that this one replaced when its file was gone, or "".
    predecessor: str

    def checkpoint(self) -> Checkpoint:
        """The head of the sound part, to be noted elsewhere."""
        return Checkpoint(self.origin, self.size, self.root)


class Walk:
    """Checks entries one after the other, in the order of their numbers."""

    def __init__(self, first_previous: bytes, sealer: Store | None, dropped_before: int | None) -> None:
        self.peaks = Peaks()
        self.previous = first_previous
        self.dropped = 0
        self._sealer = sealer
        self._dropped_before = dropped_before

    def wrong(self, entry: Entry) -> Fault | None:
        """The fault of `entry` as the next one, if it has any; otherwise it is counted in."""
        seq = self.peaks.size + 1
        if entry.seq < seq:
            return Fault(entry.seq, "inserted", f"there is an entry with the number {entry.seq}")
        if entry.seq != seq:
            missing = f"entry {seq} is" if entry.seq == seq + 1 else f"entries {seq} to {entry.seq - 1} are"
            return Fault(seq, "removed", f"{missing} missing")
        if entry.prev_hash != self.previous:
            return Fault(seq, "inserted", f"entry {seq} does not follow the entry before it")
        if hash_of(entry, seq, self.previous) != entry.hash:
            return Fault(seq, "changed", f"entry {seq} was changed")
        if fault := self._body(entry) or self._seal(entry):
            return fault
        self.previous = entry.hash
        return None

    def _body(self, entry: Entry) -> Fault | None:
        if entry.body is None or entry.salt is None:
            if not entry.commitment:
                return None
            if self._dropped_before is None or entry.at >= self._dropped_before:
                return Fault(
                    entry.seq, "body", f"the body of entry {entry.seq} is missing, and retention did not drop it"
                )
            self.dropped += 1
            return None
        if not entry.commitment or commitment(entry.salt, entry.body) != entry.commitment:
            return Fault(entry.seq, "body", f"the body of entry {entry.seq} was changed")
        return None

    def _seal(self, entry: Entry) -> Fault | None:
        if self._sealer is None:
            return None
        expected = self._sealer.seal(entry.hash)
        if entry.seal == expected:
            return None
        if entry.seal[:8] == expected[:8]:
            return Fault(entry.seq, "seal", f"entry {entry.seq} was written by someone without the key")
        return Fault(entry.seq, "key", f"entry {entry.seq} is sealed with another key than the one in the key file")

    def add(self, entry: Entry) -> Iterator[tuple[int, int, bytes]]:
        """Counts in an entry that is not wrong; yields the inner nodes of the tree that it completes."""
        return self.peaks.add(leaf_hash(entry.hash))


def hash_of(entry: Entry, seq: int, previous: bytes) -> bytes:
    """The hash that `entry` would have as number `seq` behind `previous`."""
    columns = (entry.event_id, entry.session, entry.kind, entry.at, entry.row, entry.commitment)
    return entry_hash(seq, previous, *columns)


def verify_store(
    store: Store, head: Head | None, against: Sequence[Checkpoint], known: tuple[int, bytes], any_key: bool
) -> Verification:
    """Walks `store`, which nobody else uses meanwhile.

    `head` is what the head file said before (None: there is none, as in memory), `against` are heads noted elsewhere,
    `known` is the last entry that this process wrote itself, `any_key` leaves the seals unchecked.
    """
    walk = Walk(store.genesis, None if any_key else store, None)
    try:
        with store.reading():
            walk = Walk(store.genesis, None if any_key else store, store.dropped_before())
            fault = _walked(store, walk, _expected(store, head, against), known) or _surroundings(store, any_key)
    except LedgerError as error:
        fault = Fault(0, "damaged", str(error))
    fault = fault or _head_fault(store, head, walk.peaks.size)
    return Verification(
        fault is None, walk.peaks.size, walk.peaks.root(), fault, store.origin, walk.dropped, store.predecessor
    )


def _expected(store: Store, head: Head | None, against: Sequence[Checkpoint]) -> list[tuple[Checkpoint, str]]:
    expected = [(checkpoint, "the given checkpoint") for checkpoint in against]
    if head is not None and head.checkpoint is not None and head.checkpoint.text() != store.predecessor:
        expected.append((head.checkpoint, "the head file"))
    return expected


def _head_fault(store: Store, head: Head | None, size: int) -> Fault | None:
    if head is None or head.state == "whole" or (head.state == "missing" and size == 0):
        return None
    if head.state == "other-key":  # Its root was compared all the same; the entries tell of the key.
        return None
    what = {
        "missing": "the head file is missing, so that a cut tail can't be excluded",
        "unreadable": "the head file can't be read as a checkpoint",
        "forged": "the head file was written by someone without the key",
    }
    return Fault(0, "head", what[head.state])


def _walked(store: Store, walk: Walk, expected: list[tuple[Checkpoint, str]], known: tuple[int, bytes]) -> Fault | None:
    for checkpoint, name in expected:
        if checkpoint.origin != store.origin:
            return Fault(0, "other-ledger", f"{name} belongs to another ledger, {checkpoint.origin}")
    nodes = store.nodes()
    for entry in _all(store):
        if fault := walk.wrong(entry):
            return _explained(store, walk, entry, fault)
        for node in walk.add(entry):
            if next(nodes, None) != node:
                return Fault(entry.seq, "tree", f"the tree over the entries up to {entry.seq} was changed")
        if entry.seq == known[0] and entry.hash != known[1]:
            return Fault(entry.seq, "rewritten", f"entry {entry.seq} is not the one that this process wrote")
        if fault := _rewritten(walk.peaks, expected):
            return fault
    if next(nodes, None) is not None:
        return Fault(
            walk.peaks.size + 1, "cut", f"the tree knows more than the {walk.peaks.size} entries that are there"
        )
    return _cut(walk.peaks.size, expected, known)


def _cut(size: int, expected: list[tuple[Checkpoint, str]], known: tuple[int, bytes]) -> Fault | None:
    for checkpoint, name in expected:
        if checkpoint.size > size:
            return Fault(size + 1, "cut", f"{name} knows {checkpoint.size} entries and {size} are there")
    if known[0] > size:
        return Fault(size + 1, "cut", f"this process wrote entry {known[0]} and {size} are there")
    return None


def _rewritten(peaks: Peaks, expected: list[tuple[Checkpoint, str]]) -> Fault | None:
    for checkpoint, name in expected:
        if checkpoint.size == peaks.size and checkpoint.root != peaks.root():
            return Fault(peaks.size, "rewritten", f"the first {peaks.size} entries are not those that {name} saw")
    return None


def _all(store: Store) -> Iterator[Entry]:
    seq = -(1 << 63)
    while part := store.after(seq, _CHUNK):
        yield from part
        seq = part[-1].seq


def _surroundings(store: Store, any_key: bool) -> Fault | None:
    """What belongs to the entries but is no entry."""
    if stray := store.stray_body():
        return Fault(stray, "removed", f"there is a body for entry {stray}, which is missing")
    for session, parent, seal in store.links():
        if not any_key and seal != store.seal_of_link(session, parent):
            return Fault(0, "link", "a link between two sessions was changed")
    if damage := store.damage():
        return Fault(0, "damaged", f"SQLite finds the file damaged: {damage}")
    return None


def _explained(store: Store, walk: Walk, entry: Entry, fault: Fault) -> Fault:
    """Tells removed, inserted and reordered entries apart where only the chain is broken."""
    seq = walk.peaks.size + 1
    if fault.kind not in ("inserted", "changed", "removed") or entry.seq < seq:
        return fault
    with contextlib.suppress(LedgerError):
        # Whether the entry that stood here stands somewhere else now.
        successor = store.look_up("prev_hash", walk.previous)
        if successor is not None and successor.seq != seq and hash_of(successor, seq, walk.previous) == successor.hash:
            elsewhere = _own_number(store, entry)
            if elsewhere is not None and elsewhere != seq:
                return Fault(seq, "reordered", f"entry {elsewhere} stands in the place of entry {seq}")
            if fault.kind == "removed":
                return Fault(seq, "reordered", f"entry {seq} was moved to {successor.seq}")
            return Fault(seq, "inserted", f"entry {seq} was inserted; what stood there is now entry {successor.seq}")
        if fault.kind == "inserted":
            if hash_of(entry, seq, walk.previous) == entry.hash:
                return Fault(seq, "changed", f"entry {seq} was changed")
            own = _own_number(store, entry)
            if own == seq:
                return Fault(
                    seq, "changed", f"entry {seq} was made to follow something else than what stands before it"
                )
            if own is not None:
                return Fault(seq, "removed", f"entry {seq} is missing, and the later ones were numbered anew")
            return Fault(seq, "changed", f"entry {seq} was changed")
    return fault


def _own_number(store: Store, entry: Entry) -> int | None:
    """The number under which the hash of `entry` is right."""
    before = store.look_up("hash", entry.prev_hash)
    near: Iterable[int] = range(max(1, entry.seq - _NEAR), entry.seq + _NEAR)
    if before is not None:
        near = [before.seq + 1, *near]
    return next((seq for seq in near if hash_of(entry, seq, entry.prev_hash) == entry.hash), None)
