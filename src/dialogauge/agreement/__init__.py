"""Metrics against people: correlations, how sure they are, and which metric agrees best."""

from dialogauge.agreement.correlate_corpora import correlate
from dialogauge.agreement.result import Agreement

__all__ = ["Agreement", "correlate"]
