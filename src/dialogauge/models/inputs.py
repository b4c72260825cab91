"""From texts to what a relatedness network takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dialogauge.encode.base import Encoder, Vectors
from dialogauge.models.shape import RuberShape

if TYPE_CHECKING:
    import torch

    from dialogauge.models.relatedness import Sentences

AT_ONCE = 16_384
"""Texts asked for at a time: what else is wanted of them is then still in the encoder's memory."""


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

    from dialogauge.models.words import WordStates

    if shape.sentence == "rnn":
        return WordStates.from_texts(list(chain.from_iterable(parts)), shape.width)
    return torch.from_numpy(np.concatenate(parts))


def width_of(encoder: Encoder) -> int:
    """How many numbers one of its vectors has."""
    return int(encoder.pooled([""], "mean").vectors.shape[1])
