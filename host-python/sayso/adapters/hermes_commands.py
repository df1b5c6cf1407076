"""`hermes sayso …` and `/sayso …`: the same command line as `sayso …`, handed over word for word."""

from __future__ import annotations

import argparse
import io
import shlex
from typing import Any, NoReturn

HELP = "what sayso found, its ledger and its settings"


def add_commands(ctx: Any) -> None:
    """Registers both. Nothing of the command line is imported before somebody uses it."""
    ctx.register_cli_command("sayso", HELP, _set_up, _run, HELP)
    ctx.register_command("sayso", _slash, description=HELP, args_hint="status | report | explain RULE")


def _set_up(parser: argparse.ArgumentParser) -> None:
    # Every word is sayso's own, also those that begin with a dash: without prefix characters they are plain words.
    parser.prefix_chars = "\0"
    parser.add_argument("words", nargs=argparse.REMAINDER, help="see `hermes sayso help`")


def _run(arguments: argparse.Namespace) -> NoReturn:
    from ..cli import main

    raise SystemExit(main(list(arguments.words)))


def _slash(raw: str = "") -> str:
    """Runs the command and gives its output as text; it is answered without the model."""
    from ..cli import main

    try:
        words = shlex.split(raw or "")
    except ValueError as error:
        return f"sayso: {error}"
    output = io.StringIO()
    main(words or ["status"], output)
    return output.getvalue().strip()
