"""Classes of responses: what models say, what people's ratings come to, and people's scores by predicted class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.corpus import Corpus, SourceFile
from dialogauge.corpus.turn import Turn
from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import Caveat, InputError
from dialogauge.evaluation.digits import defined
from dialogauge.metrics.learned.entailment import CLASSES
from dialogauge.papers.entailment.inputs import OTHER_CORPORA, NamedModel, RatedCorpus, find_models, read_corpora
from dialogauge.papers.side_by_side import files_of
from dialogauge.progress import progress_bar
from dialogauge.stats.arrays import Floats
from dialogauge.stats.resampling import clustered_mean, student_mean
from dialogauge.stats.significance import holm_corrected, welch_test

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


@dataclass(frozen=True)
class JudgedCorpora:
    """Every model on every corpus."""

    each: list[tuple[NamedModel, RatedCorpus, Predicted]]
    files: tuple[SourceFile, ...]
    encoders: Encoders
    said: list[Caveat]
    """Of corpora and models."""

    @property
    def caveats(self) -> list[Caveat]:
        remarks = [
            Caveat(caveat.code, f"{rated.title}: {caveat.message}")
            for _, rated, predicted in self.each
            for caveat in predicted.caveats
        ]
        return [OTHER_CORPORA, *self.said, *remarks, *self.encoders.caveats()]


def judge(
    folder: str | Path, models: Mapping[str, str], only: Sequence[str], cache: bool, progress: bool
) -> JudgedCorpora:
    """`models` are directories by name, beside the model that comes with dialogauge; `only` names corpora. A bar says
    which is at work."""
    corpora, missing = read_corpora(Path(folder), only)
    found, lacking = find_models(models)
    encoders, each = Encoders(Cache() if cache else None, progress), []
    work = [(model, rated) for model in found for rated in corpora]
    with progress_bar(work, shown=progress, unit="corpus") as bar:
        for model, rated in bar:
            bar.set_description(f"{model.name}, {rated.title}")
            each.append((model, rated, predict(model, rated.turns, encoders)))
    return JudgedCorpora(each, files_of(rated.corpus for rated in corpora), encoders, [*missing, *lacking])


def true_responses(rated: RatedCorpus) -> list[Turn]:
    """References as if they were responses, each once for its context."""
    found = {
        (turn.context, reference): replace(turn, response=reference, references=(), system=TRUE, ratings={})
        for turn in rated.turns
        for reference in turn.references
    }
    return list(found.values())


FEWEST_UNITS = 10
"""Below it there is no interval over units: its formula needs many."""


@dataclass(frozen=True)
class ClassScore:
    """The mean rating of the responses that a model puts in a class. None where it is undefined."""

    model: str
    corpus: str
    label: str
    n: int
    mean: float | None
    low: float | None
    high: float | None
    """95 %, of independent responses."""
    units: int
    low_over_units: float | None
    high_over_units: float | None
    """95 %, over dialogues or contexts: responses to one context go together."""


@dataclass(frozen=True)
class ClassPair:
    """Welch's test of two classes, `first` less `second`. Holm's correction is for the pairs of a model and corpus."""

    model: str
    corpus: str
    first: str
    second: str
    difference: float | None
    low: float | None
    high: float | None
    t: float | None
    freedom: float | None
    p: float | None
    p_holm: float | None
    g: float | None
    g_low: float | None
    g_high: float | None


def scores_by_class(rated: RatedCorpus, predicted: Predicted) -> list[Floats]:
    """The mean rating of each response, for each of CLASSES."""
    return [rated.people[predicted.classes == place] for place in range(len(CLASSES))]


def class_scores(model: str, rated: RatedCorpus, predicted: Predicted) -> list[ClassScore]:
    return [_score(model, label, rated, predicted.classes == place) for place, label in enumerate(CLASSES)]


def _score(model: str, label: str, rated: RatedCorpus, mine: NDArray[np.bool_]) -> ClassScore:
    alone = student_mean(rated.people[mine])
    low = high = None
    units = np.unique(rated.units[mine], return_inverse=True)[1]
    count = int(units.max()) + 1 if len(units) else 0
    if count >= FEWEST_UNITS:
        together, scale = clustered_mean(rated.scaled[mine], units), rated.scale
        low, high = (scale.low + end * (scale.high - scale.low) for end in (together.low, together.high))
    return ClassScore(
        model=model,
        corpus=rated.title,
        label=label,
        n=int(mine.sum()),
        mean=defined(alone.value),
        low=defined(alone.low),
        high=defined(alone.high),
        units=count,
        low_over_units=low,
        high_over_units=high,
    )


def class_pairs(model: str, rated: RatedCorpus, predicted: Predicted) -> list[ClassPair]:
    groups = scores_by_class(rated, predicted)
    pairs = list(combinations(range(len(CLASSES)), 2))
    tests = [welch_test(groups[a], groups[b]) for a, b in pairs]
    corrected = holm_corrected([defined(test.p) for test in tests])
    return [
        ClassPair(
            model=model,
            corpus=rated.title,
            first=CLASSES[a],
            second=CLASSES[b],
            p_holm=p_holm,
            **{name: defined(value) for name, value in vars(test).items()},
        )
        for (a, b), test, p_holm in zip(pairs, tests, corrected, strict=True)
    ]
