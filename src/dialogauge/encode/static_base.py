"""What all encoders share that give a word the same vector wherever it stands."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dialogauge.encode.base import Coverage, Encoder, Pool, Pooled, Split, Text, Tokens, Vectors, fully_covered
from dialogauge.errors import InputError

_REWRITTEN = frozenset({"``", "''"})


class StaticEncoder(Encoder):
    """Looks words up in a table as they stand. One that is not in it has no vector: it is left out of the tokens and
    counted in `Tokens.unknown`."""

    def __init__(self, identity: str, table: Vectors) -> None:
        self.identity = identity
        self._table = table

    @property
    def dim(self) -> int:
        return int(self._table.shape[1])

    def __contains__(self, word: str) -> bool:
        return self._rows([word])[word] >= 0

    def vector(self, word: str) -> Vectors | None:
        """The vector of a word by the same rule as in a text, or None."""
        row = self._rows([word])[word]
        return np.array(self._table[row]) if row >= 0 else None

    def tokens(self, texts: Sequence[str], layer: int | None = None, split: Split | None = None) -> list[Tokens]:
        """The known words of each text in order, with their rows of the table as ids. `split` replaces the
        encoder's own way from a text to words. There is no layer but the table, which is also layer 0."""
        self._refuse_layer(layer)
        return list(self._each(texts, split))

    def pooled(self, texts: Sequence[Text], pool: Pool = "mean", layer: int | None = None) -> Pooled:
        """The mean or the maximum over the known words of each text; zeros for a text that has none."""
        self._refuse_layer(layer)
        if pool not in ("mean", "max"):
            raise InputError(f"the encoder {self.identity} has no {pool!r} vector; choose pool=mean or pool=max")
        single = [text for text in texts if isinstance(text, str)]
        if len(single) < len(texts):
            raise InputError(f"the encoder {self.identity} takes single texts, found a (context, response) pair")
        vectors = np.zeros((len(single), self.dim), np.float32)
        coverage = fully_covered(len(single))
        for vector, covered, tokens in zip(vectors, coverage, self._each(single, None), strict=True):
            covered[:] = tokens.coverage
            if len(tokens.states):
                vector[:] = tokens.states.max(0) if pool == "max" else tokens.states.mean(0, dtype=np.float64)
        return Pooled(vectors, np.zeros(len(single), np.int32), coverage)

    @abstractmethod
    def _each(self, texts: Sequence[str], split: Split | None) -> Iterator[Tokens]:
        """The tokens of each text, one text after the other."""

    @abstractmethod
    def _rows(self, words: Iterable[str]) -> dict[str, int]:
        """The row of each distinct word, -1 where it has none."""

    def _each_by_words(self, texts: Sequence[str], split: Split) -> Iterator[Tokens]:
        listed = [split(text) for text in texts]
        rows = self._rows(chain.from_iterable(listed))
        for text, words in zip(texts, listed, strict=True):
            yield self._tokens([rows[word] for word in words], spans(text, words))

    def _tokens(self, rows: ArrayLike, offsets: ArrayLike) -> Tokens:
        """Of rows where -1 stands for a word without a vector."""
        every: NDArray[np.int32] = np.asarray(rows, np.int32)
        known = every >= 0
        ids = every[known]
        places = np.asarray(offsets, np.int32).reshape(-1, 2)[known]
        special = np.zeros(len(ids), np.bool_)
        unknown = len(every) - len(ids)
        coverage = Coverage(len(every), unknown, illegible=bool(unknown) and not len(ids))
        return Tokens(ids, places, special, self._table[ids], unknown=unknown, coverage=coverage)

    def _refuse_layer(self, layer: int | None) -> None:
        if layer not in (None, 0):
            raise InputError(f"the encoder {self.identity} has no layers, found layer={layer}; leave it out")


def spans(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Where each word stands in the text, whatever its case, searched for from the end of the last one that was
    found; (0, 0) where it does not stand there. NLTK writes other quotes than the text has: its `` and '' count
    as found only where they stand next, or else a later pair could draw all that follows behind it."""
    lowered = text.lower()
    places, end = [], 0
    for word in words:
        sought = word.lower()
        start = _next(lowered, sought, end) if sought in _REWRITTEN else lowered.find(sought, end)
        found = start >= 0 and bool(sought)
        if found:
            end = start + len(sought)
        places.append((start, end) if found else (0, 0))
    if len(lowered) == len(text):
        return places
    # Some letters are two when lower-cased: İ.
    origins = [place for place, letter in enumerate(text) for _ in letter.lower()]
    return [(origins[start], origins[end - 1] + 1) if end else (0, 0) for start, end in places]


def _next(text: str, sought: str, start: int) -> int:
    while start < len(text) and text[start].isspace():
        start += 1
    return start if text.startswith(sought, start) else -1
