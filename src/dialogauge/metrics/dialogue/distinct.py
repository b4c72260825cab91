"""distinct-1 and distinct-2 (Li et al. 2016): how much a system repeats itself across its responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat, InputError
from dialogauge.metrics.base import UNSIGNED, Floats, Summary, Values
from dialogauge.metrics.dialogue.id_sketch import IdSketch, at_one_threshold, once, unique, variance
from dialogauge.metrics.fitted import WordMetric
from dialogauge.text.splitters import AUTO, split_by

NgramIds = NDArray[np.uint64]
VOCABULARY = 30_522
"""Words to expect, where nobody says how many: as many as BERT's vocabulary has entries."""
ORDERS = 2
MOST = 2**19
"""So many n-grams of an order are kept of a system, each counted in all groups of units that have it: 4 MB."""
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
    """Number of turns, the distinct n-grams and how many n-grams there were, by order."""

    n: int
    kinds: tuple[IdSketch, ...]
    tokens: tuple[int, ...]

    def __add__(self, other: Vocabulary) -> Vocabulary:
        kinds = tuple(a + b for a, b in zip(self.kinds, other.kinds, strict=True))
        tokens = tuple(a + b for a, b in zip(self.tokens, other.tokens, strict=True))
        return Vocabulary(self.n + other.n, kinds, tokens)

    @property
    def types(self) -> tuple[float, ...]:
        """How many different n-grams there are, by order."""
        return tuple(kinds.count for kinds in self.kinds)


def word_rows(texts: Sequence[str], words: str = AUTO) -> WordRows:
    """`words` names a splitter."""
    split = split_by(words)
    rows = [[_word_id(word) for word in split(text)] for text in texts]
    starts = np.cumsum([0, *map(len, rows)])
    return WordRows(np.array([i for row in rows for i in row], dtype=np.uint64), starts)


def join_words(batches: Sequence[WordRows]) -> WordRows:
    """The rows of several batches."""
    lengths = [np.diff(batch.starts) for batch in batches]
    starts = np.concatenate(([0], np.cumsum(np.concatenate(lengths))))
    return WordRows(np.concatenate([batch.ids for batch in batches]), starts)


def distinct(texts: Sequence[str], order: int = 2, words: str = AUTO) -> float:
    """Distinct n-grams of order 1 or 2 divided by all n-grams of that order, over all texts together; NaN
    where there are none. It falls as texts are added: compare only samples of one size."""
    return float(Distinct().conclude(Distinct().summarise(word_rows(texts, words)))["" if order == 2 else "1"])


def expected_distinct(types: float, tokens: int, vocabulary: int = VOCABULARY) -> float:
    """N / (V (1 - (1 - 1/V)^C)): how many different words there are among C, by how many there would be if each were
    drawn from V words, all equally likely (Liu et al. 2022). Above 1 where there are more; NaN without words."""
    return types / -(vocabulary * np.expm1(tokens * np.log1p(-1 / vocabulary))) if tokens else np.nan


@dataclass(frozen=True)
class WordRowsMetric(WordMetric[WordRows, Summary]):
    """A metric of all words that a system says."""

    def measure(self, turns: Sequence[Turn]) -> WordRows:
        return word_rows([turn.response for turn in turns], self.words)

    def join(self, batches: Sequence[WordRows]) -> WordRows:
        return join_words(batches)

    def pack(self, measures: WordRows) -> dict[str, NDArray[Any]]:
        return {"ids": measures.ids, "starts": measures.starts}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> WordRows:
        return WordRows(arrays["ids"], arrays["starts"])


class LeftOut(NamedTuple):
    """Of n-grams of one order under one threshold: how many different ones there are, how many each group alone has,
    and the share of all that they are."""

    types: int
    alone: NDArray[np.int64]
    share: float


def _left_out(summaries: Sequence[Vocabulary], order: int) -> LeftOut:
    kinds = at_one_threshold([summary.kinds[order] for summary in summaries])
    return LeftOut(*once([sketch.ids for sketch in kinds]), kinds[0].share)


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
        return Vocabulary(len(measures), tuple(IdSketch(unique(ids)) for ids in orders), tuple(map(len, orders)))

    def bounded(self, summaries: Sequence[Vocabulary]) -> list[Vocabulary]:
        """Under one threshold for all of them, with no more than `MOST` n-grams of an order."""
        orders = [at_one_threshold([summary.kinds[order] for summary in summaries], MOST) for order in range(ORDERS)]
        return [replace(summary, kinds=tuple(kinds)) for summary, *kinds in zip(summaries, *orders, strict=True)]

    def leave_one_out(self, summaries: Sequence[Vocabulary]) -> list[Values]:
        """Without a group, the n-grams that only it has are gone: no set needs to be put together again."""
        orders = [_left_out(summaries, order) for order in range(ORDERS)]
        tokens = [sum(summary.tokens[order] for summary in summaries) for order in range(ORDERS)]
        return [
            self._shares(
                [(found.types - int(found.alone[place])) / found.share for found in orders],
                [tokens[order] - summary.tokens[order] for order in range(ORDERS)],
            )
            for place, summary in enumerate(summaries)
        ]

    def unseen_variance(self, summaries: Sequence[Vocabulary]) -> dict[str, float]:
        """Of a sketch, as far as it is due to n-grams of several groups. Those of one group alone make the values
        without a group differ, and so are in the jackknife's variance already."""
        orders = [_left_out(summaries, order) for order in range(ORDERS)]
        if all(found.share == 1 for found in orders):
            return {}
        tokens = [sum(summary.tokens[order] for summary in summaries) for order in range(ORDERS)]
        slopes = self._shares([1.0, 1.0], tokens)  # values are proportional to the number of different n-grams
        variances = [variance(found.types - int(found.alone.sum()), found.share) for found in orders]
        of_main = variances[0 if self.expected else 1]
        return {"": float(slopes[""]) ** 2 * of_main, "1": float(slopes["1"]) ** 2 * variances[0]}

    def conclude(self, summary: Vocabulary) -> Values:
        """A sketch may stand for more n-grams than there are in all."""
        types = [min(types, tokens) for types, tokens in zip(summary.types, summary.tokens, strict=True)]
        return self._shares(types, summary.tokens)

    def _shares(self, types: Sequence[float], tokens: Sequence[int]) -> Values:
        """From how many different n-grams there are by order, and how many in all."""
        unigrams, bigrams = (kinds / count if count else np.nan for kinds, count in zip(types, tokens, strict=True))
        return {
            "": expected_distinct(types[0], tokens[0], self.vocabulary) if self.expected else bigrams,
            "1": unigrams,
        }

    def caveats_of_systems(self, summaries: Mapping[str, Vocabulary], units: Mapping[str, int]) -> list[Caveat]:
        errors = [
            kinds.variance**0.5 / kinds.count
            for summary in summaries.values()
            for kinds in summary.kinds
            if kinds.share < 1 and kinds.count
        ]
        if not errors:
            return []
        message = (
            f"{self.label}: too many different n-grams to keep; they are counted by a random sketch of them, with a "
            f"standard error of up to {100 * max(errors):.2g} %, which intervals allow for"
        )
        return [Caveat("sketched", message)]

    def limits(self, part: str) -> tuple[float, float]:
        """There may be more different words than are expected."""
        return (0.0, np.inf) if self.expected and not part else self.bounds

    def recipe(self) -> dict[str, str]:
        return {
            **super().recipe(),
            **({"expected": "words", "vocabulary": str(self.vocabulary)} if self.expected else {}),
        }
