"""The screen: plain and rich, wrapping, carets under wide characters, and text that would steer the terminal."""

from __future__ import annotations

import builtins
import io
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sayso.screen import LINE_MAX, PLAIN_WIDTH, Screen, columns, visible
from sayso.showing import chars

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def shown(width: int = PLAIN_WIDTH, **_: Any) -> tuple[Screen, io.StringIO]:
    out = io.StringIO()
    return Screen(out, io.StringIO()), out


def everything(screen: Screen) -> None:
    """One of each."""
    screen.title("A title")
    screen.line("a line", "good")
    screen.pair("label", "a text", lit=((2, 6, "lit"),))
    screen.table(("name", "n"), [("[red]x[/red]", "12"), ("用户", "3")], right=(1,))
    with screen.card("a card", "bad"):
        screen.pair("inside", "it")
    screen.line("after")


def test_colour_only_where_a_terminal_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Screen(io.StringIO(), io.StringIO()).plain
    assert not Screen(Terminal(), io.StringIO()).plain
    assert Screen(Terminal(), io.StringIO(), plain=True).plain
    monkeypatch.setenv("TERM", "dumb")
    assert Screen(Terminal(), io.StringIO()).plain
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    assert Screen(Terminal(), io.StringIO()).plain


def test_without_rich_everything_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.split(".")[0] == "rich":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    out = Terminal()
    everything(Screen(out, Terminal()))
    assert "\x1b" not in out.getvalue()
    assert "a card\ninside    it\n" in out.getvalue()


def test_both_kinds_of_screen_say_the_same() -> None:
    plain, rich = io.StringIO(), Terminal()
    everything(Screen(plain, io.StringIO()))
    everything(Screen(rich, io.StringIO()))
    assert "\x1b[" in rich.getvalue()
    words = re.findall(r"\w+", ESCAPE.sub("", rich.getvalue()))
    assert re.findall(r"\w+", plain.getvalue()) == words


def test_markup_in_a_text_is_text() -> None:
    out = Terminal()
    Screen(out, io.StringIO()).pair("x", "[bold]no[/bold] :smile:")
    assert "[bold]no[/bold] :smile:" in ESCAPE.sub("", out.getvalue())


def test_a_text_cannot_steer_the_terminal() -> None:
    hostile = "\x1b[2J\x07\r\x9b31m\u202eevil\u2066\ud800\x00\u2028ok"
    for stream in (io.StringIO(), Terminal()):
        screen = Screen(stream, stream)
        screen.line(hostile)
        screen.talk(hostile)
        screen.table((hostile,), [(hostile,)])
        screen.pair(hostile, hostile)
        left = ESCAPE.sub("", stream.getvalue())
        assert not set(left) & set("\x1b\x07\r\x9b\u202e\u2066\ud800\x00\u2028")
        assert "evil" in left


def test_what_is_lit_gets_carets() -> None:
    screen, out = shown()
    screen.pair("claim", "用户 decided 好", lit=((0, 2, "lit"), (11, 12, "lit")), width=6)
    assert out.getvalue() == "claim 用户 decided 好\n      ^^^^         ^^\n"


def test_carets_follow_the_lines_that_are_wrapped() -> None:
    screen, out = shown()
    text = "word " * 30 + "lit"
    screen.pair("x", text, lit=((len(text) - 3, len(text), "lit"),))
    lines = out.getvalue().splitlines()
    assert all(columns(line) <= PLAIN_WIDTH for line in lines)
    assert lines[-2].index("lit") == lines[-1].index("^^^")


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200), st.integers(0, 200), st.integers(0, 200))
def test_any_text_is_shown_whole(text: str, start: int, end: int) -> None:
    screen, out = shown()
    screen.marked(text, ((start, end, "lit"),), carets=False)
    for line in out.getvalue().split("\n"):
        assert columns(line) <= PLAIN_WIDTH or not any(char == " " or columns(char) == 2 for char in line[:-1])
    assert out.getvalue().replace("\n", "").replace(" ", "") == visible(text).replace(" ", "")
    assert len(visible(text)) == len(text)


def test_a_path_is_not_broken_and_a_text_without_spaces_is() -> None:
    screen, out = shown()
    path = "/folder" * 20
    screen.pair("mend", f"chmod 600 {path} now")
    assert path in out.getvalue()
    screen, out = shown()
    screen.line("用户" * 60)
    assert [columns(line) for line in out.getvalue().splitlines()] == [PLAIN_WIDTH, PLAIN_WIDTH, 240 - 2 * PLAIN_WIDTH]


def test_a_text_of_megabytes_is_cut() -> None:
    screen, out = shown()
    screen.line("a" * 5_000_000)
    assert len(out.getvalue()) < LINE_MAX + 200
    assert "…" in out.getvalue()


@given(st.text(), st.integers(0, 40), st.integers(0, 40))
def test_bytes_become_characters(text: str, first: int, second: int) -> None:
    start, end = sorted((min(first, len(text)), min(second, len(text))))
    sizes = [len(text[:at].encode("utf-8", "surrogatepass")) for at in (start, end)]
    if text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text):
        assert chars(text, *sizes) == (start, end)


def test_spans_out_of_bounds_are_cut() -> None:
    assert chars("abc", -4, 99) == (0, 3)
    assert chars("é", 1, 2) == (1, 2)


def test_json_keeps_letters_where_the_stream_can_hold_them() -> None:
    screen, out = shown()
    screen.json({"text": "用户"})
    screen.json({"text": "\ud800"})
    assert out.getvalue() == '{"text": "用户"}\n{"text": "\\ud800"}\n'
    held = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    Screen(held, io.StringIO()).json({"text": "用户"})
    held.seek(0)
    assert json.loads(held.read()) == {"text": "用户"}


def test_a_progress_bar_needs_a_terminal() -> None:
    for error in (io.StringIO(), Terminal()):
        with Screen(io.StringIO(), error).progress(2, "rows") as advance:
            advance()
            advance()
        assert ("rows" in error.getvalue()) == error.isatty()
