"""What a step of several networks looks at: rows of texts, with the order and lengths of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from dialogauge.learned.ruber.recurrence import Packing

COARSE, FINE = 16, 8
"""Where steps are recorded, the longest text of a step counts as a multiple of the one, all others as multiples of the
other: few kinds of steps."""


class Batch(NamedTuple):
    rows: Tensor
    """Texts, (members, texts of a pair, pairs): chunks, the first of queries, all others of responses, each longest
    first."""
    places: Tensor
    """Where among a member's chunks each text of each pair stands."""
    longest: Tensor
    """The length of the longest text at each position of a chunk."""


def sorted_batch(texts: Tensor, lengths: Tensor) -> Batch:
    """`texts` of shape (members, pairs, texts of a pair), the query first; `lengths` those of all texts."""
    members, pairs, each = texts.shape
    own = lengths[texts]
    queries, asked = _longest_first(own[:, :, :1])
    responses, answered = _longest_first(own[:, :, 1:])
    chunks = torch.cat(
        [
            texts[:, :, 0].gather(1, queries)[:, None],
            # Chunks take turns, so that their lengths are alike.
            texts[:, :, 1:].flatten(1).gather(1, responses).view(members, pairs, each - 1).transpose(1, 2),
        ],
        dim=1,
    )
    chunk, place = answered % (each - 1) + 1, answered // (each - 1)
    places = torch.cat([asked[..., None], (chunk * pairs + place).view(members, pairs, each - 1)], dim=2)
    return Batch(chunks, places.flatten(1), lengths[chunks].flatten(0, 1).amax(0))


def _longest_first(lengths: Tensor) -> tuple[Tensor, Tensor]:
    """The order, and the rank of each."""
    order = lengths.flatten(1).argsort(dim=1, descending=True, stable=True)
    return order, order.argsort(dim=1)


@dataclass
class Packings:
    """How the texts of each step are packed: by their lengths. Where steps are recorded, by one of a few packings,
    which take in whatever lengths came up so far."""

    device: torch.device
    few: bool
    _widest: dict[tuple[int, int], Tensor] = field(default_factory=dict)
    _made: dict[Hashable, Packing] = field(default_factory=dict)

    def fit(self, batches: Iterable[Batch]) -> None:
        """Takes in the lengths of an epoch."""
        for batch in batches if self.few else ():
            kind, lengths = _kind(batch), _rounded(batch)
            self._widest[kind] = torch.maximum(self._widest.get(kind, lengths), lengths)

    def choose(self, batch: Batch) -> tuple[Hashable, Packing]:
        """And what is the same for steps that are packed alike."""
        lengths = self._widest[_kind(batch)] if self.few else batch.longest
        key = (batch.rows.shape, tuple(lengths.tolist()))
        if not self.few:
            return key, Packing.from_lengths(lengths.to(self.device))
        if key not in self._made:
            self._made[key] = Packing.from_lengths(lengths.to(self.device))
        return key, self._made[key]


def _kind(batch: Batch) -> tuple[int, int]:
    """Its number of pairs, and its longest text."""
    return len(batch.longest), -(-int(batch.longest[0]) // COARSE)


def _rounded(batch: Batch) -> Tensor:
    lengths = -(-batch.longest // FINE) * FINE
    lengths[0] = _kind(batch)[1] * COARSE
    return lengths
