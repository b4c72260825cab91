"""How an entailment network is trained: its loss, and how it is validated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from dialogauge.learned.entailment.recipe import EntailmentRecipe
from dialogauge.learned.training.loop import StagePlan
from dialogauge.learned.training.token_pairs import PairInputs, PairTask, Rows


@dataclass(frozen=True)
class EntailmentStage:
    """What was learned up to some point of an epoch."""

    epoch: float
    loss: float
    validation_loss: float
    accuracy: float
    rate: float
    """At its end."""


class EntailmentTask(PairTask[EntailmentStage]):
    stage = EntailmentStage

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
        super().__init__(network, inputs, train, held, recipe, device)
        self.labels = labels.to(device)

    def batch_loss(self, outputs: Tensor, places: Tensor) -> Tensor:
        return nn.functional.cross_entropy(outputs, self.labels[places], reduction="sum")

    def look(self, number: int, loss: float, plan: StagePlan) -> EntailmentStage:
        logits = self.outputs(self.held)
        labels = self.labels[torch.from_numpy(self.held).to(self.device)].cpu()
        found = float(nn.functional.cross_entropy(torch.from_numpy(logits), labels))
        accuracy = float((logits.argmax(axis=1) == labels.numpy()).mean())
        return EntailmentStage(round((number + 1) / self.parts, 4), loss, found, accuracy, plan.rate)

    def cost(self, stage: EntailmentStage) -> tuple[float, float]:
        return -stage.accuracy, stage.validation_loss
