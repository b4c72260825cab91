"""What the cache holds for one text: its key, and tokens or a vector as bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dialogauge.encode.base import Coverage, Pool, Text, Tokens, Vectors


class Output(NamedTuple):
    """What is wanted of a text: its tokens with their states, or one vector; after which layer."""

    kind: Pool | str
    layer: int


class Vector(NamedTuple):
    """One text's vector, how many of its tokens were cut off, and how many the vocabulary knows."""

    vector: Vectors
    dropped: int
    coverage: Coverage = Coverage()


Entry = Tokens | Vector
LAYOUT = 2
"""Of packed entries; goes into their keys, so that entries of another layout are never found."""
HEAD = 5


def keys(encoder: str, output: Output, texts: Iterable[Text]) -> list[bytes]:
    """128 bits for each text that name its vectors under an encoder. No text reads like a pair, and no two pairs
    alike, since the length of a pair's first text goes in."""
    start = hashlib.blake2b(f"{LAYOUT} {encoder} {output.kind} {output.layer}\n".encode(), digest_size=16)
    found = []
    for text in texts:
        hashed = start.copy()
        spelled = f"text {text}" if isinstance(text, str) else f"pair {len(text[0])} {text[0]}{text[1]}"
        hashed.update(spelled.encode("utf-8", "surrogatepass"))
        found.append(hashed.digest())
    return found


def size(entry: Entry) -> int:
    """Bytes in memory, with something for the objects themselves."""
    if isinstance(entry, Vector):
        return entry.vector.nbytes + 300
    return entry.states.nbytes + 13 * len(entry.ids) + 900


def pack(entry: Entry) -> bytes:
    """Numbers of 4 bytes, little-endian: how many tokens were cut, how many there are (-1 for a vector), the coverage,
    then ids, offsets, marks of special tokens, and the states."""
    if isinstance(entry, Vector):
        head = np.array([entry.dropped, -1, *entry.coverage], dtype="<i4")
        return head.tobytes() + entry.vector.astype("<f4").tobytes()
    whole = [[entry.dropped, len(entry.ids), *entry.coverage], entry.ids, entry.offsets.ravel(), entry.special]
    head = np.concatenate([np.asarray(part, dtype="<i4") for part in whole])
    return head.tobytes() + entry.states.astype("<f4").tobytes()


def unpack(data: bytes) -> Entry:
    numbers = np.frombuffer(data, dtype="<i4")
    dropped, count, tokens, unknown, illegible = numbers[:HEAD].tolist()
    coverage = Coverage(tokens, unknown, bool(illegible))
    values = np.frombuffer(data, dtype="<f4")
    if count < 0:
        return Vector(values[HEAD:], dropped, coverage)
    ids, offsets, special = np.split(numbers[HEAD : HEAD + 4 * count], [count, 3 * count])
    return Tokens(
        ids=ids,
        offsets=offsets.reshape(-1, 2),
        special=special.astype(np.bool_),
        states=values[HEAD + 4 * count :].reshape(count, -1) if count else np.zeros((0, 0), dtype=np.float32),
        dropped=dropped,
        coverage=coverage,
    )
