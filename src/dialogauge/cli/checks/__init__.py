"""Verbs that look at what others found: whether it follows, and what the metrics behind it reward."""
