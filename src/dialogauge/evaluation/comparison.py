"""Systems against each other: every pair under every metric, and the forms this can take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from string import ascii_lowercase
from typing import Any

from dialogauge import tables
from dialogauge.corpus.corpus import SourceFile
from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat, InputError
from dialogauge.evaluation.answer import Answer
from dialogauge.evaluation.digits import format_estimates
from dialogauge.evaluation.exchanges import exchanges_wanted
from dialogauge.evaluation.forms import Citation, CitationKeys, ScoreForms, cite, corpus_record, find
from dialogauge.evaluation.options import Settings
from dialogauge.evaluation.pairs import ALPHA, Pair, holm
from dialogauge.evaluation.result import (
    BETTER,
    Score,
    column_signatures,
    decimals_of_scores,
    interval_notes,
    intervals_in_words,
    score_panels,
)
from dialogauge.evaluation.sample import Sample
from dialogauge.evaluation.units import enough
from dialogauge.tables.forest import ForestPanel

SCHEMA = "dialogauge.comparison/1"
PAIRS_SHOWN = 30
CITED: dict[str, CitationKeys] = {
    "randomisation": ("noreen1989computer",),
    "permutation": ("chung2013exact",),
    "welch": ("welch1947generalization",),
}


@dataclass(frozen=True, repr=False)
class Comparison(ScoreForms):
    """What `compare` gives: the scores, and every pair of systems under every metric.

    Examples:
        >>> import dialogauge
        >>> comparison = dialogauge.compare("examples/everyday.jsonl", "rouge_l", systems=["good", "dull"])
        >>> comparison.to_frame()[["first", "second", "better"]].values.tolist()
        [['good', 'dull', 'good']]
    """

    pairs: list[Pair]
    scores: list[Score]
    columns: list[str]
    systems: dict[str, int]
    files: tuple[SourceFile, ...]
    caveats: list[Caveat]
    settings: Settings
    unit: str
    baselines: dict[str, str]
    """For a system the one it must not fall behind."""
    answer: Answer | None = None
    """Which system is ahead; where the default set was measured, and every pair compared."""
    samples: list[Sample] = field(default_factory=list)
    """What the metrics noted, turn by turn."""
    texts: Iterable[Turn] | None = None
    """The turns that were compared, as `Result.texts`; of runs, those that they keep."""

    def pair(self, first: str, second: str, metric: str) -> Pair:
        """The pair of two systems under one metric, in the order in which it was compared."""
        mine = {(pair.first, pair.second): pair for pair in self.pairs if pair.metric == metric}
        if (first, second) in mine:
            return mine[first, second]
        for system in (first, second):
            self._score(system, metric)
        turned = f"; ask for {second!r} and {first!r}" if (second, first) in mine else ""
        raise InputError(f"{first!r} and {second!r} are not compared under {metric!r} in this order{turned}")

    def beats(self, system: str, metric: str) -> list[str]:
        """The systems that this one is better than, after correction."""
        self._score(system, metric)
        found = [pair for pair in self.pairs if pair.metric == metric and pair.better == system]
        beaten = {pair.second if pair.first == system else pair.first for pair in found}
        return [other for other in self.systems if other in beaten]

    def against_baselines(self, metric: str) -> list[Pair]:
        """Each system that has a baseline with it, the baseline first, corrected for these pairs alone."""
        both_ways = [way for pair in self.pairs if pair.metric == metric for way in (pair, pair.turned())]
        guarded = [pair for pair in both_ways if self.baselines.get(pair.second) == pair.first]
        return holm(guarded, self._score(next(iter(self.systems)), metric).higher_is_better)

    def to_records(self) -> list[dict[str, Any]]:
        """One per pair and metric."""
        return [asdict(pair) for pair in self.pairs]

    def to_dict(self) -> dict[str, Any]:
        """What `--format json` prints."""
        return {
            "schema": SCHEMA,
            "corpus": corpus_record(self.systems, self.files),
            "settings": {**asdict(self.settings), "unit": self.unit, "alpha": ALPHA},
            **({"answer": self.answer.to_dict()} if self.answer else {}),
            "scores": [asdict(score) for score in self.scores],
            "pairs": self.to_records(),
            "warnings": [asdict(caveat) for caveat in self.caveats],
        }

    def citation(self) -> Citation:
        """How the systems were compared, in words for a paper, with BibTeX."""
        return cite("Scores", column_signatures(self), [intervals_in_words(self), self._tests_in_words()])

    def to_table(self, digits: int | None = None, *, intervals: bool = False) -> tables.Table:
        """The scores, each with the marks of the systems it beats and, where asked for, its interval."""
        marks = dict(zip(self.systems, _marks(len(self.systems)), strict=True))
        headers = [tables.Header("", align="left"), tables.Header("system", align="left")]
        columns = []
        for metric in self.columns:
            scores = self._scores(metric)
            texts = format_estimates(
                [(score.value, score.low, score.high) for score in scores], self._decimals(metric, digits)
            )
            headers.append(tables.Header(metric, BETTER[scores[0].higher_is_better]))
            beaten = [" ".join(marks[other] for other in self.beats(score.system, metric)) for score in scores]
            columns.append(
                [
                    tables.Cell(value, interval if intervals else "", raised=letters)
                    for (value, interval), letters in zip(texts, beaten, strict=True)
                ]
            )
        names = [[tables.Cell(marks[system]), tables.Cell(system)] for system in self.systems]
        rows = [[*name, *cells] for name, *cells in zip(names, *columns, strict=True)]
        notes = [*(interval_notes(self) if intervals else []), *self._notes()]
        return tables.Table(headers, rows, notes, "comparison")

    def pairs_table(self, digits: int | None = None) -> tables.Table:
        """One row per pair: the difference with its interval, the test, the effect. Differences have as many decimals
        as the scores they are of."""
        names = ("metric", "first", "second", "difference", "p", "p (Holm)", "effect", self.unit, "better")
        headers = [
            tables.Header(name, align="left" if place < 3 else "right", spare=name in ("p", self.unit))
            for place, name in enumerate(names)
        ]
        rows = []
        for metric in self.columns:
            mine = [pair for pair in self.pairs if pair.metric == metric]
            texts = format_estimates(
                [(pair.difference, pair.low, pair.high) for pair in mine], self._decimals(metric, digits)
            )
            rows += [_pair_row(pair, tables.Cell(*text)) for pair, text in zip(mine, texts, strict=True)]
        return tables.Table(headers, rows)

    def all_tables(self, digits: int | None = None) -> list[tables.Table]:
        """The scores and, where they are few, the pairs; CSV and JSON have them all."""
        return [self.to_table(digits), *([self.pairs_table(digits)] if len(self.pairs) <= PAIRS_SHOWN else [])]

    def latex_tables(self, digits: int | None = None) -> list[tables.Table]:
        """One table with scores, intervals and the letters of the tests."""
        return [self.to_table(digits, intervals=True)]

    def forest_panels(self) -> list[ForestPanel]:
        return score_panels(self)

    def _scores(self, metric: str) -> list[Score]:
        return [self._score(system, metric) for system in self.systems]

    def _decimals(self, metric: str, digits: int | None) -> int:
        return decimals_of_scores(self._scores(metric)) if digits is None else digits

    def _score(self, system: str, metric: str) -> Score:
        return find(self.scores, system=system, metric=metric)

    def _tests(self, paired: bool) -> dict[str, str]:
        """The tests of the pairs that are paired or that are not, each with how it was done."""
        draws, seed = exchanges_wanted(len(self.systems), self.settings), self.settings.seed
        beside = "" if paired else ", against the same real conversations"
        ways = {
            "randomisation": f"approximate randomisation ({draws} exchanges, seed {seed})",
            "permutation": f"studentised permutation ({draws} permutations, seed {seed})",
            "welch": "Welch's test on the jackknife of each system",
            "jackknife": f"jackknife of the difference{beside}",
        }
        used = {pair.test for pair in self.pairs if pair.paired == paired}
        return {test: how for test, how in ways.items() if test in used}

    def _tests_in_words(self) -> list[str | CitationKeys]:
        pieces: list[str | CitationKeys] = []
        for paired, start in ((True, f"in pairs over {self.unit}"), (False, f"over {self.unit} of their own")):
            for place, (test, how) in enumerate(self._tests(paired).items()):
                opening = f"{'; others' if pieces else 'Systems were compared'} {start} by "
                pieces += [" and " if place else opening, f"the {how}" if test == "jackknife" else how]
                pieces += [CITED[test]] if test in CITED else []
        if pieces:
            pieces += ["; p-values are corrected over the pairs of a metric by Holm's method", ("holm1979simple",), "."]
        return pieces

    def _notes(self) -> list[str]:
        notes = [
            f"letters beside a score: the systems it beats (p < {ALPHA} after Holm's correction over a metric's pairs)",
            *self._paired_notes([pair for pair in self.pairs if pair.paired]),
            *self._unpaired_notes([pair for pair in self.pairs if not pair.paired]),
        ]
        if any(pair.low is not None for pair in self.pairs):
            notes.append(f"[low, high] of a difference: {100 * self.settings.confidence:.4g}% interval")
        if len(self.pairs) > PAIRS_SHOWN:
            notes.append(
                f"{len(self.pairs)} pairs with differences, intervals, p-values and effects: --format csv or json"
            )
        signatures = dict.fromkeys(score.signature for score in self.scores)
        return [*notes, *(f"signature: {signature}" for signature in signatures)]

    def _paired_notes(self, pairs: Sequence[Pair]) -> list[str]:
        how = ", ".join(self._tests(paired=True).values())
        notes = [f"paired test over {self.unit}: {how}"] if how else []
        if len({pair.units for pair in pairs}) > 1 or any(
            pair.units == pair.first_units != max(self._sizes(pair)) for pair in pairs
        ):
            notes.append(f"a pair is compared on the {self.unit} that both systems have")
        return notes

    def _unpaired_notes(self, pairs: Sequence[Pair]) -> list[str]:
        how = ", ".join(self._tests(paired=False).values())
        if not how:
            return []
        counts = {(pair.first_units, pair.second_units) for pair in pairs}
        sizes = "" if len(counts) > 1 else " ({} and {})".format(*counts.pop())
        most = max(pair.units for pair in pairs)
        shared = f"not paired since they share only {most}" if most else "not paired since they share none"
        if any(enough(pair.units, min(self._sizes(pair))) for pair in pairs):
            shared = f"not paired where the {self.unit} they share score the same"
        notes = [f"two-sample test over {self.unit}{sizes}, {shared}: {how}"]
        if any(self._cut(pair) for pair in pairs):
            notes.append(
                "where a score changes with the number of turns, the larger system is cut by chance to as many"
            )
        return notes

    def _cut(self, pair: Pair) -> bool:
        return pair.test in ("welch", "jackknife") and self._sizes(pair) != [pair.first_units, pair.second_units]

    def _sizes(self, pair: Pair) -> list[int]:
        """How many units each of the two is scored on."""
        return [self._score(system, pair.metric).units for system in (pair.first, pair.second)]


def _marks(count: int) -> Sequence[str]:
    return ascii_lowercase[:count] if count <= len(ascii_lowercase) else [str(i + 1) for i in range(count)]


def _pair_row(pair: Pair, difference: tables.Cell) -> list[tables.Cell]:
    effect = "–" if pair.effect is None else f"{pair.effect:.2f}"
    return [
        tables.Cell(pair.metric),
        tables.Cell(pair.first),
        tables.Cell(pair.second),
        difference,
        tables.Cell(_p(pair.p)),
        tables.Cell(_p(pair.p_holm)),
        tables.Cell(effect),
        tables.Cell(str(pair.units) if pair.paired else f"{pair.first_units} and {pair.second_units}"),
        tables.Cell(pair.better or ""),
    ]


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return "<0.001" if value < 0.001 else f"{value:.3f}"
