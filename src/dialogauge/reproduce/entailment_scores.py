"""Human scores by predicted class: means, and whether they differ from class to class."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dialogauge.evaluation.digits import defined
from dialogauge.metrics.entailment import CLASSES
from dialogauge.reproduce.entailment_classes import Predicted
from dialogauge.reproduce.entailment_corpora import RatedCorpus
from dialogauge.stats.arrays import Floats
from dialogauge.stats.intervals import clustered_mean, student_mean
from dialogauge.stats.significance import holm_corrected, welch_test

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
