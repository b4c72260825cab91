"""How an entailment network is trained: its batches, loss, schedule and validation."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler

from dialogauge.learned.entailment.data import Rows
from dialogauge.learned.entailment.inputs import PairInputs, shuffled_batches, sorted_batches
from dialogauge.learned.entailment.recipe import EntailmentRecipe
from dialogauge.learned.training.loop import StagePlan, Task, rate_by_step

STAGE = 50_000
"""Pairs between two looks at the pairs held back; an epoch has at least one."""
WATCHED = 10_000
"""The most pairs held back that are looked at while training goes on."""


@dataclass(frozen=True)
class EntailmentStage:
    """What was learned up to some point of an epoch."""

    epoch: float
    loss: float
    validation_loss: float
    accuracy: float
    rate: float
    """At its end."""


class EntailmentTask(Task[EntailmentStage]):
    """The order of an epoch comes from the seed and its number, dropout from the seed and the stage's."""

    network: Any
    stage = EntailmentStage
    largest_gradient = 1.0

    def __init__(
        self,
        network: Any,
        inputs: PairInputs,
        labels: Tensor,
        train: Rows,
        held: Rows,
        recipe: EntailmentRecipe,
        device: torch.device,
    ) -> None:
        self.network, self.inputs, self.recipe, self.device = network, inputs, recipe, device
        self.pairs, self.epochs, self.stop = len(train), recipe.epochs, recipe.stop
        self.parts = max(1, round(len(train) / STAGE))
        self.labels = labels.to(device)
        self.train = train
        self.held = np.random.default_rng([recipe.seed, 2]).permutation(held)[:WATCHED]
        self.optimizer = torch.optim.AdamW(_groups(network, recipe.weight_decay), lr=recipe.rate)

    def learned(self) -> dict[str, Tensor]:
        return self.network.learned()  # type: ignore[no-any-return]

    def scheduler(self, curve: Sequence[EntailmentStage]) -> LRScheduler:
        epoch, part = divmod(len(curve), self.parts)
        steps = len(self.steps(epoch))
        done = epoch * steps + self._starts(steps)[part]
        return rate_by_step(self.optimizer, lambda step: self.rate(step, steps), done)

    def rate(self, step: int, steps: int) -> float:
        """Rises steadily from nothing, then falls to nothing; `steps` make an epoch."""
        total, done = steps * self.epochs, step + 1
        rising = self.recipe.warm_up * total
        return self.recipe.rate * min(done / max(rising, 1), (total - done + 1) / max(total - rising, 1), 1.0)

    def steps(self, epoch: int) -> list[list[Rows]]:
        """The batches of each step of an epoch."""
        rng = np.random.default_rng([self.recipe.seed, 4, epoch])
        batches = shuffled_batches(self.train, self.inputs.lengths, self.recipe.batch, rng)
        return [batches[at : at + self.recipe.accumulate] for at in range(0, len(batches), self.recipe.accumulate)]

    def _starts(self, steps: int) -> list[int]:
        """The first step of each stage of an epoch, and that of the next epoch."""
        return np.linspace(0, steps, self.parts + 1).round().astype(int).tolist()  # type: ignore[no-any-return]

    def plan(self, number: int) -> StagePlan:
        epoch, part = divmod(number, self.parts)
        steps = self.steps(epoch)
        start, end = self._starts(len(steps))[part : part + 2]
        seed = int(np.random.default_rng([self.recipe.seed, 3, number]).integers(2**63))
        return StagePlan(steps[start:end], seed, self.rate(epoch * len(steps) + max(end - 1, 0), len(steps)))

    def loss(self, batch: Rows, pairs: int) -> Tensor:
        places = torch.from_numpy(batch).to(self.device)
        with self._precision():
            logits = self.network(*self.inputs.batch(places))
        return nn.functional.cross_entropy(logits.float(), self.labels[places], reduction="sum") / pairs

    def look(self, number: int, loss: float, plan: StagePlan) -> EntailmentStage:
        logits = self.logits(self.held)
        labels = self.labels[torch.from_numpy(self.held).to(self.device)].cpu()
        found = float(nn.functional.cross_entropy(torch.from_numpy(logits), labels))
        accuracy = float((logits.argmax(axis=1) == labels.numpy()).mean())
        return EntailmentStage(round((number + 1) / self.parts, 4), loss, found, accuracy, plan.rate)

    def cost(self, stage: EntailmentStage) -> tuple[float, float]:
        return -stage.accuracy, stage.validation_loss

    def _precision(self) -> AbstractContextManager[Any]:
        on_gpu = self.device.type == "cuda"
        return torch.autocast(self.device.type, torch.bfloat16, enabled=on_gpu and self.recipe.mixed)

    @torch.no_grad()
    def logits(self, rows: Rows) -> NDArray[np.float64]:
        """Row i is of pair `rows[i]`. In full precision, as the metric counts."""
        self.network.eval()
        place = {row: at for at, row in enumerate(rows.tolist())}
        found = np.empty((len(rows), 3))
        for batch in sorted_batches(rows, self.inputs.lengths, 4 * self.recipe.batch):
            logits = self.network(*self.inputs.batch(torch.from_numpy(batch).to(self.device)))
            found[[place[row] for row in batch.tolist()]] = logits.double().cpu().numpy()
        return found


def _groups(network: nn.Module, decay: float) -> list[dict[str, Any]]:
    """Matrices decay, all else does not."""
    learned = [parameter for parameter in network.parameters() if parameter.requires_grad]
    return [
        {"params": [parameter for parameter in learned if parameter.ndim > 1], "weight_decay": decay},
        {"params": [parameter for parameter in learned if parameter.ndim < 2], "weight_decay": 0.0},
    ]
