"""The command line: one parser for `sayso …`, `hermes sayso …` and `/sayso …`.

Standard output is data, standard error is talk. Exit codes: 0 clean, 1 findings, 2 wrong usage or input, 3 sayso itself
failed. What a command does stands in the module that its name leads to; here are only words and their meaning.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn, TextIO

from . import __version__
from .documents import InputError
from .evaluate import KINDS
from .labels import SURFACES
from .screen import Screen, screen
from .settings import GUARDS
from .types import EngineError, LedgerError, SaysoError, SettingsError

CLEAN, FINDINGS, USAGE, INTERNAL = 0, 1, 2, 3
INTERRUPTED = 130
"""What a shell expects of a program that Ctrl-C ended."""

DESCRIPTION = """\
sayso checks what an AI agent writes about its user into memory and skills: a claim that the user decided, approved,
asked for, prefers, rejected or agreed to something needs the user's own words as a quote."""

EPILOG = """\
examples:
  sayso demo
  sayso check --session session.jsonl --write note.md
  sayso report --since 7d

exit codes: 0 clean, 1 findings, 2 wrong usage or input, 3 sayso itself failed"""

Handler = Callable[[argparse.Namespace, Screen], int]


def main(argv: Sequence[str] | None = None, stdout: TextIO | None = None, stderr: TextIO | None = None) -> int:
    """Runs one command and returns its exit code. With `stdout` alone, what is meant for the standard error goes there
    too, so that a chat sees the whole answer."""
    if stderr is None:
        stderr = stdout
    if stdout is None:
        _never_fail_to_print()
    out = screen(stdout, stderr)
    parser = _Parser(prog="sayso")
    add_arguments(parser)
    try:
        arguments = parser.parse_args(sys.argv[1:] if argv is None else list(argv))
    except _Left as left:
        (out.out if left.code == CLEAN else out.err).write(left.text)
        return left.code
    return run(arguments, out)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Gives a parser sayso's commands. `run` then takes what it parsed."""
    parser.description = DESCRIPTION
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--version", action="version", version=f"sayso {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def command(name: str, handler: Handler, about: str, example: str) -> argparse.ArgumentParser:
        added = commands.add_parser(
            name,
            help=about,
            description=f"{about[0].upper()}{about[1:]}.",
            epilog=f"example:\n{example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        added.set_defaults(handler=handler)
        return added

    command("demo", _demo, "show what sayso does, in a throwaway folder", "  sayso demo")
    command("status", _status, "tell modes, engine and ledger of this installation", "  sayso status")
    _add_check(command("check", _check, "judge one note after one session", _CHECK_EXAMPLE))
    _add_report(command("report", _report, "tell what was found, when and in which session", _REPORT_EXAMPLE))
    _add_audit(command("audit", _audit, "list calls, results, notes and marks as they happened", _AUDIT_EXAMPLE))
    started = command("reset", _reset, "start the count of equal calls again", "  sayso reset")
    started.add_argument("--session", default="", metavar="ID", help="only in this session (default: in all)")
    cleared = command(
        "clear", _clear, "remove every text that the ledger keeps; the chain goes on", "  sayso clear --yes"
    )
    cleared.add_argument("--yes", action="store_true", help="do it: it can't be undone")
    _add_scan(command("scan", _scan, "check what already stands in memory and skills", _SCAN_EXAMPLE))
    files = command(
        "scan-files",
        _scan_files,
        "tell which text files look like a model stuck in a loop",
        "  sayso scan-files src docs",
    )
    files.add_argument("names", metavar="DIR", nargs="+", help="folders, or single files")
    files.add_argument("--json", action="store_true", help="print one JSON object for each file found, then the counts")
    files.add_argument(
        "--half", choices=("calibrate", "check"), default="", help="only one half of the files, by their content"
    )
    _add_verify(command("verify", _verify, "check every entry of the ledger", _VERIFY_EXAMPLE))
    _add_eval(command("eval", _eval, "measure the guards on labelled files", _EVAL_EXAMPLE))
    command("doctor", _doctor, "look for what keeps sayso from working, and tell what mends it", "  sayso doctor")
    explain = command("explain", _explain, "tell what a rule or a construction means", _EXPLAIN_EXAMPLE)
    explain.add_argument("rule", metavar="RULE", help="as it stands in a finding, such as provenance.no-quote")
    asked = command("help", _help, "show this help, or that of a command", "  sayso help check")
    asked.add_argument("topic", nargs="?", metavar="COMMAND", choices=sorted(commands.choices))
    asked.set_defaults(parser=parser, parsers=commands.choices)


def run(arguments: argparse.Namespace, out: Screen | None = None) -> int:
    """Runs what the parser of `add_arguments` understood, and returns the exit code."""
    out = out or screen()
    handler: Handler = arguments.handler
    try:
        code = handler(arguments, out)
        out.out.flush()
    except (InputError, SettingsError) as error:
        return _say(out, str(error), USAGE)
    except (EngineError, LedgerError, SaysoError) as error:
        return _say(out, str(error), INTERNAL)
    except KeyboardInterrupt:
        return _say(out, "stopped", INTERRUPTED)
    except BrokenPipeError:
        # Whoever read the output has enough (`sayso report | head`). Python would complain again at its end.
        if out.out is sys.stdout:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLEAN
    except Exception as error:
        # The text of an unforeseen exception may hold what was judged, so only its type and place are shown.
        return _say(out, f"internal error: {type(error).__name__} {_place(error)}; this is a bug in sayso", INTERNAL)
    return code


_CHECK_EXAMPLE = """\
  sayso check --session session.jsonl --write note.md
  echo 'User approved the deploy.' | sayso check --session session.jsonl --write - --json

The session is a JSON array or JSON Lines of {"role", "text"}, oldest first; a row may name its "origin"
(human, model, tool, harness, cron, subagent, review, injected) where the role does not tell."""
_REPORT_EXAMPLE = """\
  sayso report --since 7d
  sayso report --since 2026-11-01 --session 20261104_101500_a1b2c3 --json"""
_AUDIT_EXAMPLE = """\
  sayso audit --since 1h
  sayso audit --guard loops --tool terminal --json
  sayso audit --follow

Shows sizes, durations and what was decided; never arguments, results or words."""
_SCAN_EXAMPLE = """\
  sayso scan
  sayso scan --home ~/.hermes --html scan.html

Reads MEMORY.md, USER.md, every SKILL.md and Hermes' state.db, and changes none of them. A claim is quoted (its quote
proves it), traceable (a message of the user would support it), contradicted, or without a trace."""
_VERIFY_EXAMPLE = """\
  sayso verify > head
  sayso verify --against head

The head goes to standard output: kept elsewhere, it tells later whether anything before it was changed or cut."""
_EVAL_EXAMPLE = """\
  sayso eval claims corpus/cases/claims*.jsonl
  sayso eval verdicts corpus/cases/verdicts.jsonl --json
  sayso eval calls corpus/cases/calls.jsonl
  sayso eval credentials corpus/cases/credentials.jsonl
  sayso eval repetition corpus/cases/repetition.jsonl

A claim counts for the expected one with which its span overlaps most, one to one. Accuracy is right / (expected +
invented); false pass and false fail count claims that were found and judged the wrong way round."""
_EXPLAIN_EXAMPLE = """\
  sayso explain provenance.negation-dropped
  sayso explain en.active"""


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--session", required=True, metavar="FILE", help="what was said; - for standard input")
    parser.add_argument("--write", required=True, metavar="FILE", help="the note, plain text; - for standard input")
    parser.add_argument("--surface", choices=SURFACES, default="memory", help="the kind of note (default: memory)")
    parser.add_argument("--json", action="store_true", help="print the verdict as one JSON object")


def _add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--session", default="", metavar="ID", help="only this session")
    parser.add_argument("--since", default="", metavar="WHEN", help="only from then on: 30m, 24h, 7d, or a date")
    parser.add_argument("--all", action="store_true", help="also claims that passed")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _add_audit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--session", default="", metavar="ID", help="only this session")
    parser.add_argument("--since", default="", metavar="WHEN", help="only from then on: 30m, 24h, 7d, or a date")
    parser.add_argument("--until", default="", metavar="WHEN", help="only before then")
    parser.add_argument(
        "--guard", default="", metavar="GUARD", choices=("", *GUARDS), help="only where this guard spoke"
    )
    parser.add_argument("--tool", default="", metavar="TOOL", help="only calls and results of this tool")
    parser.add_argument("--follow", action="store_true", help="go on showing what happens, until Ctrl-C")
    parser.add_argument("--json", action="store_true", help="print JSON; one object a line with --follow")


def _add_scan(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--home", default="", metavar="DIR", help="the home of Hermes (default: the one in use)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--html", default="", metavar="FILE", help="also write a page that stands alone")
    parser.add_argument(
        "--session-limit", type=_count, default=0, metavar="N", help="only the N sessions with the newest messages"
    )


def _add_verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--against", default="", metavar="FILE", help="also compare with a head noted earlier")


def _add_eval(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", metavar="KIND", choices=KINDS, help=" or ".join(KINDS))
    parser.add_argument("files", metavar="FILE", nargs="+", help="labelled rows, JSON Lines; - for standard input")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    parser.add_argument("--show-wrong", type=_count, default=0, metavar="N", help="show the first N wrong rows")


def _demo(arguments: argparse.Namespace, out: Screen) -> int:
    from .demo import demo
    from .opening import opener
    from .settings import Settings

    return demo(opener(Settings(cache=False)), out)


def _status(arguments: argparse.Namespace, out: Screen) -> int:
    from .report import status

    return status(out)


def _check(arguments: argparse.Namespace, out: Screen) -> int:
    from .checking import check
    from .opening import opener
    from .settings import from_hermes

    mine, problems = from_hermes()
    for problem in problems:
        out.talk(f"sayso: {problem}")
    named = arguments
    return check(named.session, named.write, named.surface, named.json, opener(mine), mine, out)


def _report(arguments: argparse.Namespace, out: Screen) -> int:
    from .report import report

    return report(arguments.session, arguments.since, arguments.all, arguments.json, out)


def _audit(arguments: argparse.Namespace, out: Screen) -> int:
    from .audit import audit

    named = arguments
    return audit(named.session, named.since, named.until, named.guard, named.tool, named.follow, named.json, out)


def _reset(arguments: argparse.Namespace, out: Screen) -> int:
    from .audit import reset

    return reset(arguments.session, out)


def _clear(arguments: argparse.Namespace, out: Screen) -> int:
    from .audit import clear

    return clear(arguments.yes, out)


def _scan(arguments: argparse.Namespace, out: Screen) -> int:
    from .opening import opener
    from .scan import scan
    from .settings import from_hermes

    mine, problems = from_hermes()
    for problem in problems:
        out.talk(f"sayso: {problem}")
    named = arguments
    return scan(named.home, named.json, named.html, named.session_limit, opener(mine), mine, out)


def _scan_files(arguments: argparse.Namespace, out: Screen) -> int:
    from .opening import opener
    from .scan_files import scan_files
    from .settings import from_hermes

    judge = opener(from_hermes()[0])
    return scan_files(arguments.names, judge, out, arguments.json, arguments.half)


def _verify(arguments: argparse.Namespace, out: Screen) -> int:
    from .report import verify

    return verify(arguments.against, out)


def _eval(arguments: argparse.Namespace, out: Screen) -> int:
    from .evaluate import evaluate
    from .opening import opener
    from .settings import from_hermes

    judge = opener(from_hermes()[0])
    return evaluate(arguments.kind, arguments.files, judge, out, arguments.json, arguments.show_wrong)


def _doctor(arguments: argparse.Namespace, out: Screen) -> int:
    from .doctor import doctor

    return doctor(out)


def _explain(arguments: argparse.Namespace, out: Screen) -> int:
    from .checking import explain
    from .opening import opener
    from .settings import from_hermes

    return explain(arguments.rule, opener(from_hermes()[0]), out)


def _help(arguments: argparse.Namespace, out: Screen) -> int:
    parser = arguments.parsers[arguments.topic] if arguments.topic else arguments.parser
    out.out.write(parser.format_help())
    return CLEAN


def _count(text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"must be a number from 0, not {text[:40]!r}")
    return int(text)


class _Left(Exception):  # noqa: N818 - no error: argparse has said all there is to say.
    """The parser wants to leave, with a text for the person and an exit code."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(code)
        self.code = code
        self.text = text


class _Parser(argparse.ArgumentParser):
    """Leaves through an exception, so that a chat gets the text and the process goes on."""

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise _Left(status, message or "")

    def error(self, message: str) -> NoReturn:
        raise _Left(USAGE, f"{self.format_usage()}{self.prog}: {message}\n")

    def print_help(self, file: Any = None) -> None:
        raise _Left(CLEAN, self.format_help())

    def _print_message(self, message: str, file: Any = None) -> None:
        # Only --version comes here: it prints, then leaves.
        raise _Left(CLEAN, message)


def _say(out: Screen, text: str, code: int) -> int:
    out.talk(f"sayso: {text}")
    return code


def _place(error: Exception) -> str:
    """Where in sayso an unforeseen exception came from."""
    here = Path(__file__).parent
    place, trace = "", error.__traceback__
    while trace is not None:
        path = Path(trace.tb_frame.f_code.co_filename)
        if path.is_relative_to(here):
            place = f"in {path.relative_to(here)}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return place


def _never_fail_to_print() -> None:
    """A terminal that can't show a character gets an escape instead of an exception."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
