"""Runs metrics over a corpus, gives every score its interval, and compares systems."""

from dialogauge.evaluation.compare_systems import compare, compare_runs
from dialogauge.evaluation.comparison import Comparison
from dialogauge.evaluation.normality import Normality, normality
from dialogauge.evaluation.ranked_replies import RankedReplies, best_replies, worst_replies
from dialogauge.evaluation.result import Result, Score
from dialogauge.evaluation.run import evaluate
from dialogauge.evaluation.sensitivity import Sensitivity, sensitivity
from dialogauge.evaluation.settings import RunOptions

__all__ = [
    "Comparison",
    "Normality",
    "RankedReplies",
    "Result",
    "RunOptions",
    "Score",
    "Sensitivity",
    "best_replies",
    "compare",
    "compare_runs",
    "evaluate",
    "normality",
    "sensitivity",
    "worst_replies",
]
