"""What all metrics noted about all systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dialogauge.corpus.corpus import SourceFile
from dialogauge.errors import Caveat, unknown
from dialogauge.evaluation.kept.texts import RunTexts
from dialogauge.evaluation.sample import Sample
from dialogauge.metrics.registry import Request

if TYPE_CHECKING:
    from dialogauge.endpoint.endpoints import Endpoints


@dataclass(frozen=True)
class Measured:
    """What all metrics noted about all systems."""

    samples: list[Sample]
    systems: dict[str, int]
    unit: str
    files: tuple[SourceFile, ...]
    caveats: list[Caveat]
    requests: list[Request]
    """What was measured."""
    baselines: dict[str, str]
    """For a system the one it must not fall behind: the first, or in another run the one of its name."""
    foreign: frozenset[str] = frozenset()
    """The labels of metrics that were made for other languages than many of the texts are in."""
    texts: RunTexts | None = None
    """The turns themselves; None where they are a long stream's that was not to be kept, or a kept run's."""
    endpoints: Endpoints | None = None
    """Those that were asked."""

    def select(self, systems: Sequence[str]) -> Measured:
        """Only these systems, in this order."""
        for system in systems:
            if system not in self.systems:
                raise unknown("system", system, self.systems)
        samples = [sample for system in systems for sample in self.samples if sample.system == system]
        return replace(self, samples=samples, systems={system: self.systems[system] for system in systems})
