"""How related a response is to a query: the network of RUBER's unreferenced metric (Tao et al. 2018), in the variants
of Ghazarian et al. 2019."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from dialogauge.models.shape import UNITS, RuberShape
from dialogauge.models.words import Words

LAYERS = (256, 512, 128)
"""The widths of the layers between features and relatedness (Ghazarian et al. 2019, section 4.3)."""

Sentences = Tensor | Words
"""A batch of texts: pooled vectors, one row a text, or the vectors of their words."""


class Relatedness(nn.Module):
    """Two batches of texts in, one logit for each pair out. The relatedness is its sigmoid."""

    def __init__(self, shape: RuberShape) -> None:
        super().__init__()
        width = shape.sentence_width
        recurrent = shape.sentence == "rnn"
        self.query_rnn = BidirectionalGru(shape.width) if recurrent else None
        self.response_rnn = BidirectionalGru(shape.width) if recurrent else None
        self.bilinear = nn.Parameter(torch.empty(width, width))
        nn.init.xavier_uniform_(self.bilinear)
        layers = [
            layer
            for before, after in zip((2 * width + 1, *LAYERS), LAYERS, strict=False)
            for layer in (nn.Dropout(shape.dropout), nn.Linear(before, after), nn.Tanh())
        ]
        self.layers = nn.Sequential(*layers, nn.Linear(LAYERS[-1], 1))

    def forward(self, queries: Sentences, responses: Sentences, _: Tensor | None = None) -> Tensor:
        """With k times as many responses as queries, the first k belong to the first query, and so on. What was said
        before the query, which towers look at, is nothing to it."""
        q: Any = self.query_rnn(queries) if self.query_rnn else queries
        r: Any = self.response_rnn(responses) if self.response_rnn else responses
        q = q.repeat_interleave(len(r) // len(q), dim=0)
        bilinear = ((q @ self.bilinear) * r).sum(dim=1, keepdim=True)
        return self.layers(torch.cat([q, bilinear, r], dim=1))[:, 0]  # type: ignore[no-any-return]


class BidirectionalGru(nn.Module):
    """Two layers of bidirectional gated recurrent units; a sentence is the last state of each direction."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gru = nn.GRU(width, UNITS, num_layers=2, bidirectional=True, batch_first=True)

    def forward(self, texts: Words) -> Tensor:
        packed = nn.utils.rnn.pack_padded_sequence(
            texts.states, texts.lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        last = self.gru(packed)[1]
        return torch.cat([last[-2], last[-1]], dim=1)
