"""Entropy of n-grams (Zhang et al. 2018): how evenly a system uses its words over all its responses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dialogauge.errors import InputError
from dialogauge.metrics.base import Floats, Values
from dialogauge.metrics.dialogue.distinct import FIRST, SECOND, NgramIds, WordRows, WordRowsMetric, word_rows


@dataclass(frozen=True)
class Frequencies:
    """Number of turns, the different n-grams (sorted ids) and how often each occurs."""

    n: int
    ids: NgramIds
    counts: NDArray[np.int64]

    def __add__(self, other: Frequencies) -> Frequencies:
        return counted(
            self.n + other.n,
            np.concatenate([self.ids, other.ids]),
            np.concatenate([self.counts, other.counts]),
        )


def counted(n: int, ids: NgramIds, counts: NDArray[np.int64]) -> Frequencies:
    """Equal ids as one."""
    order = np.argsort(ids, kind="stable")
    ids, counts = ids[order], counts[order]
    first = np.ones(len(ids), dtype=np.bool_)
    first[1:] = ids[1:] != ids[:-1]
    starts = np.flatnonzero(first)
    return Frequencies(n, ids[starts], np.add.reduceat(counts, starts) if len(starts) else counts)


def ngram_ids(rows: WordRows, n: int) -> NgramIds:
    """Ids of all n-grams that lie within a row."""
    length = len(rows.ids) - n + 1
    if length <= 0:
        return rows.ids[:0]
    ids = rows.ids[:length]
    for place in range(1, n):
        ids = ids * FIRST + rows.ids[place : place + length] * SECOND
    row = np.repeat(np.arange(len(rows)), np.diff(rows.starts))
    within: NgramIds = ids[row[:length] == row[n - 1 :]]
    return within


def entropy(texts: Sequence[str], n: int = 2) -> float:
    """-Σ p log p over the n-grams of all texts together, in nats; NaN where there are none."""
    metric = Entropy(n)
    return float(metric.conclude(metric.summarise(word_rows(texts)))[""])


def _entropy(total: float, weighted: float) -> float:
    """Of a number of n-grams and the sum of c log c over their counts c."""
    return float(max(0.0, np.log(total) - weighted / total)) if total else float("nan")


def _c_log_c(counts: NDArray[np.int64]) -> Floats:
    return np.asarray(counts * np.log(np.maximum(counts, 1)), np.float64)


@dataclass(frozen=True)
class Entropy(WordRowsMetric[Frequencies]):
    """Intervals come from the jackknife: a bootstrap sample repeats turns and so looks less even."""

    name = "entropy"
    title = "entropy of the bigrams of all responses, in nats"
    citations = ("zhang2018generating",)
    higher_is_better = True
    bounds = (0.0, np.inf)
    resampling = "jackknife"

    n: int = 2

    def __post_init__(self) -> None:
        if self.n < 1:
            raise InputError(f"n of entropy: expected 1 or more, found {self.n}")

    def summarise(self, measures: WordRows, weights: Floats | None = None) -> Frequencies:
        if weights is not None:
            measures = measures[np.repeat(np.arange(len(measures)), weights.astype(np.int64))]
        ids = ngram_ids(measures, self.n)
        return counted(len(measures), ids, np.ones(len(ids), dtype=np.int64))

    def leave_one_out(self, summaries: Sequence[Frequencies]) -> list[Values]:
        """Without a group, only the counts of its own n-grams change."""
        whole = counted(
            sum(summary.n for summary in summaries),
            np.concatenate([summary.ids for summary in summaries]),
            np.concatenate([summary.counts for summary in summaries]),
        )
        total, weighted = int(whole.counts.sum()), float(_c_log_c(whole.counts).sum())
        values: list[Values] = []
        for summary in summaries:
            own = whole.counts[np.searchsorted(whole.ids, summary.ids)]
            less = float((_c_log_c(own) - _c_log_c(own - summary.counts)).sum())
            values.append({"": _entropy(total - int(summary.counts.sum()), weighted - less)})
        return values

    def conclude(self, summary: Frequencies) -> Values:
        return {"": _entropy(int(summary.counts.sum()), float(_c_log_c(summary.counts).sum()))}
