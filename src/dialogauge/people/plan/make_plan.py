"""Plans a study: how many contexts, raters and ratings it takes to tell two systems apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from dialogauge.agreement.points import choose_dimensions, known_dimensions
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.frames import CorpusLike, as_corpus
from dialogauge.errors import Caveat, InputError, check_number, check_whole, unknown
from dialogauge.evaluation.options import Metrics, RunKeywords, RunOptions, takes_run_options
from dialogauge.people.plan.basis import Basis, known_bases, known_basis, unit_count
from dialogauge.people.plan.gain import MetricGain
from dialogauge.people.plan.plan_result import RatingPlan, Size
from dialogauge.people.plan.sizes import DifferenceVariance, Target, units_needed
from dialogauge.people.plan.turn_values import turn_values
from dialogauge.tables import in_words

RATERS = (1, 2, 3, 5)
OF_SEVERAL = (3,)
"""Raters of a turn where plans from several corpora stand side by side."""
FEW_UNITS = 30
MOST_RATERS = 1000


@takes_run_options
def plan(
    pilot: CorpusLike | None = None,
    metrics: Metrics | None = None,
    *,
    difference: float,
    power: float = 0.8,
    raters: Sequence[int] | None = None,
    like: str | None = None,
    dimension: str | None = None,
    correlation: float | None = None,
    pool: int | None = None,
    among: int = 2,
    people: int | None = None,
    apart: bool = False,
    anytime: bool = False,
    **options: Unpack[RunKeywords],
) -> RatingPlan:
    """How many contexts, raters and ratings it takes to tell two systems apart, with and without a metric.

    Args:
        pilot: Whatever holds turns, some of them with ratings: how these vary is what the plan is made from. Without
            it, public corpora are.
        metrics: Those whose scores may shorten the study, as for `evaluate`; of public corpora those that are known.
        difference: The difference of two systems' mean ratings that is to be found, in points of the scale.
        power: The probability of finding it.
        raters: Of each turn; a size for each. By default 1, 2, 3 and 5.
        like: A public corpus to plan from, in place of a pilot; by default all that are known.
        dimension: What was rated, where there are several; by default "overall", else the first.
        correlation: Of a metric that is not at hand: that of its differences with the ratings' between two systems on
            the same contexts, at as many raters as the pilot had.
        pool: How many contexts (dialogues, where these are known) the metric scores in all. By default those of the
            pilot's file where some have no ratings, else as many as one likes.
        among: How many systems are compared, each with each.
        people: How many people rate in all; matters where the pilot names its raters, and they like different systems.
        apart: Whether systems of one context are rated by different people.
        anytime: Whether the study is looked at again and again, and stops once it is decided.
        **options: The fields of `RunOptions`; `confidence` is that of the test.

    Returns:
        The sizes, the variances they come from, and how reliable the mean rating of one turn is.

    Examples:
        >>> import dialogauge
        >>> planned = dialogauge.plan(like="usr-persona", difference=0.3, metrics="bertscore", raters=[1, 3])
        >>> planned.size(raters=3).contexts, planned.size(raters=3, metric="bertscore").contexts
        (73, 64)
    """
    run = RunOptions(**options)
    target = Target(difference, power, run.confidence, among, anytime)
    caveats: list[Caveat] = []
    if pilot is None:
        bases = [known_basis(like, dimension)] if like else _known_overall(dimension)
        names = _known_metrics(bases, metrics)
        counts = _raters(raters, OF_SEVERAL if len(bases) > 1 else RATERS)
    else:
        if like is not None:
            raise InputError("like: expected a pilot or a public corpus to plan from, found both")
        corpus = as_corpus(pilot).select(run.systems)
        basis, caveats = _from_pilot(corpus, metrics, dimension, replace(run, systems=None))
        bases, names = [basis], list(basis.gains)
        counts = _raters(raters, RATERS)
        everything = unit_count(corpus)
        pool = everything if pool is None and everything > basis.units else pool
    if correlation is not None:
        check_number("correlation", correlation, 0, 1)
        label = f"r={correlation:g}"
        bases = [_with_correlation(basis, label, correlation) for basis in bases]
        names.append(label)
    for name, value in (("pool", pool), ("people", people)):
        if value is not None:
            check_whole(name, value, 1, 10**9)
    sizes = [
        size for basis in bases for count in counts for size in _sizes(basis, count, names, target, pool, people, apart)
    ]
    caveats += _caveats(bases, counts, people)
    return RatingPlan(sizes, bases, target, names, pool, people, apart, caveats)


def _sizes(
    basis: Basis, raters: int, metrics: Sequence[str], target: Target, pool: int | None, people: int | None, apart: bool
) -> list[Size]:
    """Without a metric, then with each."""
    parts = basis.components
    found: list[Size] = []
    for metric in (None, *metrics):
        gain = basis.gains.get(metric) if metric else None
        if metric and gain is None:
            continue
        variance = DifferenceVariance(
            per_unit=parts.of_difference(raters, apart),
            gain=min(gain.gain, parts.of_difference(math.inf)) if gain else 0.0,
            pool=pool,
            taste=2 * (parts.system_rater or 0.0),
            people=people,
            ratings=raters * parts.turns,
        )
        units = units_needed(target, variance)
        contexts = None if units is None else math.ceil(units * parts.turns)
        ratings = None if contexts is None else contexts * target.among * raters
        without = found[0].ratings if found else None
        saved = None if metric is None or not ratings or not without else 1 - ratings / without
        found.append(Size(basis.name, basis.dimension, metric, raters, contexts, units, ratings, saved))
    return found


def _from_pilot(
    corpus: Corpus, metrics: Metrics | None, dimension: str | None, run: RunOptions
) -> tuple[Basis, list[Caveat]]:
    known = known_dimensions(corpus, "turn")
    if not known:
        raise InputError(
            "expected ratings to plan from, found none; give a pilot of some rated turns, or plan from public corpora "
            "without a file (see --like)"
        )
    chosen = choose_dimensions(corpus, "turn", [dimension] if dimension else None)
    if not chosen:
        raise unknown("dimension", dimension, known)
    rated = replace(corpus, turns=[turn for turn in corpus if chosen[0] in turn.ratings])
    values, caveats = turn_values(rated, metrics, run) if metrics is not None else ({}, list(corpus.caveats))
    basis = Basis.from_corpus(_name(corpus), rated, chosen[0], values)
    missing = [metric for metric in values if metric not in basis.gains]
    if missing:
        message = f"{in_words(missing)}: too few contexts with a rating and a score, or scores that never differ"
        caveats.append(Caveat("no_gain", f"{message}; planned without"))
    if len(chosen) > 1:
        others = in_words([repr(name) for name in chosen[1:]])
        caveats.append(
            Caveat("one_dimension", f"planned for {chosen[0]!r} alone; name another with --dimension: {others}")
        )
    return basis, caveats


def _name(corpus: Corpus) -> str:
    return Path(corpus.files[0].path).name if len(corpus.files) == 1 else "the pilot"


def _known_overall(dimension: str | None) -> list[Basis]:
    """One dimension of every public corpus: the one named, where any has it, else the overall one."""
    if dimension is not None:
        found = [basis for basis in known_bases() if basis.dimension.casefold() == dimension.casefold()]
        if not found:
            raise unknown("dimension", dimension, {basis.dimension for basis in known_bases()})
        return found
    return [known_basis(name, None) for name in dict.fromkeys(basis.name for basis in known_bases())]


def _known_metrics(bases: Sequence[Basis], metrics: Metrics | None) -> list[str]:
    if metrics is None:
        return []
    known = list(dict.fromkeys(metric for basis in bases for metric in basis.gains))
    names = [request.name for request in RunOptions().requests(metrics)]
    for name in names:
        if name not in known:
            raise InputError(
                f"{name}: how far it agrees is not known of {in_words([basis.name for basis in bases])}, only of "
                f"{in_words(known)}; give a pilot file, or --correlation"
            )
    return names


def _with_correlation(basis: Basis, label: str, correlation: float) -> Basis:
    gain = correlation**2 * basis.components.of_difference(basis.raters)
    return replace(basis, gains={**basis.gains, label: MetricGain(correlation, gain, basis.units)})


def _raters(given: Sequence[int] | None, default: Sequence[int]) -> list[int]:
    counts = list(dict.fromkeys(default if given is None else given))
    if not counts:
        raise InputError("raters: expected one number or more, found none")
    for count in counts:
        check_whole("raters", count, 1, MOST_RATERS)
    return counts


def _caveats(bases: Sequence[Basis], raters: Sequence[int], people: int | None) -> list[Caveat]:
    found = []
    for basis in bases:
        parts = basis.components
        if basis.units < FEW_UNITS:
            message = f"{basis.name}: {basis.units} contexts are few: the variances may well be half or twice as large"
            found.append(Caveat("few_units", message))
        if parts.context is None and basis.systems > 1:
            message = f"{basis.name}: no two systems answered the same contexts; sizes are for systems that do not, and"
            found.append(Caveat("unpaired", f"{message} fewer would do for such as do"))
        if not parts.several and max(raters) > 1:
            message = f"{basis.name}: one rating of each turn does not tell how raters differ; sizes are as for one"
            found.append(Caveat("one_rating", f"{message} rater, and more raters would do with fewer"))
        if people is not None and parts.system_rater is None:
            message = f"{basis.name}: raters are not named, so that how many people rate is not taken into account"
            found.append(Caveat("raters_unnamed", message))
    return found
