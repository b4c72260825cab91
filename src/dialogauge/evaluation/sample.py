"""What one metric noted about one system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError
from dialogauge.evaluation.units import Keys, Units
from dialogauge.metrics.base import Floats, Metric
from dialogauge.tables import printable

BATCH = 2048


@dataclass
class Sample:
    """One metric's view of one system: the summary of its turns and, where they fit, the rows it came from.

    A corpus too large for rows has `groups` instead: one summary (or None) for each group of units.
    """

    label: str
    system: str
    metric: Metric
    turns: int
    """How many turns had what the metric needs; those without a value are not among the rows."""
    signature: str
    """The metric's, as it was when the rows were noted."""
    units: Keys
    """The unit of each row; where there are no rows, the units there are, each once."""
    summary: Any
    rows: Any = None
    groups: list[Any] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    values: Floats | None = None
    """One score per turn, where the metric has any."""

    @cached_property
    def unit_count(self) -> int:
        return len(np.unique(self.units))


def usable(metric: Metric, turn: Turn) -> bool:
    """Whether the turn has what the metric needs."""
    return any(all(getattr(turn, name, None) for name in need) for need in metric.needs)


def refuse_unusable(metrics: Mapping[str, Metric], samples: Iterable[Sample], turns: int) -> None:
    """Refuses a metric that found what it needs in no turn at all."""
    measured = Counter[str]()
    for sample in samples:
        measured[sample.label] += sample.turns
    for label, metric in metrics.items():
        if not measured[label]:
            wanted = metric.needed() or "turns"
            raise InputError(f"{metric.name} needs {wanted}, and none of the corpus's {turns} turns has any")


def measure_rows(metrics: Mapping[str, Metric], corpus: Corpus, units: Units, progress: bool) -> list[Sample]:
    """Every metric on every system, rows kept."""
    from tqdm import tqdm

    samples = []
    with tqdm(total=len(metrics) * len(corpus), unit="turn", disable=not progress, leave=False) as bar:
        for system, turns in corpus.by_system.items():
            keys = units.keys(turns)
            for label, metric in metrics.items():
                bar.set_description(printable(label))
                places = np.array([place for place, turn in enumerate(turns) if usable(metric, turn)], dtype=np.int64)
                kept = [turns[place] for place in places]
                batches = [metric.measure(kept[start : start + BATCH]) for start in _ticking(len(kept), bar.update)]
                rows = metric.join(batches)
                defined = np.flatnonzero(metric.defined(rows))
                rows = rows[defined]
                samples.append(
                    Sample(
                        label=label,
                        system=system,
                        metric=metric,
                        turns=len(kept),
                        signature=metric.signature,
                        units=keys[places[defined]],
                        summary=metric.summarise(rows),
                        rows=rows,
                        ids=[kept[place].id for place in defined],
                        values=metric.per_turn(rows),
                    )
                )
    return samples


def _ticking(count: int, tick: Any) -> Iterable[int]:
    """The start of each batch; even no turns at all make one (empty) batch."""
    for start in range(0, max(count, 1), BATCH):
        yield start
        tick(min(BATCH, count - start))


def group_rows(sample: Sample, units: NDArray[np.int64], groups: NDArray[np.int64]) -> list[Any]:
    """The summary of each group of units, None for a group without turns."""
    members = groups[units]
    return [
        sample.metric.summarise(sample.rows[np.flatnonzero(members == group)]) if np.any(members == group) else None
        for group in range(int(groups.max()) + 1)
    ]
