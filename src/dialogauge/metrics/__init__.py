"""Measures of responses. What a metric of one's own is made of stands here; the rest is for dialogauge itself."""

from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat
from dialogauge.metrics.base import Metric, PlainMetric
from dialogauge.metrics.means import MeanMetric
from dialogauge.metrics.sums import SumMetric, Sums

__all__ = ["Caveat", "MeanMetric", "Metric", "PlainMetric", "SumMetric", "Sums", "Turn"]
