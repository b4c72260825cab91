"""Verbs about people: asking them, estimating from their ratings, planning how many it takes."""
