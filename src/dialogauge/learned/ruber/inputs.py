"""What a relatedness network is made of, and what it takes of texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from dialogauge.encode.base import Encoder, Vectors
from dialogauge.errors import InputError, quote, unknown

if TYPE_CHECKING:
    import torch

    from dialogauge.learned.ruber.networks import Sentences

RuberKind = Literal["ruber", "towers"]
"""RUBER's network, which looks at both sentences together; or two towers, each of which sees one alone."""
Sentence = Literal["rnn", "max", "mean"]
"""How the vectors of a text's words become one: by a recurrent network, or by pooling."""
KINDS, SENTENCES = get_args(RuberKind), get_args(Sentence)

WIDEST = 2**16
UNITS = 128
"""Of the recurrent network, each way (Ghazarian et al. 2019, section 4.3)."""
AT_ONCE = 16_384
"""Texts asked for at a time: what else is wanted of them is then still in the encoder's memory."""


@dataclass(frozen=True)
class RuberShape:
    """`width` is that of the encoder's vectors."""

    width: int
    network: RuberKind = "ruber"
    sentence: Sentence = "mean"
    layers: tuple[int, ...] = ()
    """Layers of the encoder whose pooled vectors stand side by side; none for the last alone."""
    dropout: float = 0.0

    def __post_init__(self) -> None:
        if self.network not in KINDS:
            raise unknown("network", str(self.network), KINDS)
        if self.sentence not in SENTENCES:
            raise unknown("sentence representation", str(self.sentence), SENTENCES)
        if type(self.width) is not int or not 0 < self.width <= WIDEST:
            raise InputError(f"width: expected a whole number from 1 to {WIDEST}, found {self.width!r}")
        if not isinstance(self.dropout, int | float) or not 0 <= self.dropout < 1:
            raise InputError(f"dropout: expected a number from 0 to below 1, found {self.dropout!r}")
        if not all(isinstance(layer, int) and layer >= 0 for layer in self.layers):
            raise InputError(f"layers: expected whole numbers of at least 0, found {quote(str(list(self.layers)))}")
        if self.sentence_width > WIDEST:
            raise InputError(f"layers: expected at most {WIDEST} numbers a text, found {self.sentence_width}")
        if self.sentence == "rnn" and (self.network == "towers" or self.layers):
            raise InputError("sentence rnn: expected the network ruber on the last layer alone")

    @property
    def sentence_width(self) -> int:
        return 2 * UNITS if self.sentence == "rnn" else self.width * max(len(self.layers), 1)


class TextInputs(Protocol):
    """Row i belongs to text i; a tensor of rows gives their batch."""

    def __len__(self) -> int: ...
    def __getitem__(self, rows: torch.Tensor, /) -> Sentences: ...


def expect_inputs(encoder: Encoder, shape: RuberShape) -> None:
    """Tells the encoder what will be asked for, so that one pass gives all of it."""
    for layer in shape.layers or (None,):
        encoder.expect("tokens" if shape.sentence == "rnn" else shape.sentence, pairs=False, layer=layer)


@dataclass(frozen=True)
class EncodedTexts:
    """Texts ready for a network. Entry i of each belongs to text i."""

    inputs: TextInputs
    cut: NDArray[np.bool_]
    """Texts longer than the encoder takes."""
    silent: NDArray[np.bool_]
    """Texts without a vector of their own: empty, or with static vectors of unknown words alone."""
    coverage: NDArray[np.int32]
    """A row of `Coverage` for each text; illegible where its vector says nothing of it."""
    means: Vectors | None
    """The mean of each text's vectors, where it was asked for."""


def make_inputs(
    encoder: Encoder,
    texts: Sequence[str],
    shape: RuberShape,
    device: torch.device,
    dtype: torch.dtype | None = None,
    means: bool = False,
) -> EncodedTexts:
    """Every text is encoded once, however much is asked of it. With a transformer, pooling goes over all its tokens,
    special ones included. Numbers are in 32 bits unless `dtype` says otherwise."""
    expect_inputs(encoder, shape)
    if means:
        encoder.expect("mean", pairs=False)
    spelled = [encoder.spelled(text) for text in texts]
    parts: list[_Part] = []
    averages: list[Vectors] = []
    for start in range(0, len(spelled), AT_ONCE):
        block = spelled[start : start + AT_ONCE]
        parts.append(_words(encoder, block) if shape.sentence == "rnn" else _pooled(encoder, block, shape))
        averages += [encoder.pooled(block, "mean").vectors] if means else []
    silent = np.concatenate([part.silent for part in parts]) | np.array([not text for text in spelled])
    coverage = np.concatenate([part.coverage for part in parts])
    coverage[silent, -1] = False
    return EncodedTexts(
        _join([part.states for part in parts], shape).to(device, dtype),
        np.concatenate([part.dropped for part in parts]) > 0,
        silent,
        coverage,
        np.concatenate(averages) if means else None,
    )


class _Part(NamedTuple):
    """Some of the texts."""

    states: Any
    """A list of the vectors of each text's words, or an array of one row per text."""
    dropped: NDArray[np.int32]
    silent: NDArray[np.bool_]
    coverage: NDArray[np.int32]


def _words(encoder: Encoder, texts: Sequence[str]) -> _Part:
    found = [(tokens.words, tokens.dropped, tokens.coverage) for tokens in encoder.tokens(texts)]
    words, dropped, coverage = map(list, zip(*found, strict=True))
    silent = np.array([not len(states) for states in words])
    return _Part(words, np.array(dropped), silent, np.array(coverage, np.int32))


def _pooled(encoder: Encoder, texts: Sequence[str], shape: RuberShape) -> _Part:
    pool: Any = shape.sentence
    pools = [encoder.pooled(texts, pool, layer) for layer in shape.layers or (None,)]
    vectors = np.concatenate([pooled.vectors for pooled in pools], axis=1)
    return _Part(vectors, pools[0].dropped, np.asarray(~vectors.any(axis=1)), pools[0].coverage)


def _join(parts: list[Any], shape: RuberShape) -> Any:
    import torch

    from dialogauge.learned.words import WordStates

    if shape.sentence == "rnn":
        return WordStates.from_texts(list(chain.from_iterable(parts)), shape.width)
    return torch.from_numpy(np.concatenate(parts))


def width_of(encoder: Encoder) -> int:
    """How many numbers one of its vectors has."""
    return int(encoder.pooled([""], "mean").vectors.shape[1])
