"""How a relatedness network is trained: its batches, losses, schedules and validation."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional
from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

from dialogauge.learned.ruber.inputs import RuberShape, TextInputs
from dialogauge.learned.ruber.networks import Towers, earlier, make_network
from dialogauge.learned.ruber.pairs import Pairs, Rows, Sampler
from dialogauge.learned.ruber.recipe import RuberRecipe
from dialogauge.learned.training.loop import StagePlan, Task, rate_by_step

SCORED = 4096
"""Pairs scored at a time where nothing is learned."""
WARM_UP = 0.05
"""The share of all steps in which a linear schedule rises from nothing."""


@dataclass(frozen=True)
class Epoch:
    """What one pass over the pairs came to."""

    epoch: int
    loss: float
    validation_loss: float
    ranking_accuracy: float
    rate: float
    """At its start, warm-up aside."""
    negatives: str
    """The first digits of a hash of the negatives that were drawn; of the order of the pairs, which makes the batches,
    where these are the negatives."""

    @property
    def accuracy(self) -> float:
        return self.ranking_accuracy


@dataclass(frozen=True)
class Held:
    """Pairs held back, each with negatives that stay the same."""

    pairs: Pairs
    negatives: Rows


class RuberTask(Task[Epoch]):
    """Every epoch draws its order, negatives and dropout from the seed and its own number."""

    stage = Epoch

    def __init__(
        self,
        sampler: Sampler,
        held: Held,
        inputs: TextInputs,
        shape: RuberShape,
        recipe: RuberRecipe,
        seed: int,
        device: torch.device,
    ) -> None:
        self.sampler, self.held, self.inputs, self.recipe, self.seed = sampler, held, inputs, recipe, seed
        self.device = device
        self.pairs, self.epochs, self.stop = len(sampler.pairs), recipe.epochs, recipe.stop
        self._same = torch.from_numpy(sampler.same).to(device)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.network = make_network(shape).to(device)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=recipe.rate)

    def scheduler(self, curve: Sequence[Epoch]) -> LRScheduler:
        if self.recipe.schedule == "linear" or self.recipe.decay == 1:
            return rate_by_step(self.optimizer, self.rate, len(curve) * self._steps)
        plateau = ReduceLROnPlateau(
            self.optimizer, factor=self.recipe.decay, patience=self.recipe.patience - 1, threshold=0, eps=0
        )
        for epoch in curve:
            plateau.step(epoch.validation_loss)
        return plateau

    @property
    def _steps(self) -> int:
        """Of an epoch."""
        return -(-self.pairs // self.recipe.batch)

    def rate(self, step: int) -> float:
        """Of a linear schedule, or of one whose plateaus change nothing."""
        if self.recipe.schedule == "plateau":
            return self.recipe.rate
        epoch, place = divmod(step, self._steps)
        done = (epoch + place / self._steps) / self.epochs
        rising = min(done / WARM_UP + 1 / (self._steps * self.epochs), 1.0)
        return self.recipe.rate * rising * (1 - done)

    def plan(self, number: int) -> StagePlan:
        rng = np.random.default_rng([self.seed, number])
        order = rng.permutation(self.pairs)
        alone = self.recipe.loss == "softmax"
        drawn = order if alone else self.sampler.draw(self.recipe.negatives, order, self.recipe.batch, rng)
        rows = self._rows(self.sampler.pairs.select(order), None if alone else drawn)
        linear = self.recipe.schedule == "linear"
        return StagePlan(
            [(batch,) for batch in torch.split(rows, self.recipe.batch)],
            int(rng.integers(2**63)),
            self.recipe.rate * (1 - number / self.epochs) if linear else self.optimizer.param_groups[0]["lr"],
            hashlib.sha256(drawn.tobytes()).hexdigest()[:8],
        )

    def loss(self, batch: Tensor, pairs: int) -> Tensor:  # noqa: ARG002, every step is one batch
        if self.recipe.loss == "softmax":
            return self._among_all(batch)
        return pairwise(self.recipe, *self._logits(batch))

    def look(self, number: int, loss: float, plan: StagePlan) -> Epoch:
        return self.epoch(number, loss, plan, self.validate())

    def epoch(self, number: int, loss: float, plan: StagePlan, judged: tuple[float, float]) -> Epoch:
        """`judged` are loss and accuracy on the pairs held back."""
        return Epoch(number + 1, loss, *judged, plan.rate, plan.negatives)

    def rates(self, epoch: int) -> list[float]:
        """Of each step."""
        if self.recipe.schedule == "plateau":
            return [self.optimizer.param_groups[0]["lr"]] * self._steps
        return [self.rate(epoch * self._steps + step) for step in range(self._steps)]

    def cost(self, stage: Epoch) -> float:
        return stage.validation_loss

    def finished(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """Scores that were only taught to rank become probabilities."""
        if self.recipe.loss != "softmax":
            return weights
        true, negative = (logits.double().cpu().numpy() for logits in self.held_logits())
        return {**weights, "calibration": torch.tensor(calibrate(true, negative))}

    def _rows(self, pairs: Pairs, negatives: Rows | None) -> Tensor:
        """Rows of texts: query, what was said before it, response, negatives."""
        columns = [pairs.queries, pairs.previous, pairs.responses, *([] if negatives is None else negatives.T)]
        return torch.from_numpy(np.column_stack(columns)).to(self.device)

    def _logits(self, batch: Tensor) -> tuple[Tensor, Tensor]:
        """Of the true responses (pairs) and of the negatives (pairs, kinds)."""
        queries, previous, responses = batch[:, 0], batch[:, 1], batch[:, 2:]
        logits: Tensor = self.network(
            self.inputs[queries], self.inputs[responses.reshape(-1)], earlier(self.inputs, previous)
        )
        logits = logits.view(responses.shape)
        return logits[:, 0], logits[:, 1:]

    def _among_all(self, batch: Tensor) -> Tensor:
        assert isinstance(self.network, Towers)
        queries, previous, responses = batch[:, 0], batch[:, 1], batch[:, 2]
        texts: Any = (self.inputs[queries], self.inputs[responses], earlier(self.inputs, previous))
        return among_all(self.network.all_pairs(*texts), self._same[responses])

    @torch.no_grad()
    def held_logits(self) -> tuple[Tensor, Tensor]:
        """Of the pairs held back: (pairs), and (pairs, negatives)."""
        self.network.eval()
        rows = self._rows(self.held.pairs, self.held.negatives)
        logits = [self._logits(batch) for batch in torch.split(rows, SCORED // rows.shape[1] + 1)]
        true, negative = (torch.cat(parts) for parts in zip(*logits, strict=True))
        return true, negative

    def validate(self) -> tuple[float, float]:
        return self.judge(*self.held_logits())

    def judge(self, true: Tensor, negative: Tensor) -> tuple[float, float]:
        """The loss, and the share of negatives that score lower than the true response; ties count half."""
        won = (true[:, None] > negative).double() + (true[:, None] == negative).double() / 2
        return float(pairwise(self.recipe, true, negative)), float(won.mean())


def pairwise(recipe: RuberRecipe, true: Tensor, negative: Tensor) -> Tensor:
    """Of logits of true responses (pairs) and of their negatives (pairs, kinds). True responses count as much as all
    negatives together."""
    if recipe.loss == "ranking":
        return functional.relu(recipe.margin - (true.sigmoid()[:, None] - negative.sigmoid())).mean()
    if recipe.loss == "softmax":
        return (torch.logsumexp(torch.cat([true[:, None], negative], dim=1), dim=1) - true).mean()
    return (functional.softplus(-true).mean() + functional.softplus(negative).mean()) / 2


def among_all(scores: Tensor, same: Tensor) -> Tensor:
    """Of scores of every query with every response of a batch: the true ones stand on the diagonal. Responses with the
    same text as the true one (equal numbers in `same`) are no negatives."""
    others = ~torch.eye(len(scores), dtype=torch.bool, device=scores.device)
    masked = scores.masked_fill((same[:, None] == same[None]) & others, -torch.inf)
    return functional.cross_entropy(masked, torch.arange(len(scores), device=scores.device))


def calibrate(true: NDArray[np.float64], negative: NDArray[np.float64]) -> tuple[float, float]:
    """Slope (above 0) and offset of the logistic curve that tells true responses from others best, where both are
    equally likely: Platt's scaling. A little weight on slope 1 and offset 0 keeps it finite where nothing overlaps."""
    from scipy.optimize import minimize

    scores = np.concatenate([true, negative.ravel()])
    signs = np.concatenate([np.ones(true.size), -np.ones(negative.size)])
    weights = np.concatenate([np.full(true.size, 0.5 / true.size), np.full(negative.size, 0.5 / negative.size)])

    def loss(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        slope, offset = np.exp(values[0]), values[1]
        margins = signs * (slope * scores + offset)
        # The derivative of log(1 + e^-m) is -1 / (1 + e^m).
        pull = -weights * signs / (1 + np.exp(np.clip(margins, -500, 500)))
        penalty = 1e-4 * values
        gradient = np.array([(pull * scores).sum() * slope, pull.sum()]) + penalty
        return float((weights * np.logaddexp(0, -margins)).sum() + (penalty * values).sum() / 2), gradient

    found = minimize(loss, np.zeros(2), jac=True, method="BFGS")
    # Digits beyond the fifth differ by how a processor rounds.
    return float(f"{np.exp(found.x[0]):.5g}"), float(f"{found.x[1]:.5g}")
