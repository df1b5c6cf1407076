"""Settings: complete and valid whatever stands in the file, and one sentence for each thing that was wrong."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from sayso.settings import CLAIM_KINDS, GUARDS, MODES, Allowed, Settings, from_hermes, hermes_home, load

SCHEMA = Path(__file__).resolve().parents[2] / "wit" / "schema" / "settings.json"


def right(mapping: object, environ: Mapping[str, str] | None = None) -> Settings:
    settings, problems = load(mapping, environ or {})
    assert [str(problem) for problem in problems] == []
    return settings


def wrong(mapping: object, environ: Mapping[str, str] | None = None) -> tuple[Settings, str]:
    settings, problems = load(mapping, environ or {})
    assert len(problems) == 1, problems
    return settings, str(problems[0])


def test_the_defaults_are_balanced() -> None:
    settings = right({})
    assert dict(settings.modes) == {
        "provenance": "observe",
        "repetition": "ask",
        "loops": "enforce",
        "credentials": "enforce",
        "tamper": "ask",
        "bounds": "enforce",
        "lineage": "observe",
    }
    assert dataclasses.replace(settings, came_from={}) == dataclasses.replace(Settings(), home=settings.home)
    assert settings.retention_days == 30
    assert settings.unattended == "refuse"
    assert settings.traceable["preference"] == "accept"
    assert settings.traceable["decision"] == "refuse"


def test_nothing_at_all_is_as_good_as_an_empty_table() -> None:
    assert right(None).profile == right({"profile": None}).profile == "balanced"


@pytest.mark.parametrize(
    ("profile", "modes"),
    [
        ("observe", ["observe", "observe", "observe", "observe", "observe", "off", "observe"]),
        ("strict", ["enforce", "enforce", "enforce", "enforce", "enforce", "enforce", "observe"]),
    ],
)
def test_a_profile_sets_every_mode(profile: str, modes: list[str]) -> None:
    settings = right({"profile": profile})
    assert list(settings.modes.values()) == modes
    assert settings.came_from["modes.loops"] == f"profile {profile}"


def test_a_mode_of_its_own_wins_over_the_profile() -> None:
    settings = right({"profile": " Strict ", "modes": {"loops": "OFF", "provenance": "block", "tamper": False}})
    assert (settings.modes["loops"], settings.modes["provenance"], settings.modes["tamper"]) == (
        "off",
        "enforce",
        "off",
    )
    assert settings.came_from["modes.loops"] == "settings"
    assert settings.came_from["profile"] == "settings"


@pytest.mark.parametrize(
    ("old", "mode"), [("block", "enforce"), ("warn", "observe"), ("off", "off"), (" BLOCK ", "enforce")]
)
def test_the_variable_of_the_older_plugin_is_honoured(old: str, mode: str) -> None:
    environ = {"PROVENANCE_GATE_MODE": old}
    settings = right({"profile": "strict"}, environ)
    assert settings.modes["provenance"] == mode
    assert settings.came_from["modes.provenance"] == "PROVENANCE_GATE_MODE"
    assert settings.modes["loops"] == "enforce"
    assert right({"modes": {"provenance": "ask"}}, environ).modes["provenance"] == "ask"


def test_a_wrong_old_variable_is_named() -> None:
    settings, sentence = wrong({}, {"PROVENANCE_GATE_MODE": "maybe"})
    assert settings.modes["provenance"] == "observe"
    assert sentence == (
        'PROVENANCE_GATE_MODE is "maybe"; allowed is block, warn or off. sayso uses the profile\'s mode, observe.'
    )


def test_everything_can_be_set() -> None:
    settings = right(
        {
            "claims": {"approval": "enforce", "preference": False},
            "traceable": {"decision": "accept"},
            "languages": ["EN", "zh-Hant", "en"],
            "names": ["Dana", " the client "],
            "principals": "u1, u2",
            "accept_assent": "no",
            "allow": [{"phrase": "User prefers tabs", "reason": "house style"}],
            "retention_days": "7",
            "notify": "line",
            "unattended": "allow",
            "ask_after": 3,
            "cache": True,
        }
    )
    assert settings.claims == {"approval": "enforce", "preference": "off"}
    assert settings.traceable["decision"] == settings.traceable["instruction"] == "accept"
    assert settings.languages == ("en", "zh")
    assert settings.names == ("Dana", "the client")
    assert settings.principals == ("u1", "u2")
    assert settings.accept_assent is False
    assert settings.allow == (Allowed("User prefers tabs", "house style"),)
    assert (settings.retention_days, settings.notify, settings.unattended, settings.ask_after) == (
        7,
        "line",
        "allow",
        3,
    )


@pytest.mark.parametrize(
    ("mapping", "sentence"),
    [
        ({"profile": "loud"}, 'profile is "loud"; allowed is observe, balanced or strict. sayso uses balanced.'),
        (
            {"modes": {"loops": "x"}},
            'modes.loops is "x"; allowed is off, observe, ask or enforce. sayso uses its default.',
        ),
        ({"modes": []}, "modes is []; allowed is a table with "),
        ({"modes": {"loop": "off"}}, '"modes.loop" is no setting of sayso; did you mean loops?'),
        ({"claims": {"joke": "off"}}, '"claims.joke" is no setting of sayso; '),
        ({"retention_days": -1}, "retention_days is -1; allowed is a whole number from 0 to 36500. sayso uses 30."),
        ({"retention_days": True}, "retention_days is true; allowed is a whole number"),
        ({"retention_days": 1.5}, "retention_days is 1.5; "),
        ({"retention_days": "٣"}, 'retention_days is "\\u0663"; '),
        ({"accept_assent": 1}, "accept_assent is 1; allowed is true or false. sayso uses true."),
        ({"languages": ["en", "tlh"]}, 'languages is "tlh"; allowed is en, zh, '),
        ({"names": [1]}, "names is 1; allowed is a text of 1 to 200 characters."),
        ({"names": {"a": 1}}, "names is {"),
        ({"allow": ["x"]}, 'allow[0] is "x"; '),
        ({"allow": [{"phrase": "x"}]}, "allow[0] is {"),
        ({"allow": [{"phrase": "x", "reason": " "}]}, "allow[0] is {"),
        ({"notify": "loud"}, 'notify is "loud"; allowed is off or line. sayso uses off.'),
        ({"retension_days": 5}, '"retension_days" is no setting of sayso; did you mean retention_days?'),
        ({3: 5}, '"3" is no setting of sayso; known are '),
        ({"profile": {"a": "x" * 500}}, 'profile is {"a": "xxx'),
        ("balanced", 'settings is "balanced"; allowed is a table of settings. sayso uses every default.'),
        ({"unattended": object()}, 'unattended is "object"; '),
    ],
)
def test_what_is_wrong_is_named_once_and_the_rest_stands(mapping: object, sentence: str) -> None:
    settings, found = wrong(mapping)
    assert found.startswith(sentence), found
    assert len(found) < 400
    assert "\n" not in found
    assert settings.profile == "balanced"
    assert settings.retention_days == 30


def test_a_wrong_value_does_not_hide_a_right_one() -> None:
    settings, problems = load({"modes": {"loops": "x", "tamper": "off"}, "names": ["", "Dana"], "nonsense": 1}, {})
    assert settings.modes["tamper"] == "off"
    assert settings.names == ("Dana",)
    assert len(problems) == 3


@pytest.mark.parametrize(("value", "cache"), [("", True), ("0", True), ("no", True), ("1", False), ("yes", False)])
def test_the_cache_can_be_turned_off(value: str, cache: bool) -> None:
    assert right({}, {"SAYSO_NO_CACHE": value}).cache is cache
    assert right({"cache": False}, {"SAYSO_NO_CACHE": value}).cache is False


_JSON = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(max_size=8) | some.sampled_from(MODES),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.sampled_from(GUARDS), inner, max_size=3),
    max_leaves=8,
)


@given(some.dictionaries(some.sampled_from([*(one.name for one in dataclasses.fields(Settings)), "x"]), _JSON))
def test_any_table_gives_usable_settings(mapping: dict[str, Any]) -> None:
    settings, problems = load(mapping, {})
    assert set(settings.modes) == set(GUARDS)
    assert set(settings.modes.values()) <= set(MODES)
    assert all(str(problem) for problem in problems)
    assert json.loads(settings.to_engine_json())["profile"] == settings.profile


def test_the_engine_gets_what_its_schema_describes() -> None:
    schema = json.loads(SCHEMA.read_text("utf-8"))
    settings = right({"claims": {"approval": "enforce"}, "names": ["Dana"], "allow": [{"phrase": "p", "reason": "r"}]})
    document = json.loads(settings.to_engine_json())
    assert set(document) == set(schema["properties"])
    assert set(document["modes"]) == set(schema["properties"]["modes"]["properties"])
    assert schema["$defs"]["mode"]["enum"] == list(MODES)
    assert schema["$defs"]["kind"]["enum"] == list(CLAIM_KINDS)
    assert set(document["bounds"]) == set(schema["properties"]["bounds"]["properties"])
    assert document["allow"] == [{"phrase": "p", "reason": "r"}]
    exempt = ["read_file", "skill_view", "sayso_result"]
    assert document["bounds"] == {"characters": 16_000, "lines": 400, "exempt": exempt}
    narrow = {"profile": "strict", "bounds": {"lines": "50"}, "bounds_exempt": ["x"]}
    strict = json.loads(right(narrow).to_engine_json())
    assert strict["bounds"] == {"characters": 4_000, "lines": 50, "exempt": ["x", "sayso_result"]}


def test_loops_have_settings_of_their_own() -> None:
    chosen = right({"loops": {"moving": "block"}, "pollers": {"poll": 60}, "message_resets": "off"})
    assert json.loads(chosen.to_engine_json())["loops"] == {
        "rules": {"moving": "enforce"},
        "pollers": {"poll": 60},
        "message_resets": False,
    }
    _, problems = load({"loops": {"identical": "off"}, "pollers": {"poll": 0}, "bounds": {"words": 3}}, {})
    assert len(problems) == 3


def test_the_engine_learns_nothing_that_is_the_hosts(tmp_path: Path) -> None:
    text = right({}, {"HERMES_HOME": str(tmp_path)}).to_engine_json()
    assert str(tmp_path) not in text
    assert "home" not in text


def test_settings_can_not_be_changed() -> None:
    settings = right({})
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.profile = "strict"  # type: ignore[misc]
    with pytest.raises(TypeError):
        settings.modes["loops"] = "off"  # type: ignore[index]


def test_the_home_is_asked_for_at_every_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "one"))
    assert hermes_home() == tmp_path / "one"
    assert right({}, {"HERMES_HOME": str(tmp_path)}).folder == tmp_path / "plugin-data" / "sayso"
    monkeypatch.delenv("HERMES_HOME")
    assert hermes_home() == Path.home() / ".hermes"
    hermes = ModuleType("hermes_constants")
    homes = [tmp_path / "a", tmp_path / "b"]
    hermes.get_hermes_home = lambda: homes.pop(0)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "hermes_constants", hermes)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "other"))
    assert [hermes_home(), hermes_home()] == [tmp_path / "a", tmp_path / "b"]
    assert hermes_home() == tmp_path / "other"


class Context:
    """The context of Hermes 0.22, as far as settings go."""

    def __init__(self, settings: Mapping[str, object]) -> None:
        self.settings = settings

    def get_config(self, key: str, default: object = None) -> object:
        return self.settings.get(key, default)


def hermes_with(config: object, monkeypatch: pytest.MonkeyPatch) -> None:
    def load_config() -> object:
        if isinstance(config, Exception):
            raise config
        return config

    module = ModuleType("hermes_cli.config")
    module.load_config = load_config  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "hermes_cli", ModuleType("hermes_cli"))
    monkeypatch.setitem(sys.modules, "hermes_cli.config", module)


def in_file(settings: object) -> dict[str, object]:
    return {"plugins": {"entries": {"sayso": {"settings": settings}}}}


def test_an_old_host_is_read_through_its_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    hermes_with(in_file({"profile": "strict"}), monkeypatch)
    settings, problems = from_hermes(object(), {})
    assert (settings.profile, problems) == ("strict", [])


def test_a_new_host_is_asked_and_its_file_only_shows_unknown_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    hermes_with(in_file({"profile": "observe", "profil": "strict"}), monkeypatch)
    settings, problems = from_hermes(Context({"profile": "strict", "notify": False}), {})
    assert settings.profile == "strict"
    assert settings.notify == "off"
    assert [str(problem) for problem in problems] == ['"profil" is no setting of sayso; did you mean profile?']


@pytest.mark.parametrize("config", [None, {}, {"plugins": None}, {"plugins": {"entries": []}}, in_file(None)])
def test_a_host_without_settings_gives_the_defaults(config: object, monkeypatch: pytest.MonkeyPatch) -> None:
    hermes_with(config, monkeypatch)
    settings, problems = from_hermes(None, {})
    assert (settings.profile, problems) == ("balanced", [])


def test_a_host_that_can_not_read_its_own_file_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    hermes_with(RuntimeError("a line of the file with sk-something"), monkeypatch)
    settings, problems = from_hermes(None, {})
    assert settings.profile == "balanced"
    assert [str(problem) for problem in problems] == ["Hermes could not read its configuration (RuntimeError)."]
