"""Causal language models: how likely a text is after others."""
