"""One vector for a text from the vectors of its words, as RUBER's referenced metric takes it."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from dialogauge.encode.base import Encoder
from dialogauge.encode.static_base import StaticEncoder

Pooling = Literal["maxmin", "max", "mean"]


def pool_words(words: Any, pool: Pooling) -> Any:
    """One vector for a text of one row per word: in each dimension the largest value, the mean, or the largest values
    followed by the smallest (Tao et al. 2018)."""
    if pool == "mean":
        return np.asarray(words.mean(axis=0))
    highest = words.max(axis=0)
    return np.asarray(highest if pool == "max" else np.concatenate([highest, words.min(axis=0)]))


def usual_pooling(encoder: Encoder) -> Pooling:
    """The largest and smallest values of static vectors, as RUBER has it, and the mean of contextual ones, whose
    largest values are much the same whatever a text says."""
    return "maxmin" if isinstance(encoder, StaticEncoder) else "mean"
