"""Several processes on one ledger, and processes that are killed while they write."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from ledger_watched import HOST, Watched, edit, fill, key_in, ledger_in, row
from sayso.keys import Key
from sayso.ledger import Ledger

#: Waits for a line, then appends so many entries under a name, and prints the numbers that it got.
WRITER = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from sayso.keys import Key
from sayso.ledger import Ledger
folder, name, count = Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
print("ready", flush=True)
sys.stdin.readline()
ledger = Ledger.open(folder / "ledger.db", Key.load_or_make(folder / "key"))
seqs = []
for n in range(count):
    seq = ledger.append(f"{name}-{n}", name, "message", n, json.dumps({"id": n}), f"{name} says {n}")
    seqs.append(seq)
    if count > 1_000:
        print(seq, flush=True)
ledger.close()
if count <= 1_000:
    print(json.dumps([seqs, ledger.trouble]))
"""


def writer(folder: Path, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(HOST), str(folder), name, str(count)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def begin(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_eight_processes_append_two_hundred_entries_each(tmp_path: Path) -> None:
    folder = tmp_path / "sayso"
    writers = [writer(folder, f"w{index}", 200) for index in range(8)]
    for process in writers:
        begin(process)
    numbers = []
    for process in writers:
        seqs, trouble = json.loads(process.communicate()[0])
        assert process.returncode == 0
        assert trouble == ""
        assert seqs == sorted(seqs)
        numbers.extend(seqs)
    assert sorted(numbers) == list(range(1, 1_601))
    with Ledger.open(folder / "ledger.db", key_in(tmp_path), strict=True) as ledger:
        found = ledger.verify()
        assert found.ok, found.fault
        assert found.size == 1_600
        lines = [json.loads(line)["body"] for line in ledger.entries("w3")]
        assert lines == [f"w3 says {number}" for number in range(200)]
    assert set(os.listdir(folder)) == {"ledger.db", "key", "head", "lock"}


@pytest.mark.slow
def test_eight_processes_append_two_thousand_entries_each(tmp_path: Path) -> None:
    folder = tmp_path / "sayso"
    writers = [writer(folder, f"w{index}", 2_000) for index in range(8)]
    for process in writers:
        begin(process)
    numbers = [int(line) for process in writers for line in process.communicate()[0].split()]
    assert sorted(numbers) == list(range(1, 16_001))
    with Ledger.open(folder / "ledger.db", key_in(tmp_path), strict=True) as ledger:
        found = ledger.verify()
        assert found.ok, found.fault
        assert found.size == 16_000


def test_a_process_killed_at_any_moment_leaves_a_ledger_that_verifies(tmp_path: Path) -> None:
    folder = tmp_path / "sayso"
    chance = random.Random(11)  # noqa: S311 - repeatable on purpose
    told = 0
    for turn in range(12):
        process = writer(folder, f"w{turn}", 100_000)
        begin(process)
        assert process.stdout is not None
        for _ in range(chance.randint(0, 150)):
            told = int(process.stdout.readline())
        process.kill()
        rest = process.stdout.read()
        process.wait()
        process.stdout.close()
        told = max([told, *(int(line) for line in rest.split("\n")[:-1])])
        ledger = ledger_in(tmp_path)
        ledger.must_verify()
        # Everything that was reported as written is there; at most the write in flight is more.
        assert told <= ledger.size() <= told + 1 or (told == 0 and ledger.size() == 0)
        ledger.append(f"between-{turn}", "s", "message", turn, row(turn), "between")
        told = ledger.size()
        ledger.flush()
        assert ledger.trouble == ""
        ledger.close()


def test_two_processes_on_one_session_see_each_other(tmp_path: Path) -> None:
    ledger = ledger_in(tmp_path)
    seen = ledger.append("mine", "s", "message", 1, row(1), "mine")
    other = writer(tmp_path / "sayso", "s", 3)
    begin(other)
    other.communicate()
    changes = [(seq, json.loads(line)["body"]) for seq, line in ledger.changes_since(seen, "s")]
    assert changes == [(2, "s says 0"), (3, "s says 1"), (4, "s says 2")]
    ledger.must_verify()


def test_a_child_after_a_fork_uses_a_connection_of_its_own(tmp_path: Path) -> None:
    ledger = ledger_in(tmp_path)
    fill(ledger, 3)
    reader, end = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - runs in the child, which must not come back into pytest
        try:
            seq = Ledger.append(ledger, "child", "s", "message", 4, row(4), "from the child")
            ledger.flush()
            os.write(end, f"{seq} {ledger.state} {ledger.trouble}".encode())
        finally:
            os._exit(0)
    os.close(end)
    _, status = os.waitpid(child, 0)
    assert status == 0
    assert os.read(reader, 1_000) == b"4 file "
    os.close(reader)
    assert ledger.append("parent", "s", "message", 5, row(5), "from the parent") == 5
    assert [json.loads(line)["body"] for _, line in ledger.changes_since(3, "s")] == ["from the child"]


def test_a_fork_during_an_append_does_not_hang_the_child(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "sayso" / "ledger.db", key_in(tmp_path))
    fill(ledger, 1)
    with ledger._lock:  # As if another thread were in the middle of it.
        child = os.fork()
        if child == 0:  # pragma: no cover - runs in the child
            seq = ledger.append("child", "s", "message", 2, row(2), "x")
            os._exit(0 if seq == 2 else 1)
        assert os.waitpid(child, 0)[1] == 0
    assert ledger.size() == 2
    assert ledger.verify().ok


def test_processes_that_find_the_file_deleted_make_one_new_ledger(tmp_path: Path) -> None:
    key = Key.load_or_make(tmp_path / "sayso" / "key")
    ledgers = [Watched(tmp_path / "sayso" / "ledger.db", key) for _ in range(4)]
    ledgers[0].append("first", "s", "message", 1, row(1), "")
    ledgers[0].path.unlink()
    for number, ledger in enumerate(ledgers):
        assert ledger.append(f"e{number}", "s", "message", 1, row(1), "") == number + 1
    assert len({ledger.origin for ledger in ledgers}) == 1
    assert len(list(ledgers[3].entries("s"))) == 4


def test_faults_made_while_several_have_it_open_are_found_by_all(tmp_path: Path) -> None:
    one, two = ledger_in(tmp_path), ledger_in(tmp_path)
    fill(one, 5)
    edit(one, "UPDATE bodies SET body = 'x' WHERE seq = 2")
    assert one.verify().fault == two.verify().fault
    assert one.verify().fault is not None
