"""Settings: the one reader of the environment and of the host's configuration.

Every wrong value yields one `SettingsError` that names the key, the value and what is allowed, and the safe default
stands in its place; a wrong setting never stops a guard. Nothing in here is secret, and nothing is cached: profiles of
the host swap its home folder while the process runs.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal, cast

from .reading import ABSENT, MAX_ITEMS, Reader, is_item
from .types import SettingsError

Profile = Literal["observe", "balanced", "strict"]
Mode = Literal["off", "observe", "ask", "enforce"]
ClaimKind = Literal["decision", "approval", "instruction", "preference", "rejection", "agreement"]
Trace = Literal["accept", "refuse"]
Notify = Literal["off", "line"]
Unattended = Literal["refuse", "allow"]

PLUGIN = "sayso"
PROFILES: tuple[Profile, ...] = ("observe", "balanced", "strict")
MODES: tuple[Mode, ...] = ("off", "observe", "ask", "enforce")
LANGUAGES = ("en", "zh", "es", "de", "fr", "ja", "pt", "ko", "ru")
CLAIM_KINDS: tuple[ClaimKind, ...] = ("decision", "approval", "instruction", "preference", "rejection", "agreement")
#: The rules of the loops guard that have a mode of their own.
LOOP_RULES = ("moving", "cycle", "varying")
MAX_CALLS = 100_000
MAX_BOUND = 16_000_000
#: The environment variable of the older plugin, and what its values mean here.
OLD_MODE = "PROVENANCE_GATE_MODE"
OLD_MODES: Mapping[str, Mode] = MappingProxyType({"block": "enforce", "warn": "observe", "off": "off"})
#: Any value but "", "0", "false", "no" and "off" turns the cache of compiled code off.
NO_CACHE = "SAYSO_NO_CACHE"
MAX_DAYS = 36_500
SYNONYMS: Mapping[str, str] = MappingProxyType({"block": "enforce"})
#: Every key of a settings table.
KEYS = (
    "profile",
    "modes",
    "claims",
    "traceable",
    "languages",
    "names",
    "principals",
    "accept_assent",
    "allow",
    "retention_days",
    "notify",
    "unattended",
    "ask_after",
    "cache",
    "loops",
    "pollers",
    "message_resets",
    "bounds",
    "bounds_exempt",
)

#: The mode of each guard in the profiles observe, balanced and strict: the table of the README, as data.
_ROWS: Mapping[str, tuple[Mode, Mode, Mode]] = {
    "provenance": ("observe", "observe", "enforce"),
    "repetition": ("observe", "ask", "enforce"),
    "loops": ("observe", "enforce", "enforce"),
    "credentials": ("observe", "enforce", "enforce"),
    "tamper": ("observe", "ask", "enforce"),
    "bounds": ("off", "enforce", "enforce"),
    "lineage": ("observe", "observe", "observe"),
}
MODE_TABLE: Mapping[str, Mapping[Profile, Mode]] = MappingProxyType(
    {guard: MappingProxyType(dict(zip(PROFILES, row, strict=True))) for guard, row in _ROWS.items()}
)
GUARDS = tuple(MODE_TABLE)
#: The longest tool result that passes uncut: characters (code points), lines.
BOUNDS: Mapping[Profile, tuple[int, int]] = MappingProxyType(
    {"observe": (16_000, 400), "balanced": (16_000, 400), "strict": (4_000, 100)}
)
#: Tools whose results are never shortened: they read files in parts of the agent's choice, or what was left out.
EXEMPT = ("read_file", "skill_view", "sayso_result")
#: Whether enforce lets a claim without a quote pass when the user's own message would support it.
TRACEABLE: Mapping[ClaimKind, Trace] = MappingProxyType(
    {kind: "accept" if kind in ("preference", "instruction") else "refuse" for kind in CLAIM_KINDS}
)


@dataclass(frozen=True, slots=True)
class Allowed:
    """A phrase that never counts as a claim, and why somebody allowed it."""

    phrase: str
    reason: str


@dataclass(frozen=True, slots=True)
class Settings:
    """What the person chose, complete and valid. `came_from` tells for each key where its value is from."""

    profile: Profile = "balanced"
    #: The mode of every guard.
    modes: Mapping[str, Mode] = field(default_factory=lambda: modes_of("balanced"))
    #: The mode of the provenance guard for single kinds of claim; other kinds follow the guard.
    claims: Mapping[ClaimKind, Mode] = field(default_factory=lambda: MappingProxyType({}))
    traceable: Mapping[ClaimKind, Trace] = field(default_factory=lambda: TRACEABLE)
    #: BCP 47 tags of the languages in which claims are looked for.
    languages: tuple[str, ...] = LANGUAGES
    #: What the user is called besides "the user".
    names: tuple[str, ...] = ()
    #: Platform ids of the authors whose words support claims in a shared chat; empty: the author of the turn.
    principals: tuple[str, ...] = ()
    #: Whether a bare "yes" to a question of the agent supports a claim.
    accept_assent: bool = True
    allow: tuple[Allowed, ...] = ()
    #: Days after which bodies are dropped; 0 keeps none beyond the next clean-up.
    retention_days: int = 30
    #: `line`: one line to the person at the end of a turn that had findings.
    notify: Notify = "off"
    #: What `ask` does where the host would approve by itself and nobody sees the question.
    unattended: Unattended = "refuse"
    #: After how many refusals of the same write a person is asked; 0: never.
    ask_after: int = 0
    #: Whether compiled code is kept between processes.
    cache: bool = True
    #: The mode of single rules of the loops guard: calls whose results move, cycles, arguments that vary trivially.
    loops: Mapping[str, Mode] = field(default_factory=lambda: MappingProxyType({}))
    #: How many equal calls in a row a tool may make that is known to wait for something.
    pollers: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    #: Whether a new message of the user starts the count of equal calls again.
    message_resets: bool = True
    #: The longest tool result that passes uncut, in `characters` and `lines`; what is not named is the profile's.
    bounds: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    #: Tools whose results are never shortened.
    bounds_exempt: tuple[str, ...] = EXEMPT
    home: Path = field(default_factory=lambda: Path.home() / ".hermes")
    came_from: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def folder(self) -> Path:
        """Where sayso keeps its ledger, its key and its head file."""
        return self.home / "plugin-data" / PLUGIN

    def to_engine_json(self) -> str:
        """The document for the engine's constructor (`wit/schema/settings.json`). Nothing in it is secret."""
        characters, lines = BOUNDS[self.profile]
        document = {
            "version": 1,
            "profile": self.profile,
            "modes": dict(self.modes),
            "claims": dict(self.claims),
            "traceable": dict(self.traceable),
            "languages": list(self.languages),
            "names": list(self.names),
            "principals": list(self.principals),
            "accept_assent": self.accept_assent,
            "allow": [{"phrase": one.phrase, "reason": one.reason} for one in self.allow],
            "loops": {
                "rules": dict(self.loops),
                "pollers": dict(self.pollers),
                "message_resets": self.message_resets,
            },
            "bounds": {
                "characters": self.bounds.get("characters", characters),
                "lines": self.bounds.get("lines", lines),
                # What was left out can always be read.
                "exempt": list(dict.fromkeys((*self.bounds_exempt, "sayso_result"))),
            },
        }
        return json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def modes_of(profile: Profile) -> Mapping[str, Mode]:
    """The mode of every guard in `profile`."""
    return MappingProxyType({guard: row[profile] for guard, row in MODE_TABLE.items()})


def load(mapping: object, environ: Mapping[str, str]) -> tuple[Settings, list[SettingsError]]:
    """Reads settings from `mapping` (what the configuration file holds) and `environ`.

    Always gives usable settings. The errors name what was wrong, one each, in the order of the keys.
    """
    reader = Reader(mapping)
    profile = reader.choice("profile", PROFILES, "balanced", {})
    modes, origins = _modes(reader, profile, environ)
    settings = Settings(
        profile=profile,
        modes=modes,
        claims=MappingProxyType(reader.table("claims", CLAIM_KINDS, MODES, SYNONYMS)),
        traceable=MappingProxyType({**TRACEABLE, **reader.table("traceable", CLAIM_KINDS, ("accept", "refuse"), {})}),
        languages=_languages(reader),
        names=reader.strings("names"),
        principals=reader.strings("principals"),
        accept_assent=reader.switch("accept_assent", True),
        allow=_allowed(reader),
        retention_days=reader.number("retention_days", 30, MAX_DAYS),
        notify=reader.choice("notify", ("off", "line"), "off", {}),
        unattended=reader.choice("unattended", ("refuse", "allow"), "refuse", {}),
        ask_after=reader.number("ask_after", 0, 1_000),
        cache=reader.switch("cache", True)
        and environ.get(NO_CACHE, "").strip().lower() in ("", "0", "false", "no", "off"),
        loops=MappingProxyType(reader.table("loops", LOOP_RULES, MODES, SYNONYMS)),
        pollers=MappingProxyType(reader.amounts("pollers", MAX_CALLS)),
        message_resets=reader.switch("message_resets", True),
        bounds=MappingProxyType(reader.amounts("bounds", MAX_BOUND, ("characters", "lines"))),
        bounds_exempt=reader.strings("bounds_exempt", EXEMPT),
        home=hermes_home(environ),
        came_from=MappingProxyType({**reader.origins, **origins}),
    )
    reader.unknown_keys()
    return settings, reader.problems


def from_hermes(
    ctx: object | None = None, environ: Mapping[str, str] | None = None
) -> tuple[Settings, list[SettingsError]]:
    """Reads `plugins.entries.sayso.settings` of the running Hermes, in the way its version offers."""
    environ = os.environ if environ is None else environ
    try:
        mapping = _hermes_mapping(ctx)
    except Exception as error:  # The host's own reader failed; sayso goes on with its defaults and says so.
        settings, problems = load({}, environ)
        problems.insert(0, SettingsError(f"Hermes could not read its configuration ({type(error).__name__})."))
        return settings, problems
    return load(mapping, environ)


def hermes_home(environ: Mapping[str, str] | None = None) -> Path:
    """The home folder of the Hermes profile that is active in this context. Ask at every use."""
    try:
        home = importlib.import_module("hermes_constants").get_hermes_home()
        return Path(home)
    except Exception:  # Not inside Hermes, or a version without it.
        value = (os.environ if environ is None else environ).get("HERMES_HOME", "").strip()
        return Path(value).expanduser() if value else Path.home() / ".hermes"


def _hermes_mapping(ctx: object | None) -> object:
    get_config = getattr(ctx, "get_config", None)
    try:
        config = importlib.import_module("hermes_cli.config").load_config()
    except ImportError:
        config = {}
    for name in ("plugins", "entries", PLUGIN, "settings"):
        config = config.get(name) if isinstance(config, Mapping) else None
    if not callable(get_config):
        return config
    # The context knows under which name the plugin runs; the whole table is only read to find keys that don't exist.
    found = {name: get_config(name, None) for name in KEYS}
    unknown = {name: value for name, value in config.items() if name not in KEYS} if isinstance(config, Mapping) else {}
    return {**unknown, **found}


def _modes(reader: Reader, profile: Profile, environ: Mapping[str, str]) -> tuple[Mapping[str, Mode], dict[str, str]]:
    """The mode of each guard, the most particular word first: settings, then the old variable, then the profile."""
    modes: dict[str, Mode] = dict(modes_of(profile))
    origins = {f"modes.{guard}": f"profile {profile}" for guard in modes}
    old = environ.get(OLD_MODE, "").strip().lower()
    if old in OLD_MODES:
        modes["provenance"] = OLD_MODES[old]
        origins["modes.provenance"] = OLD_MODE
    elif old:
        reader.wrong(OLD_MODE, environ[OLD_MODE], "block, warn or off", f"the profile's mode, {modes['provenance']}")
    chosen = reader.table("modes", GUARDS, MODES, SYNONYMS)
    modes.update(chosen)
    origins.update({f"modes.{guard}": "settings" for guard in chosen})
    return MappingProxyType(modes), origins


def _languages(reader: Reader) -> tuple[str, ...]:
    tags = reader.strings("languages", LANGUAGES)
    known = []
    for tag in tags:
        short = tag.lower().replace("_", "-").split("-")[0]
        if short in LANGUAGES:
            known.append(short)
        else:
            reader.wrong("languages", tag, ", ".join(LANGUAGES), "the other languages named")
    return tuple(dict.fromkeys(known)) or LANGUAGES


def _allowed(reader: Reader) -> tuple[Allowed, ...]:
    value = reader.take("allow")
    if value is ABSENT:
        return ()
    wanted = "a list of objects with a phrase and a reason"
    if not isinstance(value, list) or len(value) > MAX_ITEMS:
        reader.wrong("allow", value, wanted, "no phrase")
        return ()
    allowed = []
    for position, item in enumerate(value):
        phrase, reason = (item.get("phrase"), item.get("reason")) if isinstance(item, Mapping) else (None, None)
        if is_item(phrase) and is_item(reason) and set(item) == {"phrase", "reason"}:
            allowed.append(Allowed(cast(str, phrase).strip(), cast(str, reason).strip()))
        else:
            reader.wrong(f"allow[{position}]", item, f"{wanted}, both texts", "to leave it out")
    return tuple(allowed)
