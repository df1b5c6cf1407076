"""The notes of a Hermes home as they stand on disk: MEMORY.md, USER.md and the skills. Only reads."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .types import Surface

NOTE_BYTES_MAX = 4 * 1024 * 1024
"""A longer file is no note; it is named and left out."""

MEMORIES = ("MEMORY.md", "USER.md")
# Folders in which Hermes itself looks for no skills (agent/skill_utils.py, both versions).
NO_SKILLS = frozenset(
    (".git", ".github", ".hub", ".archive", ".venv", "venv", "node_modules", "site-packages", "__pycache__")
)
# Folders inside a skill that hold what belongs to it, not skills.
SUPPORT = frozenset(("references", "templates", "assets", "scripts"))


@dataclass(frozen=True, slots=True)
class Note:
    """One file that Hermes reads back to the agent. `name` is its path in the home."""

    name: str
    surface: Surface
    text: str

    def line(self, byte: int) -> int:
        """The line, from 1, that holds a byte of its UTF-8."""
        return self.text.encode("utf-8")[:byte].count(b"\n") + 1


@dataclass(slots=True)
class Notes:
    """All notes of a home. `shipped` counts the skills that came with Hermes and that nobody changed: they are not the
    agent's. `problems` are sentences for the person."""

    notes: list[Note] = field(default_factory=list)
    shipped: int = 0
    problems: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, home: Path) -> Notes:
        """Reads them. A file that can't be read is a problem, not an error."""
        found = cls()
        for name in MEMORIES:
            found._add(home, home / "memories" / name, "memory")
        bundled = _bundled(home / "skills")
        for path in _skills(home / "skills"):
            if path.parent.name in bundled and _digest(path.parent) == bundled[path.parent.name]:
                found.shipped += 1
            else:
                found._add(home, path, "skill")
        return found

    def _add(self, home: Path, path: Path, surface: Surface) -> None:
        name = path.relative_to(home).as_posix()
        try:
            if not path.exists():
                return
            if path.stat().st_size > NOTE_BYTES_MAX:
                self.problems.append(f"{name} is larger than {NOTE_BYTES_MAX >> 20} MiB and was left out")
                return
            content = path.read_bytes()
        except OSError as error:
            self.problems.append(f"{name} can't be read: {error.strerror}")
            return
        text = content.decode("utf-8-sig", "replace").replace("\r\n", "\n")
        self.notes.append(Note(name, surface, text))


def _skills(folder: Path) -> Iterator[Path]:
    """The SKILL.md files, in categories or not, in the order of their paths."""
    for here, folders, files in os.walk(folder):
        is_skill = "SKILL.md" in files
        # Hidden folders hold Hermes' own records.
        inner = (name for name in folders if name not in NO_SKILLS and not name.startswith("."))
        folders[:] = sorted(name for name in inner if not (is_skill and name in SUPPORT))
        if is_skill:
            yield Path(here) / "SKILL.md"


def _bundled(folder: Path) -> dict[str, str]:
    """Names and digests of the skills that Hermes brought along (tools/skills_sync.py); empty where none are noted."""
    try:
        lines = (folder / ".bundled_manifest").read_text("utf-8", "replace").splitlines()
    except OSError:
        return {}
    pairs = (line.strip().rpartition(":") for line in lines)
    return {name: digest for name, _, digest in pairs if name and digest}


def _digest(skill: Path) -> str:
    """What Hermes notes of a skill that it brought along: the MD5 of paths and contents."""
    found = hashlib.md5(usedforsecurity=False)
    try:
        for path in sorted(skill.rglob("*")):
            if path.is_file():
                found.update(str(path.relative_to(skill)).encode("utf-8", "replace"))
                found.update(path.read_bytes())
    except OSError:
        return ""
    return found.hexdigest()
