"""The networks that judge entailment, in training and at work: ESIM (Chen et al. 2017), and a transformer tuned whole
or by low-rank changes (LoRA, Hu et al. 2022)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils import parametrize

from dialogauge.encode.base import Encoder
from dialogauge.encode.network import pool
from dialogauge.learned.entailment.model import CLASSES, ENCODER, HEAD, EntailmentShape
from dialogauge.learned.words import Words, read_words

SCALE = 2.0
"""What the product is multiplied with, whatever the rank."""
UP, DOWN = ".up", ".down"
AT_ONCE, BATCH = 4096, 256
"""Pairs whose vectors are in memory, and pairs that go through ESIM together."""


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


class Logits(NamedTuple):
    """Entry i of each belongs to pair i."""

    values: NDArray[np.float64]
    cut: NDArray[np.bool_]
    """Pairs that are longer than the encoder takes."""
    silent: NDArray[np.bool_]
    """Of each pair, whether premise and hypothesis have no vector: (pairs, 2)."""
    coverage: NDArray[np.int32]
    """A row of `Coverage` for each pair."""


class Judge(Protocol):
    @property
    def encoder(self) -> Encoder: ...

    def expect(self) -> None:
        """Tells the encoder what will be asked for."""

    def logits(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Logits: ...


@dataclass(frozen=True)
class EsimJudge:
    """ESIM over the vectors of an encoder. It counts in 64 bits, so that what else is in a batch changes nothing."""

    encoder: Encoder
    network: Esim
    shape: EntailmentShape

    @classmethod
    def from_weights(cls, encoder: Encoder, shape: EntailmentShape, weights: Mapping[str, Any]) -> EsimJudge:
        return cls(encoder, _filled(Esim(shape), weights, ""), shape)

    def expect(self) -> None:
        self.encoder.expect("tokens", pairs=False)

    def logits(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Logits:
        starts = range(0, len(premises), AT_ONCE)
        parts = [self._some(premises[at : at + AT_ONCE], hypotheses[at : at + AT_ONCE]) for at in starts]
        return Logits(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    @torch.no_grad()
    def _some(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Logits:
        pairs = read_words(self.encoder, premises, hypotheses, self.shape.width)
        values = np.empty((len(premises), CLASSES))
        lengths = pairs.states.lengths
        order = torch.argsort(lengths[pairs.premises], stable=True)
        for rows in torch.split(order, BATCH):
            texts = (pairs.states[torch.from_numpy(side)[rows]] for side in (pairs.premises, pairs.hypotheses))
            words = [batch._replace(states=batch.states.double()) for batch in texts]
            values[rows.numpy()] = self.network(*words).numpy()
        return Logits(values, pairs.cut, pairs.silent, pairs.coverage)


@dataclass(frozen=True)
class TunedJudge:
    """A tuned transformer, which reads both texts at once. Its vectors are kept like any encoder's."""

    encoder: Encoder
    head: ClassHead
    shape: EntailmentShape

    @classmethod
    def from_weights(cls, encoder: Encoder, shape: EntailmentShape, weights: Mapping[str, Any]) -> TunedJudge:
        return cls(encoder, _filled(ClassHead(shape), weights, HEAD), shape)

    def expect(self) -> None:
        self.encoder.expect(self.shape.pool, pairs=True)

    @torch.no_grad()
    def logits(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Logits:
        pooled = self.encoder.pooled(list(zip(premises, hypotheses, strict=True)), self.shape.pool)
        values = self.head(torch.from_numpy(pooled.vectors).double()).numpy()
        silent = np.array([[not text for text in side] for side in (premises, hypotheses)]).T
        return Logits(values, pooled.dropped > 0, silent, pooled.coverage)


def _filled(network: Any, weights: Mapping[str, Any], prefix: str) -> Any:
    named = {
        name.removeprefix(prefix): torch.from_numpy(array.astype(np.float64))
        for name, array in weights.items()
        if name.startswith(prefix)
    }
    module: nn.Module = network.double().eval()
    module.load_state_dict(named)
    return module
