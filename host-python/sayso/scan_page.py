"""The page of a scan: one HTML file that stands alone, without a script, without a request, light and dark.

Everything in it may have been written by an agent or found on a page somewhere, so all text is escaped, and characters
that steer or hide are shown as pictures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from pathlib import Path

from .scan_claims import Claim, proofs
from .scan_history import Row
from .screen import visible
from .showing import chars, facts_of
from .types import Evidence

AROUND = 300
"""Characters shown on either side of what is marked."""

MEANINGS: Mapping[str, str] = {
    "quoted": "a quote in the note proves it",
    "traceable": "a message of the user would support it",
    "contradicted": "what was said speaks against it",
    "no trace": "nothing that the user said supports it",
}

GENERATOR = '<meta name="generator" content="sayso scan">'
"""What an older page of a scan is known by: nothing else is overwritten."""

STYLE = """\
:root {
  color-scheme: light dark;
  --paper: #fff; --ink: #1c1e21; --dim: #5c626b; --line: #d8dbe0; --card: #f6f7f9;
  --quoted: #11733b; --traceable: #1d6d86; --contradicted: #b3261e; --none: #8a5a00; --mark: #ffe9a8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15171a; --ink: #e6e8eb; --dim: #9aa1ab; --line: #343941; --card: #1d2024;
    --quoted: #5cc98a; --traceable: #6cc0dc; --contradicted: #ff8a80; --none: #e5b454; --mark: #5a4a12;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 60rem; padding: 2rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1 { font-size: 1.5rem; margin: 0 0 .25rem; }
h2 { font-size: 1.05rem; margin: 2.5rem 0 .75rem; font-family: ui-monospace, monospace; }
p { margin: .25rem 0; }
.dim { color: var(--dim); }
.figure { font-size: 2.5rem; font-weight: 600; margin: 1rem 0 0; }
.bar {
  display: flex; height: .75rem; margin: .75rem 0; border-radius: .375rem; overflow: hidden; background: var(--line);
}
.bar span { display: block; }
ul.counts { list-style: none; padding: 0; margin: .5rem 0 1.5rem; }
ul.counts li { margin: .15rem 0; }
.chip { display: inline-block; min-width: 6.5rem; font-weight: 600; }
.quoted { color: var(--quoted); } .traceable { color: var(--traceable); }
.contradicted { color: var(--contradicted); } .none { color: var(--none); }
.bar .quoted { background: var(--quoted); } .bar .traceable { background: var(--traceable); }
.bar .contradicted { background: var(--contradicted); } .bar .none { background: var(--none); }
article {
  border: 1px solid var(--line); border-radius: .5rem; background: var(--card); padding: .75rem 1rem; margin: .75rem 0;
}
blockquote { margin: .5rem 0; padding: .1rem 0 .1rem .75rem; border-left: 3px solid var(--line); }
.words { white-space: pre-wrap; }
mark { background: var(--mark); color: inherit; border-radius: .15rem; }
code { font-family: ui-monospace, monospace; font-size: .9em; }
@media print { body { max-width: none; padding: 0; } article { break-inside: avoid; } }
"""


def page(
    home: Path,
    sentences: Sequence[str],
    coverage: float | None,
    counts: Mapping[str, int],
    claims: Sequence[Claim],
) -> str:
    """The whole document."""
    return "\n".join(_document(home, sentences, coverage, counts, claims)) + "\n"


def _document(
    home: Path,
    sentences: Sequence[str],
    coverage: float | None,
    counts: Mapping[str, int],
    claims: Sequence[Claim],
) -> Iterator[str]:
    yield "<!doctype html>"
    yield '<html lang="en">'
    yield "<head>"
    yield '<meta charset="utf-8">'
    yield GENERATOR
    # Nothing may be loaded and nothing may run, whatever stands below.
    yield "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="referrer" content="no-referrer">'
    yield "<title>sayso: what memory says about its user</title>"
    yield f"<style>\n{STYLE}</style>"
    yield "</head>"
    yield "<body>"
    yield "<header>"
    yield "<h1>What memory says about its user</h1>"
    yield f'<p class="dim">{_text(str(home))}</p>'
    yield from _figures(sentences, coverage, counts)
    yield "</header>"
    yield "<main>"
    for name, group in groupby(claims, key=lambda claim: claim.note.name):
        yield f"<section>\n<h2>{_text(name)}</h2>"
        for claim in group:
            yield from _article(claim)
        yield "</section>"
    yield "</main>"
    yield "</body>"
    yield "</html>"


def _figures(sentences: Sequence[str], coverage: float | None, counts: Mapping[str, int]) -> Iterator[str]:
    total = sum(counts.values())
    if coverage is not None and total:
        yield f'<p class="figure">{coverage} %</p>'
        yield '<p class="dim">of the claims in notes are supported by what the user said.</p>'
        # The list below says the same in words.
        yield '<div class="bar" aria-hidden="true">'
        for outcome, count in counts.items():
            if count:
                yield f'<span class="{_class(outcome)}" style="width:{100 * count / total:.2f}%"></span>'
        yield "</div>"
        yield '<ul class="counts">'
        for outcome, count in counts.items():
            chip = f'<span class="chip {_class(outcome)}">{count} {_text(outcome)}</span>'
            yield f'<li>{chip} <span class="dim">{_text(MEANINGS[outcome])}</span></li>'
        yield "</ul>"
    for sentence in sentences:
        yield f"<p>{_text(sentence)}</p>"


def _article(claim: Claim) -> Iterator[str]:
    facts = facts_of(claim.finding)
    about = ", ".join(str(facts[name]) for name in ("kind", "lang") if facts.get(name))
    start, end = chars(claim.note.text, claim.start, claim.end)
    yield "<article>"
    yield (
        f'<p><span class="chip {_class(claim.outcome)}">{_text(claim.outcome)}</span> '
        f'<span class="dim">line {claim.note.line(claim.start)}, {_text(about)}, '
        f"<code>{_text(claim.finding.rule)}</code></span></p>"
    )
    yield f'<p class="words" dir="auto">{_marked(claim.note.text, start, end, whole_line=True)}</p>'
    yield f'<p class="dim">{_text(claim.finding.reason)}</p>'
    for row, proof in proofs(claim):
        yield from _proof(row, proof)
    if claim.finding.suggestion and claim.outcome != "quoted":
        yield f'<p><span class="dim">passes:</span> <span dir="auto">{_text(claim.finding.suggestion)}</span></p>'
    yield "</article>"


def _proof(row: Row, proof: Evidence) -> Iterator[str]:
    start, end = chars(row.text, proof.start, proof.end)
    yield "<blockquote>"
    yield f'<p class="words" dir="auto">{_marked(row.text, start, end, whole_line=False)}</p>'
    note = f": {proof.note}" if proof.note else ""
    yield f'<p class="dim">{_text(row.label)}{_text(note)}</p>'
    yield "</blockquote>"


def _marked(text: str, start: int, end: int, whole_line: bool) -> str:
    """What stands around a span (characters), with the span marked: the rest of its line, or of the message."""
    first, last = max(0, start - AROUND), min(len(text), end + AROUND)
    if whole_line:
        first = max(first, text.rfind("\n", 0, start) + 1)
        after = text.find("\n", end)
        last = last if after < 0 else min(last, after)
    lead = "…" if first > 0 and text[first - 1] != "\n" else ""
    tail = "…" if last < len(text) and text[last] != "\n" else ""
    parts = (_lines(text[first:start]), _lines(text[start:end]), _lines(text[end:last]))
    return f"{lead}{parts[0]}<mark>{parts[1]}</mark>{parts[2]}{tail}"


def _lines(text: str) -> str:
    """Text that keeps its line breaks."""
    return "\n".join(_text(line) for line in text.split("\n"))


def _text(text: str) -> str:
    """Text as HTML: nothing in it is markup, nothing steers."""
    return escape(visible(text), quote=True)


def _class(outcome: str) -> str:
    return outcome if outcome in ("quoted", "traceable", "contradicted") else "none"
