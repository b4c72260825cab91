"""How a gauge is trained: its head, its loss, and how it is validated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from dialogauge.learned.gauge.examples import HUMAN, Examples
from dialogauge.learned.gauge.model import OVERALL, PARTS
from dialogauge.learned.training.loop import StagePlan
from dialogauge.learned.training.token_pairs import PairInputs, PairRecipe, PairTask, Rows


class GaugeHead(nn.Module):
    """A number for each part, linear in the vector of the pair."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.parts = nn.Linear(width, len(PARTS))

    def forward(self, vectors: Tensor) -> Tensor:
        return self.parts(self.dropout(vectors))  # type: ignore[no-any-return]


@dataclass(frozen=True)
class GaugeStage:
    """What was learned up to some point of an epoch."""

    epoch: float
    loss: float
    validation_loss: float
    accuracy: float
    """How often a real reply scores above one that is none, of all pairs of such replies."""
    rate: float


class GaugeTask(PairTask[GaugeStage]):
    stage = GaugeStage

    def __init__(
        self,
        network: Any,
        inputs: PairInputs,
        examples: Examples,
        train: Rows,
        held: Rows,
        recipe: PairRecipe,
        device: torch.device,
    ) -> None:
        super().__init__(network, inputs, train, held, recipe, device)
        self.examples = examples
        self.targets = torch.from_numpy(examples.targets).to(device)

    def batch_loss(self, outputs: Tensor, places: Tensor) -> Tensor:
        return masked_loss(outputs, self.targets[places]).sum()

    def look(self, number: int, loss: float, plan: StagePlan) -> GaugeStage:
        outputs = torch.from_numpy(self.outputs(self.held))
        targets = self.targets[torch.from_numpy(self.held).to(self.device)].double().cpu()
        found = float(masked_loss(outputs, targets).mean())
        real = np.array([self.examples.kinds[row] == HUMAN for row in self.held.tolist()])
        accuracy = ranking_accuracy(outputs[:, OVERALL].numpy(), real)
        return GaugeStage(round((number + 1) / self.parts, 4), loss, found, accuracy, plan.rate)

    def cost(self, stage: GaugeStage) -> float:
        return stage.validation_loss


def masked_loss(outputs: Tensor, targets: Tensor) -> Tensor:
    """For each example the sum of cross-entropies of what is known of it."""
    known = ~targets.isnan()
    losses = nn.functional.binary_cross_entropy_with_logits(outputs, targets.nan_to_num(), reduction="none")
    return (losses * known).sum(dim=1)


def ranking_accuracy(scores: Any, real: Any) -> float:
    """The share of pairs of a real reply and another in which the real one scores higher; ties count half."""
    from scipy.stats import rankdata

    count, others = int(real.sum()), int((~real).sum())
    if not count or not others:
        return float("nan")
    return float((rankdata(scores)[real].sum() - count * (count + 1) / 2) / (count * others))
