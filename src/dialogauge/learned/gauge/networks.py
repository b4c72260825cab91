"""What a gauge has on top of its encoder."""

from __future__ import annotations

from torch import Tensor, nn

from dialogauge.learned.gauge.model import PARTS


class GaugeHead(nn.Module):
    """A number for each part, linear in the vector of the pair."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.parts = nn.Linear(width, len(PARTS))

    def forward(self, vectors: Tensor) -> Tensor:
        return self.parts(self.dropout(vectors))  # type: ignore[no-any-return]
