"""The turns behind a result, with every number that the page can show of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dialogauge.agreement.points import mean_rating
from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError, quote
from dialogauge.evaluation.sample import Sample
from dialogauge.figures.report.data_block import data_block, decimals_of
from dialogauge.stats.arrays import Floats, one_blas_thread
from dialogauge.text.words import visible

if TYPE_CHECKING:
    from dialogauge.agreement.result import Agreement
    from dialogauge.evaluation.comparison import Comparison
    from dialogauge.evaluation.result import Result

__all__ = ["MOST_TURNS", "ReportTurns", "TurnMetric", "data_block", "turns_of_agreement", "turns_of_result"]

MOST_TURNS = 200_000
"""Past them a page holds no turns: browsers cannot scroll through so many, and few can open a file of that size."""


@dataclass(frozen=True)
class TurnMetric:
    """A number that single turns have."""

    name: str
    higher_is_better: bool | None
    decimals: int
    part_of: str | None = None
    """The metric whose part it is."""


@dataclass(frozen=True, repr=False)
class ReportTurns:
    """Number i of every list belongs to turn i; NaN where a turn has none."""

    turns: Sequence[Turn]
    metrics: list[TurnMetric]
    """Each before its parts."""
    values: dict[str, Floats]
    """By metric."""
    ratings: dict[str, Floats] = field(default_factory=dict)
    """By dimension: the mean over raters."""
    pushes: dict[str, Floats] = field(default_factory=dict)
    """By distance: by how much that of the turn's system would fall without the turn, to first order."""
    flags: dict[str, list[int]] = field(default_factory=dict)
    """What a reader must know of single turns, and the places of the turns it is true of."""
    corpora: list[str] = field(default_factory=list)
    """Of each turn; empty where all are of one corpus."""
    texts: bool = True
    """False where no texts were kept: turns have a name and a system alone."""


def turns_of_result(result: Result | Comparison) -> ReportTurns | None:
    """None where nothing is known of single turns, or there are more than `MOST_TURNS`."""
    if sum(result.systems.values()) > MOST_TURNS:
        return None
    if result.texts is not None:
        turns = [turn for turn in result.texts if turn.system in result.systems]
        return _report_turns(turns, result.samples, texts=True) if turns else None
    named = dict.fromkeys((s.system, name) for s in result.samples if s.values is not None for name in s.ids)
    turns = [Turn(name, "", system=system) for system, name in named]
    return _report_turns(turns, result.samples, texts=False) if turns else None


def turns_of_agreement(agreement: Agreement, texts: bool = True) -> ReportTurns | None:
    """None where there are no rated turns, or more than `MOST_TURNS`. `texts` is false where turns have none."""
    rated = agreement.rated
    turns = [turn for part in rated for turn in part.turns]
    if not 0 < len(turns) <= MOST_TURNS:
        return None
    sizes = [len(part.turns) for part in rated]
    directions = {row.metric: row.higher_is_better for row in agreement.rows}
    values = _joined([part.values for part in rated], sizes)
    ratings = _joined([part.ratings for part in rated], sizes)
    wholes = {name: next((other for other in values if name.startswith(f"{other}.")), None) for name in values}
    ordered = sorted(values, key=lambda name: _order(name, wholes[name], list(values)))
    metrics = [TurnMetric(name, directions.get(name), decimals_of(values[name]), wholes[name]) for name in ordered]
    corpora = [part.corpus for part in rated for _ in part.turns] if len(rated) > 1 else []
    flags = _flags(turns, metrics, values, ratings, texts)
    return ReportTurns(turns, metrics, values, ratings, flags=flags, corpora=corpora, texts=texts)


def _report_turns(turns: list[Turn], samples: Sequence[Sample], texts: bool) -> ReportTurns:
    places = {(turn.system, turn.id): place for place, turn in enumerate(turns)}
    metrics, values, pushes = [], dict[str, Floats](), dict[str, Floats]()
    by_label: dict[str, list[tuple[Sample, list[int]]]] = {}
    for sample in samples:
        by_label.setdefault(sample.label, []).append((sample, _own_places(sample, turns, places)))
    for label, placed in by_label.items():
        metric = placed[0][0].metric
        scored = all(sample.values is not None for sample, _ in placed)
        for part in ("", *metric.parts) if scored else ():
            if (numbers := _spread(placed, part, len(turns))) is not None:
                name = f"{label}.{part}" if part else label
                values[name] = numbers
                whole = label if part else None
                metrics.append(TurnMetric(name, metric.direction(part), decimals_of(numbers), whole))
        if (pushed := _pushes(placed, len(turns))) is not None:
            pushes[label] = pushed
    ratings = _ratings(turns)
    return ReportTurns(
        turns, metrics, values, ratings, pushes, _flags(turns, metrics, values, ratings, texts), texts=texts
    )


def _own_places(sample: Sample, turns: Sequence[Turn], places: Mapping[tuple[str, str], int]) -> list[int]:
    """Where the sample's rows stand among the turns. A kept run names the rows of metrics that score turns alone; those
    of others are all of its system's, unless turns were left out."""
    if sample.ids or sample.values is not None:
        if missing := next((name for name in sample.ids if (sample.system, name) not in places), None):
            found = f"the turn {quote(missing)} of {quote(sample.system)}"
            raise InputError(f"expected the texts of all turns that were measured, found none of {found}")
        return [places[sample.system, name] for name in sample.ids]
    return [place for place, turn in enumerate(turns) if turn.system == sample.system]


def _spread(placed: Sequence[tuple[Sample, list[int]]], part: str, turns: int) -> Floats | None:
    """The main value or a part of each turn; None where single turns have none."""
    spread = np.full(turns, np.nan)
    for sample, places in placed:
        numbers = _part_values(sample, part) if part else sample.values
        if numbers is None:
            return None
        spread[places] = numbers
    return spread


def _part_values(sample: Sample, part: str) -> Floats | None:
    """Of each turn, for parts that are means of a column of what was noted."""
    column = sample.metric.mean_of(part)
    if column is None or not isinstance(sample.rows, np.ndarray):
        return None
    return np.asarray(sample.rows[: len(sample.ids), column], dtype=np.float64)


@one_blas_thread()
def _pushes(placed: Sequence[tuple[Sample, list[int]]], turns: int) -> Floats | None:
    """By how much each turn pushes its system's distance, where that is known of any (`Metric.influences`)."""
    spread = np.full(turns, np.nan)
    for sample, places in placed:
        if sample.rows is not None and sample.metric.no_influences is None:
            pushed = sample.metric.influences(sample.summary, sample.rows)
            if len(pushed) == len(places):  # else nothing says whose they are
                spread[places] = pushed
    return None if np.isnan(spread).all() else spread


def _ratings(turns: Sequence[Turn]) -> dict[str, Floats]:
    found: dict[str, Floats] = {}
    for place, turn in enumerate(turns):
        for dimension, given in turn.ratings.items():
            means = found.setdefault(dimension, np.full(len(turns), np.nan))
            means[place] = mean_rating(given)
    return found


def _flags(
    turns: Sequence[Turn],
    metrics: Sequence[TurnMetric],
    values: Mapping[str, Floats],
    ratings: Mapping[str, Floats],
    texts: bool,
) -> dict[str, list[int]]:
    """Those that are true of some turns; what all turns lack is a caveat of the result."""
    found: dict[str, list[int]] = {}
    if texts:
        found["empty reply"] = [place for place, turn in enumerate(turns) if not visible(turn.response)]
        found["no context"] = [place for place, turn in enumerate(turns) if not turn.context]
        found["no reference"] = [place for place, turn in enumerate(turns) if not turn.references]
    for metric in metrics:
        if metric.part_of is None:
            found[f"no {metric.name}"] = np.flatnonzero(np.isnan(values[metric.name])).tolist()
    if ratings:
        unrated = np.isnan(np.array(list(ratings.values()))).all(axis=0)
        found["not rated"] = np.flatnonzero(unrated).tolist()
    return {name: places for name, places in found.items() if 0 < len(places) < len(turns)}


def _joined(parts: Sequence[Mapping[str, Floats]], sizes: Sequence[int]) -> dict[str, Floats]:
    """The columns of several corpora, one below the other; NaN where a corpus lacks a column."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {
        name: np.concatenate([part.get(name, np.full(size, np.nan)) for part, size in zip(parts, sizes, strict=True)])
        for name in names
    }


def _order(name: str, whole: str | None, names: list[str]) -> tuple[int, bool, int]:
    """Parts after the metric they belong to."""
    return names.index(whole or name), whole is not None, names.index(name)
