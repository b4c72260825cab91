"""distinct-1 and distinct-2 (Li et al. 2016): how much a system repeats itself across its responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError
from dialogauge.metrics.base import UNSIGNED, Floats, Summary, Values
from dialogauge.metrics.prepared import PlainMetric
from dialogauge.text.words import RECIPE, words

NgramIds = NDArray[np.uint64]
VOCABULARY = 30_522
"""Words to expect, where nobody says how many: as many as BERT's vocabulary has entries."""
FIRST, SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


@lru_cache(maxsize=2**17)
def _word_id(word: str) -> int:
    """64 bits of a hash: the same in every process, so that summaries of different workers merge. Two
    of 10 million n-grams collide with probability 3e-6."""
    return int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


@dataclass(frozen=True)
class WordRows:
    """The word ids of each turn: row i is `ids[starts[i]:starts[i + 1]]`."""

    ids: NgramIds
    starts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, index: Any) -> WordRows:
        rows = np.arange(len(self))[index]
        lengths = np.diff(self.starts)[rows]
        starts = np.concatenate(([0], np.cumsum(lengths)))
        places = np.repeat(self.starts[rows] - starts[:-1], lengths) + np.arange(starts[-1])
        return WordRows(self.ids[places], starts)

    def bigrams(self) -> NgramIds:
        """Ids of the pairs of neighbours within a row."""
        pairs = self.ids[:-1] * FIRST + self.ids[1:] * SECOND
        crossing = self.starts[1:-1] - 1
        inside = np.ones(len(pairs), dtype=bool)
        inside[crossing[(crossing >= 0) & (crossing < len(pairs))]] = False
        return pairs[inside]


@dataclass(frozen=True)
class Vocabulary:
    """Number of turns, the distinct n-grams (sorted ids) and how many n-grams there were, by order."""

    n: int
    ids: tuple[NgramIds, ...]
    tokens: tuple[int, ...]

    def __add__(self, other: Vocabulary) -> Vocabulary:
        ids = tuple(_unique(np.concatenate(pair)) for pair in zip(self.ids, other.ids, strict=True))
        tokens = tuple(a + b for a, b in zip(self.tokens, other.tokens, strict=True))
        return Vocabulary(self.n + other.n, ids, tokens)

    @property
    def types(self) -> tuple[int, ...]:
        return tuple(map(len, self.ids))


def _unique(ids: NgramIds) -> NgramIds:
    """Sorted, each once. (NumPy's own `unique` hashes, which is slow for millions of ids.)"""
    ids = np.sort(ids)
    return ids[np.concatenate(([True], ids[1:] != ids[:-1]))] if len(ids) else ids


def _once(groups: Sequence[NgramIds]) -> tuple[int, NDArray[np.int64]]:
    """How many different ids there are, and for each group how many of its ids no other group has. A group has each
    of its ids once."""
    ids = np.concatenate(groups)
    if not len(ids):
        return 0, np.zeros(len(groups), dtype=np.int64)
    group = np.repeat(np.arange(len(groups)), [len(part) for part in groups])
    order = np.argsort(ids)
    ids = ids[order]
    differs = np.concatenate(([True], ids[1:] != ids[:-1], [True]))
    once = np.bincount(group[order][differs[1:] & differs[:-1]], minlength=len(groups))
    return int(np.count_nonzero(differs[:-1])), once


def word_rows(texts: Sequence[str]) -> WordRows:
    rows = [[_word_id(word) for word in words(text)] for text in texts]
    starts = np.cumsum([0, *map(len, rows)])
    return WordRows(np.array([i for row in rows for i in row], dtype=np.uint64), starts)


def join_words(batches: Sequence[WordRows]) -> WordRows:
    """The rows of several batches."""
    lengths = [np.diff(batch.starts) for batch in batches]
    starts = np.concatenate(([0], np.cumsum(np.concatenate(lengths))))
    return WordRows(np.concatenate([batch.ids for batch in batches]), starts)


def distinct(texts: Sequence[str], order: int = 2) -> float:
    """Distinct n-grams of order 1 or 2 divided by all n-grams of that order, over all texts together; NaN
    where there are none. It falls as texts are added: compare only samples of one size."""
    return float(Distinct().conclude(Distinct().summarise(word_rows(texts)))["" if order == 2 else "1"])


def expected_distinct(types: int, tokens: int, vocabulary: int = VOCABULARY) -> float:
    """N / (V (1 - (1 - 1/V)^C)): how many different words there are among C, by how many there would be if each were
    drawn from V words, all equally likely (Liu et al. 2022). Above 1 where there are more; NaN without words."""
    return types / -(vocabulary * np.expm1(tokens * np.log1p(-1 / vocabulary))) if tokens else np.nan


class WordRowsMetric(PlainMetric[WordRows, Summary]):
    """A metric of all words that a system says."""

    def measure(self, turns: Sequence[Turn]) -> WordRows:
        return word_rows([turn.response for turn in turns])

    def join(self, batches: Sequence[WordRows]) -> WordRows:
        return join_words(batches)

    def pack(self, measures: WordRows) -> dict[str, NDArray[Any]]:
        return {"ids": measures.ids, "starts": measures.starts}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> WordRows:
        return WordRows(arrays["ids"], arrays["starts"])


@dataclass(frozen=True)
class Distinct(WordRowsMetric[Vocabulary]):
    """Intervals come from the jackknife: a bootstrap sample repeats turns and so looks less diverse. With `expected`,
    the main value is `expected_distinct` of words (Liu et al. 2022)."""

    name = "distinct"
    title = "share of different bigrams in all responses"
    citations = ("li2016diversity",)
    higher_is_better = True
    bounds = (0.0, 1.0)
    resampling = "jackknife"
    parts = ("1",)
    main = "2"

    expected: bool = field(default=False, metadata=UNSIGNED)
    """Whether the main value is that of words, by how many different ones are to be expected."""
    vocabulary: int = field(default=VOCABULARY, metadata=UNSIGNED)
    """Of how many words, where they are `expected`."""

    def __post_init__(self) -> None:
        if self.vocabulary < 2:
            raise InputError(f"vocabulary of distinct: expected 2 words or more, found {self.vocabulary}")
        if self.vocabulary != VOCABULARY and not self.expected:
            raise InputError("distinct: vocabulary is of no use without expected=true; leave it out")

    def summarise(self, measures: WordRows, weights: Floats | None = None) -> Vocabulary:
        if weights is not None:
            measures = measures[np.repeat(np.arange(len(measures)), weights.astype(np.int64))]
        orders = (measures.ids, measures.bigrams())
        return Vocabulary(len(measures), tuple(map(_unique, orders)), tuple(map(len, orders)))

    def leave_one_out(self, summaries: Sequence[Vocabulary]) -> list[Values]:
        """Without a group, the n-grams that only it has are gone: no set needs to be put together again."""
        types, once = zip(*(_once([summary.ids[order] for summary in summaries]) for order in range(2)), strict=True)
        tokens = [sum(summary.tokens[order] for summary in summaries) for order in range(2)]
        return [
            self._shares(
                [int(types[order] - once[order][place]) for order in range(2)],
                [tokens[order] - summary.tokens[order] for order in range(2)],
            )
            for place, summary in enumerate(summaries)
        ]

    def conclude(self, summary: Vocabulary) -> Values:
        return self._shares(summary.types, summary.tokens)

    def _shares(self, types: Sequence[int], tokens: Sequence[int]) -> Values:
        """From how many different n-grams there are by order, and how many in all."""
        unigrams, bigrams = (kinds / count if count else np.nan for kinds, count in zip(types, tokens, strict=True))
        return {
            "": expected_distinct(types[0], tokens[0], self.vocabulary) if self.expected else bigrams,
            "1": unigrams,
        }

    def limits(self, part: str) -> tuple[float, float]:
        """There may be more different words than are expected."""
        return (0.0, np.inf) if self.expected and not part else self.bounds

    def recipe(self) -> dict[str, str]:
        return {**RECIPE, **({"expected": "words", "vocabulary": str(self.vocabulary)} if self.expected else {})}
