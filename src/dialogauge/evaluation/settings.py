"""What intervals and tests depend on beside the data."""

from __future__ import annotations

from dataclasses import dataclass

from dialogauge.numbers import COUNT, check_seed, check_share, check_whole


@dataclass(frozen=True)
class Settings:
    """Same data, same settings, same numbers."""

    seed: int = 0
    resamples: int = 1000
    confidence: float = 0.95

    def __post_init__(self) -> None:
        check_share("confidence", self.confidence)
        check_whole("resamples", self.resamples, 1, COUNT)
        check_seed(self.seed)
