"""What trained networks are worth on pairs held back: how often the true response scores above another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from dialogauge.learn.material import TrainingData
from dialogauge.learn.negatives import NEGATIVES, Negative
from dialogauge.learn.pairs import Rows
from dialogauge.models.networks import RuberNetwork, relatedness
from dialogauge.models.normalisation import Normalisation, Range
from dialogauge.models.pooling import pool_words, usual_pooling
from dialogauge.stats.arrays import cosine
from dialogauge.stats.intervals import IntervalEstimate, clustered_mean

COMPARED = 2000
"""Responses compared with another one for the range of the referenced score."""


def ranking_accuracy(true: NDArray[np.float64], negative: NDArray[np.float64], dialogues: Rows) -> IntervalEstimate:
    """The share of negatives that score lower than the true response, ties counting half. Of `negative`, row i belongs
    to pair i."""
    won = ((true[:, None] > negative) + (true[:, None] == negative) / 2).mean(axis=1)
    return clustered_mean(won, dialogues)


@dataclass(frozen=True)
class Validation:
    accuracy: IntervalEstimate
    by_negatives: dict[Negative, float]
    normalisation: Normalisation

    def record(self, training_data: TrainingData) -> dict[str, Any]:
        return {
            "pairs": len(training_data.data.held),
            "dialogues": len(np.unique(training_data.data.held.dialogues)),
            "negatives": training_data.held.negatives.shape[1],
            "ranking_accuracy": self.accuracy.value,
            "low": self.accuracy.low,
            "high": self.accuracy.high,
            "by_negatives": self.by_negatives,
        }


def validate(networks: Sequence[RuberNetwork], training_data: TrainingData, seed: int) -> Validation:
    """Against the negatives of training (random ones) and, one for each pair, against each other kind."""
    pairs, everyone = training_data.data.held, np.arange(len(training_data.data.held))
    kinds: list[Negative] = [kind for kind in NEGATIVES if kind not in ("random", "in_batch")]
    others = training_data.held_sampler.draw(kinds, everyone, 1, np.random.default_rng([seed, 3]))
    true = _scores(networks, training_data, pairs.responses[:, None])[:, 0]
    random = _scores(networks, training_data, training_data.held.negatives)
    other = _scores(networks, training_data, others)
    return Validation(
        ranking_accuracy(true, random, pairs.dialogues),
        {kind: ranking_accuracy(true, other[:, [k]], pairs.dialogues).value for k, kind in enumerate(kinds)},
        normalisation(np.concatenate([true, random.ravel()]), training_data, seed),
    )


def _scores(networks: Sequence[RuberNetwork], training_data: TrainingData, responses: Rows) -> NDArray[np.float64]:
    queries, previous = (
        np.repeat(texts, responses.shape[1])
        for texts in (training_data.data.held.queries, training_data.data.held.previous)
    )
    rows = (torch.from_numpy(texts).to(training_data.device) for texts in (queries, responses.ravel(), previous))
    return relatedness(networks, training_data.inputs, *rows).reshape(responses.shape)


def normalisation(unreferenced: NDArray[np.float64], training_data: TrainingData, seed: int) -> Normalisation:
    """From the smallest score to the largest. Of the referenced score: from the smallest likeness of two responses
    that have nothing to do with each other to that of a response with itself, 1."""
    rng = np.random.default_rng([seed, 4])
    drawn = rng.permutation(len(training_data.data.held))[:COMPARED]
    other = training_data.held_sampler.draw(["random"], drawn, 1, rng)[:, 0]
    pool, encoder = usual_pooling(training_data.encoder), training_data.encoder
    rows = np.concatenate([training_data.data.held.responses[drawn], other])
    texts = [encoder.spelled(training_data.data.texts[row]) for row in rows]
    pooled = [pool_words(tokens.words, pool) if len(tokens.words) else None for tokens in encoder.tokens(texts)]
    both = [
        (a, b)
        for a, b in zip(pooled[: len(drawn)], pooled[len(drawn) :], strict=True)
        if a is not None and b is not None
    ]
    likeness = [cosine(a, b) for a, b in both]
    return Normalisation(_range(unreferenced), Range(round(min([*likeness, 0.999]), 6), 1.0), pool)


def _range(scores: NDArray[np.float64]) -> Range:
    low, high = round(float(scores.min()), 6), round(float(scores.max()), 6)
    return Range(low, high) if low < high else Range(0.0, 1.0)
