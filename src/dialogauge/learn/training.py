"""As many networks as a recipe asks for, trained and validated."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from dialogauge.learn.checkpoint import Checkpoint, key_of
from dialogauge.learn.fit import Epoch, RelatednessTask
from dialogauge.learn.loop import Fitted, Loop, as_arrays
from dialogauge.learn.material import TrainingData
from dialogauge.learn.recipe import RuberRecipe
from dialogauge.learn.validation import Validation, validate
from dialogauge.models.networks import RuberNetwork, make_network
from dialogauge.models.shape import RuberShape


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
    """As many networks as the recipe says, one after the other. Where the folder `checkpoints` is given, training that
    was broken off goes on from there."""
    started = time.monotonic()
    shape = training_data.shape
    members = []
    kept = checkpoints_of(checkpoints, recipe, training_data) if checkpoints else [None] * recipe.members
    for member, checkpoint in enumerate(kept):
        name = f"network {member + 1} of {recipe.members}" if recipe.members > 1 else "training"
        members.append(Loop(make_task(training_data, recipe, member)).run(checkpoint, name, progress))
    networks = [_network(shape, fitted, training_data.device) for fitted in members]
    return TrainedRuber(
        recipe,
        shape,
        training_data,
        members,
        validate(networks, training_data, recipe.seed),
        time.monotonic() - started,
    )


def make_task(training_data: TrainingData, recipe: RuberRecipe, member: int) -> RelatednessTask:
    """The training of one of the networks, before its first step."""
    parts = (training_data.sampler, training_data.held, training_data.inputs, training_data.shape)
    return RelatednessTask(*parts, recipe, recipe.seed + member, training_data.device)


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
