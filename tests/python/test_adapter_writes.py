"""What a call would write, worked out before it happens, in the words of both versions of Hermes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sayso.adapters.commands import only_reads, words_of_code, words_of_command
from sayso.adapters.writes import Folders, changed, named_notes, snapshot, writes_of
from sayso.types import Write

NOTES = "Likes tea in the morning.\n§\nThe build takes four minutes."


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    home = tmp_path / "a home"
    (home / "memories").mkdir(parents=True)
    (home / "memories" / "MEMORY.md").write_text(NOTES)
    skill = home / "skills" / "devops" / "deploy"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("# Deploy\n\n1. Push.\n")
    return Folders(home, tmp_path)


def one(tool: str, folders: Folders, **arguments: Any) -> Write:
    (write,) = writes_of(tool, arguments, folders)
    return write


@pytest.mark.parametrize(
    ("arguments", "after"),
    [
        ({"action": "add", "content": " New. "}, f"{NOTES}\n§\nNew."),
        ({"action": "add", "content": "Likes tea in the morning."}, NOTES),
        (
            {"action": "replace", "old_text": "tea", "content": "Likes coffee."},
            NOTES.replace("Likes tea in the morning.", "Likes coffee."),
        ),
        ({"action": "patch", "old_text": "tea", "content": "coffee"}, NOTES.replace("tea", "coffee")),
        ({"action": "patch", "old_text": "tea", "new_text": "coffee"}, NOTES.replace("tea", "coffee")),
        (
            {"action": "patch", "old_text": "tea  in “the", "content": "Said it."},
            "Likes tea in the morning.\n§\nThe build takes four minutes.\n§\nSaid it.",
        ),
        ({"action": "remove", "old_text": "build"}, "Likes tea in the morning."),
        ({"action": "remove", "old_text": "nothing"}, NOTES),
        ({"action": "later-version", "content": "New."}, f"{NOTES}\n§\nNew."),
        (
            {"operations": [{"action": "remove", "old_text": "tea"}, {"action": "add", "content": "New."}, "junk"]},
            "The build takes four minutes.\n§\nNew.",
        ),
        ({"operations": []}, NOTES),
    ],
)
def test_memory_operations(folders: Folders, arguments: Mapping[str, Any], after: str) -> None:
    write = one("memory", folders, target="memory", **arguments)
    assert (write.surface, write.reference, write.before, write.after) == ("memory", "memories/MEMORY.md", NOTES, after)


def test_the_user_profile_is_a_note_of_its_own(folders: Folders) -> None:
    write = one("memory", folders, target="user", action="add", content="Lives in Lisbon.")
    assert (write.reference, write.before, write.after) == ("memories/USER.md", "", "Lives in Lisbon.")


@pytest.mark.parametrize("shape", ["flat", "operations"])
@pytest.mark.parametrize(
    ("operation", "reference", "after"),
    [
        ({"action": "create", "name": "new", "content": "# New"}, "skills/new/SKILL.md", "# New"),
        ({"action": "create", "name": "new", "category": "a", "content": "# New"}, "skills/a/new/SKILL.md", "# New"),
        ({"action": "edit", "name": "deploy", "content": "# X"}, "skills/devops/deploy/SKILL.md", "# X"),
        ({"action": "patch", "name": "deploy", "content": "# X"}, "skills/devops/deploy/SKILL.md", "# X"),
        (
            {"action": "patch", "name": "deploy", "old_string": "Push", "new_string": "Pull"},
            "skills/devops/deploy/SKILL.md",
            "# Deploy\n\n1. Pull.\n",
        ),
        (
            {"action": "patch", "name": "deploy", "old_string": "push", "new_string": "Pull"},
            "skills/devops/deploy/SKILL.md",
            "# Deploy\n\n1. Push.\n\nPull",
        ),
        (
            {"action": "write_file", "name": "deploy", "file_path": "references/a.md", "file_content": "A"},
            "skills/devops/deploy/references/a.md",
            "A",
        ),
        ({"action": "delete", "name": "deploy"}, "skills/devops/deploy/SKILL.md", ""),
    ],
)
def test_skill_operations(folders: Folders, shape: str, operation: dict[str, Any], reference: str, after: str) -> None:
    arguments = operation if shape == "flat" else {"operations": [operation]}
    write = one("skill_manage", folders, **arguments)
    assert (write.surface, write.reference, write.after) == ("skill", reference, after)


def test_operations_on_one_skill_make_one_write(folders: Folders) -> None:
    first = {"action": "patch", "name": "deploy", "old_string": "Push", "new_string": "Pull"}
    second = {"action": "patch", "name": "deploy", "old_string": "Pull", "new_string": "Rebase"}
    write = one("skill_manage", folders, operations=[first, second])
    assert write.after == "# Deploy\n\n1. Rebase.\n"


def test_files_that_are_no_notes_are_none_of_our_business(folders: Folders) -> None:
    assert writes_of("write_file", {"path": "notes.txt", "content": "x"}, folders) == []
    assert writes_of("patch", {"path": "a.py", "old_string": "a", "new_string": "b"}, folders) == []
    assert writes_of("read_file", {"path": "a home/memories/MEMORY.md"}, folders) == []
    assert writes_of("write_file", {"path": "\0", "content": "x"}, folders) == []
    assert writes_of("write_file", {"path": 7, "content": None}, folders) == []


@pytest.mark.parametrize("path", ["a home/memories/MEMORY.md", "./a home/x/../memories/MEMORY.md", "link/MEMORY.md"])
def test_a_file_tool_is_recognised_by_where_its_path_leads(folders: Folders, path: str) -> None:
    (folders.cwd / "link").symlink_to(folders.memories)
    write = one("write_file", folders, path=path, content="New.")
    assert (write.surface, write.reference, write.before, write.after) == (
        "memory",
        "memories/MEMORY.md",
        NOTES,
        "New.",
    )


def test_a_patch_of_several_files_judges_the_notes_among_them(folders: Folders) -> None:
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n+x\n*** Update File: a home/memories/MEMORY.md\n@@\n Likes\n-old\n"
        "+User decided it.\n"
        "*** Add File: a home/skills/new/SKILL.md\n+# New\n*** End Patch\n+after the end"
    )
    first, second = writes_of("patch", {"mode": "patch", "patch": patch}, folders)
    assert (first.surface, first.after) == ("memory", f"{NOTES}\nUser decided it.")
    assert (second.surface, second.reference, second.after) == ("skill", "skills/new/SKILL.md", "\n# New")


@pytest.mark.parametrize(
    "command",
    [
        "echo 'User decided it.' >> '{home}/memories/MEMORY.md'",
        'printf "%s\\n" "User decided it." | tee -a "$HERMES_HOME/memories/MEMORY.md"',
        "cat >> $HERMES_HOME/memories/MEMORY.md <<'END'\nUser decided it.\nEND",
        "cd '{home}/memories' && sed -i '$ a User decided it.' MEMORY.md",
        'python3 -c \'open("MEMORY.md", "a").write("User decided it.")\'',
    ],
)
def test_the_words_of_a_command_are_judged(folders: Folders, command: str) -> None:
    write = one("terminal", folders, command=command.replace("{home}", str(folders.home)))
    assert write.surface == "memory"
    assert "User decided it." in write.after
    assert any(
        line.strip().endswith("User decided it.") or "User decided it." in line for line in write.after.split("\n")
    )


def test_a_command_that_names_one_note_is_compared_with_it(folders: Folders) -> None:
    command = f"echo 'User decided it.' >> '{folders.memories}/MEMORY.md'"
    write = one("terminal", folders, command=command)
    assert (write.reference, write.before) == ("memories/MEMORY.md", NOTES)
    assert "User decided it." in write.after.split("\n")
    assert named_notes("terminal", {"command": command}, folders) == [folders.memories / "MEMORY.md"]


@pytest.mark.parametrize(
    "command", ["cat {m}", "grep -n tea {m} | head -3", "wc -l < {m} 2>/dev/null", "ls {m}; echo done"]
)
def test_reading_a_note_is_no_write(folders: Folders, command: str) -> None:
    assert writes_of("terminal", {"command": command.replace("{m}", "memories/MEMORY.md")}, folders) == []


@pytest.mark.parametrize(
    "command", ["cat a > memories/MEMORY.md", "cat $(evil)", "cat a | tee b", "cp a b", "echo `x`"]
)
def test_what_may_write_is_not_only_reading(command: str) -> None:
    assert not only_reads(command)


def test_a_program_is_judged_by_its_strings(folders: Folders) -> None:
    code = "from pathlib import Path\nnote = Path('memories/MEMORY.md')\nnote.write_text('User decided it.\\n')\n"
    write = one("execute_code", folders, code=code)
    assert "User decided it." in write.after.split("\n")
    assert words_of_code("this is (no program") == "this is (no program"


def test_quotation_marks_inside_the_words_stay() -> None:
    words = words_of_command("""echo "User decided it (\\"do it\\")." >> x; cat <<EOF\ndon't\nEOF\necho 'b'""")
    assert 'User decided it ("do it").' in words.split("\n")
    assert "don't" in words.split("\n")
    assert "b" in words.split("\n")
    assert words_of_command("echo 'open") == "echo 'open"


def test_what_a_program_changed_is_found_afterwards(folders: Folders) -> None:
    skill = folders.skills / "devops" / "deploy" / "SKILL.md"
    before = snapshot(folders, [skill])
    assert changed(before, folders) == []
    (folders.memories / "USER.md").write_text("User decided it.")
    skill.write_text("# Deploy")
    assert {write.reference for write in changed(before, folders)} == {
        "memories/USER.md",
        "skills/devops/deploy/SKILL.md",
    }
