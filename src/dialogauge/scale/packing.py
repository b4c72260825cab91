"""What metrics noted, as JSON and arrays: what other processes wrote is read without a pickle, so that no code in it
could run. Classes are named; only data classes of ours, or of the metrics' own modules, are made again."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.reading.columns import Columns
from dialogauge.corpus.reading.reader import Reading
from dialogauge.corpus.reading.remote import input_path
from dialogauge.corpus.turn import NOTHING
from dialogauge.errors import InputError

OURS = ("corpus.", "encode.", "errors", "evaluation.", "learned.", "metrics.", "stats.", "text.")
"""Where the classes are that a run notes. Nothing else is imported: to import `dialogauge.__main__` is to run it."""
WITH_ATTRIBUTES = (Reading, Columns)
"""Classes that are no data classes, and whose attributes are all there is to them."""
Arrays = dict[str, NDArray[Any]]


@dataclass
class Packer:
    """Writes values as JSON can hold them; arrays of one type stand one after another in one array."""

    _parts: dict[str, list[NDArray[Any]]] = field(default_factory=dict)
    _sizes: dict[str, int] = field(default_factory=dict)

    def arrays(self) -> Arrays:
        return {kind: np.concatenate(parts) for kind, parts in self._parts.items()}

    def pack(self, value: Any) -> Any:
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if kind is list:
            return [self.pack(each) for each in value]
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, np.generic):
            return {"number": self._array(np.asarray(value))}
        if isinstance(value, Path):
            return {"path": str(value)}
        if value is NOTHING:
            return {"nothing": True}
        if isinstance(value, InputError):
            return {"error": [self.pack(each) for each in (value.message, value.path, value.line)]}
        if kind in (tuple, set, frozenset):
            return {kind.__name__: [self.pack(each) for each in value]}
        if kind in (dict, Counter):
            return self._mapping(value)
        return self._object(value)

    def _array(self, array: NDArray[Any]) -> dict[str, Any]:
        if array.dtype == object:
            return {"objects": [self.pack(each) for each in array.ravel()], "shape": list(array.shape)}
        kind = array.dtype.str
        start = self._sizes.get(kind, 0)
        self._parts.setdefault(kind, []).append(array.ravel())
        self._sizes[kind] = start + array.size
        return {"array": kind, "start": start, "shape": list(array.shape)}

    def _mapping(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        name = type(value).__name__
        if len(value) > 1 and all(type(each) is int and 0 <= each < 1 << 64 for item in value.items() for each in item):
            return {
                "ints": [self._array(np.array(list(part), np.uint64)) for part in (value, value.values())],
                "as": name,
            }
        return {name: [[self.pack(key), self.pack(each)] for key, each in value.items()]}

    def _object(self, value: Any) -> dict[str, Any]:
        kind = type(value)
        named = {"class": f"{kind.__module__}:{kind.__qualname__}"}
        if hasattr(kind, "_fields"):
            return {**named, "items": [self.pack(each) for each in value]}
        if is_dataclass(value):
            return {**named, "fields": {each.name: self.pack(getattr(value, each.name)) for each in fields(value)}}
        if isinstance(value, WITH_ATTRIBUTES):
            return {**named, "fields": {name: self.pack(each) for name, each in vars(value).items()}}
        raise InputError(
            f"a {kind.__module__}.{kind.__qualname__} cannot be kept in a shard: expected data classes, named tuples,"
            " arrays, numbers and texts"
        )


@dataclass(frozen=True)
class Unpacker:
    """Makes the values again. ValueError, KeyError and the like where they are not as we wrote them."""

    arrays: Mapping[str, NDArray[Any]]
    modules: Collection[str] = ()
    """Of metrics that are not ours, whose data classes may be made, too."""

    def unpack(self, packed: Any) -> Any:
        if isinstance(packed, list):
            return [self.unpack(each) for each in packed]
        if not isinstance(packed, dict):
            return packed
        if "class" in packed:
            return self._object(packed)
        name = next(iter(packed))
        if name not in MAKERS:
            raise ValueError(f"holds {name!r}, which is nothing of ours")
        return MAKERS[name](self, packed)

    def _object(self, packed: Mapping[str, Any]) -> Any:
        kind = self._class(packed["class"])
        if hasattr(kind, "_fields"):
            return kind(*map(self.unpack, packed["items"]))
        made = object.__new__(kind)
        names = {each.name for each in fields(kind)} if is_dataclass(kind) else packed["fields"].keys()
        if packed["fields"].keys() != names:
            raise ValueError(f"{packed['class']} has other fields")
        for name, value in packed["fields"].items():
            object.__setattr__(made, name, self.unpack(value))
        return made

    def _class(self, named: str) -> Any:
        module, _, name = named.partition(":")
        if not module.startswith(tuple(f"dialogauge.{each}" for each in OURS)) and module not in self.modules:
            raise ValueError(f"{named} is no class of ours")
        kind = getattr(import_module(module), name, None)
        if not isinstance(kind, type) or kind.__module__ != module:
            raise ValueError(f"{named} is no class of ours")
        if not (is_dataclass(kind) or hasattr(kind, "_fields") or kind in WITH_ATTRIBUTES):
            raise ValueError(f"{named} is no data class")
        return kind


def _array(unpacker: Unpacker, packed: Mapping[str, Any]) -> NDArray[Any]:
    shape = tuple(packed["shape"])
    size, start = math.prod(shape), packed["start"]
    found = unpacker.arrays[packed["array"]]
    if min(start, *shape, 0) < 0 or start + size > len(found):
        raise ValueError(f"an array of shape {shape} stands where there is none")
    return found[start : start + size].reshape(shape)


def _objects(unpacker: Unpacker, packed: Mapping[str, Any]) -> NDArray[Any]:
    made = np.empty(len(packed["objects"]), dtype=object)
    made[:] = [unpacker.unpack(each) for each in packed["objects"]]
    return made.reshape(packed["shape"])


def _ints(unpacker: Unpacker, packed: Mapping[str, Any]) -> Any:
    keys, values = (unpacker.unpack(part).tolist() for part in packed["ints"])
    kind = {"dict": dict, "Counter": Counter}[packed["as"]]
    return kind(zip(keys, values, strict=True))


def _collection(kind: Callable[[Any], Any]) -> Callable[[Unpacker, Mapping[str, Any]], Any]:
    return lambda unpacker, packed: kind([unpacker.unpack(each) for each in packed[kind.__name__]])


def _mapping(kind: Callable[[Any], Any]) -> Callable[[Unpacker, Mapping[str, Any]], Any]:
    return lambda unpacker, packed: kind(
        {unpacker.unpack(key): unpacker.unpack(value) for key, value in packed[kind.__name__]}
    )


MAKERS: dict[str, Callable[[Unpacker, Mapping[str, Any]], Any]] = {
    "array": _array,
    "objects": _objects,
    "ints": _ints,
    "float": lambda _, packed: float(packed["float"]),
    "number": lambda unpacker, packed: unpacker.unpack(packed["number"])[()],
    "path": lambda _, packed: input_path(packed["path"]),
    "nothing": lambda _, __: NOTHING,
    "error": lambda unpacker, packed: InputError(*map(unpacker.unpack, packed["error"])),
    **{kind.__name__: _collection(kind) for kind in (tuple, set, frozenset)},
    **{kind.__name__: _mapping(kind) for kind in (dict, Counter)},
}
"""By the first name that a packed value has."""
