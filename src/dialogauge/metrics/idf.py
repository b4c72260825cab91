"""How rare a token is among the references."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dialogauge.metrics.base import Floats


@dataclass(frozen=True)
class Idf:
    """Inverse document frequency with one added to both counts: log((texts + 1) / (texts with the token + 1))."""

    texts: int
    counts: dict[int, int]

    @classmethod
    def from_texts(cls, texts: Sequence[Sequence[int]]) -> Idf:
        return cls(len(texts), dict(Counter(token for text in texts for token in set(text))))

    def weights(self, ids: NDArray[np.int32]) -> Floats:
        return np.array([math.log((self.texts + 1) / (self.counts.get(token, 0) + 1)) for token in ids.tolist()])

    @cached_property
    def digest(self) -> str:
        """Eight digits that tell two sets of references apart, for signatures."""
        told = f"{self.texts} {sorted(self.counts.items())}"
        return hashlib.blake2b(told.encode(), digest_size=4).hexdigest()
