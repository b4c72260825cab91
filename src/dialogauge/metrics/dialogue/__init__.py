"""Metrics of responses and what was said before, without references."""
