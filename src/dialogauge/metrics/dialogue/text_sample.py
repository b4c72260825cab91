"""A bounded sample of a system's responses, for metrics that hold all of them against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat
from dialogauge.metrics.base import Floats
from dialogauge.metrics.prepared import PlainMetric

Keys = NDArray[np.uint64]


@dataclass(frozen=True)
class TextRows:
    """The response of each turn, and a hash of it and its context."""

    keys: Keys
    texts: NDArray[np.object_]

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, index: Any) -> TextRows:
        return TextRows(self.keys[index], self.texts[index])


@dataclass(frozen=True)
class TextSample:
    """Of all responses those with the smallest keys, which are as good as drawn by chance, and the same in whatever
    order and parts they come. Where responses share the last key, all of them stay, so that there can be a few more
    than the limit."""

    n: int
    """How many responses there were."""
    limit: int
    rows: TextRows
    """By key."""

    @classmethod
    def choose(cls, n: int, limit: int, rows: TextRows) -> TextSample:
        order = np.argsort(rows.keys, kind="stable")
        if len(order) > limit:
            order = order[: np.searchsorted(rows.keys[order], rows.keys[order[limit - 1]], side="right")]
        return cls(n, limit, rows[order])

    def __add__(self, other: TextSample) -> TextSample:
        return self.choose(self.n + other.n, self.limit, join_texts([self.rows, other.rows]))

    @property
    def texts(self) -> list[str]:
        return list(self.rows.texts)


def join_texts(batches: Sequence[TextRows]) -> TextRows:
    keys = np.concatenate([batch.keys for batch in batches])
    return TextRows(keys, np.concatenate([batch.texts for batch in batches]))


def text_rows(turns: Sequence[Turn]) -> TextRows:
    texts = np.empty(len(turns), dtype=np.object_)
    texts[:] = [turn.response for turn in turns]
    return TextRows(np.array([_key(turn) for turn in turns], dtype=np.uint64), texts)


def _key(turn: Turn) -> int:
    """The same in every process. Turns with one key have one response."""
    content = repr((turn.response, turn.context)).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "little")


@dataclass(frozen=True)
class SampledTexts(PlainMetric[TextRows, TextSample]):
    """Intervals come from the jackknife: a bootstrap sample repeats turns, which is what such metrics look for."""

    resampling = "jackknife"
    limit: ClassVar[int]
    """So many responses count."""

    def measure(self, turns: Sequence[Turn]) -> TextRows:
        return text_rows(turns)

    def join(self, batches: Sequence[TextRows]) -> TextRows:
        return join_texts(batches)

    def pack(self, measures: TextRows) -> dict[str, NDArray[Any]]:
        encoded = [text.encode("utf-8", "surrogatepass") for text in measures.texts]
        return {
            "keys": measures.keys,
            "bytes": np.frombuffer(b"".join(encoded), dtype=np.uint8),
            "starts": np.cumsum([0, *map(len, encoded)]),
        }

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> TextRows:
        whole, starts = arrays["bytes"].tobytes(), arrays["starts"]
        texts = np.empty(len(starts) - 1, dtype=np.object_)
        texts[:] = [whole[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(starts)]
        return TextRows(arrays["keys"], texts)

    def summarise(self, measures: TextRows, weights: Floats | None = None) -> TextSample:
        if weights is not None:
            measures = measures[np.repeat(np.arange(len(measures)), weights.astype(np.int64))]
        return TextSample.choose(len(measures), self.limit, measures)

    def caveats_of_systems(self, summaries: Mapping[str, TextSample], units: Mapping[str, int]) -> list[Caveat]:
        if max(summary.n for summary in summaries.values()) <= self.limit:
            return []
        message = f"{self.label}: of each system's responses at most {self.limit} count, drawn by chance"
        return [Caveat("bounded_sample", message)]

    def recipe(self) -> dict[str, str]:
        return {"sample": str(self.limit)}
