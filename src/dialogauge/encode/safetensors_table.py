"""The input embedding table of a Hugging Face encoder directory, read from its safetensors files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np

from dialogauge.corpus.quote import quote_all
from dialogauge.encode.base import Vectors
from dialogauge.encode.find import INDEX, WEIGHTS
from dialogauge.errors import InputError

_TABLE = re.compile(r"(?:.*\.)?word_embeddings?\.weight")
_LOOKED_FOR = "the table of input embeddings, …word_embeddings.weight or …word_embedding.weight"


def read_table(directory: Path) -> Vectors:
    """The table as 32-bit numbers, whatever it is stored as."""
    from safetensors import SafetensorError, safe_open

    file, name = _place(directory)
    try:
        with safe_open(file, framework="numpy") as tensors:
            found = [key for key in tensors.keys() if _TABLE.fullmatch(key)]  # noqa: SIM118, it is no dict
            name = name or _only(found, file)
            kind, shape = tensors.get_slice(name).get_dtype(), tensors.get_slice(name).get_shape()
            table = _bfloat16(file, name) if kind == "BF16" else tensors.get_tensor(name)
    except (SafetensorError, OSError) as error:
        raise InputError(f"cannot be read as safetensors: {error}", file) from None
    if len(shape) != 2 or kind not in ("F64", "F32", "F16", "BF16"):
        raise InputError(f"expected {_LOOKED_FOR} with two axes of floating-point numbers, found {kind} {shape}", file)
    return np.ascontiguousarray(table.reshape(shape), np.float32)


def _place(directory: Path) -> tuple[Path, str | None]:
    """The file that holds the table and, where an index says so, the table's name."""
    if (whole := directory / WEIGHTS).is_file():
        return whole, None
    index = directory / INDEX
    if not index.is_file():
        raise InputError(f"expected the weights of a model, {WEIGHTS} or {INDEX}; found neither", directory)
    try:
        files = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
        tables = {key: Path(file).name for key, file in files.items() if _TABLE.fullmatch(key)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"cannot be read as an index of weights: {error!r}", index) from None
    name = _only(list(tables), index)
    file = directory / tables[name]
    if not file.is_file():
        raise InputError(f"{INDEX} says that it holds {name}; there is no such file", file)
    return file, name


def _only(names: list[str], file: Path) -> str:
    if len(names) != 1:
        raise InputError(f"expected {_LOOKED_FOR}, found {quote_all(sorted(names)) or 'no such name'}", file)
    return names[0]


def _bfloat16(file: Path, name: str) -> Vectors:
    """NumPy has no bfloat16: it is the upper half of a 32-bit float. A safetensors file starts with the length of
    its JSON header in 8 bytes; the places given there count from the header's end."""
    with file.open("rb") as raw:
        length = int.from_bytes(raw.read(8), "little")
        start, end = json.loads(raw.read(length))[name]["data_offsets"]
        raw.seek(8 + length + start)
        halves = np.frombuffer(raw.read(end - start), "<u2")
    return (halves.astype(np.uint32) << 16).view(np.float32)
