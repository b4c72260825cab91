"""What intervals and tests depend on beside the data."""

from __future__ import annotations

from dataclasses import dataclass

from dialogauge.errors import InputError


@dataclass(frozen=True)
class Settings:
    """Same data, same settings, same numbers."""

    seed: int = 0
    resamples: int = 1000
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            raise InputError(f"confidence must lie between 0 and 1, found {self.confidence}")
        if self.resamples < 1:
            raise InputError(f"resamples must be at least 1, found {self.resamples}")
        if self.seed < 0:
            raise InputError(f"seed must not be negative, found {self.seed}")
