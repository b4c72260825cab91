"""The Enhanced Sequential Inference Model (Chen et al. 2017), without trees."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from dialogauge.models.entailment.shape import CLASSES, EntailmentShape
from dialogauge.models.words import Words


class Esim(nn.Module):
    """Two batches of texts, as the vectors of their words, in; a logit for each class and pair out."""

    def __init__(self, shape: EntailmentShape) -> None:
        super().__init__()
        units = shape.units
        self.dropout = nn.Dropout(shape.dropout)
        self.encoding = BidirectionalLstm(shape.width, units)
        self.projection = nn.Linear(8 * units, units)
        self.composition = BidirectionalLstm(units, units)
        self.hidden = nn.Linear(8 * units, units)
        self.classes = nn.Linear(units, CLASSES)

    def forward(self, premises: Words, hypotheses: Words) -> Tensor:
        a, b = (self.encoding(self.dropout(texts.states), texts.lengths) for texts in (premises, hypotheses))
        here, there = mask(premises), mask(hypotheses)
        alike = a @ b.transpose(1, 2)
        a_aligned = alike.masked_fill(~there[:, None, :], -torch.inf).softmax(dim=2) @ b
        b_aligned = alike.masked_fill(~here[:, :, None], -torch.inf).softmax(dim=1).transpose(1, 2) @ a
        pooled = [
            *self._compose(a, a_aligned, premises.lengths, here),
            *self._compose(b, b_aligned, hypotheses.lengths, there),
        ]
        hidden = torch.tanh(self.hidden(self.dropout(torch.cat(pooled, dim=1))))
        return self.classes(self.dropout(hidden))  # type: ignore[no-any-return]

    def learned(self) -> dict[str, Tensor]:
        """All that training changes, by the names of a model directory."""
        return self.state_dict()

    def _compose(self, own: Tensor, aligned: Tensor, lengths: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
        """The average and the maximum over the words of one text, held against the other."""
        local = torch.cat([own, aligned, own - aligned, own * aligned], dim=2)
        composed = self.composition(self.dropout(torch.relu(self.projection(local))), lengths)
        average = (composed * real[..., None]).sum(dim=1) / lengths[:, None]
        return average, composed.masked_fill(~real[..., None], -torch.inf).amax(dim=1)


class BidirectionalLstm(nn.Module):
    """A bidirectional layer of long short-term memory; states past a text's end are zero."""

    def __init__(self, width: int, units: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(width, units, bidirectional=True, batch_first=True)

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        packed = nn.utils.rnn.pack_padded_sequence(states, lengths.cpu(), batch_first=True, enforce_sorted=False)
        return nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=states.shape[1])[0]


def mask(texts: Words) -> Tensor:
    """Where there are words, and not padding: (texts, words)."""
    return torch.arange(texts.states.shape[1], device=texts.lengths.device) < texts.lengths[:, None]
