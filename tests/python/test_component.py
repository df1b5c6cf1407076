"""The shipped component: what it imports (nothing), what it exports (the contract in `wit/`), and what it weighs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from wasmtime import Engine
from wasmtime.component import Component, ComponentInstanceType

WIT = Path(__file__).parents[2] / "wit"
PACKAGE = "sayso:engine/{}@0.1.0"
MOST_BYTES = 1 << 20


@pytest.fixture(scope="module")
def exported(component: bytes) -> dict[str, set[str]]:
    """The names that each exported interface holds."""
    engine = Engine()
    names = {}
    for interface, extern in Component(engine, component).type.exports(engine).items():
        assert isinstance(extern.ty, ComponentInstanceType), f"{interface} is not an interface"
        names[interface] = set(extern.ty.exports(engine))
    return names


def test_it_imports_nothing(component: bytes) -> None:
    engine = Engine()
    assert Component(engine, component).type.imports(engine) == {}


def test_it_exports_both_interfaces_and_no_more(exported: dict[str, set[str]]) -> None:
    assert set(exported) == {PACKAGE.format("types"), PACKAGE.format("guard")}


def test_a_session_has_the_three_verbs_and_load(exported: dict[str, set[str]]) -> None:
    functions = {name for name in exported[PACKAGE.format("guard")] if name.startswith("[")}
    assert functions == {"[constructor]session"} | {
        f"[method]session.{verb}" for verb in ("load", "capture", "check", "report")
    }


def test_its_types_are_those_of_the_contract(exported: dict[str, set[str]]) -> None:
    contract = (WIT / "types.wit").read_text("utf-8")
    declared = set(re.findall(r"^  (?:enum|record|variant|flags) %?([a-z-]+)", contract, re.MULTILINE))
    assert "verdict" in declared
    assert exported[PACKAGE.format("types")] == declared


def test_it_fits_the_catalogue(component: bytes) -> None:
    assert len(component) <= MOST_BYTES


def test_it_names_what_was_closed_and_nothing_else(component: bytes) -> None:
    # A panic's trap names the closed standard error: that is how the host tells it from a plain `unreachable`.
    assert re.search(rb"sealed wasi:cli/stderr@[0-9.]+#get-stderr", component)
    assert b"sayso_engine::" not in component
    assert not re.search(rb"_ZN\d+[a-z]|_RN[vM][A-Z]", component)


def test_it_holds_no_path_of_the_machine_that_built_it(component: bytes) -> None:
    for trace in (b".cargo/registry", b"registry/src/", b"lib/rustlib/src", b".rustup/", str(WIT.parent).encode()):
        assert trace not in component, trace
