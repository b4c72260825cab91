"""How often the intervals of sketched `distinct` hold the value that exact sets would be expected to have.

    python benchmarks/sketch.py [DRAWS]

Every draw is another sample of replies, with other hashes of the words, so that the sketch differs too. Both sketched
and exact intervals should hold in 95 %; without the variance that leaving out groups does not show they would not.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from typing import Literal, get_args

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from dialogauge.evaluation.sample import jackknife
from dialogauge.metrics.base import Floats
from dialogauge.metrics.dialogue import distinct
from dialogauge.metrics.dialogue.distinct import Distinct, Vocabulary, WordRows
from dialogauge.stats.resampling import GROUPS, Jackknife
from dialogauge.tables import Cell, Header, Table, to_text

Kind = Literal["replies", "stock replies", "dialogues"]
KINDS: tuple[Kind, ...] = get_args(Kind)
TURNS = 20_000
LENGTH = 10
WORDS = 40_000
STOCK = 3000
OF_DIALOGUE = 5
TOPIC = 40
PARTS = {"distinct": "", "distinct.1": "1"}


@dataclass(frozen=True)
class Job:
    """Of one draw: how replies come about, and how many n-grams of an order are kept of all groups together."""

    kind: Kind
    most: int
    seed: int


def words_of(kind: Kind, rng: np.random.Generator) -> NDArray[np.int64]:
    """The numbers of words of replies of one length, frequent words first. Half of `stock replies` are drawn from a
    short list, most often the first; a word of `dialogues` is as often one of its topic's."""
    share = np.cumsum(1 / np.arange(3, WORDS + 3))
    words: NDArray[np.int64] = np.searchsorted(share, rng.random((TURNS, LENGTH)) * share[-1])
    if kind == "stock replies":
        same = np.random.default_rng(1)
        stock = np.searchsorted(share, same.random((STOCK, LENGTH)) * share[-1])
        often = np.cumsum(1 / np.arange(1, STOCK + 1))
        chosen = stock[np.searchsorted(often, rng.random(TURNS) * often[-1])]
        return np.where(rng.random(TURNS)[:, None] < 0.5, chosen, words)
    if kind == "dialogues":
        topics = rng.integers(0, WORDS, (TURNS // OF_DIALOGUE, TOPIC)).repeat(OF_DIALOGUE, axis=0)
        of_topic = np.take_along_axis(topics, rng.integers(0, TOPIC, words.shape), axis=1)
        return np.where(rng.random(words.shape) < 0.5, of_topic, words)
    return words


def groups_of(job: Job) -> tuple[list[Vocabulary], NDArray[np.int64]]:
    """The exact summary of each group of units, and how many units each has."""
    rng = np.random.default_rng([job.seed, KINDS.index(job.kind)])
    words = words_of(job.kind, rng)
    hashes = rng.integers(0, 2**64, WORDS, dtype=np.uint64)
    size = OF_DIALOGUE if job.kind == "dialogues" else 1
    units = rng.integers(0, GROUPS, TURNS // size)
    rows = WordRows(hashes[words].ravel(), np.arange(0, TURNS * LENGTH + 1, LENGTH))
    members = units.repeat(size)
    summaries = [Distinct().summarise(rows[np.flatnonzero(members == group)]) for group in range(GROUPS)]
    return summaries, np.bincount(units, minlength=GROUPS)


def statistics(groups: list[Vocabulary], sizes: NDArray[np.int64]) -> dict[str, Jackknife]:
    total = groups[0]
    for group in groups[1:]:
        total = total + group
    return jackknife(Distinct(), total, groups, sizes)


def one(job: Job) -> list[tuple[float, ...]]:
    """For each part the exact value; interval of the exact sets, of the sketch, and of the sketch without what is
    unseen; the sketched value."""
    distinct.MOST = job.most
    groups, sizes = groups_of(job)
    exact, sketched = statistics(groups, sizes), statistics(Distinct().bounded(groups), sizes)
    return [
        (
            exact[part].value,
            *exact[part].interval(0.95),
            *sketched[part].interval(0.95),
            *sketched[part]._replace(unseen=0.0).interval(0.95),
            sketched[part].value,
        )
        for part in PARTS.values()
    ]


def holding(found: Floats) -> tuple[Floats, float]:
    """How often the three intervals hold the mean of the exact values, and the relative error of the sketch."""
    expected = found[:, 0].mean()
    held = [float(((found[:, place] <= expected) & (expected <= found[:, place + 1])).mean()) for place in (1, 3, 5)]
    return np.array(held), float(np.std(found[:, 7] - found[:, 0]) / expected)


def settings() -> Iterator[tuple[Kind, int]]:
    return product(KINDS, (2**16, 2**13))


def main() -> None:
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    rows = []
    with ProcessPoolExecutor() as pool:
        for kind, most in settings():
            found = np.array(list(pool.map(one, [Job(kind, most, seed) for seed in range(draws)])))
            for place, name in enumerate(PARTS):
                held, error = holding(found[:, place])
                shown = [f"{100 * share:.1f} %" for share in held]
                rows.append([kind, f"{most:,}", name, f"{100 * error:.2f} %", *shown])
    names = ("replies", "kept", "value", "error of the sketch", "exact", "sketched", "without unseen variance")
    notes = [f"{draws} draws of {TURNS:,} replies of {LENGTH} words; kept: n-grams of an order in {GROUPS} groups"]
    print(to_text(Table([Header(name) for name in names], [[Cell(text) for text in row] for row in rows], notes)))


if __name__ == "__main__":
    main()
