"""Few numbers that change a whole network: to each matrix the product of two narrow ones is added (LoRA, Hu et al.
2021)."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

SCALE = 2.0
"""What the product is multiplied with, whatever the rank."""
UP, DOWN = ".up", ".down"


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
