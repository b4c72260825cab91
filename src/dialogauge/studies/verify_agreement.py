"""Whether the numbers of a kept study of agreement follow from what it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dialogauge.agreement.correlate_corpora import mean_rows
from dialogauge.agreement.load_agreement import load_agreement
from dialogauge.agreement.points import RatedTurns, Scope, rated_turns
from dialogauge.agreement.result import Agreement, AgreementRow, Ceiling, Contrast
from dialogauge.agreement.study import Collected, StudyPlan, study
from dialogauge.agreement.table import scope_in_words
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError, describe
from dialogauge.evaluation.kept.saved import RUN, read_record
from dialogauge.evaluation.measured import Measured
from dialogauge.evaluation.sample import measure_rows
from dialogauge.evaluation.units import Units
from dialogauge.metrics.prepared import AnyPrepared, MeanMetric
from dialogauge.metrics.registry import COMPAT, Request, parse_request
from dialogauge.progress import progress_bar
from dialogauge.stats.arrays import Floats
from dialogauge.studies.measured_again import ready_again
from dialogauge.studies.verification import (
    AGREEMENT,
    CEILINGS,
    CONTRASTS,
    JUDGED,
    MEASURES,
    CheckedNumbers,
    Verification,
    array_pairs,
    check_numbers,
    pairs_of,
)
from dialogauge.tables import in_words

COEFFICIENTS = ("pearson", "spearman", "kendall")
NUMBERS = (
    "n",
    *(f"{name}{end}" for name in COEFFICIENTS for end in ("", "_low", "_high", "_p")),
    "cosine",
    "pairwise_accuracy",
)
TOPS = ("pearson_top", "spearman_top")
OF_PEOPLE = ("n", "fewest_raters", "most_raters", "alpha", "split_half", "pearson", "spearman", "reachable")
OF_TESTS = ("difference", "low", "high", "williams_t", "williams_p", "p", "p_sys", "p_holm", "test", "better", "needed")
NO_TEXTS = "every number: the run holds no texts, and so neither single ratings nor what depends on what"


@dataclass(frozen=True)
class KeptValues(MeanMetric):
    """The values of a metric as the study kept them; a system's score is their mean."""

    name = "kept"
    title = "values that a study kept"
    bounds = (-np.inf, np.inf)

    metric: str
    higher_is_better: bool | None
    values: Mapping[tuple[str, str], float] = field(compare=False)

    @property
    def label(self) -> str:
        return self.metric

    def measure(self, turns: Sequence[Turn]) -> Floats:
        return np.array([[self.values[turn.system, turn.id]] for turn in turns]).reshape(len(turns), 1)


@dataclass
class Derived:
    """What was found out about all corpora."""

    checks: list[CheckedNumbers] = field(default_factory=list)
    collected: Collected = field(default_factory=Collected)
    reasons: dict[str, str] = field(default_factory=dict)
    """What is not derived, and why."""
    unscored: set[str] = field(default_factory=set)
    """Metrics whose scores of systems do not follow from what is kept."""
    skipped: set[Scope] = field(default_factory=set)
    """Scopes of which nothing can be derived."""


def verify_agreement(path: Path, progress: bool = False) -> Verification:
    """Values of turns are derived from texts and answers, where that takes no model; everything else from the kept
    values and ratings, and where a system's score is no mean of its turns, from the texts."""
    kept = load_agreement(path)
    record = read_record(path)
    if not record.get("texts"):
        return Verification(str(path), [], [NO_TEXTS])
    orders, whole = _orders(path, record), record.get("whole_dialogues", [])
    derived = Derived()
    with progress_bar(kept.rated, shown=progress, unit="corpus") as bar:
        for part in bar:
            _corpus(path, kept, part, orders.get(part.corpus, []), part.corpus in whole, derived)
    derived.checks += _rows(kept, derived)
    derived.checks += _ceilings(kept, derived) + _contrasts(kept, derived)
    underived = [f"{what}: {why}" for what, why in derived.reasons.items()]
    return Verification(str(path), derived.checks, underived)


def _orders(path: Path, record: Mapping[str, Any]) -> dict[str, list[str]]:
    """The systems of each corpus in the order of its files."""
    orders: dict[str, list[str]] = record.get("systems", {})
    whole = record.get("whole_dialogues", [])
    listed: list[Any] = list(orders.values()) if isinstance(orders, dict) else [None]
    for names in (*listed, whole):
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            message = f"is not a whole run: {RUN}: expected lists of systems and of corpora, found {describe(names)}"
            raise InputError(message, path)
    return orders


def _corpus(
    path: Path, kept: Agreement, part: RatedTurns, order: Sequence[str], whole_dialogues: bool, derived: Derived
) -> None:
    own = [row for row in kept.rows if row.corpus == part.corpus]
    names = [name for name in kept.metrics if any(row.metric == name for row in own)]
    scopes = list(dict.fromkeys(Scope(row.corpus, row.dimension, row.level) for row in own))
    if whole_dialogues:
        lost = [scope for scope in scopes if scope.level == "dialogue"]
        derived.skipped |= {*lost}
        scopes = [scope for scope in scopes if scope not in lost]
        derived.reasons[f"{part.corpus}, dialogues"] = "they were rated as a whole, and of that the run holds the mean"
    places = {system: place for place, system in enumerate([*order, *(turn.system for turn in part.turns)][::-1])}
    corpus = Corpus(sorted(part.turns, key=lambda turn: (-places[turn.system], turn.id)))
    again = _measured_again(path, own, names, corpus, part, derived)
    measured = _measured(list(again.values()), [request for request, _ in again.values()], corpus)
    _values(part, measured, derived)
    by_turn, by_system = [], []
    for name in names:
        row = next(row for row in own if row.metric == name)
        values = part.values.get(name)
        if values is not None:
            found = {(turn.system, turn.id): float(value) for turn, value in zip(part.turns, values, strict=True)}
            request = Request(KeptValues(name, row.higher_is_better, found))
            by_turn.append(request)
        if values is not None and _is_mean(name):
            by_system.append(request)
        elif name in again:
            by_system.append(again[name][0])
        elif any(each.level == "system" and each.metric == name for each in own):
            derived.unscored.add(name)
            reason = "a system's score is no mean of kept values, and to measure again takes a model"
            derived.reasons[f"correlations of systems' scores by {name}, and tests beside it"] = reason
    known = {request.label: ready for request, ready in again.values()}
    for requests, levels in ((by_turn, ("turn", "dialogue")), (by_system, ("system",))):
        wanted = [scope for scope in scopes if scope.level in levels]
        if wanted and requests:
            ready = [
                (each, each.metric.prepare(corpus) if isinstance(each.metric, KeptValues) else known[each.label])
                for each in requests
            ]
            _study(wanted, corpus, _measured(ready, requests, corpus), kept, own, derived)
    hidden = [name for name in kept.metrics if name not in part.values and name not in again]
    if hidden:
        _skip_other_turns(own, hidden, derived)


def _skip_other_turns(rows: Sequence[AgreementRow], hidden: Sequence[str], derived: Derived) -> None:
    """Correlations stand on the turns that all metrics have values for, and of some it is not kept which these are."""
    counts = {_key(row): row.n for row in derived.collected.rows}
    for row in rows:
        if counts.get(_key(row), row.n) != row.n:
            derived.skipped.add(Scope(row.corpus, row.dimension, row.level))
            what = f"correlations in {scope_in_words(row.scope)}"
            derived.reasons[what] = f"which turns have no value by {in_words(hidden)} is not kept"


def _measured_again(
    path: Path,
    rows: Sequence[AgreementRow],
    names: Sequence[str],
    corpus: Corpus,
    part: RatedTurns,
    derived: Derived,
) -> dict[str, tuple[Request, AnyPrepared]]:
    """By name, the metrics that can measure the kept texts again."""
    found = {}
    for name in names:
        signature = next(row.signature for row in rows if row.metric == name)
        try:
            found[name] = _prepared(name, signature, corpus, path)
        except InputError as error:
            if name in part.values:
                derived.reasons[f"values of turns by {name}"] = error.message
    return found


def _prepared(name: str, signature: str, corpus: Corpus, path: Path) -> tuple[Request, AnyPrepared]:
    """By our own recipe, or by that of a paper, as the signature says."""
    if ".py:" in name:
        raise InputError("that takes code of yours, which is not run here")
    for compat in (None, *COMPAT):
        request = parse_request(name, compat)
        ready = ready_again(request.metric, request.label, corpus, path)
        if _unversioned(ready.signature) == _unversioned(signature):
            return request, ready
    raise InputError(f"its signature is {signature}, and no metric here has that")


def _unversioned(signature: str) -> str:
    return signature.rpartition("|dialogauge:")[0]


def _is_mean(name: str) -> bool:
    """Whether a system's score is the mean of its turns' values."""
    try:
        request = parse_request(name)
    except InputError:
        return False
    return request.metric.resampling == "bootstrap" and request.metric.mean_of(request.part or "") is not None


def _measured(ready: Sequence[tuple[Request, AnyPrepared]], requests: list[Request], corpus: Corpus) -> Measured:
    units = Units()
    metrics = {request.label: each for request, each in ready}
    samples = measure_rows(metrics, corpus, units, None, False) if metrics else []
    systems = {system: len(turns) for system, turns in corpus.by_system.items()}
    return Measured(samples, systems, units.kind, (), [], requests, {})


def _values(part: RatedTurns, measured: Measured, derived: Derived) -> None:
    scope = Scope(part.corpus, "", "turn")
    for name, again in rated_turns(part.turns, measured, [scope]).values.items():
        if name in part.values:
            (request,) = (each for each in measured.requests if each.name == name)
            kind = JUDGED if request.metric.asks_endpoints else MEASURES
            pairs = array_pairs([("value", part.values[name], again)])
            derived.checks.append(check_numbers(name, part.corpus, kind, pairs))


def _study(
    scopes: Sequence[Scope],
    corpus: Corpus,
    measured: Measured,
    kept: Agreement,
    own: Sequence[AgreementRow],
    derived: Derived,
) -> None:
    plan = StudyPlan(measured.requests, None, None, any(row.system is not None for row in own), kept.settings)
    study(scopes, corpus, measured, plan, derived.collected)


def _rows(kept: Agreement, derived: Derived) -> list[CheckedNumbers]:
    found = {_key(row): row for row in [*derived.collected.rows, *mean_rows(derived.collected.rows)]}
    checks = []
    for row in kept.rows:
        lost = row.level == "system" and row.metric in derived.unscored
        if lost or _skipped(row, derived):
            continue
        tested = not (row.level == "system" and derived.unscored)
        pairs = pairs_of(row, found.get(_key(row)), (*NUMBERS, *(TOPS if tested else ())))
        checks.append(check_numbers(row.metric, scope_in_words(row.scope), AGREEMENT, pairs))
    return checks


def _ceilings(kept: Agreement, derived: Derived) -> list[CheckedNumbers]:
    found = {ceiling.scope: ceiling for ceiling in derived.collected.ceilings}
    return [
        check_numbers("people", scope_in_words(each.scope), CEILINGS, pairs_of(each, found.get(each.scope), OF_PEOPLE))
        for each in kept.ceilings
        if not _skipped(each, derived) and not (each.level == "system" and derived.unscored and each.scope not in found)
    ]


def _contrasts(kept: Agreement, derived: Derived) -> list[CheckedNumbers]:
    """Those of systems stand together, by Holm's correction: without one metric's, none is derived."""
    found = {_pair(contrast): contrast for contrast in derived.collected.contrasts}
    return [
        check_numbers(
            f"{each.first} and {each.second}",
            scope_in_words(each.scope),
            CONTRASTS,
            pairs_of(each, found.get(_pair(each)), OF_TESTS),
        )
        for each in kept.contrasts
        if not _skipped(each, derived) and not (each.level == "system" and derived.unscored)
    ]


def _skipped(each: AgreementRow | Ceiling | Contrast, derived: Derived) -> bool:
    """Means over corpora stand on what each corpus has."""
    if each.corpus == "mean":
        return any(scope.level == each.level for scope in derived.skipped)
    return Scope(each.corpus, each.dimension, each.level) in derived.skipped


def _key(row: AgreementRow) -> tuple[Scope, str]:
    return row.scope, row.metric


def _pair(contrast: Contrast) -> tuple[Any, ...]:
    return contrast.scope, contrast.coefficient, contrast.first, contrast.second
