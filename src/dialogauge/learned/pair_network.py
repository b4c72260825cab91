"""A transformer that reads two texts at once, tuned whole or by low-rank changes (LoRA, Hu et al. 2022), with a head of
its own on top."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from dialogauge.encode.base import Pool
from dialogauge.encode.network import pool as pool_states
from dialogauge.learned.directory import SavedModel

SCALE = 2.0
"""What the product is multiplied with, whatever the rank."""
UP, DOWN = ".up", ".down"
ENCODER, HEAD = "encoder.", "head."
"""What names of a model directory's tensors begin with."""


class LowRank(nn.Module):
    """A matrix plus the product of `up` and `down`; at first, since `up` is zero, the matrix itself."""

    def __init__(self, weight: Tensor, rank: int) -> None:
        super().__init__()
        self.up = nn.Parameter(torch.zeros(weight.shape[0], rank))
        self.down = nn.Parameter(torch.empty(rank, weight.shape[1]))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, weight: Tensor) -> Tensor:
        return added(weight, self.up, self.down)


def added(weight: Tensor, up: Tensor, down: Tensor) -> Tensor:
    return weight + SCALE * (up @ down)


def matrices(model: nn.Module) -> dict[str, nn.Linear]:
    """The linear layers of a transformer by name, but for that of its pooler, which is not used."""
    return {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear) and "pooler" not in name.split(".")
    }


def adapt(model: nn.Module, rank: int) -> None:
    """Leaves nothing of the model to be learned but what is added to its matrices."""
    model.requires_grad_(False)
    for module in matrices(model).values():
        parametrize.register_parametrization(module, "weight", LowRank(module.weight, rank))


def adapters(model: nn.Module) -> dict[str, Tensor]:
    """What `adapt` added, by the names of the layers."""
    found: dict[str, Tensor] = {}
    for name, module in matrices(model).items():
        (added_here,) = list(parametrized(module))
        found[name + UP], found[name + DOWN] = added_here.up, added_here.down
    return found


def parametrized(module: nn.Module) -> Any:
    return module.parametrizations.weight  # type: ignore[union-attr]


@torch.no_grad()
def merge(model: nn.Module, tensors: dict[str, Tensor]) -> None:
    """The model as `adapt` and training left it, without any extra layer."""
    for name, module in matrices(model).items():
        module.weight.copy_(added(module.weight.float(), tensors[name + UP].float(), tensors[name + DOWN].float()))


def expected(model: nn.Module, rank: int) -> dict[str, tuple[int, ...]]:
    """The shapes of the adapters of a model."""
    shapes: dict[str, tuple[int, ...]] = {}
    for name, module in matrices(model).items():
        shapes[name + UP] = (module.out_features, rank)
        shapes[name + DOWN] = (rank, module.in_features)
    return shapes


class TokenIds(NamedTuple):
    """A batch of pairs in the encoder's own pair format; past a pair's length, numbers mean nothing."""

    ids: Tensor
    segments: Tensor | None
    lengths: Tensor


class PairNetwork(nn.Module):
    """Pairs in, what the head says of each out. All of the encoder is learned, or, with a rank, what is added to it."""

    def __init__(self, encoder: Any, rank: int, pool: Pool, head: nn.Module) -> None:
        super().__init__()
        self.rank, self.pool = rank, pool
        self.encoder = encoder
        if rank:
            adapt(encoder, rank)
        else:
            for name, parameter in encoder.named_parameters():
                parameter.requires_grad_("pooler" not in name.split("."))
        self.head = head

    def forward(self, pairs: TokenIds) -> Tensor:
        mask = torch.arange(pairs.ids.shape[1], device=pairs.lengths.device) < pairs.lengths[:, None]
        more = {} if pairs.segments is None else {"token_type_ids": pairs.segments}
        states = self.encoder(input_ids=pairs.ids, attention_mask=mask.long(), **more).last_hidden_state
        return self.head(pool_states(states, mask, self.pool))  # type: ignore[no-any-return]

    def learned(self) -> dict[str, Tensor]:
        """All that training changes, by the names of a model directory."""
        if self.rank:
            tuned = adapters(self.encoder)
        else:
            tuned = {name: tensor for name, tensor in self.encoder.named_parameters() if tensor.requires_grad}
        named = {ENCODER + name: tensor for name, tensor in tuned.items()}
        return named | {HEAD + name: tensor for name, tensor in self.head.state_dict().items()}


@dataclass(frozen=True)
class Tuned:
    """What a model directory changes of its encoder's weights."""

    saved: SavedModel
    rank: int

    @property
    def digest(self) -> str:
        return str(self.saved.section("weights")["sha256"])

    def apply(self, model: Any) -> None:
        tensors = {
            name.removeprefix(ENCODER): torch.from_numpy(array.astype(np.float32))
            for name, array in self.saved.weights.items()
            if name.startswith(ENCODER)
        }
        if self.rank:
            merge(model, tensors)
        else:
            model.load_state_dict(tensors, strict=False)


def expected_tensors(encoder: Any, rank: int, head: nn.Module) -> dict[str, tuple[int, ...]]:
    """Names and shapes in a model directory; the encoder and the head may be without weights."""
    if rank:
        tuned = expected(encoder, rank)
    else:
        named = encoder.named_parameters()
        tuned = {name: tuple(tensor.shape) for name, tensor in named if "pooler" not in name.split(".")}
    return {ENCODER + name: size for name, size in tuned.items()} | {
        HEAD + name: tuple(tensor.shape) for name, tensor in head.state_dict().items()
    }


def filled(network: Any, weights: Mapping[str, Any], prefix: str) -> Any:
    """The network with those of a model directory's weights whose names begin so; it counts in 64 bits."""
    named = {
        name.removeprefix(prefix): torch.from_numpy(array.astype(np.float64))
        for name, array in weights.items()
        if name.startswith(prefix)
    }
    module: nn.Module = network.double().eval()
    module.load_state_dict(named)
    return module
