"""Whatever is done to a ledger from outside is found, with the right number and the right word."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from pathlib import Path

import pytest
from ledger_watched import Watched, edit, fill, key_in, ledger_in, row
from sayso.chain import Checkpoint, Peaks, commitment, entry_hash, leaf_hash
from sayso.export import verify_export
from sayso.keys import Key
from sayso.ledger import Ledger
from sayso.store import Store
from sayso.verify import Fault

SIZE = 12
#: Takes entry 5 out of all tables.
WITHOUT_5 = ("DELETE FROM entries WHERE seq = 5", "DELETE FROM bodies WHERE seq = 5")


@pytest.fixture
def ledger(tmp_path: Path) -> Watched:
    ledger = ledger_in(tmp_path)
    fill(ledger, SIZE)
    ledger.close()
    return ledger_in(tmp_path)


def shift(after: int, by: int) -> tuple[str, ...]:
    """Numbers all entries after `after` anew; by way of large numbers, since numbers are unique."""
    return tuple(
        f"UPDATE {table} SET seq = seq + {step} WHERE seq > {start}"  # noqa: S608 - the test's own words
        for table in ("entries", "bodies")
        for step, start in ((1_000, after), (by - 1_000, 1_000))
    )


def swap(one: int, two: int) -> tuple[str, ...]:
    return tuple(
        f"UPDATE {table} SET seq = {new} WHERE seq = {old}"  # noqa: S608 - the test's own words
        for table in ("entries", "bodies")
        for old, new in ((one, 1_000), (two, one), (1_000, two))
    )


CASES: dict[str, tuple[tuple[str, ...], int, str]] = {
    "row": (("UPDATE entries SET row = '{}' WHERE seq = 4",), 4, "changed"),
    "kind": (("UPDATE entries SET kind = 'write' WHERE seq = 12",), 12, "changed"),
    "session": (("UPDATE entries SET session = 't' WHERE seq = 1",), 1, "changed"),
    "time": (("UPDATE entries SET at = at + 1 WHERE seq = 7",), 7, "changed"),
    "event id": (("UPDATE entries SET event_id = 'x' WHERE seq = 7",), 7, "changed"),
    "hash": (("UPDATE entries SET hash = randomblob(32) WHERE seq = 7",), 7, "changed"),
    "previous hash": (("UPDATE entries SET prev_hash = randomblob(32) WHERE seq = 7",), 7, "changed"),
    "commitment": (("UPDATE entries SET commitment = randomblob(32) WHERE seq = 3",), 3, "changed"),
    "no commitment": (("UPDATE entries SET commitment = x'' WHERE seq = 3",), 3, "changed"),
    "seal": (
        ("UPDATE entries SET seal = CAST(substr(seal, 1, 8) || randomblob(32) AS BLOB) WHERE seq = 3",),
        3,
        "seal",
    ),
    "other key": (("UPDATE entries SET seal = randomblob(40) WHERE seq = 3",), 3, "key"),
    "body": (("UPDATE bodies SET body = body || '!' WHERE seq = 6",), 6, "body"),
    "salt": (("UPDATE bodies SET salt = randomblob(32) WHERE seq = 6",), 6, "body"),
    "body gone": (("DELETE FROM bodies WHERE seq = 6",), 6, "body"),
    "removed": (WITHOUT_5, 5, "removed"),
    "removed, body left": (WITHOUT_5[:1], 5, "removed"),
    "first removed": (("DELETE FROM entries WHERE seq = 1",), 1, "removed"),
    "three removed": (("DELETE FROM entries WHERE seq BETWEEN 4 AND 6",), 4, "removed"),
    "removed, numbered anew": ((*WITHOUT_5, *shift(5, -1)), 5, "removed"),
    "reordered": (swap(4, 9), 4, "reordered"),
    "neighbours": (swap(1, 2), 1, "reordered"),
    "moved to the end": (("UPDATE entries SET seq = 13 WHERE seq = 5",), 5, "reordered"),
    "inserted": (
        (
            *shift(7, 1),
            "INSERT INTO entries SELECT 8, 'new', session, kind, at, row, commitment, prev_hash, randomblob(32), seal "
            "FROM entries WHERE seq = 7",
        ),
        8,
        "inserted",
    ),
    "inserted before all": (
        (
            "INSERT INTO entries SELECT 0, 'new', session, kind, at, row, commitment, prev_hash, hash, seal "
            "FROM entries WHERE seq = 1",
        ),
        0,
        "inserted",
    ),
    "appended": (
        (
            "INSERT INTO entries SELECT 13, 'new', session, kind, at, row, commitment, hash, randomblob(32), seal "
            "FROM entries WHERE seq = 12",
        ),
        13,
        "changed",
    ),
    "cut": (("DELETE FROM entries WHERE seq > 9", "DELETE FROM bodies WHERE seq > 9"), 10, "cut"),
    "cut with its tree": (
        (
            "DELETE FROM entries WHERE seq > 9",
            "DELETE FROM bodies WHERE seq > 9",
            "DELETE FROM nodes WHERE (number + 1) << level > 9",
        ),
        10,
        "cut",
    ),
    "all cut": (("DELETE FROM entries", "DELETE FROM bodies", "DELETE FROM nodes"), 1, "cut"),
    "tree": (("UPDATE nodes SET hash = randomblob(32) WHERE level = 2 AND number = 0",), 4, "tree"),
    "tree gone": (("DELETE FROM nodes WHERE level = 3",), 8, "tree"),
    "stray body": (("INSERT INTO bodies VALUES (99, randomblob(32), 'x')",), 99, "removed"),
    "link": (("INSERT INTO sessions VALUES ('s', 'liar', randomblob(40))",), 0, "link"),
    "origin": (("UPDATE meta SET value = 'sayso-ledger/other' WHERE name = 'origin'",), 0, "other-ledger"),
    "predecessor": (("UPDATE meta SET value = 'x' WHERE name = 'predecessor'",), 1, "changed"),
    "table gone": (("DROP TABLE nodes",), 0, "damaged"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_fault_is_named(ledger: Watched, name: str) -> None:
    statements, seq, kind = CASES[name]
    edit(ledger, *statements)
    fault = _fault(ledger)
    assert (fault.seq, fault.kind) == (seq, kind), fault.what
    assert "text" not in fault.what


def _fault(ledger: Ledger, *against: Checkpoint) -> Fault:
    """What a process that opens the ledger now finds, and one that had it open."""
    found = ledger.verify(*against)
    fresh = Ledger.open(ledger.path, key_in(ledger.path.parent.parent))
    with fresh:
        assert fresh.verify(*against).fault == found.fault
    assert found.fault is not None
    assert not found.ok
    return found.fault


def rewrite(ledger: Ledger, first: int, key: Key | None) -> None:
    """Writes a new history from `first` on, whole in itself; with `key` also sealed."""
    connection = sqlite3.connect(ledger.path)
    store = Store.memory(key or Key.temporary())
    peaks, previous, name = Peaks(), b"", ledger._key.id
    connection.execute("DELETE FROM nodes")
    for seq, event, session, kind, at, text, before in connection.execute(
        "SELECT seq, event_id, session, kind, at, row, prev_hash FROM entries ORDER BY seq"
    ).fetchall():
        previous = previous or before
        if seq >= first:
            salt, body = bytes(32), "another text"
            committed = commitment(salt, body)
            digest = entry_hash(seq, previous, event, session, kind, at, text, committed)
            seal = name + store.seal(digest)[8:]
            connection.execute("UPDATE bodies SET salt = ?, body = ? WHERE seq = ?", (salt, body, seq))
            connection.execute(
                "UPDATE entries SET commitment = ?, prev_hash = ?, hash = ?, seal = ? WHERE seq = ?",
                (committed, previous, digest, seal, seq),
            )
        (previous,) = connection.execute("SELECT hash FROM entries WHERE seq = ?", (seq,)).fetchone()
        connection.executemany("INSERT INTO nodes VALUES (?, ?, ?)", list(peaks.add(leaf_hash(previous))))
    connection.commit()
    connection.close()
    store.close()


def test_a_new_history_without_the_key_is_found(ledger: Watched) -> None:
    rewrite(ledger, 6, None)
    assert (_fault(ledger).seq, _fault(ledger).kind) == (6, "seal")


def test_a_new_history_with_the_key_is_found_by_the_head_file(ledger: Watched) -> None:
    rewrite(ledger, 6, key_in(ledger.path.parent.parent))
    assert (_fault(ledger).seq, _fault(ledger).kind) == (SIZE, "rewritten")


def test_a_new_history_is_not_covered_up_by_the_next_append(tmp_path: Path, ledger: Watched) -> None:
    rewrite(ledger, 6, key_in(tmp_path))
    with Ledger.open(ledger.path, key_in(tmp_path)) as later:
        later.append("later", "s", "message", 1, row(1), "")
        later.flush()
        assert "does not agree" in later.trouble
    assert (_fault(ledger).seq, _fault(ledger).kind) == (SIZE, "rewritten")


def test_a_noted_head_finds_what_head_file_and_key_together_hide(tmp_path: Path, ledger: Watched) -> None:
    noted = Checkpoint(ledger.origin, 8, ledger.root(8))
    assert ledger.verify(noted).ok
    rewrite(ledger, 6, key_in(tmp_path))
    (tmp_path / "sayso" / "head").unlink()
    with Ledger.open(ledger.path, key_in(tmp_path)) as later:
        later.append("later", "s", "message", 1, row(1), "")
        later.flush()
        assert later.verify().ok
        found = later.verify(noted)
        assert found.fault is not None
        assert (found.fault.seq, found.fault.kind) == (8, "rewritten")


def test_a_head_of_another_ledger_is_told_from_a_broken_one(ledger: Watched) -> None:
    other = Checkpoint("sayso-ledger/other", 1, bytes(32))
    assert _fault(ledger, other).kind == "other-ledger"


def test_a_cut_tail_is_found_by_a_noted_head_alone(ledger: Watched) -> None:
    noted = ledger.checkpoint()
    edit(ledger, *CASES["cut with its tree"][0])
    (ledger.path.with_name("head")).unlink()
    assert (_fault(ledger, noted).seq, _fault(ledger, noted).kind) == (10, "cut")
    assert _fault(ledger).kind == "head"


def test_a_cut_tail_is_not_covered_up_by_the_next_append(tmp_path: Path, ledger: Watched) -> None:
    edit(ledger, *CASES["cut with its tree"][0])
    with Ledger.open(ledger.path, key_in(tmp_path)) as later:
        for number in range(8):
            later.append(f"later-{number}", "s", "message", 1, row(1), "")
            later.flush()
        assert "does not agree" in later.trouble
    assert _fault(ledger).kind == "rewritten"


def test_a_tail_cut_while_in_use_is_noticed_at_the_next_append(ledger: Watched) -> None:
    ledger.append("one", "s", "message", 1, row(1), "")
    edit(ledger, *CASES["cut with its tree"][0])
    assert ledger.verify().fault is not None
    Ledger.append(ledger, "two", "s", "message", 1, row(1), "")
    assert "shorter" in ledger.trouble


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "head"),
        ("nonsense", "head"),
        ("a\nb\nc\n", "head"),
        (None, "head"),
        ("forged", "head"),
        ("\x00" * 500, "head"),
    ],
)
def test_a_changed_head_file_is_found(ledger: Watched, text: str | None, kind: str) -> None:
    path = ledger.path.with_name("head")
    if text is None:
        path.unlink()
    elif text == "forged":
        right = path.read_text("utf-8")
        path.write_text(right[:-4] + ("AA" if right[-4:-2] != "AA" else "BB") + right[-2:], "utf-8")
    else:
        path.write_text(text, "utf-8")
    assert _fault(ledger).kind == kind


def test_a_lost_key_is_told_from_a_forgery(tmp_path: Path, ledger: Watched) -> None:
    (tmp_path / "sayso" / "key").unlink()
    with Ledger.open(ledger.path, key_in(tmp_path)) as other:
        fault = other.verify().fault
        assert fault is not None
        assert (fault.seq, fault.kind) == (1, "key")
        assert other.verify(any_key=True).ok
        other.append("later", "s", "message", 1, row(1), "")
        assert other.trouble == ""
        assert other.verify(any_key=True).ok


def test_random_edits_are_all_found_and_an_untouched_ledger_never_is(tmp_path: Path, ledger: Watched) -> None:
    ledger.drop_bodies(3_000)
    ledger.close()
    chance = random.Random(7)  # noqa: S311 - repeatable on purpose
    columns = ("seq", "event_id", "session", "kind", "at", "row", "commitment", "prev_hash", "hash", "seal")
    value = {"seq": "seq + 50", "at": "at + 1", "commitment": "randomblob(32)", "seal": "randomblob(40)"}
    value |= dict.fromkeys(("prev_hash", "hash"), "randomblob(32)")
    for number in range(60):
        folder = tmp_path / f"copy{number}" / "sayso"
        shutil.copytree(ledger.path.parent, folder)
        with Ledger.open(folder / "ledger.db", key_in(folder.parent)) as copy:
            assert copy.verify().ok
            seq, column = chance.randint(1, SIZE), chance.choice(columns)
            new = value.get(column, f"{column} || 'x'")
            edit(copy, f"UPDATE entries SET {column} = {new} WHERE seq = {seq}")  # noqa: S608 - the test's own words
            fault = copy.verify().fault
            assert fault is not None, (seq, column)
            assert fault.seq == seq, (seq, column, fault)


def exported(ledger: Ledger) -> Path:
    path = ledger.path.with_name("export.jsonl")
    assert ledger.export(path) == SIZE
    return path


def test_an_export_verifies_and_ends_in_the_same_head(ledger: Watched) -> None:
    ledger.drop_bodies(4_000)
    found = verify_export(exported(ledger))
    assert found.ok, found.fault
    assert found.checkpoint() == ledger.checkpoint()
    assert found.dropped == 3


def lines_changed(lines: list[bytes], name: str) -> tuple[list[bytes], int, str]:
    """A broken export, the line of the fault, its kind. The first line is the header, entry `n` is line `n + 1`."""
    entry = json.loads(lines[5])
    changed = json.dumps({**entry, "row": "{}"}).encode() + b"\n"
    without = json.dumps({name: entry[name] for name in entry if name != "seal"}).encode() + b"\n"
    return {
        "torn": ([*lines[:5], lines[5][:40] + b"\n", *lines[6:]], 6, "torn"),
        "torn tail": ([*lines[:5], lines[5][:40]], 6, "torn"),
        "end of the last line": ([*lines[:-1], lines[-1][:-1]], SIZE + 2, "torn"),
        "joined": ([*lines[:5], lines[5][:-1] + lines[6], *lines[7:]], 6, "joined"),
        "cut": (lines[:-1], SIZE + 2, "cut"),
        "cut before the checkpoint": ([*lines[:9], lines[-1]], 10, "cut"),
        "changed": ([*lines[:5], changed, *lines[6:]], 6, "changed"),
        "removed": ([*lines[:5], *lines[6:]], 6, "removed"),
        "twice": ([*lines[:6], *lines[5:]], 7, "inserted"),
        "behind the end": ([*lines, lines[5]], SIZE + 3, "inserted"),
        "no object": ([*lines[:5], b"[]\n", *lines[6:]], 6, "malformed"),
        "no header": (lines[1:], 1, "malformed"),
        "field gone": ([*lines[:5], without, *lines[6:]], 6, "malformed"),
        "deep": ([*lines[:5], b"[" * 200_000 + b"\n", *lines[6:]], 6, "torn"),
        "no text": ([*lines[:5], b"\xff\n", *lines[6:]], 6, "torn"),
        "empty": ([], 1, "cut"),
    }[name]


@pytest.mark.parametrize(
    "name",
    "torn|torn tail|end of the last line|joined|cut|cut before the checkpoint|changed|removed|twice|behind the end|"
    "no object|no header|field gone|deep|no text|empty".split("|"),
)
def test_a_fault_of_an_export_is_named_by_line(ledger: Watched, name: str) -> None:
    path = exported(ledger)
    lines, line, kind = lines_changed(path.read_bytes().splitlines(keepends=True), name)
    path.write_bytes(b"".join(lines))
    fault = verify_export(path).fault
    assert fault is not None
    assert (fault.line, fault.kind) == (line, kind), fault.what
