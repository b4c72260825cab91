"""A network, trained until it judges pairs held back no better."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dialogauge.errors import DialogaugeError
from dialogauge.learn.checkpoint import Checkpoint
from dialogauge.learn.entailment.batches import shuffled_batches, sorted_batches
from dialogauge.learn.entailment.data import Rows
from dialogauge.learn.entailment.inputs import PairInputs
from dialogauge.learn.entailment.recipe import EntailmentRecipe
from dialogauge.learn.optimizer_state import packed, unpack

STAGE = 50_000
"""Pairs between two looks at the pairs held back; an epoch has at least one."""
WATCHED = 10_000
"""The most pairs held back that are looked at while training goes on."""
LARGEST_GRADIENT = 1.0
NETWORK, BEST = "network.", "best."
Tick = Callable[["Stage"], Any]


@dataclass(frozen=True)
class Stage:
    """What was learned up to some point of an epoch."""

    epoch: float
    loss: float
    validation_loss: float
    accuracy: float
    rate: float
    """At its end."""


@dataclass(frozen=True)
class Fitted:
    weights: dict[str, Tensor]
    """Of the stage with the highest accuracy on pairs held back; of several, that with the lowest loss."""
    stages: list[Stage]
    best: int


class Fitting:
    """Order and dropout of every stage come from the seed and its number: a training that is taken up again after a
    kill goes on as if nothing had been."""

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
        self.labels = labels.to(device)
        self.train = train
        self.held = np.random.default_rng([recipe.seed, 2]).permutation(held)[:WATCHED]
        self.parts = max(1, round(len(train) / STAGE))
        """Stages of an epoch."""
        self.adam = torch.optim.AdamW(_groups(network, recipe.weight_decay), lr=recipe.rate)
        self.stages: list[Stage] = []
        self.best: dict[str, Tensor] = {}
        self.learned: Callable[[int], Any] = lambda _: None
        """Told after each step of how many pairs it was."""

    @property
    def best_stage(self) -> int:
        order = [(-stage.accuracy, stage.validation_loss) for stage in self.stages]
        return order.index(min(order)) if order else 0

    @property
    def done(self) -> bool:
        waited = len(self.stages) - 1 - self.best_stage
        last = len(self.stages) >= self.recipe.epochs * self.parts
        return last or (bool(self.stages) and waited >= self.recipe.stop * self.parts)

    def run(self, checkpoint: Checkpoint | None, tick: Tick, restored: Tick | None = None) -> Fitted:
        """`tick` is told of every stage as it ends; `restored`, where given, of those that a checkpoint brings back."""
        if checkpoint and (found := checkpoint.read()):
            self._restore(*found)
            for stage in self.stages:
                (restored or tick)(stage)
        while not self.done:
            tick(self._stage())
            if checkpoint:
                checkpoint.write(*self._state())
        self._load(self.best)
        return Fitted(self.best, self.stages, self.best_stage)

    def _stage(self) -> Stage:
        number = len(self.stages)
        epoch, part = divmod(number, self.parts)
        steps = self._steps(epoch)
        bounds = np.linspace(0, len(steps), self.parts + 1).round().astype(int)
        gpus = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(devices=gpus):
            torch.manual_seed(int(np.random.default_rng([self.recipe.seed, 3, number]).integers(2**63)))
            here = range(bounds[part], bounds[part + 1])
            loss = self._learn([steps[at] for at in here], [self._rate(epoch, at, len(steps)) for at in here])
        logits = self.logits(self.held)
        labels = self.labels[torch.from_numpy(self.held).to(self.device)].cpu()
        found = float(nn.functional.cross_entropy(torch.from_numpy(logits), labels))
        if not np.isfinite([loss, found]).all():
            raise DialogaugeError(f"the loss is no number after epoch {(number + 1) / self.parts:g}: try a lower rate")
        accuracy = float((logits.argmax(axis=1) == labels.numpy()).mean())
        rate = self._rate(epoch, max(bounds[part + 1] - 1, 0), len(steps))
        stage = Stage(round((number + 1) / self.parts, 4), loss, found, accuracy, rate)
        self.stages.append(stage)
        if self.best_stage == number:
            self.best = {name: tensor.detach().clone() for name, tensor in self.network.learned().items()}
        return stage

    def _steps(self, epoch: int) -> list[list[Rows]]:
        """The batches of each step of an epoch."""
        rng = np.random.default_rng([self.recipe.seed, 4, epoch])
        batches = shuffled_batches(self.train, self.inputs.lengths, self.recipe.batch, rng)
        return [batches[at : at + self.recipe.accumulate] for at in range(0, len(batches), self.recipe.accumulate)]

    def _rate(self, epoch: int, step: int, steps: int) -> float:
        """Rises steadily from nothing, then falls to nothing."""
        total = steps * self.recipe.epochs
        done = epoch * steps + step + 1
        rising = self.recipe.warm_up * total
        return self.recipe.rate * min(done / max(rising, 1), (total - done + 1) / max(total - rising, 1), 1.0)

    def _learn(self, steps: list[list[Rows]], rates: list[float]) -> float:
        self.network.train()
        total, count = torch.zeros((), device=self.device), 0
        for step, rate in zip(steps, rates, strict=True):
            for group in self.adam.param_groups:
                group["lr"] = rate
            self.adam.zero_grad()
            pairs = sum(map(len, step))
            for rows in step:
                loss = self._loss(rows) / pairs
                loss.backward()  # type: ignore[no-untyped-call]
                total += loss.detach() * pairs
            nn.utils.clip_grad_norm_(self.network.parameters(), LARGEST_GRADIENT)
            self.adam.step()
            self.learned(pairs)
            count += pairs
        return float(total) / max(count, 1)

    def _loss(self, rows: Rows) -> Tensor:
        """The sum over a batch."""
        places = torch.from_numpy(rows).to(self.device)
        with self._precision():
            logits = self.network(*self.inputs.batch(places))
        return nn.functional.cross_entropy(logits.float(), self.labels[places], reduction="sum")

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

    def _load(self, weights: dict[str, Tensor]) -> None:
        with torch.no_grad():
            for name, tensor in self.network.learned().items():
                tensor.copy_(weights[name])

    def _state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        tensors = {NETWORK + name: tensor for name, tensor in self.network.learned().items()}
        tensors |= {BEST + name: tensor for name, tensor in self.best.items()}
        return tensors | packed(self.adam), {"stages": [asdict(stage) for stage in self.stages]}

    def _restore(self, tensors: dict[str, Tensor], record: dict[str, Any]) -> None:
        self.stages = [Stage(**stage) for stage in record["stages"]]
        named = {
            kind: {name.removeprefix(kind): tensor for name, tensor in tensors.items() if name.startswith(kind)}
            for kind in (NETWORK, BEST)
        }
        self._load(named[NETWORK])
        self.best = {name: tensor.to(self.device) for name, tensor in named[BEST].items()}
        unpack(self.adam, tensors)


def _groups(network: nn.Module, decay: float) -> list[dict[str, Any]]:
    """Matrices decay, all else does not."""
    learned = [parameter for parameter in network.parameters() if parameter.requires_grad]
    return [
        {"params": [parameter for parameter in learned if parameter.ndim > 1], "weight_decay": decay},
        {"params": [parameter for parameter in learned if parameter.ndim < 2], "weight_decay": 0.0},
    ]
