"""How many records stand before a chunk: by that, turns and dialogues without names get the ones that `load` gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dialogauge.corpus.chunks.plan import Chunk
from dialogauge.corpus.reading.reader import system_name


def positions_before(chunks: Sequence[Chunk], taken: Sequence[Mapping[str, int]]) -> dict[int, dict[str, int]]:
    """For each chunk the positions of each system that the chunks before it take, in order. Those of the system that is
    named after a file start anew with it."""
    found: dict[int, dict[str, int]] = {}
    positions: dict[str, int] = {}
    file = None
    for chunk, own in zip(chunks, taken, strict=True):
        if chunk.file != file:
            file = chunk.file
            positions[system_name(chunk.path)] = 0
        found[chunk.number] = dict(positions)
        for system, count in own.items():
            positions[system] = positions.get(system, 0) + count
    return found
