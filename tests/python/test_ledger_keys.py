"""The key file: one key for all processes, for the owner's eyes only."""

from __future__ import annotations

import os
import pickle
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from ledger_watched import HOST
from sayso.keys import Key, private_folder
from sayso.types import LedgerError

#: Waits for a line on standard input, so that all processes begin at once, then prints the name of its key.
RACER = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from sayso.keys import Key
print("ready", flush=True)
sys.stdin.readline()
print(Key.load_or_make(Path(sys.argv[2])).id.hex())
"""


def test_a_key_is_made_once_and_found_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "sayso" / "key"
    key = Key.load_or_make(path)
    text = path.read_text("ascii")
    assert text == key.hex() + "\n"
    assert len(bytes.fromhex(text)) == 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert os.listdir(path.parent) == ["key"]
    assert Key.load_or_make(path).hex() == key.hex()


def test_two_keys_and_two_purposes_have_nothing_in_common() -> None:
    one, two = Key.temporary(), Key.temporary()
    assert len({one.hex(), two.hex(), one.subkey("a").hex(), one.subkey("b").hex(), two.subkey("a").hex()}) == 5
    assert one.id != two.id
    assert one.id.hex() not in one.hex()


def test_a_key_is_not_shown(tmp_path: Path) -> None:
    key = Key.load_or_make(tmp_path / "sayso" / "key")
    shown = f"{key} {key!r} {[key]} {key.__doc__}"
    assert key.hex() not in shown
    assert key.hex()[:8] not in shown
    with pytest.raises(TypeError):
        pickle.dumps(key)


def test_many_processes_make_one_key(tmp_path: Path) -> None:
    command = [sys.executable, "-c", RACER, str(HOST), str(tmp_path / "sayso" / "key")]
    racers = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("\n")
        racer.stdin.flush()
    names = {racer.communicate()[0] for racer in racers}
    assert [racer.returncode for racer in racers] == [0] * 8
    assert len(names) == 1
    assert os.listdir(tmp_path / "sayso") == ["key"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666, 0o777])
def test_a_file_that_others_can_reach_is_refused_with_the_line_that_mends_it(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "a b" / "key"
    key = Key.load_or_make(path)
    path.chmod(mode)
    with pytest.raises(LedgerError) as refused:
        Key.load_or_make(path)
    line = str(refused.value).split("`")[1]
    assert line == f"chmod 600 '{path}'"
    assert key.hex() not in str(refused.value)
    subprocess.run(line, shell=True, check=True)  # noqa: S602 - the line is meant for a shell
    assert Key.load_or_make(path).hex() == key.hex()


@pytest.mark.parametrize("text", ["", "00", "zz" * 32, "0" * 63, "é" * 40, "00" * 33])
def test_a_damaged_file_is_refused_and_kept(tmp_path: Path, text: str) -> None:
    path = tmp_path / "key"
    path.write_text(text, "utf-8")
    path.chmod(0o600)
    with pytest.raises(LedgerError, match="64 hexadecimal digits") as refused:
        Key.load_or_make(path)
    assert path.read_text("utf-8") == text
    assert not text.strip() or text not in str(refused.value).replace(str(path), "")


def test_a_link_and_a_folder_are_refused(tmp_path: Path) -> None:
    Key.load_or_make(tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe", 0o600)
    for name, word in (("link", "is a link"), ("folder", "no regular file"), ("pipe", "no regular file")):
        with pytest.raises(LedgerError, match=word):
            Key.load_or_make(tmp_path / name)


def test_what_belongs_to_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "sayso" / "key"
    Key.load_or_make(path)
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    with pytest.raises(LedgerError, match=f"chown {mine + 1} "):
        Key.load_or_make(path)
    with pytest.raises(LedgerError, match=f"chown {mine + 1} "):
        private_folder(path.parent)


def test_a_folder_that_can_not_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(LedgerError, match="key file"):
        Key.load_or_make(tmp_path / "file" / "key")
