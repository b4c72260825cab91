"""Which system is ahead: what the tests under one metric say, in two sentences that claim no more than they show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dialogauge.errors import Caveat
from dialogauge.evaluation.digits import format_estimates
from dialogauge.evaluation.measured import Measured
from dialogauge.evaluation.options import Settings
from dialogauge.evaluation.pairs import Pair, all_pairs
from dialogauge.evaluation.result import Score, decimals_of_scores
from dialogauge.metrics.default_set import judging
from dialogauge.tables import counted, in_words, printable, wrapped

SPELLED_OUT = 3
"""As many other systems are named; of more, the nearest."""
MOST_SYSTEMS = 20
"""Beyond these, `evaluate` leaves the tests to `compare`: their time grows with the fourth power of the number."""


@dataclass(frozen=True)
class Answer:
    """The systems under one metric, the one that is ahead first."""

    metric: str
    higher_is_better: bool
    systems: list[str]
    """By how many are shown to be better, then by score."""
    pairs: list[Pair]
    """The system that stands first in `systems` is the first of a pair, too."""
    unit: str
    confidence: float
    decimals: int

    def sentences(self, digits: int | None = None) -> list[str]:
        """Who is ahead, by how much and how sure; then what stays open, or how the others stand."""
        leader = self.systems[0]
        own = [pair for pair in self.pairs if pair.first == leader]
        if any(pair.better == pair.second for pair in own):
            return [self._opening("no system is ahead of all others: each is behind another")]
        clear = [pair for pair in own if pair.better == leader]
        unclear = [pair for pair in own if pair.better is None and pair.p is not None]
        untested = [pair.second for pair in own if pair.p is None]
        found = [self._lead(clear, len(own), digits)] if clear else []
        found += [self._unclear(unclear, digits)] if unclear else []
        if untested:
            found.append(f"no test could be made between {leader} and {_some(untested, 'or')}")
        others = [pair for pair in self.pairs if pair.first != leader and pair.p is not None]
        if len(found) == 1 and (any(pair.better for pair in others) or (clear and others)):
            found.append(self._others(others, digits))
        return [self._opening(found[0]), *(f"{text[0].upper()}{text[1:]}." for text in found[1:])]

    def basis(self) -> str:
        """How the tests were made, and on how much."""
        tested = [pair for pair in self.pairs if pair.p is not None]
        kinds = {pair.paired for pair in tested}
        if not kinds:
            return ""
        names = {True: "paired", False: "two-sample"}
        kind = names[kinds.pop()] if len(kinds) == 1 else "paired where they answered the same, else two-sample"
        sizes = f" over {self._size(tested[0])}" if self._one_size() else ""
        holm = f"p after Holm's correction over {len(tested)} pairs; " if len(tested) > 1 else ""
        return f"{kind} test{sizes}; {holm}[low, high]: {100 * self.confidence:.4g}% interval of the difference"

    def render(self, digits: int | None = None, width: int | None = None) -> str:
        """The sentences, each in a line, and the basis below; in lines of at most so many columns."""
        texts = filter(None, (*self.sentences(digits), self.basis()))
        return "\n".join(line for text in texts for line in wrapped(printable(text), width))

    def to_dict(self) -> dict[str, Any]:
        """What JSON has under `answer`."""
        said = {"text": " ".join(self.sentences()), "basis": self.basis()}
        return said | {name: value for name, value in asdict(self).items() if name != "decimals"}

    def _opening(self, text: str) -> str:
        return f"On {self.metric}{'' if self.higher_is_better else ' (lower is better)'}, {text}."

    def _lead(self, pairs: Sequence[Pair], others: int, digits: int | None) -> str:
        leader = pairs[0].first
        if len(pairs) <= SPELLED_OUT:
            return f"{leader} is ahead {in_words([self._ahead(pair, digits) for pair in pairs])}"
        many = f"all {others} others" if len(pairs) == others else f"{len(pairs)} of {others} others"
        nearest = min(pairs, key=lambda pair: abs(pair.difference or 0.0))
        return f"{leader} is ahead of {many}, {self._ahead(nearest, digits)}, which is the nearest"

    def _ahead(self, pair: Pair, digits: int | None) -> str:
        return "of {} by {} ({})".format(pair.second, *self._difference(pair, digits))

    def _unclear(self, pairs: Sequence[Pair], digits: int | None) -> str:
        others = [f"{pair.second} ({', '.join(self._difference(pair, digits))})" for pair in pairs]
        return f"no difference between {pairs[0].first} and {_some(others, 'or')} is clear of chance"

    def _others(self, pairs: Sequence[Pair], digits: int | None) -> str:
        clear = [pair for pair in pairs if pair.better]
        if len(pairs) == 1:
            return f"of the others, {self._lead(clear, 1, digits)}" if clear else self._unclear(pairs, digits)
        if not clear:
            return "no difference among the others is clear of chance"
        verb = "is" if len(clear) == 1 else "are"
        return f"of the {len(pairs)} differences among the others, {len(clear)} {verb} clear of chance"

    def _difference(self, pair: Pair, digits: int | None) -> tuple[str, str]:
        """Of a tested pair, with its interval, above 0 where the first is better; and how sure it is."""
        shown = pair if self.higher_is_better else pair.turned()
        estimate = (shown.difference, shown.low, shown.high)
        ((value, interval),) = format_estimates([estimate], self.decimals if digits is None else digits)
        p = 1.0 if pair.p_holm is None else pair.p_holm
        sure = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
        return f"{value} {interval}".strip(), sure if self._one_size() else f"{sure}, {self._size(pair)}"

    def _one_size(self) -> bool:
        return len({(pair.paired, self._size(pair)) for pair in self.pairs if pair.p is not None}) == 1

    def _size(self, pair: Pair) -> str:
        return f"{pair.units if pair.paired else f'{pair.first_units} and {pair.second_units}'} {self.unit}"


def _some(names: Sequence[str], glue: str) -> str:
    rest = len(names) - SPELLED_OUT
    return in_words([*names[:SPELLED_OUT], *([counted(rest, "other")] if rest > 0 else [])], glue)


def answer_by_default(
    measured: Measured, scores: Sequence[Score], settings: Settings, pairs: Sequence[Pair] | None = None
) -> Answer | None:
    """Under the metric of the default set that judges, where it was measured on several systems. `pairs` are those of
    all metrics, where they are known."""
    judge = judging(measured.requests)
    if judge is None or (pairs is None and not 2 <= len(measured.systems) <= MOST_SYSTEMS):
        return None
    if pairs is None:
        pairs = all_pairs([sample for sample in measured.samples if sample.label == judge.label], "", settings)
    mine = [pair for pair in pairs if pair.metric == judge.name]
    return find_answer(mine, [score for score in scores if score.metric == judge.name], measured.unit, settings)


def answer_caveats(measured: Measured) -> list[Caveat]:
    """Where there would be an answer, but for the time it takes."""
    if judging(measured.requests) is None or len(measured.systems) <= MOST_SYSTEMS:
        return []
    message = f"more than {MOST_SYSTEMS} systems: `dialogauge compare` tests which of them is ahead"
    return [Caveat("systems_untested", message)]


def find_answer(pairs: Sequence[Pair], scores: Sequence[Score], unit: str, settings: Settings) -> Answer | None:
    """What all pairs of systems under one metric, and their scores, come to; None where nothing can be ranked."""
    values = {score.system: score.value for score in scores if score.value is not None}
    direction = scores[0].higher_is_better if scores else None
    if len(values) < 2 or direction is None:
        return None
    losses = Counter(
        pair.second if pair.better == pair.first else pair.first for pair in pairs if pair.better is not None
    )
    ranked = sorted(values, key=lambda system: (losses[system], -values[system] if direction else values[system]))
    places = {system: place for place, system in enumerate(ranked)}
    both = [pair for pair in pairs if {pair.first, pair.second} <= places.keys()]
    turned = [pair if places[pair.first] < places[pair.second] else pair.turned() for pair in both]
    return Answer(
        metric=scores[0].metric,
        higher_is_better=direction,
        systems=ranked,
        pairs=sorted(turned, key=lambda pair: (places[pair.first], places[pair.second])),
        unit=unit,
        confidence=settings.confidence,
        decimals=decimals_of_scores(scores),
    )
