"""The training loop of every learned metric: stages, early stopping, checkpoints and progress.

A `Task` says what a training has of its own: its batches, its loss, its schedule and how it is validated.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR, LRScheduler, ReduceLROnPlateau

from dialogauge.errors import DialogaugeError
from dialogauge.learned.training.checkpoint import Checkpoint
from dialogauge.progress import progress_bar

NETWORK, BEST, OPTIMIZER = "network.", "best.", "adam."
"""What names of a checkpoint's tensors begin with."""


class Stage(Protocol):
    """What was learned up to a look at the pairs held back, as a line of a card's learning curve."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def epoch(self) -> float: ...
    @property
    def loss(self) -> float: ...
    @property
    def validation_loss(self) -> float: ...
    @property
    def accuracy(self) -> float: ...


S = TypeVar("S", bound=Stage)


@dataclass(frozen=True)
class StagePlan:
    """What a stage learns from."""

    steps: Sequence[Sequence[Any]]
    """The batches of each step, whose gradients are added up."""
    seed: int
    """Of dropout."""
    rate: float
    """As the learning curve has it."""
    negatives: str = ""
    """A digest of those that were drawn."""


@dataclass(frozen=True)
class Fitted(Generic[S]):
    weights: dict[str, Tensor]
    """Of the best stage."""
    curve: list[S]
    best: int
    earlier: float = 0.0
    """Seconds of processes that were broken off, up to their last checkpoint."""


class Task(ABC, Generic[S]):
    """What the loop asks of a training."""

    network: nn.Module
    optimizer: torch.optim.Optimizer
    device: torch.device
    stage: type[S]
    pairs: int
    """Learned from in every epoch."""
    epochs: int
    """At most."""
    stop: int
    """Training ends after so many epochs without gain."""
    parts: int = 1
    """Stages of an epoch."""
    largest_gradient: float | None = None

    @abstractmethod
    def plan(self, number: int) -> StagePlan:
        """Of the stage of this number, from 0; the same whenever it is asked for."""

    @abstractmethod
    def loss(self, batch: Any, pairs: int) -> Tensor:
        """What the batch adds to the mean loss over the so many pairs of its step."""

    @abstractmethod
    def scheduler(self, curve: Sequence[S]) -> LRScheduler:
        """The learning rate as it stands after these stages."""

    @abstractmethod
    def look(self, number: int, loss: float, plan: StagePlan) -> S:
        """Validates what was learned in the stage of this number."""

    @abstractmethod
    def cost(self, stage: S) -> Any:
        """Lowest for the best stage; of several, the first counts."""

    def learned(self) -> dict[str, Tensor]:
        """All that training changes, by the names of a model directory."""
        return self.network.state_dict()

    def finished(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """What is left to be done to the best weights, which the network has by then."""
        return weights


class Loop(Generic[S]):
    """Everything random in a stage comes from the seed and the stage's number: a training that is taken up again after
    a kill goes on as if nothing had been."""

    def __init__(self, task: Task[S], side_by_side: int = 1) -> None:
        """So many trainings share the time that passes."""
        self.task = task
        self._side_by_side = side_by_side
        self._begun = time.monotonic()
        self.earlier = 0.0
        self.curve: list[S] = []
        self.weights: dict[str, Tensor] = {}
        """Of the best stage so far."""

    @property
    def best(self) -> int:
        costs = [self.task.cost(stage) for stage in self.curve]
        return costs.index(min(costs)) if costs else 0

    @property
    def end(self) -> int:
        """The number of stages if nothing more is learned from now on."""
        seen = self.best + 1 if self.curve else 0
        return min(seen + self.task.stop * self.task.parts, self.task.epochs * self.task.parts)

    def run(self, checkpoint: Checkpoint | None = None, name: str = "training", progress: bool = False) -> Fitted[S]:
        self.begin(checkpoint)
        done, total = self._pairs(len(self.curve)), self._pairs(self.end)
        options = {"total": total, "initial": done, "unit": "pair", "unit_scale": True}
        with progress_bar(None, name, shown=progress, **options) as bar:
            while not self.over:
                stage = self._stage(bar.update)
                self.keep(checkpoint)
                bar.total = self._pairs(self.end)
                bar.set_postfix(loss=f"{stage.validation_loss:.4f}", accuracy=f"{stage.accuracy:.4f}")
        return self.fitted()

    def begin(self, checkpoint: Checkpoint | None) -> None:
        """Where the checkpoint stands, if there is one."""
        if checkpoint and (found := checkpoint.read()):
            self._restore(*found)
        self.scheduler = self.task.scheduler(self.curve)

    @property
    def over(self) -> bool:
        return len(self.curve) >= self.end

    def keep(self, checkpoint: Checkpoint | None) -> None:
        if checkpoint:
            checkpoint.write(*self._state())

    def fitted(self) -> Fitted[S]:
        self._load(self.weights)
        return Fitted(self.task.finished(self.weights), self.curve, self.best, self.earlier)

    def _pairs(self, stages: int) -> int:
        return self.task.pairs * stages // self.task.parts

    def _stage(self, progressed: Callable[[int], Any]) -> S:
        number = len(self.curve)
        plan = self.task.plan(number)
        gpus = [self.task.device] if self.task.device.type == "cuda" else []
        with torch.random.fork_rng(devices=gpus):
            torch.manual_seed(plan.seed)
            loss = self._learn(plan.steps, progressed)
        stage = self.task.look(number, loss, plan)
        self.add(stage)
        return stage

    def add(self, stage: S) -> None:
        """What was learned last."""
        if not np.isfinite([stage.loss, stage.validation_loss]).all():
            raise DialogaugeError(f"the loss is no number after epoch {stage.epoch:g}: try a lower learning rate")
        self.curve.append(stage)
        if isinstance(self.scheduler, ReduceLROnPlateau):
            self.scheduler.step(stage.validation_loss)
        if self.best == len(self.curve) - 1:
            self.weights = {name: tensor.detach().clone() for name, tensor in self.task.learned().items()}

    def _learn(self, steps: Sequence[Sequence[Any]], progressed: Callable[[int], Any]) -> float:
        """The mean loss. `progressed` is called with the number of pairs after each step."""
        network, optimizer = self.task.network.train(), self.task.optimizer
        total, count = torch.zeros((), device=self.task.device), 0
        for step in steps:
            optimizer.zero_grad()
            pairs = sum(map(len, step))
            for batch in step:
                loss = self.task.loss(batch, pairs)
                loss.backward()  # type: ignore[no-untyped-call]
                total += loss.detach() * pairs
            if self.task.largest_gradient:
                nn.utils.clip_grad_norm_(network.parameters(), self.task.largest_gradient)
            optimizer.step()
            if not isinstance(self.scheduler, ReduceLROnPlateau):
                self.scheduler.step()
            progressed(pairs)
            count += pairs
        return float(total) / max(count, 1)

    @torch.no_grad()
    def _load(self, weights: Mapping[str, Tensor]) -> None:
        for name, tensor in self.task.learned().items():
            tensor.copy_(weights[name])

    def _state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """For a checkpoint."""
        optimizer = {
            f"{place}.{name}": torch.as_tensor(value)
            for place, state in self.task.optimizer.state_dict()["state"].items()
            for name, value in state.items()
        }
        parts = {NETWORK: self.task.learned(), BEST: self.weights, OPTIMIZER: optimizer}
        tensors = {kind + name: tensor for kind, named in parts.items() for name, tensor in named.items()}
        seconds = self.earlier + (time.monotonic() - self._begun) / self._side_by_side
        return tensors, {"epochs": [asdict(stage) for stage in self.curve], "seconds": seconds}

    def _restore(self, tensors: Mapping[str, Tensor], record: Mapping[str, Any]) -> None:
        # Earlier versions wrote RUBER's networks without a prefix, and stages of entailment by that name.
        self.curve = [self.task.stage(**stage) for stage in record.get("epochs", record.get("stages"))]
        self.earlier = float(record.get("seconds", 0.0))
        best, optimizer = (
            {name.removeprefix(kind): tensor for name, tensor in tensors.items() if name.startswith(kind)}
            for kind in (BEST, OPTIMIZER)
        )
        network = {name: tensor for name, tensor in tensors.items() if not name.startswith((BEST, OPTIMIZER))}
        self._load({name.removeprefix(NETWORK): tensor for name, tensor in network.items()})
        self.weights = {name: tensor.to(self.task.device) for name, tensor in best.items()}
        state: dict[int, dict[str, Tensor]] = {}
        for name, tensor in optimizer.items():
            place, _, what = name.partition(".")
            state.setdefault(int(place), {})[what] = tensor
        groups = self.task.optimizer.state_dict()["param_groups"]
        self.task.optimizer.load_state_dict({"state": state, "param_groups": groups})


def rate_by_step(optimizer: torch.optim.Optimizer, rate: Callable[[int], float], done: int) -> LambdaLR:
    """A schedule of the learning rate itself, by the number of the step, from 0; so many are done."""
    for group in optimizer.param_groups:
        group["lr"] = group["initial_lr"] = 1.0  # what torch multiplies the rate by
    return LambdaLR(optimizer, rate, last_epoch=done - 1)


def earlier_seconds(fitted: Iterable[Fitted[Any]]) -> float:
    """Of processes that were broken off, all networks together."""
    return sum(one.earlier for one in fitted)


def as_arrays(weights: Mapping[str, Tensor], half: bool) -> dict[str, Any]:
    """As a model directory holds them."""
    dtype = torch.float16 if half else torch.float32
    return {name: tensor.to(dtype).cpu().numpy() for name, tensor in weights.items()}
