"""Measures of responses. What a metric of one's own is made of stands here; the rest is for dialogauge itself."""

from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat
from dialogauge.metrics.base import Learned, Metric
from dialogauge.metrics.prepared import MeanMetric, MeansOfRows, PlainMetric, Prepared, SumMetric, Sums

__all__ = [
    "Caveat",
    "Learned",
    "MeanMetric",
    "MeansOfRows",
    "Metric",
    "PlainMetric",
    "Prepared",
    "SumMetric",
    "Sums",
    "Turn",
]
