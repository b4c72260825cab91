"""Texts as an encoder sees them: one vector each, or none where there is nothing to see."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dialogauge.encode.base import Coverage, Encoder, Pool
from dialogauge.metrics.base import Floats

ROUNDING = 1e-5
"""By so much, of its largest number, a vector may depend on what else is encoded."""


class Seen(NamedTuple):
    """A text as the encoder sees it."""

    vector: Floats | None
    """None where it is seen as an empty text is: without words, or without any that is known."""
    cut: bool
    coverage: Coverage
    """Illegible where the vector says nothing of the text."""


def see(
    encoder: Encoder, texts: Iterable[str], pool: Pool, layer: int | None = None, from_end: bool = False
) -> dict[str, Seen]:
    """Each text, without its end where it is too long, or without its beginning if it is read `from_end`."""
    distinct = list(dict.fromkeys(["", *texts]))
    found = encoder.pooled(distinct, pool, layer)
    vectors = found.vectors.astype(np.float64)
    long = np.flatnonzero(found.dropped)
    if from_end and len(long):
        shorter = [without_first(distinct[place], int(found.dropped[place])) for place in long]
        vectors[long] = encoder.pooled(shorter, pool, layer).vectors
    empty = vectors[0]
    silent = np.abs(vectors - empty).max(axis=1) <= ROUNDING * np.abs(empty).max()
    seen = {}
    for place, text in enumerate(distinct):
        tokens, unknown, illegible = found.coverage[place].tolist()
        coverage = Coverage(tokens, unknown, bool(illegible) and not silent[place])
        seen[text] = Seen(None if silent[place] else vectors[place], bool(found.dropped[place]), coverage)
    return seen


def without_first(text: str, tokens: int) -> str:
    """Without its first words, as many as the encoder found tokens too many: no word is less than a token. As it is
    where it has no more words than that, as in scripts without spaces."""
    return " ".join(text.split()[tokens:]) or text
