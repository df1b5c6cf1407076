"""Documents from outside: files and standard input that a person names on the command line.

A wrong document gives one `InputError`, whose text names the file, the line (from 1) and what is wrong there. Knows
nothing about what the documents mean.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from .types import SaysoError

DOCUMENT_MAX_BYTES = 256 * 1024 * 1024
"""The largest document that is read. Far above any corpus; keeps a wrong path to a disk image from filling memory."""

VALUE_MAX = 60
"""Characters of a wrong value that a message repeats."""


class InputError(SaysoError):
    """What a person gave can't be used: names the document, the line and what is wrong."""


class Place:
    """A line of a document, for messages."""

    __slots__ = ("line", "name")

    def __init__(self, name: str, line: int = 0) -> None:
        self.name = name
        self.line = line

    def wrong(self, what: str) -> NoReturn:
        """Raises `InputError` for this place."""
        raise InputError(f"{self}: {what}")

    def __str__(self) -> str:
        return f"{self.name}:{self.line}" if self.line else self.name


class Fields:
    """One JSON object of a document, and the place it stands at. Fields nobody asks for are allowed."""

    __slots__ = ("place", "value")

    def __init__(self, value: object, place: Place, what: str = "a row") -> None:
        if not isinstance(value, dict):
            place.wrong(f"{what} must be a JSON object, not {_kind(value)}")
        self.value: dict[str, object] = value
        self.place = place

    def text(self, name: str, empty: bool = True) -> str:
        """The text of that name; `empty` tells whether "" is allowed."""
        value = self._take(name)
        if not isinstance(value, str):
            self.place.wrong(f'"{name}" must be text, not {_kind(value)}')
        if not value and not empty:
            self.place.wrong(f'"{name}" must not be empty')
        return value

    def choice(self, name: str, allowed: tuple[str, ...]) -> str:
        """The text of that name, one of `allowed`."""
        value = self._take(name)
        if not isinstance(value, str) or value not in allowed:
            self.place.wrong(f'"{name}" must be one of {", ".join(allowed)}, not {shortened(value)}')
        return value

    def items(self, name: str) -> list[object]:
        """The list of that name."""
        value = self._take(name)
        if not isinstance(value, list):
            self.place.wrong(f'"{name}" must be a list, not {_kind(value)}')
        return value

    def inner(self, name: str) -> Fields:
        """The object of that name."""
        return Fields(self._take(name), self.place, f'"{name}"')

    def has(self, name: str) -> bool:
        """Whether the name is there with a value other than null."""
        return self.value.get(name) is not None

    def _take(self, name: str) -> object:
        if name not in self.value:
            self.place.wrong(f'"{name}" is missing')
        return self.value[name]


def read_text(name: str) -> str:
    """The text of a file, or of standard input for `-`. UTF-8, with or without a byte order mark."""
    place = Place(label(name))
    try:
        if name == "-":
            held = sys.stdin.buffer.read(DOCUMENT_MAX_BYTES + 1)
        else:
            with Path(name).open("rb") as file:
                held = file.read(DOCUMENT_MAX_BYTES + 1)
    except OSError as error:
        place.wrong(f"can't be read: {error.strerror or type(error).__name__}")
    except ValueError:
        place.wrong("is no file name")
    if len(held) > DOCUMENT_MAX_BYTES:
        place.wrong(f"is larger than {DOCUMENT_MAX_BYTES // (1024 * 1024)} MiB")
    try:
        return held.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = held.count(b"\n", 0, error.start) + 1
        Place(label(name), line).wrong(f"is not UTF-8 (byte {error.start})")


def label(name: str) -> str:
    """How a document is called in messages."""
    return "standard input" if name == "-" else name


def json_lines(name: str, text: str) -> Iterator[tuple[Place, object]]:
    """The values of a JSON Lines document with their places. Blank lines are passed over."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            place = Place(label(name), number)
            yield place, _value(line, place)


def json_items(name: str, text: str) -> Iterator[tuple[Place, object]]:
    """The items of a JSON array, or the values of a JSON Lines document, with their places."""
    start = len(text) - len(text.lstrip())
    if text[start : start + 1] != "[":
        yield from json_lines(name, text)
        return
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    at, line, counted = start + 1, 1, 0
    expect_item = True
    while True:
        at = _after_space(text, at)
        line += text.count("\n", counted, at)
        counted = at
        place = Place(label(name), line)
        head = text[at : at + 1]
        if head == "]" and not (expect_item and at != _after_space(text, start + 1)):
            break
        if not expect_item:
            if head != ",":
                place.wrong('is not JSON: expected "," or "]" after an item')
            at, expect_item = at + 1, True
            continue
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            place.wrong(_not_json(error))
        expect_item = False
        yield place, value
    tail = _after_space(text, at + 1)
    if tail != len(text):
        Place(label(name), text.count("\n", 0, tail) + 1).wrong("is not JSON: text after the closing bracket")


def shortened(value: object) -> str:
    """A wrong value as JSON, short enough for a message."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        text = _kind(value)
    return text if len(text) <= VALUE_MAX else text[: VALUE_MAX - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _value(line: str, place: Place) -> object:
    try:
        return json.loads(line, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        place.wrong(_not_json(error))


def _not_json(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"is not JSON: {error.msg} (column {error.colno})"
    return "is not JSON: nested too deeply" if isinstance(error, RecursionError) else f"is not JSON: {error}"


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
    return "null" if value is None else names.get(type(value), "something else")
