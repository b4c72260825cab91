"""How related a response is to a query, by two towers: query and response each become a vector by themselves, and
their cosine tells. Untrained, it is the cosine of the encoder's own vectors."""

from __future__ import annotations

from math import log

import torch
from torch import Tensor, nn
from torch.nn import functional

from dialogauge.models.shape import RuberShape

HIDDEN = 512
SMALL = 0.001
SCALE = 20.0
"""What cosines are multiplied with before anything is learned."""
SHOWN = 0.5
"""The share of training pairs of which the utterance before the query is shown: a query alone is to be enough."""


class Towers(nn.Module):
    """Two batches of texts in, one logit for each pair out. The relatedness is its sigmoid."""

    calibration: Tensor

    def __init__(self, shape: RuberShape) -> None:
        super().__init__()
        self.width = shape.width
        self.query = Tower(shape)
        self.response = Tower(shape)
        self.previous = nn.Linear(shape.sentence_width, shape.width, bias=False)
        nn.init.normal_(self.previous.weight, std=SMALL)
        self.dropout = nn.Dropout(shape.dropout)
        self.scale = nn.Parameter(torch.tensor(log(SCALE)))
        self.register_buffer("calibration", torch.tensor([1.0, 0.0]))

    def forward(self, queries: Tensor, responses: Tensor, previous: Tensor | None = None) -> Tensor:
        """With k times as many responses as queries, the first k belong to the first query, and so on. `previous` is
        what was said before each query: a row of zeros where nothing was."""
        q, r = self._query(queries, previous), self._response(responses)
        q = q.repeat_interleave(len(r) // len(q), dim=0)
        logits: Tensor = (q * r).sum(dim=1) * self.scale.exp() * self.calibration[0] + self.calibration[1]
        return logits

    def all_pairs(self, queries: Tensor, responses: Tensor, previous: Tensor | None = None) -> Tensor:
        """Scores of every query with every response, before they are calibrated: (queries, responses)."""
        return self._query(queries, previous) @ self._response(responses).T * self.scale.exp()

    def _query(self, texts: Tensor, previous: Tensor | None) -> Tensor:
        vectors = self.query(self._even(texts))
        if previous is not None:
            if self.training:
                previous = previous * (torch.rand(len(previous), 1, device=previous.device) < SHOWN)
            vectors = vectors + self.previous(self.dropout(self._even(previous)))
        return functional.normalize(vectors, dim=1)

    def _response(self, texts: Tensor) -> Tensor:
        return functional.normalize(self.response(self._even(texts)), dim=1)

    def _even(self, texts: Tensor) -> Tensor:
        """The vectors of each layer brought to one length; zeros stay zeros."""
        blocks = texts.view(len(texts), -1, self.width)
        even: Tensor = functional.normalize(blocks, dim=2) * self.width**0.5
        return even.flatten(1)


class Tower(nn.Module):
    """A linear map that begins as the first layer's vector itself, and what a hidden layer adds to it."""

    def __init__(self, shape: RuberShape) -> None:
        super().__init__()
        wide, width = shape.sentence_width, shape.width
        self.linear = nn.Linear(wide, width)
        nn.init.normal_(self.linear.weight, std=SMALL)
        nn.init.zeros_(self.linear.bias)
        with torch.no_grad():
            self.linear.weight[:, :width] += torch.eye(width)
        self.inward = nn.Linear(wide, HIDDEN)
        self.outward = nn.Linear(HIDDEN, width, bias=False)
        nn.init.normal_(self.outward.weight, std=SMALL)
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, texts: Tensor) -> Tensor:
        seen = self.dropout(texts)
        hidden = self.dropout(functional.gelu(self.inward(seen)))
        return self.linear(seen) + self.outward(hidden)  # type: ignore[no-any-return]
