"""pass@k and pass^k: the chance that of k answers to one context at least one, or every one, is good enough."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat, InputError
from dialogauge.metrics.base import Floats, Learned, Values
from dialogauge.metrics.bounded_sample import random_key
from dialogauge.metrics.dialogue.length import Column, NumericFields, number_of
from dialogauge.metrics.prepared import PlainMetric

if TYPE_CHECKING:
    from dialogauge.encode.encoders import Encoders

Keys = NDArray[np.uint64]


@dataclass(frozen=True)
class PassRows:
    """Of each turn a hash of what it answers, and whether it passes: 1, 0, or NaN where nothing says so."""

    keys: Keys
    passed: Floats

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, index: Any) -> PassRows:
        return PassRows(self.keys[index], self.passed[index])


@dataclass(frozen=True)
class Passes:
    """How many answers each context has, and how many of them pass."""

    n: int
    keys: Keys
    """Sorted, each once."""
    answers: NDArray[np.int64]
    passed: NDArray[np.int64]

    @classmethod
    def counted(cls, keys: Keys, answers: NDArray[np.int64], passed: NDArray[np.int64]) -> Passes:
        known, places = np.unique(keys, return_inverse=True)
        sums = [np.bincount(places, counts, minlength=len(known)).astype(np.int64) for counts in (answers, passed)]
        return cls(int(answers.sum()), known, *sums)

    def __add__(self, other: Passes) -> Passes:
        return self.counted(
            np.concatenate([self.keys, other.keys]),
            np.concatenate([self.answers, other.answers]),
            np.concatenate([self.passed, other.passed]),
        )


def pass_at_k(answers: NDArray[np.int64], passed: NDArray[np.int64], k: int) -> tuple[Floats, Floats]:
    """The chance that of k answers, drawn from those of a context without putting any back, at least one passes,
    1 - C(n - c, k) / C(n, k) (Chen et al. 2021), and that all do, C(c, k) / C(n, k) (Yao et al. 2024). NaN where
    there are fewer than k answers."""
    none, every = np.ones(len(answers)), np.ones(len(answers))
    for drawn in range(k):
        left = np.maximum(answers - drawn, 1)
        none *= np.maximum(answers - passed - drawn, 0) / left
        every *= np.maximum(passed - drawn, 0) / left
    few = answers < k
    return np.where(few, np.nan, 1 - none), np.where(few, np.nan, every)


def _answered(turn: Turn) -> tuple[Any, ...]:
    """What answers to one context have in common; a turn without a context stands for itself."""
    return turn.dialogue, turn.context or turn.id


@dataclass(frozen=True)
class PassK(PlainMetric[PassRows, Passes]):
    """The mean over contexts of both chances, from a numeric extra field of k or more turns that answer the same
    context. Intervals come from the jackknife: a bootstrap sample would repeat answers."""

    name = "pass_k"
    title = "chance that of k answers to a context at least one passes a threshold"
    citations = ("chen2021evaluating", "yao2024tau")
    higher_is_better = True
    bounds = (0.0, 1.0)
    resampling = "jackknife"
    parts = ("all",)
    main = "any"

    column: str = field(default="", metadata={"option": "name"})
    k: int = 1
    threshold: float = 0.5
    """From which number on an answer passes."""

    def __post_init__(self) -> None:
        if not 1 <= self.k <= 1000:
            raise InputError(f"k of pass_k: expected a number from 1 to 1000, found {self.k}")

    @property
    def grows(self) -> bool:
        """A mean over contexts, unbiased for any number of answers."""
        return False

    def survey(self, turns: Iterable[Turn], beside_real: bool = False) -> NumericFields:
        return Column(self.column).survey(turns, beside_real)

    def learn(
        self, surveyed: NumericFields, encoders: Encoders, real: Corpus | None = None
    ) -> Learned[PassRows, Passes]:
        """Nothing, but that there is such a field."""
        surveyed.require(self.column, self.name)
        return Learned(self)

    def measure(self, turns: Sequence[Turn]) -> PassRows:
        values = [number_of(turn.extra.get(self.column)) for turn in turns]
        passed = [np.nan if value is None else float(value >= self.threshold) for value in values]
        keys = [int.from_bytes(random_key(_answered(turn)), "little") for turn in turns]
        return PassRows(np.array(keys, dtype=np.uint64), np.array(passed, dtype=np.float64))

    def defined(self, measures: PassRows) -> NDArray[np.bool_]:
        return ~np.isnan(measures.passed)

    def join(self, batches: Sequence[PassRows]) -> PassRows:
        passed = np.concatenate([batch.passed for batch in batches])
        return PassRows(np.concatenate([batch.keys for batch in batches]), passed)

    def pack(self, measures: PassRows) -> dict[str, NDArray[Any]]:
        return {"keys": measures.keys, "passed": measures.passed}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> PassRows:
        return PassRows(arrays["keys"], arrays["passed"])

    def summarise(self, measures: PassRows, weights: Floats | None = None) -> Passes:
        times = np.ones(len(measures)) if weights is None else weights
        known = self.defined(measures)
        answers, passed = times[known], times[known] * measures.passed[known]
        return Passes.counted(measures.keys[known], answers.astype(np.int64), passed.astype(np.int64))

    def conclude(self, summary: Passes) -> Values:
        one, every = pass_at_k(summary.answers, summary.passed, self.k)
        known = ~np.isnan(one)
        if not known.any():
            return {"": np.nan, "all": np.nan}
        return {"": float(one[known].mean()), "all": float(every[known].mean())}

    def caveats(self, summary: Passes) -> list[Caveat]:
        few = int((summary.answers < self.k).sum())
        if not few:
            return []
        message = f"{self.label}: {few} of {len(summary.keys)} contexts have fewer than {self.k} answers"
        return [Caveat("few_answers", f"{message} with a value, and are left out")]
