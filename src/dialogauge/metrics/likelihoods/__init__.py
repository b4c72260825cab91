"""Metrics that ask a language model how likely texts are."""
