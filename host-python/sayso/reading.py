"""Takes typed values out of a mapping that a person wrote, and says in one sentence each what was wrong."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from .types import SettingsError

Choice = TypeVar("Choice", bound=str)

#: Stands for a value that is not there.
ABSENT: Final = object()
#: How many items a list may have, and how many characters one of them.
MAX_ITEMS = 1_000
MAX_ITEM = 200


def is_item(value: object) -> bool:
    """Whether `value` is a text that is neither empty nor too long."""
    return isinstance(value, str) and 0 < len(value.strip()) <= MAX_ITEM


class Reader:
    """Takes typed values out of a mapping and collects what was wrong.

    YAML and `hermes config set` change types on the way (`off` becomes False, `30` becomes a string), so that each
    reader accepts the forms in which its values arrive.
    """

    def __init__(self, mapping: object) -> None:
        self.problems: list[SettingsError] = []
        self.origins: dict[str, str] = {}
        self._mapping: Mapping[Any, Any] = {}
        if isinstance(mapping, Mapping):
            self._mapping = mapping
        elif mapping is not None:
            self.wrong("settings", mapping, "a table of settings", "every default")

    def take(self, key: str) -> Any:
        """The value of `key`, or `ABSENT`; an empty value in YAML is absent."""
        value = self._mapping.get(key)
        self.origins[key] = "default" if value is None else "settings"
        return ABSENT if value is None else value

    def wrong(self, key: str, value: object, allowed: str, instead: str) -> None:
        """Notes one wrong value. The value is shown short and on one line."""
        shown = json.dumps(value, ensure_ascii=True, default=lambda other: type(other).__name__, skipkeys=True)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        self.problems.append(SettingsError(f"{key} is {shown}; allowed is {allowed}. sayso uses {instead}."))

    def choice(self, key: str, allowed: tuple[Choice, ...], default: Choice, synonyms: Mapping[str, str]) -> Choice:
        value = self.take(key)
        if value is ABSENT:
            return default
        found = one_of(value, allowed, synonyms)
        if found is None:
            self.wrong(key, value, listed(allowed), default)
            self.origins[key] = "default"
            return default
        return found

    def table(
        self, key: str, names: tuple[str, ...], allowed: tuple[Choice, ...], synonyms: Mapping[str, str]
    ) -> dict[Any, Choice]:
        """A table with some of `names` as keys and one of `allowed` each; what is wrong is left out."""
        value = self.take(key)
        if value is ABSENT:
            return {}
        if not isinstance(value, Mapping):
            self.wrong(key, value, f"a table with {listed(names)}", "the defaults")
            return {}
        table: dict[Any, Choice] = {}
        for name, item in value.items():
            found = one_of(item, allowed, synonyms)
            if name not in names:
                self._unknown(f"{key}.{name}", str(name), names)
            elif found is None:
                self.wrong(f"{key}.{name}", item, listed(allowed), "its default")
            else:
                table[name] = found
        return table

    def switch(self, key: str, default: bool) -> bool:
        value = self.take(key)
        word = {True: "true", False: "false"}.get(value, value) if isinstance(value, bool) else value
        word = word.strip().lower() if isinstance(word, str) else word
        if word in ("true", "yes", "on"):
            return True
        if word in ("false", "no", "off"):
            return False
        if value is not ABSENT:
            self.wrong(key, value, "true or false", "true" if default else "false")
        return default

    def number(self, key: str, default: int, most: int) -> int:
        value = self.take(key)
        number = int(value) if isinstance(value, str) and value.isascii() and value.strip().isdigit() else value
        if isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= most:
            return number
        if value is not ABSENT:
            self.wrong(key, value, f"a whole number from 0 to {most}", str(default))
        return default

    def amounts(self, key: str, most: int, names: tuple[str, ...] = ()) -> dict[str, int]:
        """A table of whole numbers from 1; `names` are the keys it may have, any where there are none."""
        value = self.take(key)
        if value is ABSENT:
            return {}
        if not isinstance(value, Mapping) or len(value) > MAX_ITEMS:
            self.wrong(key, value, "a table of names and whole numbers", "the defaults")
            return {}
        table: dict[str, int] = {}
        for name, item in value.items():
            number = int(item) if isinstance(item, str) and item.isascii() and item.strip().isdigit() else item
            if names and name not in names:
                self._unknown(f"{key}.{name}", str(name), names)
            elif (
                not is_item(name) or isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= most
            ):
                self.wrong(f"{key}.{name}", item, f"a whole number from 1 to {most}", "its default")
            else:
                table[name] = number
        return table

    def strings(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """A list of texts; one text with commas counts as a list, since some ways of setting know only texts."""
        value = self.take(key)
        if value is ABSENT:
            return default
        items: object = [part for part in value.split(",") if part.strip()] if isinstance(value, str) else value
        if not isinstance(items, list) or len(items) > MAX_ITEMS:
            self.wrong(key, value, f"a list of at most {MAX_ITEMS} texts", "the default")
            return default
        for item in items:
            if not is_item(item):
                self.wrong(key, item, f"a text of 1 to {MAX_ITEM} characters", "the rest of the list")
        return tuple(dict.fromkeys(item.strip() for item in items if is_item(item)))

    def unknown_keys(self) -> None:
        """Notes every key that nobody took."""
        known = tuple(self.origins)
        for key in self._mapping:
            if key not in known:
                self._unknown(str(key), str(key), known)

    def _unknown(self, shown: str, name: str, known: tuple[str, ...]) -> None:
        near = difflib.get_close_matches(name.lower(), known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known are {listed(known)}."
        self.problems.append(SettingsError(f"{json.dumps(shown[:80])} is no setting of sayso; {hint}"))


def one_of(value: object, allowed: tuple[Choice, ...], synonyms: Mapping[str, str]) -> Choice | None:
    if value is False:  # YAML 1.1 reads a bare `off` as false.
        value = "off"
    word = value.strip().lower() if isinstance(value, str) else ""
    word = synonyms.get(word, word)
    return next((choice for choice in allowed if choice == word), None)


def listed(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
