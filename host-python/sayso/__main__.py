# ruff: noqa: N999 - the checker reads the name of the plugin folder here.
"""`python -m sayso`: the same as the command `sayso`."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
