"""Many texts as the vectors of their words, from which batches are cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

from dialogauge.encode.base import Vectors


class Words(NamedTuple):
    """A batch: `states` of shape (texts, words of the longest, width); past a text's length they mean nothing."""

    states: Tensor
    lengths: Tensor


@dataclass(frozen=True)
class WordStates:
    """The vectors of all words of all texts, one after the other; before them a row of zeros, for padding."""

    states: Tensor
    lengths: Tensor

    @classmethod
    def from_texts(cls, texts: Sequence[Vectors], width: int) -> Self:
        """A text without any word has one, of zeros."""
        nothing = np.zeros((1, width), texts[0].dtype if texts else np.float32)
        filled = [states if len(states) else nothing for states in texts]
        lengths = np.array([len(states) for states in filled], np.int64)
        return cls(torch.from_numpy(np.concatenate([nothing, *filled])), torch.from_numpy(lengths))

    def to(self, device: torch.device, dtype: torch.dtype | None = None) -> Self:
        return type(self)(self.states.to(device, dtype), self.lengths.to(device))

    @cached_property
    def _starts(self) -> Tensor:
        return 1 + self.lengths.cumsum(0) - self.lengths

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, rows: Tensor) -> Words:
        lengths = self.lengths[rows]
        steps = torch.arange(int(lengths.max()), device=lengths.device)
        places = self._starts[rows][:, None] + steps
        return Words(self.states[torch.where(steps < lengths[:, None], places, 0)], lengths)
