"""As many networks as a recipe asks for, trained, and validated on pairs held back."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from dialogauge.learned.ruber.fit import Epoch, RuberTask
from dialogauge.learned.ruber.inputs import RuberShape
from dialogauge.learned.ruber.model import Normalisation, Range, pool_words, usual_pooling
from dialogauge.learned.ruber.networks import RuberNetwork, make_network, relatedness
from dialogauge.learned.ruber.pairs import NEGATIVES, Negative, Rows
from dialogauge.learned.ruber.recipe import RuberRecipe
from dialogauge.learned.ruber.stacked import can_be_stacked
from dialogauge.learned.ruber.together import train_together
from dialogauge.learned.ruber.training_data import TrainingData
from dialogauge.learned.training.checkpoint import Checkpoint, key_of
from dialogauge.learned.training.loop import Fitted, Loop, as_arrays, earlier_seconds
from dialogauge.stats.arrays import cosine
from dialogauge.stats.resampling import IntervalEstimate, clustered_mean

AT_ONCE = {"cpu": 1, "cuda": 20}
"""Networks that are trained side by side. On a CPU those of two are slower than one by one: what a step keeps no longer
fits into memory that is at hand, and the system hands out new pages for each."""
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


@dataclass(frozen=True)
class TrainedRuber:
    """Networks that have learned what they could, with all that a card says about them."""

    recipe: RuberRecipe
    shape: RuberShape
    training_data: TrainingData
    members: list[Fitted[Epoch]]
    validation: Validation
    seconds: float

    def weights(self, half: bool) -> dict[str, Any]:
        return {
            f"{member}.{name}": array
            for member, fitted in enumerate(self.members)
            for name, array in as_arrays(fitted.weights, half).items()
        }


def train(
    training_data: TrainingData, recipe: RuberRecipe, checkpoints: Path | None = None, progress: bool = False
) -> TrainedRuber:
    """As many networks as the recipe says. Where the folder `checkpoints` is given, training that was broken off goes
    on from there."""
    return train_all(training_data, [recipe], [checkpoints], progress)[0]


def train_all(
    training_data: TrainingData,
    recipes: Sequence[RuberRecipe],
    checkpoints: Sequence[Path | None],
    progress: bool = False,
) -> list[TrainedRuber]:
    """Of recipes that differ in loss and seed alone. Seconds are shared out evenly; those of processes that were broken
    off count."""
    started = time.monotonic()
    tasks = [make_task(training_data, recipe, member) for recipe in recipes for member in range(recipe.members)]
    kept = [
        checkpoint
        for recipe, folder in zip(recipes, checkpoints, strict=True)
        for checkpoint in (checkpoints_of(folder, recipe, training_data) if folder else [None] * recipe.members)
    ]
    fitted = iter(_fit(tasks, kept, progress))
    members = [[next(fitted) for _ in range(recipe.members)] for recipe in recipes]
    networks = [[_network(training_data.shape, each, training_data.device) for each in own] for own in members]
    validations = [validate(own, training_data, recipe.seed) for own, recipe in zip(networks, recipes, strict=True)]
    seconds = (time.monotonic() - started) / len(recipes)
    return [
        TrainedRuber(recipe, training_data.shape, training_data, own, validation, seconds + earlier_seconds(own))
        for recipe, own, validation in zip(recipes, members, validations, strict=True)
    ]


def _fit(tasks: Sequence[RuberTask], checkpoints: Sequence[Checkpoint | None], progress: bool) -> list[Fitted[Epoch]]:
    """Side by side where that can be done, else one after the other."""
    found: list[Fitted[Epoch]] = []
    device = tasks[0].device
    stacked = can_be_stacked(tasks[0].network, device)
    at_once = AT_ONCE[device.type] if stacked else 1
    for start in range(0, len(tasks), at_once):
        some = slice(start, start + at_once)
        name = f"network {start + 1} of {len(tasks)}" if len(tasks) > 1 else "training"
        if at_once > 1:
            name = f"{len(tasks[some])} networks"
        if stacked:
            found += train_together(tasks[some], checkpoints[some], name, progress)
        else:
            found.append(Loop(tasks[start]).run(checkpoints[start], name, progress))
    return found


def make_task(training_data: TrainingData, recipe: RuberRecipe, member: int) -> RuberTask:
    """The training of one of the networks, before its first step."""
    parts = (training_data.sampler, training_data.held, training_data.inputs, training_data.shape)
    return RuberTask(*parts, recipe, recipe.seed + member, training_data.device)


def checkpoints_of(folder: Path, recipe: RuberRecipe, training_data: TrainingData) -> list[Checkpoint]:
    """One for each network. They must agree with recipe, texts, pairs and encoder."""
    data, encoder = training_data.data.digest(), training_data.encoder.recipe()
    common = {"recipe": recipe.record(), "shape": asdict(training_data.shape), "data": data, "encoder": encoder}
    keys = [key_of({**common, "member": member}) for member in range(recipe.members)]
    return [Checkpoint(folder / f"{member}.safetensors", key) for member, key in enumerate(keys)]


def _network(shape: RuberShape, fitted: Fitted[Epoch], device: torch.device) -> RuberNetwork:
    network = make_network(shape)
    network.load_state_dict(fitted.weights)
    return network.to(device).eval()
