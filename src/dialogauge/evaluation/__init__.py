"""Runs metrics over a corpus, gives every score its interval, and compares systems."""

from dialogauge.evaluation.compare_systems import compare, compare_runs
from dialogauge.evaluation.comparison import Comparison
from dialogauge.evaluation.result import Result, Score
from dialogauge.evaluation.run import evaluate

__all__ = ["Comparison", "Result", "Score", "compare", "compare_runs", "evaluate"]
