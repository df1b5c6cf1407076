"""The arithmetic of the chain: published values of RFC 6962, and proofs that hold for nothing else."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as some
from sayso.chain import (
    Checkpoint,
    Peaks,
    check_consistency,
    check_inclusion,
    commitment,
    consistency_proof,
    entry_hash,
    inclusion_proof,
    leaf_hash,
    node_hash,
)

# The leaves and roots of the reference tests of Certificate Transparency.
LEAVES = [
    bytes.fromhex(leaf)
    for leaf in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


def tree(leaves: list[bytes]) -> tuple[Peaks, dict[tuple[int, int], bytes]]:
    """A tree, with all its nodes kept."""
    peaks, nodes = Peaks(), {}
    for index, leaf in enumerate(leaves):
        nodes[0, index] = leaf_hash(leaf)
        for level, number, node in peaks.add(leaf_hash(leaf)):
            nodes[level, number] = node
    return peaks, nodes


def slow_root(leaves: list[bytes]) -> bytes:
    """MTH, word by word as the standard has it."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return hashlib.sha256(b"\x01" + slow_root(leaves[:split]) + slow_root(leaves[split:])).digest()


def test_the_roots_are_the_published_ones() -> None:
    assert [tree(LEAVES[:size])[0].root().hex() for size in range(1, 9)] == ROOTS
    assert Peaks().root().hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_the_proofs_are_those_of_the_standard() -> None:
    """The example of RFC 6962, section 2.1.3: seven leaves, in the letters of its figure."""
    leaves = LEAVES[:7]
    a, b, c, d, e, f, j = map(leaf_hash, leaves)
    g, h, i = node_hash(a, b), node_hash(c, d), node_hash(e, f)
    k, m = node_hash(g, h), node_hash(i, j)
    nodes = tree(leaves)[1]

    def node(level: int, number: int) -> bytes:
        return nodes[level, number]

    assert inclusion_proof(0, 7, node) == [b, h, m]
    assert inclusion_proof(3, 7, node) == [c, g, m]
    assert inclusion_proof(4, 7, node) == [f, j, k]
    assert inclusion_proof(6, 7, node) == [i, k]
    assert consistency_proof(3, 7, node) == [c, d, g, m]
    assert consistency_proof(4, 7, node) == [m]
    assert consistency_proof(6, 7, node) == [i, j, k]


@given(some.integers(1, 70), some.data())
def test_a_proof_holds_and_a_bent_one_does_not(size: int, data: some.DataObject) -> None:
    leaves = [bytes([number, number]) for number in range(size)]
    peaks, nodes = tree(leaves)
    assert peaks.root() == slow_root(leaves)
    index = data.draw(some.integers(0, size - 1))
    path = inclusion_proof(index, size, lambda level, number: nodes[level, number])
    leaf = leaf_hash(leaves[index])
    assert check_inclusion(leaf, index, size, path, peaks.root())
    assert not check_inclusion(leaf, index, size, [*path, leaf], peaks.root())
    assert not check_inclusion(leaf, size, size, path, peaks.root())
    if path:
        assert not check_inclusion(leaf, index, size, path[:-1], peaks.root())
        assert not check_inclusion(leaf, index, size, [path[0][::-1], *path[1:]], peaks.root())
    old = data.draw(some.integers(1, size))
    old_root = slow_root(leaves[:old])
    steps = consistency_proof(old, size, lambda level, number: nodes[level, number])
    assert check_consistency(old, size, steps, old_root, peaks.root())
    assert not check_consistency(old, size, steps, old_root[::-1], peaks.root())
    assert not check_consistency(old, size, [*steps, leaf], old_root, peaks.root())
    if steps:
        assert not check_consistency(old, size, steps[1:], old_root, peaks.root())


def test_no_two_entries_have_one_encoding() -> None:
    zero = bytes(32)
    hashes = {
        entry_hash(1, zero, "ab", "c", "k", 0, "{}", b""),
        entry_hash(1, zero, "a", "bc", "k", 0, "{}", b""),
        entry_hash(1, zero, "a", "b", "ck", 0, "{}", b""),
        entry_hash(1, zero, "a", "b", "ck", -1, "{}", b""),
        entry_hash(1, zero, "a", "b", "ck", 0, "{}", zero),
        entry_hash(2, zero, "a", "b", "ck", 0, "{}", b""),
    }
    assert len(hashes) == 6
    assert commitment(zero, "text") != commitment(bytes([1]) + zero[1:], "text")


def test_a_checkpoint_reads_what_it_writes() -> None:
    checkpoint = Checkpoint("sayso-ledger/ab", 12, hashlib.sha256(b"x").digest())
    text = checkpoint.text()
    assert text == "sayso-ledger/ab\n12\nLXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE=\n"
    assert Checkpoint.parse(text) == checkpoint
    assert Checkpoint.parse(f"{text}extension\n\n\u2014 name c2lnbmF0dXJl\n") == checkpoint


@pytest.mark.parametrize(
    "text",
    [
        "",
        "origin\n",
        "\n1\n" + "A" * 43 + "=\n",
        "o\n01\n" + "A" * 43 + "=\n",
        "o\n-1\n" + "A" * 43 + "=\n",
        "o\n\n" + "A" * 43 + "=\n",
        "o\n\u0661\n" + "A" * 43 + "=\n",
        "o\n1\n" + "A" * 43 + "\n",
        "o\n1\n" + "A" * 40 + "\n",
        "o\n1\n" + "A" * 42 + "B=\n",
        "o\n1\n*" + "A" * 43 + "=\n",
    ],
)
def test_what_is_no_checkpoint_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"checkpoint"):
        Checkpoint.parse(text)
