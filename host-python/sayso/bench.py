"""Measures what sayso costs: `python -m sayso.bench [--json]`.

A hook call is what an agent waits for: the engine judges a memory write, and the ledger commits the row. Messages are
1 KB long, as people and models write them, not the one line that makes every engine look fast. Everything is measured
in one run on one machine, and shown beside the bar it has to keep; nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .engine import Engine, EngineSession, packaged
from .keys import Key
from .ledger import Ledger
from .types import Event, Message, SaysoError, Write

MESSAGES = (10, 100, 1_000, 10_000)
MESSAGE_BYTES = 1024
TEXT_BYTES = 256 * 1024
#: The bars of DESIGN.md section 8, for a session of 1,000 messages and for a fresh process.
P50_MS_MAX = 1.0
P99_MS_MAX = 5.0
START_MS_MAX = 60.0

_SESSION = "bench"
_WORDS = (
    "we the a this that deploy staging database region rollback backup invoice customer release branch review test "
    "token budget weekend meeting report because before after when while should could would please maybe really next "
    "friday server latency cache index query schema migration owner team plan draft summary note file folder script "
    "use keep drop move send read write check approve prefer decide ask agree café naïve 数据库 明天"
).split()
_LINES = (
    "- User decided to drop the {0} {1} before the {2}.",
    '- User prefers short answers ("please keep the {0} short").',
    "- The {0} runs in the {1} region; the {2} is rebuilt every night.",
    "- User approved the {0} plan and asked for a {1} of the {2}.",
)

_FIRST_VERDICT = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from sayso.engine import Engine, EngineSession
from sayso.types import Event, Write
engine = Engine(Path(sys.argv[2]), Path(sys.argv[3]))
session = EngineSession(engine, "", "k" * 32, lambda: ())
session.check(Event("e", "s", 1, Write("memory", "MEMORY.md", "", "- User decided to drop the staging database.")))
"""


@dataclass(frozen=True, slots=True)
class HookCall:
    """A hook call on a session of so many user messages, in milliseconds."""

    messages: int
    p50_ms: float
    p99_ms: float
    engine_p50_ms: float
    ledger_p50_ms: float
    #: A new guest with all of the session loaded, as after a trap.
    rebuild_ms: float


@dataclass(frozen=True, slots=True)
class Start:
    """Medians over fresh processes, in milliseconds, all but the first over Python's own start."""

    python_ms: float
    #: Only importing wasmtime: the part of `warm_ms` that is not sayso's.
    wasmtime_ms: float
    warm_ms: float
    cold_ms: float


@dataclass(frozen=True, slots=True)
class Throughput:
    """Text through the engine."""

    write_mb_per_s: float
    messages_per_s: float


class _Prose:
    """The same text in every run."""

    def __init__(self) -> None:
        self._random = random.Random(2)  # noqa: S311

    def text(self, size: int) -> str:
        words: list[str] = []
        length = 0
        while length < size:
            word = self._random.choice(_WORDS)
            words.append(word + ("." if self._random.random() < 0.08 else ""))
            length += len(word) + 1
        return " ".join(words)

    def note(self, lines: int) -> str:
        made = (self._random.choice(_LINES).format(*self._random.choices(_WORDS, k=3)) for _ in range(lines))
        return "\n".join(made)


@contextmanager
def _opened(engine: Engine) -> Iterator[tuple[EngineSession, Ledger]]:
    """A session with a ledger on disk, in a folder that goes away."""
    with tempfile.TemporaryDirectory(prefix="sayso-bench-") as folder:
        key = Key(os.urandom(32))
        ledger = Ledger.open(Path(folder) / "ledger.db", key)
        try:
            yield EngineSession(engine, "", key.hex(), lambda: ledger.entries(_SESSION)), ledger
        finally:
            ledger.close()


def hook_call(engine: Engine, messages: int, rounds: int) -> HookCall:
    """Times `rounds` memory writes on a session of `messages` user messages."""
    prose = _Prose()
    with _opened(engine) as (session, ledger):
        for number in range(messages):
            event = Event(f"m{number}", _SESSION, number, Message("user", "human", prose.text(MESSAGE_BYTES)))
            stored = session.capture(event)
            ledger.append(event.id, _SESSION, stored.kind, event.at, stored.row, stored.body)
        judged, kept = [], []
        before = prose.note(20)
        for number in range(-rounds // 10, rounds):
            write = Write("memory", "MEMORY.md", before, f"{before}\n{prose.note(2)}")
            event = Event(f"w{number}", _SESSION, messages + number + rounds, write)
            start = time.perf_counter()
            store = session.check(event).store
            middle = time.perf_counter()
            ledger.append(event.id, _SESSION, store.kind, event.at, store.row, store.body)
            end = time.perf_counter()
            if number >= 0:  # The first tenth warms up.
                judged.append((middle - start) * 1000)
                kept.append((end - middle) * 1000)
        session.close()
        rebuild = _milliseconds(lambda: session.report({}))
    whole = [engine_ms + ledger_ms for engine_ms, ledger_ms in zip(judged, kept, strict=True)]
    p99 = statistics.quantiles(whole, n=100)[98]
    return HookCall(
        messages, statistics.median(whole), p99, statistics.median(judged), statistics.median(kept), rebuild
    )


def first_verdict(component: Path, rounds: int) -> Start:
    """Times fresh processes from start to first verdict, with compiled code at hand and without."""
    package = str(Path(__file__).parent.parent)
    with tempfile.TemporaryDirectory(prefix="sayso-bench-") as folder:
        # As installed: with Python's own compiled files at hand, wherever this machine would keep them.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = folder

        def run(*arguments: str) -> float:
            command = [sys.executable, "-c", *arguments]
            return _milliseconds(lambda: subprocess.run(command, check=True, env=environment))

        def verdict(cache: str) -> float:
            return run(_FIRST_VERDICT, package, str(component), str(Path(folder) / cache))

        run("pass")
        verdict("warm")
        python, wasmtime, warm, cold = [], [], [], []
        for number in range(rounds):
            python.append(run("pass"))
            wasmtime.append(run("import wasmtime, wasmtime.component"))
            warm.append(verdict("warm"))
            cold.append(verdict(f"cold{number}"))
    own = statistics.median(python)
    return Start(own, *(statistics.median(times) - own for times in (wasmtime, warm, cold)))


def throughput(engine: Engine, rounds: int) -> Throughput:
    """Times long writes and many messages."""
    prose = _Prose()
    session = EngineSession(engine, "", "k" * 32, lambda: ())
    write = Event("w", _SESSION, 1, Write("memory", "MEMORY.md", "", prose.text(TEXT_BYTES)))
    size = len(write.what.after.encode()) if isinstance(write.what, Write) else 0
    session.check(write)
    write_ms = statistics.median(_milliseconds(lambda: session.check(write)) for _ in range(rounds))
    session.close()
    messages = [
        Event(f"m{number}", _SESSION, number, Message("user", "human", prose.text(MESSAGE_BYTES)))
        for number in range(100 * rounds)
    ]
    session.report({})
    capture_ms = _milliseconds(lambda: [session.capture(event) for event in messages])
    return Throughput(size / 1e6 / write_ms * 1000, len(messages) / capture_ms * 1000)


def _milliseconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def _show(calls: Sequence[HookCall], start: Start, text: Throughput) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table("messages of 1 KB", "p50 ms", "p99 ms", "engine p50", "ledger p50", "restart ms", title="hook call")
    for column in table.columns:
        column.justify = "right"
    for call in calls:
        figures = (call.p50_ms, call.p99_ms, call.engine_p50_ms, call.ledger_p50_ms, call.rebuild_ms)
        table.add_row(f"{call.messages:,}", *(f"{figure:.2f}" for figure in figures))
    console.print(table)
    barred = next((call for call in calls if call.messages == 1_000), None)
    rows = [("start to first verdict over Python's own, warm cache", start.warm_ms, START_MS_MAX)]
    if barred is not None:
        rows[:0] = [("hook call p50", barred.p50_ms, P50_MS_MAX), ("hook call p99", barred.p99_ms, P99_MS_MAX)]
    bars = Table("what", "ms", "bar ms", "of the bar", title="against the bars, session of 1,000 messages")
    for what, figure, bar in rows:
        bars.add_row(what, f"{figure:.2f}", f"{bar:.0f}", f"{figure / bar:.0%}")
    console.print(bars)
    console.print(
        f"Python's own start {start.python_ms:.0f} ms; of the warm start {start.wasmtime_ms:.0f} ms import wasmtime; "
        f"first verdict with no compiled code {start.cold_ms:.0f} ms"
    )
    console.print(f"{text.write_mb_per_s:.1f} MB/s of one long write; {text.messages_per_s:,.0f} messages/s captured")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures and prints. 0 when it could, 3 when the engine or the ledger could not be used."""
    parser = argparse.ArgumentParser("sayso.bench", description="Measures what sayso costs.")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--messages", type=int, nargs="+", default=MESSAGES, help="sizes of the sessions")
    parser.add_argument("--rounds", type=int, default=500, help="writes to time on each session (at least 10)")
    parser.add_argument("--component", type=Path, default=packaged(), help="another engine.wasm")
    options = parser.parse_args(arguments)
    rounds = max(10, options.rounds)
    try:
        engine = Engine(options.component)
        calls = [hook_call(engine, messages, rounds) for messages in options.messages]
        start = first_verdict(options.component, max(3, rounds // 50))
        text = throughput(engine, max(3, rounds // 50))
    except SaysoError as error:
        print(f"sayso.bench: {error}", file=sys.stderr)
        return 3
    if options.json:
        document: dict[str, Any] = {
            "hook_call": [asdict(call) for call in calls],
            "start": asdict(start),
            "throughput": asdict(text),
            "bars": {"p50_ms": P50_MS_MAX, "p99_ms": P99_MS_MAX, "start_warm_ms": START_MS_MAX},
        }
        print(json.dumps(document))
    else:
        _show(calls, start, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
