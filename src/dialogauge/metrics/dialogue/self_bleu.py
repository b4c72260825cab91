"""Self-BLEU (Zhu et al. 2018): how much each of a system's responses is like any of its others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dialogauge.metrics.base import Floats, Values
from dialogauge.metrics.dialogue.text_sample import SampledTexts, TextSample
from dialogauge.metrics.overlap.bleu import ORDERS, bleu_from_counts, tokenize_13a

Ngram = tuple[str, ...]


@lru_cache(maxsize=1 << 14)
def _counts(text: str) -> tuple[int, tuple[dict[Ngram, int], ...]]:
    """Tokens, and how often each n-gram occurs, by order."""
    tokens = tokenize_13a(text)
    return len(tokens), tuple(
        Counter(zip(*(tokens[i:] for i in range(order)), strict=False)) for order in range(1, ORDERS + 1)
    )


def self_bleu(texts: Sequence[str]) -> float:
    """The mean BLEU, 0 to 100, of each text with all others as its references, equal to sacreBLEU's for sentences; NaN
    for fewer than two texts. An empty text has BLEU 0, and counts."""
    if len(texts) < 2:
        return float("nan")
    lengths, counts = zip(*map(_counts, texts), strict=True)
    tables = [_two_largest([count[order] for count in counts]) for order in range(ORDERS)]
    nearest = _nearest(np.array(lengths))
    rows = np.zeros((len(texts), 2 * ORDERS + 2))
    for place, (length, count) in enumerate(zip(lengths, counts, strict=True)):
        for order, table in enumerate(tables):
            rows[place, order] = sum(
                min(times, table[ngram][1] if table[ngram][2] == place else table[ngram][0])
                for ngram, times in count[order].items()
            )
            rows[place, ORDERS + order] = max(length - order, 0)
        rows[place, -2:] = length, nearest[place]
    return float(bleu_from_counts(rows, effective_order=True).mean())


def _two_largest(counts: Sequence[dict[Ngram, int]]) -> dict[Ngram, tuple[int, int, int]]:
    """Of each n-gram the largest count in a text, the next largest in another, and the place of the first: what any
    text finds in the others."""
    table: dict[Ngram, tuple[int, int, int]] = {}
    for place, count in enumerate(counts):
        for ngram, times in count.items():
            largest, next_largest, owner = table.get(ngram, (0, 0, -1))
            if times > largest:
                table[ngram] = times, largest, place
            elif times > next_largest:
                table[ngram] = largest, times, owner
    return table


def _nearest(lengths: NDArray[np.int64]) -> Floats:
    """For each text the length of the other that is nearest in length, the shorter of two equally near."""
    order = np.argsort(lengths, kind="stable")
    ordered = lengths[order].astype(np.float64)
    before = np.concatenate(([-np.inf], ordered[:-1]))
    after = np.concatenate((ordered[1:], [np.inf]))
    nearest = np.empty(len(lengths))
    nearest[order] = np.where(ordered - before <= after - ordered, before, after)
    return nearest


@dataclass(frozen=True)
class SelfBleu(SampledTexts):
    """Of a bounded sample of a system's responses."""

    name = "self_bleu"
    title = "n-grams that a response shares with the system's others, 0 to 100"
    citations = ("zhu2018texygen", "post2018call")
    higher_is_better = False
    bounds = (0.0, 100.0)
    limit = 500

    def conclude(self, summary: TextSample) -> Values:
        return {"": self_bleu(summary.texts)}

    def recipe(self) -> dict[str, str]:
        return {"tok": "13a", "smooth": "exp", "order": str(ORDERS), **super().recipe()}
