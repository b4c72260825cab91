"""Self-BLEU (Zhu et al. 2018): how much each of a system's responses is like any of its others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from dialogauge.metrics.base import Floats, Values
from dialogauge.metrics.dialogue.text_sample import SampledTexts, TextRows, TextSample
from dialogauge.metrics.fitted import FittedWay, PreparedFitted
from dialogauge.metrics.overlap.bleu import ORDERS, bleu_from_counts
from dialogauge.metrics.overlap.tokens import MTEVAL, TokenMetric, tokenize_by

if TYPE_CHECKING:
    from dialogauge.encode.encoders import Encoders

Ngram = tuple[str, ...]


@lru_cache(maxsize=1 << 14)
def _counts(text: str, tok: str) -> tuple[int, tuple[dict[Ngram, int], ...]]:
    """Tokens, and how often each n-gram occurs, by order."""
    tokens = tokenize_by(tok)(text)
    return len(tokens), tuple(
        Counter(zip(*(tokens[i:] for i in range(order)), strict=False)) for order in range(1, ORDERS + 1)
    )


def self_bleu(texts: Sequence[str], tok: str = MTEVAL) -> float:
    """The mean BLEU, 0 to 100, of each text with all others as its references, equal to sacreBLEU's for sentences; NaN
    for fewer than two texts. An empty text has BLEU 0, and counts."""
    if len(texts) < 2:
        return float("nan")
    lengths, counts = zip(*(_counts(text, tok) for text in texts), strict=True)
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
class SelfBleu(TokenMetric[TextRows, TextSample], SampledTexts):
    """Of a bounded sample of a system's responses."""

    name = "self_bleu"
    title = "n-grams that a response shares with the system's others, 0 to 100"
    citations = ("zhu2018texygen", "post2018call")
    higher_is_better = False
    bounds = (0.0, 100.0)
    limit = 500

    def open(self, encoders: Encoders, known: FittedWay | None) -> PreparedSelfBleu:
        self.filled(known).require()
        return PreparedSelfBleu(self, known)

    def conclude(self, summary: TextSample) -> Values:
        return {"": self_bleu(summary.texts, self.tok)}

    def pack(self, measures: TextRows) -> dict[str, NDArray[Any]]:
        known = {} if self.is_open else {"tok": np.frombuffer(self.tok.encode(), dtype=np.uint8)}
        return {**super().pack(measures), **known}

    def recall(self, arrays: Mapping[str, NDArray[Any]]) -> Self:
        known: Any = {"tok": arrays["tok"].tobytes().decode()} if self.is_open and "tok" in arrays else {}
        return replace(self, **known)

    def recipe(self) -> dict[str, str]:
        tokens, sample = super().recipe(), SampledTexts.recipe(self)
        return {**tokens, "smooth": "exp", "order": str(ORDERS), **sample}


@dataclass(frozen=True)
class PreparedSelfBleu(PreparedFitted[TextRows, TextSample]):
    """Texts are cut up once all of them are there: what concludes must know how."""

    asked: SelfBleu

    @property
    def metric(self) -> SelfBleu:
        return self.asked.filled(self.known)
