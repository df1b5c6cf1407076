"""What happens when the file can't be used: entries go to memory, the person is told, nothing raises."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ledger_watched import HOST, Watched, edit, fill, key_in, ledger_in, row
from sayso import database
from sayso import ledger as ledger_module
from sayso.ledger import Ledger
from sayso.store import Store
from sayso.types import LedgerError


@pytest.fixture
def ledger(tmp_path: Path) -> Watched:
    ledger = ledger_in(tmp_path)
    fill(ledger, 4)
    return ledger


@pytest.fixture
def locked(ledger: Watched, monkeypatch: pytest.MonkeyPatch) -> Iterator[sqlite3.Connection]:
    """Another process that does not let go of the ledger."""
    monkeypatch.setattr(database, "PATIENCE", 0.05)
    other = sqlite3.connect(ledger.path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    yield other
    other.close()


def bodies(ledger: Ledger, session: str = "s") -> list[str]:
    return [json.loads(line)["body"] for line in ledger.entries(session)]


def unreadable(ledger: Ledger) -> bool:
    """Whether a verification says that the file itself can't be used, and nothing good about the memory."""
    fault = ledger.verify().fault
    return fault is not None and fault.kind == "unreadable"


def test_a_locked_ledger_goes_on_in_memory_and_catches_up(
    tmp_path: Path, locked: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = ledger_in(tmp_path)
    assert ledger.append("five", "s", "message", 5, row(5), "fifth", parent="old") == 5
    assert ledger.append("six", "s", "message", 6, row(6), "sixth") == 6
    assert ledger.state == "memory"
    assert "locked by another process" in ledger.trouble
    assert bodies(ledger)[3:] == ["text 4 of s", "fifth", "sixth"]
    assert [seq for seq, _ in ledger.changes_since(4, "s")] == []
    with pytest.raises(LedgerError, match="already"):
        ledger.append("six", "s", "message", 6, row(6), "sixth")

    values = ("other", "o", "message", 1, row(1), "from elsewhere", "")
    locked.execute("ROLLBACK")
    Store.open(ledger.path, key_in(tmp_path)).append(*values)
    monkeypatch.setattr(ledger_module, "RETRY", 0.0)
    ledger._retry_at = 0.0
    assert ledger.append("seven", "s", "message", 7, row(7), "seventh") == 8
    assert (ledger.state, ledger.trouble) == ("file", "")
    assert bodies(ledger)[3:] == ["text 4 of s", "fifth", "sixth", "seventh"]
    with Ledger.open(ledger.path, key_in(tmp_path), strict=True) as other:
        assert bodies(other)[3:] == ["text 4 of s", "fifth", "sixth", "seventh"]
        assert other.verify().ok


def test_a_locked_ledger_can_be_read_and_verified(ledger: Watched, locked: sqlite3.Connection) -> None:
    assert locked.in_transaction
    assert len(bodies(ledger)) == 4
    assert ledger.verify().ok
    with pytest.raises(LedgerError, match="locked"):
        Ledger.open(ledger.path, key_in(ledger.path.parent.parent), strict=True).drop_bodies(1)


def test_a_newer_version_is_left_alone(tmp_path: Path, ledger: Watched) -> None:
    ledger.close()
    edit(ledger, "PRAGMA user_version = 2")
    before = {path.name: path.read_bytes() for path in ledger.path.parent.iterdir()}
    with pytest.raises(LedgerError, match="version 2, made by a newer sayso"):
        Ledger.open(ledger.path, key_in(tmp_path), strict=True)
    fallen = Ledger.open(ledger.path, key_in(tmp_path))
    assert fallen.state == "memory"
    assert "newer sayso" in fallen.trouble
    assert unreadable(fallen)
    fill(fallen, 3)
    assert len(bodies(fallen)) == 3
    fallen.close()
    assert {path.name: path.read_bytes() for path in ledger.path.parent.iterdir()} == before


@pytest.mark.parametrize("content", [b"", b"x", b"not a database" * 500, b"SQLite format 3\x00" + b"\x00" * 4_000])
def test_what_is_no_ledger_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "sayso" / "ledger.db"
    key = key_in(tmp_path)
    path.write_bytes(content)
    with pytest.raises(LedgerError):
        Ledger.open(path, key, strict=True)
    ledger = Ledger.open(path, key_in(tmp_path))
    assert ledger.state == "memory"
    assert str(path) in ledger.trouble
    fill(ledger, 2)
    assert unreadable(ledger)
    assert path.read_bytes() == content


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    key_in(tmp_path)
    path = tmp_path / "sayso" / "ledger.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE entries (x)")
    other.commit()
    other.close()
    ledger = ledger_in(tmp_path)
    assert ledger.state == "memory"
    assert "no ledger of sayso" in ledger.trouble


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_a_path_that_is_no_file_is_not_followed(tmp_path: Path, kind: str) -> None:
    key_in(tmp_path)
    path = tmp_path / "sayso" / "ledger.db"
    if kind == "link":
        path.symlink_to(tmp_path / "elsewhere.db")
    elif kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    ledger = ledger_in(tmp_path)
    assert ledger.state == "memory"
    assert not (tmp_path / "elsewhere.db").exists()


@pytest.mark.parametrize("page", range(1, 20))
def test_damaged_pages_are_no_crash(tmp_path: Path, page: int) -> None:
    ledger = Ledger.open(tmp_path / "sayso" / "ledger.db", key_in(tmp_path))
    fill(ledger, 180)
    ledger.close()
    assert ledger.path.stat().st_size >= 20 * 4_096
    with ledger.path.open("r+b") as file:
        file.seek(page * 4_096)
        file.write(b"\xff" * 4_096)
    again = Ledger.open(ledger.path, key_in(tmp_path))
    found = again.verify()
    assert found.fault is not None
    for number in range(50):
        again.append(f"later-{number}", "s", "message", number, row(number), "later")
    list(again.entries("s"))
    again.append("last", "s", "message", 99, row(99), "the last")
    assert "the last" in bodies(again)
    assert again.state == "file" or "damaged" in again.trouble


def test_a_file_that_is_deleted_while_in_use_is_made_anew_and_remembered(tmp_path: Path, ledger: Watched) -> None:
    old = ledger.checkpoint()
    ledger.path.unlink()
    assert ledger.append("new", "s", "message", 9, row(9), "again") == 1
    assert ledger.state == "file"
    assert "gone" in ledger.trouble
    assert bodies(ledger) == ["again"]
    found = ledger.verify()
    assert found.ok
    assert found.predecessor == old.text()
    fault = ledger.verify(old).fault
    assert fault is not None
    assert fault.kind == "other-ledger"
    ledger.close()
    with ledger_in(tmp_path) as later:
        assert later.verify().predecessor == old.text()


def test_a_folder_that_is_deleted_while_in_use_is_made_anew(ledger: Watched) -> None:
    for path in ledger.path.parent.iterdir():
        path.unlink()
    ledger.path.parent.rmdir()
    assert Ledger.append(ledger, "new", "s", "message", 9, row(9), "again") == 1
    assert ledger.state == "file"
    assert "removed or replaced" in ledger.trouble
    assert ledger.verify().ok


def test_a_restored_backup_is_found(tmp_path: Path, ledger: Watched) -> None:
    ledger.close()
    backup = ledger.path.read_bytes()
    with ledger_in(tmp_path) as later:
        later.append("five", "s", "message", 5, row(5), "")
    ledger.path.write_bytes(backup)
    with Ledger.open(ledger.path, key_in(tmp_path)) as rolled:
        fault = rolled.verify().fault
    assert fault is not None
    assert (fault.seq, fault.kind) == (5, "cut")


def test_where_nothing_works_nothing_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(key: object) -> Store:
        raise LedgerError("No memory either.")

    key = key_in(tmp_path)
    (tmp_path / "sayso" / "ledger.db").mkdir()
    monkeypatch.setattr(Store, "memory", broken)
    ledger = Ledger.open(tmp_path / "sayso" / "ledger.db", key)
    assert ledger.state == "none"
    assert "Nothing is recorded" in ledger.trouble
    assert ledger.append("a", "s", "message", 1, row(1), "x") == 0
    ledger.link("s", "t")
    assert list(ledger.entries("s")) == []
    assert list(ledger.found()) == []
    assert list(ledger.changes_since(0, "s")) == []
    assert unreadable(ledger)
    for question in (ledger.checkpoint, ledger.size):
        with pytest.raises(LedgerError):
            question()


#: Appends until the system refuses to let the files grow, then says what became of the ledger.
FULL = """
import json, resource, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from sayso.keys import Key
from sayso.ledger import Ledger
folder = Path(sys.argv[2])
ledger = Ledger.open(folder / "ledger.db", Key.load_or_make(folder / "key"))
resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, resource.RLIM_INFINITY))
seqs = [ledger.append(f"e{n}", "s", "message", n, json.dumps({"id": n}), "x" * 10_000) for n in range(100)]
print(json.dumps([seqs, ledger.state, ledger.trouble, sum(1 for _ in ledger.entries("s"))]), flush=True)
"""


def test_a_full_disk_goes_on_in_memory(tmp_path: Path) -> None:
    folder = tmp_path / "sayso"
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(HOST), str(folder)], capture_output=True, text=True, check=True
    )
    seqs, state, trouble, count = json.loads(done.stdout)
    assert seqs == list(range(1, 101))
    assert state == "memory"
    assert "full" in trouble
    assert count == 100
    with ledger_in(tmp_path) as later:
        assert later.verify().ok
        assert 0 < later.size() < 100


#: Becomes a user who may read the ledger's folder and not write into it.
READER = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from sayso.keys import Key
from sayso.ledger import Ledger
folder = Path(sys.argv[2])
if os.geteuid() == 0:
    for path in (folder, *folder.iterdir()):
        os.chown(path, 65534, 65534)
    os.setuid(65534)
for path in (*folder.iterdir(), folder):
    path.chmod(0o500 if path == folder else 0o400)
ledger = Ledger.open(folder / "ledger.db", Key.temporary())
seqs = [ledger.append(f"new{n}", "s", "message", n, json.dumps({"id": n}), "x") for n in range(3)]
print(json.dumps([seqs, ledger.state, ledger.trouble]), flush=True)
"""


def test_a_read_only_ledger_goes_on_in_memory(tmp_path: Path, ledger: Watched) -> None:
    ledger.close()
    for folder in (tmp_path, *list(tmp_path.parents)[:2]):
        folder.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", READER, str(HOST), str(ledger.path.parent)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    seqs, state, trouble = json.loads(done.stdout)
    assert state == "memory"
    assert seqs in ([5, 6, 7], [1, 2, 3])
    assert str(ledger.path) in trouble
