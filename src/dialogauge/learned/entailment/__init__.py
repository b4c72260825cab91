"""Models that say whether a response follows from what was said, ignores it, or contradicts it, and their training."""
