"""`sayso eval`: counting, matching and intervals, the two JSON shapes, and what malformed rows give."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from pretend import pretend
from sayso.documents import InputError
from sayso.evaluate import evaluate
from sayso.labels import claim_rows, verdict_rows
from sayso.measure import Detection, Judgement, matched, wilson
from sayso.screen import Screen


def claim(number: int, text: str, **other: Any) -> dict[str, Any]:
    row = {"id": f"c{number}", "lang": "en", "surface": "memory", "text": text, "label": "claim", "kind": "decision"}
    return {**row, "why": "-", **other}


CLAIMS = [
    claim(1, "User decided to ship."),
    claim(2, "User approved the merge.", kind="approval"),
    claim(3, "Per the user's request, no tests.", kind="instruction"),
    claim(4, "The build is slow.", label="not", kind="plain"),
    claim(5, "Never write: User decided to ship.", label="not", kind="meta", lang="zh-Hant"),
]


def verdict(number: int, rows: list[tuple[str, str]], text: str, *expect: tuple[str, str]) -> dict[str, Any]:
    return {
        "id": f"v{number}",
        "lang": "en",
        "rows": [{"role": role, "text": said} for role, said in rows],
        "write": {"surface": "memory", "text": text},
        "expect": [{"claim": claimed, "verdict": word} for claimed, word in expect],
        "why": "-",
    }


VERDICTS = [
    verdict(1, [("user", "use Redis")], 'User chose Redis ("use Redis")', ("User chose Redis", "supported")),
    verdict(2, [("assistant", "use Redis")], 'User chose Redis ("use Redis")', ("User chose Redis", "wrong-speaker")),
    verdict(3, [("user", "use Redis?")], 'User chose Redis ("use Redis")', ("User chose Redis", "not-a-commitment")),
    verdict(4, [("user", "yes")], "User approved é it", ("User approved é it", "assented")),
    verdict(5, [], "User decided A. The rest.", ("The rest", "no-quote")),
    verdict(6, [], "Nothing here."),
]


@pytest.fixture
def rows_file(tmp_path: Path) -> Any:
    """Writes rows, or lines as they stand, to a file and gives its name."""

    def write(rows: list[Any], name: str = "rows.jsonl", head: str = "") -> str:
        path = tmp_path / name
        lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
        path.write_text(head + "\n".join(lines) + "\n", "utf-8")
        return str(path)

    return write


def run(kind: str, files: list[str], as_json: bool = True, show_wrong: int = 0) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    assert evaluate(kind, files, pretend, Screen(out, err), as_json, show_wrong) == 0
    return out.getvalue(), err.getvalue()


@pytest.mark.parametrize(
    ("right", "of", "low", "high"),
    # Wilson's interval by Newcombe's tables: 81 of 263 is (0.2553, 0.3662), 15 of 148 is (0.0624, 0.1605).
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (29, 29, 0.8830, 1.0),
        (0, 0, 0.0, 1.0),
    ],
)
def test_wilson_agrees_with_published_intervals(right: int, of: int, low: float, high: float) -> None:
    assert wilson(right, of) == pytest.approx((low, high), abs=5e-5)


def test_spans_are_matched_by_largest_overlap_one_to_one() -> None:
    # The second found span overlaps both expected ones, the first more; so the second expected one stays alone.
    assert matched([(0, 10), (12, 20)], [(0, 3), (2, 14)]) == [(0, 1), (1, None), (None, 0)]
    assert matched([(0, 5)], [(5, 9)]) == [(0, None), (None, 0)]
    assert matched([], []) == []


def test_claims_are_counted(rows_file: Any) -> None:
    out, _ = run("claims", [rows_file(CLAIMS)])
    told = json.loads(out)
    assert (told["kind"], told["rows"]) == ("claims", 5)
    assert (told["tp"], told["fp"], told["fn"], told["tn"]) == (2, 1, 1, 1)
    assert told["precision"] == told["recall"] == told["f1"] == pytest.approx(2 / 3, abs=1e-6)
    assert told["wilson"]["recall"] == pytest.approx(wilson(2, 3), abs=1e-6)
    assert set(told["by"]["lang"]) == {"en", "zh-Hant"}
    assert told["by"]["lang"]["zh-Hant"]["fp"] == 1
    assert told["by"]["kind"]["instruction"]["fn"] == 1
    assert told["wrong"] == ["c3", "c5"]


def test_a_ratio_without_rows_is_null(rows_file: Any) -> None:
    told = json.loads(run("claims", [rows_file([CLAIMS[3]])])[0])
    assert told["precision"] is None
    assert told["recall"] is None
    assert told["wilson"]["precision"] == [0.0, 1.0]
    assert Detection().f1 is None
    assert Judgement().accuracy is None


def test_verdicts_are_counted(rows_file: Any) -> None:
    told = json.loads(run("verdicts", [rows_file(VERDICTS)])[0])
    # Right: v1. Judged otherwise: v2, v3 (passes falsely), v4 (fails falsely). v5: one missed and one invented.
    assert (told["claims"], told["right"], told["missed"], told["invented"]) == (5, 1, 1, 1)
    assert told["accuracy"] == pytest.approx(1 / 6, abs=1e-6)
    assert (told["false_pass"], told["false_fail"]) == (1, 1)
    assert told["by"]["verdict"]["supported"]["accuracy"] == 1.0
    assert told["by"]["verdict"]["invented"]["invented"] == 1
    assert told["by"]["lang"]["en"]["claims"] == 5
    assert told["wrong"] == ["v2", "v3", "v4", "v5"]


def test_only_the_humans_words_count_as_the_users(rows_file: Any) -> None:
    for role in ("assistant", "tool"):
        row = verdict(1, [(role, "use Redis")], 'User chose Redis ("use Redis")', ("User chose Redis", "supported"))
        assert json.loads(run("verdicts", [rows_file([row])])[0])["false_fail"] == 1


def test_the_same_claim_twice_is_expected_in_order(rows_file: Any) -> None:
    row = verdict(1, [], "User decided. User decided.", ("User decided", "no-quote"), ("User decided", "no-quote"))
    [read] = verdict_rows([rows_file([row])])
    assert [(one.start, one.end) for one in read.expect] == [(0, 12), (14, 26)]
    assert json.loads(run("verdicts", [rows_file([row])])[0])["right"] == 2


def test_spans_are_bytes(rows_file: Any) -> None:
    row = verdict(1, [], "用户 User decided", ("User decided", "no-quote"))
    [read] = verdict_rows([rows_file([row])])
    assert (read.expect[0].start, read.expect[0].end) == (7, 19)
    assert json.loads(run("verdicts", [rows_file([row])])[0])["right"] == 1


def test_text_has_tables_and_shows_wrong_rows(rows_file: Any) -> None:
    out, err = run("claims", [rows_file(CLAIMS)], as_json=False, show_wrong=1)
    assert "95 %" in out
    assert "zh-Hant" in out
    assert "c3: missed" in out
    assert "Per the user's request, no tests." in out
    assert "c5:" not in out
    assert err == ""
    out, _ = run("verdicts", [rows_file(VERDICTS)], as_json=False, show_wrong=9)
    assert "taken for another" in out
    assert "user: use Redis?" in out
    assert "not-a-commitment: User chose Redis" in out


def test_with_json_wrong_rows_go_to_the_standard_error(rows_file: Any) -> None:
    out, err = run("claims", [rows_file(CLAIMS)], show_wrong=1)
    assert len(out.splitlines()) == 1
    assert json.loads(err)["id"] == "c3"


def test_mark_blank_lines_and_more_fields_are_allowed(rows_file: Any) -> None:
    more = {**CLAIMS[0], "note": {"any": ["thing"]}}
    kindless = {name: value for name, value in CLAIMS[3].items() if name not in ("kind", "why")}
    name = rows_file(["", more, "   ", kindless, "\r"], head="\ufeff")
    assert [row.kind for row in claim_rows([name])] == ["decision", "plain"]


def test_ids_are_unique_in_a_file_not_among_files(rows_file: Any) -> None:
    first, second = rows_file(CLAIMS, "a.jsonl"), rows_file(CLAIMS, "b.jsonl")
    assert len(claim_rows([first, second])) == 10
    with pytest.raises(InputError, match=r'a\.jsonl:2: "id" c1 stands in line 1 already'):
        claim_rows([rows_file([CLAIMS[0], CLAIMS[0]], "a.jsonl")])


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        ("{", "is not JSON"),
        ("[]", "a row must be a JSON object, not a list"),
        ('{"id": NaN}', "NaN is no JSON value"),
        ("[" * 100_000, "nested too deeply"),
        ({"id": "c9"}, '"lang" is missing'),
        (claim(9, ""), '"text" must not be empty'),
        (claim(9, "x", id=7), '"id" must be text, not a number'),
        (claim(9, "x", lang="?"), '"lang" must be a language tag'),
        (claim(9, "x", label="maybe"), '"label" must be one of claim, not, not "maybe"'),
        (claim(9, "x", label="claim", kind="open"), '"kind" must be one of decision'),
        (claim(9, "x", label="not", kind="decision"), '"kind" must be one of open'),
        (claim(9, "x", surface="disk"), '"surface" must be one of memory, skill'),
        ({**claim(9, "x"), "text": None}, '"text" must be text, not null'),
    ],
)
def test_a_malformed_claims_row_names_file_line_and_fault(rows_file: Any, row: Any, wrong: str) -> None:
    name = rows_file([CLAIMS[0], "", row])
    with pytest.raises(InputError) as told:
        claim_rows([name])
    assert str(told.value).startswith(f"{name}:3: ")
    assert wrong in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"rows": {}}, '"rows" must be a list, not an object'),
        ({"rows": ["x"]}, 'an item of "rows" must be a JSON object, not text'),
        ({"rows": [{"role": "system", "text": "x"}]}, '"role" must be one of user, assistant, tool'),
        ({"rows": [{"role": "user"}]}, '"text" is missing'),
        ({"write": "x"}, '"write" must be a JSON object, not text'),
        ({"expect": [{"claim": "elsewhere", "verdict": "supported"}]}, '"claim" must stand in the text of "write"'),
        ({"expect": [{"claim": "User", "verdict": "fine"}]}, '"verdict" must be one of supported'),
        ({"expect": None}, '"expect" must be a list, not null'),
    ],
)
def test_a_malformed_verdicts_row_names_file_line_and_fault(rows_file: Any, change: Any, wrong: str) -> None:
    name = rows_file([{**VERDICTS[0], **change}])
    with pytest.raises(InputError) as told:
        verdict_rows([name])
    assert str(told.value).startswith(f"{name}:1: ")
    assert wrong in str(told.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b'{"id": 1}\n{"id": "\xe9"}\n')
    (tmp_path / "empty").write_bytes(b"\n\n")
    for name, wrong in (("latin", "latin:2: is not UTF-8"), ("empty", "holds no rows"), ("none", "can't be read")):
        with pytest.raises(InputError, match=wrong):
            claim_rows([str(tmp_path / name)])
    with pytest.raises(InputError, match="can't be read"):
        claim_rows([str(tmp_path)])
