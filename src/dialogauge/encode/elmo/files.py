"""A directory of ELMo's weights in AllenNLP's layout, `options.json` and `weights.hdf5`: what stands in it, checked."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

import numpy as np

from dialogauge.encode.base import Vectors
from dialogauge.encode.find import file_sha256
from dialogauge.encode.model_files import read_json, refuse_odd_files
from dialogauge.errors import InputError, MissingPackage, check_whole
from dialogauge.files import expanded

OPTIONS, WEIGHTS = "options.json", "weights.hdf5"
ALPHABET = 261
"""Bytes, beginning and end of a text, beginning and end of a word, padding: each has a row of `char_embed`."""
LARGEST = 2**16
"""Of each size; ELMo's largest is 4096."""
MOST_LAYERS = 16
UNPACKED = 4
"""Times its own size, a file may hold so many bytes: weights hardly get smaller by compression."""
FILTERS = {None, "gzip", "lzf", "szip"}
"""Compression that comes with the library; for any other it would look for plug-ins."""
PURPOSE = "the encoder elmo"


@dataclass(frozen=True)
class ElmoShape:
    """What options.json says of the network."""

    letter: int
    """Numbers of a letter's vector."""
    longest: int
    """Letters of a word, with the marks of its beginning and end; the rest of a longer one is not read."""
    filters: tuple[tuple[int, int], ...]
    """Of the convolution: how many letters each sees, and how many there are of it."""
    highways: int
    activation: str
    cell: int
    projection: int
    layers: int
    """Of the LSTM; the words themselves are one more, layer 0."""
    cell_clip: float | None
    projection_clip: float | None
    skip: bool
    """Whether the input of every LSTM layer but the first is added to its output."""

    @property
    def width(self) -> int:
        """Of a word's vector: forward and backward."""
        return 2 * self.projection

    @property
    def letters_width(self) -> int:
        return sum(number for _, number in self.filters)

    def tensors(self) -> dict[str, tuple[int, ...]]:
        """Names in the file, with their shapes. Columns of W_0 and B are the gates in the order of TensorFlow: input,
        candidate, forget, output."""
        total, inner = self.letters_width, self.projection
        shapes: dict[str, tuple[int, ...]] = {"char_embed": (ALPHABET, self.letter)}
        for number, (seen, count) in enumerate(self.filters):
            shapes[f"CNN/W_cnn_{number}"] = (1, seen, self.letter, count)
            shapes[f"CNN/b_cnn_{number}"] = (count,)
        for number in range(self.highways):
            for gate in ("carry", "transform"):
                shapes[f"CNN_high_{number}/W_{gate}"] = (total, total)
                shapes[f"CNN_high_{number}/b_{gate}"] = (total,)
        shapes |= {"CNN_proj/W_proj": (total, inner), "CNN_proj/b_proj": (inner,)}
        for direction in range(2):
            for layer in range(self.layers):
                cell = cell_name(direction, layer)
                shapes[f"{cell}/W_0"] = (2 * inner, 4 * self.cell)
                shapes[f"{cell}/B"] = (4 * self.cell,)
                shapes[f"{cell}/W_P_0"] = (self.cell, inner)
        return shapes


def cell_name(direction: int, layer: int) -> str:
    return f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"


@dataclass(frozen=True)
class ElmoFiles:
    """Nothing of the weights is read before `read`, but their hash."""

    directory: Path
    shape: ElmoShape

    @cached_property
    def digest(self) -> str:
        """Of everything that could change a vector."""
        parts = [f"{name} {file_sha256(self.directory / name)}" for name in (OPTIONS, WEIGHTS)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @property
    def identity(self) -> str:
        return f"{self.directory.name}@{self.digest[:8]}"

    def read(self) -> dict[str, Vectors]:
        """All weights, as 32-bit numbers. No dataset is read whose shape is not the one that the options ask for."""
        file = self.directory / WEIGHTS
        wanted = self.shape.tensors()
        numbers = sum(math.prod(shape) for shape in wanted.values())
        size = file.stat().st_size
        if 4 * numbers > UNPACKED * size:
            raise InputError(f"is too small for the network of {OPTIONS}: {size:,} bytes, {numbers:,} numbers", file)
        with _opened(file) as stored:
            found = {name: _read(stored, name, shape, file) for name, shape in wanted.items()}
            if f"RNN_0/RNN/MultiRNNCell/Cell{self.shape.layers}" in stored:
                raise InputError(f"has more layers than {OPTIONS} says: {self.shape.layers}", file)
        return found


def find_elmo(name: str) -> ElmoFiles:
    """The directory with that name, its options read and its weights there."""
    directory = expanded(name)
    if not name or not directory.is_dir():
        raise InputError(f"no ELMo {name!r}: expected a directory with {OPTIONS} and {WEIGHTS} (elmo:DIRECTORY)")
    for package, extra in (("torch", "neural"), ("h5py", "elmo")):
        if find_spec(package) is None:
            raise MissingPackage(package, extra, PURPOSE)
    refuse_odd_files(directory)
    directory = directory.resolve()
    shape = _shape(read_json(directory / OPTIONS), directory / OPTIONS)
    if not (directory / WEIGHTS).is_file():
        others = ", ".join(sorted(file.name for file in directory.glob("*.hdf5") if file.is_file())) or "none"
        raise InputError(f"is not there as a file; other HDF5 files beside it: {others}", directory / WEIGHTS)
    return ElmoFiles(directory, shape)


def _shape(options: Mapping[str, Any], file: Path) -> ElmoShape:
    letters, lstm = _section(options, "char_cnn", file), _section(options, "lstm", file)
    longest = _size(letters, "max_characters_per_token", file, 3)
    filters = letters.get("filters")
    if not isinstance(filters, list) or not filters or not all(isinstance(one, list) for one in filters):
        raise InputError(f"filters: expected a list of [letters, filters], found {shortened(filters)}", file)
    for one in filters:
        if len(one) != 2:
            raise InputError(f"filters: expected pairs of numbers, found {shortened(one)}", file)
        check_whole("filters, letters", one[0], 1, longest, file)
        check_whole("filters, number", one[1], 1, LARGEST, file)
    activation = letters.get("activation")
    if activation not in ("relu", "tanh"):
        raise InputError(f"activation: expected relu or tanh, found {shortened(activation)}", file)
    skip = lstm.get("use_skip_connections")
    if not isinstance(skip, bool):
        raise InputError(f"use_skip_connections: expected true or false, found {shortened(skip)}", file)
    return ElmoShape(
        letter=_size(_section(letters, "embedding", file), "dim", file),
        longest=longest,
        filters=tuple((int(seen), int(number)) for seen, number in filters),
        highways=_size(letters, "n_highway", file, 0, MOST_LAYERS),
        activation=activation,
        cell=_size(lstm, "dim", file),
        projection=_size(lstm, "projection_dim", file),
        layers=_size(lstm, "n_layers", file, 1, MOST_LAYERS),
        cell_clip=_clip(lstm, "cell_clip", file),
        projection_clip=_clip(lstm, "proj_clip", file),
        skip=skip,
    )


def _section(options: Mapping[str, Any], name: str, file: Path) -> Mapping[str, Any]:
    found = options.get(name)
    if not isinstance(found, dict):
        raise InputError(f"{name}: expected an object, found {shortened(found)}: these are no options of ELMo", file)
    return found


def _size(options: Mapping[str, Any], name: str, file: Path, least: int = 1, most: int = LARGEST) -> int:
    check_whole(name, options.get(name), least, most, file)
    return int(options[name])


def _clip(options: Mapping[str, Any], name: str, file: Path) -> float | None:
    """None where nothing is clipped."""
    found = options.get(name)
    if not found and not isinstance(found, str | list | dict):
        return None
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 < found < math.inf:
        raise InputError(f"{name}: expected a number above 0, found {shortened(found)}", file)
    return float(found)


@contextmanager
def _opened(file: Path) -> Iterator[Any]:
    """The library answers odd files with exceptions of many kinds."""
    import h5py

    try:
        with h5py.File(file, "r", locking="best-effort") as stored:
            yield stored
    except InputError:
        raise
    except (OSError, KeyError, RuntimeError, TypeError, ValueError, MemoryError) as error:
        raise InputError(f"cannot be read as HDF5: {' '.join(str(error).split())}", file) from error


def _read(stored: Any, name: str, shape: tuple[int, ...], file: Path) -> Vectors:
    import h5py

    dataset = _found(stored, name, file)
    if not isinstance(dataset, h5py.Dataset):
        raise InputError(f"{name}: expected numbers of the shape {shape}, found a group", file)
    if dataset.shape != shape:
        raise InputError(f"{name}: expected the shape {shape} by {OPTIONS}, found {dataset.shape}", file)
    if dataset.dtype.kind != "f":
        raise InputError(f"{name}: expected floating-point numbers, found {dataset.dtype}", file)
    if dataset.external or dataset.is_virtual or dataset.compression not in FILTERS:
        raise InputError(f"{name}: expected plain numbers, found them in another file, or packed by a plug-in", file)
    values: Vectors = np.asarray(dataset[...], np.float32)
    if not np.isfinite(values).all():
        raise InputError(f"{name}: has numbers that are not finite: the weights are damaged", file)
    return values


def _found(stored: Any, name: str, file: Path) -> Any:
    """Step by step, so that no link is followed to another file."""
    import h5py

    place = stored
    for part in name.split("/"):
        link = place.get(part, getlink=True) if isinstance(place, h5py.Group) else None
        if link is None:
            raise InputError(f"lacks {name}: these are no weights of ELMo, or not those of its {OPTIONS}", file)
        if not isinstance(link, h5py.HardLink):
            raise InputError(f"{name}: expected numbers in this file, found a link", file)
        place = place[part]
    return place
