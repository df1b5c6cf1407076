"""What a tool call of Hermes would write: the text of each note before and after, worked out before it happens.

The operations are applied here as Hermes applies them, on the text that stands in the file. Where Hermes would refuse
an operation (no match, too long) the new text is judged all the same: a write that fails later was still attempted,
and sayso must not depend on Hermes' own checks. Where the result can't be known (a command, a program) its words are
judged instead, see `commands.py`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..types import Surface, Write
from . import commands

READ_MAX_BYTES = 4 * 1024 * 1024
"""The longest note that is read. Hermes allows far less: 2,200 and 1,375 characters, 100,000 for a skill."""

DELIMITER = "\n§\n"
MEMORY_FILES: Mapping[str, str] = {"memory": "MEMORY.md", "user": "USER.md"}
SKILL_FILE = "SKILL.md"
# Tools that can write any file through words of their own. A name ends in the wrapped tool's where a server offers it.
PROGRAMS = frozenset({"terminal", "execute_code", "process", "process_manage"})
WRITERS = frozenset({"memory", "skill_manage", "write_file", "patch"}) | PROGRAMS


@dataclass(frozen=True, slots=True)
class Folders:
    """Where notes stand, and what a relative path is relative to."""

    home: Path
    cwd: Path

    @property
    def memories(self) -> Path:
        return self.home / "memories"

    @property
    def skills(self) -> Path:
        return self.home / "skills"

    def note(self, name: str) -> tuple[Surface, Path] | None:
        """The note that the path names, or `None` for any other file."""
        if not name.strip() or "\0" in name:
            return None
        path = Path(os.path.realpath(self.cwd / Path(name).expanduser()))
        if _inside(path, self.memories) or (path.name in MEMORY_FILES.values() and path.parent.name == "memories"):
            return "memory", path
        if _inside(path, self.skills) or path.name == SKILL_FILE:
            return "skill", path
        return None

    def reference(self, path: Path) -> str:
        """The name of a note in the ledger: its path below the home where it stands there, with forward slashes."""
        home = Path(os.path.realpath(self.home))
        return path.relative_to(home).as_posix() if _inside(path, home) else path.as_posix()


def writes_of(tool: str, arguments: Mapping[str, Any], folders: Folders) -> list[Write]:
    """The writes to notes that this call would make; empty for every other call."""
    if tool == "memory":
        return _memory(arguments, folders)
    if tool == "skill_manage":
        return _skills(arguments, folders)
    if tool == "write_file":
        return _file(_text(arguments, "path"), folders, lambda _: _text(arguments, "content"))
    if tool == "patch":
        return _patch(arguments, folders)
    if tool in PROGRAMS:
        return _program(tool, arguments, folders)
    return []


def snapshot(folders: Folders, also: Iterable[Path] = ()) -> dict[Path, str]:
    """The text of every memory file and of the notes in `also`, to be compared after a program has run."""
    paths = [folders.memories / name for name in MEMORY_FILES.values()]
    return {Path(os.path.realpath(path)): read(path) for path in [*paths, *also]}


def changed(before: Mapping[Path, str], folders: Folders) -> list[Write]:
    """The notes whose text is no longer what it was."""
    writes = []
    for path, old in before.items():
        new = read(path)
        found = folders.note(str(path))
        if found and new != old:
            writes.append(Write(found[0], folders.reference(path), old, new))
    return writes


def read(path: Path) -> str:
    """The text of a note, or "" where there is none that can be read."""
    try:
        with path.open("rb") as file:
            return file.read(READ_MAX_BYTES).decode("utf-8-sig", "replace")
    except OSError:
        return ""


def _memory(arguments: Mapping[str, Any], folders: Folders) -> list[Write]:
    target = _text(arguments, "target") or "memory"
    path = folders.memories / MEMORY_FILES.get(target, MEMORY_FILES["memory"])
    before = read(path)
    entries = [entry for entry in (part.strip() for part in before.split(DELIMITER)) if entry]
    listed = arguments.get("operations")
    for operation in listed if isinstance(listed, list) and listed else [arguments]:
        if isinstance(operation, Mapping):
            _apply_memory(entries, operation)
    return [Write("memory", folders.reference(Path(os.path.realpath(path))), before, DELIMITER.join(entries))]


def _apply_memory(entries: list[str], operation: Mapping[str, Any]) -> None:
    """One operation of the memory tool, with the actions of both versions."""
    action = _text(operation, "action")
    new = _text(operation, "content") or _text(operation, "new_text")
    old = _text(operation, "old_text")
    found = _entry(entries, old)
    if action == "remove":
        if found is not None:
            del entries[found]
    elif action == "patch" and found is not None and old in entries[found]:
        entries[found] = entries[found].replace(old, new, 1)
    elif action in ("replace", "patch") and found is not None:
        entries[found] = new.strip()
    elif new.strip() and new.strip() not in entries:
        # `add`, an edit whose old text is nowhere, and any action of a later version: the new text is judged.
        entries.append(new.strip())


def _entry(entries: list[str], old: str) -> int | None:
    """Which entry Hermes would edit: the equal one, then the one that holds the text, then the one that nearly does."""
    if not old.strip():
        return None
    loose = _loose(old)
    found = [
        [index for index, entry in enumerate(entries) if entry == old],
        [index for index, entry in enumerate(entries) if old.strip() in entry],
        [index for index, entry in enumerate(entries) if loose in _loose(entry)],
    ]
    return next((indices[0] for indices in found if indices), None)


# Typography that models retype differently; 0.22.2 looks past it (tools/memory_tool_store.py).
_LOOSE = str.maketrans({**dict.fromkeys('"`‘’‚‛“”„‟', "'"), **dict.fromkeys("‐‑‒–—―−", "-")})


def _loose(text: str) -> str:
    return " ".join(text.translate(_LOOSE).split())


def _skills(arguments: Mapping[str, Any], folders: Folders) -> list[Write]:
    listed = arguments.get("operations")
    operations = listed if isinstance(listed, list) else [arguments]
    before: dict[Path, str] = {}
    after: dict[Path, str] = {}
    for operation in operations:
        if not isinstance(operation, Mapping):
            continue
        operation = {"name": arguments.get("name"), **operation}
        path = _skill_path(operation, folders)
        before.setdefault(path, read(path))
        after[path] = _apply_skill(after.get(path, before[path]), operation)
    return [Write("skill", folders.reference(path), before[path], text) for path, text in after.items()]


def _skill_path(operation: Mapping[str, Any], folders: Folders) -> Path:
    name = _text(operation, "name")
    skill = next(_skill_folders(Path(name).name, folders), None) if name else None
    if skill is None:
        skill = folders.skills / _text(operation, "category") / (name or "unnamed")
    file = _text(operation, "file_path") or SKILL_FILE
    return Path(os.path.realpath(skill / file.lstrip("/")))


def _skill_folders(name: str, folders: Folders) -> Iterator[Path]:
    """Folders below the skills folder that hold a skill of that name, at most two categories deep."""
    for depth in ("", "*/", "*/*/"):
        if name in ("", ".", "..") or any(sign in name for sign in "*?[\0"):
            return
        yield from (path.parent for path in folders.skills.glob(f"{depth}{name}/{SKILL_FILE}"))


def _apply_skill(text: str, operation: Mapping[str, Any]) -> str:
    """One operation of `skill_manage`, flat (0.19) or from `operations` (0.22.2)."""
    action = _text(operation, "action")
    if action in ("delete", "remove_file"):
        return ""
    if action == "write_file":
        return _text(operation, "file_content")
    if action in ("create", "edit") or (action == "patch" and not _text(operation, "old_string")):
        return _text(operation, "content") or _text(operation, "file_content") or _text(operation, "new_string")
    return _replaced(text, operation)


def _replaced(text: str, operation: Mapping[str, Any]) -> str:
    """The text with `old_string` replaced. Where it isn't found as it stands, Hermes may still find it by a looser
    match, so the new text is judged beside the old one."""
    old, new = _text(operation, "old_string"), _text(operation, "new_string")
    if old and old in text:
        return text.replace(old, new) if operation.get("replace_all") else text.replace(old, new, 1)
    return f"{text}\n{new}"


def _file(name: str, folders: Folders, apply: Callable[[str], str]) -> list[Write]:
    found = folders.note(name)
    if found is None:
        return []
    before = read(found[1])
    return [Write(found[0], folders.reference(found[1]), before, apply(before))]


_SECTION = re.compile(r"^\*\*\*\s*(?:(?:Update|Add|Delete)\s+File:\s*(.+)|Move\s+File:\s*.+?\s*->\s*(.+)|End Patch.*)$")


def _patch(arguments: Mapping[str, Any], folders: Folders) -> list[Write]:
    body = _text(arguments, "patch")
    if not body or _text(arguments, "mode") == "replace":
        return _file(_text(arguments, "path"), folders, lambda before: _replaced(before, arguments))
    writes: list[Write] = []
    for name, added in _sections(body):
        # The lines that are added, beside the old text: where they end up in the file makes no difference to a claim.
        writes += _file(name, folders, partial(_with_lines, added))
    return writes


def _with_lines(added: list[str], before: str) -> str:
    return "\n".join([before, *added]) if added else before


def _sections(body: str) -> list[tuple[str, list[str]]]:
    """The files of a V4A patch (`*** Update File: …`), each with the lines that it adds."""
    sections: list[tuple[str, list[str]]] = []
    for line in body.splitlines():
        head = _SECTION.match(line)
        if head:
            sections.append(((head.group(1) or head.group(2) or "").strip(), []))
        elif sections and line.startswith("+"):
            sections[-1][1].append(line[1:])
    return sections


def _program(tool: str, arguments: Mapping[str, Any], folders: Folders) -> list[Write]:
    text = commands.text_of(tool, arguments)
    where = _text(arguments, "workdir")
    touched = commands.notes_in(text, where, str(folders.home))
    if not touched or (tool == "terminal" and commands.only_reads(text)):
        return []
    surface: Surface = "skill" if touched == {"skill"} else "memory"
    words = commands.words_of_code(text) if tool == "execute_code" else commands.words_of_command(text)
    paths = named_notes(tool, arguments, folders)
    if len(set(paths)) == 1:
        return [Write(surface, folders.reference(paths[0]), read(paths[0]), words)]
    return [Write(surface, tool, "", words)]


def named_notes(tool: str, arguments: Mapping[str, Any], folders: Folders) -> list[Path]:
    """The notes that a command or a program names, so that they can be compared after it has run."""
    if tool not in PROGRAMS:
        return []
    where = _text(arguments, "workdir")
    text = commands.text_of(tool, arguments)
    for spelled in (str(folders.home), str(folders.home).replace(" ", "\\ ")):
        text = text.replace(spelled, "$HERMES_HOME")  # its spaces would end a word
    return [path for name in commands.paths_in(text) if (path := _named(name, where, folders))]


def _named(name: str, where: str, folders: Folders) -> Path | None:
    expanded = re.sub(r"\$\{?HERMES_HOME\}?", lambda _: str(folders.home), name)
    expanded = re.sub(r"\$\{?HOME\}?", lambda _: str(Path.home()), expanded)
    base = Folders(folders.home, folders.cwd / where) if where else folders
    found = base.note(expanded)
    return found[1] if found else None


def _inside(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _text(arguments: Mapping[str, Any], key: str) -> str:
    value = arguments.get(key)
    return value if isinstance(value, str) else ""
