"""`sayso doctor`: looks at everything that has to be right, and names for each problem the line that mends it.

Looks only; the one thing it writes is compiled code, into the cache that it tests.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from . import __version__
from .engine import Engine, EngineSession, packaged
from .keys import Key, quoted
from .opening import code_cache
from .report import opened_ledger
from .screen import Screen
from .settings import PLUGIN, Settings, from_hermes
from .types import EngineError, Event, LedgerError, Write

PYTHON_MIN = (3, 11)
COMPONENT_BYTES_MAX = 1024 * 1024
"""The largest file that the host's plugin catalogue takes."""


@dataclass(frozen=True, slots=True)
class Sign:
    """One thing that was looked at. `mend` is what to do about it, where it is a problem."""

    name: str
    ok: bool
    text: str
    mend: str = ""


def doctor(out: Screen) -> int:
    """Shows every sign. 0 when all is well, 1 when something is not."""
    settings, problems = from_hermes()
    signs = [_python(), *_engine(settings), *_key(settings), _ledger(settings), *_hermes()]
    signs += [Sign("settings", False, str(problem), "correct it in Hermes' config.yaml") for problem in problems]
    for sign in signs:
        out.pair(sign.name, sign.text, "" if sign.ok else "bad", width=12)
        if not sign.ok and sign.mend:
            out.pair("  mend", sign.mend, "code", width=12)
    wrong = sum(not sign.ok for sign in signs)
    out.line()
    out.line(
        "All is well." if not wrong else f"{wrong} {'problem' if wrong == 1 else 'problems'}.",
        "bad" if wrong else "good",
    )
    return 1 if wrong else 0


def _python() -> Sign:
    version = ".".join(map(str, sys.version_info[:3]))
    needed = ".".join(map(str, PYTHON_MIN))
    ok = sys.version_info >= PYTHON_MIN
    return Sign(
        "python", ok, f"{version} at {sys.executable}; sayso {__version__}", f"install Python {needed} or newer"
    )


def _engine(settings: Settings) -> Iterator[Sign]:
    """The component, what runs it, an answer from it, and the cache of its compiled code."""
    path = packaged()
    try:
        size = path.stat().st_size
    except OSError as error:
        yield Sign("component", False, f"{path} can't be read: {error.strerror}", "reinstall sayso")
        return
    cache, secret = code_cache(settings)
    start = time.perf_counter()
    try:
        engine = Engine(path, cache, secret=secret)
        yield Sign("wasmtime", True, "found, in the version that sayso needs")
        text = f"{size / 1024:.0f} KiB, sha256 {engine.digest}"
        yield Sign(
            "component", size <= COMPONENT_BYTES_MAX, text, "reinstall sayso: the file is larger than any release"
        )
        yield _answer(engine, start)
    except EngineError as error:
        name = "wasmtime" if error.cause == "missing" else "component"
        what, _, mend = str(error).partition("; this mends it: ")
        yield Sign(name, False, what, mend or "reinstall sayso")
        return
    if cache is None:
        why = "switched off by a setting" if not settings.cache else "starts when the first session has made a key"
        yield Sign("cache", True, f"not used: {why}")
    else:
        text = engine.cache_problem or f"{cache}, {'read' if engine.from_cache else 'written'}"
        yield Sign("cache", not engine.cache_problem, text, f"rm -r {quoted(cache)}")


def _answer(engine: Engine, start: float) -> Sign:
    """Has the engine judge a claim that nobody made: it must be found."""
    session = EngineSession(engine, "", "doctor", lambda: ())
    about = session.report({"ask": "status"})
    verdict = session.check(Event("doctor", "doctor", 0, Write("memory", "doctor", "", "User approved the deploy.")))
    took = (time.perf_counter() - start) * 1000
    ok = any(finding.rule == "provenance.no-quote" for finding in verdict.findings)
    text = f"version {about.get('engine', '?')}, first verdict after {took:.0f} ms"
    return Sign("engine", ok, text if ok else "does not find a claim that is there", "reinstall sayso")


def _key(settings: Settings) -> Iterator[Sign]:
    path = settings.folder / "key"
    if not path.exists():
        yield Sign("key", True, f"none yet; it will be made at {path}")
        return
    try:
        Key.load_or_make(path)
    except LedgerError as error:
        yield Sign("key", False, *_split(error))
        return
    yield Sign("key", True, f"{path}, only its owner can read it")


def _ledger(settings: Settings) -> Sign:
    try:
        with opened_ledger(settings) as (ledger, _):
            if ledger is None:
                return Sign("ledger", True, f"none yet; it will be made in {settings.folder}")
            found = ledger.verify()
            if found.ok and not ledger.trouble:
                return Sign("ledger", True, f"{ledger.path}, {found.size} entries, whole")
            what = ledger.trouble or (found.fault.what if found.fault else "not whole")
            return Sign("ledger", False, f"{ledger.path}: {what}", "sayso verify")
    except LedgerError as error:
        return Sign("ledger", False, *_split(error))


def _split(error: Exception) -> tuple[str, str]:
    """What is wrong and what mends it, where the message names that line."""
    what, _, mend = str(error).partition(" Mend it: ")
    return what, mend.strip("`")


def _hermes() -> Iterator[Sign]:
    """Whether Hermes is here, and lets the plugin run."""
    try:
        constants = importlib.import_module("hermes_constants")
        config = importlib.import_module("hermes_cli.config").load_config()
        home = Path(constants.get_hermes_home())
    except ImportError:
        yield Sign("hermes", True, "not in this Python; `hermes sayso doctor` looks from inside")
        return
    except Exception as error:  # Whatever Hermes raises while it reads its own files.
        yield Sign("hermes", False, f"can't read its configuration ({type(error).__name__})", "hermes doctor")
        return
    plugins = config.get("plugins") if isinstance(config, Mapping) else None
    lists = plugins if isinstance(plugins, Mapping) else {}
    if PLUGIN in (lists.get("disabled") or ()):
        yield Sign("hermes", False, f"{home}: the plugin is disabled", f"hermes plugins enable {PLUGIN}")
    elif PLUGIN not in (lists.get("enabled") or ()):
        yield Sign("hermes", False, f"{home}: the plugin is not enabled", f"hermes plugins enable {PLUGIN}")
    else:
        yield Sign("hermes", True, f"{home}: the plugin is enabled")
