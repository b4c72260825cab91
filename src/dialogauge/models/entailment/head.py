"""From the vector of a pair to a logit for each class."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from dialogauge.models.entailment.shape import CLASSES, EntailmentShape


class ClassHead(nn.Module):
    """One hidden layer, as wide as the vector."""

    def __init__(self, shape: EntailmentShape) -> None:
        super().__init__()
        self.dropout = nn.Dropout(shape.dropout)
        self.hidden = nn.Linear(shape.width, shape.width)
        self.classes = nn.Linear(shape.width, CLASSES)

    def forward(self, vectors: Tensor) -> Tensor:
        hidden = torch.tanh(self.hidden(self.dropout(vectors)))
        return self.classes(self.dropout(hidden))  # type: ignore[no-any-return]
