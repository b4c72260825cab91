"""What one metric noted about one system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.dialogues import dialogues
from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError
from dialogauge.evaluation.kept.turn_values import SpooledValues
from dialogauge.evaluation.units import ALL_KEYS, Answered, Keys, Units, same_units
from dialogauge.metrics.base import AnyMetric, Floats
from dialogauge.metrics.prepared import AnyPrepared
from dialogauge.progress import progress_bar
from dialogauge.stats.resampling import Jackknife
from dialogauge.tables import printable

BATCH = 512
"""Turns that all metrics see before the next ones come. Their texts' token states must fit in memory."""

Places = NDArray[np.int64]


@dataclass(repr=False)
class Sample:
    """One metric's view of one system: the summary of its turns and, where they fit, the rows it came from.

    A corpus too large for rows has `groups` instead: one summary (or None) for each group of units.
    """

    label: str
    system: str
    metric: AnyMetric
    turns: int
    """How many turns had what the metric needs; those without a value are not among the rows."""
    signature: str
    """The metric's, as it was when the rows were noted."""
    units: Keys
    """The unit of each row; where there are no rows, the units there are, each once, or some of them (`ceiling`)."""
    summary: Any
    rows: Any = None
    groups: list[Any] = field(default_factory=list)
    sizes: NDArray[np.int64] | None = None
    """How many rows each group has."""
    ceiling: int = ALL_KEYS
    """Where only groups are kept: units with this key or a larger one are not among the `units`."""
    ids: list[str] = field(default_factory=list)
    values: Floats | None = None
    """One score per turn, where the metric has any; of many turns they are in `spooled` alone."""
    spooled: SpooledValues | None = None
    real_units: Keys | None = None
    """The units of the real conversations that the system is held against, where they were given beside the corpus.
    Their rows and units stand after the system's own."""
    real_rows: Any = None
    """Their rows alone, which are kept also where others are not."""
    coverage: NDArray[np.int64] | None = None
    """How much of the texts the metric's encoder knows (`Metric.coverage`), those of undefined rows included."""
    answered: Answered | None = None
    """What the turns of its own units answer, by which they are known as another system's; None where only their names
    are known."""

    def same_units(self, other: Sample) -> tuple[Keys, Keys]:
        """Own units and, beside each, the unit of the other sample that is the same: of those that both keep."""
        ceiling = min(self.ceiling, other.ceiling)
        sides = (sample.answered or Answered.by_name(sample.own_units) for sample in (self, other))
        return same_units(*(each.where(_below(each.units, ceiling)) for each in sides))

    def shared_units(self, other: Sample) -> int:
        """How many units are the same; about, where not all are kept."""
        return _estimated(len(self.same_units(other)[0]), min(self.ceiling, other.ceiling))

    def stands_on_units_of(self, other: Sample) -> bool:
        """Whether both have the same units, as far as these are kept."""
        ceiling = min(self.ceiling, other.ceiling)
        kept = [np.count_nonzero(_below(sample.own_units, ceiling)) for sample in (self, other)]
        return bool(len(self.same_units(other)[0]) == kept[0] == kept[1])

    def turn_values(self) -> tuple[list[str], Floats | None]:
        """The ids of the turns and their scores, in memory."""
        return self.spooled.read(self.label, self.system) if self.spooled else (self.ids, self.values)

    def __repr__(self) -> str:
        return f"<Sample: {self.label} of {self.system}, {self.turns} turns>"

    @cached_property
    def own_units(self) -> Keys:
        """The units of the system's own turns, each once."""
        units = np.unique(self.units)
        return units if self.real_units is None or self.groups else np.setdiff1d(units, self.real_units)

    @property
    def own_keys(self) -> Keys:
        """The unit of each of the system's own rows; where there are no rows, its units."""
        if self.real_units is None:
            return self.units
        return self.own_units if self.groups else self.units[: len(self.units) - len(self.real_units)]

    @cached_property
    def fewest_units(self) -> int:
        """Of the system or, where there are fewer, of the real conversations beside it."""
        return self.unit_count if self.real_units is None else min(self.unit_count, len(np.unique(self.real_units)))

    @cached_property
    def unit_count(self) -> int:
        """How many units of its own it has; about, where not all are kept."""
        return _estimated(len(self.own_units), self.ceiling)


def _below(keys: Keys, ceiling: int) -> NDArray[np.bool_]:
    return np.ones(len(keys), dtype=np.bool_) if ceiling == ALL_KEYS else keys < np.uint64(ceiling)


def _estimated(kept: int, ceiling: int) -> int:
    """How many units there are, from how many have a key below the ceiling."""
    return round(kept * (ALL_KEYS / ceiling))


def on_units(sample: Sample, units: Keys) -> Sample:
    """The sample on some of its own units, with all real conversations beside it."""
    kept = np.isin(sample.units, units if sample.real_units is None else np.concatenate([units, sample.real_units]))
    rows = sample.rows[np.flatnonzero(kept)]
    return replace(sample, units=sample.units[kept], rows=rows, summary=sample.metric.summarise(rows))


def refuse_unusable(metrics: Iterable[AnyMetric], samples: Iterable[Sample], turns: int) -> None:
    """Refuses a metric that found what it needs in no turn at all."""
    measured = Counter[str]()
    for sample in samples:
        measured[sample.label] += sample.turns
    for metric in metrics:
        if not measured[metric.label]:
            wanted = metric.needed() or "turns"
            raise InputError(f"{metric.name} needs {wanted}, and none of the corpus's {turns} turns has any")


def measure_rows(
    metrics: dict[str, AnyPrepared], corpus: Corpus, units: Units, real_units: Keys | None, progress: bool
) -> list[Sample]:
    """Every metric on every system, rows kept."""
    samples = []
    with progress_bar(total=len(metrics) * len(corpus), shown=progress, unit="score") as bar:
        for system, turns in corpus.by_system.items():
            keys, messages = units.keys(turns), units.messages(turns)
            for label, (places, rows) in measure_all(metrics, turns, bar).items():
                ready = metrics[label]
                metric = ready.metric
                coverage = metric.coverage(rows)
                defined = np.flatnonzero(metric.defined(rows))
                rows, own = rows[defined], keys[places[defined]]
                answered = Answered.noted(own, messages[places[defined]])
                values = metric.per_turn(rows)
                beside = real_beside(ready, system, real_units)
                if beside is not None:
                    rows, own = metric.join([rows, beside.rows]), np.concatenate([own, beside.units])
                    coverage = beside.covered(coverage)
                samples.append(
                    Sample(
                        label=label,
                        system=system,
                        metric=metric,
                        turns=len(places),
                        signature=ready.signature,
                        units=own,
                        summary=metric.summarise(rows),
                        rows=rows,
                        ids=[turns[place].id for place in places[defined]],
                        values=values,
                        real_units=None if beside is None else beside.units,
                        real_rows=None if beside is None else beside.rows,
                        coverage=coverage,
                        answered=answered,
                    )
                )
    return samples


class Beside(NamedTuple):
    """The rows of real conversations that say something, the unit of each, and the coverage of all."""

    rows: Any
    units: Keys
    coverage: NDArray[np.int64] | None

    def covered(self, own: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
        """The coverage of a system's turns and these; only turns count as illegible."""
        if own is None or self.coverage is None:
            return own
        whole = own.copy()
        whole[:-1] += self.coverage[:-1]
        return whole


def real_beside(ready: AnyPrepared, system: str, units: Keys | None) -> Beside | None:
    """The real conversations that a system is held against, where any were given."""
    rows, metric = ready.real_rows(system), ready.metric
    if rows is None or units is None:
        return None
    defined = np.flatnonzero(metric.defined(rows))
    return Beside(rows[defined], units[defined], metric.coverage(rows))


def measure_all(metrics: dict[str, AnyPrepared], turns: Sequence[Turn], bar: Any) -> dict[str, tuple[Places, Any]]:
    """For each metric the places of the turns it can use, and their rows. All metrics see a batch before the next one
    comes, while the vectors of its texts are at hand; those of level "dialogue" see whole dialogues. A metric that
    meets a system of which it knows nothing gives its place to one that does."""
    places: dict[str, list[int]] = {label: [] for label in metrics}
    rows: dict[str, list[Any]] = {label: [] for label in metrics}
    batches = {level: _batches(turns, level) for level in {ready.asked.level for ready in metrics.values()}}
    for step in range(max(map(len, batches.values()))):
        for label, ready in metrics.items():
            bar.set_description(printable(label))
            for batch in batches[ready.asked.level][step : step + 1]:
                usable_places = [place for place in batch if ready.usable(turns[place])]
                usable = [turns[place] for place in usable_places]
                metrics[label] = ready.introduced(usable)
                rows[label].append(metrics[label].measure(usable))
                places[label] += usable_places
                bar.update(len(batch))
    return {label: _in_order(places[label], ready.metric.join(rows[label])) for label, ready in metrics.items()}


def _batches(turns: Sequence[Turn], level: str) -> list[Sequence[int]]:
    """Places of turns. A batch of whole dialogues ends with the one that fills it."""
    if level == "turn":
        return [range(start, min(start + BATCH, len(turns))) for start in range(0, len(turns), BATCH)]
    batches: list[list[int]] = []
    for dialogue in dialogues(turns):
        if not batches or len(batches[-1]) >= BATCH:
            batches.append([])
        batches[-1] += dialogue
    return [*batches]


def _in_order(places: list[int], rows: Any) -> tuple[Places, Any]:
    """The rows as their turns stand in the corpus."""
    found = np.array(places, dtype=np.int64)
    order = np.argsort(found, kind="stable")
    return (found, rows) if np.array_equal(found[order], found) else (found[order], rows[order])


class Groups(NamedTuple):
    """The summary of each group of units, None for a group without turns, and how many units each group holds."""

    summaries: list[Any]
    sizes: NDArray[np.int64]


def group_rows(sample: Sample, units: NDArray[np.int64], groups: NDArray[np.int64]) -> list[Any]:
    """The summary of each group of units, None for a group without turns."""
    members = groups[units]
    return [
        sample.metric.summarise(sample.rows[np.flatnonzero(members == group)]) if np.any(members == group) else None
        for group in range(int(groups.max()) + 1)
    ]


def jackknife(
    metric: AnyMetric, total: Any, summaries: Sequence[Any], sizes: NDArray[np.int64]
) -> dict[str, Jackknife]:
    """For the main value and each part. `summaries[g]` is that of group g, or None where a group has no turns; `total`
    is their sum."""
    present = [place for place, summary in enumerate(summaries) if summary is not None]
    whole = metric.conclude(total)
    without = {part: np.full(len(summaries), float(value)) for part, value in whole.items()}
    unseen: Mapping[str, float] = {}
    if len(present) > 1:
        groups = [summaries[place] for place in present]
        unseen = metric.unseen_variance(groups)
        for place, rest in zip(present, metric.leave_one_out(groups), strict=True):
            for part, value in rest.items():
                without[part][place] = value
    return {
        part: Jackknife(float(value), without[part], sizes, metric.extrapolates, unseen.get(part, 0.0))
        for part, value in whole.items()
    }
