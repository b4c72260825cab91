"""As many networks as a recipe asks for, trained and validated."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from dialogauge.learn.checkpoint import Checkpoint, key_of
from dialogauge.learn.fit import Epoch, Fitted, Fitting
from dialogauge.learn.material import TrainingData
from dialogauge.learn.recipe import RuberRecipe
from dialogauge.learn.validation import Validation, validate
from dialogauge.models.networks import RuberNetwork, make_network
from dialogauge.models.shape import RuberShape
from dialogauge.progress import progress_bar


@dataclass(frozen=True)
class TrainedRuber:
    """Networks that have learned what they could, with all that a card says about them."""

    recipe: RuberRecipe
    shape: RuberShape
    training_data: TrainingData
    members: list[Fitted]
    validation: Validation
    seconds: float

    def weights(self, half: bool) -> dict[str, Any]:
        dtype = torch.float16 if half else torch.float32
        return {
            f"{member}.{name}": tensor.to(dtype).cpu().numpy()
            for member, fitted in enumerate(self.members)
            for name, tensor in fitted.weights.items()
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
        seed = recipe.seed + member
        with _watched(member, recipe, progress) as (tick, restored):
            fitting = Fitting(
                training_data.sampler,
                training_data.held,
                training_data.inputs,
                shape,
                recipe,
                seed,
                training_data.device,
            )
            members.append(fitting.run(checkpoint, tick, restored))
    networks = [_network(shape, fitted, training_data.device) for fitted in members]
    return TrainedRuber(
        recipe,
        shape,
        training_data,
        members,
        validate(networks, training_data, recipe.seed),
        time.monotonic() - started,
    )


def checkpoints_of(folder: Path, recipe: RuberRecipe, training_data: TrainingData) -> list[Checkpoint]:
    """One for each network. They must agree with recipe, texts, pairs and encoder."""
    data, encoder = training_data.data.digest(), training_data.encoder.recipe()
    common = {"recipe": recipe.record(), "shape": asdict(training_data.shape), "data": data, "encoder": encoder}
    keys = [key_of({**common, "member": member}) for member in range(recipe.members)]
    return [Checkpoint(folder / f"{member}.safetensors", key) for member, key in enumerate(keys)]


def _network(shape: RuberShape, fitted: Fitted, device: torch.device) -> RuberNetwork:
    network = make_network(shape)
    network.load_state_dict(fitted.weights)
    return network.to(device).eval()


@contextmanager
def _watched(member: int, recipe: RuberRecipe, progress: bool) -> Iterator[Any]:
    """A bar that ends where training would, if it learned nothing more from now on."""
    lowest, end = float("inf"), min(recipe.stop, recipe.epochs)
    name = f"network {member + 1} of {recipe.members}" if recipe.members > 1 else "training"
    with progress_bar(None, name, total=end, shown=progress, unit="epoch") as bar:

        def tick(epoch: Epoch) -> None:
            nonlocal lowest
            if epoch.validation_loss < lowest:
                lowest = epoch.validation_loss
                bar.total = min(epoch.epoch + recipe.stop, recipe.epochs)
            bar.set_postfix(
                loss=f"{epoch.validation_loss:.4f}", accuracy=f"{epoch.ranking_accuracy:.4f}", refresh=False
            )
            bar.update()

        def restored(epoch: Epoch) -> None:
            """Of an earlier process: time left is reckoned without it."""
            tick(epoch)
            if progress:
                bar.initial += 1

        yield tick, restored
