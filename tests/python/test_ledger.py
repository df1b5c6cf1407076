"""The ledger in ordinary use: what goes in comes out, in order, and everything verifies."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path

import pytest
from ledger_watched import Watched, edit, fill, key_in, ledger_in, row
from sayso import ledger as ledger_module
from sayso.chain import check_consistency, check_inclusion, leaf_hash
from sayso.ledger import Ledger
from sayso.types import LedgerError


@pytest.fixture
def ledger(tmp_path: Path) -> Watched:
    return ledger_in(tmp_path)


def ids(ledger: Ledger, session: str) -> list[str]:
    return [json.loads(line)["row"]["id"] for line in ledger.entries(session)]


def test_entries_come_back_in_order_and_numbered_from_one(ledger: Watched) -> None:
    assert [ledger.append(f"id{n}", "s", "message", n, row(n), f"body {n}") for n in (1, 2, 3)] == [1, 2, 3]
    lines = [json.loads(line) for line in ledger.entries("s")]
    assert lines == [{"row": {"v": 1, "id": f"e{n}", "at": n}, "body": f"body {n}"} for n in (1, 2, 3)]
    assert [(one.seq, one.kind, one.at) for one in ledger.found()] == [(n, "message", n) for n in (1, 2, 3)]
    assert ledger.state == "file"
    assert ledger.trouble == ""


def test_it_survives_a_restart(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as first:
        fill(first, 5)
        head = first.checkpoint()
    with ledger_in(tmp_path) as second:
        assert second.checkpoint() == head
        assert second.append("next", "s", "message", 9, row(9), "") == 6
        assert second.verify(head).ok


def test_only_the_owner_can_read_any_file(ledger: Watched) -> None:
    fill(ledger, 3)
    folder = ledger.path.parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    names = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert {"ledger.db", "ledger.db-wal", "head", "key"} <= set(names)
    assert set(names.values()) == {0o600}


def test_rights_that_others_were_given_are_taken_back(ledger: Watched) -> None:
    fill(ledger, 1)
    ledger.close()
    ledger.path.chmod(0o644)
    ledger.path.parent.chmod(0o755)
    again = ledger_in(ledger.path.parent.parent)
    assert again.state == "file"
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(ledger.path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("text", ["", "日本語 🎌", "a\x00b", "line\nbreak\r\n\u2028", '"quoted" \\ ', "x" * 3_000_000])
def test_any_text_comes_back_as_it_was(ledger: Watched, text: str) -> None:
    ledger.append("one", "s", "message", 1, json.dumps({"id": text[:50]}), text)
    lines = list(ledger.entries("s"))
    assert len(lines) == 1
    assert "\n" not in lines[0]
    assert json.loads(lines[0]) == {"row": {"id": text[:50]}, "body": text}


def test_a_lone_surrogate_is_replaced_rather_than_refused(ledger: Watched) -> None:
    ledger.append("a\ud800", "s\udfff", "message", 1, '{"id":"x"}', "bad \ud83d text 🎌")
    assert json.loads(next(ledger.entries("s\ufffd")))["body"] == "bad \ufffd text 🎌"


@pytest.mark.parametrize("wrong", ["", "[]", "1", "null", "{", '{"a":1}{"b":2}', "[" * 100_000])
def test_a_row_that_is_no_object_is_refused_and_nothing_is_written(ledger: Watched, wrong: str) -> None:
    with pytest.raises(LedgerError, match="JSON object"):
        ledger.append("one", "s", "message", 1, wrong, "")
    assert ledger.size() == 0
    assert ledger.state == "file"


def test_a_row_on_several_lines_is_stored_on_one(ledger: Watched) -> None:
    ledger.append("one", "s", "message", 1, '{\n "id":\r\n 1}', "")
    assert [json.loads(line)["row"] for line in ledger.entries("s")] == [{"id": 1}]


def test_an_event_id_is_taken_once(ledger: Watched) -> None:
    fill(ledger, 2)
    with pytest.raises(LedgerError, match="already"):
        ledger.append("s-1", "s", "message", 1, row(1), "")
    assert ledger.size() == 2
    assert ledger.state == "file"


@pytest.mark.parametrize("at", [-1, 1 << 63, 1 << 70])
def test_a_time_that_no_column_can_hold_is_refused(ledger: Watched, at: int) -> None:
    with pytest.raises(LedgerError, match="time"):
        ledger.append("one", "s", "message", at, row(1), "")
    assert ledger.state == "file"


def test_ancestors_count_also_in_a_circle(ledger: Watched) -> None:
    for session in ("grandmother", "mother", "child", "stranger"):
        ledger.append(session, session, "message", 1, json.dumps({"id": session}), session)
    ledger.link("child", "mother")
    ledger.link("mother", "grandmother")
    assert ids(ledger, "child") == ["grandmother", "mother", "child"]
    assert ids(ledger, "mother") == ["grandmother", "mother"]
    ledger.link("grandmother", "child")
    assert ids(ledger, "mother") == ["grandmother", "mother", "child"]


def test_a_parent_given_with_an_entry_counts(ledger: Watched) -> None:
    fill(ledger, 1, "old")
    ledger.append("mark", "new", "mark", 1, '{"id":"mark"}', "", parent="old")
    assert ids(ledger, "new") == ["e1", "mark"]


def test_writes_of_every_session_are_loaded_without_their_bodies(ledger: Watched) -> None:
    ledger.append("w", "other", "write", 1, '{"id":"w"}', "what they wrote")
    ledger.append("m", "other", "message", 1, '{"id":"m"}', "what they said")
    ledger.append("own", "s", "write", 1, '{"id":"own"}', "what we wrote")
    assert [json.loads(line) for line in ledger.entries("s")] == [
        {"row": {"id": "w"}, "body": ""},
        {"row": {"id": "own"}, "body": "what we wrote"},
    ]


def test_only_the_newest_are_loaded(ledger: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_module, "LOADED", 10)
    monkeypatch.setattr(ledger_module, "LOADED_WRITES", 2)
    fill(ledger, 6, "other", "write")
    fill(ledger, 12, "s")
    own = [f"e{number}" for number in range(5, 13)]
    assert ids(ledger, "s") == ["e5", "e6", *own]
    assert ids(ledger, "third") == [f"e{number}" for number in range(1, 7)]


def test_changes_of_others_are_seen_and_own_ones_are_not(tmp_path: Path) -> None:
    one, two = ledger_in(tmp_path), ledger_in(tmp_path)
    seen = one.append("a", "s", "message", 1, '{"id":"a"}', "")
    two.append("b", "s", "mark", 2, '{"id":"b"}', "reset")
    one.append("c", "s", "message", 3, '{"id":"c"}', "")
    two.append("d", "t", "write", 4, '{"id":"d"}', "")
    two.append("e", "t", "message", 5, '{"id":"e"}', "")
    changes = [(seq, json.loads(line)["row"]["id"]) for seq, line in one.changes_since(seen, "s")]
    assert changes == [(2, "b"), (4, "d")]
    assert list(one.changes_since(4, "s")) == []
    assert [seq for seq, _ in two.changes_since(0, "s")] == [1, 3, 4]


def test_an_own_entry_of_another_session_is_a_change_for_this_one(ledger: Watched) -> None:
    ledger.append("a", "other", "write", 1, '{"id":"a"}', "")
    assert [seq for seq, _ in ledger.changes_since(0, "s")] == [1]
    assert list(ledger.changes_since(0, "other")) == []


def test_found_can_be_narrowed(ledger: Watched) -> None:
    fill(ledger, 3, "a")
    fill(ledger, 3, "b", "write")
    assert [one.seq for one in ledger.found(session="b")] == [4, 5, 6]
    assert [one.seq for one in ledger.found(kind="message", since=2_000)] == [2, 3]
    assert [one.seq for one in ledger.found(since=2_000, until=3_000)] == [2, 5]


def test_dropped_bodies_are_gone_from_the_files_and_all_still_verifies(ledger: Watched) -> None:
    fill(ledger, 20)
    ledger.append("needle", "s", "message", 500, row(0), "a very particular needle")
    before = ledger.checkpoint()
    proof = ledger.inclusion_proof(3, 21)
    assert b"particular needle" in ledger.path.with_name("ledger.db-wal").read_bytes()
    assert ledger.drop_bodies(10_000) == 10
    found = ledger.verify(before)
    assert (found.ok, found.dropped, found.size, found.root) == (True, 10, 21, before.root)
    assert ledger.inclusion_proof(3, 21) == proof
    bodies = [json.loads(line)["body"] for line in ledger.entries("s")]
    assert bodies[:9] == [""] * 9
    assert bodies[9] == "text 10 of s"
    ledger.close()
    stored = b"".join(path.read_bytes() for path in ledger.path.parent.iterdir())
    assert b"particular needle" not in stored
    assert b"text 10 of s" in stored


def test_proofs_hold_and_only_for_what_they_prove(ledger: Watched) -> None:
    fill(ledger, 21)
    roots = [ledger.root(size) for size in range(22)]
    hashes = [bytes.fromhex(line) for line in _hashes(ledger)]
    for size in range(1, 22):
        for seq in range(1, size + 1):
            path = ledger.inclusion_proof(seq, size)
            assert check_inclusion(leaf_hash(hashes[seq - 1]), seq - 1, size, path, roots[size])
            assert not check_inclusion(leaf_hash(hashes[seq % 21]), seq - 1, size, path, roots[size])
        for old in range(size + 1):
            steps = ledger.consistency_proof(old, size)
            assert check_consistency(old, size, steps, roots[old], roots[size])
            assert not check_consistency(old, size, steps, roots[(old + 1) % 22], roots[size])


def _hashes(ledger: Ledger) -> list[str]:
    path = ledger.path.with_name("export")
    ledger.export(path)
    return [json.loads(line)["hash"] for line in path.read_text("utf-8").splitlines()[1:-1]]


@pytest.mark.parametrize(("seq", "size"), [(0, 3), (4, 3), (1, 9), (-1, 3), (1, -1)])
def test_a_proof_of_what_is_not_there_is_refused(ledger: Watched, seq: int, size: int) -> None:
    fill(ledger, 3)
    with pytest.raises(LedgerError):
        ledger.inclusion_proof(seq, size)


def test_several_threads_use_one_ledger(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "sayso" / "ledger.db", key_in(tmp_path))
    numbers: list[int] = []

    def work(name: str) -> None:
        for number in range(100):
            numbers.append(ledger.append(f"{name}-{number}", name, "message", number, row(number), "text"))
            if number % 20 == 0:
                assert sum(1 for _ in ledger.entries(name)) == number + 1

    threads = [threading.Thread(target=work, args=(f"t{index}",)) for index in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers) == list(range(1, 601))
    assert ledger.verify().ok


def test_the_head_file_follows_without_being_asked(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "sayso" / "ledger.db", key_in(tmp_path))
    ledger.append("a", "s", "message", 1, row(1), "")
    head = tmp_path / "sayso" / "head"
    pause = threading.Event()
    for _ in range(600):
        if head.read_text("utf-8").split("\n")[1] == "1":
            break
        pause.wait(0.05)
    assert head.read_text("utf-8").startswith(ledger.checkpoint().text())


def test_the_write_ahead_log_stays_short(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "sayso" / "ledger.db", key_in(tmp_path))
    wal = ledger.path.with_name("ledger.db-wal")
    for number in range(60):
        ledger.append(f"{number}", "s", "message", number, row(number), "x" * 200_000)
        ledger.flush()
    assert wal.stat().st_size < 8 << 20
    assert ledger.verify().ok


def test_the_folder_may_have_any_name(tmp_path: Path) -> None:
    folder = tmp_path / "a b?c#d%20 'é"
    with ledger_in(folder) as ledger:
        fill(ledger, 2)
        assert ledger.state == "file"
    assert (folder / "sayso" / "ledger.db").is_file()
    assert os.listdir(tmp_path) == [folder.name]


def test_a_strict_opening_makes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "sayso" / "ledger.db"
    with pytest.raises(LedgerError, match="no ledger"):
        Ledger.open(path, key_in(tmp_path), strict=True)
    assert not path.exists()


def test_editing_from_outside_is_no_part_of_ordinary_use(ledger: Watched) -> None:
    """The tests' own tool works: what it changes is found."""
    fill(ledger, 2)
    edit(ledger, "UPDATE entries SET kind = 'write' WHERE seq = 1")
    found = ledger.verify()
    assert found.fault is not None
    assert (found.fault.seq, found.fault.kind) == (1, "changed")
