"""The commands that need the real engine and a real ledger: report, status, verify, doctor, demo, eval."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sayso import report as reporting
from sayso.cli import main
from sayso.demo import FORGED_FROM, FORGED_TO, NOTES
from sayso.documents import InputError
from sayso.gate import Gate
from sayso.keys import Key
from sayso.ledger import Ledger
from sayso.opening import opener
from sayso.settings import Settings
from sayso.types import Message, Write

FALSE = "User decided to drop the staging database."
TRUE = 'User wants tabs ("please use tabs").'


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    monkeypatch.delenv("PROVENANCE_GATE_MODE", raising=False)
    return tmp_path


@pytest.fixture
def recorded(home: Path) -> Path:
    """A home in which one session was judged, with a false and a true claim; gives the folder of the ledger."""
    folder = Settings(home=home).folder
    key = Key.load_or_make(folder / "key")
    with Ledger.open(folder / "ledger.db", key) as ledger:
        open_session = opener(Settings(home=home))
        gate = Gate(lambda session: open_session("", key.hex()), dict, ledger)
        gate.capture("s-1", Message("user", "human", "please use tabs"))
        gate.check("s-1", Write("memory", "MEMORY.md", "", f"{FALSE}\n{TRUE}"))
        gate.check("s-2", Write("skill", "deploy", "", "The build takes four minutes."))
    return folder


def call(*argv: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = main(argv, out, err)
    return code, out.getvalue(), err.getvalue()


def test_report_tells_what_was_found_where_and_in_which_words(recorded: Path) -> None:
    code, out, _ = call("report")
    assert code == 1
    assert "no-quote" in out
    assert "s-1" in out
    assert "MEMORY.md" in out
    assert "User decided to drop the staging database" in out
    assert "tabs" not in out
    assert "User wants tabs" in call("report", "--all")[1]


def test_report_as_json(recorded: Path) -> None:
    code, out, _ = call("report", "--json")
    [found] = json.loads(out)["findings"]
    assert code == 1
    assert found["rule"] == "provenance.no-quote"
    assert (found["session"], found["surface"], found["reference"]) == ("s-1", "memory", "MEMORY.md")
    assert found["claim"].startswith("User decided to drop the staging database")
    assert datetime.fromisoformat(found["when"]).timestamp() == found["at"] // 1000


def test_report_can_be_narrowed(recorded: Path) -> None:
    assert call("report", "--session", "s-2")[:2] == (0, "Nothing found.\n")
    assert call("report", "--since", "2999-01-01")[0] == 0
    assert call("report", "--since", "1h")[0] == 1


def test_report_without_bodies_still_tells_what_was_found(recorded: Path) -> None:
    with Ledger.open(recorded / "ledger.db", Key.load_or_make(recorded / "key"), strict=True) as ledger:
        assert ledger.drop_bodies(2**62)
    code, out, _ = call("report")
    assert code == 1
    assert "no-quote" in out
    assert reporting.GONE in out
    assert json.loads(call("report", "--json")[1])["findings"][0]["claim"] is None


def test_since_is_an_age_or_a_date() -> None:
    now = datetime(2026, 11, 30, 12, tzinfo=UTC)
    day = 24 * 3600 * 1000
    at = int(now.timestamp() * 1000)
    assert reporting.since_ms("7d", now) == at - 7 * day
    assert reporting.since_ms("36h", now) == at - day * 3 // 2
    assert reporting.since_ms("2026-11-01T00:00:00+00:00", now) == at - 29 * day - day // 2
    for wrong in ("", "soon", "7y", "-3d", "9" * 30 + "d", "2026-13-01"):
        with pytest.raises(InputError, match="--since must be"):
            reporting.since_ms(wrong, now)


def test_status_tells_modes_engine_and_ledger(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVENANCE_GATE_MODE", "block")
    code, out, _ = call("status")
    assert code == 0
    assert "provenance" in out
    assert "PROVENANCE_GATE_MODE" in out
    assert "de, en, es, fr, ja, ko, pt, ru, zh" in out
    assert "3 entries" in " ".join(out.split())


def test_verify_prints_a_head_that_later_ledgers_are_compared_with(recorded: Path, tmp_path: Path) -> None:
    code, out, err = call("verify")
    assert code == 0
    assert err.startswith("whole: 3 entries")
    head = tmp_path / "noted"
    head.write_text(out, "utf-8")
    assert call("verify", "--against", str(head))[0] == 0
    head.write_text("nothing", "utf-8")
    assert call("verify", "--against", str(head))[0] == 2


def test_verify_finds_what_was_changed(recorded: Path) -> None:
    path = recorded / "ledger.db"
    path.write_bytes(path.read_bytes().replace(b"please use tabs", b"please use Rust"))
    code, out, _ = call("verify")
    assert code == 1
    assert out.startswith("broken: ")


def test_a_noted_head_betrays_a_ledger_that_is_gone(recorded: Path, tmp_path: Path) -> None:
    head = tmp_path / "noted"
    head.write_text(call("verify")[1], "utf-8")
    (recorded / "ledger.db").unlink()
    assert call("verify", "--against", str(head))[0] == 1


def test_a_ledger_without_its_key_is_told(recorded: Path) -> None:
    (recorded / "key").unlink()
    code, out, err = call("report")
    assert (code, out) == (3, "")
    assert "key file" in err
    assert not (recorded / "key").exists()


def test_doctor_finds_all_well(recorded: Path) -> None:
    code, out, _ = call("doctor")
    assert code == 0, out
    assert "All is well." in out
    assert "sha256" in out
    assert "3 entries, whole" in " ".join(out.split())


def test_doctor_names_what_mends(recorded: Path) -> None:
    (recorded / "key").chmod(0o644)
    code, out, _ = call("doctor")
    assert code == 1
    assert "chmod 600" in out


def test_doctor_before_anything_was_recorded_makes_nothing(home: Path) -> None:
    code, out, _ = call("doctor")
    assert code == 0, out
    assert not (home / "plugin-data").exists()


def test_demo_shows_refusals_passes_and_a_forgery(home: Path) -> None:
    code, out, err = call("demo")
    assert (code, err) == (0, "")
    said = " ".join(out.split())
    for rule in ("no-quote", "negation-dropped", "not-a-commitment", "supported", "assented"):
        assert f"provenance.{rule}" in said
    assert [f"note {number}, refused" in said for number in range(1, len(NOTES) + 1)] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert "12 entries, whole" in said
    assert "broken: " in said
    assert list(home.iterdir()) == []


def test_the_demos_forgery_keeps_the_length() -> None:
    assert len(FORGED_FROM) == len(FORGED_TO)
    assert FORGED_FROM != FORGED_TO


def test_check_answers_also_where_the_guard_is_off(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVENANCE_GATE_MODE", "off")
    (home / "session").write_text("[]", "utf-8")
    (home / "note").write_text(FALSE, "utf-8")
    assert call("check", "--session", str(home / "session"), "--write", str(home / "note"))[0] == 1


def test_check_explain_and_eval_agree_with_the_engine(home: Path) -> None:
    (home / "session").write_text(json.dumps([{"role": "user", "text": "please use tabs"}]), "utf-8")
    for note, code in ((TRUE, 0), (FALSE, 1), ("The build takes four minutes.", 0)):
        (home / "note").write_text(note, "utf-8")
        assert call("check", "--session", str(home / "session"), "--write", str(home / "note"))[0] == code
    row: dict[str, Any] = {"id": "1", "lang": "en", "surface": "memory", "text": FALSE, "label": "claim"}
    (home / "rows").write_text(json.dumps({**row, "kind": "decision"}), "utf-8")
    assert json.loads(call("eval", "claims", str(home / "rows"), "--json")[1])["tp"] == 1
    code, out, _ = call("explain", "provenance.negation-dropped")
    assert code == 0
    assert "opposite" in out
    assert call("explain", "provenance.guess")[0] == 2
