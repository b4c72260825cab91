"""Runs metrics over a corpus, and gives every score its interval."""

from dialogauge.evaluation.result import Result, Score
from dialogauge.evaluation.run import evaluate

__all__ = ["Result", "Score", "evaluate"]
