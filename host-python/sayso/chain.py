"""The arithmetic of the ledger: commitments, the hash chain, the Merkle tree over it (RFC 6962), checkpoints.

Pure functions, no file and no key. Entries are numbered from 1, so that the entry `seq` is leaf `seq - 1` of the tree
and the head of the tree of size `seq`. The data of a leaf is the 32-byte hash of its entry.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

HASH = 32
_ENTRY = b"sayso entry v1\n"
_BODY = b"sayso body v1\n"
_GENESIS = b"sayso genesis v1\n"
#: Gives the hash of the complete subtree `number` (from 0) of height `level`; level 0 are the leaves.
Node = Callable[[int, int], bytes]


def _encoded(*fields: bytes) -> bytes:
    """Each field behind its length as eight bytes, so that no two sequences of fields have one encoding."""
    return b"".join([part for one in fields for part in (struct.pack(">Q", len(one)), one)])


def commitment(salt: bytes, body: str) -> bytes:
    """Commits to `body` without telling anything about it to someone who has not got the salt of 32 random bytes."""
    return hashlib.sha256(_BODY + _encoded(salt, body.encode())).digest()


def genesis(origin: str, predecessor: str) -> bytes:
    """What the first entry has as its previous hash: the ledger's name, and the checkpoint of the one it replaces."""
    return hashlib.sha256(_GENESIS + _encoded(origin.encode(), predecessor.encode())).digest()


def entry_hash(
    seq: int, prev_hash: bytes, event_id: str, session: str, kind: str, at: int, row: str, committed: bytes
) -> bytes:
    """The hash of one entry; `committed` is empty for an entry that never had a body."""
    fields = (
        struct.pack(">Q", seq),
        prev_hash,
        event_id.encode(),
        session.encode(),
        kind.encode(),
        struct.pack(">q", at),
        row.encode(),
        committed,
    )
    return hashlib.sha256(_ENTRY + _encoded(*fields)).digest()


def leaf_hash(data: bytes) -> bytes:
    """The hash of a leaf of the Merkle tree."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node of the Merkle tree."""
    return hashlib.sha256(b"\x01" + left + right).digest()


@dataclass(slots=True)
class Peaks:
    """The roots of the complete subtrees of a growing tree, largest first: all that appending and the root need."""

    size: int = 0
    hashes: list[bytes] = field(default_factory=list)

    def add(self, leaf: bytes) -> Iterator[tuple[int, int, bytes]]:
        """Appends a leaf hash, and yields the inner nodes that this completes as (level, number, hash)."""
        self.hashes.append(leaf)
        self.size += 1
        level, number = 0, self.size - 1
        while number & 1:
            right = self.hashes.pop()
            level, number = level + 1, number >> 1
            self.hashes[-1] = node_hash(self.hashes[-1], right)
            yield level, number, self.hashes[-1]

    def root(self) -> bytes:
        """The root of the tree as it stands; that of the empty tree is the hash of nothing."""
        if not self.hashes:
            return hashlib.sha256(b"").digest()
        root = self.hashes[-1]
        for peak in reversed(self.hashes[:-1]):
            root = node_hash(peak, root)
        return root


def peaks_at(size: int, node: Node) -> Peaks:
    """The peaks of the tree of `size` leaves, read from stored nodes."""
    hashes = []
    start = 0
    for level in range(size.bit_length() - 1, -1, -1):
        if size >> level & 1:
            hashes.append(node(level, start >> level))
            start += 1 << level
    return Peaks(size, hashes)


def _range_hash(start: int, end: int, node: Node) -> bytes:
    """The hash of the leaves from `start` to `end`, where `start` is where a subtree of that size may begin."""
    size = end - start
    if size & (size - 1) == 0:
        level = size.bit_length() - 1
        return node(level, start >> level)
    split = start + _split(size)
    return node_hash(_range_hash(start, split, node), _range_hash(split, end, node))


def _split(size: int) -> int:
    """The largest power of two below `size`."""
    return 1 << (size - 1).bit_length() - 1


def inclusion_proof(index: int, size: int, node: Node) -> list[bytes]:
    """The audit path for leaf `index` (from 0) in the tree of `size` leaves."""
    if not 0 <= index < size:
        raise ValueError("the leaf is not in that tree")
    path: list[bytes] = []
    start, end = 0, size
    while end - start > 1:
        split = start + _split(end - start)
        if index < split:
            path.append(_range_hash(split, end, node))
            end = split
        else:
            path.append(_range_hash(start, split, node))
            start = split
    return path[::-1]


def consistency_proof(old: int, new: int, node: Node) -> list[bytes]:
    """Proves that the tree of `new` leaves begins with the tree of `old` leaves."""
    if not 0 <= old <= new:
        raise ValueError("the old tree is larger than the new one")
    if old in (0, new):
        return []
    path: list[bytes] = []
    start, end, whole = 0, new, True
    while old != end:
        split = start + _split(end - start)
        if old <= split:
            path.append(_range_hash(split, end, node))
            end = split
        else:
            path.append(_range_hash(start, split, node))
            start, whole = split, False
    if not whole:
        path.append(_range_hash(start, end, node))
    return path[::-1]


def check_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Whether `path` shows that the leaf with hash `leaf` is number `index` (from 0) of the tree with `root`."""
    if not 0 <= index < size:
        return False
    number, last, found = index, size - 1, leaf
    for step in path:
        if last == 0:
            return False
        if number & 1 or number == last:
            found = node_hash(step, found)
            while not number & 1 and number:
                number, last = number >> 1, last >> 1
        else:
            found = node_hash(found, step)
        number, last = number >> 1, last >> 1
    return last == 0 and found == root


def check_consistency(old: int, new: int, path: Sequence[bytes], old_root: bytes, new_root: bytes) -> bool:
    """Whether `path` shows that the tree with `new_root` begins with the tree with `old_root`."""
    if not 0 <= old <= new:
        return False
    if old == 0:
        return not path and old_root == Peaks().root()
    if old == new:
        return not path and old_root == new_root
    steps = list(path) if old & (old - 1) else [old_root, *path]
    if not steps:
        return False
    number, last = old - 1, new - 1
    while number & 1:
        number, last = number >> 1, last >> 1
    first = second = steps[0]
    for step in steps[1:]:
        if last == 0:
            return False
        if number & 1 or number == last:
            first, second = node_hash(step, first), node_hash(step, second)
            while not number & 1 and number:
                number, last = number >> 1, last >> 1
        else:
            second = node_hash(second, step)
        number, last = number >> 1, last >> 1
    return last == 0 and first == old_root and second == new_root


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A head of a ledger that can be noted elsewhere: C2SP tlog-checkpoint."""

    origin: str
    size: int
    root: bytes

    def text(self) -> str:
        """The body of the note: three lines, each with its line break."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"

    @classmethod
    def parse(cls, text: str) -> Checkpoint:
        """Reads the body of a note, or a whole note; extension lines and signatures are not looked at.

        Raises ValueError with what is wrong.
        """
        lines = text.split("\n\n", 1)[0].rstrip("\n").split("\n")
        if len(lines) < 3 or not lines[0]:
            raise ValueError("a checkpoint has three lines: origin, size, root")
        origin, size, root = lines[:3]
        if not (size.isascii() and size.isdigit()) or (size[0] == "0" and size != "0") or len(size) > 18:
            raise ValueError("the second line of a checkpoint is the number of entries")
        try:
            decoded = base64.b64decode(root, validate=True)
        except (binascii.Error, ValueError):
            decoded = b""
        if len(decoded) != HASH or base64.b64encode(decoded).decode() != root:
            raise ValueError("the third line of a checkpoint is a hash of 32 bytes in Base64")
        return cls(origin, int(size), decoded)
