"""What an optimizer remembers, as named tensors for a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

PREFIX = "adam."


def packed(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    return {
        f"{PREFIX}{place}.{name}": torch.as_tensor(value)
        for place, state in optimizer.state_dict()["state"].items()
        for name, value in state.items()
    }


def unpack(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Of all tensors, those that `packed` gave."""
    state: dict[int, dict[str, Any]] = {}
    for name, tensor in tensors.items():
        if name.startswith(PREFIX):
            place, _, what = name.removeprefix(PREFIX).partition(".")
            state.setdefault(int(place), {})[what] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
