"""What a plan is made from: how ratings varied in a pilot study or in a public corpus, and how far metrics knew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import unit_of
from dialogauge.errors import unknown
from dialogauge.people.plan.components import Components, GivenRatings, components
from dialogauge.people.plan.gain import MetricGain, metric_gain
from dialogauge.stats.arrays import Floats, group_means
from dialogauge.stats.reliability import spearman_brown

DIMENSION = "overall"


@dataclass(frozen=True)
class Basis:
    """Ratings of one dimension, as far as a plan needs them."""

    name: str
    dimension: str
    systems: int
    units: int
    """Dialogues where known, else contexts."""
    raters: float
    """Ratings of a turn, on average."""
    low: float
    high: float
    """The lowest and the highest rating given."""
    alpha: float | None
    """Krippendorff's, interval: the reliability of one rating. None where no turn has two."""
    components: Components
    gains: Mapping[str, MetricGain] = field(default_factory=dict)
    """By metric."""

    def reliability(self, raters: int) -> float | None:
        """Of the mean over so many raters of one turn (Spearman 1910; Brown 1910)."""
        return None if self.alpha is None else spearman_brown(max(self.alpha, 0.0), raters)

    def raters_for(self, reliability: float) -> int | None:
        """How many raters the mean rating of a turn takes to be so reliable; None where raters do not agree at all."""
        if self.alpha is None or self.alpha <= 0:
            return None
        wanted = reliability / (1 - reliability) * (1 - self.alpha) / self.alpha
        return max(1, int(np.ceil(wanted - 1e-9)))

    @classmethod
    def from_corpus(cls, name: str, corpus: Corpus, dimension: str, values: Mapping[str, Floats]) -> Basis:
        """Of the turns that have ratings; `values` are the metrics' on every turn, NaN where undefined."""
        sample = GivenRatings.from_turns(corpus, dimension)
        turns = [
            place
            for place, turn in enumerate(corpus)
            if any(value is not None for value in turn.ratings.get(dimension, ()))
        ]
        first = np.unique(sample.turns, return_index=True)[1]
        people, systems, units = group_means(sample.values, sample.turns), sample.systems[first], sample.units[first]
        gains = {metric: metric_gain(people, found[turns], systems, units) for metric, found in values.items()}
        return cls(
            name,
            dimension,
            systems=int(systems.max()) + 1,
            units=int(units.max()) + 1,
            raters=len(sample.values) / len(people),
            low=float(sample.values.min()),
            high=float(sample.values.max()),
            alpha=None if np.isnan(sample.alpha) else sample.alpha,
            components=components(sample),
            gains={metric: gain for metric, gain in gains.items() if gain is not None},
        )


def unit_count(corpus: Corpus) -> int:
    """Dialogues where known, else contexts, rated or not."""
    return len({unit_of(turn) for turn in corpus})


@cache
def known_bases() -> tuple[Basis, ...]:
    """The public corpora of which we know how ratings varied; made by `scripts/build_plan_table.py`."""
    import tomllib

    listed = tomllib.loads(Path(__file__).with_name("known.toml").read_text(encoding="utf-8"))
    return tuple(_known(entry) for entry in listed["ratings"])


def known_basis(name: str, dimension: str | None) -> Basis:
    """A public corpus by its name; by default its dimension "overall", else the first."""
    found = [basis for basis in known_bases() if basis.name == name]
    if not found:
        raise unknown("corpus", name, {basis.name for basis in known_bases()})
    wanted = dimension or DIMENSION
    for basis in found:
        if basis.dimension.casefold() == wanted.casefold():
            return basis
    if dimension is not None:
        raise unknown("dimension", dimension, [basis.dimension for basis in found])
    return found[0]


def _known(entry: Mapping[str, Any]) -> Basis:
    plain = {key: value for key, value in entry.items() if key not in ("components", "metrics")}
    parts = {part: entry["components"].get(part) for part in ("context", "rater", "system_rater", "context_rater")}
    gains = {metric: MetricGain(**gain) for metric, gain in entry.get("metrics", {}).items()}
    return Basis(**{"alpha": None, **plain}, components=Components(**{**parts, **entry["components"]}), gains=gains)
