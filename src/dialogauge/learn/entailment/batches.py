"""Which pairs are learned from together, and in which order."""

from __future__ import annotations

import numpy as np

from dialogauge.learn.entailment.data import Rows

WINDOW = 50
"""Batches whose pairs are sorted by length together: less padding, and still a new order in every epoch."""


def shuffled_batches(rows: Rows, lengths: Rows, batch: int, rng: np.random.Generator) -> list[Rows]:
    """Every row once. Pairs of a batch are of similar length; batches come in no order."""
    order = rng.permutation(rows)
    found: list[Rows] = []
    for start in range(0, len(order), WINDOW * batch):
        window = order[start : start + WINDOW * batch]
        window = window[np.argsort(lengths[window], kind="stable")]
        found += [window[at : at + batch] for at in range(0, len(window), batch)]
    return [found[place] for place in rng.permutation(len(found))]


def sorted_batches(rows: Rows, lengths: Rows, batch: int) -> list[Rows]:
    """Every row once, the longest first."""
    order = rows[np.argsort(-lengths[rows], kind="stable")]
    return [order[at : at + batch] for at in range(0, len(order), batch)]
