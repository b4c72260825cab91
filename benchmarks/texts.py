"""Turns for benchmarks: as many as wanted, no two texts alike."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dialogauge import Turn

LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))
WORDS = 8000
LONGEST = 19
BLOCK = 10_000


def distinct_turns(count: int, seed: int = 0) -> Iterator[Turn]:
    """Responses and references of 4 to 20 words, frequent words more often than rare ones, as in real text. The
    response shares about a fifth of its words with the reference. Each ends in its own number, so all texts differ."""
    rng = np.random.default_rng(seed)
    vocabulary = np.array(["".join(rng.choice(LETTERS, rng.integers(2, 9))) for _ in range(WORDS)])
    share = np.cumsum(1 / np.arange(10, WORDS + 10))
    for start in range(0, count, BLOCK):
        size = (min(BLOCK, count - start), LONGEST)
        references, others = (np.searchsorted(share, rng.random(size) * share[-1]) for _ in range(2))
        responses = np.where(rng.random(size) < 0.2, references, others)
        lengths = rng.integers(3, LONGEST + 1, size[0])
        for row, length in enumerate(lengths):
            number = start + row
            yield Turn(
                id=str(number),
                response=f"{' '.join(vocabulary[responses[row, :length]])} r{number}",
                context=(f"context {number}",),
                references=(f"{' '.join(vocabulary[references[row, :length]])} t{number}",),
                system="system",
            )
