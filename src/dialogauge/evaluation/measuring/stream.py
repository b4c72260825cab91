"""A corpus too large for its rows: one pass, of which only the summaries of groups of units are kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.turn import Turn
from dialogauge.evaluation.measuring.whole_dialogues import of_whole_dialogues, stream_batches
from dialogauge.evaluation.sample import Places, Sample, measure_all, real_beside
from dialogauge.evaluation.units import Answered, Keys, Total, Units, add_all
from dialogauge.metrics.base import AnyMetric, Floats
from dialogauge.metrics.prepared import AnyPrepared
from dialogauge.progress import progress_bar
from dialogauge.stats.resampling import GROUPS


@dataclass
class Tally:
    """What is kept of one metric on one system."""

    groups: list[Total] = field(default_factory=lambda: [Total() for _ in range(GROUPS)])
    turns: int = 0
    coverage: NDArray[np.int64] | None = None
    keys: list[Keys] = field(default_factory=list)
    messages: list[Keys] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    values: list[Floats] = field(default_factory=list)


def measure_stream(
    metrics: dict[str, AnyPrepared],
    turns: Iterator[Turn],
    units: Units,
    real_units: Keys | None,
    size: int,
    progress: bool,
) -> list[Sample]:
    """Every metric on every system, in batches of this size. A unit's group comes from its key, so that no table of
    units is needed."""
    tallies: defaultdict[tuple[str, str], Tally] = defaultdict(Tally)
    with progress_bar(shown=progress, unit="turn") as bar:
        for batch in stream_batches(turns, size, of_whole_dialogues(ready.asked for ready in metrics.values())):
            by_system: dict[str, list[Turn]] = {}
            for turn in batch:
                by_system.setdefault(turn.system, []).append(turn)
            for system, part in by_system.items():
                keys, messages = units.keys(part), units.messages(part)
                for label, (places, rows) in measure_all(metrics, part, bar).items():
                    metric = metrics[label].metric
                    _note(tallies[system, label], metric, part, keys, messages, places, rows)
                    _settle(tallies[system, label], metric)
    return [_sample(label, system, metrics[label], tally, real_units) for (system, label), tally in tallies.items()]


def _note(
    tally: Tally, metric: AnyMetric, turns: Sequence[Turn], keys: Keys, messages: Keys, places: Places, rows: Any
) -> None:
    tally.turns += len(places)
    if (coverage := metric.coverage(rows)) is not None:
        tally.coverage = coverage + (0 if tally.coverage is None else tally.coverage)
    defined = np.flatnonzero(metric.defined(rows))
    places, rows = places[defined], rows[defined]
    _add(tally, metric, keys[places], rows)
    tally.messages.append(messages[places])
    if (values := metric.per_turn(rows)) is not None:
        tally.values.append(values)
        tally.ids.extend(turns[place].id for place in places)


def _add(tally: Tally, metric: AnyMetric, keys: Keys, rows: Any) -> None:
    members = keys % np.uint64(GROUPS)
    for group in np.unique(members):
        tally.groups[group].add(metric.summarise(rows[np.flatnonzero(members == group)]))
    tally.keys.append(keys)


def _settle(tally: Tally, metric: AnyMetric) -> None:
    """One summary for each group, with no more vectors than count: those of distances are large."""
    if metric.distance is None:
        return
    sums = {place: total.sum() for place, total in enumerate(tally.groups)}
    present = {place: total for place, total in sums.items() if total is not None}
    for place, summary in zip(present, metric.distance.bounded(list(present.values())) if present else (), strict=True):
        tally.groups[place] = Total()
        tally.groups[place].add(summary)


def _sample(label: str, system: str, ready: AnyPrepared, tally: Tally, real_units: Keys | None) -> Sample:
    metric = ready.metric
    answered = Answered.noted(np.concatenate(tally.keys), np.concatenate(tally.messages))
    beside = real_beside(ready, system, real_units)
    if beside is not None:
        _add(tally, metric, beside.units, beside.rows)
        tally.coverage = beside.covered(tally.coverage)
    groups = [total.sum() for total in tally.groups]
    present = [group for group in groups if group is not None]
    return Sample(
        label=label,
        system=system,
        metric=metric,
        turns=tally.turns,
        signature=ready.signature,
        units=np.unique(np.concatenate(tally.keys)),
        summary=add_all(present) if present else metric.summarise(ready.measure([])),
        groups=groups,
        ids=tally.ids,
        values=np.concatenate(tally.values) if tally.values else None,
        real_units=None if beside is None else beside.units,
        real_rows=None if beside is None else beside.rows,
        coverage=tally.coverage,
        answered=answered,
    )
