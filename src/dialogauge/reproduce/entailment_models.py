"""The entailment models whose numbers are shown: the one that comes with dialogauge, and those that are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dialogauge.errors import Caveat, InputError
from dialogauge.metrics.entailment import Entailment, ScoreForm
from dialogauge.models.entailment.model import SHIPPED, open_entailment


@dataclass(frozen=True)
class NamedModel:
    name: str
    directory: str | None
    """None for the one that comes with dialogauge."""

    def metric(self, score: ScoreForm = "probability") -> Entailment:
        return Entailment(score=score, model=self.directory)


def parse_entailment_models(given: Sequence[str]) -> dict[str, str]:
    """`ESIM=models/esim`, several with commas between them: model directories by the names they are shown under."""
    chosen: dict[str, str] = {}
    for piece in filter(None, (part.strip() for text in given for part in text.split(","))):
        name, equals, directory = (part.strip() for part in piece.partition("="))
        if not (name and equals and directory):
            raise InputError(f"--entailment-models: expected NAME=DIR, found {piece!r}")
        if name in chosen or name == SHIPPED:
            raise InputError(f"--entailment-models: two models are called {name!r}; give each a name of its own")
        chosen[name] = directory
    return chosen


def find_models(given: Mapping[str, str]) -> tuple[list[NamedModel], list[Caveat]]:
    """All are opened before any work is done. Without its own model dialogauge goes on with those that are given."""
    for directory in given.values():
        open_entailment(directory)
    named = [NamedModel(name, directory) for name, directory in given.items()]
    try:
        open_entailment()
    except InputError as error:
        if not named:
            raise InputError(f"no entailment model: {error}; name one with --entailment-models NAME=DIR") from None
        return named, [Caveat("no_model", f"{SHIPPED} is not there, and left out: {error.message}")]
    return [NamedModel(SHIPPED, None), *named], []
