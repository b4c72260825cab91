"""Measures of responses. What a metric of one's own is made of stands here; the rest is for dialogauge itself."""

from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat
from dialogauge.metrics.base import MeanMetric, Metric, PlainMetric, SumMetric, Sums

__all__ = ["Caveat", "MeanMetric", "Metric", "PlainMetric", "SumMetric", "Sums", "Turn"]
