"""How a gauge is trained: its loss, and how it is validated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from dialogauge.learned.gauge.examples import HUMAN, Examples
from dialogauge.learned.gauge.model import PARTS
from dialogauge.learned.training.loop import StagePlan
from dialogauge.learned.training.token_pairs import PairInputs, PairRecipe, PairTask, Rows


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
        accuracy = ranking_accuracy(outputs[:, PARTS.index("overall")].numpy(), real)
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


class RatingTask(GaugeTask):
    """Ratings after conversations: every round is made, since the ratings held back are too few to choose by."""

    def look(self, number: int, loss: float, plan: StagePlan) -> GaugeStage:
        """The accuracy is that of all pairs of replies held back whose ratings differ."""
        outputs = torch.from_numpy(self.outputs(self.held))
        targets = self.targets[torch.from_numpy(self.held).to(self.device)].double().cpu()
        found = float(masked_loss(outputs, targets).mean())
        place = PARTS.index("overall")
        accuracy = concordance(outputs[:, place].numpy(), targets[:, place].numpy())
        return GaugeStage(round((number + 1) / self.parts, 4), loss, found, accuracy, plan.rate)

    def cost(self, stage: GaugeStage) -> float:
        return -stage.epoch


def concordance(scores: Any, ratings: Any) -> float:
    """The share of pairs of different ratings in which the higher-rated one scores higher; ties count half."""
    higher = ratings[:, None] > ratings[None, :]
    right = np.sign(scores[:, None] - scores[None, :])
    return float(((right + 1) / 2)[higher].mean()) if higher.any() else float("nan")
