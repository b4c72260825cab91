"""How often the two-sample tests call equal systems on dialogues of their own different, and how often unequal ones.

    python benchmarks/two_sample_level.py [SIMULATIONS]

The first should be 5 %. Dialogues have one to nine turns that depend on each other, and skewed scores. `distinct` is
cut to the size of the smaller system before it is tested.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dialogauge.evaluation.options import Settings
from dialogauge.evaluation.pairs import two_sample_test
from dialogauge.evaluation.sample import Sample
from dialogauge.metrics.base import AnyMetric
from dialogauge.metrics.dialogue.distinct import Distinct, WordRows
from dialogauge.metrics.dialogue.length import Column
from dialogauge.metrics.overlap.bleu import Bleu
from dialogauge.tables import Cell, Header, Table, to_text

PERMUTATIONS = 499
WORDS = 3000


class Group(NamedTuple):
    """What one system is drawn from."""

    dialogues: int
    spread: float = 1.0
    longer: float = 1.0
    """By how much more turns its dialogues have."""
    wordier: int = 1
    """By how much longer its replies are."""
    shift: float = 0.0


def mean(group: Group, rng: np.random.Generator) -> Sample:
    """Scores that are a dialogue's part and a turn's, both exponential."""
    dialogue, turns = _dialogues(group, rng)
    shared = rng.exponential(size=group.dialogues) - 1
    values = 1 + group.shift + group.spread * (shared[dialogue] + rng.exponential(size=turns) - 1)
    return _sample(Column(column="v"), values[:, None], dialogue)


def bleu(group: Group, rng: np.random.Generator) -> Sample:
    """Counts of matched n-grams, with a quality for each dialogue."""
    dialogue, turns = _dialogues(group, rng)
    lengths = group.wordier * rng.integers(5, 20, size=turns)
    quality = rng.beta(2 / group.spread, 3 / group.spread, size=group.dialogues)[dialogue] * (1 + group.shift)
    totals = np.stack([lengths - order for order in range(4)], axis=1)
    matches = rng.binomial(totals, np.minimum(quality, 1)[:, None] * [1.0, 0.6, 0.4, 0.3])
    rows = np.column_stack([matches, totals, lengths, lengths]).astype(np.float64)
    return _sample(Bleu(), rows, dialogue)


def distinct(group: Group, rng: np.random.Generator) -> Sample:
    """Words by Zipf's law, a third of them from the few that a dialogue is about."""
    dialogue, turns = _dialogues(group, rng)
    lengths = rng.integers(5, 15, size=turns)
    of_turn = np.repeat(np.arange(turns), lengths)
    vocabulary = int(WORDS * (1 - group.shift))
    odds = 1 / np.arange(1, vocabulary + 1)
    common = rng.choice(vocabulary, size=len(of_turn), p=odds / odds.sum())
    topics = rng.integers(vocabulary, size=(group.dialogues, 5))
    about = topics[dialogue[of_turn], rng.integers(5, size=len(of_turn))]
    ids = np.where(rng.random(len(of_turn)) < 1 / 3, about, common).astype(np.uint64)
    return _sample(Distinct(), WordRows(ids, np.concatenate(([0], np.cumsum(lengths)))), dialogue)


def _dialogues(group: Group, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """The dialogue of each turn, and the number of turns."""
    lengths = np.ceil(group.longer * rng.integers(1, 10, size=group.dialogues)).astype(int)
    return np.repeat(np.arange(group.dialogues), lengths), int(lengths.sum())


def _sample(metric: AnyMetric, rows: object, dialogue: np.ndarray) -> Sample:
    units = dialogue.astype(np.uint64)
    return Sample(metric.label, "s", metric, len(units), "", units, metric.summarise(rows), rows)


SIZES = ((30, 30), (30, 60), (30, 300))
CASES: list[tuple[str, str, Callable[[Group, np.random.Generator], Sample], Group, Group]] = [
    *(("mean", "equal", mean, Group(n), Group(m)) for n, m in SIZES),
    *(("mean", "first spread twice as much", mean, Group(n, 2), Group(m)) for n, m in SIZES),
    *(("mean", "second spread twice as much", mean, Group(n), Group(m, 2)) for n, m in SIZES[1:]),
    *(("mean", "first dialogues twice as long", mean, Group(n, 1, 2), Group(m)) for n, m in SIZES),
    ("mean", "worse by 0.4 spreads of a turn", mean, Group(60), Group(60, shift=-0.4 * 2**0.5)),
    *(("bleu", "equal", bleu, Group(n), Group(m)) for n, m in SIZES),
    *(("bleu", "first replies twice as long", bleu, Group(n, wordier=2), Group(m)) for n, m in SIZES),
    ("bleu", "matches 15 % less", bleu, Group(60), Group(60, shift=-0.15)),
    *(("distinct", "equal", distinct, Group(n), Group(m)) for n, m in SIZES),
    ("distinct", "a vocabulary smaller by 40 %", distinct, Group(60), Group(60, shift=0.4)),
]


def main() -> None:
    simulations = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    headers = [Header("metric", align="left"), Header("systems", align="left"), Header("dialogues")]
    headers += [Header("test", align="left"), Header("rejected at 5 %"), Header("intervals without 0")]
    rows = []
    for place, (metric, what, draw, first, second) in enumerate(CASES):
        rng = np.random.default_rng([2026, place])
        rejected = missed = 0
        for seed in range(simulations):
            found = two_sample_test(draw(first, rng), draw(second, rng), "", Settings(seed=seed), PERMUTATIONS)
            rejected += found.p <= 0.05
            missed += not found.interval.low <= 0 <= found.interval.high
        shares = [f"{count / simulations:.1%}" for count in (rejected, missed)]
        sizes = f"{first.dialogues} and {second.dialogues}"
        rows.append([Cell(text) for text in (metric, what, sizes, found.test, *shares)])
        print(f"{place + 1} of {len(CASES)}", file=sys.stderr)
    error = np.sqrt(0.05 * 0.95 / simulations)
    note = (
        f"{simulations} simulations, {PERMUTATIONS} permutations; the standard error of a share of 5 % is {error:.1%}"
    )
    print(to_text(Table(headers, rows, [note])))


if __name__ == "__main__":
    main()
