"""Metrics that count words which response and reference share."""
