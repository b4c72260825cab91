"""Texts as the vectors of their words, from which batches are cut; a history that is too long loses its beginning."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dialogauge.encode.base import Encoder, Tokens, Vectors
from dialogauge.encode.transformer import Transformer

AT_ONCE = 16_384
WHOLE = np.dtype(np.float32)


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
    def starts(self) -> Tensor:
        return 1 + self.lengths.cumsum(0) - self.lengths

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, rows: Tensor) -> Words:
        lengths = self.lengths[rows]
        steps = torch.arange(int(lengths.max()), device=lengths.device)
        places = self.starts[rows][:, None] + steps
        return Words(self.states[torch.where(steps < lengths[:, None], places, 0)], lengths)


@dataclass(frozen=True)
class WordPairs:
    """Entry i of each array belongs to pair i."""

    states: WordStates
    premises: NDArray[np.int64]
    """Rows of `states`."""
    hypotheses: NDArray[np.int64]
    cut: NDArray[np.bool_]
    silent: NDArray[np.bool_]
    """Of each pair, whether premise and hypothesis have no vector: (pairs, 2)."""
    coverage: NDArray[np.int32]
    """A row of `Coverage` for each pair."""


def read_words(
    encoder: Encoder,
    premises: Sequence[str],
    hypotheses: Sequence[str],
    width: int,
    dtype: np.dtype[Any] = WHOLE,
) -> WordPairs:
    """Every distinct text is encoded once, at most `AT_ONCE` at a time; of all others, vectors are held as `dtype`."""
    before = list(dict.fromkeys(premises))
    after = list(dict.fromkeys(hypotheses))
    found = [
        (tokens.words.astype(dtype), cut, tokens.coverage)
        for texts, cut_beginning in ((before, True), (after, False))
        for tokens, cut in _tokens(encoder, texts, cut_beginning)
    ]
    p_rows, h_rows = ({text: row for row, text in enumerate(texts)} for texts in (before, after))
    p = np.array([p_rows[text] for text in premises], np.int64)
    h = np.array([h_rows[text] for text in hypotheses], np.int64) + len(before)
    silent = np.array([not len(states) for states, *_ in found], np.bool_)
    cut = np.array([dropped for _, dropped, _ in found], np.bool_)
    known = np.array([coverage for *_, coverage in found], np.int32).reshape(len(found), -1)
    coverage = known[p] + known[h]
    coverage[:, -1] = known[h, -1] & ~silent[h]
    states = WordStates.from_texts([states for states, *_ in found], width)
    return WordPairs(states, p, h, cut[p] | cut[h], np.column_stack([silent[p], silent[h]]), coverage)


def _tokens(encoder: Encoder, texts: Sequence[str], cut_beginning: bool) -> Iterator[tuple[Tokens, bool]]:
    """The tokens of each text, and whether some of it was cut."""
    encoder.expect("tokens", pairs=False)
    for start in range(0, len(texts), AT_ONCE):
        block = [encoder.spelled(text) for text in texts[start : start + AT_ONCE]]
        found = encoder.tokens(block)
        cut = [tokens.dropped > 0 for tokens in found]
        if cut_beginning and any(cut):
            endings = iter(encoder.tokens([_ending(encoder, text) for text in compress(block, cut)]))
            found = [next(endings) if shortened else tokens for tokens, shortened in zip(found, cut, strict=True)]
        yield from zip(found, cut, strict=True)


def _ending(encoder: Encoder, text: str) -> str:
    """As much of the end of a text as the encoder takes: from a word on, or, where not even the last word fits, from
    a letter on."""
    assert isinstance(encoder, Transformer)  # no other has a limit
    tokenizer = encoder.tokenizer

    def fits(start: int) -> bool:
        return not tokenizer.encode([encoder.spelled(text[start:])], places=False)[0].dropped

    words = [match.start() for match in re.finditer(r"\S+", text)]
    starts = words if fits(words[-1]) else range(words[-1], len(text))
    return encoder.spelled(text[starts[bisect_left(starts, True, key=fits)] :])
