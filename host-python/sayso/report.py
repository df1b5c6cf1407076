"""`sayso status`, `report` and `verify`: the settings of this installation, what it found, and the state of its ledger.

Only reads. Where nothing was recorded yet these commands say so and make nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from . import __version__
from .chain import Checkpoint
from .documents import InputError, read_text
from .engine import Engine
from .head import HeadFile
from .keys import Key
from .ledger import Ledger
from .opening import opener
from .screen import Screen, Style
from .settings import Settings, from_hermes
from .types import EngineError, LedgerError

UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_AGO = re.compile(r"(\d{1,6})([mhdw])")
GONE = "(text no longer kept)"


def status(out: Screen) -> int:
    """Tells versions, modes and the state of the ledger. Always 0: what is wrong is for `doctor` to say."""
    settings, problems = from_hermes()
    out.title(f"sayso {__version__}")
    guards: object = None
    try:
        about = opener(settings)(settings.to_engine_json()).report({"ask": "status"})
        languages = ", ".join(str(tag) for tag in about.get("languages", []))
        out.pair("engine", f"{about.get('engine', '?')}, {about.get('rules', '?')} rules; languages: {languages}")
        guards = about.get("guards")
        out.pair("imports", ", ".join(Engine.shared().imports()) or "none: it can reach nothing outside its sandbox")
    except EngineError as error:
        out.pair("engine", f"not working: {error}", "bad")
    out.pair("profile", settings.profile)
    for problem in problems:
        out.pair("settings", str(problem), "warn")
    _ledger_status(settings, out)
    out.title("modes")
    rows = []
    for guard, mode in settings.modes.items():
        if isinstance(guards, list) and guard not in guards:
            rows.append((guard, "-", "not in this version of the engine"))
        else:
            rows.append((guard, mode, settings.came_from.get(f"modes.{guard}", "default")))
    rows += [(f"  {kind} claims", mode, "settings") for kind, mode in settings.claims.items()]
    out.table(("guard", "mode", "set by"), rows)
    return 0


def _ledger_status(settings: Settings, out: Screen) -> None:
    try:
        with opened_ledger(settings) as (ledger, key):
            if ledger is None:
                out.pair("ledger", f"none yet; it will be made in {settings.folder}")
                return
            days = f"bodies are kept {settings.retention_days} days"
            bytes_ = ledger.path.stat().st_size
            out.pair("ledger", f"{ledger.size()} entries in {ledger.path} ({bytes_:,} bytes); {days}")
            out.pair("storage", ledger.state)
            noted = HeadFile(ledger.path.with_name("head"), key).read().checkpoint if key is not None else None
            out.pair("noted head", f"of {noted.size} entries, in the file beside it" if noted else "none yet")
            if ledger.trouble:
                out.pair("", ledger.trouble, "warn")
    except LedgerError as error:
        out.pair("ledger", str(error), "bad")


@contextmanager
def opened_ledger(settings: Settings) -> Iterator[tuple[Ledger | None, Key | None]]:
    """The ledger of this installation and its key, or nothing where none was made yet. Raises `LedgerError`."""
    path = settings.folder / "ledger.db"
    if not path.exists():
        yield None, None
        return
    if not (settings.folder / "key").exists():
        raise LedgerError(f"The ledger {path} is there, but its key file is not: put it back beside it.")
    key = Key.load_or_make(settings.folder / "key")
    with Ledger.open(path, key, strict=True) as ledger:
        yield ledger, key


def report(session: str, since: str, passed_too: bool, as_json: bool, out: Screen) -> int:
    """Tells what was found. 0 when nothing fails, 1 when something does."""
    start = since_ms(since, datetime.now(UTC)) if since else None
    settings, _ = from_hermes()
    found: list[dict[str, Any]] = []
    with opened_ledger(settings) as (ledger, key):
        if ledger is not None and key is not None:
            found = findings(ledger, key, settings, session or None, start)
    if not passed_too:
        found = [one for one in found if one["finding"].get("level") != "info"]
    if as_json:
        out.json({"findings": [{**_flat(one), "when": when(one["at"])} for one in found]})
    elif not found:
        out.line("Nothing found." if ledger is not None else f"Nothing recorded yet in {settings.folder}.")
    else:
        _show(found, out)
    return 1 if any(one["finding"].get("level") != "info" for one in found) else 0


def findings(
    ledger: Ledger, key: Key, settings: Settings, session: str | None, since: int | None
) -> list[dict[str, Any]]:
    """The findings of the ledger's entries, oldest first, read by the engine: rows are its own."""

    def entries() -> Iterable[str]:
        for entry in ledger.found(session=session, since=since):
            # Messages are only remembered; every other kind of entry may hold a verdict.
            if entry.kind != "message":
                yield f'{{"row":{entry.row},"body":{json.dumps(entry.body, ensure_ascii=False)}}}'

    answer = opener(settings)("", key.hex(), entries).report({"ask": "findings"})
    if "error" in answer:
        raise EngineError("broken", f"the engine can't tell its findings: {answer['error']}")
    return [one for one in answer.get("findings", []) if isinstance(one, dict) and isinstance(one.get("finding"), dict)]


def verify(against: str, out: Screen) -> int:
    """Walks the whole ledger. 0 when it is whole, 1 when it is not."""
    noted: list[Checkpoint] = []
    if against:
        try:
            noted.append(Checkpoint.parse(read_text(against)))
        except ValueError as error:
            raise InputError(f"{against}: is no checkpoint: {error}") from None
    settings, _ = from_hermes()
    with opened_ledger(settings) as (ledger, _key):
        if ledger is None:
            if noted:
                out.line(f"broken: there is no ledger in {settings.folder}", "bad")
                return 1
            out.line(f"Nothing recorded yet in {settings.folder}.")
            return 0
        found = ledger.verify(*noted)
    if found.ok:
        # The head is the data: `sayso verify > head` notes it, `sayso verify --against head` compares.
        out.talk(f"whole: {found.size} entries, {found.dropped} of them without their text. The head:")
        out.out.write(found.checkpoint().text())
        return 0
    what = found.fault.what if found.fault else "the ledger is not whole"
    out.line(f"broken: {what}", "bad")
    out.line(f"The first {found.size} entries are sound.")
    return 1


def since_ms(text: str, now: datetime) -> int:
    """A time as milliseconds since 1970: `30m`, `24h`, `7d`, `2w` before `now`, or a date in the local time zone."""
    if ago := _AGO.fullmatch(text.strip()):
        then = now - int(ago[1]) * UNITS[ago[2]]
    else:
        try:
            then = datetime.fromisoformat(text.strip()).astimezone()
        except (ValueError, OverflowError):
            raise InputError(
                f"--since must be 30m, 24h, 7d, 2w or a date such as 2026-11-01, not {text[:40]!r}"
            ) from None
    return max(int(then.timestamp() * 1000), 0)


def _show(found: list[dict[str, Any]], out: Screen) -> None:
    rows = []
    for one in found:
        rule = str(one["finding"].get("rule", "")).removeprefix("provenance.")
        claim = " ".join(str(one.get("text", "")).split()) or GONE
        where = str(one.get("reference") or one.get("surface") or "")
        rows.append(
            (
                when(one["at"])[:16].replace("T", " "),
                str(one.get("session", "")),
                where,
                rule,
                str(one.get("action", "")),
                claim,
            )
        )
    out.table(("when", "session", "note", "finding", "action", "claim"), rows)
    style: Style = "warn"
    out.line(f"{len(found)} {'finding' if len(found) == 1 else 'findings'}.", style)


def _flat(one: dict[str, Any]) -> dict[str, Any]:
    """One finding as `--json` prints it."""
    rest = {name: value for name, value in one["finding"].items() if name != "body"}
    known = {name: one.get(name) for name in ("session", "at", "surface", "reference", "action")}
    return {"entry": one.get("id"), **known, "claim": one.get("text") or None, **rest}


def when(at: object) -> str:
    """Milliseconds since 1970 as local time, ISO 8601 to the second."""
    try:
        return datetime.fromtimestamp(int(str(at)) / 1000, UTC).astimezone().isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return "?"
