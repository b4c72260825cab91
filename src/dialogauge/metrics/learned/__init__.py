"""Metrics by models that were trained."""
