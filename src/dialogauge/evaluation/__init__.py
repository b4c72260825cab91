"""Runs metrics over a corpus, gives every score its interval, and compares systems."""

from dialogauge.evaluation.compare_systems import compare, compare_runs
from dialogauge.evaluation.comparison import Comparison
from dialogauge.evaluation.normality import Normality, normality
from dialogauge.evaluation.result import Result, Score
from dialogauge.evaluation.run import evaluate
from dialogauge.evaluation.sensitivity import Sensitivity, sensitivity

__all__ = [
    "Comparison",
    "Normality",
    "Result",
    "Score",
    "Sensitivity",
    "compare",
    "compare_runs",
    "evaluate",
    "normality",
    "sensitivity",
]
