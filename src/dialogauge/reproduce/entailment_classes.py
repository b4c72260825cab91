"""Classes of responses: what models say, and what people's ratings come to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import Turn
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import Caveat, InputError
from dialogauge.metrics.entailment import CLASSES
from dialogauge.progress import progress_bar
from dialogauge.reproduce.entailment_corpora import RatedCorpus
from dialogauge.reproduce.entailment_models import NamedModel

Classes = NDArray[np.int64]
"""Places in CLASSES; -1 where there is none."""
NONE = -1
TRUE = "true responses"
ROUNDING = 1e-9


@dataclass(frozen=True)
class Thresholds:
    """Mean ratings, brought to 0 to 1 by the ends of their scale: above `high` a response is taken for entailment,
    below `low` for contradiction, between them (ends included) for neutral."""

    low: float = 1 / 3
    high: float = 2 / 3

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high <= 1:
            raise InputError(f"thresholds: expected 0 <= LOW <= HIGH <= 1, found {self.low:g},{self.high:g}")

    def classes(self, scaled: NDArray[np.float64]) -> Classes:
        above, below = scaled > self.high + ROUNDING, scaled < self.low - ROUNDING
        return np.where(above, 0, np.where(below, 2, 1))

    @property
    def words(self) -> str:
        return (
            f"people's classes: the mean rating, from 0 to 1 by the ends of its scale; above {self.high:.3g}"
            f" entailment, below {self.low:.3g} contradiction, neutral between. The paper says only that the majority"
            " vote of the 4-scale rating is the label"
        )


def parse_thresholds(text: str | None) -> Thresholds:
    if text is None:
        return Thresholds()
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise InputError(f"--thresholds: expected LOW,HIGH, as 0.33,0.67, found {text!r}") from None
    return Thresholds(low, high)


@dataclass(frozen=True)
class Predicted:
    """What a model says of responses: entry i belongs to turn i."""

    turns: list[Turn]
    classes: Classes
    caveats: list[Caveat]

    @property
    def known(self) -> NDArray[np.bool_]:
        """A turn without anything said before it has no class."""
        return np.asarray(self.classes != NONE)

    def counts(self) -> list[int]:
        return count_classes(self.classes)


def count_classes(classes: Classes) -> list[int]:
    """Of each of CLASSES."""
    return [int((classes == place).sum()) for place in range(len(CLASSES))]


def predict(model: NamedModel, turns: Sequence[Turn], encoders: Encoders) -> Predicted:
    """The likeliest class of every turn's response."""
    metric = model.metric()
    ready = metric.prepare(Corpus(list(turns)), encoders=encoders)
    rows = ready.measure(turns)
    said = rows[:, 1 + len(CLASSES) : 1 + 2 * len(CLASSES)]
    known = ~np.isnan(said).any(axis=1)
    classes = np.full(len(turns), NONE)
    classes[known] = said[known].argmax(axis=1)
    caveats = ready.caveats(ready.metric.summarise(rows[known])) if known.any() else []
    if not known.all():
        message = f"{metric.label}: {int((~known).sum())} of {len(turns)} turns have no context, or a response that the"
        message += " encoder cannot read, and are left out"
        caveats.append(Caveat("missing_input", message))
    return Predicted(list(turns), classes, caveats)


def predict_each(
    models: Sequence[NamedModel], corpora: Sequence[RatedCorpus], encoders: Encoders, progress: bool
) -> Iterator[tuple[NamedModel, RatedCorpus, Predicted]]:
    """Every model on every corpus, whose name stands before each caveat. A bar says which is at work."""
    work = [(model, rated) for model in models for rated in corpora]
    with progress_bar(work, shown=progress, unit="corpus") as bar:
        for model, rated in bar:
            bar.set_description(f"{model.name}, {rated.title}")
            found = predict(model, rated.turns, encoders)
            named = [Caveat(caveat.code, f"{rated.title}: {caveat.message}") for caveat in found.caveats]
            yield model, rated, replace(found, caveats=named)


def true_responses(rated: RatedCorpus) -> list[Turn]:
    """References as if they were responses, each once for its context."""
    found = {
        (turn.context, reference): replace(turn, response=reference, references=(), system=TRUE, ratings={})
        for turn in rated.turns
        for reference in turn.references
    }
    return list(found.values())
