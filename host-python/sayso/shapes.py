"""Carries values over the boundary of a component, with the shape of each type asked for once.

wasmtime-py asks the component for the shape of every type at every call: 0.7 ms for one event, more than the engine
needs to judge it. Here the shape is read once an engine, into objects that do the same work on plain Python values:
a record is a tuple of its fields in order, a variant is `(case, payload)`, a string is UTF-8 bytes on the way in and
`str` on the way out, an enum is its name. What crosses back is freed in one piece, so results can't leak.

The private parts of wasmtime-py that this file leans on are pinned with its version. The module is imported only
after `import wasmtime` has succeeded.
"""

from __future__ import annotations

import ctypes
from ctypes import byref
from typing import Any, Protocol

from wasmtime import Store, WasmtimeError, _ffi
from wasmtime.component import Func
from wasmtime.component import _types as given


class Shape(Protocol):
    """One type of the contract: writes a Python value into wasmtime's form of it, and reads it back.

    `write` is only given values that `sayso.crossing` has checked; a wrong one would leave half a value behind.
    """

    def write(self, value: Any, into: Any) -> None: ...

    def read(self, held: Any) -> Any: ...


def _put_bytes(value: bytes, vector: Any) -> None:
    _ffi.wasm_byte_vec_new_uninitialized(byref(vector), len(value))
    ctypes.memmove(vector.data, value, len(value))


def _take_text(vector: Any) -> str:
    return ctypes.string_at(vector.data, vector.size).decode("utf-8") if vector.size else ""


class Text:
    """`string`."""

    def write(self, value: bytes, into: Any) -> None:
        into.kind = _ffi.WASMTIME_COMPONENT_STRING
        _put_bytes(value, into.of.string)

    def read(self, held: Any) -> str:
        return _take_text(held.of.string)


class Name:
    """An enum, by the name of its case."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names

    def write(self, value: str, into: Any) -> None:
        into.kind = _ffi.WASMTIME_COMPONENT_ENUM
        _put_bytes(value.encode("ascii"), into.of.enumeration)

    def read(self, held: Any) -> str:
        return _take_text(held.of.enumeration)


class Count:
    """`u32` or `u64`."""

    def __init__(self, bits: int) -> None:
        self.kind = _ffi.WASMTIME_COMPONENT_U32 if bits == 32 else _ffi.WASMTIME_COMPONENT_U64
        self.slot = f"u{bits}"

    def write(self, value: int, into: Any) -> None:
        into.kind = self.kind
        setattr(into.of, self.slot, value)

    def read(self, held: Any) -> int:
        return int(getattr(held.of, self.slot))


class Fields:
    """A record, as a tuple of its fields in the order of the contract."""

    def __init__(self, fields: list[tuple[str, Shape]]) -> None:
        self.names = tuple(name for name, _ in fields)
        self.fields = [(name.encode("ascii"), shape) for name, shape in fields]

    def write(self, value: tuple[Any, ...], into: Any) -> None:
        record = into.of.record
        _ffi.wasmtime_component_valrecord_new_uninit(byref(record), len(self.fields))
        into.kind = _ffi.WASMTIME_COMPONENT_RECORD
        data = record.data
        for index, (name, shape) in enumerate(self.fields):
            entry = data[index]
            _put_bytes(name, entry.name)
            shape.write(value[index], entry.val)

    def read(self, held: Any) -> tuple[Any, ...]:
        data = held.of.record.data
        return tuple(shape.read(data[index].val) for index, (_, shape) in enumerate(self.fields))


class Row:
    """A list, as a tuple. Only ever read: a list of records is too slow to send."""

    def __init__(self, element: Shape) -> None:
        self.element = element

    def write(self, value: Any, into: Any) -> None:
        raise TypeError("the contract sends no lists")

    def read(self, held: Any) -> tuple[Any, ...]:
        held_list = held.of.list
        return tuple(self.element.read(held_list.data[index]) for index in range(held_list.size))


class Case:
    """A variant, as `(case, payload)`. Only ever sent: results hold no variants."""

    def __init__(self, cases: list[tuple[str, Shape]]) -> None:
        self.cases = dict(cases)

    def write(self, value: tuple[str, Any], into: Any) -> None:
        case, payload = value
        held = _ffi.wasmtime_component_val_t()
        self.cases[case].write(payload, held)
        into.kind = _ffi.WASMTIME_COMPONENT_VARIANT
        _put_bytes(case.encode("ascii"), into.of.variant.discriminant)
        into.of.variant.val = _ffi.wasmtime_component_val_new(byref(held))

    def read(self, held: Any) -> Any:
        raise TypeError("the contract answers with no variants")


def learn(kind: Any) -> Shape:
    """The shape of a type of the contract, asked for in full. Raises `TypeError` for a type it does not use."""
    if isinstance(kind, given.String):
        return Text()
    if isinstance(kind, given.U32 | given.U64):
        return Count(32 if isinstance(kind, given.U32) else 64)
    if isinstance(kind, given.EnumType):
        return Name(tuple(kind.names))
    if isinstance(kind, given.RecordType):
        return Fields([(name, learn(field)) for name, field in kind.fields])
    if isinstance(kind, given.ListType):
        return Row(learn(kind.element))
    if isinstance(kind, given.VariantType):
        return Case([(name, learn(payload)) for name, payload in kind.cases])
    raise TypeError(f"the contract has no {type(kind).__name__}")


class Method:
    """One method of the session resource: the shapes of its parameters after `self`, and of its result."""

    def __init__(self, function: Func, store: Store) -> None:
        kind = function.type(store)
        parameters = kind.params
        self.parameters = [learn(shape) for _, shape in parameters[1:]]
        self.result = learn(kind.result)
        # Handles have no shape of their own; this object knows how wasmtime-py wants one.
        self._handle = parameters[0][1]

    def call(self, function: Func, store: Store, handle: Any, *values: Any) -> Any:
        """Calls `function` of `store`. Raises `WasmtimeError` for a trap, after which the store is dead."""
        held = (_ffi.wasmtime_component_val_t * (1 + len(values)))()
        answer = _ffi.wasmtime_component_val_t()
        written = 0
        try:
            self._handle.convert_to_c(store, handle, ctypes.pointer(held[0]))
            written = 1
            for shape, value in zip(self.parameters, values, strict=True):
                shape.write(value, held[written])
                written += 1
            failure = _ffi.wasmtime_component_func_call(
                byref(function._func), store._context(), held, written, byref(answer), 1
            )
        finally:
            for index in range(written):
                _ffi.wasmtime_component_val_delete(byref(held[index]))
        if failure:
            raise WasmtimeError._from_ptr(failure)
        try:
            return self.result.read(answer)
        finally:
            _ffi.wasmtime_component_val_delete(byref(answer))
