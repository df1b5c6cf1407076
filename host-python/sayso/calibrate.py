"""`cargo xtask calibrate`: how often ordinary files repeat themselves, as the table that findings name.

Reads the text files under the given folders, or under those where installed packages stand; only the half that
`scan-files --half calibrate` takes, so that the other half can check the guard. Writes counts, no names.
"""

from __future__ import annotations

import json
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from .evaluate_repetition import SETTINGS
from .opening import opener
from .scan_files import Counts, half_of, text_of, walked
from .settings import Settings
from .types import Call, Event

LEAST = 6
STEPS = 20
"""The first column counts scores from 2^6 bytes on; each further one from twice as many."""


def places() -> list[str]:
    """Where this machine keeps installed packages and sources."""
    home = Path.home()
    likely = [
        Path(sysconfig.get_paths()["purelib"]),
        home / ".cargo" / "registry" / "src",
        Path("/usr/share"),
        Path("/usr/include"),
        Path("/usr/lib/node_modules"),
    ]
    return [str(path) for path in likely if path.is_dir()]


def calibrate(names: Sequence[str], target: Path) -> Counts:
    """Counts, and writes the table."""
    counts = Counts()
    session = opener(Settings(cache=False))(SETTINGS)
    table = {"exact": [0] * STEPS, "near": [0] * STEPS}
    seen: set[bytes] = set()
    for path in walked(names):
        text = text_of(path, counts)
        if text is None or half_of(text) != "calibrate" or text in seen:
            continue
        if len(text) < 4096:
            seen.add(text)
        counts.files += 1
        counts.bytes += len(text)
        arguments = json.dumps({"content": text.decode("utf-8")}, ensure_ascii=False)
        verdict = session.check(Event(f"f{counts.files}", "calibrate", 0, Call("", "write_file", arguments)))
        best = {"exact": 0, "near": 0}
        for finding in verdict.findings:
            kind = "exact" if finding.rule in ("repetition.exact", "repetition.copies") else "near"
            best[kind] = max(best[kind], int(json.loads(finding.facts).get("score", 0)))
        for kind, score in best.items():
            for step in range(min(score.bit_length() - LEAST, STEPS)):
                table[kind][step] += 1
    target.write_text(_toml(counts, table), "utf-8")
    return counts


def _toml(counts: Counts, table: dict[str, list[int]]) -> str:
    return (
        "# Made by `cargo xtask calibrate` from text files of installed packages: the half whose content hashes to an\n"
        "# even byte. `exact` and `near`: how many files have a finding of that kind whose further copies take at\n"
        "# least 64, 128, 256, ... bytes.\n"
        f"files = {counts.files}\nbytes = {counts.bytes}\nexact = {table['exact']}\nnear = {table['near']}\n"
    )


if __name__ == "__main__":
    done = calibrate(sys.argv[2:] or places(), Path(sys.argv[1]))
    sys.stderr.write(f"{done.files} files, {done.bytes} bytes\n")
