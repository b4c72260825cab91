"""How far metrics reward length beyond what people do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dialogauge.agreement.points import Points
from dialogauge.agreement.result import Agreement
from dialogauge.agreement.turn_level import BOOTSTRAP, stream
from dialogauge.errors import InputError
from dialogauge.evaluation.options import Settings
from dialogauge.stats.arrays import Floats
from dialogauge.stats.correlations import Resampling, standardised_slope
from dialogauge.stats.resampling import NO_INTERVAL, IntervalEstimate, expanded, percentile_interval, point_weights

LENGTH = "length"


@dataclass(frozen=True)
class LengthBias:
    """One metric on one corpus, turn by turn. A slope says by how many standard deviations the oriented metric, or
    people's mean rating, is higher where the logarithm of the length is one higher."""

    corpus: str
    dimension: str
    metric: str
    n: int
    people: IntervalEstimate
    """Of the ratings: what people think of long replies."""
    plain: IntervalEstimate
    """Of the metric, whatever the ratings."""
    given_rating: IntervalEstimate
    """Of the metric among replies that people rate the same: 0 where length by itself makes no reply better. Ratings
    are noisy, and the noise leaves some of people's own slope here."""


def length_bias(agreement: Agreement) -> list[LengthBias]:
    """For each corpus and metric of an agreement at turn level that has `length` among its metrics. The logarithm is
    that of the length plus 1, so that empty replies have one. Intervals come from the bootstrap over dialogues, where
    known, else contexts.

    Examples:
        >>> import dialogauge
        >>> from dialogauge.studies.length_bias import length_bias
        >>> agreement = dialogauge.correlate("examples/rated.jsonl", "rouge_l,length", level="turn")
        >>> [bias] = length_bias(agreement)
        >>> round(bias.people.value, 2), round(bias.plain.value, 2), round(bias.given_rating.value, 2)
        (0.54, 0.37, 0.2)
    """
    turns = [points for points in agreement.points if points.scope.level == "turn" and points.scope.system is None]
    if not all(LENGTH in points.metrics for points in turns) or not turns:
        raise InputError(f"length_bias: expected an agreement at turn level with the metric {LENGTH}, found none")
    lower = {row.metric for row in agreement.rows if row.higher_is_better is False}
    return [bias for points in turns for bias in _of_corpus(points, lower, agreement.settings)]


def _of_corpus(points: Points, lower: set[str], settings: Settings) -> list[LengthBias]:
    metrics = [metric for metric in points.metrics if metric != LENGTH]
    lengths = np.log1p(points.column(LENGTH))
    values = np.column_stack([(-1 if name in lower else 1) * points.column(name) for name in metrics] or [lengths])
    to_ratings = Resampling(np.column_stack([lengths, values]), points.people)
    to_lengths = Resampling(values, lengths)
    units = int(points.units.max()) + 1
    confidence = expanded(settings.confidence, units)

    def slopes(weights: Floats) -> tuple[Floats, Floats, Floats]:
        rated, plain = to_ratings.pearson(weights), to_lengths.pearson(weights)
        people = rated[:, :1]
        return np.broadcast_to(people, plain.shape), plain, standardised_slope(plain, rated[:, 1:], people)

    exact = slopes(np.ones((1, len(lengths))))
    blocks = [
        slopes(weights) for weights in point_weights(points.units, settings.resamples, stream(settings, BOOTSTRAP))
    ]
    drawn = [np.concatenate(parts) for parts in zip(*blocks, strict=True)]

    def estimate(kind: int, place: int) -> IntervalEstimate:
        interval = percentile_interval(drawn[kind][:, place], confidence) if units > 1 else NO_INTERVAL
        return IntervalEstimate(float(exact[kind][0, place]), *interval)

    scope = points.scope
    return [
        LengthBias(scope.corpus, scope.dimension, metric, len(lengths), *(estimate(kind, place) for kind in range(3)))
        for place, metric in enumerate(metrics)
    ]
