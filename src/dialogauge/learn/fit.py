"""One network, trained until it learns nothing more."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dialogauge.errors import DialogaugeError
from dialogauge.learn.calibration import calibrate
from dialogauge.learn.checkpoint import Checkpoint
from dialogauge.learn.losses import among_all, pairwise
from dialogauge.learn.negatives import Sampler
from dialogauge.learn.optimizer_state import PREFIX, packed, unpack
from dialogauge.learn.pairs import Pairs, Rows
from dialogauge.learn.recipe import RuberRecipe
from dialogauge.learn.schedules import rate_of_epoch, rate_of_step
from dialogauge.models.inputs import TextInputs
from dialogauge.models.networks import earlier, make_network
from dialogauge.models.shape import RuberShape
from dialogauge.models.towers import Towers

SCORED = 4096
"""Pairs scored at a time where nothing is learned."""
Tick = Callable[["Epoch"], Any]
BEST = "best."


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


@dataclass(frozen=True)
class Held:
    """Pairs held back, each with negatives that stay the same."""

    pairs: Pairs
    negatives: Rows


@dataclass(frozen=True)
class Fitted:
    weights: dict[str, Tensor]
    """Of the epoch with the lowest validation loss."""
    epochs: list[Epoch]
    best: int


class Fitting:
    """Every epoch draws its order, negatives and dropout from the seed and its own number: one that is taken up
    again after a kill goes on as if nothing had been."""

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
        self._same = torch.from_numpy(sampler.same).to(device)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.network = make_network(shape).to(device)
        self.adam = torch.optim.Adam(self.network.parameters(), lr=recipe.rate)
        self.epochs: list[Epoch] = []
        self.best: dict[str, Tensor] = {}

    @property
    def best_epoch(self) -> int:
        losses = [epoch.validation_loss for epoch in self.epochs]
        return int(np.argmin(losses)) if losses else 0

    @property
    def done(self) -> bool:
        waited = len(self.epochs) - 1 - self.best_epoch
        return len(self.epochs) >= self.recipe.epochs or (bool(self.epochs) and waited >= self.recipe.stop)

    def run(self, checkpoint: Checkpoint | None, tick: Tick, restored: Tick | None = None) -> Fitted:
        """`tick` is told of every epoch as it ends; `restored`, where given, of those that a checkpoint brings back."""
        if checkpoint and (found := checkpoint.read()):
            self._restore(*found)
            for epoch in self.epochs:
                (restored or tick)(epoch)
        while not self.done:
            tick(self._epoch())
            if checkpoint:
                checkpoint.write(*self._state())
        return Fitted(self._calibrated(), self.epochs, self.best_epoch)

    def _calibrated(self) -> dict[str, Tensor]:
        """The best weights. Scores that were only taught to rank become probabilities."""
        if self.recipe.loss != "softmax":
            return self.best
        self.network.load_state_dict(self.best)
        true, negative = (logits.double().cpu().numpy() for logits in self.held_logits())
        return {**self.best, "calibration": torch.tensor(calibrate(true, negative))}

    def _epoch(self) -> Epoch:
        number = len(self.epochs)
        rng = np.random.default_rng([self.seed, number])
        order = rng.permutation(len(self.sampler.pairs))
        drawn = order if self.recipe.loss == "softmax" else self._negatives(order, rng)
        rate = rate_of_epoch(self.recipe, [epoch.validation_loss for epoch in self.epochs])
        gpus = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(devices=gpus):
            torch.manual_seed(int(rng.integers(2**63)))
            loss = self._learn(order, None if drawn is order else drawn, rate)
        found = self.validate()
        if not np.isfinite([loss, *found]).all():
            raise DialogaugeError(f"the loss is no number after epoch {number + 1}: try a lower learning rate")
        epoch = Epoch(number + 1, loss, *found, rate, hashlib.sha256(drawn.tobytes()).hexdigest()[:8])
        self.epochs.append(epoch)
        if self.best_epoch == number:
            self.best = {name: tensor.clone() for name, tensor in self.network.state_dict().items()}
        return epoch

    def _negatives(self, order: Rows, rng: np.random.Generator) -> Rows:
        return self.sampler.draw(self.recipe.negatives, order, self.recipe.batch, rng)

    def _learn(self, order: Rows, negatives: Rows | None, rate: float) -> float:
        self.network.train()
        total = torch.zeros((), device=self.device)
        batches = torch.split(self._rows(self.sampler.pairs.select(order), negatives), self.recipe.batch)
        for step, batch in enumerate(batches):
            for group in self.adam.param_groups:
                group["lr"] = rate_of_step(self.recipe, rate, len(self.epochs), step, len(batches))
            loss = self._among_all(batch) if negatives is None else pairwise(self.recipe, *self._logits(batch))
            self.adam.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self.adam.step()
            total += loss.detach() * len(batch)
        return float(total) / len(order)

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
        """The loss, and the share of negatives that score lower than the true response; ties count half."""
        true, negative = self.held_logits()
        won = (true[:, None] > negative).double() + (true[:, None] == negative).double() / 2
        return float(pairwise(self.recipe, true, negative)), float(won.mean())

    def _state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        tensors = dict(self.network.state_dict())
        tensors |= {f"{BEST}{name}": tensor for name, tensor in self.best.items()}
        return tensors | packed(self.adam), {"epochs": [asdict(epoch) for epoch in self.epochs]}

    def _restore(self, tensors: dict[str, Tensor], record: dict[str, Any]) -> None:
        self.epochs = [Epoch(**epoch) for epoch in record["epochs"]]
        self.best = {name.removeprefix(BEST): tensor for name, tensor in tensors.items() if name.startswith(BEST)}
        network = {name: tensor for name, tensor in tensors.items() if not name.startswith((BEST, PREFIX))}
        self.network.load_state_dict(network)
        unpack(self.adam, tensors)
