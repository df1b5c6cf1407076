"""The notes of a scan: which files of a home count, and which of them are the agent's."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
import sayso.scan_notes
from sayso.scan_notes import Notes


def write(home: Path, name: str, text: str = "text") -> Path:
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def names(home: Path) -> list[tuple[str, str]]:
    return [(note.name, note.surface) for note in Notes.read(home).notes]


def test_memory_and_skills_in_categories_are_notes(tmp_path: Path) -> None:
    for name in (
        "memories/MEMORY.md",
        "memories/USER.md",
        "memories/MEMORY.md.bak",
        "skills/plain/SKILL.md",
        "skills/ops/deploy/SKILL.md",
        "skills/ops/deploy/references/old/SKILL.md",
        "skills/ops/deploy/README.md",
        "skills/.archive/gone/SKILL.md",
        "skills/node_modules/x/SKILL.md",
    ):
        write(tmp_path, name)
    assert names(tmp_path) == [
        ("memories/MEMORY.md", "memory"),
        ("memories/USER.md", "memory"),
        ("skills/ops/deploy/SKILL.md", "skill"),
        ("skills/plain/SKILL.md", "skill"),
    ]


def test_a_home_without_notes_has_none(tmp_path: Path) -> None:
    assert Notes.read(tmp_path) == Notes()


def test_a_skill_that_came_with_hermes_is_a_note_once_it_was_changed(
    tmp_path: Path,
) -> None:
    skill = write(tmp_path, "skills/ops/deploy/SKILL.md", "as it came")
    write(tmp_path, "skills/ops/deploy/scripts/run.sh", "true")
    content = b"SKILL.md" + b"as it came" + b"scripts/run.sh" + b"true"
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
    write(tmp_path, "skills/.bundled_manifest", f"deploy:{digest}\nother:0\nold\n")
    assert Notes.read(tmp_path) == Notes(shipped=1)
    skill.write_text("changed")
    assert names(tmp_path) == [("skills/ops/deploy/SKILL.md", "skill")]


def test_what_can_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sayso.scan_notes, "NOTE_BYTES_MAX", 1024 * 1024)
    write(tmp_path, "memories/MEMORY.md", "x" * (1024 * 1024 + 1))
    (tmp_path / "memories" / "USER.md").mkdir()
    found = Notes.read(tmp_path)
    assert found.notes == []
    assert found.problems == [
        "memories/MEMORY.md is larger than 1 MiB and was left out",
        "memories/USER.md can't be read: Is a directory",
    ]


def test_lines_count_from_one_and_any_bytes_are_text(tmp_path: Path) -> None:
    (tmp_path / "memories").mkdir()
    (tmp_path / "memories" / "USER.md").write_bytes(b"\xef\xbb\xbf\xc3\xa9\r\n\xff\n")
    [note] = Notes.read(tmp_path).notes
    assert note.text == "é\n\ufffd\n"
    assert [note.line(byte) for byte in (0, 2, 3, 6)] == [1, 1, 2, 2]
