"""One corpus: every metric against people, at every level and in every dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dialogauge.agreement import caveats
from dialogauge.agreement.points import (
    Aligned,
    Level,
    Points,
    PointSet,
    RatedTurns,
    Scope,
    align,
    choose_dimensions,
    dialogue_points,
    known_dimensions,
    ratings_of,
    turn_points,
)
from dialogauge.agreement.result import AgreementRow, Ceiling, Contrast
from dialogauge.agreement.system_level import Scored, correlate_systems, score_systems
from dialogauge.agreement.turn_level import Correlations, correlate_points
from dialogauge.corpus.corpus import Corpus, SourceFile
from dialogauge.errors import Caveat, InputError, unknown
from dialogauge.evaluation.digits import defined
from dialogauge.evaluation.measured import Measured
from dialogauge.evaluation.options import Settings
from dialogauge.metrics.registry import Request
from dialogauge.progress import progress_bar
from dialogauge.stats.arrays import Floats
from dialogauge.stats.correlations import pairwise_accuracy, uncentred_correlation
from dialogauge.stats.reliability import reliability

if TYPE_CHECKING:
    from dialogauge.endpoint.endpoints import Endpoints

DEFAULT_LEVELS: tuple[Level, ...] = ("turn", "system")
FEWEST = 3
"""Points without which a correlation says nothing."""


@dataclass(frozen=True)
class StudyPlan:
    """What is asked of every corpus."""

    requests: list[Request]
    levels: list[Level] | None
    """None for turns and, where there are three systems or more, systems."""
    dimensions: list[str] | None
    """None for the overall one, or all."""
    per_system: bool
    settings: Settings
    progress: bool = False

    def direction(self, name: str) -> bool | None:
        request = next(request for request in self.requests if request.name == name)
        return request.metric.direction(request.part or "")

    def signs(self, names: Sequence[str]) -> Floats:
        """-1 where less is better."""
        return np.array([-1.0 if self.direction(name) is False else 1.0 for name in names])


@dataclass
class Collected:
    """What the corpora gave so far."""

    rows: list[AgreementRow] = field(default_factory=list)
    ceilings: list[Ceiling] = field(default_factory=list)
    contrasts: list[Contrast] = field(default_factory=list)
    points: list[Points] = field(default_factory=list)
    files: list[SourceFile] = field(default_factory=list)
    caveats: list[Caveat] = field(default_factory=list)
    units: list[str] = field(default_factory=list)
    unrepeated: list[Scope] = field(default_factory=list)
    """Where every turn has one rating only."""
    rated: list[RatedTurns] = field(default_factory=list)
    endpoints: list[Endpoints] = field(default_factory=list)
    """That metrics asked, of each corpus."""


def study(scopes: Sequence[Scope], corpus: Corpus, measured: Measured, plan: StudyPlan, collected: Collected) -> None:
    """Adds what one corpus gives in these scopes to what is collected."""
    scored: Scored = {}
    for scope in progress_bar(scopes, "correlating", shown=plan.progress, unit="rating"):
        aligned = align(corpus, measured, plan.requests, scope.dimension, scope.level)
        collected.caveats += caveats.turn_caveats(scope, corpus, aligned, plan.requests)
        if scope.level == "system":
            _systems(scope, aligned, measured, plan, collected, scored)
        else:
            _turns(scope, aligned, measured, plan, collected)


def find_scopes(
    corpora: Mapping[str, Corpus], levels: Sequence[Level] | None, dimensions: Sequence[str] | None
) -> tuple[dict[str, list[Scope]], list[Caveat]]:
    """By corpus, found before anything is scored. What some corpora or levels lack is said; refused is what all of them
    lack, and a dimension that none has."""
    _refuse_unknown(corpora, levels or DEFAULT_LEVELS, dimensions)
    found: dict[str, list[Scope]] = {}
    lacking: list[str] = []
    for name, corpus in corpora.items():
        found[name] = []
        for level in levels or DEFAULT_LEVELS:
            chosen = choose_dimensions(corpus, level, dimensions)
            if not chosen:
                lacking.append(f"{name}: no such ratings at {level} level")
            for dimension in chosen:
                lack = _lack(corpus, dimension, level)
                if lack is None:
                    found[name].append(Scope(name, dimension, level))
                elif levels:
                    lacking.append(f"{name}, {dimension}: {lack}")
    if not any(found.values()):
        raise InputError("; ".join(lacking) or "no turn has ratings at turn level; ask for the dialogue level")
    return found, [Caveat("nothing_there", message) for message in lacking]


def _refuse_unknown(corpora: Mapping[str, Corpus], levels: Sequence[Level], dimensions: Sequence[str] | None) -> None:
    """A dimension that no corpus has at any of the levels."""
    if dimensions is None:
        return
    known = dict.fromkeys(
        name for corpus in corpora.values() for level in levels for name in known_dimensions(corpus, level)
    )
    for wanted in dimensions:
        if wanted.casefold() not in {"all", *(name.casefold() for name in known)}:
            raise unknown("dimension", wanted, known)


def _lack(corpus: Corpus, dimension: str, level: Level) -> str | None:
    """What is missing for this level; None where nothing is."""
    rated = [turn for turn in corpus if ratings_of(turn, dimension, level)]
    systems = len({turn.system for turn in rated})
    if level == "system" and systems < FEWEST:
        return f"the system level needs {FEWEST} rated systems or more, found {systems}"
    if level == "dialogue" and all(turn.dialogue is None for turn in rated):
        return "the dialogue level needs turns with a `dialogue`, and none has any"
    return None


def _systems(
    scope: Scope, aligned: Aligned, measured: Measured, plan: StudyPlan, collected: Collected, scored: Scored
) -> None:
    if len(aligned.systems) < FEWEST:
        collected.caveats.append(caveats.too_few(scope, len(aligned.systems)))
        return
    names = [request.name for request in plan.requests]
    scores = score_systems(aligned, plan.requests, plan.settings, scored)
    value_intervals, people_intervals = scores.intervals(plan.settings.confidence)
    points = Points(
        scope=scope,
        metrics=names,
        values=scores.values,
        people=scores.people,
        names=aligned.systems,
        systems=aligned.systems,
        units=np.arange(len(aligned.systems)),
        value_intervals=value_intervals,
        people_intervals=people_intervals,
    )
    correlations = correlate_systems(scores, plan.signs(names), aligned, names, plan.settings)
    _collect(PointSet(points, aligned.ratings, aligned.system_numbers), correlations, measured, plan, collected)


def _turns(scope: Scope, aligned: Aligned, measured: Measured, plan: StudyPlan, collected: Collected) -> None:
    if not aligned.turns:
        names = ", ".join(request.name for request in plan.requests)
        raise InputError(f"no rated turn has a value of every one of {names}; ask for them one at a time")
    missing = [request.name for request in plan.requests if request.name not in aligned.values]
    if missing:
        collected.caveats.append(caveats.without_turns(missing))
    if not aligned.values:
        if plan.levels == [scope.level]:
            raise InputError(f"{', '.join(missing)}: no value for a single turn; ask for the system level")
        return
    apart = sum(turn.dialogue is None for turn in aligned.turns) if scope.level == "dialogue" else 0
    if apart:
        collected.caveats.append(caveats.without_dialogue(scope, apart, len(aligned.turns)))
    make = turn_points if scope.level == "turn" else dialogue_points
    systems = aligned.systems if plan.per_system and len(aligned.systems) > 1 else []
    for system in (None, *systems):
        made = make(scope, aligned, system)
        points = made.points
        if len(points.people) < FEWEST:
            collected.caveats.append(caveats.too_few(points.scope, len(points.people)))
            continue
        oriented = points.values * plan.signs(points.metrics)
        correlations = correlate_points(oriented, points.people, points.units, plan.settings)
        collected.caveats += caveats.draw_caveats(points, correlations.coefficients["pearson"].draws)
        _collect(made, correlations, measured, plan, collected)


def _collect(
    made: PointSet, correlations: Correlations, measured: Measured, plan: StudyPlan, collected: Collected
) -> None:
    points = made.points
    contrasts = correlations.contrasts(points)
    collected.points.append(points)
    collected.contrasts += contrasts
    collected.rows += [
        _row(points, correlations, place, contrasts, measured, plan) for place in range(len(points.metrics))
    ]
    known = reliability(made.ratings, made.groups, plan.settings.seed)
    if known is None:
        collected.unrepeated.append(points.scope)
        return
    collected.ceilings.append(
        Ceiling(
            corpus=points.scope.corpus,
            dimension=points.scope.dimension,
            level=points.scope.level,
            system=points.scope.system,
            n=known.n,
            fewest_raters=known.fewest_raters,
            most_raters=known.most_raters,
            alpha=defined(known.alpha),
            split_half=defined(known.split_half),
            pearson=defined(known.pearson),
            spearman=defined(known.spearman),
        )
    )


def _row(
    points: Points,
    correlations: Correlations,
    place: int,
    contrasts: Sequence[Contrast],
    measured: Measured,
    plan: StudyPlan,
) -> AgreementRow:
    name, scope = points.metrics[place], points.scope
    request = next(request for request in plan.requests if request.name == name)
    oriented = points.values[:, place] * plan.signs([name])[0]
    numbers = {
        field: defined(value)
        for coefficient, values in correlations.coefficients.items()
        for field, value in zip(
            (coefficient, f"{coefficient}_low", f"{coefficient}_high", f"{coefficient}_p"),
            (*values.bounds[place], values.p[place]),
            strict=True,
        )
    }
    tops = {f"{name}_top": _is_top(place, points, correlations, contrasts, name) for name in ("pearson", "spearman")}
    return AgreementRow(
        corpus=scope.corpus,
        dimension=scope.dimension,
        level=scope.level,
        system=scope.system,
        metric=name,
        n=len(points.people),
        cosine=None if plan.direction(name) is False else defined(uncentred_correlation(oriented, points.people)),
        pairwise_accuracy=defined(pairwise_accuracy(oriented, points.people)),
        higher_is_better=plan.direction(name),
        signature=next(sample.signature for sample in measured.samples if sample.label == request.label),
        **numbers,  # type: ignore[arg-type]
        **tops,
    )


def _is_top(
    place: int, points: Points, correlations: Correlations, contrasts: Sequence[Contrast], coefficient: str
) -> bool:
    """Whether the metric is the best by this coefficient, or no corrected test says that the best one is better."""
    values = np.array([bounds.value for bounds in correlations.coefficients[coefficient].bounds])
    if np.isnan(values[place]):
        return False
    best, name = points.metrics[int(np.nanargmax(values))], points.metrics[place]
    return not any(
        contrast.coefficient == coefficient and contrast.better == best and name in (contrast.first, contrast.second)
        for contrast in contrasts
        if name != best
    )
