"""An engine that counts the sandbox's instructions: the same numbers on every machine, however busy it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar
from unittest import mock

from sayso import engine as host
from sayso.compiled import configuration

if TYPE_CHECKING:
    from wasmtime import Store

_Answer = TypeVar("_Answer")

#: More than any call may take.
_TANK = 1 << 50


class FuelledEngine(host.Engine):
    """The engine, with the fuel that its last call took in `spent`. About 10^9 a second on a quiet machine of 2024."""

    spent = 0

    def call(self, guest_store: Store, call: Callable[[], _Answer]) -> _Answer:
        guest_store.set_fuel(_TANK)
        answer = super().call(guest_store, call)
        self.spent = _TANK - guest_store.get_fuel()
        return answer


@contextmanager
def fuelled(component: bytes) -> Iterator[FuelledEngine]:
    """The component in a sandbox that counts. Calls may take a minute: what is measured here is not time."""
    counting = {**configuration(), "consume_fuel": True}
    with (
        mock.patch.object(host, "configuration", return_value=counting),
        mock.patch.object(host, "CALL_SECONDS_MAX", 60.0),
    ):
        yield FuelledEngine(component)
