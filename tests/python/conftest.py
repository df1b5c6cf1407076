"""What the tests of the host share: the packaged component, a hostile one, and settings of the tools."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import wasmtime
from hypothesis import HealthCheck, settings
from sayso.engine import Engine, EngineSession, packaged
from sayso.types import Event, Write

# The same examples in every run, and no limit on the time of one: a slow machine is not a failure.
settings.register_profile("sayso", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("sayso")


@pytest.fixture(scope="session")
def component() -> bytes:
    """The component as it is shipped."""
    return packaged().read_bytes()


@pytest.fixture(scope="session")
def engine(component: bytes) -> Engine:
    """The sandbox with the shipped component, compiled once for all tests."""
    return Engine(component)


@pytest.fixture(scope="session")
def hostile_component() -> bytes:
    """A component that does what it is told by the first byte of an event's id; see hostile/hostile.wat."""
    source = Path(__file__).with_name("hostile") / "hostile.wat"
    return bytes(wasmtime.wat2wasm(source.read_text("utf-8")))


@pytest.fixture(scope="session")
def hostile_engine(hostile_component: bytes) -> Engine:
    return Engine(hostile_component)


@pytest.fixture
def hostile(hostile_engine: Engine) -> EngineSession:
    """A session in the hostile component, with nothing stored."""
    return EngineSession(hostile_engine, "", "k" * 32, list)


@pytest.fixture(scope="session")
def written() -> Callable[..., Event]:
    """Makes the event of a memory write: `written(after, id=…)`."""

    def make(after: str, id: str = "x") -> Event:  # noqa: A002
        return Event(id, "session", 1, Write("memory", "MEMORY.md", "", after))

    return make
