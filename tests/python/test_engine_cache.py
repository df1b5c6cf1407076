"""The cache of compiled code under attack. Whatever is wrong with it, the engine compiles again and works."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sayso import compiled
from sayso.compiled import CodeCache, configuration
from sayso.engine import Engine, EngineSession
from sayso.types import Event, Mark

SECRET = b"s" * 32


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "a folder" / "code"


def works(engine: Engine) -> bool:
    return EngineSession(engine, "", "k", list).check(Event("x", "s", 1, Mark("start"))).store.row == "x"


def entry(folder: Path) -> Path:
    (only,) = folder.iterdir()
    return only


def test_code_is_kept_in_private_and_found_again(hostile_component: bytes, folder: Path) -> None:
    first = Engine(hostile_component, folder)
    assert (first.from_cache, first.cache_problem) == (False, "")
    for path, mode in ((folder, 0o700), (folder.parent, 0o700), (entry(folder), 0o600)):
        assert stat.S_IMODE(path.stat().st_mode) == mode
    second = Engine(hostile_component, folder)
    assert second.from_cache
    assert works(second)
    assert first.digest == second.digest


def test_without_a_folder_nothing_is_looked_for(hostile_component: bytes, folder: Path) -> None:
    Engine(hostile_component, folder)
    assert not Engine(hostile_component, None).from_cache
    assert len(list(folder.iterdir())) == 1


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def open_to_all(path: Path) -> None:
    path.chmod(0o644)


def symlink(path: Path) -> None:
    elsewhere = path.parent.parent / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def hard_link(path: Path) -> None:
    os.link(path, path.parent.parent / "elsewhere")


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


def other_name(path: Path) -> None:
    """Code that was kept for another component."""
    cache = CodeCache(path.parent)
    cache.write("0" * 64, b"other code")
    (path.parent / ("0" * 64 + ".code")).rename(path)


@pytest.mark.parametrize("attack", [flip, truncate, empty, open_to_all, symlink, hard_link, pipe, other_name])
def test_an_entry_that_is_not_as_it_was_left_is_compiled_again(
    hostile_component: bytes, folder: Path, attack: Callable[[Path], None]
) -> None:
    Engine(hostile_component, folder)
    attack(entry(folder))
    engine = Engine(hostile_component, folder)
    assert not engine.from_cache
    assert works(engine)
    # The bad entry was replaced by a good one, in one step.
    assert Engine(hostile_component, folder).from_cache
    assert stat.S_IMODE(entry(folder).lstat().st_mode) == 0o600


def test_code_of_another_user_is_not_used(
    hostile_component: bytes, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Engine(hostile_component, folder)
    someone_else = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: someone_else)
    engine = Engine(hostile_component, folder)
    assert not engine.from_cache
    assert "open to other users or belongs to one" in engine.cache_problem
    assert works(engine)


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701])
def test_a_folder_that_others_can_enter_is_not_used(hostile_component: bytes, folder: Path, mode: int) -> None:
    Engine(hostile_component, folder)
    folder.chmod(mode)
    engine = Engine(hostile_component, folder)
    assert not engine.from_cache
    assert str(folder) in engine.cache_problem
    assert works(engine)


def test_a_folder_behind_a_symbolic_link_is_not_used(hostile_component: bytes, folder: Path) -> None:
    Engine(hostile_component, folder)
    link = folder.parent / "link"
    link.symlink_to(folder)
    engine = Engine(hostile_component, link)
    assert not engine.from_cache
    assert "is not a plain folder" in engine.cache_problem


def test_a_folder_that_cannot_be_made_is_a_problem_and_no_error(hostile_component: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    engine = Engine(hostile_component, tmp_path / "file" / "code")
    assert works(engine)
    assert "can't be stored" in engine.cache_problem


def test_with_a_secret_only_its_holder_makes_an_entry(hostile_component: bytes, folder: Path) -> None:
    Engine(hostile_component, folder)
    assert not Engine(hostile_component, folder, secret=SECRET).from_cache
    assert Engine(hostile_component, folder, secret=SECRET).from_cache
    assert not Engine(hostile_component, folder, secret=b"another").from_cache


def test_code_that_wasmtime_refuses_is_compiled_again(hostile_component: bytes, folder: Path) -> None:
    Engine(hostile_component, folder)
    CodeCache(folder).write(entry(folder).stem, b"no code at all")
    engine = Engine(hostile_component, folder)
    assert not engine.from_cache
    assert works(engine)


def test_other_settings_of_the_sandbox_have_code_of_their_own(
    hostile_component: bytes, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Engine(hostile_component, folder)
    small = {**configuration(), "max_wasm_stack": 128 * 1024}
    monkeypatch.setattr("sayso.engine.configuration", lambda: small)
    assert not Engine(hostile_component, folder).from_cache
    assert len(list(folder.iterdir())) == 2


def test_processes_that_start_at_once_all_work(hostile_component: bytes, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "hostile.wasm").write_bytes(hostile_component)
    package = str(Path(compiled.__file__).parent.parent)
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path; from sayso.engine import Engine;"
        "engine = Engine(Path(sys.argv[2]), Path(sys.argv[3])); sys.exit(bool(engine.cache_problem))"
    )
    command = [sys.executable, "-c", script, package, str(tmp_path / "hostile.wasm"), str(folder)]
    processes = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait() for process in processes] == [0, 0, 0, 0]
    assert Engine(hostile_component, folder).from_cache


def test_old_entries_and_leftovers_go(folder: Path) -> None:
    cache = CodeCache(folder)
    for index in range(6):
        cache.write(f"entry-{index}", b"code")
        os.utime(folder / f"entry-{index}.code", ns=(index, index))
    (folder / ".stopped.new").write_bytes(b"half")
    os.utime(folder / ".stopped.new", ns=(0, 0))
    cache.write("entry-6", b"code")
    assert sorted(path.name for path in folder.iterdir()) == [f"entry-{index}.code" for index in (3, 4, 5, 6)]
    assert cache.read("entry-6") == b"code"
    assert cache.read("entry-0") is None
