"""The engine under a component that does its worst: each attack becomes one error, and the next call works."""

from __future__ import annotations

import resource
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sayso import compiled, crossing
from sayso import engine as engine_module
from sayso.deadline import TICK_SECONDS, TICKER, Ticker
from sayso.engine import LOAD_BYTES, Engine, EngineSession, failure
from sayso.types import EngineError, Event, Evidence, Finding, Mark, Message, Stored, Verdict, Write

Written = Callable[..., Event]

ATTACKS = {
    "p": ("trap", "unreachable"),
    "l": ("deadline", "within 2 s"),
    "r": ("stack", "too deeply"),
    "s": ("trap", "panicked"),
    "m": ("trap", "unreachable"),
    "u": ("trap", "utf-8"),
    "o": ("trap", "out of bounds"),
}


def loads(session: EngineSession) -> int:
    """How often the guest was given entries since it was started."""
    return number(session.report({})["loads"])


def number(letters: str) -> int:
    return int(letters.translate(str.maketrans("abcdefghijklmnop", "0123456789abcdef")), 16)


def in_process(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a script in a process of its own, which may crash or hang without taking the tests with it."""
    package = Path(engine_module.__file__).parent.parent
    start = f"import sys\nsys.path.insert(0, {str(package)!r})\n"
    return subprocess.run(
        [sys.executable, "-c", start + textwrap.dedent(script), *arguments], capture_output=True, text=True, timeout=120
    )


@pytest.fixture(scope="session")
def hostile_file(hostile_component: bytes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hostile") / "hostile.wasm"
    path.write_bytes(hostile_component)
    return path


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_one_error_and_the_next_call_works(hostile: EngineSession, written: Written, attack: str) -> None:
    cause, words = ATTACKS[attack]
    for call in (hostile.check, hostile.capture):
        with pytest.raises(EngineError, match=words) as caught:
            call(written("text", id=attack))
        assert caught.value.cause == cause
        assert hostile.check(written("text", id="fine")).store.row == "fine"


def test_every_field_of_a_verdict_comes_back(hostile: EngineSession, written: Written) -> None:
    verdict = hostile.check(written("after", id="f-1"))
    finding = Finding(
        guard="provenance",
        rule="engine.sample",
        level="error",
        start=3,
        end=2**32 - 1,
        path="$.a",
        reason="why \N{SLIGHTLY SMILING FACE}",
        evidence=(Evidence("entry-1", 4, 9, "note"),),
        suggestion="what would pass",
        facts="{}",
    )
    assert verdict == Verdict("refuse", "session", "", (finding,), 7, Stored(verdict.store.kind, "f-1", "after"))


def test_a_guest_is_given_the_entries_again_after_it_died(hostile_engine: Engine, written: Written) -> None:
    asked: list[int] = []

    def entries() -> list[str]:
        asked.append(1)
        return ["one", "two"]

    session = EngineSession(hostile_engine, "", "k", entries)
    assert asked == []
    session.check(written("text"))
    session.check(written("text"))
    assert len(asked) == 1
    with pytest.raises(EngineError):
        session.check(written("text", id="p"))
    assert len(asked) == 1
    assert session.report({}) == {"loads": "aaaaaaaaaaaaaaab", "bytes": "aaaaaaaaaaaaaaah"}
    assert len(asked) == 2
    session.close()
    assert loads(session) == 1
    assert len(asked) == 3


def test_entries_are_loaded_in_pieces_and_wrong_lines_keep_their_number(hostile_engine: Engine) -> None:
    long = "e" * LOAD_BYTES
    session = EngineSession(hostile_engine, "", "k", lambda: iter([long, "?" + long, long]))
    assert loads(session) == 3
    assert session.restored == crossing.Loaded(2, ((2, "asked for"),))
    assert session.load(["?", "b"]) == crossing.Loaded(0, ((1, "asked for"),))
    assert loads(session) == 4


def test_entries_that_kill_the_guest_are_an_error_each_time(hostile_engine: Engine, written: Written) -> None:
    stored = ["!"]
    session = EngineSession(hostile_engine, "", "k", lambda: stored)
    for _ in range(2):
        with pytest.raises(EngineError) as caught:
            session.check(written("text"))
        assert caught.value.cause == "trap"
    stored[0] = "mended"
    assert session.check(written("text")).store.body == "text"


def test_an_error_of_the_host_while_loading_goes_through_and_leaves_no_half_guest(
    hostile_engine: Engine, written: Written
) -> None:
    broken = [True]

    def entries() -> Any:
        yield "a" * LOAD_BYTES
        if broken[0]:
            raise KeyboardInterrupt
        yield "b" * LOAD_BYTES

    session = EngineSession(hostile_engine, "", "k", entries)
    with pytest.raises(KeyboardInterrupt):
        session.check(written("text"))
    broken[0] = False
    assert loads(session) == 2


def test_an_answer_that_is_no_document_is_a_broken_engine(hostile: EngineSession) -> None:
    with pytest.raises(EngineError) as caught:
        hostile.report({})
    assert caught.value.cause == "broken"


def nested(levels: int) -> dict[str, Any]:
    query: dict[str, Any] = {}
    for _ in range(levels):
        query = {"a": query}
    return query


@pytest.mark.parametrize("query", [{"a": float("nan")}, {"a": {1, 2}}, nested(200_000)], ids=["nan", "set", "nested"])
def test_a_query_that_is_no_document_never_crosses(hostile: EngineSession, query: dict[str, Any]) -> None:
    with pytest.raises(EngineError) as caught:
        hostile.report(query)
    assert caught.value.cause == "input"


def test_16_mib_cross_and_one_byte_more_is_the_hosts_own_verdict(hostile: EngineSession) -> None:
    def event(size: int) -> Event:
        return Event("x", "s", 1, Write("memory", "", "b", "a" * (size - 3)))

    longest = crossing.EVENT_BYTES_MAX
    assert hostile.check(event(longest)).store.body == "a" * (longest - 3)
    verdict = hostile.check(event(longest + 1))
    assert verdict == crossing.too_long()
    assert (verdict.action, verdict.findings[0].guard, verdict.findings[0].rule) == (
        "refuse",
        "engine",
        "engine.too-long",
    )
    assert crossing.too_long("ask").action == "ask"
    assert hostile.capture(event(longest + 1)) == Stored("", "", "")
    assert hostile.check(Event("x", "s", 1, Message("user", "human", "é" * (longest // 2)))) == crossing.too_long()
    assert hostile.check(event(10)).store.body == "a" * 7


def test_threads_share_a_session(hostile: EngineSession, written: Written) -> None:
    wrong: list[object] = []

    def work(name: str) -> None:
        for turn in range(50):
            stored = hostile.capture(written(f"{name} says {turn}", id=f"{name}-{turn}"))
            if (stored.row, stored.body) != (f"{name}-{turn}", f"{name} says {turn}"):
                wrong.append(stored)

    threads = [threading.Thread(target=work, args=(f"thread{index}",)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_threads_that_ask_at_once_share_one_engine(hostile_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "_shared", None)
    monkeypatch.setattr(engine_module, "packaged", lambda: hostile_file)
    with ThreadPoolExecutor(4) as pool:
        engines = {future.result() for future in [pool.submit(Engine.shared) for _ in range(8)]}
    assert engines == {Engine.shared()}


def test_the_ticker_rests_while_no_call_runs(hostile: EngineSession, written: Written) -> None:
    hostile.check(written("text"))
    time.sleep(4 * TICK_SECONDS)
    before = TICKER.ticked
    time.sleep(4 * TICK_SECONDS)
    assert TICKER.ticked == before
    with pytest.raises(EngineError):
        hostile.check(written("text", id="l"))
    assert TICKER.ticked > before
    assert [thread.name for thread in threading.enumerate()].count("sayso-ticker") == 1


def test_what_crosses_back_is_freed(hostile: EngineSession, written: Written) -> None:
    event = written("t" * 100_000, id="f" + "i" * 100_000)
    for _ in range(50):
        hostile.check(event)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(1500):
        hostile.check(event)
    # Kept, the two texts of each answer would make 300 MB.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000


def test_a_thread_with_a_small_stack_survives_recursion(hostile_file: Path) -> None:
    done = in_process(
        """
        import threading
        from pathlib import Path
        from sayso.engine import Engine, EngineSession
        from sayso.types import EngineError, Event, Mark

        session = EngineSession(Engine(Path(sys.argv[1])), "", "k", list)
        causes = []

        def work():
            for _ in range(3):
                try:
                    session.check(Event("r", "s", 1, Mark("start")))
                except EngineError as error:
                    causes.append(error.cause)

        threading.stack_size(512 * 1024)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        print(causes)
        """,
        str(hostile_file),
    )
    assert (done.returncode, done.stdout.strip()) == (0, "['stack', 'stack', 'stack']"), done.stderr


@pytest.mark.parametrize("moment", ["idle", "in a call", "before the engine"])
def test_a_forked_child_has_a_guest_of_its_own(hostile_file: Path, moment: str) -> None:
    done = in_process(
        """
        import os, threading, time, warnings
        from pathlib import Path
        from sayso.engine import Engine, EngineSession
        from sayso.types import EngineError, Event, Mark

        warnings.simplefilter("ignore", DeprecationWarning)
        moment, path = sys.argv[1], Path(sys.argv[2])
        asked = []
        session = EngineSession(Engine(path), "", "k", lambda: asked.append(os.getpid()) or ["entry"])
        ask = lambda session, id: session.check(Event(id, "s", 1, Mark("start"))).store.row
        if moment != "before the engine":
            assert ask(session, "first") == "first"
        if moment == "in a call":
            def loop():
                try:
                    ask(session, "l")
                except EngineError:
                    pass
            thread = threading.Thread(target=loop)
            thread.start()
            time.sleep(0.3)
        child = os.fork()
        if child == 0:
            try:
                assert ask(session, "child") == "child"
                try:
                    ask(session, "l")
                except EngineError as error:
                    assert error.cause == "deadline"
                assert ask(EngineSession(Engine(path), "", "k", list), "new") == "new"
                assert asked[-1] == os.getpid()
                os._exit(0)
            except BaseException as error:
                print(repr(error), file=sys.stderr, flush=True)
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        if moment == "in a call":
            thread.join()
        assert ask(session, "again") == "again"
        print("done")
        """,
        moment,
        str(hostile_file),
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_a_limited_address_space_is_enough(hostile_file: Path) -> None:
    done = in_process(
        """
        import resource
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
        from pathlib import Path
        from sayso.engine import Engine, EngineSession
        from sayso.types import Event, Mark

        engine = Engine(Path(sys.argv[1]))
        sessions = [EngineSession(engine, "", "k", list) for _ in range(5)]
        print([session.check(Event("x", "s", 1, Mark("start"))).store.row for session in sessions])
        """,
        str(hostile_file),
    )
    assert done.stdout == "['x', 'x', 'x', 'x', 'x']\n", done.stderr


def test_no_room_for_a_guest_is_an_error_with_its_cause() -> None:
    assert failure("mmap failed to reserve 0x102000000 bytes").cause == "memory"
    assert failure("memory minimum size of 5000 pages exceeds memory limits: reserve").cause == "memory"
    assert failure("").cause == "trap"


def test_without_wasmtime_the_error_says_what_mends_it(
    hostile_component: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wasmtime", None)
    with pytest.raises(EngineError, match=r'can\'t be loaded; this mends it: ".+" -m pip install wasmtime==') as caught:
        Engine(hostile_component)
    assert caught.value.cause == "missing"


def test_another_wasmtime_is_not_used(hostile_component: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "WASMTIME", "49.0.0")
    with pytest.raises(EngineError, match=r"wasmtime 50\.0\.1 is installed.+pip install wasmtime==49\.0\.0") as caught:
        Engine(hostile_component)
    assert caught.value.cause == "missing"


def test_what_is_no_component_is_a_broken_engine(tmp_path: Path) -> None:
    import wasmtime

    empty = bytes(wasmtime.wat2wasm("(component)"))
    importing = bytes(wasmtime.wat2wasm('(component (import "wasi:cli/exit@0.2.0" (instance)))'))
    for content in (b"", b"\0asm\1\0\0\0", b"(component", empty, importing, tmp_path / "nothing.wasm"):
        with pytest.raises(EngineError) as caught:
            Engine(content)
        assert caught.value.cause == "broken"


def test_without_a_thread_for_the_deadline_no_call_is_made(
    hostile: EngineSession, written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(engine_module, "TICKER", Ticker())
        patch.setattr(threading.Thread, "start", start)
        with pytest.raises(EngineError) as caught:
            hostile.check(written("text"))
        assert caught.value.cause == "broken"
    assert hostile.check(written("text")).store.row == "x"


def test_another_contract_is_a_broken_engine(written: Written) -> None:
    # The same component with one number of a verdict signed.
    import wasmtime

    source = (Path(__file__).with_name("hostile") / "hostile.wat").read_text("utf-8")
    changed = source.replace('(field "more" u32)', '(field "more" s32)')
    assert changed != source
    session = EngineSession(Engine(bytes(wasmtime.wat2wasm(changed))), "", "k", list)
    with pytest.raises(EngineError) as caught:
        session.check(written("text"))
    assert caught.value.cause == "broken"


def test_a_key_with_half_a_surrogate_pair_is_in_no_message(hostile_engine: Engine) -> None:
    session = EngineSession(hostile_engine, "\ud800", "very-private\udc00", list)
    assert session.check(Event("x", "s", 1, Mark("start"))).store.row == "x"
    wrong: Any = 5
    with pytest.raises(EngineError, match="settings must be text, not int"):
        EngineSession(hostile_engine, wrong, "very-private", list).check(Event("x", "s", 1, Mark("start")))
