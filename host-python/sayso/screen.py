"""The screen: colour and boxes where a person looks at it, plain text where a program reads it.

Rich is used when standard output is a terminal that wants colour; otherwise, and where rich is not installed, the same
words come out as plain lines, with a caret line under what is lit up. Whatever is shown may have been written by an
agent or found on a page, so characters that steer a terminal are shown as pictures, never sent.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, Protocol, TextIO

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

Style = Literal["", "title", "dim", "good", "bad", "warn", "lit", "lit-good", "lit-bad", "code"]
Lit = tuple[int, int, Style]
"""A half-open range of characters (code points) of a text, and how it is lit up."""

STYLES: dict[Style, str] = {
    "": "",
    "title": "bold",
    "dim": "dim",
    "good": "bold green",
    "bad": "bold red",
    "warn": "bold yellow",
    "lit": "bold underline",
    "lit-good": "bold green underline",
    "lit-bad": "bold red underline",
    "code": "cyan",
}
BORDERS: dict[Style, str] = {"good": "green", "bad": "red", "warn": "yellow"}
PLAIN_WIDTH = 88
"""Columns of wrapped plain text. Tables are never wrapped, so that programs can cut them."""

LINE_MAX = 4_000
"""Characters of one text that are shown. A line of megabytes helps nobody; the whole text stays in `--json`."""

_PICTURES = {code: 0x2400 + code for code in range(0x20)} | {0x7F: 0x2421}
_STEERING = (
    frozenset(range(0x202A, 0x202F)) | frozenset(range(0x2066, 0x206A)) | {0x200E, 0x200F, 0x061C, 0x2028, 0x2029}
)


class Advance(Protocol):
    """Moves a progress bar on by one step."""

    def __call__(self) -> None: ...


def visible(text: str) -> str:
    """`text` with everything that steers a terminal or hides itself replaced, one character for one."""
    return "".join(_visible(char) for char in text)


def _visible(char: str) -> str:
    if char.isprintable():
        return char
    code = ord(char)
    if code in _PICTURES:
        return chr(_PICTURES[code])
    if code in _STEERING or unicodedata.category(char) in ("Cc", "Cs"):
        return "\N{REPLACEMENT CHARACTER}"
    return char


def columns(text: str) -> int:
    """How many columns of a terminal `text` takes: two for a wide character, none for a combining one."""
    return sum(_columns(char) for char in text)


def _columns(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


class Screen:
    """Writes data to `out` and talk to `err`."""

    def __init__(self, out: TextIO, err: TextIO, plain: bool = False) -> None:
        self.out = out
        self.err = err
        self._console = None if plain else _console(out)
        self._card: list[RenderableType] | None = None

    @property
    def plain(self) -> bool:
        """Whether no colour and no boxes are used."""
        return self._console is None

    def line(self, text: str = "", style: Style = "", indent: int = 0) -> None:
        """One line or paragraph, wrapped to the screen and indented by `indent` columns."""
        self.marked(text, (), style, indent, carets=False)

    def talk(self, text: str) -> None:
        """A line for the person, on the standard error."""
        self.err.write(visible(text) + "\n")
        self.err.flush()

    def title(self, text: str) -> None:
        """A heading with a rule."""
        if self._console is None:
            self.out.write(f"\n{visible(text)}\n{'-' * columns(text)}\n")
            return
        from rich.rule import Rule
        from rich.text import Text

        self._show(Text(""))
        self._show(Rule(Text(visible(text), style="bold"), align="left", style="dim"))

    @contextmanager
    def card(self, text: str, style: Style = "") -> Iterator[None]:
        """A box with a heading around everything that is written inside; plain screens get the heading."""
        if self._console is None:
            self.out.write("\n" + visible(text) + "\n")
            yield
            return
        from rich.console import Group
        from rich.panel import Panel
        from rich.text import Text

        held: list[RenderableType] = []
        self._card = held
        try:
            yield
        finally:
            self._card = None
        heading = Text(visible(text), style=STYLES[style])
        self._show(Panel(Group(*held), title=heading, title_align="left", border_style=BORDERS.get(style, "dim")))

    def pair(self, label: str, text: str, style: Style = "", lit: Sequence[Lit] = (), width: int = 10) -> None:
        """A dim label and beside it a text, of which the ranges `lit` stand out."""
        lead = visible(label).ljust(width)
        if self._console is None:
            self._plain_marked(text, lit, lead, carets=bool(lit))
            return
        from rich.table import Table
        from rich.text import Text

        if style == "code" and self._card is None:
            # Left to the terminal to wrap, so that a command can be copied.
            whole = Text.assemble((lead + " ", "dim"), (_shown(text), STYLES[style]))
            self._console.print(whole, soft_wrap=True)
            return
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=width, no_wrap=True)
        grid.add_column(ratio=1, overflow="fold")
        grid.add_row(Text(lead, style="dim"), _styled(text, lit, style))
        self._show(grid)

    def marked(self, text: str, lit: Sequence[Lit], style: Style = "", indent: int = 0, carets: bool = True) -> None:
        """A text of which the ranges `lit` stand out; plain screens get a line of carets under them."""
        if self._console is None:
            self._plain_marked(text, lit, " " * indent, carets)
            return
        from rich.padding import Padding

        self._show(Padding(_styled(text, lit, style), (0, 0, 0, indent)))

    def table(self, heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> None:
        """A table. `right` names the columns (from 0) that hold numbers."""
        if self._console is None:
            self._plain_table(heads, rows, right)
            return
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
        for index, head in enumerate(heads):
            table.add_column(Text(visible(head)), justify="right" if index in right else "left", overflow="fold")
        for row in rows:
            table.add_row(*(Text(visible(cell)) for cell in row))
        self._show(table)

    def json(self, value: object) -> None:
        """One JSON document and a line break. Lone surrogates are written as escapes."""
        text = json.dumps(value, ensure_ascii=False)
        try:
            text.encode(getattr(self.out, "encoding", None) or "utf-8")
        except UnicodeEncodeError:
            text = json.dumps(value)
        self.out.write(text + "\n")

    @contextmanager
    def progress(self, total: int, label: str) -> Iterator[Advance]:
        """A bar on the standard error while something long runs; nothing where that is not a terminal."""
        console = _console(self.err)
        if console is None:
            yield lambda: None
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        shape = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*shape, console=console, transient=True) as bar:
            task = bar.add_task(visible(label), total=total)
            yield lambda: bar.advance(task)

    def _show(self, what: RenderableType) -> None:
        if self._card is not None:
            self._card.append(what)
        elif self._console is not None:
            self._console.print(what)

    def _plain_table(self, heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]) -> None:
        cells = [[visible(cell) for cell in row] for row in (heads, *rows)]
        widths = [max(columns(row[index]) for row in cells) for index in range(len(heads))]
        for row in cells:
            padded = []
            for index, cell in enumerate(row):
                space = " " * (widths[index] - columns(cell))
                padded.append(space + cell if index in right else cell + space)
            self.out.write("  ".join(padded).rstrip(" ") + "\n")

    def _plain_marked(self, text: str, lit: Sequence[Lit], lead: str, carets: bool) -> None:
        """Wraps `text` beside `lead`, each wrapped line followed by its carets."""
        shown = _shown(text)
        room = max(PLAIN_WIDTH - columns(lead), 24)
        marked = _marks(len(shown), lit)
        rest = " " * columns(lead)
        for number, (start, end) in enumerate(_wrapped(shown, room)):
            part = shown[start:end]
            self.out.write(((lead if number == 0 else rest) + part).rstrip(" ") + "\n")
            if carets and any(marked[start:end]):
                line = "".join(
                    ("^" if on else " ") * _columns(char) for char, on in zip(part, marked[start:end], strict=True)
                )
                self.out.write((rest + line).rstrip(" ") + "\n")


def screen(out: TextIO | None = None, err: TextIO | None = None, plain: bool = False) -> Screen:
    """The screen on these streams, or on the process's own."""
    return Screen(sys.stdout if out is None else out, sys.stderr if err is None else err, plain)


def _console(stream: TextIO) -> Console | None:
    """Rich's console, or `None` where plain text is wanted: no terminal, `NO_COLOR`, a dumb terminal, no rich."""
    if not stream.isatty():
        return None  # Before rich is loaded, which takes longer than most commands.
    try:
        from rich.console import Console
    except ImportError:
        return None
    console = Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=False)
    if not console.is_terminal or console.no_color or console.is_dumb_terminal:
        return None
    return console


def _shown(text: str) -> str:
    return visible(text if len(text) <= LINE_MAX else text[: LINE_MAX - 1] + "\N{HORIZONTAL ELLIPSIS}")


def _styled(text: str, lit: Sequence[Lit], style: Style) -> Text:
    from rich.text import Text

    styled = Text(_shown(text), style=STYLES[style], overflow="fold")
    for start, end, how in lit:
        styled.stylize(STYLES[how], start, end)
    return styled


def _marks(length: int, lit: Sequence[Lit]) -> list[bool]:
    marked = [False] * length
    for start, end, _ in lit:
        for index in range(max(start, 0), min(end, length)):
            marked[index] = True
    return marked


def _wrapped(text: str, room: int) -> Iterator[tuple[int, int]]:
    """Half-open ranges of `text`, each at most `room` columns where it can be broken: after a space, beside a wide
    character. A longer word, a path for instance, stays whole so that it can be copied."""
    start = 0
    while start < len(text):
        end = _line_end(text, start, room)
        yield start, end
        start = end
        while start < len(text) and text[start] == " ":
            start += 1
    if not text:
        yield 0, 0


def _line_end(text: str, start: int, room: int) -> int:
    """Where the line that begins at `start` ends."""
    width, last = 0, start
    for at in range(start, len(text)):
        width += _columns(text[at])
        if width > room and text[at] != " " and last > start:
            return last
        if text[at] == " " or _columns(text[at]) == 2 or (at + 1 < len(text) and _columns(text[at + 1]) == 2):
            last = at + 1
    return len(text)
