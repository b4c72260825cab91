"""Training on pairs of texts that a transformer reads at once: their tokens, their batches, and the order of epochs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler

from dialogauge.encode.network import refuse_unknown_token
from dialogauge.encode.transformer import Transformer
from dialogauge.learned.pair_network import TokenIds
from dialogauge.learned.training.loop import S, StagePlan, Task, rate_by_step
from dialogauge.learned.words import WordStates

Rows = NDArray[np.int64]
WINDOW = 50
"""Batches whose pairs are sorted by length together: less padding, and still a new order in every epoch."""
AT_ONCE = 16_384
STAGE = 50_000
"""Pairs between two looks at the pairs held back; an epoch has at least one."""
WATCHED = 10_000
"""The most pairs held back that are looked at while training goes on."""


def shuffled_batches(rows: Rows, lengths: Rows, batch: int, rng: np.random.Generator) -> list[Rows]:
    """Every row once. Pairs of a batch are of similar length; batches come in no order."""
    order = rng.permutation(rows)
    found: list[Rows] = []
    for start in range(0, len(order), WINDOW * batch):
        window = order[start : start + WINDOW * batch]
        window = window[np.argsort(lengths[window], kind="stable")]
        found += [window[at : at + batch] for at in range(0, len(window), batch)]
    return [found[place] for place in rng.permutation(len(found))]


def sorted_batches(rows: Rows, lengths: Rows, batch: int) -> list[Rows]:
    """Every row once, the longest first."""
    order = rows[np.argsort(-lengths[rows], kind="stable")]
    return [order[at : at + batch] for at in range(0, len(order), batch)]


class PairInputs(Protocol):
    """All pairs; a tensor of rows gives their batch, as a network takes it."""

    @property
    def lengths(self) -> Rows:
        """Of each pair, in tokens: pairs of similar length make a batch."""

    def batch(self, rows: Tensor) -> tuple[Any, ...]: ...


@dataclass(frozen=True)
class TokenInputs:
    """For a transformer: ids of tokens."""

    ids: WordStates
    segments: WordStates | None
    lengths: Rows

    def batch(self, rows: Tensor) -> tuple[TokenIds]:
        ids = self.ids[rows]
        segments = None if self.segments is None else self.segments[rows].states
        return (TokenIds(ids.states, segments, ids.lengths),)


def token_inputs(
    encoder: Transformer, first: Sequence[str], second: Sequence[str], device: torch.device
) -> TokenInputs:
    ids, segments, lengths = [], [], []
    both = list(zip(first, second, strict=True))
    for start in range(0, len(both), AT_ONCE):
        encoded = encoder.tokenizer.encode(both[start : start + AT_ONCE], places=False)
        lengths.append(np.array([len(one) for one in encoded], np.int64))
        ids.append(np.concatenate([one.ids for one in encoded]))
        refuse_unknown_token(encoder.files, int(ids[-1].max()))
        segments += [one.segments for one in encoded if one.segments is not None]
    counts = np.concatenate(lengths)
    flat = _flat(ids, counts, device)
    return TokenInputs(flat, _flat(segments, counts, device) if segments else None, counts)


def _flat(parts: Sequence[Any], lengths: Rows, device: torch.device) -> WordStates:
    numbers = np.concatenate([np.zeros(1, np.int32), *parts])
    return WordStates(torch.from_numpy(numbers), torch.from_numpy(lengths)).to(device)


class PairRecipe(Protocol):
    """What a recipe says of how pairs are learned from."""

    @property
    def batch(self) -> int: ...
    @property
    def accumulate(self) -> int: ...
    @property
    def rate(self) -> float: ...
    @property
    def warm_up(self) -> float: ...
    @property
    def weight_decay(self) -> float: ...
    @property
    def epochs(self) -> int: ...
    @property
    def stop(self) -> int: ...
    @property
    def mixed(self) -> bool: ...
    @property
    def seed(self) -> int: ...


class PairTask(Task[S]):
    """The order of an epoch comes from the seed and its number, dropout from the seed and the stage's."""

    network: Any
    largest_gradient = 1.0

    def __init__(
        self, network: Any, inputs: PairInputs, train: Rows, held: Rows, recipe: PairRecipe, device: torch.device
    ) -> None:
        self.network, self.inputs, self.recipe, self.device = network, inputs, recipe, device
        self.pairs, self.epochs, self.stop = len(train), recipe.epochs, recipe.stop
        self.parts = max(1, round(len(train) / STAGE))
        self.train = train
        self.held = np.random.default_rng([recipe.seed, 2]).permutation(held)[:WATCHED]
        self.optimizer = torch.optim.AdamW(_groups(network, recipe.weight_decay), lr=recipe.rate)

    @abstractmethod
    def batch_loss(self, outputs: Tensor, places: Tensor) -> Tensor:
        """The sum over the pairs of a batch, by their places on the device."""

    def learned(self) -> dict[str, Tensor]:
        return self.network.learned()  # type: ignore[no-any-return]

    def scheduler(self, curve: Sequence[S]) -> LRScheduler:
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
            outputs = self.network(*self.inputs.batch(places))
        return self.batch_loss(outputs.float(), places) / pairs

    def _precision(self) -> AbstractContextManager[Any]:
        on_gpu = self.device.type == "cuda"
        return torch.autocast(self.device.type, torch.bfloat16, enabled=on_gpu and self.recipe.mixed)

    def outputs(self, rows: Rows) -> NDArray[np.float64]:
        """Row i is what the network says of pair `rows[i]`. In full precision, as the metric counts."""
        return outputs_of(self.network, self.inputs, rows, 4 * self.recipe.batch, self.device)


@torch.no_grad()
def outputs_of(
    network: Any, inputs: PairInputs, rows: Rows, batch: int, device: torch.device, mixed: bool = False
) -> NDArray[np.float64]:
    """Row i is what the network says of pair `rows[i]`; `mixed` with numbers of 16 bits where they suffice."""
    network.eval()
    places = {row: at for at, row in enumerate(rows.tolist())}
    found: NDArray[np.float64] | None = None
    for some in sorted_batches(rows, inputs.lengths, batch):
        with torch.autocast(device.type, torch.bfloat16, enabled=mixed):
            outputs = network(*inputs.batch(torch.from_numpy(some).to(device))).double().cpu().numpy()
        found = np.empty((len(rows), outputs.shape[1])) if found is None else found
        found[[places[row] for row in some.tolist()]] = outputs
    return np.empty((0, 0)) if found is None else found


def _groups(network: nn.Module, decay: float) -> list[dict[str, Any]]:
    """Matrices decay, all else does not."""
    learned = [parameter for parameter in network.parameters() if parameter.requires_grad]
    return [
        {"params": [parameter for parameter in learned if parameter.ndim > 1], "weight_decay": decay},
        {"params": [parameter for parameter in learned if parameter.ndim < 2], "weight_decay": 0.0},
    ]
