"""What a shell command or a program says in words, and which notes it touches.

A command's result can't be known before it runs, so its words are judged in place of the note: the text inside its
quotation marks, its here-documents, the strings of a Python program, each on lines of its own. The marks of
the shell are taken off, because to a reader of claims they would look like a quotation.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from ..types import Surface

# Programs that only show what is in a file. A command made of nothing else, without a redirection, writes nothing.
READERS = frozenset(
    "cat head tail less more grep egrep fgrep rg ag wc ls dir tree stat file diff cmp sort uniq nl cut tr column "
    "md5sum sha256sum cd pwd echo printf test true false jq basename dirname realpath".split()
)

_MEMORY = re.compile(r"\b(?:MEMORY|USER)\.md\b|\bmemories\b", re.IGNORECASE)
_SKILL = re.compile(r"\bSKILL\.md\b|(?:^|[\s/\"'=~])skills/", re.IGNORECASE)
_PATH = re.compile(r"[^\s\"'`;|&<>()=,]+")
_HEREDOC = re.compile(r"<<[-~]?\s*(['\"]?)([A-Za-z_]\w*)\1")


def text_of(tool: str, arguments: Mapping[str, Any]) -> str:
    """The command or the program of a call."""
    names = ("code",) if tool == "execute_code" else ("command", "data", "input")
    return "\n".join(value for name in names if isinstance(value := arguments.get(name), str))


def notes_in(text: str, where: str, home: str) -> set[Surface]:
    """The kinds of note that the command names, or stands in."""
    named = f"{text}\n{where}/" if where else text
    touched: set[Surface] = set()
    if _MEMORY.search(named):
        touched.add("memory")
    if _SKILL.search(named) or f"{home}/skills" in named:
        touched.add("skill")
    return touched


def only_reads(command: str) -> bool:
    """Whether every part of the command is a program that only shows text, and nothing is redirected into a file."""
    if re.search(r">(?!\s*(?:/dev/null|&\d))|\$\(|`|<\(|\btee\b", command):
        return False
    parts = [part.strip() for part in re.split(r"\|\||&&|[|;&\n]", re.sub(r"\d?>\s*(?:/dev/null|&\d)", " ", command))]
    return all(part.split()[0].rpartition("/")[2] in READERS for part in parts if part)


def paths_in(text: str) -> list[str]:
    """The words that may be the path of a note, each once."""
    found = dict.fromkeys(word for word in _PATH.findall(text) if _MEMORY.search(word) or _SKILL.search(word))
    return [word for word in found if "." in word.rpartition("/")[2]]


def words_of_command(command: str) -> str:
    """The command with the shell's quotation marks turned into line breaks and its here-documents left as they are."""
    lines: list[str] = []
    rest = command.split("\n")
    while rest:
        line = rest.pop(0)
        ends = [found.group(2) for found in _HEREDOC.finditer(line)]
        if not ends:
            # A quoted text may go over several lines: everything up to the next here-document is read as one.
            while rest and not _HEREDOC.search(rest[0]):
                line += "\n" + rest.pop(0)
        lines.append(_unquoted(line))
        for end in ends:
            while rest and rest[0].strip() != end:
                lines.append(rest.pop(0))
            del rest[:1]
    return "\n".join(lines)


def _unquoted(line: str) -> str:
    out: list[str] = []
    mark = ""
    index = 0
    while index < len(line):
        sign = line[index]
        following = line[index + 1 : index + 2]
        if sign == "\\" and mark != "'" and following:
            out.append("\n" if following == "n" else following)
            index += 2
            continue
        if sign == "\\" and mark == "'" and following == "n":
            out.append("\n")  # printf and echo -e read it as a line break
            index += 2
            continue
        if (sign == mark) if mark else sign in "\"'":
            mark = "" if mark else sign
            out.append("\n")
        else:
            out.append(sign)
        index += 1
    # An open quotation mark means that the command was not read rightly; then it is judged as it stands.
    return line if mark else "".join(out)


def words_of_code(code: str) -> str:
    """The strings of a Python program, each on lines of its own; the program as it stands where it is not Python."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code
    return "\n".join(
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
