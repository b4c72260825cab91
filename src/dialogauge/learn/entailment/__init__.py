"""Training models that say whether a response follows from what was said."""
