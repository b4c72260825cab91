"""Runs metrics over a corpus, gives every score its interval, and compares systems."""

from dialogauge.evaluation.compare_systems import compare, compare_runs
from dialogauge.evaluation.comparison import Comparison
from dialogauge.evaluation.evaluate_corpus import evaluate
from dialogauge.evaluation.options import RunOptions
from dialogauge.evaluation.replies import RankedReplies, best_replies, worst_replies
from dialogauge.evaluation.result import Result, Score

__all__ = [
    "Comparison",
    "RankedReplies",
    "Result",
    "RunOptions",
    "Score",
    "best_replies",
    "compare",
    "compare_runs",
    "evaluate",
    "worst_replies",
]
