"""Metrics that compare vectors of response and reference."""
