"""How a gauge is trained: its loss, and how it is validated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dialogauge.learned.gauge.examples import HUMAN, Examples
from dialogauge.learned.gauge.model import OVERALL, PARTS
from dialogauge.learned.training.loop import StagePlan
from dialogauge.learned.training.token_pairs import PairInputs, PairRecipe, PairTask, Rows
from dialogauge.stats.correlations import concordance


@dataclass(frozen=True)
class GaugeStage:
    """What was learned up to some point of an epoch."""

    epoch: float
    loss: float
    validation_loss: float
    accuracy: float
    """Of all pairs of a real reply and one that is none, or of replies that people rated differently: how often the
    better one scores higher."""
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

    def better(self) -> NDArray[np.float64]:
        """Of the replies held back: what should go with a higher score."""
        return np.array([self.examples.kinds[row] == HUMAN for row in self.held.tolist()], float)

    def look(self, number: int, loss: float, plan: StagePlan) -> GaugeStage:
        outputs = torch.from_numpy(self.outputs(self.held))
        targets = self.targets[torch.from_numpy(self.held).to(self.device)].double().cpu()
        found = float(masked_loss(outputs, targets).mean())
        accuracy = concordance(outputs[:, PARTS.index(OVERALL)].numpy(), self.better())
        return GaugeStage(round((number + 1) / self.parts, 4), loss, found, accuracy, plan.rate)

    def cost(self, stage: GaugeStage) -> float:
        return stage.validation_loss


def masked_loss(outputs: Tensor, targets: Tensor) -> Tensor:
    """For each example the sum of cross-entropies of what is known of it."""
    known = ~targets.isnan()
    losses = nn.functional.binary_cross_entropy_with_logits(outputs, targets.nan_to_num(), reduction="none")
    return (losses * known).sum(dim=1)


class RatingTask(GaugeTask):
    """Ratings after conversations: every round is made, since the ratings held back are too few to choose by."""

    def better(self) -> NDArray[np.float64]:
        return np.asarray(self.examples.targets[self.held, PARTS.index(OVERALL)], np.float64)

    def cost(self, stage: GaugeStage) -> float:
        return -stage.epoch
