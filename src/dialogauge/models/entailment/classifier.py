"""A transformer that reads history and response at once, with a layer for the classes: the network in training."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from dialogauge.encode.network import pool
from dialogauge.models.entailment.head import ClassHead
from dialogauge.models.entailment.low_rank import adapt, adapters
from dialogauge.models.entailment.shape import EntailmentShape
from dialogauge.models.entailment.tuned import ENCODER, HEAD


class TokenIds(NamedTuple):
    """A batch of pairs in the encoder's own pair format; past a pair's length, numbers mean nothing."""

    ids: Tensor
    segments: Tensor | None
    lengths: Tensor


class PairClassifier(nn.Module):
    """Pairs in, a logit for each class out. All of the encoder is learned, or, with a rank, what is added to it."""

    def __init__(self, shape: EntailmentShape, encoder: Any) -> None:
        super().__init__()
        self.shape = shape
        self.encoder = encoder
        if shape.rank:
            adapt(encoder, shape.rank)
        else:
            for name, parameter in encoder.named_parameters():
                parameter.requires_grad_("pooler" not in name.split("."))
        self.head = ClassHead(shape)

    def forward(self, pairs: TokenIds) -> Tensor:
        mask = torch.arange(pairs.ids.shape[1], device=pairs.lengths.device) < pairs.lengths[:, None]
        more = {} if pairs.segments is None else {"token_type_ids": pairs.segments}
        states = self.encoder(input_ids=pairs.ids, attention_mask=mask.long(), **more).last_hidden_state
        return self.head(pool(states, mask, self.shape.pool))  # type: ignore[no-any-return]

    def learned(self) -> dict[str, Tensor]:
        """All that training changes, by the names of a model directory."""
        if self.shape.rank:
            tuned = adapters(self.encoder)
        else:
            tuned = {name: tensor for name, tensor in self.encoder.named_parameters() if tensor.requires_grad}
        named = {ENCODER + name: tensor for name, tensor in tuned.items()}
        return named | {HEAD + name: tensor for name, tensor in self.head.state_dict().items()}
