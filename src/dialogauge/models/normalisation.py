"""Constants that bring RUBER's two scores onto one scale. They belong to the model, so that a score never depends on
what else is scored."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, get_args

import numpy as np

from dialogauge.errors import InputError
from dialogauge.models.directory import AGAIN, SavedModel
from dialogauge.models.pooling import Pooling


@dataclass(frozen=True)
class Range:
    """The smallest and the largest score of validation pairs, which become 0 and 1; scores beyond them, too."""

    low: float
    high: float

    def __post_init__(self) -> None:
        numbers = all(isinstance(end, int | float) and np.isfinite(end) for end in (self.low, self.high))
        if not numbers or not self.low < self.high:
            raise InputError(f"expected a range of numbers, found {self.low!r} to {self.high!r}")

    def __call__(self, scores: Any) -> Any:
        return np.clip((scores - self.low) / (self.high - self.low), 0.0, 1.0)


@dataclass(frozen=True)
class Normalisation:
    unreferenced: Range
    referenced: Range
    pool: Pooling
    """How the referenced score was pooled whose range this is."""

    def record(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def read(cls, saved: SavedModel) -> Normalisation:
        section = saved.section("normalisation")
        try:
            if section["pool"] not in get_args(Pooling):
                raise InputError(f"expected a pooling, found {section['pool']!r}")
            ranges = {name: Range(**section[name]) for name in ("unreferenced", "referenced")}
            return cls(**ranges, pool=section["pool"])
        except (KeyError, TypeError, InputError) as error:
            raise saved.error(f"its normalisation cannot be used: {error}; {AGAIN}") from None
